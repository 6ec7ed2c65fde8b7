"""How people's words are compared in a search: whatever the case, the accents, the width, in any script."""

from __future__ import annotations

import unicodedata

_UNSEEN = frozenset(("Mn", "Cc", "Cf", "Cs"))
"""What two equal words may differ in: marks, and characters for control, format (joiners, directions) and halves."""


def folded(text: str) -> str:
    """`text` as it is searched: case folded, without marks, in compatibility forms, with single spaces.

    So "erdogan" finds "Erdoğan", "strasse" finds "Straße" and "１９９０" is "1990", much as in a collation of primary
    strength (Unicode TR 10). Where it errs, a search finds more than was meant, not less.
    """
    apart = unicodedata.normalize("NFKD", text.casefold())
    seen = "".join(each for each in apart if each.isspace() or unicodedata.category(each) not in _UNSEEN)
    return " ".join(unicodedata.normalize("NFKC", seen.casefold().replace("ı", "i")).split())


def search_words(query: str) -> tuple[str, ...]:
    """The words of a query as they are searched, each once. () for one without any."""
    return tuple(dict.fromkeys(folded(query).split()))
