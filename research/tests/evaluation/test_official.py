"""The released files of the data sets are read as they are, and a file in another format is refused by its name."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from app.cli import corpus
from app.config.settings import Settings
from app.domain.errors import InvalidInput
from research.commands import evaluate
from research.evaluation.datasets import read_rows
from research.evaluation.gold import gold_context
from research.evaluation.labels import Gold
from research.evaluation.official import SOURCES
from research.tests.evaluation.official_rows import array, averitec, released
from research.training.question_generator_data import read_asked
from tests.terminal import terminal


@pytest.fixture
def files(tmp_path):
    return released(tmp_path)


def test_averitec_rows_are_known_by_their_place_and_keep_speaker_date_type_and_justification(files):
    first, second, *others = read_rows(files["averitec"], "averitec")
    assert (first.id, second.id, len(others)) == ("0", "1", 18)
    assert (first.speaker, first.date, first.types) == ("Ada Stone", "31-10-2020", ("Event/Property Claim",))
    assert first.justification.startswith("Hamlet was written")
    assert second.scored_questions == (("Who wrote Hamlet?", ("Yes. It was written by Shakespeare.",)),)


def test_hover_rows_name_their_articles_once_and_have_no_text_to_judge_by(files):
    rows = read_rows(files["hover"], "hover")
    assert (rows[2].id, rows[2].hops, rows[2].group) == ("0a0002", 4, "5a0002")
    assert rows[2].passages == (("Hamlet", ""), ("William Shakespeare", ""))
    assert not rows[2].has_evidence and gold_context(rows[2]) == ()
    assert {row.label for row in rows} == {Gold.SUPPORTED, Gold.NOT_SUPPORTED}


def test_feverous_leaves_out_the_empty_first_line_and_knows_which_rows_need_tables(files):
    rows = read_rows(files["feverous"], "feverous")
    assert len(rows) == 20 and [row.id for row in rows if row.beyond_sentences] == ["7004", "7009", "7014", "7019"]
    assert rows[4].passages == (("Hamlet", ""), ("William Shakespeare", ""))
    assert {row.label for row in rows} == {Gold.SUPPORTED, Gold.REFUTED}


@pytest.mark.parametrize(("form", "asked"), [("averitec", "hover"), ("hover", "feverous"), ("feverous", "averitec")])
def test_a_file_of_another_data_set_is_refused_with_the_format_to_give(files, form, asked):
    with pytest.raises(InvalidInput, match=f"format {form}, not {asked}: give --format {form}"):
        read_rows(files[form], asked)


def test_squad_is_refused_as_what_it_is(tmp_path):
    file = tmp_path / "dev-v2.0.json"
    file.write_text(json.dumps({"version": "v2.0", "data": [{"title": "Ada", "paragraphs": []}]}))
    with pytest.raises(InvalidInput, match="SQuAD's release"):
        read_rows(file, "hover")


def test_a_broken_array_is_named_as_one(tmp_path):
    file = tmp_path / "dev.json"
    file.write_text('[\n{"claim": "A"},\n')
    with pytest.raises(InvalidInput, match="begins as a JSON array and is none that can be read"):
        read_rows(file, "averitec")


def test_a_faulty_row_of_an_array_is_named_by_its_number(tmp_path):
    rows = [averitec(0), averitec(1) | {"label": "MAYBE"}]
    with pytest.raises(InvalidInput, match="row 2: the label 'MAYBE' is unknown in the format averitec"):
        read_rows(array(tmp_path / "dev.json", rows), "averitec")


def test_the_question_generator_trains_on_averitecs_own_file(files):
    assert read_asked(files["averitec"])[0].hops == (("Who wrote Hamlet?", "William Shakespeare"),)


HAMLET = f"Hamlet is a play by William Shakespeare. {' '.join(f'It has a scene {number}.' for number in range(60))}"
"""An article of several passages."""


@pytest.mark.jvm
@pytest.mark.timeout(300)
def test_hovers_texts_are_filled_in_from_a_corpus_and_rows_without_all_of_them_are_left_out(files, tmp_path):
    articles = [
        {"id": "1", "title": "Hamlet", "contents": HAMLET},
        {"id": "2", "title": "Hamlet (disambiguation)", "contents": "Hamlet may also be a place."},
    ]
    file = tmp_path / "wiki.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in articles))
    settings = replace(Settings.from_env({}), instance=tmp_path / "instance")
    command = terminal(corpus.corpus, evaluate.datasets, settings=settings)
    built = command("corpus", "build", "wiki", "--from", str(file), "--title", "W", "--source", "CC0")
    assert built.exit_code == 0, built.output
    out = tmp_path / "hover.jsonl"
    done = command("datasets", "prepare", "hover", str(files["hover"]), "--corpus", "wiki", "--out", str(out))
    assert "7 of 20 rows have the texts of all their articles" in done.output, done.output
    (first, *_) = read_rows(out, "hover")
    assert first.has_evidence and [title for title, _ in first.passages] == ["Hamlet"]
    assert " ".join(first.passages[0][1].split()) == HAMLET


def test_the_list_of_data_sets_names_address_licence_size_and_needs():
    listed = terminal(evaluate.datasets)("datasets", "list").output
    for source in SOURCES:
        assert all(told in listed for told in (source.name, source.address, source.licence, source.also))
