"""Extract the text of a PDF with pypdf, in a sandboxed process: a PDF may expand to gigabytes or loop.

`read_pdf` runs this file as a script, which imports nothing but pypdf.
"""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path

TIMEOUT_SECONDS = 60
MEMORY_BYTES = 1024**3

# Exit codes of the child process.
LOCKED, EMPTY, TOO_LARGE = 3, 4, 5
_REASONS = {
    LOCKED: "is locked by a password",
    EMPTY: "holds no text (a scanned PDF needs text recognition first)",
    TOO_LARGE: "needs more memory, or holds more text, than is allowed for a PDF",
}


class PdfFailed(Exception):
    """A PDF has no usable text. The message continues a sentence that begins with the PDF's name."""


def read_pdf(path: Path, text: Path, seconds: float = TIMEOUT_SECONDS, memory: int = MEMORY_BYTES) -> str:
    """Write the text of the PDF at `path` to `text` as UTF-8; return its title, "" for none.

    Raises PdfFailed when it cannot be read within the limits.
    """
    from app.backends.fetch.sandbox import run_sandboxed  # not at the top: the child process cannot import it

    try:
        done = run_sandboxed(__file__, str(path.absolute()), str(text), seconds=seconds, memory=memory)
    except subprocess.TimeoutExpired:
        raise PdfFailed(f"takes longer than {seconds:g} seconds to read") from None
    if done.returncode:
        raise PdfFailed(_REASONS.get(done.returncode, "is no PDF that can be read"))
    return json.loads(done.stdout)


def main(path: str, text: str) -> int:
    """Write the text, print the title as JSON, and return the exit code. Runs in the child process."""
    from pypdf import PdfReader

    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            return LOCKED
        has_text = False
        with Path(text).open("w", encoding="utf-8", errors="replace") as file:
            for page in reader.pages:
                found = page.extract_text()
                file.write(found + "\n")
                has_text = has_text or bool(found)
        title = reader.metadata.title if reader.metadata else ""
    except (MemoryError, OSError) as error:
        return TOO_LARGE if isinstance(error, MemoryError) or error.errno == errno.EFBIG else 1
    print(json.dumps(str(title or "")))
    return 0 if has_text else EMPTY


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
