"""The operations of the OpenAPI document that start, show and steer runs."""

from __future__ import annotations

from app.web.api.openapi.parts import (
    BY_ID,
    LISTING,
    ONCE,
    OWNED,
    STEERED,
    Operation,
    PathItem,
    in_query,
    new_run,
    of_a_run,
    of_type,
    operation,
    steering,
    told,
)
from app.web.api.schemas.parts import ref, text
from app.web.history import LONGEST_SEARCH, OUTCOMES

SEEN = {"type": "integer", "minimum": 0}
STREAM = (
    "Server-sent events. A message without a name is one stored event (schema StoredEvent) whose id is its number; it "
    'stands once for all, so what comes twice may be dropped. Messages named "place" tell the place of a run that '
    'waits. Comments keep the connection open. The last message is named "end"; a stream that closes without it is '
    "asked for again with Last-Event-ID."
)


def run_paths() -> dict[str, PathItem]:
    """The addresses below the API's own, and what can be asked there."""
    return {
        "/choices": {"get": _choices()},
        "/runs": {"get": _list(), "post": _start()},
        "/runs/{run_id}": of_a_run(get=_read()),
        "/runs/{run_id}/events": of_a_run(get=_follow()),
        "/runs/{run_id}/stop": of_a_run(post=_stop()),
        "/runs/{run_id}/conclude": of_a_run(post=_conclude()),
        "/runs/{run_id}/branch": of_a_run(post=_branch()),
        "/runs/{run_id}/branches": of_a_run(get=_branches()),
    }


def _choices() -> Operation:
    return operation("choices", "What a run can be made of here", {200: told("The choices.", "Choices")})


def _start() -> Operation:
    about = (
        "What is left out is as the settings have it; /choices says what can be chosen, and who then gets the claim."
    )
    problems = (400, 401, 413, 415, 422, 429, 503)
    return operation("start", "Start a run", new_run(), about, problems, body="NewRun", owned=True, parameters=(ONCE,))


def _list() -> Operation:
    parameters = (
        *LISTING,
        in_query("q", text(maxLength=LONGEST_SEARCH), "Words that stand in the claim, whatever their case."),
        in_query("label", text(enum=list(OUTCOMES)), "The label of the verdict, or how a run stands that has none."),
        in_query("answerer", text(), "Who answered."),
    )
    answers = {200: told("The runs that fit, newest first.", "RunList")}
    return operation("list", "List your runs", answers, "", (401, 422, 503), owned=True, parameters=parameters)


def _read() -> Operation:
    return operation("read", "Read a run as it stands", {200: told("The run.", "Run")}, problems=BY_ID)


def _follow() -> Operation:
    parameters = (
        in_query("after", SEEN, "The last seen."),
        {"name": "Last-Event-ID", "in": "header", "schema": text(), "description": "The same, and it goes first."},
    )
    answers = {200: of_type("text/event-stream", "Messages, each of this schema.", ref("Message"))}
    return operation("follow", "Follow a run", answers, STREAM, (403, 422, *BY_ID), parameters=parameters)


def _stop() -> Operation:
    about = "Ends a run of yours at once. Finished hops stand, the one under way is marked as interrupted."
    return steering("stop", "Stop a run", about, "The run, which has ended.")


def _conclude() -> Operation:
    about = "Asks for a verdict from what a run of yours has kept; 409 while nothing has been kept."
    return steering("conclude", "Conclude a run now", about, "The run, which concludes at its next step.")


def _branch() -> Operation:
    about = (
        "Starts a run that goes on from a hop of a run of yours, which must have ended: with another question in the "
        "hop's place, or none, or another answerer from there on. The hops before it stand; no model is called for "
        "them again. What came after it is not in the new run, and the earlier one stays as it is."
    )
    problems = (*STEERED, 429)
    return operation("branch", "Go on from a hop", new_run(), about, problems, body="NewBranch", owned=True)


def _branches() -> Operation:
    answers = {200: told("The runs, oldest first; all of them, so there is no next.", "RunList")}
    return operation("branches", "List the branches of a run", answers, problems=OWNED, owned=True)
