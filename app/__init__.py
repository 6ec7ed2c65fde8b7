"""Hopcheck checks a claim one question at a time and shows the evidence for every answer.

    from hopcheck import check
    report = check("The director of Seven Samurai made 30 feature films.")

Imports are inside the functions: importing `app.domain` runs this file, and must need only the standard library.
"""

from __future__ import annotations

import logging
import secrets
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask import Flask
    from sqlalchemy.orm import Session, sessionmaker

    from app.config.settings import Settings
    from app.container.container import Container
    from app.domain.events import Event
    from app.runs.report_schema import RunReport
    from app.runs.service import Limits
    from app.site_setup import SiteSetup

log = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parent.parent

CONNECTIONS_FOR_PAGES = 8
"""Database connections in addition to one per run, so that runs waiting to write do not block pages."""


def create_app(settings: Settings | None = None, container: Container | None = None, commands: bool = True) -> Flask:
    """Create the application. `settings` default to the environment and `.env`, `container` to one built from them.

    Models are loaded later, by `container.warm()`. Servers leave out `commands` (command line and migrations) to
    start faster.
    """
    from flask import Flask

    from app.config.settings import load_settings
    from app.web import add_routes, views
    from app.web.http_delivery import ThreadLimit, cache_static_files, compress
    from app.web.language import add_languages

    settings = settings or load_settings(ROOT)
    app = Flask(
        __name__,
        instance_path=str(settings.instance),
        template_folder=str(ROOT / "templates"),
        static_folder=str(ROOT / "static"),
    )
    app.secret_key = _signing_key(settings)
    add_languages(app)
    app.jinja_env.filters.update(views.FILTERS)
    _guard(app, settings)
    cache_static_files(app)
    compress(app)
    app.wsgi_app = ThreadLimit(app.wsgi_app, settings.threads)  # type: ignore[method-assign]
    add_routes(app)
    _add_services(app, settings, container)
    if commands:
        _add_commands(app)
    return app


def _guard(app: Flask, settings: Settings) -> None:
    """Log requests and refuse those that are not allowed. The order of the calls matters."""
    from app.web.access import limit_requests, require_host, require_operator, require_password
    from app.web.errors import register_error_pages
    from app.web.observability import log_requests
    from app.web.security import protect

    log_requests(app)
    require_host(app, settings)
    require_password(app, settings)
    require_operator(app)
    protect(app, settings)
    limit_requests(app, settings)
    register_error_pages(app)


def check(
    claim: str, *, on_event: Callable[[Event], None] | None = None, app: Flask | None = None, **options: Any
) -> RunReport:
    """Check a claim, wait for the end, and return the report, which is also stored.

    With REDIS_URL a worker executes the run; without, this process does.

    `options` are the other fields of POST /api/v1/runs (docs/api.md), such as `speaker`, `date` and `source`.
    `on_event` gets each event as it is stored. `app` comes from `create_app`; without it all calls share one
    application, which loads its models once. A run that fails returns a report without a label and with a `problem`.
    Raises InvalidInput for an input that cannot be checked, and Rejected when too many checks wait.
    """
    from app.domain.errors import HopcheckError
    from app.domain.messages import Code
    from app.run_request import RunRequest
    from app.runs.report_schema import RunReport
    from app.runs.transfer import report_fields

    services = (app or _shared_app()).extensions["hopcheck"]
    run_request = RunRequest.resolve({"claim": claim, **options}, services.container.capabilities())
    run_id = services.runs.start(run_request.claim, run_request.options, "python")
    try:
        for stored in services.runs.until_end(run_id):
            if on_event:
                on_event(stored.event)
    except BaseException:
        services.runs.interrupt(run_id, Code.CLIENT_LEFT())
        raise
    if (run := services.runs.report(run_id)) is None:
        raise HopcheckError("The check was deleted while it was running.")
    return RunReport(**report_fields(run))


_shared_app_lock = threading.Lock()


def _shared_app() -> Flask:
    with _shared_app_lock:
        return _make_shared_app()


@cache
def _make_shared_app() -> Flask:
    return create_app(commands=False)


def _signing_key(settings: Settings) -> str:
    """Return the stored key. Without a valid one servers do not start and commands use a random key."""
    from app.domain.errors import SettingsError

    try:
        return settings.signing_key()
    except SettingsError as error:
        log.error("%s. Cookies last until this process ends.", error)
        return secrets.token_urlsafe(32)


def _container(settings: Settings) -> Container:
    """Build the container. An unusable MODELS_FILE ends the process with one line."""
    from app.container.container import Container
    from app.domain.errors import SettingsError

    try:
        return Container(settings)
    except SettingsError as error:
        raise SystemExit(f"Hopcheck cannot start: {str(error).rstrip('.')}.") from None


def _add_services(app: Flask, settings: Settings, container: Container | None) -> None:
    from app.batches.service import Batches
    from app.runs.call_log import CallLog
    from app.runs.service import Runs
    from app.web import AppServices
    from app.web.sse import Followers

    container = container or _container(settings)
    sessions = _database(app, settings)
    calls = CallLog(sessions, settings.cache_mb)
    runs = Runs(
        sessions,
        container.loading_strategy_for,
        workers=settings.workers,
        max_waiting=settings.max_waiting,
        limits=_limits(settings),
        calls=calls,
        retention_days=settings.retention_days,
        **_distributed(settings),
    )
    batches = Batches(sessions, runs, settings.workers, settings.retention_days)
    followers = Followers(settings.threads)

    @cache
    def setup() -> SiteSetup:  # few processes need its modules
        from app.site_setup import SiteSetup

        return SiteSetup(settings)

    app.extensions["hopcheck"] = AppServices(settings, container, runs, batches, followers, calls, setup)
    if settings.metrics_token:
        from app.runs.metrics import Metrics

        app.extensions["hopcheck.metrics"] = metrics = Metrics(runs.queries, lambda: followers.count)
        runs.use_metrics(metrics)


def _database(app: Flask, settings: Settings) -> sessionmaker[Session]:
    """Return the session factory. It connects at first use, and so after any fork."""
    from sqlalchemy.orm import sessionmaker

    from app.extensions import db

    with suppress(OSError):  # the database reports the problem, and `doctor` still works
        settings.instance.mkdir(parents=True, exist_ok=True)
    app.config["SQLALCHEMY_DATABASE_URI"] = settings.database_url
    app.config["SQLALCHEMY_ENGINE_OPTIONS"] = {
        "pool_pre_ping": not settings.database_url.startswith("sqlite"),
        "pool_size": settings.workers + CONNECTIONS_FOR_PAGES,
    }
    db.init_app(app)
    with app.app_context():
        return sessionmaker(db.engine)


def _distributed(settings: Settings) -> dict[str, Any]:
    if not settings.redis_url:
        return {}
    from app.runs.celery_jobs import CeleryJobs
    from app.runs.notifications import RedisNotifier

    url = settings.redis_url
    return {"jobs": lambda carry_out, workers: CeleryJobs(carry_out, url), "notifier": RedisNotifier(url)}


def _add_commands(app: Flask) -> None:
    from flask_migrate import Migrate

    from app import cli
    from app.extensions import db
    from app.runs.schema_version import MIGRATIONS

    Migrate(app, db, directory=str(MIGRATIONS))
    cli.register(app)


def _limits(settings: Settings) -> Limits:
    from app.runs.service import Limits

    return Limits(
        seconds=settings.run_seconds,
        calls=settings.run_calls,
        tokens=settings.run_tokens,
        cost=settings.run_cost,
        day_calls=settings.day_calls,
        day_tokens=settings.day_tokens,
        day_cost=settings.day_cost,
    )
