"""Authentication of API requests by bearer token or session cookie, and access to the runs of the principal."""

from __future__ import annotations

from flask import request, session
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import NotFound, Unauthorized

from app.runs.service import StoredRun
from app.web.api.tokens import bearer, holder
from app.web.observability import client_address, refused
from app.web.security import owner
from app.web.services import services


def current_principal() -> str:
    """Return the owner whose runs this request may access: by token or, where API_TOKENS is not set, by cookie.

    Returns "" without a cookie, and sets none. Raises Unauthorized where a token is required and missing or unknown.
    """
    path = services().settings.api_tokens
    if path is None:
        return session.get("owner", "")
    name = token_name()
    if name is None:
        refused("token")
        challenge = WWWAuthenticate("bearer", {"realm": "Hopcheck"})
        raise Unauthorized("This needs a token that is known here.", www_authenticate=challenge)
    return f"token:{name}"  # no cookie's owner has a colon


def token_name() -> str | None:
    """Return the name of the request's token, None without a known one."""
    path, shown = services().settings.api_tokens, bearer()
    return holder(path, shown) if path and shown else None


def client() -> str:
    """Return the name that limits count under: a known token's name for the API, else the client's address."""
    name = token_name() if request.endpoint and request.endpoint.startswith("api_") else None
    return f"token {name}" if name else client_address()


def principal_for_new_run() -> str:
    """Return the owner of a run that this request creates, setting a cookie where API_TOKENS is not set."""
    return current_principal() if services().settings.api_tokens else owner()


def stored_run(run_id: str) -> StoredRun:
    """Return the run. Raises NotFound."""
    run = services().runs.report(run_id)
    if run is None:
        raise NotFound("There is no such run.")
    return run


def owned(run_id: str) -> StoredRun:
    """Return the run if the principal owns it. Raises NotFound otherwise, also for runs of others."""
    principal, run = current_principal(), services().runs.report(run_id)
    if run is None or run.owner != principal:
        if run is not None:
            refused("owner")
        raise NotFound("There is no such run of yours.")
    return run
