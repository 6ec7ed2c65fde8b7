"""Questions that look something up: who or what is this? The lead of an article answers them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.domain.model import Claim, Context, Hop, Passage
from app.modules.prompts import data
from app.modules.question_generator.clauses import (
    MONTHS,
    is_link,
    is_person,
    is_verb,
    looks_like_a_person,
    tokens,
    whole_names,
)
from app.modules.question_generator.main_clause import DEMONYM, main_clause
from app.modules.wording import NAME, asked_for, bare_title, names, normalised, stems

# The articles that the searches so far have shown: how a name is written whole, whose it is, what it would tell.
#
# A claim's words alone do not say where a title ends ("the film Headless Body in Topless Bar"), whether a name is a
# person's, or which of several names has what is still open. The passages that were looked at for earlier questions do:
# a title that stands in the claim is one name, and its article's lead says the rest.

_OPENING = r"^(?:(?! (?:is|was|are|were) )[^(]|\([^()]*\)){2,160}?"
_BORN = re.compile(rf"{_OPENING}\((?:[^()]*[ ;,])?(?:born|née|died)\b|{_OPENING}\([^()]*\d{{4}} ?[–-] ?[^()]*\d{{4}}\)")
_IS = re.compile(
    r"\b(?:is|was) (?:an?|the|one of the) ([\w’' /-]+?)"
    r"(?= (?:who|that|which|of|in|from|for|at|by|and|about|set|based|directed|written|starring)\b|[.,;(]|$)"
)
LEAD = 300
"""Characters of an article in which it says what it is about."""
FEWEST_SHARED = 2
"""An article with so many of the claim's open words is worth reading for them."""


@dataclass(frozen=True, slots=True)
class SeenArticles:
    """The first passage of every article that was looked at, by its title without what tells it from namesakes."""

    passages: tuple[Passage, ...] = ()

    @classmethod
    def of(cls, hops: Iterable[Hop]) -> SeenArticles:
        """Those of the hops' answers, in the order in which they came; "It" and "The Who" are words in any text."""
        found: dict[str, Passage] = {}
        for hop in hops:
            if hop.answer:
                cited = (hop.answer.cited.passage,) if hop.answer.cited else ()
                for passage in (*cited, *hop.answer.retrieved):
                    found.setdefault(_key(bare_title(passage.title)), passage)
        return cls(tuple(passage for key, passage in found.items() if stems(key)))

    def names_in(self, text: str) -> list[str]:
        """The titles that stand in `text` as names, as it writes them; none inside a longer one."""
        spans: list[tuple[int, int]] = []
        for title in sorted((_bare(passage) for passage in self.passages), key=len, reverse=True):
            for at in re.finditer(rf"(?<![\w’'-]){re.escape(title)}(?![\w-])", text, re.IGNORECASE):
                free = all(at.end() <= start or end <= at.start() for start, end in spans)
                if free and not at.group()[0].islower() and not _is_part(text, at, title):
                    spans.append(at.span())
        return [text[start:end] for start, end in sorted(spans)]

    def about(self, name: str) -> Passage | None:
        """The article on what bears this name, or on who bears it with a name more or less: "Derek George Jacobi"."""
        key, words = _key(name), normalised(name).split()
        exact = next((each for each in self.passages if _key(_bare(each)) == key), None)
        if exact or len(words) < 2:
            return exact
        same = (each for each in self.passages if _one_person(normalised(_bare(each)).split(), words))
        return next((each for each in same if is_on_person(each)), None)

    def rank(self, name: str) -> int:
        """The place of the article on `name` among all that were seen; behind them where there is none."""
        article = self.about(name)
        return self.passages.index(article) if article else len(self.passages)

    def is_person(self, name: str) -> bool | None:
        """Whether the article on `name` is on a person; None where no article says so."""
        article = self.about(name)
        return is_on_person(article) if article else None


def is_on_person(article: Passage) -> bool | None:
    """Whether an article's lead tells of a person, by a birth or what they are; None where it says neither."""
    lead = article.text[:LEAD]
    if _BORN.search(lead):
        return True
    said = _IS.search(lead)
    if said is None:
        return None
    return any(is_person(word) or word.endswith("woman") for word in said[1].split()[-2:])


def answer_text(hop: Hop) -> str:
    """A kept answer as it is put into the claim: in quotation marks where it is a title with small words in it."""
    text = (hop.answer.text or "").strip(" .") if hop.answer else ""
    text = text.replace('"', "") if text.count('"') % 2 else text
    titled = hop.answer and any(text == bare_title(each.title) for each in hop.answer.retrieved)
    return f'"{text}"' if titled and not re.fullmatch(NAME, text) else text


def told_of(open_words: frozenset[str], article: Passage) -> int:
    """How many of the words that are still open an article's passage has, its own name left out."""
    return len((open_words - stems(_bare(article))) & stems(article.text))


def open_words(claim: str, context: Sequence[Hop]) -> frozenset[str]:
    """The claim's stems that no kept answer and no cited passage has."""
    known: frozenset[str] = frozenset()
    for hop in context:
        if hop.answer:
            known |= stems(hop.answer.text or "")
            known |= stems(hop.answer.cited.passage.text) if hop.answer.cited else frozenset()
    return stems(claim) - known


def _one_person(title: list[str], name: list[str]) -> bool:
    """Whether one has all words of the other and both end alike: "derek jacobi", "sir derek george jacobi"."""
    return len(title) > 1 and title[-1] == name[-1] and (set(title) <= set(name) or set(name) <= set(title))


def _is_part(text: str, at: re.Match[str], title: str) -> bool:
    """Whether a title of one word is only a piece of a longer name ("Polka" in "Polka Dot Door")."""
    before, after = text[: at.start()], text[at.end() :]
    beside = re.match(r" [A-Z]", after) or re.search(r"(?:^|[\w,] )[A-Z][\w’'-]* $", before)
    return " " not in title and beside is not None


def _bare(passage: Passage) -> str:
    return re.sub(r"^[Tt]he ", "", bare_title(passage.title))


def _key(name: str) -> str:
    return normalised(name).removeprefix("the ")


_KIN = ("family", "brothers", "sisters")


_MODAL = re.compile(r"(?:can|could|will|would|may|might|must|should|shall)")
_LOOKED_UP = re.compile(r"(?:Who|What) (?:is|was|are|were) (?:the )?(.+?)\?")
_DESCRIBED_PLACE = re.compile(r"\b(?:in|at|on|near|from|to) an? [a-z]")
_NAMED_PLACE = re.compile(r"\b(?:in|at|on|near|from|to) (?:the )?[A-Z]")


NOTHING_SEEN = SeenArticles()


def answer_look_ups(claim: Claim, context: Context, seen: SeenArticles = NOTHING_SEEN) -> list[str]:
    """Who or what each kept answer is that consists of names new to the claim, the latest answer first.

    Of an answer that says more than a name, what it names is looked up where an article was seen that has more of what
    the claim leaves open. A place is not looked up that answers "Where ...?" about a claim which names the place
    itself: the two are compared.
    """
    questions = []
    for hop in reversed(context):
        asked, answer = hop.question.text, (hop.answer.text or "") if hop.answer else ""
        if asked.startswith("Where") and _NAMED_PLACE.search(claim.text) and not _DESCRIBED_PLACE.search(claim.text):
            continue
        person = asked_for(asked) == "person" or _asks_which_person(asked)
        for name in named_in(answer) or telling_names(claim, context, answer, seen):
            if not stems(name) <= stems(claim.text):
                known = seen.is_person(name)
                who = person if known is None else known
                questions.append(f"{'Who was' if who else 'What is'} {with_article(name, answer)}?")
    return questions


def article_look_ups(claim: Claim, context: Context, seen: SeenArticles) -> list[str]:
    """Who or what has a seen and unread article with more of what the claim leaves open, the most telling first.

    Of two with as many words the one that the searches ranked higher comes first. It bears a name of the claim, of
    what a kept answer says or of the passage that this stands in: the museum that a page tells of is what the claim
    calls "a museum".
    """
    text = " ".join(claim.text.split())
    own = {name: _look_up(name, text, seen) for name in _names(text, seen) if not _is_adjective(name, text)}
    new = {
        name: f"{'Who was' if seen.is_person(name) else 'What is'} {with_article(name, told)}?"
        for told in map(told_by, context)
        for name in telling_names(claim, context, told, seen)
    }
    told = {name: _promised(name, claim, context, seen) for name in own | new}
    worth = (name for name in told if told[name] >= FEWEST_SHARED)
    best = sorted(worth, key=lambda name: (-told[name], seen.rank(name)))
    return [(own | new)[name] for name in best]


def telling_names(claim: Claim, context: Context, told: str, seen: SeenArticles) -> list[str]:
    """The names in an answer or passage, new to the claim, whose article was seen and has some of what is open."""
    return [
        name
        for name in seen.names_in(told)
        if not stems(name) <= stems(claim.text) and _promised(name, claim, context, seen) >= FEWEST_SHARED
    ]


def _promised(name: str, claim: Claim, context: Context, seen: SeenArticles) -> int:
    """How many of the claim's open words the unread article on what bears a name has; none where it was not seen."""
    article = seen.about(name)
    if article is None or was_read(bare_title(article.title), context):
        return 0
    return told_of(open_words(claim.text, context), article)


def told_by(hop: Hop) -> str:
    """A kept answer and the passage that it stands in."""
    if hop.answer is None:
        return ""
    return f"{hop.answer.text or ''} {hop.answer.cited.passage.text if hop.answer.cited else ''}".strip()


def asked_as_it_is(question: str, seen: SeenArticles) -> str:
    """A look-up with "Who" for a person and "What" for a thing, where an article on it was seen."""
    found = _LOOKED_UP.fullmatch(question)
    person = seen.is_person(found[1]) if found and found[1] in names(found[1]) else None
    return question if person is None else re.sub(r"^\w+", "Who" if person else "What", question)


def looks_up_what_was_read(question: str, context: Context) -> bool:
    """Whether it only asks who or what something is whose own article a kept answer stands in already."""
    found = _LOOKED_UP.fullmatch(question)
    return found is not None and was_read(found[1], context)


def was_read(name: str, context: Context) -> bool:
    """Whether a kept answer stands in the article on what bears this name."""
    cited = [hop.answer.cited.passage for hop in context if hop.answer and hop.answer.cited]
    name = normalised(name)
    return bool(name) and any(
        name == normalised(bare_title(each.title)).removeprefix("the ")
        or normalised(each.text[: 2 * len(name) + 8]).removeprefix("the ").startswith(f"{name} ")
        for each in cited
    )


def named_in(answer: str) -> tuple[str, ...]:
    """The names that an answer consists of: one, or several in a list; none for an answer that says anything else."""
    found = names(answer)
    rest = answer
    for name in sorted(found, key=len, reverse=True):
        rest = rest.replace(name, " ")
    plain = re.sub(r"\b(?:and|the|The)\b|[\W\d]", "", rest)
    return () if plain else tuple(name for name in found if not re.search(r"\d", name) and not DEMONYM.fullmatch(name))


def name_look_ups(claim: Claim, seen: SeenArticles = NOTHING_SEEN) -> list[str]:
    """Who or what each name in the claim is, the claim's subject first."""
    text = " ".join(claim.text.split())
    every = (name for name in _names(text, seen) if len(name) > 1 and not name[0].isdigit())
    about = [name for name in every if name.split()[0] not in MONTHS and not _is_adjective(name, text)]
    clause = main_clause(text)
    first = [name for name in about if clause and name in clause.subject]
    return [_look_up(name, text, seen) for name in first + [name for name in about if name not in first]]


def _names(text: str, seen: SeenArticles) -> list[str]:
    """The names in `text`, in order; where titles of seen articles stand in it, as whole as those are."""
    titles = seen.names_in(text)
    own = [name for name in whole_names(text) if not any(name in title for title in titles)]
    titles = [title for title in titles if not any(title in name for name in own)]
    return sorted(dict.fromkeys(own + titles), key=text.index)


def _is_adjective(name: str, text: str) -> bool:
    """Whether a name only says more about a noun ("British actor", "the Los Angeles resident"), or is a month."""
    before_noun = _noun_after(name, text) not in ("", *_KIN, *data("claim_questions")["no_persons"].split())
    called = re.search(rf"(?<![\"“]){re.escape(name)} [a-z][\w-]* [\"“A-Z]|\b[Tt]he {re.escape(name)}", text)
    opens = text.startswith(name) and re.fullmatch(r"[A-Z][a-z]+ing", name)
    return bool(DEMONYM.fullmatch(name)) or (before_noun and bool(called or opens))


def _noun_after(name: str, text: str) -> str:
    """The noun that belongs to a name, in lower case: "therapy" of "Morita therapy"; or nothing."""
    after = re.search(rf"(?<![\"“]){re.escape(name)} ([a-z][\w-]*)", text)
    if (
        after is None
        or after[1] in ("a", "an", "the")
        or is_link(after[1])
        or _MODAL.fullmatch(after[1])
        or is_verb(tokens(f"X {after[1]}"), 1)
    ):
        return ""
    joined = re.search(rf"\band (?:the )?{re.escape(name)} {after[1]}\b(?! (?:is|was|has|had)\b)", text)
    return "" if joined and not after[1].endswith("s") else after[1]


def _more_nouns_follow(name: str, text: str) -> bool:
    """Whether the noun after a name is only the first of several: "sports" of "Gull Network sports analysts"."""
    after = re.search(rf"(?<![\"“]){re.escape(name)} [a-z][\w-]* ([a-z][\w-]*)", text)
    return after is not None and not is_link(after[1]) and not is_verb(tokens(f"X {after[1]}"), 1)


def _look_up(name: str, text: str, seen: SeenArticles) -> str:
    """ "Who was" for what has a person's article, or looks like a person's name where the claim speaks of a person."""
    if (known := seen.is_person(name)) is not None:
        return f"{'Who was' if known else 'What is'} {with_article(name, text)}?"
    titled = name.split(" ", 1)
    if len(titled) == 2 and is_person(titled[0]) and " " in titled[1] and titled[1][0].isupper():
        return f"Who was {titled[1]}?"
    noun = "" if _more_nouns_follow(name, text) else _noun_after(name, text)
    whole = f"{with_article(name, text)} {noun}".strip()
    return f"{'Who was' if whole == name and _is_one(name, text) else 'What is'} {whole}?"


def _is_one(name: str, text: str) -> bool:
    """Whether the claim speaks of `name` as of a person."""
    facts = data("claim_questions")
    if re.search(rf"[\"“]{re.escape(name)}|\b(?:in|at|on|(?:{facts['versions']}) of) (?:the )?{re.escape(name)}", text):
        return False
    if re.search(
        rf"\b(?:{facts['done']}|{facts['works']}) by {re.escape(name)}|^{re.escape(name)} (?:{facts['does']})\b", text
    ):
        return True
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
    """Whether it asks for what a noun for a person calls it: "Which American actor played ...?" """
    asked = re.match(r"(?:Which|What (?:is|was) the) ((?:(?!(?:of|in|on|at|by|for|that|to)\b)[\w-]+ ?){1,5})", question)
    return asked is not None and any(is_person(word) for word in asked[1].split())


def with_article(name: str, text: str) -> str:
    """ "the Nile" where the text says so."""
    return f"the {name}" if re.search(rf"\b[Tt]he {re.escape(name)}", text) else name
