"""The limits that keep the code easy to find one's way in (CONTRIBUTING.md)."""

from __future__ import annotations

import ast
from pathlib import Path

APP = Path(__file__).resolve().parents[1] / "app"
FILES = sorted(APP.rglob("*.py"))
MAX_FILES, MAX_FILES_AT_ROOT, MAX_FILE_LINES, MAX_FUNCTION_LINES = 170, 10, 350, 40


def test_the_app_has_few_files_and_fewer_at_its_root():
    assert 100 < len(FILES) <= MAX_FILES
    assert len(list(APP.glob("*.py"))) <= MAX_FILES_AT_ROOT


def test_no_file_of_the_app_is_too_long():
    lines = {str(path.relative_to(APP)): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {name: count for name, count in lines.items() if count > MAX_FILE_LINES} == {}


def test_no_function_of_the_app_is_too_long():
    too_long = [
        f"{path.relative_to(APP)}:{node.lineno} {node.name}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= MAX_FUNCTION_LINES
    ]
    assert too_long == []
