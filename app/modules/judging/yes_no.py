"""Yes/no questions turned into what a yes asserts: "Did Ada Lovelace die young?" -> "Ada Lovelace died young."

Rules over words, no parser: the auxiliary goes behind the subject, and "did" goes into its verb. Where the subject
ends is the hard part: a name ends where its capitals do, any other subject at the first word that begins a predicate.
What the rules cannot take apart stays a question.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import dropwhile

from app.modules.prompts import data
from app.modules.wording import NAME

_QUESTION = re.compile(r"^(?P<before>(?:After|At|Before|By|During|For|In|On) [^,?]+, )?(?P<asked>[^?]+)\?$")
_WHOLE = re.compile(r"^Is it true that (?P<said>[^?]+)\?$", re.IGNORECASE)
_NEGATION = re.compile(r"n[’']t$", re.IGNORECASE)
_SUBJECT_NAME = re.compile(rf"(?:[Tt]he )?[\"“]?{NAME}[\"”]?(?:,? and (?:the )?[\"“]?{NAME}[\"”]?)?(?:[’']s?)?(?= |$)")
_PARTICIPLE = re.compile(r"[a-z-]{2,}(?:ed|ing)")
_GO_ON = frozenset({"and", "of", "who", "whose", "which", "that"})

BE = frozenset({"is", "are", "was", "were", "am"})
HAVE = frozenset({"has", "have", "had"})


def statement(question: str) -> str | None:
    """What a yes to `question` says, as a sentence; None where it is no yes/no question that can be taken apart.

    A question that offers a choice ("Is it a fish or a mammal?") is not answered by yes or no, so it gives None.
    """
    line = " ".join(question.split())
    if whole := _WHOLE.match(line):
        return f"{whole['said'][0].upper()}{whole['said'][1:]}."
    found = _QUESTION.match(line)
    if found is None or re.search(r"\bor\b", found["asked"]):
        return None
    first, *rest = found["asked"].split()
    auxiliary = _NEGATION.sub("", first.casefold())
    end = _subject_end(auxiliary, rest) if auxiliary in _words("auxiliaries") and len(rest) > 1 else None
    if end is None:
        return None
    said = f"{' '.join(rest[:end])} {_asserted(auxiliary, rest[end:])}."
    return found["before"] + said if found["before"] else said[0].upper() + said[1:]


def _subject_end(auxiliary: str, words: list[str]) -> int | None:
    """How many of the words behind the auxiliary are the subject; None when that cannot be told."""
    if words[0].casefold() in _words("pronouns"):
        return 1
    name = _SUBJECT_NAME.match(" ".join(words))
    named = len(name[0].split()) if name else 0
    if 0 < named < len(words) and not _goes_on(auxiliary, words[named - 1], words[named]):
        return named
    least = named + 1 if name else 1 + (words[0].casefold() in _words("determiners"))
    begins = (at for at in range(least, len(words)) if _begins_predicate(auxiliary, words[at], words[at - 1]))
    # Where no word tells, what is said of the subject is most often one word, or else whatever follows its name.
    last_word = len(words) - 1 if auxiliary in BE and least < len(words) else None
    return next(begins, last_word or (named if 0 < named < len(words) else None))


def _goes_on(auxiliary: str, last: str, word: str) -> bool:
    """Whether the subject goes on with `word` behind a name that ends in `last`: its husband, its members, and its son.

    A noun behind a name is told from a predicate by the predicates that are known; "is" and "has" seldom have one.
    """
    if last.endswith(("'s", "’s", "s'", "s’")) or word in _GO_ON:
        return True
    singular = auxiliary in BE | HAVE and auxiliary not in {"are", "were", "have"}
    return word.islower() and not singular and not _begins_predicate(auxiliary, word, last)


def _begins_predicate(auxiliary: str, word: str, before: str) -> bool:
    """Whether a predicate can begin with `word`, which stands behind `before`."""
    if word in _words("adverbs"):
        return True
    if auxiliary in BE | HAVE:
        opens = word in _words("predicates") or _PARTICIPLE.fullmatch(word)
        after_noun = before.casefold() not in _words("prepositions") | _words("determiners") | {"of", "and"}
        return bool(opens) or (after_noun and word in _words("determiners") | _words("prepositions"))
    return word in _words("verbs") or word in data("yes_no")["pasts"]


def _asserted(auxiliary: str, predicate: list[str]) -> str:
    """The predicate as a statement has it: "do", "does" and "did" go into the verb, "ever" goes."""
    kept = [word for word in predicate if word != "ever"]
    if auxiliary not in {"do", "does", "did"}:
        return " ".join([auxiliary, *kept])
    verb_on = list(dropwhile(lambda word: word in _words("adverbs"), kept))
    if "not" in kept or not verb_on:
        return " ".join([auxiliary, *kept])
    adverbs = kept[: len(kept) - len(verb_on)]
    return " ".join([*adverbs, inflected(verb_on[0], auxiliary), *verb_on[1:]])


def inflected(verb: str, auxiliary: str) -> str:
    """The verb alone for auxiliary and verb: "did" + "win" is "won", "does" + "fly" is "flies"."""
    if auxiliary == "do":
        return verb
    if auxiliary == "did":
        return data("yes_no")["pasts"].get(verb) or _regular(verb, "ed")
    return {"have": "has", "be": "is"}.get(verb) or _regular(verb, "s")


def _regular(verb: str, ending: str) -> str:
    """A regular verb with -s or -ed, spelt as English does."""
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ie{ending[-1]}"
    if ending == "s":
        return verb + ("es" if re.search(r"(?:s|x|z|ch|sh|o)$", verb) else "s")
    if verb.endswith("e"):
        return f"{verb}d"
    doubled = re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", verb)
    return f"{verb}{verb[-1] if doubled else ''}ed"


@lru_cache
def _words(group: str) -> frozenset[str]:
    return frozenset(data("yes_no")[group])
