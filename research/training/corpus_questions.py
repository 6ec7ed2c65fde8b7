"""Generate questions about the corpus, like those of the question generator, with answers found by patterns.

The text "Capital of France. Paris is ..." gives the question "What is the capital of France?" with the answer "Paris".
SQuAD has few questions of this form, and none about an article's short description, which has dates of birth and
nationalities.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.backends.corpus.registry import Article
from research.training.pairs import is_held_out
from research.training.squad import Example

FIRST_SENTENCE_CHARACTERS = 260
"""Characters after the description in which a maker is searched for."""

Generated = tuple[str, tuple[int, int] | None]
"""A question and the characters [start, end) of its answer in the article's text; None where the text has none."""

_NAME = r"(?:[A-Z][\w'’.-]*\w)(?: (?:(?:de|da|di|von|van|of|the|la) )*(?:[A-Z][\w'’.-]*\w|[A-Z]\.))*"
_LIFESPAN = re.compile(r"\((?:c\. )?(\d{3,4})\s*[–-]\s*(?:c\. )?(\d{3,4})\)")
_BORN = re.compile(r"\(born (\d{4})\)")
_DEMONYM = r"[A-Z]\w+(?:ish|ian|ese|ean|can|ench|utch|erman|reek|oman)"
_NATIONALITY = re.compile(rf"^({_DEMONYM}(?:-\w+)?) ([a-z][\w ,-]+?)(?: \(|$|\.)")
_CAPITAL_OF = re.compile(rf"^(?:\w+ )?[Cc]apital(?: city)?(?: and [\w ]*?city)? of ((?:the )?{_NAME})\. ")
_CAPITAL = re.compile(rf"\b[Ii]ts capital(?: and [\w ]*?city| city)? is ({_NAME})")
_LARGEST = re.compile(rf"\bits (?:capital and )?largest city is ({_NAME})|\blargest city,? ({_NAME})")
_LOCATION = re.compile(rf"^[A-Z]?[\w ]+? in ((?:\w+ )?{_NAME}(?:, {_NAME})*)\. ")
_BIRTHPLACE = re.compile(rf"\b[Bb]orn (?:\w+ )?(?:on [\w ,]+ )?in ({_NAME}(?:, {_NAME})*)")
_MADE_BY = re.compile(rf"\b(\w+) by (?:[a-z-]+ )*(?:{_DEMONYM}(?:-\w+)? (?:[a-z]+ )+)?({_NAME})")
_MAKERS = {
    "written": "wrote", "novel": "wrote", "play": "wrote", "book": "wrote", "poem": "wrote", "tragedy": "wrote",
    "painting": "painted", "painted": "painted", "fresco": "painted", "composed": "composed", "opera": "composed",
    "symphony": "composed", "ballet": "composed", "directed": "directed", "film": "directed", "founded": "founded",
    "invented": "invented", "discovered": "discovered", "developed": "developed", "designed": "designed",
    "created": "created", "sculpture": "made", "album": "recorded", "song": "recorded", "built": "built",
}  # fmt: skip


def corpus_examples(articles: Sequence[Article], rng: random.Random) -> list[Example]:
    """Return all questions that the patterns find, and half of them again with an article that cannot answer them."""
    by_topic: dict[tuple[str, bool], list[Article]] = {}
    for article in articles:
        by_topic.setdefault((article.topic, is_held_out(article.title)), []).append(article)
    made = []
    for article in articles:
        held_out = is_held_out(article.title)
        for question, place in _questions(article, rng):
            answers = (article.text[slice(*place)],) if place else ()
            example = Example("corpus", question, article.title, article.text, place, answers, held_out)
            made.append(example)
            other = rng.choice(by_topic[article.topic, held_out])
            if place and rng.random() < 0.5 and article.title not in other.text:
                made.append(replace(example, title=other.title, text=other.text, place=None, answers=()))
    return made


def _questions(article: Article, rng: random.Random) -> Iterator[Generated]:
    yield from _life(article, rng)
    yield from _makers(article)
    yield from _places(article, rng)
    if rng.random() < 0.12:
        yield from _definition(article)


def _life(article: Article, rng: random.Random) -> Iterator[Generated]:
    """Yield questions about a person whose description ends in years: birth, death, nationality and occupation."""
    name, text = _name(article), article.text
    years, born, nationality = _LIFESPAN.search(text), _BORN.search(text), _NATIONALITY.search(text)
    birth = years or born
    if not birth or not _is_person(article):
        return
    when = rng.choice(["When", "When", "In what year", "What year"])
    asked_born, asked_died = f"{when} was {name} born?", f"{when} did {name} die?"
    yield rng.choice([(asked_born, birth.span(1)), (asked_died, years.span(2) if years else None)])
    was = "was" if years else "is"
    if nationality:
        question = rng.choice([f"What nationality {was} {name}?", f"What {was} the nationality of {name}?"])
        yield rng.choice([(question, nationality.span(1)), (f"What {was} {name}'s occupation?", nationality.span(2))])
    if place := _BIRTHPLACE.search(text):
        yield f"Where was {name} born?", place.span(1)


def _is_person(article: Article) -> bool:
    # Empires and wars have years in their descriptions too.
    years = _LIFESPAN.search(article.description) or _BORN.search(article.description)
    return bool(years) and bool(article.topic == "People" or _NATIONALITY.search(article.description))


def _name(article: Article) -> str:
    """Return the title without a qualifier in brackets."""
    return re.sub(r" \(.*\)$", "", article.title)


def _makers(article: Article) -> Iterator[Generated]:
    """Yield the question for who wrote, painted or founded it, from the description and the first sentence."""
    if _is_person(article):
        return
    for found in _MADE_BY.finditer(article.text[: len(article.description) + FIRST_SENTENCE_CHARACTERS]):
        if verb := _MAKERS.get(found[1].casefold()):
            yield f"Who {verb} {_name(article)}?", found.span(2)
            return


def _places(article: Article, rng: random.Random) -> Iterator[Generated]:
    name, text = _name(article), article.text
    if (country_capital := _CAPITAL_OF.search(text)) and (at := text.find(name)) >= 0:
        yield f"What is the capital of {country_capital[1]}?", (at, at + len(name))
    if capital := _CAPITAL.search(text):
        yield f"What is the capital of {name}?", capital.span(1)
    if largest := _LARGEST.search(text):
        yield f"What is the largest city of {name}?", largest.span(1 if largest[1] else 2)
    if (place := _LOCATION.search(text)) and article.topic in ("Geography", "Arts", "History"):
        yield rng.choice([f"Where is {name}?", f"Where is {name} located?"]), place.span(1)
        if "," in place[1]:
            country = place.start(1) + place[1].rindex(",") + 2
            yield f"In which country is {name}?", (country, place.end(1))


def _definition(article: Article) -> Iterator[Generated]:
    plain = re.sub(r"\s*\(.*?\)$", "", article.description)
    if len(plain.split()) > 1 and article.text.startswith(plain):
        asked = "Who was" if _LIFESPAN.search(article.description) else "Who is"
        yield f"{asked if _is_person(article) else 'What is'} {_name(article)}?", (0, len(plain))
