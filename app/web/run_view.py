"""View model of a run's page: its report, this browser's notes, its branches and other checks of the claim."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from flask import render_template, session

from app.domain.comparison import normalised_claim
from app.runs.notes import MAX_NOTE_LENGTH, Note
from app.runs.service import RunFilter, RunSummary, StoredRun
from app.web.security import allow_indexing
from app.web.services import services

MAX_OTHERS = 8
MAX_CANDIDATES = 40
"""Runs found by the words of a claim; some are of longer claims."""
SIDES = {"yes": True, "no": False, "": None}


@dataclass(frozen=True)
class NoteForm:
    """The note form as typed."""

    agrees: str = ""
    text: str = ""
    seen: str = ""  # when the stored note that the form shows was written, "" for none

    @classmethod
    def of(cls, note: Note | None) -> NoteForm:
        """Return the form for an existing note."""
        if note is None:
            return cls()
        side = next(name for name, agrees in SIDES.items() if agrees is note.agrees)
        return cls(side, note.text, note.written_at.isoformat())

    @property
    def seen_at(self) -> datetime | None:
        """Return `seen` as a time; None where there was no note, or for an invalid time."""
        try:
            return datetime.fromisoformat(self.seen) if self.seen else None
        except ValueError:
            return None


@dataclass(frozen=True)
class NotePlace:
    """The view model of a note in a card: the stored note, its form, and the error, if any."""

    run_id: str
    hop: int
    note: Note | None
    form: NoteForm
    problem: str = ""
    longest: int = MAX_NOTE_LENGTH


def run_page(stored: StoredRun, notice: str = "", sent_back: NotePlace | None = None) -> str:
    """Render the page of a run.

    `notice` is one sentence on the result of an action, `sent_back` a note that could not be stored, as it was typed.
    """
    moving = "follow" if services().followers.has_room else "refresh"
    published = stored.published_at is not None and services().settings.publishing
    if published:
        allow_indexing()
    notes = notes_of(stored)
    return render_template(
        "run.html",
        run=stored,
        report=stored.report,
        mode="static" if stored.report.ended else moving,
        place=None if stored.report.ended else services().runs.place(stored.id),
        notice=notice,
        published=published,
        notes={**notes, sent_back.hop: sent_back} if sent_back else notes,
        branches=branches_of(stored),
        others=others_of(stored),
    )


def may_steer(run: StoredRun) -> bool:
    """Return whether this browser started the run. Sets no cookie."""
    return session.get("owner") == run.owner


def notes_of(run: StoredRun) -> dict[int, NotePlace]:
    """Return the place of a note by hop, 0 for the verdict; none for others and before the run's end."""
    if not (run.report.ended and may_steer(run)):
        return {}
    written = {note.hop: note for note in notes_on(run)}
    return {
        hop: NotePlace(run.id, hop, written.get(hop), NoteForm.of(written.get(hop)))
        for hop in (0, *(hop.number for hop in run.report.hops))
    }


def notes_on(run: StoredRun) -> tuple[Note, ...]:
    """Return the notes on a run. The caller must check that this browser owns it."""
    return services().runs.notes.of(run.id)


def branches_of(run: StoredRun) -> tuple[RunSummary, ...]:
    """Return the runs that branch off this one, to its owner only: the owner decides about sharing their links."""
    return services().runs.branches(run.id) if may_steer(run) else ()


def others_of(run: StoredRun) -> tuple[RunSummary, ...]:
    """Return this browser's other checks of the claim, newest first.

    A repeated check is not linked to the first, so they are matched by their claims.
    """
    if "owner" not in session:
        return ()
    claim = run.report.claim.text
    found = services().runs.recent(session["owner"], MAX_CANDIDATES, wanted=RunFilter(words=claim))
    others = [each for each in found if each.id != run.id and normalised_claim(each.claim) == normalised_claim(claim)]
    return tuple(others[:MAX_OTHERS])
