"""`flask --app app evaluate`: its metrics, resuming after Ctrl-C, and one clear line for invalid input."""

from __future__ import annotations

import json
import re
from itertools import chain, repeat
from types import SimpleNamespace

import pytest

from app import create_app
from app.config.settings import Settings, load_settings
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.model import LabelSet
from app.modules.local import LocalJudge
from research.tests.evaluation.rows import averitec, hover, written
from research.training.held_out import row_is_held_out
from tests.fake_model import EQUAL
from tests.fakes import AWAY, TWO_HOPS, Script, scripted_container


class FakeJudge:
    """Finds every claim supported; raises the error in `raising` for a claim of that number. Records its input."""

    name = "fake judge 1"

    def __init__(self, **raising: BaseException) -> None:
        self.raising = raising
        self.shown: list[str] = []

    def display_name(self) -> str:
        return self.name

    def complete(self, prompt, *, max_tokens, stop=()):
        return ""

    def probabilities(self, prompt, words):
        self.shown.append(prompt)
        for word, error in self.raising.items():
            if f"claim {word[1:]} " in prompt:
                raise error
        return (0.8, 0.15, 0.05)


@pytest.fixture
def command(tmp_path):
    """Runs `evaluate` with this judge, by default on FILE in HoVer's format."""

    def invoke(file, *more: str, judge=None, form: str = "hover", evidence: str = "gold", container=None, env=None):
        container, scripted = container or scripted_container(), judge or FakeJudge()
        container.judge = LocalJudge(scripted, EQUAL)
        container.judge_name = scripted.display_name
        app = create_app(Settings.from_env({"INSTANCE": str(tmp_path / "instance")} | (env or {})), container)
        measured = ["--evidence", evidence] if evidence else []
        options = ["--format", form, *measured, "--out", str(tmp_path / "out"), *more]
        return app.test_cli_runner().invoke(args=["evaluate", str(file), *options])

    return invoke


@pytest.fixture
def hover_file(tmp_path):
    rows = (hover(number, "NOT_SUPPORTED" if number % 4 == 0 else "SUPPORTED", 2 + number % 2) for number in range(12))
    return written(tmp_path / "hover.jsonl", *rows)


def metrics_in(folder) -> dict:
    return json.loads((folder / "metrics.json").read_text())


def metrics(tmp_path) -> dict:
    return metrics_in(tmp_path / "out")


def error_line(done) -> str:
    """Return the single line that states the error."""
    assert done.exit_code == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    return line


def test_predictions_and_metrics_are_written_and_progress_is_printed(command, hover_file, tmp_path):
    done = command(hover_file)
    assert done.exit_code == 0
    found = metrics(tmp_path)
    assert (found["n"], found["failed"], found["accuracy"], found["auc"]) == (12, 0, 0.75, 0.5)
    assert found["per_class"]["NOT_SUPPORTED"]["n"] == 3 and list(found["by_hops"]) == ["2", "3"]
    assert (found["judge"], found["seed"], found["held_out"]) == ("fake judge 1", 7, False)
    lines = (tmp_path / "out" / "predictions.jsonl").read_text().splitlines()
    assert {json.loads(line)["id"] for line in lines} == {f"h{number}" for number in range(12)}
    assert "12 of 12: accuracy 0.750, 0 failed" in done.stderr and "12 of 12" not in done.stdout
    assert "all     n    12  failed    0  accuracy 0.750" in done.stdout


def test_the_judge_gets_the_gold_evidence(command, tmp_path):
    judge = FakeJudge()
    command(written(tmp_path / "f", averitec()), judge=judge, form="averitec")
    asked = "Question: Did Ada Stone leave Basel?\nAnswer: No. She stayed in Basel"
    assert judge.shown[0].startswith(f"Claim: Ada Stone left Basel.\n{asked}")


def test_ctrl_c_leaves_whole_lines_and_prints_how_to_resume(command, hover_file, tmp_path):
    stopped = command(hover_file, judge=FakeJudge(_5=KeyboardInterrupt()))
    assert stopped.exit_code == 130
    assert "predictions.jsonl has them" in stopped.stderr and "The same command resumes there." in stopped.stderr
    kept = [json.loads(line) for line in (tmp_path / "out" / "predictions.jsonl").read_text().splitlines()]
    assert 0 < len(kept) < 12 and not (tmp_path / "out" / "metrics.json").exists()
    judge = FakeJudge()
    assert command(hover_file, judge=judge).exit_code == 0
    claims = {prompt.partition("\n")[0] for prompt in judge.shown}
    assert len(claims) == 12 - len(kept) and metrics(tmp_path)["n"] == 12


def test_a_missing_judge_is_one_sentence_with_its_fix(command, hover_file, tmp_path):
    done = command(hover_file, judge=FakeJudge(_1=ModelUnavailable("The judge is missing", "make setup")))
    assert done.exit_code == 1 and "Error: The judge is missing. Fix it with: make setup" in done.stderr
    assert not (tmp_path / "out" / "metrics.json").exists()


def test_limit_bounds_the_rows_and_a_larger_limit_continues(command, hover_file, tmp_path):
    command(hover_file, "--limit", "4")
    assert metrics(tmp_path)["n"] == 4
    judge = FakeJudge()
    command(hover_file, "--limit", "6", judge=judge)
    assert len({prompt.partition("\n")[0] for prompt in judge.shown}) == 2 and metrics(tmp_path)["n"] == 6


def test_first_takes_the_first_rows_of_the_file(command, hover_file, tmp_path):
    command(hover_file, "--first", "3")
    lines = (tmp_path / "out" / "predictions.jsonl").read_text().splitlines()
    assert {json.loads(line)["id"] for line in lines} == {"h0", "h1", "h2"}


def test_held_out_keeps_only_rows_unseen_in_training_and_counts_the_rest(command, tmp_path):
    seen, unseen = (
        next(f"g{at}" for at in range(99) if row_is_held_out("", f"g{at}") is held) for held in (False, True)
    )
    rows = [hover(1) | {"group": seen}, hover(2) | {"group": unseen}, hover(3, hops=4) | {"group": seen}]
    assert command(written(tmp_path / "f", *rows), "--held-out").exit_code == 0
    assert metrics(tmp_path)["n"] == 2 and metrics(tmp_path)["left_out"] == {"not held out": 1}


def test_rows_outside_the_label_set_are_left_out_and_reported(command, tmp_path):
    rows = [averitec(), averitec("Conflicting Evidence/Cherrypicking") | {"id": "a2"}]
    done = command(written(tmp_path / "f", *rows), form="averitec")
    assert "1 of 2 rows, left out: 1 CONFLICTING_EVIDENCE" in done.stderr
    nothing = command(written(tmp_path / "g", rows[1]), form="averitec")
    assert "no row that can be measured so; left out: 1 CONFLICTING_EVIDENCE" in error_line(nothing)


def test_a_folder_with_other_predictions_is_refused(command, hover_file):
    command(hover_file)
    assert "another evaluation (what differs: labels)" in error_line(command(hover_file, "--labels", "two"))


def test_bad_rows_another_format_and_an_empty_file_are_each_reported_in_one_line(command, hover_file, tmp_path):
    assert "line 2: not JSON" in error_line(command(written(tmp_path / "f", hover(1), "{")))
    assert "no questions; a row of the format averitec" in error_line(command(hover_file, form="averitec"))
    assert "g is empty" in error_line(command(written(tmp_path / "g")))
    assert "does not exist" in error_line(command(tmp_path / "nowhere"))


def test_a_folder_that_cannot_be_created_is_reported_in_one_line(command, hover_file, tmp_path):
    (tmp_path / "file").write_text("")
    done = command(hover_file, "--out", str(tmp_path / "file" / "out"))
    assert done.exit_code == 1 and done.stderr.splitlines()[-1].startswith("Error: Not a directory: ")


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.timeout(300)
def test_the_bundled_judge_distinguishes_a_true_claim_from_a_false_one(tmp_path):
    def row(number: int, label: str, claim: str) -> dict:
        text = "Ada Stone (1820-1871) was a Swiss painter from Basel. She taught in Zurich."
        evidence = [{"title": "Ada Stone", "text": text}]
        return {"id": number, "claim": claim, "label": label, "evidence": evidence}

    rows = (
        row(1, "SUPPORTED", "Ada Stone was a Swiss painter from Basel."),
        row(2, "REFUTED", "Ada Stone was a French painter from Paris."),
        row(3, "SUPPORTED", "Ada Stone taught in Zurich."),
    )
    file = written(tmp_path / "own.jsonl", *rows)
    app = create_app(load_settings())
    options = ["--format", "claims", "--labels", LabelSet.TWO.value, "--evidence", "gold", "--out", str(tmp_path)]
    done = app.test_cli_runner().invoke(args=["evaluate", str(file), *options])
    assert done.exit_code == 0, done.stderr
    found = metrics_in(tmp_path)
    assert (found["n"], found["auc"]) == (3, 1.0) and found["judge"].startswith("qwen2.5-coder")


def test_whole_runs_are_measured_by_their_verdicts_without_the_rows_own_evidence(command, hover_file, tmp_path):
    judge = FakeJudge()
    result = command(hover_file, judge=judge, evidence="run")
    assert result.exit_code == 0, result.output
    found = metrics(tmp_path)
    assert judge.shown == []
    assert (found["n"], found["failed"], found["auc"]) == (12, 0, None)
    assert found["options"]["strategy"] == "question-guided"


def test_a_strategy_that_searches_nothing_cannot_be_given_sentences(command, tmp_path):
    file = written(tmp_path / "a.jsonl", averitec() | {"web": [{"sentence": "It was so.", "url": ""}]})
    result = command(file, "--given-sentences", form="averitec", evidence="run")
    assert "web-search" in error_line(result)


def test_a_running_score_is_printed_with_the_time_per_row(command, hover_file):
    done = command(hover_file, evidence="run")
    assert re.search(r"10 of 12: accuracy 0\.\d+, 0 failed, \d+\.\d s a row, about 0 min left", done.stderr)


def test_evidence_and_cost_of_a_run_are_kept_with_its_prediction(command, hover_file, tmp_path):
    command(hover_file, "--limit", "1", evidence="run")
    (line,) = (tmp_path / "out" / "predictions.jsonl").read_text().splitlines()
    kept = json.loads(line)
    asked = [hop.question for hop in TWO_HOPS.hops]
    assert [piece["question"] for piece in kept["evidence"]] == asked and kept["evidence"][0]["text"]
    assert "Hamlet" in kept["pages"] and kept["spent"]["calls"] > 0


def test_runs_without_a_verdict_are_failed_named_and_counted(command, hover_file, tmp_path):
    container = scripted_container(Script((), CallFailed("The model is away.")), language_models=(AWAY,))
    done = command(hover_file, "--strategy", "direct", "--model", "big", evidence="run", container=container)
    assert done.exit_code == 0 and "failed 12 times: " in done.stdout and "The model is away." in done.stdout
    assert (metrics(tmp_path)["failed"], metrics(tmp_path)["accuracy"]) == (12, 0)
    assert "| all | 12 | 12 | 0.000" in (tmp_path / "out" / "table.md").read_text()


@pytest.mark.parametrize("baseline", ["majority", "claim-only", "evidence-only", "single-retrieval"])
def test_each_baseline_is_measured(command, hover_file, tmp_path, baseline):
    judge = FakeJudge()
    done = command(hover_file, "--baseline", baseline, judge=judge, evidence="")
    assert done.exit_code == 0, done.output
    assert (metrics(tmp_path)["evidence"], metrics(tmp_path)["n"]) == (baseline, 12)
    shown = {(not prompt.startswith("Claim: \n"), prompt.count("Source:")) for prompt in judge.shown}
    seen = {"claim-only": {(True, 0)}, "evidence-only": {(False, 1)}, "single-retrieval": {(True, 2)}}
    assert shown == seen.get(baseline, set())


def test_a_single_retrieval_with_options_that_call_a_language_model_is_refused(command, hover_file):
    container = scripted_container(language_models=(AWAY,))
    options = ("--baseline", "single-retrieval", "--preset", "prompted", "--model", "big")
    refused = error_line(command(hover_file, *options, evidence="", container=container))
    assert "calls no language model; add --preset local" in refused


def test_failed_rows_are_confirmed_again_before_they_are_paid_again(command, hover_file, tmp_path):
    server = 'model = "big"\nbase_url = "http://127.0.0.1:9/v1"'
    (tmp_path / "models.toml").write_text(f'[[model]]\nname = "big"\n{server}\n')
    container = scripted_container(Script((), CallFailed("The model is away.")), language_models=(AWAY,))
    options = ("--strategy", "direct", "--model", "big", "--workers", "1")
    with_model = {"evidence": "run", "container": container, "env": {"MODELS_FILE": str(tmp_path / "models.toml")}}
    assert command(hover_file, *options, "--yes", **with_model).exit_code == 0
    again = command(hover_file, *options, **with_model)
    assert again.exit_code == 1 and "0 rows are made already" in again.stderr


def test_rows_without_evidence_of_their_own_are_left_out_of_evidence_only(command, tmp_path):
    bare = hover(2) | {"evidence": []}
    done = command(written(tmp_path / "two.jsonl", hover(1), bare), "--baseline", "evidence-only", evidence="")
    assert done.exit_code == 0 and "1 no gold evidence" in done.stderr
    assert metrics(tmp_path)["n"] == 1


@pytest.mark.parametrize("more", [(), ("--evidence", "run", "--baseline", "majority")])
def test_exactly_one_thing_is_measured_at_a_time(command, hover_file, more):
    done = command(hover_file, *more, evidence="")
    assert "Give one of --evidence, --baseline and --table." in error_line(done)


def test_the_manifest_has_the_given_settings_and_no_secret(command, hover_file, tmp_path):
    env = {"OPENAI_API_KEY": "sk-very-secret", "OPENAI_MODEL": "some-model", "DATABASE_URL": "sqlite:///s3cr3t.sqlite3"}
    command(hover_file, "--limit", "2", "--workers", "2", env=env | {"TORCH_THREADS": "1"})
    written = (tmp_path / "out" / "manifest.json").read_text()
    found = json.loads(written)
    assert (found["settings"]["TORCH_THREADS"], found["settings"]["OPENAI_MODEL"]) == ("1", "some-model")
    assert (found["judge"], found["workers"], found["seed"], found["limit"]) == ("fake judge 1", 2, 7, 2)
    assert "secret" not in written and "s3cr3t" not in written


def test_a_table_runs_the_available_rows_and_explains_the_others(command, hover_file, tmp_path):
    done = command(hover_file, "--table", "qacheck-1", "--limit", "4", evidence="")
    assert done.exit_code == 0, done.output
    lines = {line.split(" | ")[0].strip("| "): line for line in done.stdout.splitlines() if line.startswith("| ")}
    assert "reported only" in lines["Codex"] and "0.5557" in lines["Codex"]
    reason = "not run: Asked directly needs a language model; choose one."
    assert lines["Language model, asked directly"].count(reason) == 1
    assert "0.5567" in lines["QACheck, reciter-reader"]
    assert lines["Hopcheck's local models"].startswith("| Hopcheck's local models | 4 | 0 | ")
    assert metrics_in(tmp_path / "out" / "local")["labels"] == "two"
    assert (tmp_path / "out" / "table.md").read_text() == done.stdout[:-1]


def test_a_table_of_another_format_is_refused(command, hover_file):
    done = command(hover_file, "--table", "papelo-2", evidence="")
    assert "This table is for the formats averitec." in error_line(done)


def test_evaluations_are_compared_by_their_folders(command, hover_file, tmp_path):
    command(hover_file, "--out", str(tmp_path / "runs"), evidence="run")
    command(hover_file, "--baseline", "majority", "--out", str(tmp_path / "majority"), evidence="")
    runner = create_app(Settings.from_env({"INSTANCE": str(tmp_path / "i")}), scripted_container()).test_cli_runner()
    done = runner.invoke(args=["results", str(tmp_path / "runs"), str(tmp_path / "majority")])
    head, _, runs, majority = done.stdout.splitlines()
    assert "2-hop: macro-F1 | 2-hop: gold pages found | 3-hop: n" in head
    assert runs.startswith("| runs | 12 | 0 | ") and majority.startswith("| majority | 12 | 0 | 0.750 (")
    assert "has no complete figures" in error_line(runner.invoke(args=["results", str(tmp_path)]))


def test_folders_of_the_same_name_are_shown_side_by_side_by_their_paths(command, hover_file, tmp_path):
    folders = [str(tmp_path / model / "qacheck") for model in ("qwen", "gpt")]
    for folder in folders:
        command(hover_file, "--baseline", "majority", "--out", folder, evidence="")
    runner = create_app(Settings.from_env({"INSTANCE": str(tmp_path / "i")}), scripted_container()).test_cli_runner()
    _, _, *rows = runner.invoke(args=["results", *folders]).stdout.splitlines()
    assert [row.split(" | ")[0] for row in rows] == [f"| {folder}" for folder in folders]


def test_the_time_left_is_estimated_from_the_rows_made_since_the_start(command, tmp_path, monkeypatch):
    file = written(tmp_path / "many.jsonl", *(hover(number, "SUPPORTED", 2) for number in range(30)))
    command(file, "--limit", "10")
    ten_minutes_after_the_start = chain([0], repeat(600))
    monkeypatch.setattr(
        "research.commands.evaluate.time", SimpleNamespace(monotonic=ten_minutes_after_the_start.__next__)
    )
    told = command(file).stderr
    assert re.search(r"10 of 30: [^\n]* s a row\n", told)
    assert re.search(r"20 of 30: [^\n]* s a row, about 10 min left\n", told)
