"""Turn yes/no questions into statements: "Did Ada Lovelace die young?" -> "Ada Lovelace died young."

Rules over words, without a parser: the auxiliary moves behind the subject, and "did" is merged into its verb. The hard
part is the end of the subject: a name ends with its capitalised words, any other subject at the first word that can
begin a predicate. A question that the rules cannot analyse is not converted.
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
    """Return the statement that a yes to `question` asserts; None if it is no yes/no question that can be analysed.

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
    """Return the number of words after the auxiliary that form the subject; None if it cannot be determined."""
    if words[0].casefold() in _words("pronouns"):
        return 1
    name = _SUBJECT_NAME.match(" ".join(words))
    named = len(name[0].split()) if name else 0
    if 0 < named < len(words) and not _goes_on(auxiliary, words[named - 1], words[named]):
        return named
    least = named + 1 if name else 1 + (words[0].casefold() in _words("determiners"))
    begins = (at for at in range(least, len(words)) if _begins_predicate(auxiliary, words[at], words[at - 1]))
    # Without a recognised predicate, assume the last word after a form of "be", or else everything after the name.
    last_word = len(words) - 1 if auxiliary in BE and least < len(words) else None
    return next(begins, last_word or (named if 0 < named < len(words) else None))


def _goes_on(auxiliary: str, last: str, word: str) -> bool:
    """Return whether the subject continues with `word` after a name that ends in `last`: "Ann's husband", "and Bob".

    A noun after a name is distinguished from a predicate by the list of known predicates. After "is" and "has" a noun
    rarely continues the subject.
    """
    if last.endswith(("'s", "’s", "s'", "s’")) or word in _GO_ON:
        return True
    singular = auxiliary in BE | HAVE and auxiliary not in {"are", "were", "have"}
    return word.islower() and not singular and not _begins_predicate(auxiliary, word, last)


def _begins_predicate(auxiliary: str, word: str, before: str) -> bool:
    """Return whether a predicate can begin with `word`, which follows `before`."""
    if word in _words("adverbs"):
        return True
    if auxiliary in BE | HAVE:
        opens = word in _words("predicates") or _PARTICIPLE.fullmatch(word)
        after_noun = before.casefold() not in _words("prepositions") | _words("determiners") | {"of", "and"}
        return bool(opens) or (after_noun and word in _words("determiners") | _words("prepositions"))
    return word in _words("verbs") or word in data("yes_no")["pasts"]


def _asserted(auxiliary: str, predicate: list[str]) -> str:
    """Return the predicate of the statement: "do", "does" and "did" are merged into the verb, "ever" is dropped."""
    kept = [word for word in predicate if word != "ever"]
    if auxiliary not in {"do", "does", "did"}:
        return " ".join([auxiliary, *kept])
    verb_on = list(dropwhile(lambda word: word in _words("adverbs"), kept))
    if "not" in kept or not verb_on:
        return " ".join([auxiliary, *kept])
    adverbs = kept[: len(kept) - len(verb_on)]
    return " ".join([*adverbs, inflected(verb_on[0], auxiliary), *verb_on[1:]])


def inflected(verb: str, auxiliary: str) -> str:
    """Return the inflected verb for auxiliary and verb: "did" + "win" is "won", "does" + "fly" is "flies"."""
    if auxiliary == "do":
        return verb
    if auxiliary == "did":
        return data("yes_no")["pasts"].get(verb) or _regular(verb, "ed")
    return {"have": "has", "be": "is"}.get(verb) or _regular(verb, "s")


def _regular(verb: str, ending: str) -> str:
    """Return a regular verb with -s or -ed, following English spelling."""
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
