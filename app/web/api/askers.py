"""Who asks the JSON API for something, and which runs that one may touch: by token, or by the page's cookie."""

from __future__ import annotations

from flask import request, session
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import NotFound, Unauthorized

from app.runs.service import StoredRun
from app.web.api.tokens import bearer, holder
from app.web.audit import client_address, refused
from app.web.current import hopcheck
from app.web.security import owner


def asker() -> str:
    """Whose runs this request may touch: those of its token's name or, where no tokens are set up, of its cookie.

    "" is nobody: looking makes no cookie. Raises Unauthorized without a token that is known, where one is needed.
    """
    path = hopcheck().settings.api_tokens
    if path is None:
        return session.get("owner", "")
    name = token_name()
    if name is None:
        refused("token")
        challenge = WWWAuthenticate("bearer", {"realm": "Hopcheck"})
        raise Unauthorized("This needs a token that is known here.", www_authenticate=challenge)
    return f"token:{name}"  # no cookie's owner has a colon


def token_name() -> str | None:
    """The name of the token that the request shows; None without one that is known here."""
    path, shown = hopcheck().settings.api_tokens, bearer()
    return holder(path, shown) if path and shown else None


def client() -> str:
    """Return the name that limits count under: a known token's name for the API, else the client's address."""
    name = token_name() if request.endpoint and request.endpoint.startswith("api_") else None
    return f"token {name}" if name else client_address()


def starter() -> str:
    """Whose the run is that this request makes; where no tokens are set up, a cookie comes with the answer."""
    return asker() if hopcheck().settings.api_tokens else owner()


def stored_run(run_id: str) -> StoredRun:
    """The run. Raises NotFound."""
    run = hopcheck().runs.report(run_id)
    if run is None:
        raise NotFound("There is no such run.")
    return run


def owned(run_id: str) -> StoredRun:
    """The run, if it is the asker's; for everybody else there is nothing here."""
    who, run = asker(), hopcheck().runs.report(run_id)
    if run is None or run.owner != who:
        if run is not None:
            refused("owner")
        raise NotFound("There is no such run of yours.")
    return run
