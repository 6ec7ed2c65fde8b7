"""Questions that follow from the claim's own grammar and from the answers that are already kept.

A claim of several hops names something by a description ("the author of Middlemarch"). A kept answer to the question
behind it is put in its place, and what then stands there is read again: the next description, or, with none left, the
claim's predicate asked of its subject and of whatever that is compared with. The patterns are data (prompts/).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.domain.model import Claim, Context, Hop
from app.modules.prompts import data
from app.modules.question_generator import clauses
from app.modules.question_generator.clauses import Description, is_link
from app.modules.question_generator.denial import affirmed
from app.modules.question_generator.entities import (
    NOTHING_SEEN,
    SeenArticles,
    answer_look_ups,
    answer_text,
    article_look_ups,
    name_look_ups,
)
from app.modules.question_generator.main_clause import main_clause, questions_of, without_opening
from app.modules.question_generator.patterns import filled, patterns, subjects
from app.modules.wording import NAME, asked_for, names, same_question, stems
from app.text.sentences import sentences

# Every description of something unnamed in a sentence, by a pattern or by its clause, with the question for it.


def descriptions_in(text: str) -> list[Description]:
    """Every description of something unnamed in `text`, from the left; of overlapping ones the longest reading."""
    taken = list(_by_pattern(text))
    for each in clauses.descriptions(text):
        inside = [other for other in taken if each.start <= other.start and other.end <= each.end]
        if any(other.start < each.end and each.start < other.end for other in taken if other not in inside):
            continue
        if all(other.end < each.end for other in inside):
            taken = [other for other in taken if other not in inside] + [each]
    return sorted(taken, key=lambda each: each.start)


def _by_pattern(text: str) -> Iterator[Description]:
    """The descriptions that a pattern reads whole; of overlapping ones the first pattern's."""
    taken: list[tuple[int, int]] = []
    for pattern, (ask,) in patterns("descriptions"):
        for match in pattern.finditer(text):
            free = all(match.end() <= start or end <= match.start() for start, end in taken)
            if free and _ends_well(text, match.end()):
                taken.append(match.span())
                yield Description(*match.span(), match.groupdict().get("n", ""), filled(ask, match), True)


def _ends_well(text: str, end: int) -> bool:
    """Whether a phrase may end here: no further noun follows ("the subject of the 2014 | documentary")."""
    if re.search(r"\b(?:who|that|which|whose|where)$", text[:end]):
        return False
    rest = clauses.tokens(text[end:])
    if not rest or not rest[0].is_word:
        return True
    return is_link(rest[0].text) or clauses.is_verb(rest, 0)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A question with how well founded it is: 1 for a description that hides an entity, less for what asks less."""

    text: str
    weight: float


LOOK_UP, CLAUSE, DESCRIPTION, TOLD, ATTRIBUTE, ARTICLE = 1.3, 1.05, 1.0, 0.95, 0.9, 0.85
FOLLOWS, INDEFINITE, PREDICATE, ANSWER, SUBJECT, OTHER, IDENTITY = 0.8, 0.75, 0.7, 0.65, 0.6, 0.4, 0.2
_COMPARES = re.compile(
    r"\b(?:[Bb]oth|neither|either|same|alike|shared?|shares|earlier|later|(?<!named )(?<!called )after|before"
    r"|(?!other|rather)(?:more|less|fewer|[a-z]+er)\b[^.]*? than|as [a-z]+ as)\b"
)
_OF_ANOTHER = re.compile(r"\b(?:who|that|which)(?: (?:was|is|were|are|had|has|later|also))* $")
"""Before a relation that a relative clause says of somebody else than the claim's subject."""
MOST_IN_SUBJECT = 8
"""Words of a subject that an attribute is asked of; a longer one is a description that was not understood."""
UNNAMED = 0.4
"""So much less for a question without a name where the claim has names: nothing says what it is about."""
LATER = 0.05
"""So much less for every further question of one kind, or sentence: the claim's own order breaks ties."""


def resolved_claim(claim: Claim, context: Context) -> str:
    """The claim with kept answers in the place of its descriptions: "Mary Ann Evans was born in ..."."""
    return " ".join(_resolved(sentence, context)[0] for sentence in _sentences(claim))


def compared_in(claim: Claim, context: Context) -> list[str]:
    """What the claim puts side by side, as the kept answers name it; a description that is still open, as it stands."""
    sides: list[str] = []
    for sentence in filter(_COMPARES.search, _sentences(claim)):
        text, found = _resolved(_rewritten(_plain(sentence)), context)
        still_open = [text[each.start : each.end] for each in found if each.definite]
        sides += [side for side in _related(text) if not any(side in each or each in side for each in still_open)]
        sides += still_open
    return list(dict.fromkeys(sides))


def asked_of_sides(claim: Claim, context: Context) -> list[str]:
    """What the claim's comparison asks of each side, two questions and more: "Where was {x} born?"; or none."""
    for sentence in filter(_COMPARES.search, _sentences(claim)):
        asked = _of_attributes(_resolved(_rewritten(_plain(sentence)), context)[0])
        if len(asked) > 1:
            return asked
    return []


def proposals(
    claim: Claim, context: Context, in_vain: bool = False, seen: SeenArticles = NOTHING_SEEN
) -> list[Proposal]:
    """The questions that the claim leaves to ask, sentence by sentence, read with what is kept.

    Some may have been asked already.
    `in_vain`: the last question brought nothing. What the claim names and no kept question asked about is then looked
    up before anything narrower is tried again, because the lead of its article says most. `seen`: the articles that
    were looked at so far, which tell what a name is.
    """
    kinds = [
        (weight - LATER * at, group)
        for at, sentence in enumerate(_sentences(claim))
        for weight, group in _of_sentence(sentence, context)
    ]
    answers, telling = answer_look_ups(claim, context, seen), article_look_ups(claim, context, seen)
    kinds += _told_more(answers, telling if context else [])
    kinds += _look_ups(claim, context, LOOK_UP if in_vain else OTHER if answers else SUBJECT, seen)
    named = _names_something(claim.text)
    return [
        Proposal(question, weight - LATER * at - (0 if not named or _names_something(question) else UNNAMED))
        for weight, group in kinds
        for at, question in enumerate(group)
    ]


def _sentences(claim: Claim) -> list[str]:
    return sentences(" ".join(claim.text.split()))


def _of_sentence(sentence: str, context: Context) -> list[tuple[float, list[str]]]:
    """What one sentence of the claim leaves to ask, by how well founded it is."""
    text, found = _resolved(_rewritten(_plain(sentence)), context)
    definite = [each.question for each in found if each.definite]
    kinds = [(DESCRIPTION, definite), (INDEFINITE, [each.question for each in found if not each.definite])]
    kinds += _of_clauses(text, found, context)
    if not definite:
        attributes = _of_attributes(text)
        kinds.append((ATTRIBUTE, attributes) if attributes else (PREDICATE, _of_predicate(text)))
    return kinds


def _names_something(text: str) -> bool:
    """Whether there is a name that is no number."""
    return any(not name[0].isdigit() for name in names(text))


def _told_more(answers: list[str], telling: list[str]) -> list[tuple[float, list[str]]]:
    """Look-ups of answers and of what has a telling article, which comes before an answer that has none."""
    told, found = set(map(names, telling)), set(map(names, answers))
    doubtful = [each for each in answers if told and names(each) not in told]
    more = [each for each in telling if names(each) not in found]
    return [(ANSWER, [each for each in answers if each not in doubtful]), (OTHER, doubtful), (ARTICLE, more)]


def _look_ups(claim: Claim, context: Context, weight: float, seen: SeenArticles) -> list[tuple[float, list[str]]]:
    """The claim's names: its subject first; later at `weight` what no kept hop has mentioned, the most telling first,
    then the others, and last what a kept answer has named already.
    """
    every = name_look_ups(claim, seen)
    if not context:
        return [(LOOK_UP, every)] if weight == LOOK_UP else [(SUBJECT, every[:1]), (IDENTITY, every[1:])]
    answered = stems(" ".join(answer_text(hop) for hop in context))
    asked = answered.union(*(stems(hop.question.text) for hop in context))
    fresh = [question for question in every if not _all_named(question, asked)]
    telling = article_look_ups(claim, context, seen)
    fresh.sort(key=lambda each: (*telling, each).index(each) + (not any(map(seen.about, names(each)))))
    others = [each for each in every if each not in fresh]
    return [(weight, fresh), (IDENTITY, sorted(others, key=lambda each: _all_named(each, answered)))]


def _all_named(question: str, known: frozenset[str]) -> bool:
    return all(stems(name) <= known for name in names(question))


def _of_clauses(text: str, found: list[Description], context: Context) -> list[tuple[float, list[str]]]:
    """What the claim says of its subject without naming it, and what it says of the answer that was found for that."""
    clause = main_clause(text)
    if (
        clause is None
        or not names(clause.subject)
        or len(clause.subject.split()) > MOST_IN_SUBJECT
        or any(each.start == 0 for each in found)
    ):
        return []
    is_answer = clause.subject in [answer_text(hop) for hop in context]
    definite = tuple(f"Which {each.noun} " for each in found if each.definite)
    asked: list[str] = []
    followed: list[str] = []
    told: list[str] = []
    for each in questions_of(clause, is_answer):
        hop = next((hop for hop in context if same_question(hop.question.text, each.question)), None)
        if hop is None and not each.question.startswith(definite):
            (followed if is_answer else asked).append(each.question)
        of_answer = main_clause(f"{answer_text(hop)} {each.of_answer}") if hop and each.of_answer else None
        if of_answer:
            told += [more.question for more in questions_of(of_answer, is_answer=True)] + _of_predicate(of_answer.text)
    return [(CLAUSE, asked), (TOLD, told), (FOLLOWS, followed)]


def _plain(text: str) -> str:
    """The claim without its full stop, denials, dates in brackets and what stands before its subject."""
    text = affirmed(re.sub(r" ?\([^)]*\d{4}[^)]*\)", "", " ".join(text.split())))
    return without_opening(text.strip(" .!?"))


def _rewritten(text: str) -> str:
    """The claim with what it says of an unnamed doer said in the words of a description: "the one who painted ..."."""
    for pattern, (to,) in patterns("rewrites"):
        if match := pattern.match(text):
            return filled(to, match)
    return text


def _resolved(text: str, context: Context) -> tuple[str, list[Description]]:
    """The claim with kept answers put in for its descriptions, and those that are still open."""
    unused = list(context)
    while True:
        found = descriptions_in(text)
        pairs = ((each, hop) for each in found for hop in unused if _answers(hop, each.question))
        each, hop = next(pairs, (None, None))
        if each is None or hop is None:
            return text, found
        unused.remove(hop)
        text = text[: each.start] + answer_text(hop) + text[each.end :]


def _answers(hop: Hop, question: str) -> bool:
    """Whether a kept hop asked this, in these words or in more."""
    asked = hop.question.text
    return same_question(asked, question) or (
        asked_for(asked) == asked_for(question) and bool(stems(question)) and stems(question) <= stems(asked)
    )


def _of_attributes(text: str) -> list[str]:
    """The claim's relation asked of each thing that it relates: "Where was {x} born?" for both sides."""
    about, unquoted = _related(text), re.sub(r"[\"“][^\"”]*[\"”]", " ", text)
    for entry in data("claim_questions")["attributes"]:
        match = re.search(entry["cue"], unquoted, re.IGNORECASE)
        if match and not _OF_ANOTHER.search(unquoted[: match.start()]):
            word = match.group().split()[0].casefold()
            does = next((verb for role, verb in data("claim_questions")["roles"].items() if role in match.group()), "")
            word = {"written": "wrote"}.get(word, word) if "Who" in entry["asks"][0] else word
            groups = match.groupdict()
            about = [
                x
                for x in about
                if len(re.sub(r"[\"“][^\"”]*[\"”]", "it", x).split()) <= MOST_IN_SUBJECT and not re.match(r"an? ", x)
            ]
            return [ask.format(x=x, word=word, does=does, **groups) for x in about for ask in entry["asks"]]
    return []


def _of_predicate(text: str) -> list[str]:
    """The claim's own predicate as a question about its subject; the first pattern that fits."""
    about, predicate = subjects(text)
    if len(about) > 1:
        predicate = re.sub(r"^(were|are)\b", lambda plural: {"were": "was", "are": "is"}[plural.group()], predicate)
    about = [subject for subject in about if not re.search(r"\b(?:that|who|which)\b| to$", subject)]
    for pattern, asks in patterns("predicates"):
        if match := pattern.match(predicate):
            return [filled(ask, match, s=subject) for subject in about for ask in asks]
    return []


def _related(text: str) -> list[str]:
    """What the claim's relation holds between: its subject or subjects, then what they are compared with."""
    about, predicate = subjects(text)
    partner = rf"\b(?:as|than|before|after) (?P<x>[\"“][^\"”]+[\"”]|(?:the )?{NAME}|[a-z]{{3,}}(?=$))"
    partners = [match["x"] for match in re.finditer(partner, predicate)]
    return about + [name for name in partners if not re.match(r"(?:the )?\d", name)]
