"""`flask --app app check`: hops printed as they come, one JSON object on request, and the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial

import pytest
from click.testing import Result

from app.capabilities.options import Choice
from app.cli import check
from app.config.settings import Settings
from app.domain.events import RunStarted
from app.domain.messages import Code
from app.domain.model import Answer, Claim, Label, LabelSet, Origin, Passage, Question, RunOptions, Span, Verdict
from app.modules.answerers.reciter_reader import cite_in, recited_passage
from app.runs.event_store import EventStore
from app.runs.service import Runs
from app.runs.transfer import run_as_dict
from tests.fakes import (
    AWAY,
    FAILING,
    ONE_SET_ASIDE,
    SUPPORTED,
    TWO_HOPS,
    FakeContainer,
    Gate,
    Script,
    ScriptedHop,
    answer,
    scripted_container,
)
from tests.terminal import terminal as command_line

CLAIM = "The author of Hamlet was born in England."


@dataclass
class Terminal:
    """The command line of an application with only runs."""

    runs: Runs
    container: FakeContainer
    check: Callable[..., Result]


@pytest.fixture
def terminal(sessions, tmp_path):
    made = []

    def make(*scripts, settings: Settings | None = None, workers: int = 2, max_waiting: int = 20, **fields) -> Terminal:
        container = scripted_container(*scripts, **fields)
        runs = Runs(sessions, container.strategy_for, workers=workers, max_waiting=max_waiting)
        here = {"runs": runs, "container": container, "settings": settings or Settings(instance=tmp_path)}
        made.append(runs)
        return Terminal(runs, container, partial(command_line(**here), "check"))

    yield make
    for runs in made:
        runs.stop()


def test_every_option_of_a_run_has_an_option_of_the_command():
    chosen = {each.name for each in fields(RunOptions)} - {"modules"}
    assert chosen <= {each.name for each in check.check.params}


def test_hops_and_the_verdict_are_printed_and_the_exit_code_is_0(terminal):
    result = terminal(ONE_SET_ASIDE).check(CLAIM)
    assert result.exit_code == 0
    lines = [line.strip() for line in result.stdout.splitlines()]
    assert lines == [
        "1. Is Hamlet a play?",
        "no answer",
        "set aside: There was no answer.",
        "2. Who wrote Hamlet?",
        "William Shakespeare",
        "from: Hamlet https://en.wikipedia.org/wiki/Hamlet",
        "kept: It is tied to the claim.",
        "3. Where was William Shakespeare born?",
        "England",
        "from: William Shakespeare https://en.wikipedia.org/wiki/William_Shakespeare",
        "kept: It is tied to the claim.",
        "The answers were enough to decide.",
        "SUPPORTED (91%)",
        "Hamlet was written by William Shakespeare. [1]",
        "He was born in England. [2]",
    ]


def test_json_output_is_the_exported_run_and_hops_go_to_stderr(terminal):
    desk = terminal()
    result = desk.check(CLAIM, "--json")
    printed = json.loads(result.stdout)
    assert (printed["claim"], printed["label"], printed["options"]["answerer"]) == (
        CLAIM,
        "SUPPORTED",
        "retriever-reader",
    )
    assert printed == run_as_dict(desk.runs.report(printed["id"]))
    assert "Who wrote Hamlet?" in result.stderr


def test_options_reach_the_run_and_settings_supply_the_rest(terminal, tmp_path):
    desk = terminal(
        choices=(Choice("retriever-reader", "Retriever"), Choice("reciter-reader", "Reciter", needs_model=True)),
        language_models=(AWAY,),
        usual=RunOptions(max_hops=3),
    )
    desk.check(CLAIM, "--labels", "two", "--answerer", "reciter-reader", "--model", "big", "--fresh")
    desk.check(CLAIM, "--max-hops", "1", "--corpora", "vital", "--preset", "local", "--strategy", "question-guided")
    first, second = desk.container.asked_for
    assert (first.labels, first.answerer, first.model, first.max_hops, first.fresh) == (
        LabelSet.TWO,
        "reciter-reader",
        "big",
        3,
        True,
    )
    assert (second.labels, second.answerer, second.max_hops, second.corpora) == (
        LabelSet.THREE,
        "retriever-reader",
        1,
        ("vital",),
    )


def test_speaker_date_and_search_filters_reach_the_run_and_its_destination_is_printed(terminal):
    desk = terminal(choices=(Choice("web-search", "Web"),), usual=RunOptions(answerer="web-search", search="brave"))
    who = ("--speaker", "A teacher", "--date", "31 October 2020")
    result = desk.check(CLAIM, *who, "--dated", "--no-fact-checks", "--json")
    printed = json.loads(result.stdout)
    assert (printed["speaker"], printed["date"]) == ("A teacher", "2020-10-31")
    assert (printed["options"]["undated"], printed["options"]["fact_checks"]) == (False, False)
    assert "searched for at search.example.org" in result.stderr
    desk.check(CLAIM)
    assert (desk.container.asked_for[1].undated, desk.container.asked_for[1].fact_checks) == (True, True)


def test_a_source_sets_what_answers(terminal):
    answerers = (Choice("retriever-reader", "Retriever and reader"), Choice("web-search", "Web search"))
    here = terminal(choices=answerers)
    done = here.check(CLAIM, "--source", "web")
    assert done.exit_code == 0 and "searched for at search.example.org" in done.stderr
    assert (here.container.asked_for[0].answerer, here.container.asked_for[0].search) == ("web-search", "brave")


def test_recited_text_is_not_called_a_source(terminal):
    passage = recited_passage("Hamlet is a play by William Shakespeare.", "big")
    said = cite_in(passage, "William Shakespeare", Question("Who wrote Hamlet?"), "reciter-reader")
    script = Script((ScriptedHop("Who wrote Hamlet?", said),), SUPPORTED)
    printed = terminal(script).check(CLAIM).stdout
    answered, _, verdict = printed.partition("SUPPORTED")
    assert "from the model's memory, not a source" in answered
    assert "[1, from the model's memory, not a source]" in verdict
    assert "from:" not in printed


@pytest.mark.parametrize(
    "url, published, printed",
    [
        ("https://tower.example/", "2020-10-30", "from: The tower, tower.example, 2020-10-30 https://tower.example/"),
        ("https://tower.example/", None, "from: The tower, tower.example, date unknown https://tower.example/"),
        ("https://snopes.com/a/", None, "tower.example, date unknown, a fact-checker's own article https://snopes.com"),
    ],
)
def test_site_and_date_of_a_web_page_are_printed_and_a_fact_check_is_marked(terminal, url, published, printed):
    page = Passage("It is so.", "The tower", "tower.example", url, published, Origin.WEB)
    script = Script((ScriptedHop("Is it so?", Answer("so", Span(page, 6, 8), (page,))),), SUPPORTED)
    assert printed in terminal(script).check(CLAIM).stdout


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ([""], "Please write a claim."),
        (["a\x07bell"], "control characters"),
        ([CLAIM, "--labels", "five"], "'five' is not one of"),
        ([CLAIM, "--corpora", ""], "at least one corpus"),
        ([CLAIM, "--max-hops", "0"], "0 is not in the range"),
        ([CLAIM, "--speaker", "x" * 5000], "The speaker has 5000 characters; at most 200 are allowed."),
    ],
)
def test_invalid_input_exits_2_with_one_sentence_and_starts_no_run(terminal, arguments, sentence):
    desk = terminal()
    result = desk.check(*arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert result.stdout == ""
    assert desk.runs.recent(check.OWNER) == ()


def test_a_crash_exits_1_without_internal_details(terminal):
    result = terminal(FAILING).check(CLAIM)
    assert result.exit_code == 1
    assert "Something went wrong inside Hopcheck" in result.stderr
    assert "secret" not in result.output


def test_retrieved_text_cannot_steer_the_terminal(terminal):
    evil = answer("red \x1b[31m alert \x07", "It says red \x1b[31m alert \x07.", title="Evil\nOne\u202e")
    script = Script((ScriptedHop("Who?", evil),), Verdict(Label.SUPPORTED, ()))
    output = terminal(script).check(CLAIM).output
    assert "\x1b" not in output and "\x07" not in output
    assert "from: Evil\ufffdOne\\u202e" in output


def test_ctrl_c_ends_the_run_itself(terminal):
    gate = Gate("answer 1")
    desk = terminal(gate=gate, delay=0.05)
    run_id = desk.runs.start(Claim(CLAIM), RunOptions(), check.OWNER)

    def interrupted(line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check._follow(desk.runs, run_id, interrupted)
    report = desk.runs.report(run_id).report
    gate.open()
    assert (report.problem, len(report.hops)) == (Code.STOPPED_AT_KEYBOARD(), 1)


def test_a_full_queue_is_reported_with_exit_code_1(terminal):
    gate = Gate("question 1")
    desk = terminal(gate=gate, workers=1, max_waiting=0)
    desk.runs.start(Claim(CLAIM), RunOptions(), check.OWNER)
    result = desk.check(CLAIM)
    gate.open()
    assert result.exit_code == 1
    assert "Too many checks wait for their turn already." in result.stderr


def test_a_run_abandoned_by_its_thread_is_resumed(terminal, sessions):
    desk = terminal()
    EventStore(sessions).create_run("left", check.OWNER, RunStarted(Claim(CLAIM), RunOptions()))
    assert check._follow(desk.runs, "left", lambda line: None, wait=0.1).verdict == TWO_HOPS.verdict
