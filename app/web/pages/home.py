"""The claim form, the page of a run, and the pages about the site."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flask import Blueprint, abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from app.capabilities.options import PURSUIT
from app.config.settings import MAX_HOPS
from app.domain.errors import InvalidInput
from app.run_request import RunRequest
from app.text.statements import Hint, Kind, kind_of, language_name, language_of
from app.web import views
from app.web.api.auth import client
from app.web.forms import ClaimForm, example, pairs, source_of, sources
from app.web.observability import about_run
from app.web.run_view import run_page
from app.web.security import owner
from app.web.services import capabilities, services
from app.web.views import GUIDED_MODULES, PURSUIT_MODULES

pages = Blueprint("pages", __name__)

MAX_RECENT = 5
"""Runs of this browser on the home page."""


@pages.get("/")
def home() -> str:
    """Show the claim form, samples and this browser's recent runs.

    `?claim=` fills in a claim, for links from elsewhere; `?again=` fills in the form from an earlier run.
    """
    earlier = request.args.get("again")
    if earlier is None:
        return home_page(replace(_blank_form(), claim=request.args.get("claim", "")))
    run = services().runs.report(earlier) or abort(404)
    return home_page(ClaimForm.repeating(run.report.claim, run.report.options, _blank_form()))


@pages.post("/runs")
def start() -> ResponseReturnValue:
    """Start a run and redirect to its page; what is no claim gets a hint instead."""
    form = sent_form()
    sent = RunRequest.resolve(form.raw(), capabilities())
    if hint := _hint(form):
        return home_page(form, hint=hint)
    run_id = services().runs.start(sent.claim, sent.options, owner(), request.form.get("form_name", ""), client())
    about_run(run_id)
    return redirect(url_for("pages.run", run_id=run_id), 303)


@pages.get("/runs/<run_id>")
def run(run_id: str) -> str:
    """Show a run: static once it has ended, else updated by a stream or, without a free slot, by reloading."""
    return run_page(services().runs.report(run_id) or abort(404))


@pages.get("/parts")
def parts() -> str:
    """Show the components that are loading or missing; the home page reloads this until none is loading."""
    return render_template("parts.html", parts=services().components())


@pages.get("/how-it-works")
def how_it_works() -> str:
    """Explain the steps of a run."""
    return render_template("how_it_works.html", guided_modules=GUIDED_MODULES, pursuit_modules=PURSUIT_MODULES)


@pages.get("/choices")
def choices() -> str:
    """List all modules and models: which are available, and how to make the others available."""
    return render_template("choices.html", groups=services().container.catalogue())


HINTS = {
    Kind.QUESTION: Hint("This is a question.", "Hopcheck checks statements: write the answer that you want checked."),
    Kind.NO_CLAIM: Hint("No statement was found in this.", "Write a whole English sentence that is true or false."),
    Kind.LINK: Hint("This is a link.", "Copy the sentence that you want checked from its page."),
}


def _hint(form: ClaimForm) -> Hint | None:
    """Return what to say instead of starting a run, None for a claim and where the visitor wants the run."""
    kind = Kind.CLAIM if {"as_is", "sample"} & set(request.form) else kind_of(form.claim)
    if kind is Kind.FOREIGN:
        return Hint(
            f"This looks like {language_name(language_of(form.claim))}.",
            "Hopcheck reads only English: write the claim in English.",
        )
    return HINTS.get(kind)


def sent_form() -> ClaimForm:
    """Return the submitted form, with the settings' defaults for omitted fields."""
    return ClaimForm.sent(request.form, _blank_form())


def _blank_form() -> ClaimForm:
    """Return the form for a new visitor, with the settings' defaults."""
    return ClaimForm.from_options(capabilities().defaults(), capabilities().defaults(PURSUIT).preset)


def form_context(form: ClaimForm, error: InvalidInput | None = None, hint: Hint | None = None) -> dict[str, Any]:
    """Return the variables of claim_form.html. Reads no database, because error pages use them too."""
    return {
        "form": form,
        "error": error,
        "hint": hint,
        "capabilities": capabilities(),
        "asked_model": form.selected_model(capabilities()),
        "source": source_of(form, capabilities()),
        "sources": sources(capabilities()),
        "label_sets": views.LABEL_SETS,
        "most_hops": MAX_HOPS,
    }


def home_page(form: ClaimForm, error: InvalidInput | None = None, hint: Hint | None = None) -> str:
    """Render the home page with `form` filled in, and `error` or `hint` by its field."""
    return render_template(
        "home.html",
        example=example(),
        pairs=pairs(),
        recent=services().runs.recent(owner(), MAX_RECENT),
        parts=services().components(),
        **form_context(form, error, hint),
    )
