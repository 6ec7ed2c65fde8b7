"""The command groups `runs`, `tokens` and `cache`, with which the operator manages all runs, API tokens and the
cache, and the command `worker`, which executes runs that web processes stored, on this machine or on another.

A worker reads the same settings as the web processes and needs their DATABASE_URL and REDIS_URL. It loads its models in
the background after its start; the WORKERS runs that it executes at once share them.
"""

from __future__ import annotations

import json
import os
import re
import threading
from typing import TYPE_CHECKING

import click
from flask.cli import with_appcontext

from app.cli.output import CommandGroup, print_event, print_line, print_verdict
from app.components import keep_warm
from app.logging import configure_logging
from app.runs.call_log import MEGABYTE
from app.runs.projections import RunFilter
from app.runs.transfer import run_as_dict
from app.web import AppServices, services
from app.web.auth import new_token, token_line

if TYPE_CHECKING:
    from wsgiref.simple_server import WSGIServer

    from celery import Celery

runs = CommandGroup("runs", help="Everybody's runs, and reports that their owners have published (PUBLISHING=on).")

MAX_LISTED = 1000
TAKES_AN_ID = {"ignore_unknown_options": True}
"""Context settings of a command that takes an id: one id in 64 begins with a dash, as options do."""


@runs.command("list")
@click.option("--outcome", default="", help="A label like REFUTED, or running, failed or interrupted.")
@click.option("--words", default="", help="Words that the claim has in it.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, MAX_LISTED), help="Lines at most.")
def listing(outcome: str, words: str, limit: int) -> None:
    """List the newest runs, newest first: date, id, outcome, claim. Deleted runs are left out."""
    found = services().runs.queries.newest(RunFilter(words, outcome), limit)
    for each in found:
        _print_run(f"{each.created_at:%Y-%m-%d %H:%M}  {each.id}  {each.label or each.state}", each.claim)


@runs.command("show", context_settings=TAKES_AN_ID)
@click.argument("run_id")
@click.option("--json", "as_json", is_flag=True, help="Print the run as one JSON object.")
def show(run_id: str, as_json: bool) -> None:
    """Show the run RUN_ID as `check` would have."""
    run = services().runs.report(run_id)
    events = services().runs.follow(run_id, 0, 0)
    if run is None:
        raise click.ClickException("There is no such run.")
    if as_json:
        return click.echo(json.dumps(run_as_dict(run), ensure_ascii=False))
    _print_run(f"{run.created_at:%Y-%m-%d %H:%M}  {run.report.ended or 'running'}", run.report.claim.text)
    for stored in events:
        print_event(stored.event, print_line)
    if run.report.verdict:
        return print_verdict(run.report.verdict, run.report, print_line)
    print_line(str(run.report.problem))


@runs.command("purge")
@click.option("--older-than", "age", required=True, help="Days since the end, like 90d.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge(age: str, yes: bool) -> None:
    """Delete for good the unpublished runs that ended long ago, and old batches without runs."""
    if not re.fullmatch(r"[0-9]{1,5}d", age):
        raise click.UsageError("--older-than takes days, like 90d.")
    days, deletion = int(age[:-1]), services().runs.deletion
    number = deletion.count_older(days)
    if number and not yes:
        click.confirm(f"Runs to be deleted for good: {number}. Go on?", abort=True)
    click.echo(f"Runs deleted for good: {deletion.purge_older(days)}.")
    services().batches.forget(days)


@runs.command("published")
def published() -> None:
    """List published reports, newest first: date, id, label, claim."""
    found = services().runs.publishing.listed(limit=MAX_LISTED)
    for each in found:
        _print_run(f"{each.published_at:%Y-%m-%d %H:%M}  {each.id}  {each.label}", each.claim)
    if len(found) == MAX_LISTED:
        click.echo("There may be more.", err=True)


@runs.command("take-down", context_settings=TAKES_AN_ID)
@click.argument("run_id")
def take_down(run_id: str) -> None:
    """Take the report RUN_ID out of the gallery. Its owner sees why, and needs `runs allow` to publish it again."""
    taken = services().runs.publishing.take_down(run_id)
    if not taken:
        raise click.ClickException("There is no such report, or it was taken down already.")
    click.echo(f"It stays out of the gallery until `runs allow {run_id}`. Anybody with its link can still read it.")


@runs.command("allow", context_settings=TAKES_AN_ID)
@click.argument("run_id")
def allow(run_id: str) -> None:
    """Let the owner publish the report RUN_ID again, which was taken down."""
    allowed = services().runs.publishing.allow(run_id)
    if not allowed:
        raise click.ClickException("There is no such report that was taken down.")
    click.echo("Its owner may publish it again.")


def _print_run(about: str, claim: str) -> None:
    print_line(f"{about}  {' '.join(claim.split())}")


tokens = CommandGroup("tokens", help="Tokens for the JSON API.")


@tokens.command("new")
@click.argument("name")
def new(name: str) -> None:
    """Make a token for NAME. Print it, this once only, and the line to add to the file of API_TOKENS.

    The token goes to standard output, the rest to standard error. Nothing is written to a file.
    """
    token = new_token()
    line = token_line(name, token)
    path = services().settings.api_tokens
    where = f"to {path}" if path else "to a file, and name that file in API_TOKENS"
    click.echo("This token gives access to the API and is printed only now:", err=True)
    click.echo(token)
    click.echo(f"Add this line {where}:\n{line}", err=True)


cache = CommandGroup("cache", help="Cached replies of language models and search engines, and fetched pages.")


@cache.command("show")
def show_cache() -> None:
    """Print the number of stored replies and their share of CACHE_MB."""
    count, size = services().calls.size()
    limit = services().settings.cache_mb
    click.echo(f"{count:,} {'reply' if count == 1 else 'replies'}, {size / MEGABYTE:.1f} of {limit:,} MB (CACHE_MB)")


@cache.command("purge")
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge_cache(yes: bool) -> None:
    """Delete every cached reply. The next calls are made, and paid for, again."""
    count, _ = services().calls.size()
    if not yes:
        click.confirm(f"Forget {count:,} {'reply' if count == 1 else 'replies'}?", abort=True)
    click.echo(f"{services().calls.purge():,} forgotten")


SHUTDOWN_SECONDS = 8.0
"""Time for which a stopping worker waits for calls in progress."""


@click.command()
@click.option("--queues", default="people,batches", show_default=True, help="Queues to work on, in order of priority.")
@click.option("--metrics-port", type=click.IntRange(1, 65535), help="Port of /metrics, open to this machine only.")
@click.option("--name", default="celery", show_default=True, help="Its name on this machine, one for each worker.")
@with_appcontext
def worker(queues: str, metrics_port: int | None, name: str) -> None:
    """Carry out runs until stopped (needs REDIS_URL)."""
    app_services = services()
    if not app_services.settings.redis_url:
        raise click.UsageError("REDIS_URL is not set, so web processes execute their runs themselves.")
    configure_logging(app_services.settings.log_level, app_services.settings.log_format)
    if metrics_port:
        serve_metrics(app_services, metrics_port)
    app = celery_worker(app_services)
    level = app_services.settings.log_level
    arguments = ["worker", "--hostname", f"{name}@%h", "--queues", queues, "--loglevel", level]
    app.worker_main([*arguments, "--without-gossip", "--without-mingle"])


def celery_worker(app_services: AppServices) -> Celery:
    """Return the Celery application, whose only task executes a run."""
    from celery.signals import worker_ready, worker_shutting_down

    from app.runs.celery_jobs import CARRY_OUT, celery_app

    app = celery_app(app_services.settings.redis_url, app_services.settings.workers)

    @app.task(name=CARRY_OUT, shared=False)
    def carry_out(run_id: str) -> None:
        app_services.runs.carry_out(run_id)

    @worker_ready.connect(weak=False)
    def start(**_: object) -> None:
        app_services.runs.serve()
        threading.Thread(target=keep_warm, args=(app_services.container,), name="warm", daemon=True).start()

    @worker_shutting_down.connect(weak=False)
    def shut_down(**_: object) -> None:
        threading.Thread(target=_shut_down, args=(app_services,), name="shutdown", daemon=True).start()

    return app


def serve_metrics(app_services: AppServices, port: int) -> WSGIServer:
    """Serve Prometheus metrics of the runs on that port, in a thread; return the server."""
    from prometheus_client import start_http_server

    from app.runs.metrics import Metrics

    metrics = Metrics(app_services.runs.queries)
    app_services.runs.use_metrics(metrics)
    try:
        server, _ = start_http_server(port, "127.0.0.1", metrics.registry)
    except OSError as error:
        raise click.ClickException(f"Port {port} cannot be used for metrics: {error.strerror}.") from None
    return server


def _shut_down(app_services: AppServices) -> None:
    """Release the runs, so that another worker resumes them at once, and exit without waiting for long calls."""
    app_services.runs.stop()
    threading.Event().wait(SHUTDOWN_SECONDS)
    os._exit(0)
