"""The Flask extension for the database; `create_app` binds it to an application."""

from __future__ import annotations

from flask_sqlalchemy import SQLAlchemy

from app.runs.db import Base

db = SQLAlchemy(metadata=Base.metadata)
