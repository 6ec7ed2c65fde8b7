"""A pursuit that searches the sentences that a data set gives."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from app import create_app
from app.config.settings import Settings
from app.domain.errors import CallFailed
from app.domain.model import Label
from research.evaluation.datasets import Row
from research.evaluation.gold import GivenSentences
from research.evaluation.labels import Gold
from research.evaluation.runs import run_predictor
from tests.openai_server import OpenAIServer
from tests.test_pursuit_wiring import BORN, CLAIM, OPTIONS, WROTE, home, net, player  # noqa: F401 - two are fixtures


def test_searches_find_the_sentences_given_by_a_dataset(net):
    container, model, search = net
    given = {"1": GivenSentences([(WROTE.snippet, WROTE.url), (BORN.snippet, BORN.url)])}
    judge = run_predictor(container.strategy_for(OPTIONS), OPTIONS, given)
    row = Row("1", CLAIM.text, Gold.SUPPORTED, speaker="Ada Stone", date="31-10-2020")
    assert judge(row).label is Label.SUPPORTED
    assert "the following claim by Ada Stone on 2020-10-31." in model.asked[0].prompt
    assert judge(Row("2", CLAIM.text, Gold.SUPPORTED)).label is Label.NOT_ENOUGH_EVIDENCE
    assert search.asked == []
    with pytest.raises(CallFailed, match="There is no day 31-02-2020"):
        judge(replace(row, date="31-02-2020"))


def test_an_evaluation_on_given_sentences_records_what_was_searched_and_not_measured(home, tmp_path):
    row = {"id": 1, "claim": CLAIM.text, "label": "Supported", "questions": [{"question": "Is it so?", "answers": []}]}
    row["web"] = [{"sentence": WROTE.snippet, "url": WROTE.url}, {"sentence": BORN.snippet, "url": BORN.url}]
    (file := tmp_path / "rows.jsonl").write_text(json.dumps(row))
    with OpenAIServer(player) as model:
        env = {"INSTANCE": str(home), "OPENAI_BASE_URL": model.url, "OPENAI_MODEL": "scripted", "PRESET": "prompted"}
        env |= {"SEARXNG_URL": "http://127.0.0.1:9"}
        app = create_app(Settings.from_env(env))
        options = "--format averitec --evidence run --strategy evidence-pursuit --given-sentences --out".split()
        command = ["evaluate", str(file), *options, str(tmp_path)]
        refused = app.test_cli_runner().invoke(args=command, input="n\n")
        assert refused.exit_code == 1 and model.asked == []
        assert "Estimated: 1 rows, " in refused.stderr and "Go on? (--yes does not ask)" in refused.stderr
        done = app.test_cli_runner().invoke(args=[*command, "--yes"])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "metrics.json").read_text())
    assert (found["accuracy"], found["options"]["search"], found["options"]["corpora"]) == (1.0, "given sentences", [])
    assert ["answerer", "one whole page for each question, found by given sentences"] in found["options"]["modules"]
    assert found["not_measured"] == ["long documents", "metadata", "dates"]
