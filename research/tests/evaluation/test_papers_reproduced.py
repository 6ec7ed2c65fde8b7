"""The papers' tables from eight rows in the shape of each released file, over a scripted model and search engine."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from app import create_app
from app.backends.fetch.pages import WebPages
from app.config.settings import Settings, load_settings
from app.domain.errors import CallFailed
from app.extensions import db
from research.tests.evaluation.official_rows import released
from tests.backends.web_search.search_server import Reply as Found
from tests.backends.web_search.search_server import Said, SearchServer, searxng_reply
from tests.openai_server import Asked, OpenAIServer, Reply
from tests.tiny import tiny_t5

WROTE = Said("Hamlet", "https://encyclopedia.example/hamlet", "Hamlet was written by William Shakespeare.")
BORN = Said("Shakespeare", "https://lives.example/shakespeare", "William Shakespeare was born in England.")
ROWS = 8
QUESTIONS = "Who wrote Hamlet?", "Where was William Shakespeare born?"
MODELS = """
[[model]]
name = "scripted"
model = "scripted"
base_url = "{url}"
prompt_price = 2.5
completion_price = 10
"""


def player(asked: Asked) -> Reply:
    """Play every role in the papers' words and in ours; claims of odd letters are false."""
    prompt = asked.prompt
    case = prompt[max(prompt.rfind("\n\n"), 0) :]
    numbers = re.findall(r"letter (\d+)", case)
    holds = not numbers or int(numbers[-1]) % 2 == 0
    return Reply(_said(prompt, case, holds), usage=(len(prompt) // 4, 20))


def _said(prompt: str, case: str, holds: bool) -> str:
    asked_both = QUESTIONS[1] in case
    if "as a JSON list of strings. Keep" in case:
        return json.dumps(QUESTIONS[:1])
    if "ways to rephrase" in case:
        return json.dumps([f"{word}, {case.split('Question: ')[1].strip()}" for word in ("Say", "Tell", "Now", "Well")])
    if "[[True]] or [[False]]" in case:
        return f"[[{holds}]]" if asked_both else QUESTIONS[1]
    if "[[A]]" in case:
        return "He was born in England. [[A]]" if holds else "He was not. [[B]]"
    if "referring to the one document" in case:
        return f"Document {int(asked_both)}"
    if "Based on the above information" in case or prompt.endswith("Answer ="):
        return "In England" if asked_both else "William Shakespeare"
    if prompt.endswith("Passage ="):
        return f"{WROTE.snippet} {BORN.snippet}"
    if "useful" in case:
        return "Yes"
    if prompt.endswith("Prediction ="):
        return "Yes, we can know." if asked_both else "No, we cannot know."
    if re.search(r"Question( \d+)? =$", prompt):
        return QUESTIONS[QUESTIONS[0] in case]
    if prompt.endswith("Therefore, the final answer is"):
        return f": {holds}."
    return f"He was born there.\n{str(holds).lower()}"


@pytest.fixture(scope="module")
def flan_t5(tmp_path_factory) -> Path:
    return tiny_t5(tmp_path_factory.mktemp("t5"), "true false")


@pytest.fixture
def reproduce(tmp_path, monkeypatch, flan_t5):
    """Runs `evaluate --table` on a released file and returns the result with its lines by row."""

    def no_page(self, hit):
        raise CallFailed("There is no network here.")

    monkeypatch.setattr(WebPages, "read", no_page)

    def command(table: str, form: str, *more: str, answer: str | None = None, **env: str):
        file = released(tmp_path, ROWS)[form]
        args = ["evaluate", str(file), "--format", form, "--table", table, "--out", str(tmp_path / "out"), *more]
        args += ["--yes"] if answer is None else []
        with OpenAIServer(player) as model, SearchServer([Found(searxng_reply(WROTE, BORN))]) as search:
            (tmp_path / "models.toml").write_text(MODELS.format(url=model.url))
            settings = {
                "INSTANCE": str(tmp_path / "instance"),
                "MODELS_FILE": str(tmp_path / "models.toml"),
                "SEARXNG_URL": search.url.removesuffix("/search"),
                "FLAN_T5": str(flan_t5),
            }
            app = create_app(Settings.from_env(settings | env))
            with app.app_context():
                db.create_all()
            done = app.test_cli_runner().invoke(args=args, input=answer)
        table = (line for line in done.stdout.splitlines() if line.startswith("| "))
        lines = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table if " | " in line]
        return done, {line[0].split(" (")[0]: line for line in lines}, model

    return command


RAN = re.compile(r"\d\.\d{3}( \(.*\))?$")


def has_run(cells: list[str]) -> bool:
    return any(RAN.fullmatch(cell) for cell in cells[3::2])


@pytest.mark.timeout(300)
def test_qacheck_1_on_hovers_release(reproduce, tmp_path):
    done, rows, _ = reproduce("qacheck-1", "hover", "--model", "scripted")
    assert done.exit_code == 0, done.output
    for name in ("Language model, asked directly", "QACheck, reciter-reader", "FLAN-T5, asked directly"):
        assert has_run(rows[name]), rows[name]
    assert rows["QACheck, reciter-reader"][1:4] == [str(ROWS), "0", "1.000 (1.000 to 1.000)"]
    assert rows["QACheck, reciter-reader"][4::2] == ["0.5567", "0.5467", "0.5235"]
    assert rows["Codex"][4::2] == ["0.5557", "0.5342", "0.4559"] and "reported only" in rows["Codex"][3]
    manifest = json.loads((tmp_path / "out" / "reciter-reader" / "manifest.json").read_text())
    assert manifest["workers"] == 8 and manifest["taken"]["calls"] == ROWS * 12  # 5N + 2 calls for N = 2
    assert manifest["taken"]["cost"] > 0 and 0.5 < manifest["estimated"]["calls"] / manifest["taken"]["calls"] < 2


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.jvm
@pytest.mark.timeout(600)
def test_rows_that_search_a_corpus_run_with_the_real_retriever_reader_and_judge(reproduce, tmp_path):
    own = {"INSTANCE": str(load_settings().instance), "DATABASE_URL": f"sqlite:///{tmp_path / 'runs.db'}"}
    done, rows, _ = reproduce("qacheck-1", "hover", "--model", "scripted", "--first", "1", **own)
    assert done.exit_code == 0, done.output
    for name in ("QACheck, retriever-reader", "Hopcheck's local models"):
        assert rows[name][1:3] == ["1", "0"] and has_run(rows[name]), rows[name]


@pytest.mark.timeout(300)
def test_qacheck_1_on_feverous_leaves_out_rows_that_need_tables(reproduce):
    done, rows, _ = reproduce("qacheck-1", "feverous", "--model", "scripted")
    assert done.exit_code == 0, done.output
    assert rows["QACheck, reciter-reader"][1:] == ["7", "0", "1.000 (1.000 to 1.000)", "0.5947"]
    assert "7 of 8 rows, left out: 1 needs a table" in done.stderr


def test_papelo_1_counts_the_labels_of_averitecs_release(reproduce):
    done, rows, model = reproduce("papelo-1", "averitec")
    assert done.exit_code == 0, done.output
    assert rows["supported"] == ["supported", "2", "0", "0.250", "0.244", "0.277"]
    assert rows["conflicting evidence"][-2:] == ["0.076", "0.064"] and model.asked == []
    head = ["this file, share: here", "dev, share: reported", "train, share: reported"]
    assert rows["row"][3:] == head, "it may be any of AVeriTeC's files"


@pytest.mark.timeout(300)
def test_papelo_2_runs_every_ablation_without_a_fine_tuned_model(reproduce):
    done, rows, model = reproduce("papelo-2", "averitec", "--model", "scripted")
    assert done.exit_code == 0, done.output
    missing = {name for name, cells in rows.items() if "not run: " in cells[3]}
    assert missing == {"Fine-tuned models ask every question", "As published: two classes"}
    assert all(has_run(cells) for name, cells in rows.items() if name not in missing | {"row"}), rows
    assert rows["No other wordings"][-1] == "0.225" and "AVeriTeC at 0.25: here" in rows["row"][-2]
    assert "the language model asks the first question" in done.stdout
    assert {asked.body["seed"] for asked in model.asked} == {42}
    verdicts = [asked.prompt for asked in model.asked if "Please respond in the format" in asked.prompt]
    four = [each for each in verdicts if each.endswith("[[A]], [[B]], [[C]], or [[D]].")]
    assert len(four) == ROWS and all(each.endswith("[[A]] or [[B]].") for each in verdicts if each not in four)
    not_enough = [at for at, head in enumerate(rows["row"]) if head.endswith("F1 of not enough: here")]
    assert rows["As published, but for the first question"][not_enough[0]] == "0.000"


@pytest.mark.timeout(300)
def test_papelo_3_has_both_sets_beside_ours(reproduce, tmp_path):
    done, rows, _ = reproduce("papelo-3", "averitec", "--model", "scripted")
    assert done.exit_code == 0, done.output
    assert rows["Algorithm 1"][-2:] == ["0.486", "0.445"] and rows["Inflated to 10"][-2:] == ["0.510", "0.477"]
    assert has_run(rows["Algorithm 1"]) and has_run(rows["Inflated to 10"]) and "run as papelo" in done.stdout
    files = (tmp_path / "out" / name / "submission.json" for name in ("inflate-to-ten", "algorithm-1"))
    ten, five = (json.loads(file.read_text())[0] for file in files)
    assert len(ten["evidence"]) == 2 * len(five["evidence"]) == 10 and ten["pred_label"] == five["pred_label"]


def test_an_estimate_asks_nothing_and_names_money(reproduce):
    done, _, model = reproduce("papelo-2", "averitec", "--model", "scripted", "--estimate")
    assert done.exit_code == 0 and model.asked == []
    last = done.stdout.splitlines()[-1]
    assert re.search(r"In all: 72 rows, [\d,]+ calls, .* [\d.]+ in money, [\d.]+ hours", last), last


def test_a_table_says_its_costs_and_asks_before_a_model_is_called(reproduce):
    done, _, model = reproduce("papelo-3", "averitec", "--model", "scripted", answer="n\n")
    assert done.exit_code == 1 and model.asked == []
    assert re.search(r"In all: [\d,]+ rows, [\d,]+ calls, .* [\d.]+ in money, [\d.]+ hours", done.stderr)
    assert "Go on? (--yes does not ask)" in done.stderr


def test_the_limits_of_a_run_and_of_the_day_bind_an_evaluation(reproduce, tmp_path):
    one_at_a_time = ("--model", "scripted", "--workers", "1")
    done, _, model = reproduce("papelo-3", "averitec", *one_at_a_time, DAY_CALLS="30", RUN_CALLS="4")
    assert done.exit_code == 1
    assert "This site's limit on calls a day was reached: 30. The same command goes on" in done.stderr
    assert 10 < len(model.asked) <= 31  # searches count as well; without limits there are 16 calls a claim
