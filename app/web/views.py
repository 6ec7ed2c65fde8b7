"""Template filters: words, icons and short forms for values, and the state of a run as its page shows it.

What a page shows of a run's state is computed from its report, so a loaded page and a streamed card agree.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from inspect import isfunction
from typing import TYPE_CHECKING, NamedTuple

from app.domain.messages import BEFORE_READING, Code, Message, Text, Words, code_of
from app.domain.model import Hop, HopStatus, Imported, Label, LabelSet, Origin, Passage, RunOptions, Usage
from app.domain.report import Report
from app.strategies import BASELINES, STRATEGIES
from app.strategies.kind import ANSWERER, REASONER, Module
from app.text.fact_checkers import is_fact_check as is_fact_check  # a filter, too
from app.web import report_view
from app.web.language import moment

if TYPE_CHECKING:
    from app.batches.service import BatchClaim
    from app.runs.service import Place


def is_queued(report: Report) -> bool:
    return not report.phase or code_of(report.phase) is Code.WAITING


def at_work(report: Report) -> Module | None:
    """Return the module whose reply the run waits for; None while it is queued and after its end.

    Strategies emit the result of a call before they make the next one, so the last event determines the module, also in
    logs of earlier versions. Speculative calls of other modules are not shown.
    """
    if report.ended or is_queued(report):
        return None
    if report.stopped_because:
        return REASONER
    last = report.hops[-1] if report.hops else None
    if last and last.status is HopStatus.OPEN and not last.answer:
        return ANSWERER
    return STRATEGIES[report.options.strategy].at_work(report)


def upcoming_hop(report: Report) -> int | None:
    """Return the number of the hop whose question is being generated, None while there is none.

    The hop may never come, because there may be no question left to ask. In a pursuit, which does not judge after each
    kept hop, the number is None after most of them.
    """
    last = report.hops[-1] if report.hops else None
    is_judged = last is None or last in report.set_aside or report.judged_after >= last.number
    if is_queued(report) or report.ended or report.stopped_because or report.open_hop or not is_judged:
        return None
    return len(report.hops) + 1 if len(report.hops) < report.options.max_hops else None


def stage(report: Report) -> str:
    """Return the stage of the run: Ask, Search, Read or Decide; "" while it is queued and after its end."""
    module = at_work(report)
    if module is not ANSWERER:
        return module.stage if module else ""
    return "Search" if report.phase_over or code_of(report.phase) in BEFORE_READING else "Read"


def current_activity(report: Report) -> str:
    """Return the current activity: as the module reports it, or what comes next."""
    if not report.phase_over or not report.phase:
        return str(report.phase)
    if report.stopped_because:
        return str(Code.WEIGHING_EVIDENCE())
    if report.open_hop:
        return str(Code.WEIGHING_ANSWER() if report.open_hop.answer else Code.LOOKING())
    return str(Code.THINKING() if upcoming_hop(report) else Code.DECIDING_ENOUGH())


def is_announced(hop: Hop, report: Report) -> bool:
    """Return whether a screen reader reads out the card: run not over, hop closed, and no later hop has an answer.

    A resumed run sends all its cards again, which should not all be read out.
    """
    is_newest = not any(each.answer for each in report.hops[hop.number :])
    return not report.ended and hop.status is not HopStatus.OPEN and is_newest


class Face(NamedTuple):
    """A word, an icon and a style class that always appear together, so that colour is never the only sign."""

    word: str
    icon: str
    tone: str
    colour: str = ""  # of a label in pictures, that of its tone on a light page


_SIGNS = {
    Label.SUPPORTED: ("check", "supported", "#1d6a43"),
    Label.REFUTED: ("cross", "refuted", "#a4302b"),
    Label.NOT_ENOUGH_EVIDENCE: ("question", "undecided", "#7d5600"),
    Label.CONFLICTING_EVIDENCE: ("split", "conflicting", "#6a4494"),
}
FACES: dict[str, Face] = {
    **{label: Face(label.plain, *_SIGNS[label]) for label in Label},
    HopStatus.OPEN: Face(Words("In progress"), "dots", "open"),
    HopStatus.KEPT: Face(Words("Used"), "check", "kept"),
    HopStatus.SET_ASIDE: Face(Words("Not used"), "aside", "aside"),
    HopStatus.FAILED: Face(Words("Failed"), "cross", "failed"),
    HopStatus.INTERRUPTED: Face(Words("Interrupted"), "stop", "interrupted"),
    "running": Face(Words("Running"), "dots", "open"),
    "bad input": Face(Words("Bad input"), "pencil", "aside"),
    "deleted": Face(Words("Deleted"), "aside", "aside"),
}
"""By label, hop status, and state of a run or of a batch's claim, which share some names."""

NOT_CHECKED = Face(Words("Not checked yet"), "dots", "open")


def face(name: str) -> Face:
    return FACES[name]


def claim_face(claim: BatchClaim) -> Face:
    return FACES.get(claim.label or claim.state, NOT_CHECKED)


def page_words(text: Text, is_owner: bool) -> str:
    """Return the words of a message, those for the owner of the run to the owner."""
    return text.to_owner() if is_owner and isinstance(text, Message) else str(text)


LABEL_SETS = {
    LabelSet.THREE: (Words("Three labels"), Words("True, false, or can’t tell.")),
    LabelSet.FOUR: (Words("Four labels"), Words("The three, and “sources disagree”.")),
    LabelSet.TWO: (
        Words("Two labels"),
        Words("True or false. For benchmarks only: it decides even on thin evidence."),
    ),
}


def confidence_words(confidence: float) -> str:
    """Describe a confidence in [0, 1]."""
    if confidence >= 0.85:
        return Words("High confidence")
    return Words("Moderate confidence") if confidence >= 0.6 else Words("Low confidence")


def duration(seconds: float) -> str:
    """Format seconds: "4.2 s", "1 min 5 s"."""
    if seconds < 59.95:
        return Words("{seconds:.1f} s", seconds=seconds)
    minutes, rest = divmod(round(seconds), 60)
    return Words("{minutes} min {rest} s", minutes=minutes, rest=rest)


def about(seconds: float) -> str:
    """Format a wait: "a few seconds", "about 40 seconds", "about 2 minutes", "about 3 hours"."""
    if seconds <= 5:
        return Words("a few seconds")
    if seconds <= 57:
        return Words("about {seconds} seconds", seconds=5 * math.ceil(seconds / 5))
    minutes = math.ceil(seconds / 60)
    if minutes < 100:
        return Words("about {minutes} minute", "about {minutes} minutes", minutes=minutes)
    return Words("about {hours} hours", hours=math.ceil(minutes / 60))


def place_words(place: Place) -> str:
    """Format a position in the queue: "Next in line", "3rd in line, about 40 seconds"; or say that no worker runs."""
    if not place.has_worker:
        return Words("No worker is running. This check waits until one starts.")
    where = Words("Next in line")
    if place.position > 1:
        where = Words("{place} in line", place=ordinal(place.position))
    return where if place.seconds is None else Words.joined(", ", (where, about(place.seconds)))


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th, 11th, 21st."""
    teen = 10 < number % 100 < 20
    endings = {1: Words("{number}st", number=number), 2: Words("{number}nd", number=number)}
    endings[3] = Words("{number}rd", number=number)
    other = Words("{number}th", number=number)
    return other if teen else endings.get(number % 10, other)


def usage_words(usage: Usage) -> str:
    """Format the cost of a run: "12 calls, 3 cached, 4,210 tokens"; money only where prices are set."""
    words = [Words("{calls:,} call", "{calls:,} calls", calls=usage.calls)]
    if usage.cached:
        words.append(Words("{cached:,} cached", cached=usage.cached))
    words.append(Words("{tokens:,} token", "{tokens:,} tokens", tokens=usage.tokens))
    if usage.cost is not None:
        words.append(Words("cost {cost:,.4f}", cost=usage.cost))
    return Words.joined(", ", words)


def cost_words(usage: Usage) -> str:
    """Format the cost of a hop: "1,210 tokens"; "" where no tokens were counted."""
    return Words("{tokens:,} token", "{tokens:,} tokens", tokens=usage.tokens) if usage.tokens else ""


def claim_only(options: RunOptions) -> bool:
    """Return whether the run asks a language model about the claim alone, without hops or evidence."""
    return options.strategy in BASELINES


def date_words(passage: Passage, claim_date: str | None) -> str:
    """Return the date of publication.

    Without one: "date unknown" for web pages and for claims with a date, else "".
    """
    is_unknown = claim_date is not None or passage.origin is Origin.WEB
    return passage.published or (Words("date unknown") if is_unknown else "")


def web_search_words(options: RunOptions) -> str:
    """Describe the search of the answerer web-search and what it excludes; "" for other answerers."""
    left_out = [] if options.undated else [Words("dated pages only")]
    left_out += [] if options.fact_checks else [Words("no fact-checkers")]
    return Words.joined(", ", (options.search, *left_out)) if options.search else ""


def made_at(imported: Imported) -> str:
    """Return when the check of an imported report began, according to its file."""
    return moment(datetime.fromisoformat(imported.made_at))


def ago(at: datetime) -> str:
    """Format the time since `at`: "just now", "5 min ago", "3 h ago", "2 days ago"."""
    minutes = int((datetime.now(UTC) - at).total_seconds() // 60)
    if minutes < 1:
        return Words("just now")
    if minutes < 60:
        return Words("{minutes} min ago", minutes=minutes)
    if minutes < 48 * 60:
        return Words("{hours} h ago", hours=minutes // 60)
    return Words("{days} days ago", days=minutes // (24 * 60))


def since(at: datetime) -> float:
    return max(0.0, (datetime.now(UTC) - at).total_seconds())


FILTERS = {
    name: each
    for name, each in (vars(report_view) | globals()).items()
    if isfunction(each) and each.__module__.startswith("app.") and not name.startswith("_")
}
"""The filters of the templates: every function of this file and of `report_view`, by name."""
