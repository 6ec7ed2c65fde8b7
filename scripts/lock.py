"""Resolve requirements.txt and the extras of pyproject.toml into the sections of requirements.lock, with checksums.

Arguments are more options for `uv pip compile`, such as `--upgrade` or `--find-links FOLDER`.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
HEADINGS = {
    "site": "what Hopcheck runs on (requirements.txt)",
    "models": "packages installed without what they ask for (pyproject.toml)",
    "research": "what training and evaluation need beside these (pyproject.toml)",
    "dev": "what the tests and checks need beside these (pyproject.toml)",
}
"""The sections, in the order in which the Makefile cuts them; each has only packages that no earlier one has."""
COMPILE = (
    *(str(Path(sys.executable).with_name("uv")), "pip", "compile", "--quiet", "--universal", "--python-version=3.11"),
    *("--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"),
    *("--no-emit-package=torch", *sys.argv[1:]),
)


def main() -> None:
    """Write the lock anew; versions that it has are kept where they can be."""
    site = (ROOT / "requirements.txt").read_text().splitlines()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # PyTorch's CPU build, because PyPI's for Linux asks for CUDA packages.
        torch = next(line for line in site if line.startswith("torch=="))
        (folder / "override").write_text(f"{torch}+cpu\n")
        # Resolved together, so that a marker holds for every section that needs the package.
        entries = resolve(folder, "all", [*site, *extras["research"], *extras["dev"]])
        constraints = f"--constraints={folder / 'all'}"
        sections = {
            "site": resolve(folder, "site", site, constraints),
            "models": resolve(folder, "models", extras["models"], "--no-deps"),
            "research": resolve(folder, "research", [*site, *extras["research"]], constraints),
            "dev": entries,
        }
    entries = sections["models"] | entries
    text, written = "# The packages that make installs, resolved by `make lock`.\n", set()
    for section, heading in HEADINGS.items():
        names = sorted(sections[section].keys() - written)
        text += f"# {section}: {heading}\n" + "".join(entries[name] for name in names)
        written.update(names)
    LOCK.write_text(text)


def resolve(folder: Path, name: str, requirements: list[str], *options: str) -> dict[str, str]:
    """Return the lines of each package that the requirements come to."""
    source, lock = folder / f"{name}.in", folder / name
    source.write_text("\n".join(requirements))
    lock.write_text(LOCK.read_text() if LOCK.is_file() else "")
    command = [*COMPILE, f"--override={folder / 'override'}", *options, f"--output-file={lock}", str(source)]
    if subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL).returncode:
        sys.exit("Resolving failed (above); requirements.lock is unchanged.")
    found: dict[str, str] = {}
    for entry in re.split(r"^(?=\w)", lock.read_text(), flags=re.MULTILINE)[1:]:
        package = re.match(r"[\w.-]+", entry)[0]
        found[package] = found.get(package, "") + entry  # one version for some Pythons, another for others
    return found


if __name__ == "__main__":
    main()
