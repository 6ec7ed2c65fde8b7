"""View model of a run's page: its report, this browser's notes, its branches and other checks of the claim."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from flask import render_template, session, url_for

from app.capabilities.options import Choice, source_of
from app.domain.comparison import normalised_claim
from app.domain.messages import Words
from app.domain.model import MAX_NOTE_LENGTH, LabelSet, Note
from app.domain.report import Report
from app.runs.service import RunFilter, RunSummary, StoredRun
from app.web import available_sources, capabilities, services
from app.web.report_view import (
    Card,
    differences,
    distinct_choices,
    formal_label,
    shown_verdict,
    web_link,
)
from app.web.security import allow_indexing
from app.web.views import FACES

MAX_OTHERS = 8
MAX_CANDIDATES = 40
"""Runs found by the words of a claim; some are of longer claims."""
UNVERIFIED = Words("Imported, unverified")
SIDES = {"yes": True, "no": False, "": None}
"""By value of the form's field, whether the owner agrees; None for no opinion either way."""


@dataclass(frozen=True)
class NoteForm:
    agrees: str = ""
    text: str = ""
    seen: str = ""  # time of the stored note that the form shows, "" for none
    label: str = ""
    signed: str = ""

    @classmethod
    def of(cls, note: Note | None) -> NoteForm:
        if note is None:
            return cls()
        side = next(name for name, agrees in SIDES.items() if agrees is note.agrees)
        return cls(side, note.text, note.written_at.isoformat(), note.label or "", note.signed)

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
    verdicts: tuple[tuple[str, str], ...] = (
        *((each, each.plain) for each in LabelSet.THREE.labels),
        ("", Words("None")),
    )


@dataclass(frozen=True)
class Other:
    """Another check of the claim in this browser; `differs` lists the choices that differ, "" for none."""

    run: RunSummary
    differs: str


@dataclass(frozen=True)
class Origin:
    """The check that this one branches off or repeats, and how its choices differ."""

    id: str
    outcome: str
    """Its label, or its state without one."""
    choices_then: tuple[str, ...]
    """The choices of that check that differ from this one's."""
    was: str | None = None
    """The question of the changed step; None for one that was added, and for a check that repeats another."""


def run_page(stored: StoredRun, notice: str = "", rejected: NotePlace | None = None) -> str:
    """Render the page of a run.

    `notice` is one sentence on the result of an action, `rejected` a note that could not be stored, as typed.
    """
    published = stored.published_at is not None and services().settings.publishing
    if published:
        allow_indexing()
    notes, others = note_places(stored), others_of(stored)
    mode = "static" if stored.report.ended else "follow" if services().followers.has_room else "refresh"
    return render_template(
        "run.html",
        run=stored,
        report=stored.report,
        mode=mode,
        place=None if stored.report.ended else services().runs.place(stored.id),
        notice=notice,
        published=published,
        notes={**notes, rejected.hop: rejected} if rejected else notes,
        branches=branches_of(stored),
        others=others,
        origin=origin_of(stored, others),
    )


def may_steer(run: StoredRun) -> bool:
    """Return whether this browser started the run. Sets no cookie."""
    return session.get("owner") == run.owner


def note_places(run: StoredRun) -> dict[int, NotePlace]:
    """Return the place of a note by hop, 0 for the verdict; {} for other visitors and before the end."""
    if not (run.report.ended and may_steer(run)):
        return {}
    written = {note.hop: note for note in services().runs.notes.of(run.id)}
    return {
        hop: NotePlace(run.id, hop, written.get(hop), NoteForm.of(written.get(hop)))
        for hop in (0, *(hop.number for hop in run.report.hops))
    }


def readers_verdict(run: StoredRun) -> Note | None:
    """Return the owner's own verdict on an ended run, which anybody may read; None for none."""
    return services().runs.notes.verdicts([run.id]).get(run.id) if run.report.ended else None


def branches_of(run: StoredRun) -> tuple[RunSummary, ...]:
    """Return the runs that branch off this one, to its owner only: the owner decides about sharing their links."""
    return services().runs.queries.branches(run.id) if may_steer(run) else ()


def others_of(run: StoredRun) -> tuple[Other, ...]:
    """Return this browser's other checks of the claim, newest first.

    A repeated check is not linked to the first, so they are matched by their claims.
    """
    if "owner" not in session:
        return ()
    claim = run.report.claim.text
    found = services().runs.recent(session["owner"], MAX_CANDIDATES, wanted=RunFilter(words=claim))
    same = [each for each in found if each.id != run.id and normalised_claim(each.claim) == normalised_claim(claim)]
    others = same[:MAX_OTHERS]
    options = services().runs.queries.options_of([each.id for each in others])  # without runs that cannot be read
    return tuple(Other(each, _differs(run.report, each)) for each in others if each.id in options)


def _differs(mine: Report, other: RunSummary) -> str:
    """Return the step that the other check changed and its choices that differ, else the step that this one did."""
    stored = services().runs.report(other.id)
    words = distinct_choices(stored.report, (mine, stored.report)) if stored else ()
    if not words and mine.branch and mine.branch.parent == other.id:
        return Words("step {hop} as it was", hop=mine.branch.hop)
    return Words.joined(", ", words)


def origin_of(run: StoredRun, others: tuple[Other, ...]) -> Origin | None:
    """Return the check that this one branches off, else the last of `others` before it that was not imported."""
    branch = run.report.branch
    if branch is None:
        before = next((each for each in others if each.run.created_at < run.created_at and not each.run.imported), None)
        if before is None or not may_steer(run):
            return None
        return Origin(before.run.id, before.run.label or before.run.state, (before.differs,) if before.differs else ())
    parent = None if run.report.imported else services().runs.report(branch.parent)
    if parent is None:
        return None
    earlier = parent.report
    # Leaving a step out raises the limit of hops by one, which is no choice.
    earlier_options = replace(earlier.options, max_hops=run.report.options.max_hops)
    outcome = earlier.verdict.label if earlier.verdict else earlier.ended or "running"
    return Origin(
        branch.parent,
        outcome,
        differences(run.report.options, earlier_options),
        earlier.hops[branch.hop - 1].question.text if branch.hop <= len(earlier.hops) else None,
    )


def sources_to_ask(run: StoredRun) -> tuple[Choice, ...]:
    """Return the available sources other than the run's own; none where nothing is searched."""
    return available_sources(besides=source_of(run.report.options))


def scope_words(run: StoredRun) -> str:
    """Return how much the run's source holds and of when; "" where that is not known or may have changed since."""
    options, source = run.report.options, source_of(run.report.options)
    names = (source,) if source else options.corpora
    known = {each.name: each for each in capabilities().sources}
    found = [known[name] for name in names if name in known and known[name].scope]
    is_current = all(not each.built_at or datetime.fromisoformat(each.built_at) <= run.created_at for each in found)
    is_complete = len(found) == len(names) and is_current and not run.report.imported
    return Words.joined(" and ", (each.scope for each in found)) if is_complete else ""


def may_embed() -> bool:
    """Return whether other sites may embed reports.

    A frame on another site gets no cookie, so with a site password it would show the password form.
    """
    settings = services().settings
    return bool(settings.embed_on) and not settings.site_password


def summary_of(run: StoredRun) -> str:
    """Return claim, verdict, deciding sentence and link as a text to share; "" without a verdict."""
    report, address = run.report, url_for("pages.run", run_id=run.id, _external=True)
    verdict, shown = report.verdict, shown_verdict(report)
    if verdict is None:
        return ""
    parts: list[object] = [
        Words("{verdict} ({formal}).", verdict=FACES[verdict.label].word, formal=formal_label(verdict.label))
    ]
    if shown.answer:
        parts.append(shown.answer.text)
    elif verdict.missing:
        parts.append(Words("What was missing: {missing}", missing=verdict.missing))
    lines = (
        Words("Imported, unverified.") if report.imported else "",
        f"“{report.claim.text}”",
        Words.joined(" ", parts),
        _quotation(shown.cards[0]) if shown.cards else "",
        Words("Checked by a machine with Hopcheck: {address}", address=address),
    )
    return Words.joined("\n", filter(None, lines))


def verdict_details(run: StoredRun | None) -> dict[str, str]:
    """Return the verdict in everyday words, what decides it, and the published fact-checks."""
    if run is None or run.report.verdict is None:
        return {}
    found = {"verdict": FACES[run.report.verdict.label].word}
    for card in shown_verdict(run.report).cards[:1]:
        source = ", ".join(filter(None, (card.passage.title, card.passage.source)))
        found |= {"answer": card.text.answer, "quote": card.sentence, "source": source}
        found["url"] = web_link(card.passage) or ""
    checks = ((each.publisher, each.rating, each.published, each.url) for each in run.report.fact_checks or ())
    found["fact_checks"] = "\n".join(", ".join(filter(None, each)) for each in checks)
    return {name: text for name, text in found.items() if text}


def _quotation(card: Card) -> str:
    source = (card.passage.title or card.passage.source, web_link(card.passage))
    return f"“{card.sentence}” {', '.join(filter(None, source))}"
