"""The pages: the claim form, what it posts to, and a run as it stands."""

from __future__ import annotations

from dataclasses import replace

from flask import Blueprint, Flask, abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException

from app.reasoning.errors import InvalidInput
from app.samples import SAMPLES
from app.settings import MOST_HOPS
from app.web import presentation
from app.web.claim_form import ClaimForm
from app.web.current import hopcheck
from app.web.security import owner

pages = Blueprint("pages", __name__)

STALE_FORM = "This page had grown stale, so nothing was sent. Your claim is still here: please send it again."


@pages.get("/")
def home() -> str:
    """The claim form, samples, and this browser's recent runs."""
    return _home(_blank_form())


@pages.post("/runs")
def start() -> ResponseReturnValue:
    """Start a run and lead to its page."""
    wiring = hopcheck().wiring
    claim, options = _sent_form().read(wiring.answerers())
    options = replace(options, modules=wiring.modules(options))
    run_id = hopcheck().runs.start(claim, options, owner())
    return redirect(url_for("pages.run", run_id=run_id), 303)


@pages.get("/runs/<run_id>")
def run(run_id: str) -> str:
    """A run as it stands. A finished one is static; a running one follows along, or without a free seat refreshes."""
    stored = hopcheck().runs.report(run_id) or abort(404)
    moving = "follow" if hopcheck().followers.room else "refresh"
    mode = "static" if stored.report.ended else moving
    return render_template("run.html", run=stored, report=stored.report, mode=mode)


@pages.get("/parts")
def parts() -> str:
    """What is still warming or missing; the home page asks again until everything is settled."""
    return render_template("parts.html", parts=hopcheck().wiring.parts())


@pages.get("/how-it-works")
def how_it_works() -> str:
    """What a run does, in words."""
    return render_template("how_it_works.html")


def _sent_form() -> ClaimForm:
    return ClaimForm.sent(request.form, _blank_form())


def _blank_form() -> ClaimForm:
    """The form as a new visitor finds it: the settings' choices."""
    settings = hopcheck().settings
    return ClaimForm(answerer=settings.answerer, max_hops=str(settings.max_hops))


def _home(form: ClaimForm, error: InvalidInput | None = None) -> str:
    wiring = hopcheck().wiring
    return render_template(
        "home.html",
        form=form,
        error=error,
        answerers=wiring.answerers(),
        label_sets=presentation.LABEL_SETS,
        most_hops=MOST_HOPS,
        samples=SAMPLES,
        recent=hopcheck().runs.recent(owner()),
        parts=wiring.parts(),
    )


@pages.errorhandler(InvalidInput)
def _wrong_form(error: InvalidInput) -> tuple[str, int]:
    """The form comes back as it was typed, with one sentence by the field."""
    return _home(_sent_form(), error), 422


def show_errors(app: Flask) -> None:
    """Errors as pages in the site's layout, never with a trace."""
    app.register_error_handler(CSRFError, _stale_form)
    app.register_error_handler(HTTPException, _error_page)


def _stale_form(error: CSRFError) -> tuple[str, int]:
    return _home(_sent_form(), InvalidInput(STALE_FORM)), 400


def _error_page(error: HTTPException) -> tuple[str, int]:
    return render_template("error.html", code=error.code), error.code or 500
