"""Settings: read once, validated with one-line errors, and documented in docs/operations.md."""

from __future__ import annotations

import re
import stat
import subprocess
import sys

import pytest

from app.config.settings import ROOT, Settings, load_settings, settings_fields
from app.container.parts import language_models
from app.domain.errors import SettingsError
from tests.waiting import LONG

NAMES = set(settings_fields())


def test_without_settings_the_defaults_apply():
    settings = Settings.from_env({})
    assert (settings.host, settings.port, settings.answerer, settings.max_hops) == (
        "127.0.0.1",
        8000,
        "retriever-reader",
        5,
    )
    assert settings.instance == ROOT / "instance"
    assert settings.secret_key is None


def test_the_database_is_a_file_in_the_instance_folder_unless_a_url_is_given(tmp_path):
    assert Settings(instance=tmp_path).database_url == f"sqlite:///{tmp_path}/hopcheck.sqlite3"
    url = "postgresql+psycopg://localhost/hopcheck"
    assert Settings.from_env({"DATABASE_URL": url}).database_url == url


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_a_postgresql_url_without_a_driver_uses_the_installed_one(scheme):
    settings = Settings.from_env({"DATABASE_URL": f"{scheme}://me@localhost/hopcheck"})
    assert settings.database_url == "postgresql+psycopg://me@localhost/hopcheck"


def test_keys_for_the_models_file_are_kept_and_never_shown():
    settings = Settings.from_env(
        {"GATEWAY_API_KEY": "planted-1", "OPENAI_API_KEY": "planted-2", "SECRET_KEY": "planted-3"}
    )
    assert settings.keys["GATEWAY_API_KEY"] == "planted-1"
    assert settings.openai_api_key == "planted-2"
    assert "planted" not in repr(settings)


def test_the_sites_that_may_embed_are_origins_or_all():
    given = "https://example.org, https://*.example.org:8443, http://localhost:3000"
    assert Settings.from_env({"EMBED_ON": given}).embed_on == tuple(given.split(", "))
    assert Settings.from_env({"EMBED_ON": "*"}).embed_on == ("*",)


def test_a_key_of_the_models_file_may_have_any_name(tmp_path):
    file = tmp_path / "models.toml"
    entry = '[[model]]\nname = "House"\nmodel = "h"\nbase_url = "http://gpu.example/v1"\napi_key_env = "HOUSE_TOKEN"\n'
    file.write_text(entry)
    env = {"MODELS_FILE": str(file), "HOUSE_TOKEN": " planted-4 ", "OTHER_TOKEN": "planted-5"}
    settings = Settings.from_env(env)
    assert settings.keys == {"HOUSE_TOKEN": "planted-4"} and "planted" not in repr(settings)
    assert language_models(settings)[0].api_key == "planted-4"
    for broken in ("model = 3", "[[model]", "model = [3]"):
        file.write_text(broken)
        assert Settings.from_env(env).keys == {}


def test_a_blank_value_counts_as_not_set():
    assert Settings.from_env({"PORT": "", "SECRET_KEY": "  "}) == Settings()


@pytest.mark.parametrize(
    "name, value, choices",
    [
        ("PORT", "eighty", "a whole number from 1 to 65535"),
        ("PORT", "70000", "a whole number from 1 to 65535"),
        ("ANSWERER", "oracle", "one of: retriever-reader"),
        ("CORPORA", "vital,../etc", "names of small letters"),
        ("EMBED_ON", "example.org", "origins like https://example.org"),
        ("EMBED_ON", "https://example.org; script-src *", "origins like https://example.org"),
        ("JAVA_MEMORY", "lots", "a size like 512m or 2g"),
        ("INSTANCE", "~nobody-of-this-name/data", "a path"),
        ("DATABASE_URL", "hopcheck.db", "a URL like sqlite:"),
    ],
)
def test_an_invalid_value_is_refused_in_one_line_with_its_name_and_choices(name, value, choices):
    with pytest.raises(SettingsError) as refusal:
        Settings.from_env({name: value})
    message = str(refusal.value)
    assert message.startswith(f"{name} must be {choices}")
    assert "\n" not in message


def test_a_blank_value_in_the_environment_leaves_that_of_the_file(tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("PORT=9001\n")
    monkeypatch.setenv("PORT", " ")
    assert load_settings(tmp_path).port == 9001


def test_starting_with_an_invalid_value_ends_with_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("LOG_LEVEL", "LOUD")
    with pytest.raises(SystemExit) as end:
        load_settings(tmp_path)
    assert end.value.code == "Hopcheck cannot start: LOG_LEVEL must be one of: DEBUG, INFO, WARNING, ERROR."


def test_a_given_secret_is_used_and_no_file_is_written(tmp_path):
    assert Settings(instance=tmp_path, secret_key="given").signing_key() == "given"
    assert list(tmp_path.iterdir()) == []


AGREEING = "import sys; from app.config.settings import *; print(Settings(instance=Path(sys.argv[1])).signing_key())"


def test_two_concurrent_processes_share_one_secret(tmp_path):
    command = [sys.executable, "-c", AGREEING, str(tmp_path / "instance")]
    both = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    one, other = (process.communicate(timeout=LONG)[0].strip() for process in both)
    assert one == other and len(one) >= 32
    assert stat.S_IMODE((tmp_path / "instance" / "secret_key").stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"short", b"\xff\xfe" * 30])
def test_a_damaged_stored_secret_is_not_used(tmp_path, content):
    (tmp_path / "secret_key").write_bytes(content)
    with pytest.raises(SettingsError, match=r"holds no signing key\. Delete it"):
        Settings(instance=tmp_path).signing_key()


def test_an_env_file_that_is_not_text_ends_the_start_with_one_line(tmp_path):
    (tmp_path / ".env").write_bytes(b"PORT=\xff\xfe\n")
    with pytest.raises(SystemExit, match=r"\.env cannot be read"):
        load_settings(tmp_path)


def test_the_documentation_has_a_row_for_every_setting_and_none_for_others():
    written = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| *`([A-Z0-9_]+)` *\|", written, re.MULTILINE)
    assert sorted(rows) == sorted(NAMES)
