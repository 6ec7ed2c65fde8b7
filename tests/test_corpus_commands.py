"""`flask --app app corpus ...`: the commands and their error messages."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest

from app.backends.corpus.index import MANIFEST
from app.backends.corpus.registry import folder_of
from app.cli import corpus
from app.config.settings import Settings
from tests.terminal import terminal


@pytest.fixture
def settings(tmp_path):
    return replace(Settings.from_env({}), instance=tmp_path / "instance")


@pytest.fixture
def command(settings):
    """Runs `flask --app app ...` on an empty instance folder."""
    return partial(terminal(corpus.corpus, settings=settings), "corpus")


@pytest.fixture
def facts(tmp_path):
    path = tmp_path / "facts.jsonl"
    rows = [{"id": "1", "title": "Nairobi", "contents": "It is a city."}, {"id": "2", "contents": ""}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def unfinished(settings, name: str = "facts"):
    (folder_of(settings.instance, name) / "building").mkdir(parents=True)


@pytest.mark.jvm
@pytest.mark.timeout(300)
def test_a_corpus_is_built_listed_and_removed(command, facts):
    built = command("build", "facts", "--from", str(facts), "--title", "Facts", "--source", "Nobody, CC0")
    assert built.exit_code == 0, built.output
    assert "facts: 1 passages of 1 documents" in built.output
    assert "skipped 1 broken entries, listed in" in built.output
    listed = next(line for line in command("list").output.splitlines() if line.startswith("facts"))
    assert "Facts (Nobody, CC0)" in listed
    assert "built, 1 passages" in listed
    again = command("build", "facts", "--from", str(facts))
    assert again.exit_code == 2
    assert "--replace" in again.output
    assert command("remove", "facts", "--yes").output == "removed facts\n"
    assert "facts" not in command("list").output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("build", "nowhere"),
            "nowhere is not a built-in corpus; name the file or folder to build it from with --from.",
        ),
        (("build", "vital", "--from", "b"), "vital is built in and cannot be replaced; choose another name."),
        (("build", "../a", "--from", "b"), "A corpus's name has at most 64 small letters"),
        (("build", "a", "--from", "/nowhere"), "/nowhere is neither a file nor a folder."),
        (("remove", "nowhere"), "There is no corpus nowhere."),
        (("remove", "vital"), "vital is searched by default; take it out of SOURCE or CORPORA first."),
    ],
)
def test_invalid_input_is_one_sentence_with_exit_code_2(command, arguments, sentence):
    done = command(*arguments)
    assert done.exit_code == 2
    assert done.output.startswith(f"Error: {sentence}")
    assert len(done.output.splitlines()) == 1


def test_removing_asks_for_confirmation(command, settings):
    unfinished(settings)
    assert command("remove", "facts", input="n\n").exit_code == 1
    assert folder_of(settings.instance, "facts").exists()
    assert command("remove", "facts", input="y\n").exit_code == 0
    assert not folder_of(settings.instance, "facts").exists()


def test_a_file_that_cannot_be_removed_is_one_line(command, settings):
    unfinished(settings)
    (folder_of(settings.instance, "facts") / MANIFEST).mkdir()
    done = command("remove", "facts", "--yes")
    assert done.exit_code == 1 and done.output.startswith("Error: ") and len(done.output.splitlines()) == 1


def test_an_unfinished_build_is_listed_with_how_to_complete_it(command, settings):
    unfinished(settings)
    listed = command("list").output
    assert "facts\tfacts\tThe corpus facts was not built to its end. Fix it with: the same command again" in listed
