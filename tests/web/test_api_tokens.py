"""API tokens are shown once, stored as hashes, and rejected once their line is removed."""

from __future__ import annotations

import re

import pytest

from app.domain.errors import InvalidInput, SettingsError
from app.web.api.tokens import holder, line_of, new_token


@pytest.fixture
def file(tmp_path):
    return tmp_path / "tokens"


def test_the_command_prints_a_token_and_the_line_that_makes_it_known(make_app, file):
    result = make_app(api_tokens=file).test_cli_runner().invoke(args=["tokens", "new", "my-script"])
    token = result.stdout.strip()
    line = re.search(r"^my-script:[0-9a-f]{64}$", result.stderr, re.MULTILINE)[0]
    file.write_text(f"# for trials\n\n{line}\n")
    assert result.exit_code == 0 and str(file) in result.stderr
    assert token not in line and holder(file, token) == "my-script"


def test_the_command_refuses_a_name_that_cannot_be(make_app):
    result = make_app().test_cli_runner().invoke(args=["tokens", "new", "a:b"])
    assert result.exit_code == 2 and "A token's name has" in result.stderr


def test_every_token_is_another_and_each_opens_for_its_own_name(file):
    first, second = new_token(), new_token()
    file.write_text(line_of("one", first) + "\n" + line_of("two", second) + "\n")
    assert (holder(file, first), holder(file, second), holder(file, new_token())) == ("one", "two", None)


def test_a_line_that_is_taken_out_opens_nothing_any_more(file):
    token = new_token()
    file.write_text(line_of("one", token))
    assert holder(file, token) == "one"
    file.write_text("")
    assert holder(file, token) is None


@pytest.mark.parametrize("name", ["", "a:b", "Big", "a\nb", "x" * 41, "-a"])
def test_a_name_that_would_break_the_file_is_refused(name):
    with pytest.raises(InvalidInput):
        line_of(name, "token")


def test_a_file_that_is_missing_or_broken_is_told_without_what_is_in_it(file):
    with pytest.raises(SettingsError, match="cannot be read"):
        holder(file, "token")
    file.write_text("# fine\nplain-secret\n")
    with pytest.raises(SettingsError, match="Line 2") as refusal:
        holder(file, "token")
    assert "plain-secret" not in str(refusal.value)
