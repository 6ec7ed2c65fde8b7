"""API tokens are shown once, stored as hashes, and rejected once their line is removed."""

from __future__ import annotations

import re

import pytest

from app.domain.errors import InvalidInput, SettingsError
from app.web.auth import find_token, new_token, token_line


@pytest.fixture
def file(tmp_path):
    return tmp_path / "tokens"


def test_the_command_prints_a_token_and_its_line_for_the_token_file(make_app, file):
    result = make_app(api_tokens=file).test_cli_runner().invoke(args=["tokens", "new", "my-script"])
    token = result.stdout.strip()
    line = re.search(r"^my-script:[0-9a-f]{64}$", result.stderr, re.MULTILINE)[0]
    file.write_text(f"# for trials\n\n{line}\n")
    assert result.exit_code == 0 and str(file) in result.stderr
    assert token not in line and find_token(file, token) == "my-script"


def test_tokens_are_unique_and_each_belongs_to_its_own_name(file):
    first, second = new_token(), new_token()
    file.write_text(token_line("one", first) + "\n" + token_line("two", second) + "\n")
    assert (find_token(file, first), find_token(file, second), find_token(file, new_token())) == ("one", "two", None)
    file.write_text(token_line("two", second))
    assert find_token(file, first) is None, "its line was removed"


@pytest.mark.parametrize("name", ["", "a:b", "Big", "a\nb", "x" * 41, "-a"])
def test_a_name_that_would_break_the_file_is_refused(name):
    with pytest.raises(InvalidInput):
        token_line(name, "token")


def test_a_missing_or_broken_file_is_reported_without_its_content(file):
    with pytest.raises(SettingsError, match="cannot be read"):
        find_token(file, "token")
    file.write_text("# fine\nplain-secret\n")
    with pytest.raises(SettingsError, match="Line 2") as refusal:
        find_token(file, "token")
    assert "plain-secret" not in str(refusal.value)
