"""The owner's notes on a run's hops and verdict. They can be changed, so they are not events."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, sessionmaker

from app.domain.errors import InvalidInput, NotNow, NotThere
from app.domain.messages import Words
from app.domain.model import MAX_NOTE_LENGTH, Label, Note
from app.domain.report import Report
from app.runs.db import changes_row, database_now
from app.runs.models import NoteRow

MAX_SIGNATURE_LENGTH = 100

VERDICT = 0
"""The hop number of a note on the verdict, or on the error that ended the run."""


class NoteChanged(NotNow):
    """The note was changed since it was read, for example in another tab."""

    def __init__(self) -> None:
        super().__init__("Another request changed this note at the same time. Read it and try again.", "text")


class Notes:
    """The notes of one database. Callers make sure that only a run's owner reads and writes them."""

    def __init__(self, sessions: sessionmaker[Session]) -> None:
        self._sessions = sessions

    def of(self, run_id: str) -> tuple[Note, ...]:
        """Return the notes on a run: the verdict's first, then by hop."""
        with self._sessions() as session:
            found = session.scalars(select(NoteRow).where(NoteRow.run_id == run_id).order_by(NoteRow.hop))
            return tuple(map(note_from_row, found))

    def verdicts(self, run_ids: Sequence[str]) -> dict[str, Note]:
        """Return the owner's own verdict on each of these runs that has one. Anybody may read them."""
        with self._sessions() as session:
            found = session.scalars(select(NoteRow).where(NoteRow.run_id.in_(run_ids), is_own_verdict()))
            return {row.run_id: note_from_row(row) for row in found}

    def write(
        self,
        run_id: str,
        hop: int,
        agrees: bool | None,
        text: str,
        seen: datetime | None,
        label: Label | None = None,
        signed: str = "",
    ) -> None:
        """Add a note to a hop, or change the one written at `seen`; None adds one.

        Raises NoteChanged if that note was changed or deleted since or, for None, if there is one. A note that already
        has this content is accepted, because a form may be sent twice.
        """
        values = {"agrees": agrees, "text": text, "label": label.value if label else None, "signed": signed}
        if seen is None:
            new = insert(NoteRow).values(run_id=run_id, hop=hop, **values, written_at=database_now())
            with suppress(IntegrityError), self._sessions.begin() as session:
                session.execute(new)
                return
        else:
            changed = update(NoteRow).where(*_matches(run_id, hop, seen)).values(**values, written_at=database_now())
            if changes_row(self._sessions, changed):
                return
        there = next((note for note in self.of(run_id) if note.hop == hop), None)
        if there is None or any(getattr(there, name) != value for name, value in values.items()):
            raise NoteChanged

    def remove(self, run_id: str, hop: int, seen: datetime | None) -> None:
        """Delete the note written at `seen`, if it still exists. Raises NoteChanged if it was changed."""
        with self._sessions.begin() as session:
            removed = delete(NoteRow).where(*_matches(run_id, hop, seen)).returning(NoteRow.hop)
            if session.execute(removed).one_or_none() is None and session.get(NoteRow, (run_id, hop)) is not None:
                raise NoteChanged


def is_own_verdict() -> ColumnElement[bool]:
    """Return the condition that a note is the owner's own verdict, which is public."""
    return and_(NoteRow.hop == VERDICT, NoteRow.label.is_not(None))


def note_from_row(row: NoteRow) -> Note:
    label = Label(row.label) if row.label else None
    return Note(row.hop, row.agrees, row.text, row.written_at, label, row.signed)


def clean_signature(raw: str) -> str:
    """Return a name on one line, cleaned like a note. Raises InvalidInput above MAX_SIGNATURE_LENGTH."""
    name = " ".join(clean_note(raw).split())
    if len(name) > MAX_SIGNATURE_LENGTH:
        problem = f"The signature has {len(name)} characters; at most {MAX_SIGNATURE_LENGTH} are allowed."
        raise InvalidInput(problem, "signed")
    return name


def checked_note(report: Report, agrees: bool | None, text: str, label: Label | None, signed: str) -> dict[str, Any]:
    """Return the values of a note for `Notes.write`; with an own verdict, whether it is that of the run.

    Raises InvalidInput for an empty note and an invalid text.
    """
    text, signed = clean_note(text), clean_signature(signed) if label else ""
    if label is None and agrees is None and not text:
        raise InvalidInput("Choose one of these, or write something.", "text")
    if label:
        agrees = label == report.verdict.label if report.verdict else None
    return {"agrees": agrees, "text": text, "label": label, "signed": signed}


def clean_note(raw: str) -> str:
    """Return a note's text, trimmed, with its line breaks normalised.

    Raises InvalidInput for control characters and for more than MAX_NOTE_LENGTH code points.
    """
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    if any(unicodedata.category(each) in ("Cc", "Cs") and each not in "\n\t" for each in text):
        raise InvalidInput("The note holds control characters; please take them out.", "text")
    text = text.strip()
    if len(text) > MAX_NOTE_LENGTH:
        raise InvalidInput(
            Words(
                "The note has {count:,} characters; at most {most:,} are allowed.",
                count=len(text),
                most=MAX_NOTE_LENGTH,
            ),
            "text",
        )
    return text


def parse_note_hop(report: Report, text: str) -> int:
    """Return the number in `text`: VERDICT or a hop. Raises NotThere, and NotNow for a running run."""
    if not report.ended:
        raise NotNow("This check is still running; notes can be written once it has ended.", "hop")
    known = {str(number): number for number in (VERDICT, *(hop.number for hop in report.hops))}
    if text not in known:
        raise NotThere("This check has no such hop. A hop is named by its number; 0 is the verdict.", "hop")
    return known[text]


def _matches(run_id: str, hop: int, seen: datetime | None) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for the note written at `seen`; None matches no note."""
    return NoteRow.run_id == run_id, NoteRow.hop == hop, NoteRow.written_at == seen
