"""The share card of a report: the picture (Open Graph) that other sites show for its link."""

from __future__ import annotations

import hashlib
import io
import re
import unicodedata
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from font_source_serif_pro import font_files_otf
from PIL import Image, ImageDraw, ImageFont
from PIL.ImageText import Text

from app.config import VERSION
from app.domain.report import Report
from app.web.report_view import formal_label, shown_verdict
from app.web.run_view import UNVERIFIED
from app.web.views import FACES

WIDTH, HEIGHT = 1200, 630
MARGIN = 76
BAR = 20
MAX_CACHED = 64
MAX_WORD = 34
"""Characters of the widest letter that fit on a line at the smallest size; longer words are split."""
REGULAR, BOLD = "SourceSerifPro", "SourceSerifProSemibold"
GROUND, INK, SOFT = "#f7f5f0", "#1e2022", "#5c5d5b"
TONES = {face.tone: face.colour for face in FACES.values()}
UNREADABLE = "Open the report to read the claim."
"""In place of a claim with letters that the font lacks."""
CAUTION = "A machine made this verdict. Read the report before you rely on it."


class ShareCard(NamedTuple):
    overline: str
    claim: str
    plain: str  # the verdict in everyday words
    formal: str  # the verdict's formal name
    sentence: str  # the one that answers the claim, else what was missing; "" for neither
    tone: str


def card_of(report: Report) -> ShareCard | None:
    """Return the card of a report; None for one without a verdict."""
    if report.verdict is None:
        return None
    face, answer = FACES[report.verdict.label], shown_verdict(report).answer
    sentence = _drawable(str(answer.text if answer else report.verdict.missing or ""))
    overline = UNVERIFIED if report.imported else "Claim"
    claim = _drawable(report.claim.text) or UNREADABLE
    return ShareCard(overline, claim, face.word, formal_label(report.verdict.label), sentence, face.tone)


def etag_of(card: ShareCard) -> str:
    """Return the entity tag of a card's picture, without drawing it; another version may draw another picture."""
    return hashlib.sha256("\0".join((*card, VERSION)).encode()).hexdigest()[:16]


@lru_cache(maxsize=MAX_CACHED)
def as_png(card: ShareCard) -> bytes:
    """Draw a card of 1200 x 630 pixels."""
    image = Image.new("RGB", (WIDTH, HEIGHT), GROUND)
    draw, tone, right = ImageDraw.Draw(image), TONES[card.tone], WIDTH - MARGIN
    room = right - MARGIN
    draw.rectangle((0, 0, BAR, HEIGHT), tone)
    draw.text((MARGIN, 46), Text("Hopcheck", _font(BOLD, 34)), INK)
    draw.text((right, 54), Text(card.overline, _font(REGULAR, 26)), SOFT, anchor="ra")
    claim = f"“{card.claim}”" if card.claim != UNREADABLE else card.claim
    draw.text((MARGIN, 112), _fitted(claim, (56, 46, 38, 32, 28), (room, 216)), INK)
    plain = Text(card.plain, _font(BOLD, 76))
    draw.text((MARGIN, 344), plain, tone)
    draw.text((MARGIN + plain.get_length() + 24, 384), Text(card.formal, _font(REGULAR, 34)), tone)
    if card.sentence:
        draw.text((MARGIN, 444), _fitted(card.sentence, (36, 30, 24), (room, 104)), INK)
    draw.text((MARGIN, 574), Text(CAUTION, _font(REGULAR, 24)), SOFT)
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()


def _fitted(text: str, sizes: tuple[int, ...], room: tuple[int, int]) -> Text[str]:
    """Return the text in the largest size that fits, else its beginning in the smallest, with an ellipsis."""
    text = re.sub(rf"(\S{{{MAX_WORD}}})(?=\S)", r"\1 ", text)
    for size in sizes:
        shown = Text(text, _font(REGULAR, size), spacing=8)
        with suppress(ValueError):  # a word that is wider than the card
            if shown.wrap(*room) is None:
                return shown
    shown.text = re.sub(r"\s\S*$", " …", shown.text)
    return shown


@lru_cache
def _font(name: str, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(font_files_otf[name], size)


def _drawable(text: str) -> str:
    """Return the text on one line without invisible characters, such as marks of writing direction.

    Returns "" if the font lacks one of its letters: a picture with boxes in it would say something else.
    """
    shown = unicodedata.normalize("NFC", " ".join(text.split()))
    shown = "".join(each for each in shown if unicodedata.category(each) not in ("Cc", "Cf", "Cs", "Co", "Cn"))
    return shown if all(each.isspace() or _has_glyph(each) for each in set(shown)) else ""


@lru_cache(maxsize=4096)
def _has_glyph(character: str) -> bool:
    """Return whether the font has a glyph for a character: one without is drawn like U+10FFFF, which no font has."""
    drawn, missing = (_font(REGULAR, 24).getmask(each) for each in (character, "\U0010ffff"))
    return (drawn.size, bytes(drawn)) != (missing.size, bytes(missing))
