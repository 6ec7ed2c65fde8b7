"""An imported JSON export equals the original, is marked as imported, and invalid files are refused."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.errors import InvalidInput
from app.domain.events import (
    AnswerFound,
    FactChecksFound,
    HopFailed,
    HopInterrupted,
    HopKept,
    HopSetAside,
    PhaseEntered,
    QuestionAsked,
    QuestioningEnded,
    RunBranched,
    RunFailed,
    RunInterrupted,
    RunResumed,
    RunStarted,
    StepFailed,
    TokensUsed,
    TroubleMet,
    VerdictReached,
)
from app.domain.model import (
    Answer,
    Branch,
    Claim,
    FactCheck,
    Label,
    Passage,
    Question,
    RunOptions,
    Sentence,
    Span,
    Usage,
    Verdict,
)
from app.domain.report import reduce_events
from app.runs.projections import StoredRun
from app.runs.transfer import MAX_BYTES, read_export, run_as_dict
from app.text.claims import clean_speaker
from app.text.clean import clean_text
from tests.fakes import answer, scripted_container
from tests.runs.conftest import row_of

CREATED = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
OWN = ("id", "created_at", "imported")
"""The fields in which an imported report differs from the original."""


def exported(events) -> dict:
    """Return the export of a run with these (event, seconds) pairs, after a round trip through JSON text."""
    return json.loads(json.dumps(run_as_dict(StoredRun("some-id", "me", CREATED, len(events), reduce_events(events)))))


def reexported(report: dict) -> dict:
    """Import an export and return the export of the result."""
    return exported(read_export(json.dumps(report).encode()))


def without_own(report: dict) -> dict:
    return {name: value for name, value in report.items() if name not in OWN}


# Texts that an import does not change: it replaces control characters, and lone surrogates are not valid UTF-8.
words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf"]), max_size=30)
claims = st.text(st.characters(categories=["L", "N"]), min_size=3, max_size=30).filter(
    lambda text: clean_text(text) == text
)
seconds = st.floats(0, 1000)
passages = st.builds(Passage, words, words, words, st.none() | words, st.none() | words, score=st.floats(-1e6, 1e6))
costs = st.none() | st.floats(0, 10)
usages = st.builds(Usage, *[st.integers(0, 1000)] * 4, costs)


@st.composite
def answers(draw) -> Answer:
    found = tuple(draw(st.lists(passages, max_size=3)))
    cited = None
    if found and draw(st.booleans()):
        passage = draw(st.sampled_from(found) | passages)
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(passage.text))] * 2)))
        cited = Span(passage, start, end)
    return Answer(draw(st.none() | words), cited, found, draw(words))


@st.composite
def hops(draw, number: int) -> list:
    """The events of one hop, closed in any way or left open."""
    events = [PhaseEntered("asking"), TokensUsed(draw(usages))]
    closing = draw(st.sampled_from([HopKept, HopSetAside, HopFailed, HopInterrupted, None]))
    if closing is HopFailed and draw(st.booleans()):
        return [*events, HopFailed(number, "question generator", draw(words))]
    events.append(QuestionAsked(number, Question(draw(words))))
    if draw(st.booleans()):
        events += [TokensUsed(draw(usages)), AnswerFound(number, draw(answers()))]
    if closing is HopFailed:
        return [*events, HopFailed(number, "answerer", draw(words))]
    return [*events, closing(number, draw(words))] if closing else events


@st.composite
def runs(draw) -> list:
    """The events of a run that has ended, with the seconds at which they happened."""
    options = st.builds(
        RunOptions,
        words,
        words,
        max_hops=st.integers(0, 50),
        modules=st.lists(st.tuples(words, words), max_size=3).map(tuple),
    )
    events = [
        RunStarted(
            Claim(draw(claims), draw(st.none() | claims.map(clean_speaker)), draw(st.none() | st.just("2020-10-31"))),
            draw(options),
        )
    ]
    if draw(st.booleans()):
        events.append(
            RunBranched(
                Branch("a_parent-of-it", draw(st.integers(1, 50)), draw(st.none() | st.builds(Question, words)))
            )
        )
    events += [RunResumed("It was cut off.")] * draw(st.integers(0, 2))
    count = draw(st.integers(0, 3))
    for number in range(1, count + 1):
        events += draw(hops(number))
        published = st.builds(FactCheck, words, words, words, words, st.none() | words)
        found = st.builds(FactChecksFound, st.lists(published, max_size=3).map(tuple))
        troubles = found | st.builds(TroubleMet, words) | st.builds(StepFailed, st.just("claim verifier"), words)
        events += draw(st.lists(troubles | st.builds(TokensUsed, usages), max_size=2))
    if draw(st.booleans()):
        events.append(QuestioningEnded(draw(words)))
    rationale = st.lists(
        st.builds(Sentence, words, st.lists(st.integers(1, max(count, 1)), max_size=2 if count else 0).map(tuple)),
        max_size=3,
    )
    verdict = st.builds(
        Verdict, st.sampled_from(Label), rationale.map(tuple), st.none() | words, st.none() | st.floats(0, 1)
    )
    events.append(
        draw(st.builds(VerdictReached, verdict) | st.builds(RunFailed, words) | st.builds(RunInterrupted, words))
    )
    return list(zip(events, sorted(draw(st.lists(seconds, min_size=len(events), max_size=len(events)))), strict=True))


@settings(max_examples=150)
@given(runs())
def test_an_imported_report_exports_the_same(events):
    report = exported(events)
    assert without_own(reexported(report)) == without_own(report)


STARTED = RunStarted(Claim("Hamlet is by Shakespeare."), RunOptions(modules=(("reasoner", "scripted"),)))
FOUND = answer("Shakespeare", "Hamlet is by Shakespeare.")
ENDED = VerdictReached(Verdict(Label.SUPPORTED, (Sentence("It is.", (1,)),), None, 0.9))
RUN = (
    (STARTED, 0.0),
    (QuestionAsked(1, Question("Who wrote Hamlet?")), 1.0),
    (TokensUsed(Usage(2, 10, 2)), 1.5),
    (AnswerFound(1, FOUND), 2.0),
    (HopKept(1, "tied"), 3.0),
    (ENDED, 4.0),
)


def refusal(report: object) -> str:
    """Import an invalid file and return the error message."""
    with pytest.raises(InvalidInput) as raised:
        read_export(report if isinstance(report, bytes) else json.dumps(report).encode())
    assert raised.value.field == "report"
    return str(raised.value)


def changed(**fields) -> dict:
    """Return a valid export with these fields replaced."""
    return {**exported(RUN), **fields}


def with_hop(**fields) -> dict:
    report = exported(RUN)
    return {**report, "hops": [{**report["hops"][0], **fields}]}


def with_evidence(**fields) -> dict:
    first, second = exported(RUN)["hops"][0]["evidence"]
    return with_hop(evidence=[{**first, **fields}, second])


def test_an_imported_report_has_the_time_of_the_original_check():
    report = reexported(exported(RUN))
    assert report["imported"] == {"made_at": "2026-03-01T12:30:00+00:00"}
    later = {**report, "created_at": "2026-04-01T00:00:00+00:00"}
    assert reexported(later)["imported"] == report["imported"], "also of a file that was made of an import"


def test_unknown_fields_of_the_report_are_ignored_and_optional_ones_may_be_missing():
    report = changed(mood="good")
    del report["branch"], report["imported"], report["hops"][0]["usage"]
    assert reduce_events(read_export(json.dumps(report).encode())).ended == "verdict"


@pytest.mark.parametrize("part", ["modules", "hops", "rationale", "usage", "options"])
def test_unknown_fields_of_a_part_are_refused_as_the_schema_says(part):
    report = exported(RUN)
    inner = report[part][0] if isinstance(report[part], list) else report[part]
    inner["mood"] = "good"
    with pytest.raises(InvalidInput, match="mood"):
        read_export(json.dumps(report).encode())


MANY = "This is no report as Hopcheck exports it: it has more than 50,000 lists, objects and fields."


@pytest.mark.parametrize(
    "report, message",
    [
        (b"\xff\xfe", "This is not valid JSON in UTF-8."),
        (b'{"version": 1, "claim": "\\ud800"}', "This is not valid JSON in UTF-8."),
        (b"[" * 50_000, "This is not valid JSON in UTF-8."),
        *((b'{"a": [' + each * 50_000 + b"{}]}", MANY) for each in (b"{}", b"[", b'"a" : 1')),
        (b'{"version": ' + b"9" * 5000 + b"}", "This is not valid JSON in UTF-8."),
        (b"x" * (MAX_BYTES + 1), "The report is larger than 2 MB, which is the most that is read."),
        (changed(version=2), "This report is of another version of the export; only version 1 can be read here."),
    ],
    ids=range(9),
)
def test_a_file_that_is_not_an_export_of_this_version_is_refused_in_one_sentence(report, message):
    assert refusal(report) == message


def test_a_list_ends_the_reading_at_its_first_mistake():
    """Else a list of 49,000 empty hops would take seconds, and a larger one stop the worker."""
    report = changed(hops=[{}] * 49_000)
    began = time.process_time()
    assert refusal(report).endswith("hops 1 number is missing.")
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "report, message",
    [
        (changed(state="running"), "in state, input should be"),
        (changed(label=None), "a label goes with a verdict, and only with one"),
        (changed(confidence=1.1), "in confidence, input should be less than or equal to 1"),
        (changed(created_at="9999-12-31T23:59:59-23:00"), "in created_at, input should be less than or equal to"),
        (changed(rationale=[{"text": "So.", "hops": [2]}]), "its rationale cites a hop that is not there"),
        (changed(branch={"parent": "../x", "hop": 1, "question": None}), "in branch parent, string should match"),
        (changed(hops=exported(RUN)["hops"] * 2), "its hops are not numbered in order from 1"),
        (changed(options={**exported(RUN)["options"], "max_hops": 10**9}), "in options max_hops, input should be less"),
        (changed(usage={**exported(RUN)["usage"], "calls": 1}), "its hops have more calls and tokens than the whole"),
        (with_hop(answerer=None), "an answer has no answerer"),
        (with_evidence(end=None), "in hops 1 evidence 1, the answer must be inside its passage"),
        (with_evidence(score=float("inf")), "in hops 1 evidence 1 score, input should be"),
        (with_evidence(text="t" * 200_001), "in hops 1 evidence 1 text, string should have at most"),
    ],
)
def test_an_invalid_field_is_named(report, message):
    assert refusal(report).startswith(f"This is no report as Hopcheck exports it: {message}")


def test_an_answer_that_cites_two_passages_is_refused():
    report = exported(RUN)
    evidence = report["hops"][0]["evidence"]
    evidence[1] |= {"cited": True, "start": 0, "end": 1}
    assert refusal(report) == "This is no report as Hopcheck exports it: an answer cites more than one passage."


def test_control_and_bidirectional_characters_are_replaced_without_moving_the_answer():
    report = with_evidence(text="A\0B\u202eC😀 by Shakespeare.", start=10, end=21, title="T\x1b[31m")
    (hop,) = reexported(report)["hops"]
    evidence = hop["evidence"][0]
    assert evidence["text"][evidence["start"] : evidence["end"]] == "Shakespeare"
    assert (evidence["text"][:5], evidence["title"]) == ("A\ufffdB\ufffdC", "T\ufffd[31m")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def places(value: object, at: tuple = ()) -> list[tuple]:
    """Return the paths to `value` and to every value inside it."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, each in inner for place in places(each, (*at, key)))]


@settings(max_examples=300)
@given(st.sampled_from(places(exported(RUN))[1:]), json_values)
def test_a_report_with_any_value_replaced_is_imported_or_refused_in_one_sentence(place, value):
    report = exported(RUN)
    inner = report
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    try:
        assert exported(read_export(json.dumps(report).encode()))["claim"]
    except InvalidInput as error:
        assert str(error).endswith(".") and len(str(error)) < 500


def test_an_imported_run_has_ended_belongs_to_its_importer_and_has_no_parent(runs_with, sessions):
    runs = runs_with(scripted_container())
    report = changed(branch={"parent": "some-parent", "hop": 1, "question": None})
    run_id = runs.import_report(json.dumps(report).encode(), "me")
    row = row_of(sessions, run_id)
    assert (row.owner, row.state, row.label, row.imported) == ("me", "verdict", "SUPPORTED", True)
    assert (row.parent, row.began_at, row.ended_at is None) == (None, None, False)
    assert without_own(run_as_dict(runs.report(run_id))) == without_own(report)
    (listed,) = runs.recent("me")
    assert (listed.id, listed.imported) == (run_id, True)
    assert not runs.interrupt(run_id, "no") and not runs.conclude(run_id)
    assert runs.follow(run_id, row.last_seq, 5) == ()


@pytest.mark.parametrize("claim", ["", "x" * 501, "Ham\0let"])
def test_a_claim_that_the_form_would_refuse_is_refused(claim):
    assert "claim" in refusal(changed(claim=claim))
