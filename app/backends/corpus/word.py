"""Extract the text of a Word document (.docx) with mammoth. documents.py runs this file as a sandboxed script.

It runs `fetch/html.py` for its rules of superscripts, notes and struck-out text.
"""

from __future__ import annotations

import errno
import io
import re
import runpy
import sys
import zipfile
from pathlib import Path

EMPTY, TOO_LARGE = 3, 4
"""Exit codes."""
MAX_XML_BYTES = 64 * 1024**2
"""Of all parts of the document but its pictures, unpacked. zipfile unpacks no more than a part's stated size."""

_RETURN = re.compile(rb"<w:cr\s*/>")
_UNSHOWN = re.compile(rb"<w:(?:dstrike|vanish)(?=[\s/>])")
"""Line ends, and marks of text that is struck out twice or hidden; mammoth reads none of them."""


def main(path: str, text: str) -> int:
    """Write the paragraphs with empty lines between, and return the exit code."""
    import mammoth

    try:
        with zipfile.ZipFile(path) as package:
            parts = [part for part in package.infolist() if not part.filename.startswith("word/media/")]
            if sum(part.file_size for part in parts) > MAX_XML_BYTES:
                return TOO_LARGE
            with zipfile.ZipFile(document := io.BytesIO(), "w") as plain:
                for part in parts:
                    content = _RETURN.sub(b"<w:br/>", _UNSHOWN.sub(b"<w:strike", package.read(part)))
                    plain.writestr(part.filename.replace("\\", "/"), content)
        html = runpy.run_path(str(Path(__file__).parents[1] / "fetch" / "html.py"))
        shown = mammoth.convert_to_html(document, convert_image=lambda image: []).value
        found = "\n\n".join(html["paragraphs_of"](html["fragment_of"](shown))) if shown else ""
        Path(text).write_text(found, encoding="utf-8", errors="replace")
    except (MemoryError, OSError) as error:
        return TOO_LARGE if isinstance(error, MemoryError) or error.errno == errno.EFBIG else 1
    return 0 if found and not found.isspace() else EMPTY


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
