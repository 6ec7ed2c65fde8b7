"""The claim form, the page of a run, and the pages about the site."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeVar

from flask import Blueprint, Response, current_app, render_template, request, url_for
from flask.typing import ResponseReturnValue
from itsdangerous import BadSignature, URLSafeSerializer

from app.capabilities.options import VITAL, source_of
from app.config import FLASK
from app.domain.errors import CallFailed, InvalidInput, UnparseableOutput
from app.domain.messages import Words
from app.domain.model import RANGES, TICKS, RunOptions, SourceText
from app.presets import RECIPES, defaults_of
from app.run_request import RunRequest, resolve_options
from app.runs.service import RunSummary, StoredRun
from app.strategies import STRATEGIES
from app.text.claims import (
    MAX_CLAIM_LENGTH,
    MAX_TEXT_CHARACTERS,
    NOT_NAMED,
    Candidate,
    Hint,
    Kind,
    candidates,
    kind_of,
    language_name,
    language_of,
    leaves_name_out,
    link_in,
    names_before,
)
from app.text.clean import clean_text
from app.web import available_sources, capabilities, services, views
from app.web.auth import client, stored_run
from app.web.forms import (
    PAPER_CLAIMS,
    ClaimForm,
    chosen_source,
    example_groups,
    featured_outcome,
    memory_sources,
)
from app.web.language import language
from app.web.run_view import run_page
from app.web.runs import to_run
from app.web.security import owner

log = logging.getLogger(__name__)
T = TypeVar("T")

pages = Blueprint("pages", __name__)

MAX_RECENT = 5
"""Runs of this browser on the home page."""

WORKING = ("running", "verdict")
"""States of a run whose source may be offered first again."""


@pages.get("/")
def home() -> str:
    """Show the claim form, samples and this browser's recent runs.

    `?claim=` fills in a claim, for links from elsewhere; `?again=` fills in the form from an earlier run.
    """
    earlier = request.args.get("again")
    if earlier is None:
        recent = services().runs.recent(owner(), MAX_RECENT)
        form = replace(_with_last_source(_blank_form(), recent), claim=request.args.get("claim", ""))
        return home_page(form, recent=recent)
    run = stored_run(earlier)
    return home_page(ClaimForm.repeating(run.report.claim, run.report.options, _blank_form()))


@pages.post("/runs")
def start() -> ResponseReturnValue:
    """Start a run and redirect to its page; a question, or other input that is no claim, gets a hint.

    A text, or the page at a link, is split into claims to choose from, unless batches are turned off.
    """
    form = sent_form()
    _check_length(form.claim)
    # The buttons "Check it as it is" and those of the samples skip the classification.
    kind = Kind.CLAIM if {"as_is", "sample"} & set(request.form) else kind_of(form.claim)
    if kind in (Kind.TEXT, Kind.LINK) and services().settings.batch_claims:
        return _claims_of_text(form, link_in(form.claim))
    sent = RunRequest.resolve(form.raw(), capabilities())
    if hint := _hint(kind, sent):
        return home_page(form, hint=hint)
    run_id = services().runs.start(sent.claim, sent.options, owner(), request.form.get("form_name", ""), client())
    return to_run(run_id)


def _check_length(text: str) -> None:
    """Raise InvalidInput for a text above MAX_TEXT_CHARACTERS, before any work on it. A CRLF counts once."""
    length = len(text.strip().replace("\r\n", "\n"))
    if length > MAX_TEXT_CHARACTERS:
        raise InvalidInput(
            Words(
                "The text has {length:,} characters; at most {most:,} are allowed.",
                length=length,
                most=MAX_TEXT_CHARACTERS,
            )
        )


@pages.get("/runs/<run_id>")
def run(run_id: str) -> str:
    """Show a run: static once it has ended, else updated by a stream or, without a free slot, by reloading."""
    return run_page(stored_run(run_id))


@pages.get("/parts")
def parts() -> str:
    """Show the components that are loading or missing; the home page reloads this until none is loading."""
    return render_template("parts.html", parts=services().components())


BOOKMARKLET = (
    "javascript:(()=>{{let t=[...getSelection().toString().trim()].slice(0,3000),q;"
    "do{{q=encodeURIComponent(t.join(''))}}while(q.length>3500&&t.splice(-50));"
    "open('{0}?claim='+q)||(location='{0}?claim='+q)}})()"
)
"""Opens the home page with the selected text, shortened so that no server refuses the address as too long."""


@pages.get("/how-it-works")
def how_it_works() -> str:
    """Explain the steps of a run."""
    return render_template(
        "how_it_works.html",
        strategies=STRATEGIES,
        bookmarklet=BOOKMARKLET.format(url_for("pages.home", _external=True)),
    )


@pages.get("/choices")
def choices() -> str:
    """List all modules and models: which are available, and how to make the others available."""
    return render_template("choices.html", groups=services().container.catalogue(), flask=FLASK)


@pages.get("/opensearch.xml")
def opensearch() -> Response:
    """Describe the site as a search engine, so that a browser can check what is typed into its address bar."""
    return Response(render_template("opensearch.xml"), mimetype="application/opensearchdescription+xml")


@pages.get("/favicon.ico")
def favicon() -> Response:
    """Return the site's icon for programs that ask for it without reading a page."""
    return current_app.send_static_file("favicon.ico")


HINTS = {
    Kind.OPEN: Hint(
        Words("This does not say who or what is meant."),
        Words("Each claim is checked by itself: write the name first."),
    ),
    Kind.QUESTION: Hint(
        Words("This is a question."), Words("Hopcheck checks statements: write the answer that you want checked.")
    ),
    Kind.NO_CLAIM: Hint(
        Words("No statement was found in this."), Words("Write a whole English sentence that is true or false.")
    ),
    Kind.LINK: Hint(Words("This is a link."), Words("Copy the sentence that you want checked from its page.")),
}


def _hint(kind: Kind, sent: RunRequest) -> Hint | None:
    text = sent.claim.text
    if kind is Kind.FOREIGN:
        name = language_name(language_of(text), language())
        return Hint(
            Words("This looks like {language}.", language=name),
            Words("Hopcheck reads only English: write the claim in English."),
        )
    container = services().container
    if kind is Kind.QUESTION:
        return replace(HINTS[kind], suggestion=_rewritten(container.statement_of, text, sent.options) or "")
    if kind is Kind.OPEN:
        return replace(HINTS[kind], suggestion=_rewritten(container.names_for, sent.claim, sent.options) or "")
    return HINTS.get(kind)


def _rewritten(rewrite: Callable[[Any, RunOptions], T | None], text: Any, options: RunOptions) -> T | None:
    """Return the text as a language model rewrites it; None without a model or a usable reply."""
    try:
        with services().runs.admission.counted():
            return rewrite(text, options)
    except (CallFailed, UnparseableOutput) as error:
        log.warning("a language model could not rewrite the input: %s", error)
        return None


def _claims_of_text(form: ClaimForm, link: str | None) -> str:
    """Show the sentences of the typed text, or of the page at `link`, to choose from. Raises InvalidInput."""
    options = resolve_options(form.raw(), capabilities())
    title, url, text = _read(link) if link else ("", "", form.claim)
    text = clean_text(text[:MAX_TEXT_CHARACTERS])
    found = candidates(text, line_by_line=bool(link))
    if not found:
        raise InvalidInput(Words("No sentence was found in this text."))
    rewritten = _rewritten(services().container.claims_of, found, options)
    claims = tuple(
        replace(each, note=each.note or NOT_NAMED * leaves_name_out(each.claim)) for each in rewritten or found
    )
    source = SourceText(text, tuple((each.start, each.end) for each in claims), title, url)
    return claims_page(form, source, claims, is_rewritten=rewritten is not None)


def _read(link: str) -> tuple[str, str, str]:
    """Return title, address and text of a page. Raises InvalidInput."""
    try:
        page = services().container.page_at(link)
    except CallFailed as error:
        raise InvalidInput(Words("The page could not be read. {error}", error=error)) from error
    return page.title or page.site, page.url, page.text


def claims_page(
    form: ClaimForm,
    source: SourceText,
    found: Sequence[Candidate],
    is_rewritten: bool | None = None,
    problem: str = "",
    changed: int = 0,
) -> str:
    """Render the choice among the claims of a text; those without a note are ticked.

    `is_rewritten` says whether a language model rewrote the claims; None leaves the notice about that out. The claim
    with the number `changed` has the focus.
    """
    claims = [each.claim for each in found]
    return render_template(
        "claims.html",
        form=form,
        source=source,
        signed=_signer().dumps(asdict(source)),
        found=found,
        suggested=[names_before(claims[:at]) * leaves_name_out(claim) for at, claim in enumerate(claims)],
        changed=changed,
        may_rewrite=not (is_rewritten or services().settings.redis_url),
        is_rewritten=is_rewritten,
        problem=problem,
        max_claim=MAX_CLAIM_LENGTH,
    )


def sent_source() -> SourceText:
    """Return the text that a form from `claims_page` was made for. Raises InvalidInput for an invalid signature."""
    try:
        return SourceText(**_signer().loads(request.form["source"]))
    except BadSignature:
        raise InvalidInput(
            Words("This page was out of date, so nothing was sent: please send the text again.")
        ) from None


def _signer() -> URLSafeSerializer:
    """Return the signer of texts, without which a sender could forge the source that a batch shows."""
    return URLSafeSerializer(str(current_app.secret_key), salt="text of a batch")


def sent_form() -> ClaimForm:
    """Return the submitted form, with the settings' defaults for omitted fields."""
    return ClaimForm.from_fields(request.form, _blank_form())


@pages.app_template_global("fields_to_repeat")
def fields_to_repeat(run: StoredRun) -> list[tuple[str, str]]:
    """Return the fields of a form that starts the same check again."""
    form = ClaimForm.repeating(run.report.claim, run.report.options, _blank_form())
    return [("claim", form.claim), *form.hidden_fields()]


def _blank_form() -> ClaimForm:
    usual = capabilities()
    return ClaimForm.from_options(usual.defaults(), usual.default_options.preset, usual.default_pursuit.preset)


def _with_last_source(blank: ClaimForm, runs: Sequence[RunSummary]) -> ClaimForm:
    """Return the form with the source of this browser's last check, of those still available that did not fail.

    A check of PAPER_CLAIMS does not count: their form has a source of its own.
    """
    recent = [each.id for each in runs if each.state in WORKING and each.claim not in PAPER_CLAIMS]
    options = services().runs.queries.options_of(recent)
    usable = {each.name for each in available_sources()}
    used = (source_of(options[run_id]) for run_id in recent if run_id in options)
    last = next((name for name in used if name in usable), blank.from_source)
    return replace(blank, from_source=last)


def form_context(form: ClaimForm, error: InvalidInput | None = None, hint: Hint | None = None) -> dict[str, Any]:
    """Return the variables of claim_form.html. Reads no database, because error pages use them too."""
    return {
        "form": form,
        "error": error,
        "hint": hint,
        "capabilities": capabilities(),
        "recipes": RECIPES,
        "asked_model": form.selected_model(capabilities()),
        "chosen_source": chosen_source(form, capabilities()),
        "memory_sources": memory_sources(capabilities()),
        "defaults_of": defaults_of,
        "label_sets": views.LABEL_SETS,
        "ranges": RANGES,
        "ticks": TICKS,
    }


def home_page(
    form: ClaimForm,
    error: InvalidInput | None = None,
    hint: Hint | None = None,
    recent: Sequence[RunSummary] | None = None,
) -> str:
    """Render the home page with `form` filled in, and `error` or `hint` by its field."""
    return render_template(
        "home.html",
        example=featured_outcome(),
        example_groups=example_groups(),
        recent=services().runs.recent(owner(), MAX_RECENT) if recent is None else recent,
        parts=services().components(),
        paper_claims=PAPER_CLAIMS,
        deciding_sources=available_sources(besides=VITAL),
        **form_context(form, error, hint),
    )
