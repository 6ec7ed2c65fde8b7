"""What a sentence says of its subject, as questions: "Which film did Oliver Boot have a role in?"

A claim whose subject has a name hides something else behind a description without a name ("a professional boxer that
...") or a passive ("was owned by the financier that ..."). The question asks for that; with the answer there, what the
description says of it is asked of the answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.modules.prompts import data
from app.modules.question_generator.clauses import Token, is_person, is_verb, tokens

_BE = ("is", "was", "are", "were")
_PREPOSITION = re.compile(r"(?:in|on|at|for|from|with|of|to|as|against|under|by|over)$")
_STARRING = re.compile(r"(?:co-)?(?:stars?|starred|starring|features?|featured)$")
_PARTICIPLE = r"(?:co-)?[a-z]+(?:ed|wn|ten|ght|ung|un|ade|eld|ven|born|rn|ast|et)"
_LEADING = re.compile(r"(?:Before|After|When|While|During|In|Of|Since|At|Born|Featuring)\b[^,]*, ")
DEMONYM = re.compile(
    r"(?:[A-Z][a-z]+(?:an|ish|ese)|French|Dutch|Czech|Greek|Swiss|Welsh|Israeli|US|UK|Iraqi|Pakistani|Thai)(?:-[\w]+)?$"
    r"|[A-Z][a-z]+-(?:based|language|born)$"
)
"""An adjective that is written like a name: "British", "Tamil-language"."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about the main clause. `of_answer` is what the claim says of the answer, as a predicate, or ""."""

    question: str
    of_answer: str = ""


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence cut in two: the subject, and the words of the predicate from the finite verb on."""

    subject: str
    predicate: tuple[Token, ...]
    text: str

    @property
    def verb(self) -> str:
        """The finite verb."""
        return self.predicate[0].text

    def said(self, first: int, last: int | None = None) -> str:
        """The predicate's words [first, last) as they stand in the text."""
        part = self.predicate[first:last]
        return self.text[part[0].start : part[-1].end] if part else ""


def main_clause(text: str) -> Clause | None:
    """The sentence's subject and predicate; None where no verb is found after a subject."""
    text = _of_subject_itself(without_opening(text.strip(" .!?")))
    words = tokens(text)
    for at in range(1, len(words)):
        between_commas = sum(word.text == "," for word in words[:at]) % 2
        if is_verb(words, at) and not between_commas and not _is_relative(words, at):
            subject = re.sub(r",(?! [A-Z][\w-]+ ?$).*", "", text[: words[at].start]).strip()
            subject = re.sub(r"^(?:The|An?)\b", lambda article: article.group().lower(), subject)
            subject = re.sub(r" (?:also|both|not|later|formerly|originally|[a-z]+ly)$", "", subject)
            return Clause(subject, tuple(words[at : _second_predicate(words, at)]), text)
    return None


def without_opening(text: str) -> str:
    """The sentence without what stands before its subject: "After his suspension, ..."."""
    rest = _LEADING.sub("", text, count=1)
    words = tokens(rest)
    return rest if any(is_verb(words, at) for at in range(1, len(words))) else text


def _of_subject_itself(text: str) -> str:
    """ "Ai-Ling Lee is a sound editor who worked on ..." says of Ai-Ling Lee that she worked on it."""
    told = re.match(
        r"((?:[A-Z][\w.’'-]*,? ?)+) (?:is|was) (?:an?|the) (?:[\w’'/-]+ ){1,6}?(?:who|that) (?=[a-z])(?!was|is)(.+)",
        text,
    )
    return f"{told[1]} {told[2]}" if told and is_verb(tokens(f"x {told[2]}"), 1) else text


def _is_relative(words: list[Token], at: int) -> bool:
    """Whether the verb belongs to a relative clause or is a participle that a noun carries."""
    if any(word.text in ("who", "that", "which", "whose", "where", "whom") for word in words[:at]):
        return True
    after = words[at + 1].text if at + 1 < len(words) else ""
    return words[at].text.endswith("ed") and after == "by"


def _second_predicate(words: list[Token], at: int) -> int:
    """Where "and wrote ..." begins, or the end."""
    joined = (i for i in range(at + 1, len(words) - 1) if words[i].text == "and" and is_verb(words, i + 1))
    return next(joined, len(words))


def base_of(verb: str) -> str:
    """The verb as it stands after "did": "worked" gives "work", "had" gives "have"."""
    known = data("clauses")["past"] | data("claim_questions")["past"]
    if verb in known:
        return known[verb]
    if verb.endswith("ied") or verb.endswith("ies"):
        return f"{verb[:-3]}y"
    if verb.endswith("ed"):
        stem = verb[:-2]
        if re.search(r"(?:[^aeiou][aeiou])([bdgmnprt])\1$", stem):
            return stem[:-1]
        return f"{stem}e" if _LOST_E.search(stem) and not _WHOLE.search(stem) else stem
    return re.sub(r"(?<=[sxzh])es$|(?<=[^s])s$", "", verb)


_LOST_E = re.compile(
    r"(?:[cvzu]|(?<!s)s|[rdia]g|(?:len|an|un)g|(?:[^aeiou]|e)at|[tid]ut|[^o]ir|qu|[aeiou]dl|ttl|[bcdfgpt]l"
    r"|[aiu]k|[aiou]d|ap|in|um|ar|ur)$"
)
"""Stems that have lost an e before "ed": produc(ed), reviv(ed), challeng(ed), relat(ed), tak(en)."""
_WHOLE = re.compile(r"(?:ain|oin|own|eak|ook|ark|alk|ear|oar|ead|oad|each|atch|ick|ack|eum|aw|aid|it|gain|our)$")
"""Stems that look so and have lost nothing: remain(ed), join(ed), appear(ed)."""


def questions_of(clause: Clause, is_answer: bool = False) -> list[Asked]:
    """The questions about `clause`, whose subject has a name, best first. `is_answer`: a kept answer is its subject."""
    verb, subject = clause.verb, clause.subject
    if verb in _BE:
        return _of_passive(clause)
    if _STARRING.match(verb) and (found := _hidden(clause)) and found[0] == 1 and is_person(found[1]):
        return [Asked(f"Who {verb if verb.endswith('ed') else 'stars'} in {subject}?", found[2])]
    does = "does" if verb.endswith("s") and verb not in ("was", "has") else "did"
    if found := _hidden(clause):
        first, noun, of_answer = found
        between = clause.said(1, first)
        wh = "Who" if is_person(noun) and not between else f"Which {noun}"
        return [Asked(" ".join(f"{wh} {does} {subject} {base_of(verb)} {between}".split()) + "?", of_answer)]
    return _of_named_object(clause, does) if is_answer else []


def _of_passive(clause: Clause) -> list[Asked]:
    """What a form of "be" with a participle or a place leaves unnamed: "Which film was Tim O'Kelly cast in?" """
    words = [word.text for word in clause.predicate]
    at = 1
    while at < len(words) and re.fullmatch(r"(?:also|both|later|formerly|originally|first|[a-z]+ly)", words[at]):
        at += 1
    done = at + 1 < len(words) and re.fullmatch(_PARTICIPLE, words[at])
    if done and words[at + 1] == "by":
        return _of_doer(clause, at)
    found = _hidden(clause)
    if found and (done or words[at] in ("in", "on", "at")):
        first, noun, of_answer = found
        return [Asked(f"Which {noun} {clause.verb} {clause.subject} {clause.said(1, first)}?", of_answer)]
    return []


def _of_doer(clause: Clause, at: int) -> list[Asked]:
    """ "Who was Indian Mound Cottage owned by?", when the claim does not name the owner."""
    noun = _noun_at(clause, at + 2)
    if noun is None:
        return []
    by = "Who" if is_person(noun[0]) else f"Which {noun[0]}"
    return [Asked(f"{by} {clause.verb} {clause.subject} {clause.said(1, at + 1)} by?", noun[2])]


def _of_named_object(clause: Clause, does: str) -> list[Asked]:
    """ "Who did Harry Morgan play in Kentucky Jones?": the named object, asked of an answer."""
    words, end = clause.predicate, 1
    while end < len(words) and (words[end].names or words[end].text in ("of", "the", "and")):
        end += 1
    if end == 1:
        link = words[1].text if len(words) > 2 else ""
        infinitive = link == "to" and words[2].is_word and words[2].text not in ("a", "an", "the")
        when = len(words) > 2 and words[2].text[0].isdigit()
        if _PREPOSITION.match(link) and link != "as" and not infinitive and not when:
            return [Asked(f"What {does} {clause.subject} {base_of(clause.verb)} {words[1].text}?")]
        return []
    rest = clause.said(end)
    if rest and not _PREPOSITION.match(words[end].text):
        return []
    return [Asked(" ".join(f"What {does} {clause.subject} {base_of(clause.verb)} {rest}".split()) + "?")]


def _hidden(clause: Clause) -> tuple[int, str, str] | None:
    """The first thing in the predicate that is described and not named: its index, its noun, what is said of it."""
    for at in range(1, len(clause.predicate)):
        if _bars(clause.predicate, at):
            return None
        found = None if clause.predicate[at - 1].text == "as" else _noun_at(clause, at)
        if found and (found[1] in ("", ",", "about") or found[2]):
            return at, found[0], found[2]
    return None


def _bars(words: tuple[Token, ...], at: int) -> bool:
    """Whether another clause begins here, whose nouns are not the main verb's."""
    infinitive = words[at].text == "to" and at + 1 < len(words) and words[at + 1].text not in ("a", "an", "the")
    return infinitive or words[at].text in (",", "because", "who", "that", "which", "whom", "where", "whose")


def _noun_at(clause: Clause, at: int) -> tuple[str, str, str] | None:
    """The nameless noun phrase that begins at `at`: the noun, the word after it, and what is said of it."""
    words = clause.predicate
    if at >= len(words) or words[at].text not in ("a", "an", "the"):
        return None
    end = at + 1
    while end < len(words) and _goes_on(words, end, at):
        end += 1
    if end == at + 1 or not words[end - 1].is_word:
        return None
    after = words[end].text if end < len(words) else ""
    if any(word.names for word in words[end : end + (2 if after == "," else 1)]):
        return None  # it has a name: "the band, "The Kabalas""
    last = end - 1 if end > at + 2 and re.match(r"[a-z]+ly$", words[end - 1].text) else end
    return clause.said(at + 1, last), after, _said_of(clause, end)


def _goes_on(words: tuple[Token, ...], end: int, at: int) -> bool:
    word = words[end]
    if word.text in (
        "who",
        "that",
        "which",
        "where",
        "whose",
        "and",
        "or",
        "because",
        "when",
        "while",
    ) or _PREPOSITION.match(word.text):
        return False
    if end > at + 1 and re.fullmatch(r"(?:co-)?[a-z]{2,}ed|born|held|written|made|known|about|named", word.text):
        return False
    return word.is_word or bool(DEMONYM.match(word.text)) or (word.text.isdigit() and end == at + 1)


def _said_of(clause: Clause, at: int) -> str:
    """What the description's clause says of the thing, as a predicate: "challenged for the title"."""
    words = clause.predicate
    if at + 1 >= len(words):
        return ""
    said = re.sub(r",.*", "", clause.said(at))
    if words[at].text in ("who", "that", "which") and is_verb([*words], at + 1):
        return said.split(" ", 1)[1]
    return f"was {said}" if re.fullmatch(r"(?:co-)?[a-z]{2,}ed|born|held|written|made|known", words[at].text) else ""
