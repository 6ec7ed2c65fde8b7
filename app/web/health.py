"""For machines that watch over this one: does the process live, and is everything there that it needs?"""

from __future__ import annotations

from flask import Blueprint, Response, jsonify

from app.domain.errors import HopcheckError
from app.web.current import hopcheck

health = Blueprint("health", __name__)


@health.get("/healthz")
def healthz() -> Response:
    """200 as long as the process answers. Touches no database and no model, so it is cheap and says nothing else."""
    return Response("ok\n", mimetype="text/plain", headers={"Cache-Control": "no-store"})


@health.get("/readyz")
def readyz() -> tuple[Response, int]:
    """200 when runs can be carried out, 503 when something is missing or still loading.

    `parts` names each: state is "ready", "waiting", "loading" or "failed"; a failed one has a message and, in `mend`,
    what makes it right.
    """
    parts = [_database(), *(_told(part.name, part.state, part.message, part.mend) for part in hopcheck().parts())]
    ready = all(part["state"] == "ready" for part in parts)
    answer = jsonify(ready=ready, parts=parts)
    answer.headers["Cache-Control"] = "no-store"
    return answer, 200 if ready else 503


def _database() -> dict[str, str]:
    """How the database stands: there, with its tables, and free to be written."""
    try:
        hopcheck().runs.check_database()
    except HopcheckError as error:
        return _told("database", "failed", str(error), "flask --app app doctor")
    return _told("database", "ready")


def _told(name: str, state: str, message: str = "", mend: str = "") -> dict[str, str]:
    """A part without the words that it has not."""
    words = {"name": name, "state": state, "message": message, "mend": mend}
    return {key: value for key, value in words.items() if value}
