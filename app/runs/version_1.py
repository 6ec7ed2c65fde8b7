"""Read events of schema version 1 and older exports, whose reasons are sentences."""

from __future__ import annotations

import re
from dataclasses import replace

from app.domain import events
from app.domain.messages import Code, Text
from app.domain.model import Sentence

_CODES = {
    "waiting for its turn": Code.WAITING,
    "The questioner holds that the answers show the claim to be true.": Code.CALLED_TRUE,
    "The questioner holds that the answers show the claim to be false.": Code.CALLED_FALSE,
    "The claim verifier was satisfied.": Code.SATISFIED,
    "Its owner asked for a conclusion from what was there.": Code.ASKED_BY_OWNER,
    "Its owner stopped this check.": Code.STOPPED_BY_OWNER,
    "Its owner left it out.": Code.LEFT_OUT,
}
_STALLED = re.compile(r"(\d+) hops in a row brought nothing\.")
_CUT_OFF = re.compile(r"The check was cut off (?:(\d+) times and is not .*|and cannot go on\. (.*))", re.DOTALL)
_LIMIT = re.compile(r".* limit of .* (?:for one check|a day) was reached\.")
_HOP = re.compile(
    r"^Hop(?= \d)|\bhop(?= \d+(?:\.$| once more|, in other words)| was done| did\.|s was reached|s in a row|s say why)"
)
"""Finds "hop" beside our own words, not in the answers that a reason quotes."""
_QUOTATION = re.compile(r"[^“]*: “(.*)”", re.DOTALL)


def with_codes(event: events.Event) -> events.Event:
    """Return the event with codes in place of sentences that programs compare, and the words of today in others."""
    match event:
        case events.PhaseEntered(phase):
            return replace(event, phase=coded(phase))
        case events.HopKept(_, reason) | events.HopSetAside(_, reason) | events.HopInterrupted(_, reason):
            return replace(event, reason=coded(reason))
        case events.SufficiencyJudged(judgement):
            return replace(event, judgement=replace(judgement, reason=coded(judgement.reason)))
        case events.QuestioningEnded(reason, early):
            return events.QuestioningEnded(coded(reason), early or is_early(reason))
        case events.RunFailed(message) | events.RunInterrupted(message):
            return replace(event, message=coded(message))
        case events.VerdictReached(verdict):
            return events.VerdictReached(replace(verdict, rationale=tuple(map(with_quote, verdict.rationale))))
    return event


def coded(text: Text) -> Text:
    """Return the code of a sentence if programs compare it, else the sentence with steps in place of hops."""
    words = str(text)
    if code := _CODES.get(words):
        return code()
    if stalled := _STALLED.fullmatch(words):
        return Code.STALLED(hops=int(stalled[1]))
    if cut_off := _CUT_OFF.fullmatch(words):
        times, problem = cut_off.groups()
        return Code.CUT_OFF_OFTEN(times=int(times)) if times else Code.CUT_OFF_FOR_GOOD(problem=problem)
    return _HOP.sub(lambda found: "Step" if found[0] == "Hop" else "step", words)


def is_early(reason: Text) -> bool:
    """Return whether the questioning ended by the owner's command or a limit on time, calls, tokens or cost."""
    return coded(reason) == Code.ASKED_BY_OWNER() or _LIMIT.fullmatch(str(reason)) is not None


def with_quote(sentence: Sentence) -> Sentence:
    found = _QUOTATION.fullmatch(str(sentence.text))
    return replace(sentence, quote=found[1]) if found else sentence
