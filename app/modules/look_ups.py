"""Questions that look something up: who or what is this? The lead of an article answers them."""

from __future__ import annotations

import re
from functools import lru_cache

from app.modules.clauses import is_link, is_person, is_verb, tokens
from app.modules.main_clause import DEMONYM, main_clause
from app.modules.prompts import data
from app.modules.wording import NAME, asked_for, names, stems
from app.reasoning.types import Claim, Context

_MONTHS = "January February March April May June July August September October November December".split()


def answer_look_ups(context: Context) -> list[str]:
    """Who or what each kept answer is that consists of names, the latest answer first."""
    questions = []
    for hop in reversed(context):
        person = asked_for(hop.question.text) == "person" or _asks_which_person(hop.question.text)
        answer = hop.answer.text if hop.answer and hop.answer.text else ""
        for name in named_in(answer):
            questions.append(f"{'Who was' if person else 'What is'} {with_article(name, answer)}?")
    return questions


def named_in(answer: str) -> tuple[str, ...]:
    """The names that an answer consists of: one, or several in a list; none for an answer that says anything else."""
    found = names(answer)
    rest = answer
    for name in sorted(found, key=len, reverse=True):
        rest = rest.replace(name, " ")
    plain = re.sub(r"\b(?:and|the|The)\b|[\W\d]", "", rest)
    return () if plain else tuple(name for name in found if not re.search(r"\d", name) and not DEMONYM.fullmatch(name))


def name_look_ups(claim: Claim) -> list[str]:
    """Who or what each name in the claim is, the claim's subject first."""
    text = " ".join(claim.text.split())
    every = (_whole(name, text) for name in names(text) if len(name) > 1 and not name[0].isdigit())
    about = [name for name in every if name.split()[0] not in _MONTHS and not _is_adjective(name, text)]
    clause = main_clause(text)
    first = [name for name in about if clause and name in clause.subject]
    return [_look_up(name, text) for name in first + [name for name in about if name not in first]]


def _whole(name: str, text: str) -> str:
    """A title whose small words are no part of a name elsewhere: "Up at the Villa", "The Light in the Piazza"."""
    opening = rf"(?:\b(?:The|film|movie|novel|album|song|book|series|show) |^){re.escape(name)}"
    longer = re.match(rf".*?{opening}((?: (?:at|with|in|on|a|to|from))(?: the| a)? {NAME})", text)
    return f"{name}{longer[1]}" if longer and not looks_like_a_person(name) else name


def _is_adjective(name: str, text: str) -> bool:
    """Whether a name only says more about a noun ("British actor", "the Los Angeles resident"), or is a month."""
    before_noun = _noun_after(name, text) != ""
    return bool(DEMONYM.fullmatch(name)) or (before_noun and bool(re.search(rf"\b[Tt]he {re.escape(name)}", text)))


def _noun_after(name: str, text: str) -> str:
    """The noun that belongs to a name, in lower case: "therapy" of "Morita therapy"; or nothing."""
    after = re.search(rf"(?<![\"“]){re.escape(name)} ([a-z][\w-]*)", text)
    if after is None or is_link(after[1]) or is_verb(tokens(f"X {after[1]}"), 1):
        return ""
    return after[1]


def _look_up(name: str, text: str) -> str:
    """ "Who was" for what looks like a person's name where the claim speaks of a person; else "What is"."""
    titled = name.split(" ", 1)
    if len(titled) == 2 and is_person(titled[0]) and " " in titled[1]:
        return f"Who was {titled[1]}?"
    whole = f"{with_article(name, text)} {_noun_after(name, text)}".strip()
    return f"{'Who was' if whole == name and _is_one(name, text) else 'What is'} {whole}?"


def _is_one(name: str, text: str) -> bool:
    """Whether the claim speaks of `name` as of a person."""
    facts = data("claim_questions")
    if re.search(rf"[\"“]{re.escape(name)}", text):
        return False
    said = re.search(
        rf"{re.escape(name)},? (?:(?:is|was) )?(?:an?|the) ([\w -]+?)(?: (?:who|that|of|in|from)\b|[.,]|$)", text
    )
    if said:
        return any(is_person(word) for word in said[1].split())
    before = re.search(rf"([a-z-]+),? {re.escape(name)}", text)
    if before and is_person(before[1]):
        return True
    if before and re.fullmatch(facts["works"], before[1]):
        return False
    cues = "|".join(data("clauses")["person_verbs"])
    cued = re.search(rf"{facts['person_cues']}|\b(?:{facts['persons']}|{cues})\b", text)
    return bool(cued) and looks_like_a_person(name)


def _asks_which_person(question: str) -> bool:
    """Whether "Which ..." is followed by a noun for a person: "Which American actor played ...?" """
    words = question.split()[1:6] if question.startswith("Which ") else []
    return any(is_person(word) for word in words)


def with_article(name: str, text: str) -> str:
    """ "the Nile" where the text says so."""
    return f"the {name}" if re.search(rf"\b[Tt]he {re.escape(name)}", text) else name


def looks_like_a_person(subject: str) -> bool:
    """Two to four capitalised words and no noun for a work or a place: a name as people bear it."""
    words = subject.split()
    return 2 <= len(words) <= 4 and bool(re.fullmatch(NAME, subject)) and not stems(subject) & _thing_stems()


@lru_cache
def _thing_stems() -> frozenset[str]:
    return stems(data("claim_questions")["works"].replace("|", " ") + " " + data("claim_questions")["no_persons"])
