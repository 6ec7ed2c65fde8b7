"""The settings, read once from the environment and `.env` into a frozen object.

A test compares the fields with the tables in docs/operations.md. A blank value counts as not set.
"""

# ruff: noqa: RUF009 - `setting` makes a dataclass field, as `field` does

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from dotenv import dotenv_values

from app.config.kinds import (
    database,
    is_loopback,
    keys_named_in,
    like,
    load_or_create_secret,
    names,
    number,
    one_of,
    origins,
    setting,
    some_of,
    switch,
    whole,
    within,
)
from app.domain.errors import SettingsError
from app.domain.model import ANSWERERS, RANGES

ROOT = Path(__file__).resolve().parents[2]

STRATEGIES = ("question-guided", "evidence-pursuit", "direct", "chain-of-thought")
SEARCHES = ("corpus", "searxng", "brave", "tavily", "serper")
"""The corpora, then the modules of app/backends/web_search: the first of these that is set up is the default."""
PRESETS = ("local", "prompted", "local+flan-t5", "prompted+flan-t5", "qacheck")
"""Mixes of modules (capabilities/options.py): local or prompted ones, a FLAN-T5 reasoner, QACheck's own prompts."""

MAX_CLAIMS = 10_000
"""The highest value of BATCH_CLAIMS."""

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
LOG_FORMATS = ("text", "json")


_RATE = r"[1-9]\d{0,6} per (second|minute|hour|day)"


def _path(raw: str) -> Path:
    """Resolve relative paths against the checkout. Raises ValueError for the home of a user who has none."""
    try:
        return ROOT / Path(raw).expanduser()
    except RuntimeError as error:
        raise ValueError(raw) from error


def _paths(raw: str) -> tuple[Path, ...]:
    return tuple(_path(each) for each in raw.split(os.pathsep) if each)


@dataclass(frozen=True)
class Settings:
    """The settings, each validated on its own. A model or JVM that does not exist is reported when it is loaded."""

    host: str = setting("HOST", "127.0.0.1", "Address the server listens on")
    port: int = setting("PORT", 8000, "Port the server listens on", **whole(1, 65535))
    instance: Path = setting(
        "INSTANCE", ROOT / "instance", "Folder for the database, the index and prepared models", _path, "a path"
    )
    database_url: str = setting(
        "DATABASE_URL",
        "",
        "Database, as SQLAlchemy writes it; a SQLite file in the instance folder when not set",
        **database(),
    )
    redis_url: str = setting(
        "REDIS_URL",
        "",
        "Redis, which sends runs to workers and notifies followers; without it this process executes its runs itself",
        **like(r"rediss?://\S+", "a URL like redis://host:6379/0"),
    )
    secret_key: str | None = setting("SECRET_KEY", None, "Signs cookies; made once and kept in the instance folder")
    strategy: str = setting("STRATEGY", "question-guided", "Strategy used by default", **one_of(*STRATEGIES))
    source: str | None = setting(
        "SOURCE", None, "Source of answers by default", **like(r"[a-z0-9][\w.-]*", "a source's name, like vital or web")
    )
    answerer: str = setting("ANSWERER", ANSWERERS[0], "Answerer used by default", **one_of(*ANSWERERS))
    max_hops: int = setting("MAX_HOPS", 5, "Maximum number of hops in a run, kept or not", **within(RANGES["max_hops"]))
    workers: int = setting("WORKERS", 2, "Runs executed at once; others wait in the queue", **whole(1, 64))
    max_waiting: int = setting(
        "MAX_WAITING", 20, "Runs that may wait in the queue; further runs are refused", **whole(0, 10_000)
    )
    run_seconds: int = setting(
        "RUN_SECONDS", 300, "Seconds after which a run concludes with what it has", **whole(1, 86_400)
    )
    call_seconds: int = setting(
        "CALL_SECONDS", 60, "Seconds after which one call of a model or a server has failed", **whole(1, 3_600)
    )
    rate_limit: str = setting(
        "RATE_LIMIT",
        "20 per minute, 500 per day",
        "Runs that one address or token may start",
        **like(rf"{_RATE}(, {_RATE})*", "rates like '20 per minute, 500 per day'"),
    )
    https: bool = setting(
        "HTTPS", False, "Whether the site is reached by https: cookies are then sent over https only", **switch()
    )
    proxies: int = setting(
        "PROXIES", 0, "Reverse proxies in front of the server, whose X-Forwarded headers are trusted", **whole(0, 9)
    )
    allowed_hosts: tuple[str, ...] = setting(
        "ALLOWED_HOSTS",
        (),
        "Host names that requests may use; when not set any, with HOST on loopback its own",
        **names(),
    )
    api_tokens: Path | None = setting(
        "API_TOKENS",
        None,
        "Path of a file with hashed tokens, one of which the API then asks for",
        _path,
        "a path",
    )
    site_password: str | None = setting(
        "SITE_PASSWORD", None, "Password that the whole site asks for", **like(r".{8,}", "text of 8 characters or more")
    )
    metrics_token: str | None = setting(
        "METRICS_TOKEN",
        None,
        "Token that opens /metrics, which is closed without it",
        **like(r"[!-~]{16,}", "text of 16 characters or more without spaces"),
    )
    batch_claims: int = setting(
        "BATCH_CLAIMS", MAX_CLAIMS, "Claims that a batch may have; 0: no batches of visitors", **whole(0, MAX_CLAIMS)
    )
    publishing: bool = setting(
        "PUBLISHING", False, "Whether visitors may publish their reports, which a gallery then lists", **switch()
    )
    embed_on: tuple[str, ...] = setting(
        "EMBED_ON", (), "Sites that may embed reports, with commas between, or *; none when not set", **origins()
    )
    retention_days: int = setting(
        "RETENTION_DAYS", 0, "Days after which ended, unpublished runs are deleted; 0 keeps them", **whole(0, 36_500)
    )
    threads: int = setting(
        "THREADS", 16, "Requests that are computed at once; each open run page takes one", **whole(1, 512)
    )
    torch_threads: int = setting("TORCH_THREADS", 2, "CPU threads that calls of models share", **whole(1, 128))
    question_model: Path | None = setting(
        "QUESTION_MODEL",
        None,
        "Path of another GGUF file of the local model's base, such as another quantisation",
        _path,
        "a path",
    )
    model_sources: tuple[str, ...] = setting(
        "MODEL_SOURCES",
        ("machine", "hub", "packages"),
        "Where the local model's base is looked for, in this order",
        **some_of("machine", "hub", "packages"),
    )
    local_models: tuple[Path, ...] = setting(
        "LOCAL_MODELS",
        (),
        "Files or folders of this machine that may hold the local model's base",
        _paths,
        f"paths with {os.pathsep} between",
    )
    corpora: tuple[str, ...] = setting(
        "CORPORA", ("vital",), "Corpora searched by default, by name, with commas between", **names()
    )
    preset: str = setting("PRESET", "local", "Mix of modules used by default", **one_of(*PRESETS))
    claim_verifier: str | None = setting(
        "CLAIM_VERIFIER", None, "Claim verifier in place of the one in PRESET", **one_of("local", "prompted")
    )
    question_generator: str | None = setting(
        "QUESTION_GENERATOR", None, "Question generator in place of the one in PRESET", **one_of("local", "prompted")
    )
    qa_validator: str | None = setting(
        "QA_VALIDATOR", None, "QA validator in place of the one in PRESET", **one_of("local", "prompted")
    )
    reasoner: str | None = setting(
        "REASONER", None, "Reasoner in place of the one in PRESET", **one_of("local", "prompted", "flan-t5")
    )
    openai_api_key: str | None = setting(
        "OPENAI_API_KEY", None, "Key for the language model's server; any text where the server asks for none"
    )
    openai_base_url: str | None = setting(
        "OPENAI_BASE_URL",
        None,
        "Any server that speaks OpenAI's protocol; OpenAI's own when not set",
        **like(r"https?://[^\s@]+", "a URL like http://127.0.0.1:8080/v1, without a password in it"),
    )
    openai_model: str | None = setting("OPENAI_MODEL", None, "The language model's name on that server")
    models_file: Path | None = setting(
        "MODELS_FILE", None, "TOML file that names several language models", _path, "a path"
    )
    local_model: str | None = setting(
        "LOCAL_MODEL",
        None,
        "GGUF file of a language model that this process runs: a path, or hub:OWNER/REPOSITORY/FILE once it is fetched",
        lambda raw: raw if raw.startswith("hub:") else str(_path(raw)),
        "a path, or hub:OWNER/REPOSITORY/FILE",
    )
    local_servers: bool = setting(
        "LOCAL_SERVERS",
        True,
        "Whether to look for Ollama, LM Studio, llama.cpp and vLLM on this machine",
        **switch(),
    )
    model_seed: int | None = setting(
        "MODEL_SEED",
        None,
        "Seed of language models' replies; 1, or the preset's, when not set",
        **within(RANGES["model_seed"]),
    )
    model_temperature: float | None = setting(
        "MODEL_TEMPERATURE",
        None,
        "Temperature of language models; 0 when not set",
        **within(RANGES["temperature"]),
    )
    model_max_tokens: int | None = setting(
        "MODEL_MAX_TOKENS",
        None,
        "Maximum tokens of a language model's reply; each prompt's own limit when not set",
        **within(RANGES["max_tokens"]),
    )
    run_calls: int = setting(
        "RUN_CALLS",
        100,
        "Calls of models and search engines after which a run concludes with what it has",
        **whole(1, 1_000_000),
    )
    run_tokens: int = setting(
        "RUN_TOKENS", 200_000, "Tokens after which a run concludes with what it has", **whole(1, 10**9)
    )
    run_cost: float | None = setting(
        "RUN_COST", None, "Money after which a run concludes, where prices are set", **number(0)
    )
    day_calls: int | None = setting(
        "DAY_CALLS", None, "Calls of models and search engines of the whole site in a day", **whole(1, 10**9)
    )
    day_tokens: int | None = setting("DAY_TOKENS", None, "Tokens of the whole site in a day", **whole(1, 10**12))
    day_cost: float | None = setting(
        "DAY_COST", None, "Money that the whole site spends in a day, where prices are set", **number(0)
    )
    overlap: str = setting(
        "OVERLAP",
        "remote",
        "Models whose calls may start speculatively: remote ones, those of all servers, or none",
        **one_of("remote", "all", "off"),
    )
    cache_mb: int = setting(
        "CACHE_MB",
        100,
        "Megabytes of cached replies of language models and search engines, and of pages; 0 keeps none",
        **whole(0, 100_000),
    )
    flan_t5: str = setting(
        "FLAN_T5", "google/flan-t5-base", "FLAN-T5 or another model of its kind: a name on the hub, or a folder"
    )
    read_with: str = setting(
        "READ_WITH",
        "local",
        "What reads a recitation: the local model or the one that recites",
        **one_of("local", "model"),
    )
    question_seq2seq: str | None = setting(
        "QUESTION_SEQ2SEQ", None, "Model that asks the first question of a pursuit: a name on the hub, or a folder"
    )
    next_question_seq2seq: str | None = setting(
        "NEXT_QUESTION_SEQ2SEQ", None, "Model that asks its next questions: a name on the hub, or a folder"
    )
    search: str | None = setting(
        "SEARCH",
        None,
        "Search engine used by default; the first that is set up, else the corpora, when not set",
        **one_of(*SEARCHES),
    )
    searxng_url: str | None = setting(
        "SEARXNG_URL",
        None,
        "Address of a SearXNG of your own that answers in JSON",
        **like(r"https?://[^\s@]+", "a URL like http://127.0.0.1:8888, without a password in it"),
    )
    brave_api_key: str | None = setting("BRAVE_API_KEY", None, "Key for Brave's search")
    tavily_api_key: str | None = setting("TAVILY_API_KEY", None, "Key for Tavily's search")
    serper_api_key: str | None = setting("SERPER_API_KEY", None, "Key for Serper's search")
    fact_check_api_key: str | None = setting(
        "FACT_CHECK_API_KEY", None, "Key for Google's Fact Check Tools API, which finds published fact-checks"
    )
    fact_check_url: str = setting(
        "FACT_CHECK_URL",
        "https://factchecktools.googleapis.com/v1alpha1/claims:search",
        "Address that answers like that API's claims:search",
        **like(r"https?://[^\s@]+", "a URL like http://127.0.0.1:8888/claims, without a password in it"),
    )
    wikipedia: str = setting(
        "WIKIPEDIA",
        "en",
        "Language of live Wikipedia, as in its address; off does not offer it",
        **like(r"[a-z]{2,12}(-[a-z]{2,12}){0,2}", "a language as in Wikipedia's address, such as en or simple, or off"),
    )
    contact: str | None = setting(
        "CONTACT",
        None,
        "E-mail address or URL at which Wikipedia's operators reach you",
        **like(r"[!-'*-~]{3,200}", "an e-mail address or a URL"),
    )
    fetch_robots: bool = setting(
        "FETCH_ROBOTS", True, "Whether pages are skipped that their site's robots.txt excludes", **switch()
    )
    java_home: Path | None = setting(
        "JAVA_HOME", None, "Java 21 or newer; the one that installs as a package when not set", _path, "a path"
    )
    java_memory: str = setting(
        "JAVA_MEMORY", "512m", "Maximum memory of the JVM's heap", **like(r"[1-9]\d*[mg]", "a size like 512m or 2g")
    )
    log_level: str = setting("LOG_LEVEL", "INFO", "Least severe log lines that are written", **one_of(*LOG_LEVELS))
    log_format: str = setting("LOG_FORMAT", "text", "Form of log lines: text, or JSON objects", **one_of(*LOG_FORMATS))

    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The variables that MODELS_FILE names, and all named like SOME_API_KEY."""

    def __post_init__(self) -> None:
        if not self.database_url:
            object.__setattr__(self, "database_url", f"sqlite:///{self.instance / 'hopcheck.sqlite3'}")

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """Parse the settings in `env`. Raises SettingsError with one line for the first invalid value."""
        values: dict[str, Any] = {}
        for each in settings_fields():
            name, raw = each.metadata["env"], env.get(each.metadata["env"], "").strip()
            if not raw:
                continue
            try:
                values[each.name] = each.metadata["parse"](raw)
            except (ValueError, KeyError):
                # The message leaves out the value, which may be a password.
                raise SettingsError(f"{name} must be {each.metadata['choices']}") from None
        named = keys_named_in(values.get("models_file"))
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
        return {**self.keys, **{each.metadata["env"]: getattr(self, each.name) for each in settings_fields()}}

    def signing_key(self) -> str:
        """Return SECRET_KEY, or the random key in the instance folder."""
        return self.secret_key or load_or_create_secret(self.instance / "secret_key")


def settings_fields() -> tuple[Field, ...]:
    """Return the fields that are settings, with `env`, `about` and `choices` in their metadata."""
    return tuple(each for each in fields(Settings) if each.metadata)


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
