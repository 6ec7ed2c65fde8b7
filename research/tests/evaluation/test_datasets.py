"""Each dataset format is read into rows of one type; any fault of a file is one sentence with its line."""

from __future__ import annotations

import pytest

from app.domain.errors import InvalidInput
from app.domain.model import Claim
from app.modules.local import second_sources, steps_of
from research.evaluation.datasets import Row, read_rows
from research.evaluation.gold import gold_context
from research.evaluation.labels import Gold
from research.tests.evaluation.rows import EVIDENCE, averitec, feverous, hover, written

PASSAGE = ("Ada Stone", "Ada Stone was a painter from Basel.")


def refused(path, format_name: str) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_rows(path, format_name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_speaker_and_date_are_kept_verbatim(tmp_path):
    full, bare = averitec() | {"speaker": "Ada", "date": "31-10-2020"}, averitec() | {"id": "a2", "speaker": None}
    first, second = read_rows(written(tmp_path / "f", full, bare), "averitec")
    assert (first.speaker, first.date, second.speaker, second.date) == ("Ada", "31-10-2020", "", "")


def test_a_hover_row_has_passages_hops_and_group(tmp_path):
    (row,) = read_rows(written(tmp_path / "f", hover(1, "NOT_SUPPORTED", 3)), "hover")
    assert row == Row("h1", "Ada Stone made claim 1 there.", Gold.NOT_SUPPORTED, (PASSAGE,), (), 3, "g")


@pytest.mark.parametrize(
    ("form", "spelled", "label"),
    [
        ("feverous", "supports", Gold.SUPPORTED),
        ("feverous", "refutes", Gold.REFUTED),
        ("feverous", "NOT ENOUGH INFO", Gold.NOT_ENOUGH_EVIDENCE),
        ("averitec", "Supported", Gold.SUPPORTED),
        ("averitec", "Refuted", Gold.REFUTED),
        ("averitec", "Not Enough Evidence", Gold.NOT_ENOUGH_EVIDENCE),
        ("averitec", "Conflicting Evidence/Cherrypicking", Gold.CONFLICTING_EVIDENCE),
    ],
)
def test_the_labels_and_numeric_ids_of_feverous_and_averitec_are_read(tmp_path, form, spelled, label):
    made = {"feverous": feverous, "averitec": averitec}[form](spelled)
    (row,) = read_rows(written(tmp_path / "f", made), form)
    assert (row.id, row.label, row.hops) == (str(made["id"]), label, None)


def test_answered_pairs_become_hops_with_their_explanations(tmp_path):
    (row,) = read_rows(written(tmp_path / "f", averitec()), "averitec")
    assert row.answers[2] == ("Why?", None)
    assert [(hop.number, hop.question.text, hop.answer.text) for hop in gold_context(row)] == [
        (1, "Did Ada Stone leave Basel?", "No. She stayed in Basel"),
        (2, "What was she?", "A painter"),
    ]


def test_averitec_gold_pairs_are_kept_verbatim_with_the_explanation_of_yes_or_no(tmp_path):
    (row,) = read_rows(written(tmp_path / "f", averitec()), "averitec")
    assert row.scored_questions == (
        ("Did Ada Stone leave Basel?", ("No. She stayed in Basel.",)),
        ("What was she?", ("A painter.",)),
        ("Why?", ("No answer could be found.",)),
    )


def test_the_judge_reads_gold_passages_without_questions(tmp_path):
    (row,) = read_rows(written(tmp_path / "f", hover(1)), "hover")
    context = gold_context(row)
    assert [(source.title, source.text) for source, _ in second_sources(Claim(row.claim), context)] == [PASSAGE]
    assert steps_of(context) == ()


def test_our_own_format_accepts_either_kind_of_evidence_or_none(tmp_path):
    bare = {"id": "c1", "claim": "Ada Stone painted.", "label": "PARTIALLY_SUPPORTED"}
    file = written(tmp_path / "f", bare, "", bare | {"id": "c2", "evidence": EVIDENCE}, averitec() | {"id": "c3"})
    none, passages, answers = read_rows(file, "claims")
    assert not none.has_evidence and none.label is Gold.PARTIALLY_SUPPORTED
    assert passages.passages and answers.answers


def averitec_with_explanation(explanation) -> dict:
    answers = [{"answer": "No", "boolean_explanation": explanation}]
    return hover(2) | {"questions": [{"question": "Why?", "answers": answers}]}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"id": "h2", "claim', "line 2: not JSON"),
        ("[1, 2]", "line 2: no JSON object"),
        ("[" * 100_000, "line 2: not JSON that can be read"),
        (hover(2) | {"label": None}, "line 2: no label;"),
        (hover(2) | {"label": "MAYBE"}, "line 2: the label 'MAYBE' is unknown in the format hover"),
        (hover(2) | {"label": 1}, "line 2: no label"),
        (hover(2) | {"id": ["h2"]}, "line 2: an id that is neither text nor a number"),
        (averitec_with_explanation(7), "line 2: no explanation of its answer"),
        (hover(1), "line 2: the id 'h1' is already used by number 1"),
        (hover(2) | {"claim": " "}, "line 2: no claim"),
        (hover(2) | {"claim": "half \ud83d"}, "line 2: half a character in the claim"),
        (hover(2) | {"hops": "two"}, "line 2: hops 'two', which is no number of hops"),
        (hover(2) | {"hops": True}, "line 2: hops True, which is no number of hops"),
        (hover(2) | {"evidence": ["text"]}, "line 2: evidence that is no {title, text}"),
        (hover(2) | {"evidence": [{"title": "A"}]}, "line 2: no text of its evidence"),
        (hover(2) | {"evidence": "text"}, "line 2: evidence, which is no list"),
        (hover(2) | {"questions": [{"answers": []}]}, "line 2: no text of its question"),
        (hover(2) | {"questions": ["Why?"]}, "line 2: questions that are no {question, answers}"),
        (hover(2) | {"questions": [{"question": "Why?", "answers": ["So."]}]}, "line 2: answers that are no {answer}"),
    ],
)
def test_a_faulty_line_is_reported_with_its_number_and_fault(tmp_path, line, words):
    assert words in refused(written(tmp_path / "f", hover(1), line), "hover")


def test_only_the_first_fault_is_shown_and_the_others_are_counted(tmp_path):
    message = refused(written(tmp_path / "f", "{", hover(1), "{", "{"), "hover")
    assert "line 1" in message and "(lines at fault in all: 3)" in message


def test_undecodable_bytes_are_a_faulty_line(tmp_path):
    file = tmp_path / "f"
    file.write_bytes(b'\n{"id": "\xff"}\n')
    assert "line 2: not UTF-8" in refused(file, "claims")


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_file_is_refused(tmp_path, text):
    (tmp_path / "f").write_text(text)
    assert refused(tmp_path / "f", "hover") == "f is empty: there is nothing to measure."


def test_a_file_in_another_format_is_refused_with_its_missing_field(tmp_path):
    file = written(tmp_path / "f", averitec())
    assert "no evidence; a row of the format hover has id, claim, label, evidence, hops" in refused(file, "hover")
    assert "no challenge; a row of the format feverous" in refused(written(tmp_path / "g", hover(1)), "feverous")


def test_an_unreadable_file_is_refused(tmp_path):
    assert "cannot be read" in refused(tmp_path, "hover")
