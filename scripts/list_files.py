"""Write the list of files in ARCHITECTURE.md anew, from the first sentence of each file's docstring."""

import ast
import re
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- files -->\n", "<!-- end of files -->\n"


def main() -> None:
    """Replace what stands between the two marks."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    files = sorted((ROOT / "app").rglob("*.py"), key=lambda file: (file.parent, file.stem))
    folders = (lines_of(*each) for each in groupby(files, key=lambda file: file.parent))
    listed = "\n\n".join("\n".join(lines) for lines in folders)
    PAGE.write_text(f"{before}{BEGIN}{listed}\n{END}{after}", encoding="utf-8")


def lines_of(folder, files):
    """Yield the folder's heading and a line for each of its files that has a docstring."""
    yield f"### `{folder.relative_to(ROOT)}`\n"
    for file in files:
        if says := ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))):
            first = re.split(r"\.(?:\s|\Z)", " ".join(says.split("\n\n")[0].split()))[0]
            yield f"- `{file.name}`: {first}"


if __name__ == "__main__":
    main()
