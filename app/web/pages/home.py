"""The pages: the claim form, what it posts to, and a run as it stands."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from app.capabilities.options import PURSUIT
from app.config.settings import MAX_HOPS
from app.domain.errors import InvalidInput
from app.examples import EXAMPLES
from app.run_request import RunRequest
from app.runs.service import StoredRun
from app.web import views
from app.web.api.auth import client
from app.web.forms import ClaimForm
from app.web.observability import about_run
from app.web.security import let_search_engines_list, owner
from app.web.services import capabilities, services
from app.web.views import GUIDED_MODULES, PURSUIT_MODULES

pages = Blueprint("pages", __name__)


@pages.get("/")
def home() -> str:
    """The claim form, samples, and this browser's recent runs. `?again=` fills the form in from an earlier run."""
    earlier = request.args.get("again")
    if earlier is None:
        return home_page(_blank_form())
    run = services().runs.report(earlier) or abort(404)
    return home_page(ClaimForm.again(run.report.claim, run.report.options, _blank_form()))


@pages.post("/runs")
def start() -> ResponseReturnValue:
    """Start a run and lead to its page."""
    sent = RunRequest.resolve(sent_form().raw(), capabilities())
    run_id = services().runs.start(sent.claim, sent.options, owner(), request.form.get("form_name", ""), client())
    about_run(run_id)
    return redirect(url_for("pages.run", run_id=run_id), 303)


@pages.get("/runs/<run_id>")
def run(run_id: str) -> str:
    """A run as it stands. A finished one is static; a running one follows along, or without a free seat refreshes."""
    return run_page(services().runs.report(run_id) or abort(404))


def run_page(stored: StoredRun, notice: str = "") -> str:
    """The page of a run, with one sentence on it that says what has just happened."""
    moving = "follow" if services().followers.has_room else "refresh"
    mode = "static" if stored.report.ended else moving
    place = None if stored.report.ended else services().runs.place(stored.id)
    published = stored.published_at is not None and services().settings.publishing
    if published:
        let_search_engines_list()
    return render_template(
        "run.html", run=stored, report=stored.report, mode=mode, place=place, notice=notice, published=published
    )


@pages.get("/parts")
def parts() -> str:
    """What is still warming or missing; the home page asks again until everything is settled."""
    return render_template("parts.html", parts=services().components())


@pages.get("/how-it-works")
def how_it_works() -> str:
    """What a run does, drawn and in words."""
    return render_template("how_it_works.html", guided_modules=GUIDED_MODULES, pursuit_modules=PURSUIT_MODULES)


@pages.get("/choices")
def choices() -> str:
    """Everything that a run can be made of: what is available here, why not, and what makes it so."""
    return render_template("choices.html", groups=services().container.catalogue())


def sent_form() -> ClaimForm:
    """The form of this request, with the settings' choices for fields that were left out."""
    return ClaimForm.sent(request.form, _blank_form())


def _blank_form() -> ClaimForm:
    """The form as a new visitor finds it: the settings' choices."""
    return ClaimForm.asking_for(capabilities().defaults(), capabilities().defaults(PURSUIT).preset)


def form_context(form: ClaimForm, error: InvalidInput | None = None) -> dict[str, Any]:
    """What claim_form.html needs. Asks no database, for the pages that say that there is none."""
    return {
        "form": form,
        "error": error,
        "capabilities": capabilities(),
        "asked_model": form.asked_model(capabilities()),
        "label_sets": views.LABEL_SETS,
        "most_hops": MAX_HOPS,
    }


def home_page(form: ClaimForm, error: InvalidInput | None = None) -> str:
    """The home page with `form` filled in, and `error` by its field."""
    recent, parts = services().runs.recent(owner()), services().components()
    return render_template("home.html", samples=EXAMPLES, recent=recent, parts=parts, **form_context(form, error))
