"""Collect the words of the page into the catalogues in locale/, and list what is not translated.

Words are those of templates, of `Words(...)` in app/, of codes, and of names that are stored as text. A catalogue keeps
its translations, and loses words that are gone.
"""

import ast
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from flask import Flask

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

STORED = (
    "Reciter and reader",
    "FLAN-T5",
    "Local rules",
    "asker",
    "answerer",
    "first question",
    "next step",
    "paraphraser",
    "passages",
    "model",
)
DAY = datetime(2026, 11, 29, tzinfo=UTC)
"""The date in the header, always the same, so that only changed words change the file."""
OTHERS = (
    "d MMM y, HH:mm 'UTC'",
    "{part0} and {part1}",
    *("claim", "speaker", "question", "text", "date", "run", "batch", "strategy", "preset", "search", "corpora"),
    *("{number}st", "{number}nd", "{number}rd", "{number}th"),
)
"""The pattern of a date, and words that are parameters of others."""


def main() -> None:
    """Update every catalogue."""
    found = dict.fromkeys([*in_templates(), *in_code(), *in_codes()])
    for file in sorted(ROOT.glob("locale/*/LC_MESSAGES/messages.po")):
        catalogue = updated(file, found)
        missing = [message.id for message in catalogue if message.id and not is_complete(message)]
        print(f"{file.parts[-3]}: {len(catalogue)} messages, {len(missing)} not translated")
        with file.open("wb") as out:
            write_po(out, catalogue, width=0, ignore_obsolete=True)


def updated(file, found):
    """Return the catalogue with exactly the words that were found."""
    with file.open("rb") as stored:
        before = read_po(stored)
    nobody = {"msgid_bugs_address": "-", "last_translator": "-", "language_team": "-"}
    about = "# The words of Hopcheck's page; `make words` updates the keys."
    after = Catalog(file.parts[-3], project="Hopcheck", version="1", header_comment=about, fuzzy=False, **nobody)
    for key in found:
        known = before.get(key if isinstance(key, str) else key[0])
        same = known is not None and isinstance(known.id, str) == isinstance(key, str)
        after.add(key, known.string if same else "", flags=())
    after.creation_date = after.revision_date = DAY
    return after


def is_complete(message):
    """Return whether every form is translated."""
    return all(message.string) if isinstance(message.string, tuple) else bool(message.string)


def in_templates():
    """Yield the words of templates: a text, or a pair of singular and plural."""
    environment = Flask(__name__).jinja_env
    environment.add_extension("jinja2.ext.i18n")
    for file in sorted(ROOT.glob("templates/*")):
        for _, _, words in environment.extract_translations(file.read_text("utf-8")):
            texts = (words,) if isinstance(words, str) else tuple(each for each in words if each)
            yield texts[0] if len(texts) == 1 else texts


def in_code():
    """Yield the texts of `Words(...)`."""
    for file in sorted(ROOT.glob("app/**/*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Words":
                texts = tuple(each.value for each in node.args if isinstance(each, ast.Constant))
                if texts:
                    yield texts[0] if len(texts) == 1 else texts


def in_codes():
    """Yield the words of codes, and those that are composed or stored."""
    from app.domain.messages import Code
    from app.domain.model import Label
    from app.strategies import STRATEGIES

    for code in Code:
        yield from dict.fromkeys((code.words, code.to_owner))
    yield from (label.replace("_", " ").capitalize() for label in Label)
    yield from (role for kind in STRATEGIES.values() for role in kind.roles)
    yield from (each["words"] for each in json.loads((ROOT / "app/web/verdict_figures.json").read_text())["levels"])
    yield from (*STORED, *OTHERS)


if __name__ == "__main__":
    main()
