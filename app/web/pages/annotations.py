"""Notes on finished reports, their publication, and the gallery.

Notes are read and written by their owner only, but the owner's own verdict is shown to everybody. With JavaScript a
note is replaced in its card; without, the run's page is rendered again. A rejected note is shown as typed, with the
reason. Publishing needs PUBLISHING=on.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from app.domain.errors import InvalidInput
from app.domain.model import Label
from app.runs.notes import VERDICT, NoteChanged, checked_note, parse_note_hop
from app.runs.service import StoredRun
from app.web import services
from app.web.auth import owned
from app.web.pages.history import INVALID_CURSOR, decode_cursor, encode_cursor
from app.web.pages.run_actions import is_htmx_request
from app.web.run_view import SIDES, NoteForm, NotePlace, may_steer, readers_verdict, run_page

notes = Blueprint("notes", __name__)
notes.add_app_template_global(readers_verdict)

CHANGED = "This note was changed in another tab meanwhile. What you typed is still here: save it to replace that one."


@notes.post("/runs/<run_id>/notes")
def write(run_id: str) -> ResponseReturnValue:
    """Write or change the note on a hop; delete it where the form has `remove`."""
    run = owned(run_id)
    try:
        hop = _hop(run)
    except InvalidInput as error:
        return run_page(run, str(error)), 409
    sent = _sent()
    try:
        _store(run, hop, sent)
    except NoteChanged:
        return _rejected(run, hop, sent, CHANGED, 409)
    except InvalidInput as error:
        return _rejected(run, hop, sent, str(error), 422)
    if is_htmx_request():
        return _render(_place(run_id, hop))
    return redirect(url_for("pages.run", run_id=run_id, _anchor=f"note-{hop}"), 303)


def _hop(run: StoredRun) -> int:
    return parse_note_hop(run.report, request.form.get("hop", ""))


def _sent() -> NoteForm:
    return NoteForm(*(request.form.get(name, "") for name in ("agrees", "text", "seen", "label", "signed")))


def _store(run: StoredRun, hop: int, sent: NoteForm) -> None:
    notes = services().runs.notes
    if "remove" in request.form:
        return notes.remove(run.id, hop, sent.seen_at)
    label = Label(sent.label) if hop == VERDICT and sent.label in set(Label) else None
    values = checked_note(run.report, SIDES.get(sent.agrees), sent.text, label, sent.signed)
    return notes.write(run.id, hop, seen=sent.seen_at, **values)


def _place(run_id: str, hop: int) -> NotePlace:
    note = next((note for note in services().runs.notes.of(run_id) if note.hop == hop), None)
    return NotePlace(run_id, hop, note, NoteForm.of(note))


def _rejected(run: StoredRun, hop: int, sent: NoteForm, problem: str, code: int) -> ResponseReturnValue:
    """Return the note as typed, the error and the stored note, which the next submission replaces."""
    current = _place(run.id, hop)
    form = replace(sent, seen=current.form.seen)
    place = NotePlace(run.id, hop, current.note, form, problem)
    if is_htmx_request():
        return _render(place)
    return run_page(run, rejected=place), code


def _render(place: NotePlace) -> str:
    return render_template("noted.html", place=place)


publishing = Blueprint("publishing", __name__)

REPORTS_PER_PAGE = 20
PUBLISHING_OFF = "Nothing is published on this site: its operator has not allowed it."


@publishing.app_template_global()
def may_publish() -> bool:
    """Return whether the operator allows publishing."""
    return services().settings.publishing


@publishing.app_template_global()
def shows_publishing(run: StoredRun) -> bool:
    """Return whether to show the publishing state of this run: to its owner, once it has a verdict."""
    return may_publish() and may_steer(run) and run.report.verdict is not None


@publishing.get("/gallery")
def gallery() -> ResponseReturnValue:
    """Show the published reports, newest first; `?label=` filters, `after=` continues."""
    if not may_publish():
        return _closed()
    label = request.args.get("label", "")
    if label not in set(Label):
        label = ""
    notice, after = "", None
    try:
        after = decode_cursor(request.args["after"]) if "after" in request.args else None
    except InvalidInput:
        notice = INVALID_CURSOR
    found = services().runs.publishing.listed(label, REPORTS_PER_PAGE + 1, after)
    shown = found[:REPORTS_PER_PAGE]
    older = (
        _address(label, encode_cursor(shown[-1].published_at, shown[-1].id)) if len(found) > REPORTS_PER_PAGE else None
    )
    newest = _address(label) if after else None
    return render_template(
        "gallery.html", runs=shown, label=label, labels=Label, older=older, newest=newest, notice=notice
    )


@publishing.post("/runs/<run_id>/publish")
def publish(run_id: str) -> ResponseReturnValue:
    """Publish the run in the gallery. Idempotent."""
    run = owned(run_id)
    if not may_publish():
        return _closed()
    try:
        services().runs.publishing.publish(run_id)
    except InvalidInput as error:
        return run_page(run, str(error)), 409
    return _to_run(run_id)


@publishing.post("/runs/<run_id>/unpublish")
def unpublish(run_id: str) -> ResponseReturnValue:
    """Remove the run from the gallery, also while publishing is disabled. Idempotent."""
    services().runs.publishing.unpublish(owned(run_id).id)
    return _to_run(run_id)


def _to_run(run_id: str) -> ResponseReturnValue:
    return redirect(url_for("pages.run", run_id=run_id, _anchor="keeping"), 303)


def _closed() -> ResponseReturnValue:
    return render_template("error.html", code=404, meaning=PUBLISHING_OFF), 404


def _address(label: str, after: str = "") -> str:
    query = {"label": label, "after": after}
    return f"{url_for('publishing.gallery')}?{urlencode({name: value for name, value in query.items() if value})}"
