"""Extract the text of a PDF with PDFium, in a sandboxed process: a PDF may expand to gigabytes or loop.

`read_pdf` runs this file as a script, which imports nothing of this package and runs `fetch/html.py` for its rules of
superscripts.
"""

from __future__ import annotations

import errno
import json
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

TIMEOUT_SECONDS = 60
MEMORY_BYTES = 1024**3

# Exit codes of the child process.
LOCKED, EMPTY, TOO_LARGE = 3, 4, 5
_PROBLEMS = {
    1: "is no PDF that can be read",
    LOCKED: "is locked by a password",
    EMPTY: "holds no text (a scanned PDF needs text recognition first)",
    TOO_LARGE: "needs more memory, or holds more text, than is allowed for a PDF",
}


def read_pdf(path: Path, text: Path, seconds: float = TIMEOUT_SECONDS, memory: int = MEMORY_BYTES) -> str:
    """Write the PDF's text to `text` and return its title, "" for none. Raises UnreadableSource."""
    from app.backends.fetch.sandbox import run_sandboxed  # not at the top: the child process cannot import it

    files = str(path.absolute()), str(text)
    return json.loads(run_sandboxed(__file__, *files, seconds=seconds, memory=memory, problems=_PROBLEMS))


def main(path: str, text: str) -> int:
    """Write the text, print the title as JSON, and return the exit code. Runs in the child process."""
    import pypdfium2

    superscript = runpy.run_path(str(Path(__file__).parents[1] / "fetch" / "html.py"))["superscript"]
    try:
        document = pypdfium2.PdfDocument(path)
        has_text = False
        with Path(text).open("w", encoding="utf-8", errors="replace") as file:
            for number in range(len(document)):
                page = document[number]
                found = _page_text(page.get_textpage(), superscript)
                file.write(found + "\n")
                has_text = has_text or not (not found or found.isspace())
                page.close()
        title = document.get_metadata_value("Title")
    except pypdfium2.PdfiumError as error:
        return LOCKED if error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD else 1
    except (MemoryError, OSError) as error:
        return TOO_LARGE if isinstance(error, MemoryError) or error.errno == errno.EFBIG else 1
    print(json.dumps(title))
    return 0 if has_text else EMPTY


_WRITTEN = str.maketrans({"\x02": "-\n", "\ufffe": "-\n", "\r": None})
"""PDFium returns the first two for a hyphen that ends a line."""
MAX_RAISED_SIZE, MIN_RISE = 0.85, 0.1
"""Size and rise of a raised number, as shares of the size of the text before it."""
_NUMBER = re.compile(r"\S ?\d+")


def _page_text(page: Any, superscript: Callable[[str, str, str], str]) -> str:
    from pypdfium2 import raw

    text = "".join(chr(raw.FPDFText_GetUnicode(page, at)) for at in range(page.count_chars()))
    pieces, done = [], 0
    for start, end, line in _raised_numbers(page, text):
        pieces += [
            text[done:start],
            superscript(text[max(0, start - 20) : start].rstrip(), text[start:end], text[end:]),
        ]
        # PDFium ends the line where the text goes back to its base line.
        is_same_line = text[end : end + 2] == "\r\n" and end + 2 < len(text) and _place(page, end + 2)[0] == line
        done = end + 2 if is_same_line else end
    return "".join((*pieces, text[done:])).translate(_WRITTEN)


def _raised_numbers(page: Any, text: str) -> list[tuple[int, int, float]]:
    """Return start, end and base line of each run of digits that are raised and smaller than what is before them."""
    found: list[tuple[int, int, float]] = []
    for number in _NUMBER.finditer(text):
        line, size = _place(page, number.start())
        for at in range(number.start() + 1, number.end()):
            if text[at] == " ":
                continue
            y, height = _place(page, at)
            if not (y > line + MIN_RISE * size and height < MAX_RAISED_SIZE * size):
                line, size = y, height
            elif found and found[-1][1] == at:
                found[-1] = (found[-1][0], at + 1, line)
            else:
                found.append((at, at + 1, line))
    return found


def _place(page: Any, at: int) -> tuple[float, float]:
    import ctypes

    from pypdfium2 import raw

    x, y, box = ctypes.c_double(), ctypes.c_double(), raw.FS_RECTF()
    raw.FPDFText_GetCharOrigin(page, at, x, y)
    raw.FPDFText_GetLooseCharBox(page, at, box)
    return round(y.value, 1), box.top - box.bottom


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
