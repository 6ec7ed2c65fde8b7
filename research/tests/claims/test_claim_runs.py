"""Metrics of whole runs, equal to values counted by hand, and samples that keep twin claims together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.backends.corpus.index import Manifest, checksum, sizes, write_manifest
from app.config.settings import Settings
from app.container.container import Container
from app.domain.model import Answer, Claim, Hop, LabelSet, Passage, Question, Span
from research.claims import metrics
from research.claims.data import NOT_ENOUGH, Asked, VitalClaim, sample_claims
from research.claims.gold_parts import GoldSentencesReasoner, with_gold
from research.claims.metrics import REFUTED, SUPPORTED, Outcome
from research.claims.run import classify_verdict, compare, defaults_of, drop_unfinished_line, read_list, read_runs

OUTCOMES = [
    Outcome(SUPPORTED, SUPPORTED, 0.9, group="a", style="plain"),
    Outcome(REFUTED, REFUTED, 0.9, group="a", style="plain"),
    Outcome(SUPPORTED, REFUTED, 0.7, group="b", style="plain"),
    Outcome(REFUTED, SUPPORTED, 0.9, group="b", style="plain"),
    Outcome(SUPPORTED, NOT_ENOUGH, None, group="a", style="first"),
    Outcome(REFUTED, None, None, group="a", style="first"),
    Outcome(NOT_ENOUGH, NOT_ENOUGH, group="c"),
    Outcome(NOT_ENOUGH, SUPPORTED, 0.7, group="d"),
]


@pytest.mark.parametrize(
    ("measure", "count", "total"),
    [
        (metrics.accuracy, 3, 8),
        (metrics.precision_of_decided, 2, 5),
        (metrics.coverage, 4, 6),
        (metrics.false_supported, 1, 3),
        (metrics.true_refuted, 1, 3),
        (metrics.undecidable_decided, 1, 2),
        (metrics.twins_right, 1, 3),
    ],
)
def test_each_share_equals_the_value_counted_by_hand(measure, count, total):
    assert measure(OUTCOMES) == metrics.Share(count, total)


def test_calibration_uses_decided_runs_with_a_confidence():
    assert metrics.calibration_error(OUTCOMES) == pytest.approx((3 * abs(0.9 - 2 / 3) + 2 * 0.7) / 5)
    assert metrics.calibration_error(OUTCOMES[4:7]) is None


def test_tables_are_printed_without_any_runs():
    assert "| accuracy (three labels) | 0.375 (3 of 8) | none |" in metrics.figures_table({"a": OUTCOMES, "b": []})


def test_a_mixed_sample_keeps_twins_together_and_a_larger_one_contains_it():
    pair = VitalClaim("", "", SUPPORTED, "", "", "plain", 1, (), (), (), "", "dev")
    claims = [
        replace(pair, id=f"{group} {style} {label}", group=str(group), style=style, hops=hops, label=label)
        for group in range(20)
        for style, hops in (("plain", 1), ("first", 2), ("balanced", 1))
        for label in (SUPPORTED, REFUTED)
    ] + [
        replace(pair, id=f"open {group}", group=f"open {group}", style="first", label=NOT_ENOUGH) for group in range(9)
    ]
    small, large = (sample_claims(claims, "dev", "mixed", rows) for rows in (12, 24))
    assert len(small) == 12 and {row.id for row in small} <= {row.id for row in large}
    assert sum(row.label == NOT_ENOUGH for row in small) == 2 and all(row.style != "balanced" for row in small)
    decided = [row for row in small if row.label != NOT_ENOUGH]
    assert all(true.group == false.group for true, false in zip(decided[::2], decided[1::2], strict=True))


def index_without_text(folder: Path) -> None:
    """Write an index that is complete by its manifest, so that a pipeline can be built but not run."""
    (folder / "index").mkdir(parents=True)
    (folder / "index" / "segment").write_bytes(b"0")
    files, digest = sizes(folder / "index"), checksum(folder / "index")
    write_manifest(folder, Manifest("vital", "Vital", "made up", "built", 1, "index", files, digest, "", "1.0"))


def test_recorded_questions_replace_generated_ones_in_order(tmp_path):
    index_without_text(tmp_path / "corpora" / "vital")
    strategy, options = defaults_of(Container(Settings.from_env({"INSTANCE": str(tmp_path)})))
    asked = tuple(Asked(question, "an answer", "A title") for question in ("Who?", "Where?"))
    row = VitalClaim("", "", SUPPORTED, "", "", "plain", 1, (), asked, (), "", "dev")
    generator = with_gold(strategy, row, ["questions"]).generator
    hop = Hop(1, Question("Who?"))
    found = [generator.next_question(Claim(""), context, ()) for context in ((), (hop,), (hop, hop))]
    assert found == [Question("Who?"), Question("Where?"), None] and options.preset == "local"


def test_gold_sentences_of_an_article_that_no_hop_cited_can_be_selected(tmp_path):
    leads = (("Hamlet", "Hamlet is a play. It was written by Shakespeare."), ("Shakespeare", "He was born in England."))
    decisive = ("It was written by Shakespeare.", "He was born in England.")
    row = VitalClaim("", "", SUPPORTED, "", "", "plain", 2, leads, (), decisive, "", "dev")
    cited = Passage("It was written by Shakespeare.", "Hamlet", "a corpus")
    hop = Hop(1, Question("Who?"), Answer("Shakespeare", Span(cited, 18, 29), (cited,)))
    given = GoldSentencesReasoner(FakeReasoner(), row).conclude(Claim("A claim."), (hop,), tuple(LabelSet.TWO.labels))
    assert "written by Shakespeare" in given and "born in England" in given


class FakeReasoner:
    """Returns the text of all sentences that the judge's selector may choose from."""

    def conclude(self, claim, context, labels):
        return " ".join(passage.text for hop in context if hop.question.text for passage in hop.answer.retrieved)


def test_folders_of_the_same_name_are_compared_by_their_paths(tmp_path, capsys):
    folders = [tmp_path / name / "dev" for name in ("before", "after")]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "runs.jsonl").write_text('{"id": "a", "label": "SUPPORTED", "verdict": "SUPPORTED"}\n')
    compare(folders)
    assert f"| measure | {folders[0]} | {folders[1]} |" in capsys.readouterr().out


def test_a_truncated_line_is_run_again(tmp_path):
    file = tmp_path / "runs.jsonl"
    file.write_text('{"id": "a"}\n{"id": "b')
    assert list(read_runs(file)) == ["a"]
    drop_unfinished_line(file)
    assert file.read_text() == '{"id": "a"}\n'


@pytest.mark.parametrize(
    ("verdict", "label", "outcome"),
    [
        (NOT_ENOUGH, REFUTED, "open"),
        (SUPPORTED, REFUTED, "wrong"),
        (SUPPORTED, NOT_ENOUGH, "wrong"),
        (NOT_ENOUGH, f"{REFUTED}|{NOT_ENOUGH}", "right"),
        (REFUTED, f"{REFUTED}|{NOT_ENOUGH}", "right"),
        (SUPPORTED, f"{REFUTED}|{NOT_ENOUGH}", "wrong"),
        (SUPPORTED, None, "unlabelled"),
        (None, REFUTED, "failed"),
    ],
)
def test_a_verdict_is_right_with_each_of_its_labels_and_open_only_where_it_is_undecided(verdict, label, outcome):
    assert classify_verdict(verdict, label) == outcome


CLAIMS = Path(metrics.__file__).parent


@pytest.mark.parametrize("file", [CLAIMS / "public_failures.tsv", *sorted((CLAIMS / "held_out").glob("*.tsv"))])
def test_each_claim_of_a_shipped_list_occurs_once_and_has_labels_that_a_verdict_can_have(file):
    rows = list(read_list(file))
    assert len({claim for claim, _ in rows}) == len(rows) >= 40
    assert all(set(label.split("|")) <= {SUPPORTED, REFUTED, NOT_ENOUGH} for _, label in rows)
