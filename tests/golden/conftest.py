"""An application over two scripted runs, one for each strategy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from flask import Flask

from app import create_app
from app.config.settings import Settings
from app.domain.errors import CallFailed
from app.domain.model import Judgement, RunOptions
from tests.fakes import TWO_HOPS, FakeContainer, Script, ScriptedHop, answer
from tests.strategies import pursuit

CLAIM = {"claim": "The author of Hamlet was born in England.", "speaker": "A teacher", "date": "2020-10-31"}

GUIDED = Script(
    (
        ScriptedHop("Is Hamlet a play?", answer(None), Judgement(False, "There was no answer.")),
        TWO_HOPS.hops[0],
        ScriptedHop("Who first printed Hamlet?", CallFailed("the provider did not answer in 15 s")),
        TWO_HOPS.hops[1],
    ),
    TWO_HOPS.verdict,
)
"""Two hops that are kept, one that is set aside and one whose answer fails."""

PURSUED = {"steps": ("First?", "Second?", "Third?", True), "answers": {"Second?": None}}
"""Three questions, one of them without an answer, a decision, and paraphrases until there are five pairs."""


@dataclass
class BothStrategies(FakeContainer):
    """Every question-guided run plays GUIDED, every evidence pursuit PURSUED."""

    scripts: tuple[Script, ...] = (GUIDED,)
    pursued: dict[str, Any] = field(default_factory=lambda: PURSUED)

    def strategy_for(self, options: RunOptions) -> Any:
        if options.strategy == "evidence-pursuit":
            return pursuit.Script(**self.pursued).strategy()
        return super().strategy_for(options)


@pytest.fixture
def app(tmp_path, database_url) -> Iterator[Flask]:
    """The application on a fresh database."""
    made = create_app(Settings(instance=tmp_path, database_url=database_url), BothStrategies())
    yield made
    made.extensions["hopcheck"].runs.stop()


@dataclass(frozen=True)
class EndedRun:
    """The public data of an ended run, as served."""

    id: str
    events: str
    pieces: str
    page: str
    export: dict[str, Any]


@pytest.fixture(params=["question-guided", "evidence-pursuit"])
def strategy(request) -> str:
    return request.param


@pytest.fixture
def ended_run(app, strategy) -> EndedRun:
    """A run of this strategy, started through the JSON API and followed to its end."""
    client = app.test_client()
    started = client.post("/api/v1/runs", json={**CLAIM, "strategy": strategy})
    assert started.status_code in (201, 202), started.text
    run_id = started.json["id"]
    events = f"/api/v1/runs/{run_id}/events"
    assert "event: end" in client.get(events).text  # a live stream depends on timing; the second reading does not
    return EndedRun(
        run_id,
        events=client.get(events).text,
        pieces=client.get(f"/runs/{run_id}/events").text,
        page=client.get(f"/runs/{run_id}").text,
        export=client.get(f"/runs/{run_id}/export.json").json,
    )
