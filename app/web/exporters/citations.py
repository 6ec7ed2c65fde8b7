"""Export the sources that kept answers cite, for reference managers: RIS and BibTeX.

A field of RIS is one line, so line ends in foreign text become spaces. In BibTeX a brace counts even after a backslash,
so braces are written as commands.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

from app.domain.comparison import pages
from app.domain.messages import Words
from app.domain.model import Hop, Origin, Passage
from app.runs.service import StoredRun
from app.web.exporters import Exporter
from app.web.exporters.markdown import IMPORTED, encoded
from app.web.report_view import web_link

_CONTROL_OR_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_ISO_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
_COMMANDS = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{each: f"\\{each}" for each in "&%$#_"},
}
_SPECIAL = re.compile("[" + re.escape("".join(_COMMANDS)) + "]")


class Source(NamedTuple):
    """A cited source; an empty field is not known."""

    title: str
    publisher: str  # the site, or the corpus with its licence
    url: str
    date: tuple[str, ...]  # year, month and day, as far as known
    accessed: str  # the day of the check
    note: str


def sources(run: StoredRun) -> tuple[Source, ...]:
    """Return the distinct sources that kept answers cite; text that a model recited from memory is not one."""
    return tuple(_source(passage, run) for passage in _cited(run))


def _cited(run: StoredRun) -> tuple[Passage, ...]:
    kept = {hop.number for hop in run.report.context}
    found = pages([run.report])  # of one run, so each has one use
    return tuple(page.passage for page in found if kept.intersection(page.uses[0].cited))


def _is_cited(hop: Hop) -> bool:
    return bool(hop.answer and hop.answer.cited and hop.answer.cited.passage.origin is not Origin.RECITED)


def _source(passage: Passage, run: StoredRun) -> Source:
    published = _ISO_DATE.fullmatch(passage.published or "")
    checked_at = run.report.imported.made_at if run.report.imported else run.created_at.isoformat()
    return Source(
        _one_line(passage.title) or "A page without a title",
        _one_line(passage.source),
        encoded(web_link(passage) or ""),
        tuple(filter(None, published.groups())) if published else (),
        checked_at[:10],
        IMPORTED if run.report.imported else "",
    )


def _one_line(text: str) -> str:
    return _CONTROL_OR_SPACE.sub(" ", text).strip()


def as_ris(run: StoredRun) -> str:
    """Return the sources in RIS, one electronic source per record."""
    return "".join(f"{tag}  - {value}\r\n" for each in sources(run) for tag, value in _ris_fields(each))


def _ris_fields(source: Source) -> Iterator[tuple[str, str]]:
    known = {
        "TI": source.title,
        "PB": source.publisher,
        "PY": "".join(source.date[:1]),
        "DA": "/".join(source.date),
        "UR": source.url,
        "Y2": source.accessed.replace("-", "/"),
        "N1": source.note,
    }
    yield "TY", "ELEC"
    yield from ((tag, value) for tag, value in known.items() if value)
    yield "ER", ""


def as_bibtex(run: StoredRun) -> str:
    """Return the sources in BibTeX, one @misc entry each, with the fields that BibLaTeX has for web pages."""
    return "\n".join(_entry(number, each) for number, each in enumerate(sources(run), 1))


def _entry(number: int, source: Source) -> str:
    fields = {
        "title": f"{{{_latex(source.title)}}}",  # a second pair of braces keeps the capitals
        "howpublished": _latex(source.publisher),
        "year": "".join(source.date[:1]),
        "date": "-".join(source.date),
        "url": source.url,
        "urldate": source.accessed,
        "note": _latex(source.note),
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@misc{{{_key(source.title)}{number},\n{lines}}}\n"


def _latex(text: str) -> str:
    return _SPECIAL.sub(lambda found: _COMMANDS[found[0]], text)


def _key(title: str) -> str:
    """Return a key of ASCII letters and digits from the first words of the title."""
    ascii_title = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return "".join(re.findall("[a-z0-9]+", ascii_title)[:3])[:40] or "source"


def _exporter(ending: str, title: str, media_type: str, write: Callable[[StoredRun], str]) -> Exporter:
    return Exporter(
        file=f"export.{ending}",
        title=title,
        hint=Words("the cited sources, for a reference manager"),
        media_type=media_type,
        write=lambda export: write(export.run),
        has_content=lambda run: any(_is_cited(hop) for hop in run.report.context),
        without_content=Words("No kept answer of this report cites a source, so there is nothing to list."),
        operation=f"export{title.capitalize()}",
        about=f"Read the cited sources in {title}\n"
        "What kept answers cite, for a reference manager; 409 while the run is running or where there is no source.",
    )


EXPORTERS = (
    _exporter("ris", "RIS", "application/x-research-info-systems", as_ris),
    _exporter("bib", "BibTeX", "application/x-bibtex", as_bibtex),
)
