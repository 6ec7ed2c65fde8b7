"""Evidence pursuits support every operation: branching in each stage, comparison, export and import."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import pytest

from app.capabilities.options import Capabilities
from app.domain.model import RunOptions
from tests.fakes import AWAY, FakeContainer
from tests.strategies.pursuit import Script
from tests.web.conftest import started, wait_for
from tests.web.test_branching import branch, questions

ENDED = 'id="verdict-heading"'
ASKED = ["First?", "Second?", "First, 1?", "Second, 1?", "First, 2?"]
"""Two questions of the questioner and, after its decision, paraphrases until there are five pairs."""


@dataclass
class Pursuing(FakeContainer):
    """A container whose pursuits follow the script, which records each module call."""

    script: Script = field(default_factory=Script)

    def strategy_for(self, options: RunOptions):
        if options.strategy == "evidence-pursuit":
            return self.script.strategy()
        return super().strategy_for(options)


@pytest.fixture
def container() -> Pursuing:
    return Pursuing()


@pytest.fixture
def client(make_app, container):
    return make_app(container).test_client()


@pytest.fixture
def path(client, container) -> str:
    """The path of an ended pursuit; its recorded module calls are cleared."""
    found = started(client, strategy="evidence-pursuit")
    assert questions(wait_for(client, found, ENDED)) == ASKED
    container.script.calls.clear()
    return found


def branched(client, path: str, hop: int, **fields) -> str:
    """Branch from this hop and return the page of the new check once it has ended."""
    sent = branch(client, path, hop, question="Mine?", **fields)
    assert sent.status_code == 303, sent.text
    return wait_for(client, sent.location, ENDED)


def test_a_branch_with_a_changed_question_continues_from_its_answer(client, path, container):
    page = branched(client, path, 2)
    assert questions(page)[:2] == ["First?", "Mine?"] and len(questions(page)) == len(ASKED)
    assert "First?" not in [asked for asked, _ in container.script.named("answer")], "its answer is kept"
    assert [hop.question.text for hop in container.script.named("step")[0][1]] == ["First?", "Mine?"]
    assert page.count("From the earlier check") == 1


def test_a_branch_with_a_changed_paraphrase_keeps_the_questioners_decision(client, path, container):
    page = branched(client, path, 4)
    assert questions(page)[:4] == ["First?", "Second?", "First, 1?", "Mine?"] and len(questions(page)) == len(ASKED)
    assert container.script.named("step") == [], "it is not asked to decide once more"
    assert "The answers were enough to decide." in page


def test_a_branch_that_leaves_out_a_paraphrase_asks_one_more_in_its_place(client, path):
    page = branched(client, path, 4, leave_out="yes")
    assert questions(page)[:5] == ["First?", "Second?", "First, 1?", "Second, 1?", "First, 2?"]
    assert len(questions(page)) == len(ASKED) + 1, "five pairs are wanted, and this makes none"
    assert "You left it out." in page


def test_a_form_whose_default_is_a_pursuit_keeps_the_default_preset_of_other_strategies(make_app):
    class PursuingByDefault(FakeContainer):
        def capabilities(self) -> Capabilities:
            pursuit = RunOptions("evidence-pursuit", "web-search", preset="paper", search="corpus")
            return replace(super().capabilities(), default_strategy=pursuit.strategy, default_pursuit=pursuit)

    container = PursuingByDefault(usual=RunOptions(preset="prompted"), language_models=(AWAY,))
    page = make_app(container).test_client().get("/").text
    chosen = re.findall(r'<input type="radio" name="(recipe|strategy|preset|pursuit)" value="([^"]*)" checked', page)
    assert chosen == [("recipe", ""), ("strategy", ""), ("preset", "prompted"), ("pursuit", "paper")]
