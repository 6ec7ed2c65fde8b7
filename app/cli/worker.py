"""`flask --app app worker`: execute runs that web processes stored, on this machine or on another.

A worker reads the same settings as the web processes and needs their DATABASE_URL and REDIS_URL. Its models are loaded
in the background once it is up, and shared by the WORKERS runs that it carries out at the same time.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import click
from flask import Flask, current_app
from flask.cli import with_appcontext

from app.components import keep_warm
from app.logging import configure_logging
from app.web.services import AppServices, services

if TYPE_CHECKING:
    from wsgiref.simple_server import WSGIServer

    from celery import Celery


SHUTDOWN_SECONDS = 8.0
"""Time that a stopping worker gives a call in progress."""


def register(app: Flask) -> None:
    """Add the command."""
    app.cli.add_command(worker)


@click.command()
@click.option("--queues", default="people,batches", show_default=True, help="The queues to work on, the first first.")
@click.option("--metrics-port", type=click.IntRange(1, 65535), help="Answer /metrics there, on this machine alone.")
@with_appcontext
def worker(queues: str, metrics_port: int | None) -> None:
    """Carry out runs until told to leave (needs REDIS_URL)."""
    here = services()
    if not here.settings.redis_url:
        raise click.UsageError("REDIS_URL is not set, so web processes carry out their runs themselves.")
    configure_logging(here.settings.log_level)
    if metrics_port:
        measure(here, metrics_port)
    app = celery_worker(current_app._get_current_object(), here)  # type: ignore[attr-defined] # a proxy
    level = here.settings.log_level
    app.worker_main(["worker", "--queues", queues, "--loglevel", level, "--without-gossip", "--without-mingle"])


def celery_worker(flask_app: Flask, here: AppServices) -> Celery:
    """The Celery application whose one task carries out a run of `here`."""
    from celery.signals import worker_ready, worker_shutting_down

    from app.runs.celery_jobs import CARRY_OUT, celery_app

    app = celery_app(here.settings.redis_url, here.settings.workers)

    @app.task(name=CARRY_OUT, shared=False)
    def carry_out(run_id: str) -> None:
        here.runs.carry_out(run_id)

    @worker_ready.connect(weak=False)
    def up(**_: object) -> None:
        here.runs.serve()
        threading.Thread(target=keep_warm, args=(here.container,), name="warm", daemon=True).start()

    @worker_shutting_down.connect(weak=False)
    def leave(**_: object) -> None:
        threading.Thread(target=_leave, args=(here,), name="leave", daemon=True).start()

    return app


def measure(here: AppServices, port: int) -> WSGIServer:
    """Tell Prometheus of the runs of `here` at that port, in a thread, until the server that this returns is shut."""
    from prometheus_client import start_http_server

    from app.runs.metrics import Metrics

    metrics = Metrics(here.runs.overview)
    here.runs.use_metrics(metrics)
    try:
        server, _ = start_http_server(port, "127.0.0.1", metrics.registry)
    except OSError as error:
        raise click.ClickException(f"Port {port} cannot be used for metrics: {error.strerror}.") from None
    return server


def _leave(here: AppServices) -> None:
    """Release the runs, so that another worker resumes them at once, and exit without waiting for long calls."""
    here.runs.stop()
    threading.Event().wait(SHUTDOWN_SECONDS)
    os._exit(0)
