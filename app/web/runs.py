"""Runs, in the API and as actions on a run's page: start, follow, stop, conclude, branch, delete and restore.

Only a run's owner sees the actions; others get a 404. With JavaScript a steering button replaces only its own place on
the page and the stream updates the rest; without, it redirects to the run's page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TypeVar

from flask import Blueprint, Response, json, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import NotFound

from app.capabilities.options import source_of
from app.domain.errors import InvalidInput, NotNow
from app.domain.events import TERMINAL
from app.domain.messages import Code, Words
from app.domain.model import RANGES, Hop, Question
from app.domain.ports import RunCommand
from app.run_request import RunRequest, raw_options, resolve_options
from app.runs.lifecycle import UNDO_SECONDS
from app.runs.service import Place, RunSummary, StoredEvent, StoredRun, Unreadable, hop_to_change
from app.runs.transfer import report_fields
from app.text.claims import clean_question
from app.web import available_sources, capabilities, services
from app.web.api.blueprint import REPEATED, TEXT, operation, sent_key
from app.web.api.schemas import Following, NewBranch, NewRun, Nothing, Run, RunList
from app.web.auth import client, current_principal, owned, principal_for_new_run, stored_run
from app.web.forms import SET_BY_SOURCE
from app.web.history import history_page
from app.web.language import words
from app.web.observability import log_run
from app.web.run_view import may_steer, run_page
from app.web.security import owner
from app.web.sse import stream_run

Command = TypeVar("Command", bound=Callable[[str], None])


def run_of(run: StoredRun) -> Run:
    """Return the exported run with its current state: queue position, pending request to conclude, publication."""
    return Run(
        **report_fields(run),
        place=None if run.report.ended else services().runs.place(run.id),
        concluding=run.command is RunCommand.FINISH_NOW,
        published_at=run.published_at,
        taken_down=run.taken_down_at is not None,
    )


def created(run_id: str) -> Run:
    log_run(run_id)
    return run_of(stored_run(run_id))


@operation("post /runs", "runs", owned=True, status=201, headers={"Idempotency-Key": REPEATED})
def start_run(body: NewRun) -> Run:
    """Start a run.

    Omitted fields have the site's defaults. GET /choices lists the values and which host receives the claim.
    """
    principal = principal_for_new_run()
    wanted = RunRequest.resolve(body.model_dump(exclude_none=True), capabilities())
    return created(services().runs.start(wanted.claim, wanted.options, principal, sent_key(), client()))


@operation("get /runs/<run_id>", "runs")
def read_run(run_id: str) -> Run:
    """Read a run as it is now."""
    return run_of(stored_run(run_id))


class EventMessages:
    """The sse.Renderer for programs: stored events as JSON.

    Each message without a name is one stored event: its `id:` is the event's number, its data the event with `seq`,
    `seconds` and `kind`. Messages named "place" contain a waiting run's position in the queue and have no id. The last
    message is named "end".
    """

    def __init__(self, run: StoredRun) -> None:
        self.ended = bool(run.report.ended)
        self._place: Place | None = None

    def render(self, events: Sequence[StoredEvent]) -> str:
        """Return one message for each event, as it is stored, after a null place if the run was waiting."""
        self.ended = self.ended or isinstance(events[-1].event, TERMINAL)
        messages = (f"id: {stored.seq}\ndata: {json.dumps(stored.as_json())}\n\n" for stored in events)
        return self.render_place(None) + "".join(messages)  # a run with new events is not waiting

    def render_place(self, place: Place | None) -> str:
        """Return the place in the queue when it has changed; null once the run no longer waits."""
        if place == self._place:
            return ""
        self._place = place
        return f"event: place\ndata: {json.dumps(asdict(place) if place else None)}\n\n"


@operation(
    "get /runs/<run_id>/events",
    "runs",
    errors=(403,),
    content=("text/event-stream", TEXT),
    headers={"Last-Event-ID": "Overrides `after`; sent by an EventSource that reconnects."},
)
def follow_run(run_id: str, query: Following) -> Response:
    """Follow a run.

    Server-sent events, each as in the schema Message. A message without a name is one stored event (schema StoredEvent)
    whose id is its number; an event never changes, so one that arrives twice may be dropped. Messages named "place"
    have the place of a run that waits. Comments keep the connection open. The last message is named "end"; after a
    stream that closes without it, ask again with Last-Event-ID.
    """
    run = stored_run(run_id)
    return stream_run(run, EventMessages(run))


def run_command(tag: str, page: Blueprint, anchor: str | None = None) -> Callable[[Command], Command]:
    """Make the decorated function a command on a run: a button of the run's page and an operation of the API.

    It gets the run's id. The first word of its name is the button's, its docstring the operation's description.
    """

    def register(command: Command) -> Command:
        button = command.__name__.partition("_")[0]

        @page.post(f"/runs/<run_id>/{button}", endpoint=button)
        def press(run_id: str) -> ResponseReturnValue:
            command(run_id)
            return _buttons(run_id) if is_htmx_request() else to_run(run_id, anchor)

        name = button + tag.title().removesuffix("s")

        @operation(f"post /runs/<run_id>/{button}", tag, name=name, about=command.__doc__, owned=True)
        def call(run_id: str, body: Nothing) -> Run:
            command(run_id)
            return run_of(stored_run(run_id))

        return command

    return register


def to_run(run_id: str, anchor: str | None = None) -> ResponseReturnValue:
    log_run(run_id)  # of a run that this request created
    return redirect(url_for("pages.run", run_id=run_id, _anchor=anchor), 303)


def is_htmx_request() -> bool:
    """Return whether the page's script sent the request, which then replaces only a part of the page."""
    return "HX-Request" in request.headers


steering = Blueprint("steering", __name__)
steering.add_app_template_global(may_steer)

ENDED = Words("This check had ended already, so nothing was changed.")
NOTHING_KEPT = Words("Nothing has been kept yet to base a verdict on. Wait for an answer, or stop the check.")


@run_command("runs", steering)
def stop_run(run_id: str) -> None:
    """Stop a run.

    Ends a run of yours at once. Finished hops are kept, the one under way is marked as interrupted.
    """
    if not services().runs.interrupt(owned(run_id).id, Code.STOPPED_BY_OWNER()):
        raise NotNow(ENDED)


@run_command("runs", steering)
def conclude_run(run_id: str) -> None:
    """Conclude a run at its next step.

    Asks for a verdict from what a run of yours has kept; 409 while nothing has been kept.
    """
    # The current hop is abandoned, unless its answer is being judged or, in an evidence pursuit, being found.
    run = owned(run_id)
    if not run.report.ended and not run.report.context:
        raise NotNow(NOTHING_KEPT)
    if not services().runs.conclude(run_id):
        raise NotNow(ENDED)


@steering.errorhandler(NotNow)
def _not_now(error: NotNow) -> ResponseReturnValue:
    """Return the run's page with the notice; for htmx, which ignores error pages, the buttons with the notice."""
    run_id = (request.view_args or {})["run_id"]
    return _buttons(run_id, words(error)) if is_htmx_request() else (run_page(stored_run(run_id), str(error)), 409)


def _buttons(run_id: str, notice: str = "") -> str:
    return render_template("steered.html", run=stored_run(run_id), notice=notice)


branching = Blueprint("branching", __name__)


@dataclass(frozen=True)
class BranchForm:
    question: str
    answerer: str = ""  # "" keeps the run's own
    source: str = ""  # "" keeps the run's own
    name: str = ""  # random, so that submitting twice starts one run


@branching.get("/runs/<run_id>/branch")
def form(run_id: str) -> str:
    """Show the form for a hop (`?hop=2`)."""
    run = owned(run_id)
    hop = _hop(run, request.args.get("hop", ""))
    options = run.report.options
    return _branch_page(run, hop, BranchForm(hop.question.text, options.answerer, source_of(options)))


@branching.post("/runs/<run_id>/branch")
def branch(run_id: str) -> ResponseReturnValue:
    """Start the branch and redirect to its page."""
    run = owned(run_id)
    hop = _hop(run, request.form.get("hop", ""))
    sent = BranchForm(*(request.form.get(name, "") for name in ("question", "answerer", "source", "form_name")))
    try:
        child = _branch_off(run, hop, sent, "leave_out" in request.form, owner())
    except InvalidInput as error:
        return _branch_page(run, hop, sent, error), 422
    return to_run(child)


@operation("post /runs/<run_id>/branch", "runs", owned=True, status=201)
def branch_run(run_id: str, body: NewBranch) -> Run:
    """Continue from a hop.

    Starts a run that continues from a hop of a run of yours, which must have ended: with another question in the hop's
    place, or none, or another answerer from there on. The hops before it are kept; no model is called for them again.
    What came after it is not in the new run, and the earlier one stays as it is.
    """
    run = owned(run_id)
    hop = hop_to_change(run.report, body.hop)
    if body.leave_out and body.question is not None:
        raise InvalidInput(Words("Ask a question in the hop's place, or leave the hop out; not both."), "leave_out")
    question = hop.question.text if body.question is None else body.question
    sent = BranchForm(question, body.answerer or "")
    return created(_branch_off(run, hop, sent, bool(body.leave_out), current_principal()))


@operation("get /runs/<run_id>/branches", "runs", owned=True)
def list_branches(run_id: str) -> RunList:
    """List the branches of a run, oldest first; all of them, so there is no next."""
    return RunList(services().runs.queries.branches(owned(run_id).id), None)


def _hop(run: StoredRun, number: str) -> Hop:
    """Return the hop of that number. Raises InvalidInput for an unknown hop, a running run and an imported report."""
    if not (number.isascii() and number.isdigit() and len(number) < 4):
        raise InvalidInput(Words("Choose the step to continue from."), "hop")
    return hop_to_change(run.report, int(number))


def _branch_off(run: StoredRun, hop: Hop, sent: BranchForm, leave_out: bool, owner: str) -> str:
    """Start a run of `owner` that continues from this hop, and return its id.

    With `leave_out` the hop is dropped and the question ignored. Raises InvalidInput, which names the field.
    """
    question = None if leave_out else Question(clean_question(sent.question))
    before = run.report.options
    raw = raw_options(before)
    if sent.source and sent.source != source_of(before):
        raw = {name: value for name, value in raw.items() if name not in SET_BY_SOURCE} | {"source": sent.source}
    if sent.answerer and sent.answerer != before.answerer:
        raw["answerer"] = sent.answerer
    options = resolve_options(raw, capabilities())
    if hop.number > RANGES["max_hops"].maximum:
        raise InvalidInput(
            Words("A check has at most {maximum} questions.", maximum=RANGES["max_hops"].maximum), "question"
        )
    if question is None or hop.number > options.max_hops:  # the dropped or added hop counts towards the limit
        options = replace(options, max_hops=min(options.max_hops + 1, RANGES["max_hops"].maximum))
    return services().runs.branch(run.id, hop.number, question, options, owner, sent.name, client())


def _branch_page(run: StoredRun, hop: Hop, form: BranchForm, error: InvalidInput | None = None) -> str:
    usable = available_sources() if source_of(run.report.options) else ()
    answerers = capabilities().answerers
    return render_template("branch.html", run=run, hop=hop, form=form, error=error, answerers=answerers, sources=usable)


deleting = Blueprint("deleting", __name__)

TOO_LATE = Words("There is nothing to undo: that check is gone for good, or it was never one of this browser's.")


@deleting.get("/runs/<run_id>/delete")
def confirm(run_id: str) -> ResponseReturnValue:
    """Ask for confirmation; a deleted run redirects to the history, where it can be restored."""
    return _to_history() if _is_deleted(run_id) else render_template("delete.html", run=_owned_summary(run_id))


@deleting.post("/runs/<run_id>/delete")
def delete(run_id: str) -> ResponseReturnValue:
    """Delete the run and redirect to the history. Idempotent."""
    if not _is_deleted(run_id):
        delete_run(run_id)
    return _to_history()


@operation("delete /runs/<run_id>", "runs", owned=True, status=204)
def delete_run(run_id: str) -> None:
    """Delete a run.

    Stops the run if it is running and hides it from everybody. Its owner can restore it for ten minutes. Then it is
    purged with its events, its notes and the cached replies that no other run used.
    """
    services().runs.deletion.delete(_owned_summary(run_id).id)


@deleting.post("/runs/<run_id>/restore")
def restore(run_id: str) -> ResponseReturnValue:
    """Restore a deleted run and redirect to it. Idempotent."""
    try:
        _restore(run_id)
    except NotFound:
        return history_page(TOO_LATE), 404
    return to_run(run_id)


@operation("post /runs/<run_id>/restore", "runs", owned=True)
def restore_run(run_id: str, body: Nothing) -> Run:
    """Restore a deleted run. A second time changes nothing."""
    _restore(run_id)
    return run_of(stored_run(run_id))


@operation("get /deleted", "runs", owned=True)
def list_deleted_runs() -> RunList:
    """List the runs that can be restored, the last deleted first; all of them, so there is no next."""
    return RunList(services().runs.deletion.restorable(current_principal()), None)


def _restore(run_id: str) -> None:
    if not services().runs.deletion.restore(run_id, current_principal()):
        _owned_summary(run_id)  # raises NotFound, but for a run that is not deleted


@deleting.app_template_global("undo_minutes")
def undo_minutes() -> int:
    """Return the minutes for which a deleted run can be restored."""
    return round(UNDO_SECONDS / 60)


def _to_history() -> ResponseReturnValue:
    return redirect(url_for("history.page"), 303)


def _is_deleted(run_id: str) -> bool:
    return any(each.id == run_id for each in services().runs.deletion.restorable(current_principal()))


def _owned_summary(run_id: str) -> RunSummary:
    """Return the summary of a run of the principal. An unreadable run can still be deleted. Raises NotFound."""
    with suppress(Unreadable):
        owned(run_id)
    if summary := services().runs.deletion.of_owner(run_id, current_principal()):
        return summary
    raise NotFound(Words("There is no such run of yours."))
