"""Questions that follow from the claim's own grammar and from the answers that are already kept.

A claim of several hops names something by a description ("the author of Middlemarch"). A kept answer to the question
behind it is put in its place, and what then stands there is read again: the next description, or, with none left, the
claim's predicate asked of its subject and of whatever that is compared with. The patterns are data (prompts/).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from app.modules.prompts import data
from app.modules.wording import NAME, asked_for, names, same_question, stems
from app.reasoning.types import Claim, Context, Hop


@dataclass(frozen=True, slots=True)
class Proposal:
    """A question with how well founded it is: 1 for a description that hides an entity, less for what asks less."""

    text: str
    weight: float


LOOK_UP, DESCRIPTION, ATTRIBUTE, PREDICATE, IDENTITY = 1.3, 1.0, 0.9, 0.7, 0.2
LATER = 0.05
"""So much less for every further question of one kind: the claim's own order breaks ties."""


def resolved_claim(claim: Claim, context: Context) -> str:
    """The claim with kept answers in the place of its descriptions: "Mary Ann Evans was born in ..."."""
    return _resolved(claim.text.strip(), context)[0]


def proposals(claim: Claim, context: Context, in_vain: bool = False) -> list[Proposal]:
    """The questions that the claim leaves to ask, read with what is kept; some may have been asked already.

    `in_vain`: a question was asked and nothing is kept. What the claim names is then looked up before anything
    narrower is tried again, because the lead of its article says most.
    """
    text, found = _resolved(_rewritten(claim.text.strip(" .!?")), context)
    kinds = [(DESCRIPTION, found)]
    if not found:
        attributes = _of_attributes(text)
        kinds.append((ATTRIBUTE, attributes) if attributes else (PREDICATE, _of_predicate(text)))
    kinds.append((LOOK_UP if in_vain else IDENTITY, _of_identity(claim, context)))
    return [Proposal(question, weight - LATER * at) for weight, group in kinds for at, question in enumerate(group)]


def _rewritten(text: str) -> str:
    """The claim with what it says of an unnamed doer said in the words of a description: "the one who painted ..."."""
    for pattern, (to,) in _patterns("rewrites"):
        if match := pattern.match(text):
            return _filled(to, match)
    return text


def _resolved(text: str, context: Context) -> tuple[str, list[str]]:
    """The claim with kept answers put in for its descriptions, and the questions of those that are still open."""
    unused = list(context)
    while True:
        matches = _descriptions(text)
        pairs = ((match, hop) for match, question in matches for hop in unused if _answers(hop, question))
        match, hop = next(pairs, (None, None))
        if match is None or hop is None:
            return text, [question for _, question in matches]
        unused.remove(hop)
        text = text[: match.start()] + _answer_text(hop) + text[match.end() :]


def _descriptions(text: str) -> list[tuple[re.Match[str], str]]:
    """Every description of something unnamed in `text` with its question; overlapping ones: the first pattern's."""
    taken: list[tuple[re.Match[str], str]] = []
    for pattern, (ask,) in _patterns("descriptions"):
        for match in pattern.finditer(text):
            if all(match.end() <= other.start() or other.end() <= match.start() for other, _ in taken):
                taken.append((match, _filled(ask, match)))
    return sorted(taken, key=lambda pair: pair[0].start())


def _filled(ask: str, match: re.Match[str], **more: str) -> str:
    """The question with the match's groups in it, and the words that depend on them."""
    facts = data("claim_questions")
    parts = {name: value for name, value in match.groupdict().items() if value} | more
    person_noun = re.compile(rf"\b(?:{facts['persons']})\b")
    parts["does"] = facts["roles"].get(parts.get("role", "").casefold(), "")
    parts["who"] = "Who was" if person_noun.search(parts.get("n", "")) else "What is"
    parts["who_complement"] = "Who" if person_noun.search(parts.get("c", "")) else "What"
    done_by_person = re.match(rf"(?:{facts['by_persons']})\b", parts.get("p", "") or parts.get("vp", ""))
    parts["whom"] = "Who" if done_by_person or _looks_like_a_person(parts.get("s", "")) else "What"
    parts["past"] = facts["participles"].get(parts.get("p", ""), parts.get("past") or parts.get("p", ""))
    parts["base"] = facts["past"].get(parts.get("past", ""), "")
    return ask.format(**parts)


def _looks_like_a_person(subject: str) -> bool:
    """Two to four capitalised words and no noun for a work or a place: a name as people bear it."""
    words = subject.split()
    return 2 <= len(words) <= 4 and bool(re.fullmatch(NAME, subject)) and not stems(subject) & _thing_stems()


@lru_cache
def _thing_stems() -> frozenset[str]:
    return stems(data("claim_questions")["works"].replace("|", " ") + " " + data("claim_questions")["no_persons"])


def _answers(hop: Hop, question: str) -> bool:
    """Whether a kept hop asked this, in these words or in more."""
    asked = hop.question.text
    return same_question(asked, question) or (
        asked_for(asked) == asked_for(question) and bool(stems(question)) and stems(question) <= stems(asked)
    )


def _of_attributes(text: str) -> list[str]:
    """The claim's relation asked of each thing that it relates: "Where was {x} born?" for both sides."""
    about = _related(text)
    for entry in data("claim_questions")["attributes"]:
        if match := re.search(entry["cue"], text, re.IGNORECASE):
            word = match.group().split()[0].casefold()
            does = next((verb for role, verb in data("claim_questions")["roles"].items() if role in match.group()), "")
            word = {"written": "wrote"}.get(word, word) if "Who" in entry["asks"][0] else word
            groups = match.groupdict()
            return [ask.format(x=x, word=word, does=does, **groups) for x in about for ask in entry["asks"]]
    return []


def _of_predicate(text: str) -> list[str]:
    """The claim's own predicate as a question about its subject; the first pattern that fits."""
    subjects, predicate = _subjects(text)
    if len(subjects) > 1:
        predicate = re.sub(r"^(were|are)\b", lambda plural: {"were": "was", "are": "is"}[plural.group()], predicate)
    for pattern, asks in _patterns("predicates"):
        if match := pattern.match(predicate):
            return [_filled(ask, match, s=subject) for subject in subjects for ask in asks]
    return []


def _of_identity(claim: Claim, context: Context) -> list[str]:
    """Who or what the last answer is, then every name in the claim: the lead of its article says."""
    facts = data("claim_questions")
    person = bool(re.search(rf"{facts['person_cues']}|\b(?:{facts['persons']})\b", claim.text))
    about = [(name, asked_for(hop.question.text)) for hop in reversed(context) for name in names(_answer_text(hop))]
    for name in names(claim.text):
        is_one = person and _looks_like_a_person(_with_article(name, claim.text))
        about.append((name, "person" if is_one else ""))
    return [
        f"Who was {name}?" if kind == "person" else f"What is {_with_article(name, claim.text)}?"
        for name, kind in about
        if not re.search(r"\d", name)
    ]


def _with_article(name: str, text: str) -> str:
    """ "the Nile" where the text says so."""
    return f"the {name}" if re.search(rf"\b[Tt]he {re.escape(name)}", text) else name


def _related(text: str) -> list[str]:
    """What the claim's relation holds between: its subject or subjects, then what they are compared with."""
    subjects, predicate = _subjects(text)
    partner = rf"\b(?:as|than|before|after) (?P<x>(?:the )?{NAME}|[a-z]{{3,}}(?=$))"
    partners = [match["x"] for match in re.finditer(partner, predicate)]
    return subjects + [name for name in partners if not re.match(r"(?:the )?\d", name)]


def _subjects(text: str) -> tuple[list[str], str]:
    """The claim's subjects, as they stand inside a sentence, and its predicate; none where their bounds are unclear."""
    subject, predicate = _split(text)
    if not re.match(r"(?:were|are|have|share|lie|do|did|both)\b", predicate):
        return [_lowered(subject)] if subject else [], predicate
    parts = [part for part in re.split(r",? and |, ", re.sub(r"^[Bb]oth ", "", subject)) if part]
    if len(parts) > 2 and "," not in subject:
        return [], predicate  # "Pride and Prejudice and Emma": nothing tells where one name ends
    return [_lowered(part) for part in parts], predicate


def _split(text: str) -> tuple[str, str]:
    """The claim's subject and the rest from its first verb on, without the full stop; ("", text) when unclear."""
    text = text.rstrip(" .!")
    name = re.match(rf"(?:[Tt]he |[Aa]n? |[Bb]oth )?{NAME}", text)
    start = 0 if name is None else name.end()
    verb = re.compile(rf"(?<= )(?:{_verbs()})\b").search(text, start)
    if verb is None or re.search(r"\b(?:who|whose|that|which|where)\b", text[: verb.start()]):
        return "", text
    subject = re.sub(rf"^({NAME})(?: with|,) .*", r"\1", text[: verb.start()].strip(" ,"))
    return subject, text[verb.start() :]


def _verbs() -> str:
    facts = data("claim_questions")
    return "|".join((facts["verbs"], facts["past_with_object"], facts["plural_verbs"], *facts["past"]))


def _lowered(subject: str) -> str:
    """A subject as it stands inside a sentence: a leading article loses its capital."""
    return re.sub(r"^(The|A|An)\b", lambda match: match.group().lower(), subject)


def _answer_text(hop: Hop) -> str:
    return (hop.answer.text or "").strip(" .") if hop.answer else ""


@lru_cache
def _patterns(group: str) -> tuple[tuple[re.Pattern[str], list[str]], ...]:
    """The patterns of one group, compiled, with X, ROLES, PERSONS and NOROLES filled in."""
    facts = data("claim_questions")
    plain = rf"(?:the |an? )?[a-z][\w-]*(?: [a-z][\w-]*){{0,3}}?(?= (?:{facts['verbs']})\b|[’']s |[.,;]|$)"
    singular = r"(?= (?:was|is|has|died|lived|wrote)\b)"
    named = rf"(?:[Tt]he )?(?:(?:{facts['works']}) )?(?:the )?[\"“]?{NAME}(?: and (?:the )?{NAME}{singular})?[\"”]?"
    things = rf"(?:{named}|{plain})"
    names_for = {
        "NOROLES": rf"(?:{facts['no_roles']})\b",
        "ROLES": "|".join(facts["roles"]),
        "PERSONS": facts["persons"],
        "PASTS": facts["past_with_object"],
        "PAST": "|".join(facts["past"]),
        "PLURAL": facts["plural_verbs"],
        "PARTICIPLE": r"[a-z]+(?:ed|en|wn|lt|ght|nt|ung|un|ade|eld|aid|ut)",
    }
    compiled = []
    for entry in facts[group]:
        pattern = entry["pattern"].replace("(?P<x>X)", f"(?P<x>{things})")
        for name, value in names_for.items():
            pattern = pattern.replace(name, value)
        compiled.append((re.compile(rf"(?:(?<=\W)|^){pattern}"), entry["asks"]))
    return tuple(compiled)
