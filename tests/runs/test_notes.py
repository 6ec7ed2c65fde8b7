"""One note per hop and verdict, changed only from its latest version, and purged with its run."""

from __future__ import annotations

import pytest

from app.domain.events import RunStarted
from app.domain.model import MAX_NOTE_LENGTH, Claim, RunOptions
from app.runs.event_store import EventStore
from app.runs.notes import NoteChanged, Notes, clean_note


@pytest.fixture
def notes(sessions) -> Notes:
    """Notes of a database that holds the run "r"."""
    EventStore(sessions).create_run("r", "somebody", RunStarted(Claim("Hamlet is a play."), RunOptions()))
    return Notes(sessions)


def contents(notes: Notes) -> list[tuple]:
    return [(note.hop, note.agrees, note.text) for note in notes.of("r")]


def test_the_same_note_sent_twice_is_one_note(notes):
    for _ in range(2):
        notes.write("r", 1, True, "Once.", None)
    assert contents(notes) == [(1, True, "Once.")]


def test_a_newer_note_is_neither_overwritten_nor_removed_from_an_older_version(notes):
    notes.write("r", 1, True, "First.", None)
    seen = notes.of("r")[0].written_at
    notes.remove("r", 1, seen)
    notes.write("r", 1, True, "Second.", None)
    while notes.of("r")[0].written_at == seen:  # the clock counts milliseconds
        notes.write("r", 1, True, "Second.", seen)
    for change in (lambda: notes.write("r", 1, False, "Third.", seen), lambda: notes.remove("r", 1, seen)):
        with pytest.raises(NoteChanged):
            change()
    assert contents(notes) == [(1, True, "Second.")]


def test_a_removed_note_cannot_be_changed_and_may_be_removed_again(notes):
    notes.write("r", 1, True, "First.", None)
    seen = notes.of("r")[0].written_at
    notes.remove("r", 1, seen)
    notes.remove("r", 1, seen)
    with pytest.raises(NoteChanged):
        notes.write("r", 1, True, "Again.", seen)


def test_the_text_of_a_note_keeps_its_lines_and_is_stripped():
    assert clean_note("  One.\r\nTwo.\rThree.\n\n") == "One.\nTwo.\nThree."
    assert clean_note(" \n ") == ""
    assert clean_note("🌍" * MAX_NOTE_LENGTH) == "🌍" * MAX_NOTE_LENGTH
