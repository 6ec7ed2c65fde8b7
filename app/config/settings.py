"""The settings, read once from the environment and `.env` into a frozen object.

docs/operations.md says what each is for; a test compares the two. A blank value counts as not set.
"""

# ruff: noqa: RUF009 - `setting` makes a dataclass field, as `field` does

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from dotenv import dotenv_values

from app.config import secret_key
from app.config.kinds import (
    ROOT,
    SettingKind,
    database,
    like,
    number,
    one_of,
    path,
    paths,
    setting,
    several,
    switch,
    url,
    whole,
    within,
)
from app.domain.errors import SettingsError
from app.domain.model import ANSWERERS, RANGES
from app.strategies import STRATEGIES

SEARCHES = ("corpus", "searxng", "brave", "tavily", "serper")
"""The corpora, then the modules of app/backends/web_search: the first of these that is set up is the default."""
PRESETS = ("local", "prompted", "local+flan-t5", "prompted+flan-t5", "qacheck")
"""Local or prompted modules, a FLAN-T5 reasoner, QACheck's own prompts (app/presets.py)."""
MODEL_SOURCES = ("machine", "hub", "packages")
MAX_CLAIMS = 10_000
"""The highest value of BATCH_CLAIMS."""
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
LOG_FORMATS = ("text", "json")
FACT_CHECK_TOOLS = "https://factchecktools.googleapis.com/v1alpha1/claims:search"

_RATE = r"[1-9]\d{0,6} per (second|minute|hour|day)"
RATES = like(rf"{_RATE}(, {_RATE})*", "rates like '20 per minute, 500 per day'")
_NAME = like(r"[a-z0-9][a-z0-9._-]{0,63}", "a name")
NAMES = several(_NAME, "names of small letters, digits, '.', '_' and '-', with commas between")
_ORIGIN = like(r"https?://(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?", "an origin")
_ORIGINS = several(_ORIGIN, "origins like https://example.org, with commas between, or *")
ORIGINS = _ORIGINS._replace(parse=lambda raw: ("*",) if raw == "*" else _ORIGINS.parse(raw.lower()))
HUB_FILE = SettingKind(
    lambda raw: raw if raw.startswith("hub:") else str(path().parse(raw)), "a path, or hub:OWNER/REPOSITORY/FILE"
)
SOME_SOURCES = several(one_of(*MODEL_SOURCES), f"some of {', '.join(MODEL_SOURCES)}, with commas between")
LANGUAGE = like(r"[a-z]{2,12}(-[a-z]{2,12}){0,2}", "a language as in Wikipedia's address, such as en or simple, or off")


@dataclass(frozen=True)
class Settings:
    """The settings, each validated on its own. A model or JVM that does not exist is reported when it is loaded."""

    # The server
    host: str = setting("127.0.0.1")
    port: int = setting(8000, whole(1, 65535))
    instance: Path = setting(ROOT / "instance", path())
    database_url: str = setting("", database(), secret=True)
    redis_url: str = setting("", like(r"rediss?://\S+", "a URL like redis://host:6379/0"), secret=True)
    secret_key: str | None = setting(None, secret=True)
    threads: int = setting(16, whole(1, 512))
    torch_threads: int = setting(2, whole(1, 128))
    https: bool = setting(False, switch())
    proxies: int = setting(0, whole(0, 9))
    allowed_hosts: tuple[str, ...] = setting((), NAMES)
    log_level: str = setting("INFO", one_of(*LOG_LEVELS))
    log_format: str = setting("text", one_of(*LOG_FORMATS))

    # Access, limits and retention
    site_password: str | None = setting(None, like(r".{8,}", "text of 8 characters or more"), secret=True)
    api_tokens: Path | None = setting(None, path())
    metrics_token: str | None = setting(
        None, like(r"[!-~]{16,}", "text of 16 characters or more without spaces"), secret=True
    )
    publishing: bool = setting(False, switch())
    embed_on: tuple[str, ...] = setting((), ORIGINS)
    retention_days: int = setting(0, whole(0, 36_500))
    rate_limit: str = setting("20 per minute, 500 per day", RATES)
    workers: int = setting(2, whole(1, 64))
    max_waiting: int = setting(20, whole(0, 10_000))
    batch_claims: int = setting(MAX_CLAIMS, whole(0, MAX_CLAIMS))
    run_seconds: int = setting(300, whole(1, 86_400))
    call_seconds: int = setting(60, whole(1, 3_600))
    run_calls: int = setting(100, whole(1, 1_000_000))
    run_tokens: int = setting(200_000, whole(1, 10**9))
    run_cost: float | None = setting(None, number(0))
    day_calls: int | None = setting(None, whole(1, 10**9))
    day_tokens: int | None = setting(None, whole(1, 10**12))
    day_cost: float | None = setting(None, number(0))

    # Defaults of a check
    strategy: str = setting("question-guided", one_of(*STRATEGIES))
    source: str | None = setting(None, like(r"[a-z0-9][\w.-]*", "a source's name, like vital or web"))
    answerer: str = setting("retriever-reader", one_of(*ANSWERERS))
    max_hops: int = setting(5, within(RANGES["max_hops"]))
    corpora: tuple[str, ...] = setting(("vital",), NAMES)
    preset: str = setting("local", one_of(*PRESETS))
    claim_verifier: str | None = setting(None, one_of("local", "prompted"))
    question_generator: str | None = setting(None, one_of("local", "prompted"))
    qa_validator: str | None = setting(None, one_of("local", "prompted"))
    reasoner: str | None = setting(None, one_of("local", "prompted", "flan-t5"))

    # Language models
    openai_api_key: str | None = setting(None, secret=True)
    openai_base_url: str | None = setting(None, url("http://127.0.0.1:8080/v1"))
    openai_model: str | None = setting(None)
    models_file: Path | None = setting(None, path())
    local_model: str | None = setting(None, HUB_FILE)
    local_servers: bool = setting(True, switch())
    model_seed: int | None = setting(None, within(RANGES["model_seed"]))
    model_temperature: float | None = setting(None, within(RANGES["temperature"]))
    model_max_tokens: int | None = setting(None, within(RANGES["max_tokens"]))
    overlap: str = setting("remote", one_of("remote", "all", "off"))
    cache_mb: int = setting(100, whole(0, 100_000))

    # Local models
    model_sources: tuple[str, ...] = setting(MODEL_SOURCES, SOME_SOURCES)
    local_models: tuple[Path, ...] = setting((), paths())
    question_model: Path | None = setting(None, path())
    read_with: str = setting("local", one_of("local", "model"))
    flan_t5: str = setting("google/flan-t5-base")
    question_seq2seq: str | None = setting(None)
    next_question_seq2seq: str | None = setting(None)
    java_home: Path | None = setting(None, path())
    java_memory: str = setting("512m", like(r"[1-9]\d*[mg]", "a size like 512m or 2g"))

    # Web search
    search: str | None = setting(None, one_of(*SEARCHES))
    searxng_url: str | None = setting(None, url("http://127.0.0.1:8888"))
    brave_api_key: str | None = setting(None, secret=True)
    tavily_api_key: str | None = setting(None, secret=True)
    serper_api_key: str | None = setting(None, secret=True)
    fact_check_api_key: str | None = setting(None, secret=True)
    fact_check_url: str = setting(FACT_CHECK_TOOLS, url("http://127.0.0.1:8888/claims"))
    fetch_robots: bool = setting(True, switch())
    wikipedia: str = setting("en", LANGUAGE)
    contact: str | None = setting(None, like(r"[!-'*-~]{3,200}", "an e-mail address or a URL"))
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The variables that MODELS_FILE names, and all named like SOME_API_KEY."""

    def __post_init__(self) -> None:
        if not self.database_url:
            object.__setattr__(self, "database_url", f"sqlite:///{self.instance / 'hopcheck.sqlite3'}")

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """Parse the settings in `env`. Raises SettingsError with one line for the first invalid value."""
        values: dict[str, Any] = {}
        for name, each in settings_fields().items():
            if raw := env.get(name, "").strip():
                try:
                    values[each.name] = each.metadata["parse"](raw)
                except (ValueError, KeyError):
                    # The message leaves out the value, which may be a password.
                    raise SettingsError(f"{name} must be {each.metadata['choices']}") from None
        named = _keys_named_in(values.get("models_file"))
        given = {name: raw.strip() for name, raw in env.items() if name in named or name.endswith("_API_KEY")}
        return cls(**values, keys={name: key for name, key in given.items() if key})

    @property
    def is_local(self) -> bool:
        """Return whether only this machine can reach the server, so that only this machine's names are answered.

        ALLOWED_HOSTS or a reverse proxy (PROXIES) says otherwise.
        """
        return is_loopback(self.host) and not self.allowed_hosts and not self.proxies

    def by_name(self) -> dict[str, Any]:
        """Return the values and the keys by the names of their environment variables."""
        return {**self.keys, **{name: getattr(self, each.name) for name, each in settings_fields().items()}}

    def signing_key(self) -> str:
        """Return SECRET_KEY, or the random key in the instance folder."""
        return self.secret_key or secret_key.load_or_create(self.instance / "secret_key")


def settings_fields() -> dict[str, Field]:
    """Return the fields that are settings by their environment variables, with `choices` in their metadata."""
    return {each.name.upper(): each for each in fields(Settings) if each.metadata}


def is_loopback(host: str) -> bool:
    """Return whether a host name or address without port and brackets is one of this machine's loopback interface."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _keys_named_in(models_file: Path | None) -> set[str]:
    """Return the variables that the file names as keys; the registry of models reports a file that is invalid."""
    try:
        document = tomllib.loads(models_file.read_text(encoding="utf-8")) if models_file else {}
    except (OSError, ValueError):
        return set()
    entries = document.get("model")
    entries = entries if isinstance(entries, list) else []
    return {str(entry.get("api_key_env", "")) for entry in entries if isinstance(entry, dict)}


def load_settings(root: Path = ROOT) -> Settings:
    """Load the settings from the environment first, then from `.env` in `root`.

    An invalid value ends the process (SystemExit) with one line on standard error.
    """
    try:
        from_file = {name: value or "" for name, value in dotenv_values(root / ".env").items()}
        return Settings.from_env({**from_file, **{name: value for name, value in os.environ.items() if value.strip()}})
    except SettingsError as error:
        raise SystemExit(f"Hopcheck cannot start: {error}.") from None
    except (OSError, UnicodeDecodeError):
        raise SystemExit(f"Hopcheck cannot start: {root / '.env'} cannot be read, or is no text in UTF-8.") from None
