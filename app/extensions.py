"""The Flask extension for the database, bound to an application by create_app."""

from __future__ import annotations

from flask_sqlalchemy import SQLAlchemy

from app.runs.db import Base

db = SQLAlchemy(metadata=Base.metadata)
