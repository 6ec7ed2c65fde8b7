"""Batches of claims, as pages and in the API: start, progress, results, commands, deletion and restoration.

Anybody with a batch's link can read it; only the browser or token that started it can change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from textwrap import shorten
from typing import Any

from flask import (
    Blueprint,
    Response,
    abort,
    flash,
    redirect,
    render_template,
    request,
    session,
    stream_with_context,
    url_for,
)
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import NotFound, RequestEntityTooLarge

from app.batches import files
from app.batches.service import UNREADABLE, Batch, BatchClaim, BatchState
from app.capabilities.options import Choice, source_of
from app.domain.errors import CallFailed, HopcheckError, InvalidInput, NotNow
from app.domain.messages import Words
from app.domain.model import BatchLine, Label, RunOptions, SourceText
from app.run_request import CLAIM_FIELDS, raw_options, resolve_options
from app.runs.models import RUNNING
from app.text.claims import Candidate
from app.text.wording import with_name
from app.web import available_sources, capabilities, report_view, services, views
from app.web.api import schemas
from app.web.api.blueprint import REPEATED, operation, sent_key, status_of
from app.web.auth import current_principal, owned_batch, principal_for_new_run, stored_batch
from app.web.corrections import Marked, marked_pieces
from app.web.errors import SwitchedOff, unavailable
from app.web.forms import SET_BY_SOURCE
from app.web.home import claims_page, sent_form, sent_source
from app.web.language import words
from app.web.run_view import verdict_details
from app.web.security import owner

batches = Blueprint("batches", __name__)

CLAIMS_PER_PAGE = 100

CLOSED = Words("This site takes no batches of claims: its operator has switched them off.")
NOTHING_SENT = Words("Choose a file of claims, or paste some.")
NOT_NOW = Words("The present state of this batch does not allow that, so nothing was changed.")
NOTHING_FAILED = Words("There is nothing to try again, or the batch was cancelled.")
NOTHING_TICKED = Words("Tick at least one claim.")
NOT_TICKED = Words("Not ticked")
MAX_TITLE_FROM_TEXT = 60


@batches.app_template_global("most_claims")
def most_claims() -> int:
    """Return the maximum number of claims in a batch; 0 where batches are disabled."""
    return services().settings.batch_claims


@batches.get("/batches")
def form() -> str:
    """Show the upload form and this browser's batches."""
    return form_page()


@batches.post("/batches")
def start() -> ResponseReturnValue:
    """Start a batch and redirect to its page; a button beside a claim of a text returns the form with it changed."""
    if not most_claims():
        return form_page(), 404
    if "change" in request.form:
        return _changed(*request.form["change"].partition(":")[::2])
    return _to_batch(_start_from_text() if "source" in request.form else _start_from_claims())


@batches.errorhandler(InvalidInput)
def _refused(error: InvalidInput) -> ResponseReturnValue:
    """Return the page of the batch, or the submitted form, with the error."""
    try:
        batch = services().batches.get((request.view_args or {}).get("batch_id", ""))
        return (_page(batch, words(error)) if batch else _form_again(words(error))), status_of(error)
    except HopcheckError as failure:
        return unavailable(failure)


@operation("post /batches", "batches", owned=True, status=201, errors=(404,), headers={"Idempotency-Key": REPEATED})
def start_batch(body: schemas.NewBatch) -> schemas.Batch:
    """Start a batch.

    Checks many claims, a few at a time, after the runs that single people start. A line that is no claim is kept with
    the reason; 422 where all are. 404 where the operator takes no batches.
    """
    principal = principal_for_new_run()
    if not most_claims():
        raise SwitchedOff(CLOSED)
    fields = {name: value for name, value in body if value is not None}
    claims, title = fields.pop("claims"), fields.pop("title", "")
    if not isinstance(claims, list):
        raise InvalidInput(schemas.INVALID["claims"], "claims")
    read = (files.line_of(number, _claim_fields(each)) for number, each in enumerate(claims, 1))
    lines = files.check_lines(read, most_claims())
    options = resolve_options(fields, capabilities())
    return _described(services().batches.start(lines, options, principal, _title(lines, title), sent_key()))


def _claim_fields(claim: Any) -> dict[str, str]:
    """Return the fields of one claim of a batch, which may be sent as plain text. Raises InvalidInput."""
    fields = {"claim": claim} if isinstance(claim, str) else claim
    is_object = isinstance(fields, dict) and "claim" in fields and set(fields) <= set(CLAIM_FIELDS)
    if not is_object or fields["claim"] is None or not all(isinstance(each, str | None) for each in fields.values()):
        raise InvalidInput(schemas.INVALID["claims"], "claims")
    return fields


@operation("get /batches", "batches", owned=True)
def list_batches(query: schemas.Limited) -> schemas.BatchList:
    """List your batches, newest first."""
    return _list(services().batches.of_owner(current_principal(), query.limit))


@batches.get("/batches/<batch_id>")
def page(batch_id: str) -> str:
    """Show a batch's progress and the claims after number `?after=`; reloads while it is running."""
    return _page(stored_batch(batch_id))


@batches.get("/batches/<batch_id>/cancel")
def confirm(batch_id: str) -> str:
    """Ask whether to cancel the batch."""
    return render_template("batch_cancel.html", batch=owned_batch(batch_id))


COMMANDS = {
    "pause": "Pause a batch.\nStarts no more of its runs; those that have started come to their end. 409 unless it was "
    "going.",
    "resume": "Resume a paused batch.",
    "cancel": "Cancel a batch.\nStarts no more of its runs, for good, and ends those that are running. 409 for one "
    "that is over.",
    "retry": "Try again what failed.\nGives claims whose run failed or was interrupted a new one. 409 for none, or a "
    "cancelled batch.",
}
"""The commands of a batch's owner, each with its summary and description in the API document."""


def _add_command(command: str, about: str) -> None:
    def steer(batch_id: str) -> None:
        if not getattr(services().batches, command)(owned_batch(batch_id).id):
            raise NotNow(NOTHING_FAILED if command == "retry" else NOT_NOW)
        services().batches.feed()

    @batches.post(f"/batches/<batch_id>/{command}", endpoint=command)
    def press(batch_id: str) -> ResponseReturnValue:
        steer(batch_id)
        return _to_batch(batch_id)

    @operation(f"post /batches/<batch_id>/{command}", "batches", name=f"{command}Batch", about=about, owned=True)
    def call(batch_id: str, body: schemas.Nothing) -> schemas.Batch:
        steer(batch_id)
        return _described(batch_id)


for _each in COMMANDS.items():
    _add_command(*_each)


@batches.post("/batches/<batch_id>/recheck")
def recheck(batch_id: str) -> ResponseReturnValue:
    """Start a batch of the undecided claims with another source, and redirect to its page."""
    batch, batches = owned_batch(batch_id), services().batches
    undecided = batches.claims(batch.id, limit=most_claims(), status=Label.NOT_ENOUGH_EVIDENCE)
    options = batches.options_of(batch.id)
    if not undecided or options is None:
        raise NotNow(NOT_NOW)
    raw = {name: value for name, value in raw_options(options).items() if name not in SET_BY_SOURCE}
    again = resolve_options({**raw, "source": request.form.get("source", "")}, capabilities())
    source = batch.source
    if source:
        source = replace(source, spans=tuple(source.spans[each.number - 1] for each in undecided))
    lines = tuple(BatchLine(each.claim) for each in undecided)
    title = files.title_of(f"{batch.title} ({report_view.source_words(again)})")
    return _to_batch(_start(lines, again, title, source))


def _add_results(suffix: str, media: str, write: Callable[..., Iterator[str]]) -> None:
    @batches.get(f"/batches/<batch_id>/results.{suffix}", endpoint=f"results_{suffix}")
    def results(batch_id: str) -> Response:
        """Stream the results, so that a long batch is never held in memory."""
        lines = write(services().batches.all_claims(stored_batch(batch_id).id), _details_of)
        response = Response(stream_with_context(lines), mimetype=media)
        response.headers["Content-Disposition"] = f"attachment; filename=hopcheck-batch.{suffix}"
        return response


_add_results("csv", "text/csv", files.as_csv)
_add_results("jsonl", "application/jsonl", files.as_jsonl)


@operation("get /batches/<batch_id>/results", "batches")
def list_batch_results(batch_id: str, query: schemas.ResultListing) -> schemas.BatchResults:
    """Read the claims of a batch and the result of each, in order."""
    claims = services().batches.claims(stored_batch(batch_id).id, query.after, query.limit + 1)
    page = claims[: query.limit]
    found = tuple(files.result(each, _details_of) for each in page)
    return schemas.BatchResults(found, page[-1].number if len(claims) > query.limit else None)


def _details_of(claim: BatchClaim) -> dict[str, str]:
    """Return the address of the claim's report, its verdict in everyday words, and the sentence that decides."""
    if not claim.run_id:
        return {}
    found = {"permalink": url_for("pages.run", run_id=claim.run_id, _external=True)}
    return found | verdict_details(services().runs.report(claim.run_id)) if claim.label else found


@batches.errorhandler(RequestEntityTooLarge)
def _too_large(error: RequestEntityTooLarge) -> ResponseReturnValue:
    """Report the size; the request was refused by its Content-Length, unread."""
    return form_page(files.TOO_LARGE, read=False), 413


def _start_from_claims() -> str:
    file = request.files.get("file")
    name = file.filename or "" if file else ""
    sent = file.read() if file and name else request.form.get("claims", "").encode(errors="replace")
    if not sent.strip():
        raise InvalidInput(NOTHING_SENT, "claims")
    lines, ignored = files.read_claims(sent, name, most_claims())
    options = resolve_options(sent_form().raw(), capabilities())
    title = _title(lines, request.form.get("title", ""), name)
    if ignored:
        flash(words(files.ignored_words(ignored)))
    return _start(lines, options, title)


def _title(lines: Sequence[BatchLine], *names: str) -> str:
    """Return the first name with visible characters, or else the number of claims."""
    return files.title_of(*names) or f"{len(lines):,} claim{'' if len(lines) == 1 else 's'}"


def _start_from_text() -> str:
    source, form = sent_source(), sent_form()
    ticked = [number for number in range(1, len(source.spans) + 1) if str(number) in request.form.getlist("tick")]
    context = {"speaker": form.speaker, "date": form.date}
    fields = [{"claim": request.form.get(f"claim-{number}", ""), **context} for number in ticked]
    if not ticked:
        raise InvalidInput(NOTHING_TICKED, "claims")
    # A refusal names the claims as the form numbers them.
    files.check_lines(map(files.line_of, ticked, fields), most_claims())
    lines = tuple(map(files.line_of, count(1), fields))
    options = resolve_options(form.raw(), capabilities())
    title = files.title_of(source.title, shorten(source.text, MAX_TITLE_FROM_TEXT, placeholder="…"))
    ticked_source = replace(source, spans=tuple(source.spans[number - 1] for number in ticked))
    return _start(lines, options, title, ticked_source)


def _start(lines: Sequence[BatchLine], options: RunOptions, title: str, source: SourceText | None = None) -> str:
    return services().batches.start(lines, options, owner(), title, request.form.get("form_name", ""), source)


def _form_again(problem: str) -> str:
    """Render the submitted form: pasted claims, or the choice among the claims of a text if its signature is valid."""
    if "source" not in request.form:
        return form_page(problem)
    try:
        return claims_page(sent_form(), *_sent_claims(), problem=problem)
    except InvalidInput as error:
        return form_page(words(error))


def _sent_claims() -> tuple[SourceText, list[Candidate]]:
    """Return the text and its claims as the form was sent. Raises InvalidInput for an invalid signature."""
    source, ticked = sent_source(), request.form.getlist("tick")
    return source, [
        Candidate(*span, request.form.get(f"claim-{number}", ""), "" if str(number) in ticked else NOT_TICKED)
        for number, span in enumerate(source.spans, 1)
    ]


def _changed(number: str, name: str) -> str:
    """Return the form with `name` at the start of a claim, or with the claim as the local model rewrites it.

    Raises InvalidInput for an invalid signature.
    """
    source, found = _sent_claims()
    at = next((at for at in range(len(found)) if str(at + 1) == number), None)
    if at is None:
        abort(400)
    sentence, problem = found[at], ""
    claims: tuple[Candidate, ...] = (replace(sentence, claim=with_name(sentence.claim, name), note=""),)
    if not name:
        try:
            with services().runs.admission.counted():
                claims = services().container.rewritten(sentence, " ".join(each.claim for each in found[:at]))
        except CallFailed as error:
            claims, problem = (
                (sentence,),
                Words("Claim {number} was not rewritten. {error}", number=number, error=error),
            )
        else:
            problem = (
                Words("The local model has no other words for claim {number}: please edit it.", number=number)
                if claims == (sentence,)
                else ""
            )
    found[at : at + 1] = claims
    source = replace(source, spans=tuple((each.start, each.end) for each in found))
    return claims_page(sent_form(), source, found, problem=problem, changed=at + 1)


def form_page(problem: str = "", read: bool = True, notice: str = "") -> str:
    """Render the form as submitted, without the file, which browsers do not fill in again."""
    owner_id = session.get("owner", "")
    fields = request.form if read else {}
    form = sent_form() if read else None
    return render_template(
        "batches.html",
        problem=problem,
        pasted=fields.get("claims", ""),
        title=fields.get("title", ""),
        chosen=form,
        capabilities=capabilities(),
        label_sets=views.LABEL_SETS,
        batches=services().batches.of_owner(owner_id),
        deleted=services().batches.restorable(owner_id),
        closed=CLOSED,
        notice=notice,
        megabytes=files.MAX_BYTES // 1024**2,
    )


def _page(batch: Batch, notice: str = "") -> str:
    store = services().batches
    after, label = request.args.get("after", "0"), request.args.get("label", "")
    first = int(after) if after.isascii() and after.isdigit() and len(after) < 8 else 0
    fixes = [number for number in request.args.getlist("fix") if number.isascii() and number.isdigit()]
    progress = store.progress(batch.id)
    label = label if label in progress.counts else ""
    found = store.claims(batch.id, first, CLAIMS_PER_PAGE + 1, label)
    claims = found[:CLAIMS_PER_PAGE]
    is_going = batch.state is BatchState.GOING or bool(progress.counts.get(RUNNING))
    is_moving = is_going and progress.done < progress.total
    is_own = session.get("owner") == batch.owner
    return render_template(
        "batch.html",
        batch=batch,
        progress=progress,
        claims=claims,
        label=label,
        pieces=_pieces(batch, set(map(int, fixes))) if batch.source and not first else (),
        fixes=fixes,
        first=first,
        before=0 if label else max(first - CLAIMS_PER_PAGE, 0),
        after=claims[-1].number if len(found) > len(claims) else 0,
        moving=is_moving,
        held_up=services().batches.held_up(batch.id) if batch.state is BatchState.GOING else None,
        other_version=UNREADABLE,
        own=is_own,
        sources=_other_sources(batch) if is_own and progress.counts.get(Label.NOT_ENOUGH_EVIDENCE) else (),
        notice=notice,
    )


def _pieces(batch: Batch, taken: set[int]) -> list[Marked]:
    source = batch.source or SourceText("", ())
    claims = services().batches.claims(batch.id, limit=len(source.spans))
    refuted = [each.run_id for each in claims if each.run_id and each.label is Label.REFUTED]
    read = {run_id: services().runs.report(run_id) for run_id in refuted}
    reports = {run_id: run.report for run_id, run in read.items() if run}
    return list(marked_pieces(source, claims, reports, taken))


def _other_sources(batch: Batch) -> tuple[Choice, ...]:
    options = services().batches.options_of(batch.id)
    own = source_of(options) if options else ""
    return available_sources(besides=own) if own else ()


@operation("get /batches/<batch_id>", "batches")
def read_batch(batch_id: str) -> schemas.Batch:
    """Read how far a batch is."""
    return _described(batch_id)


def _described(batch_id: str) -> schemas.Batch:
    batch, progress = stored_batch(batch_id), services().batches.progress(batch_id)
    held_up = services().batches.held_up(batch_id)
    summary = (batch.id, batch.title, batch.state, batch.created_at)
    return schemas.Batch(*summary, progress.counts, progress.done, progress.total, held_up)


def _list(batches: Iterable[Batch]) -> schemas.BatchList:
    return schemas.BatchList(
        tuple(schemas.BatchSummary(each.id, each.title, each.state, each.created_at) for each in batches)
    )


batch_deleting = Blueprint("batch_deleting", __name__)

TOO_LATE = Words("There is nothing to undo: that batch is gone for good, or it was never one of this browser's.")


@batch_deleting.get("/batches/<batch_id>/delete", endpoint="confirm")
def confirm_delete(batch_id: str) -> ResponseReturnValue:
    """Ask for confirmation; a deleted batch redirects to the list, where it can be restored."""
    if _is_deleted(batch_id):
        return _to_batches()
    return render_template("batch_delete.html", batch=owned_batch(batch_id))


@batch_deleting.post("/batches/<batch_id>/delete")
def delete(batch_id: str) -> ResponseReturnValue:
    """Delete the batch and redirect to the list. Idempotent."""
    if not _is_deleted(batch_id):
        delete_batch(batch_id)
    return _to_batches()


@operation("delete /batches/<batch_id>", "batches", owned=True, status=204)
def delete_batch(batch_id: str) -> None:
    """Delete a batch.

    Cancels the batch if it has not ended and hides it and all its runs from everybody. Its owner can restore them
    together for ten minutes. Then they are purged.
    """
    services().batches.delete(owned_batch(batch_id).id)


@batch_deleting.post("/batches/<batch_id>/restore")
def restore(batch_id: str) -> ResponseReturnValue:
    """Restore a deleted batch and redirect to it. Idempotent."""
    try:
        _restore(batch_id)
    except NotFound:
        return form_page(notice=TOO_LATE), 404
    return _to_batch(batch_id)


@operation("post /batches/<batch_id>/restore", "batches", owned=True)
def restore_batch(batch_id: str, body: schemas.Nothing) -> schemas.Batch:
    """Restore a deleted batch.

    Also restores the runs that were deleted with it. A batch that had not ended when it was deleted is cancelled. A
    second time changes nothing.
    """
    _restore(batch_id)
    return _described(batch_id)


@operation("get /deleted/batches", "batches", owned=True)
def list_deleted_batches() -> schemas.BatchList:
    """List the batches that can be restored, the last deleted first."""
    return _list(services().batches.restorable(current_principal()))


def _restore(batch_id: str) -> None:
    if not services().batches.restore(batch_id, current_principal()):
        owned_batch(batch_id)  # raises NotFound, but for a batch that is not deleted


def _to_batch(batch_id: str) -> ResponseReturnValue:
    return redirect(url_for("batches.page", batch_id=batch_id), 303)


def _to_batches() -> ResponseReturnValue:
    return redirect(url_for("batches.form"), 303)


def _is_deleted(batch_id: str) -> bool:
    return any(each.id == batch_id for each in services().batches.restorable(current_principal()))
