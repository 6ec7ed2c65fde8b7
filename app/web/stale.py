"""A form that was sent with a token of another session, or none: each page says so in its own way."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from flask import Blueprint, current_app
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException

from app.web.audit import refused

STALE = "This page had grown stale, so nothing was done. Please try again."

Handler = Callable[[CSRFError], ResponseReturnValue]


def when_stale(blueprint: Blueprint) -> Callable[[Handler], Handler]:
    """Make the decorated function answer stale forms of the blueprint's pages.

    It may abort as a view may, which Flask would take for a fault of the server in a handler of errors.
    """

    def register(handler: Handler) -> Handler:
        @wraps(handler)
        def answer(error: CSRFError) -> ResponseReturnValue:
            refused("csrf")
            try:
                return handler(error)
            except HTTPException as refusal:
                return current_app.handle_http_exception(refusal)

        blueprint.register_error_handler(CSRFError, answer)
        return handler

    return register
