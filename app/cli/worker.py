"""The command `worker`: execute runs that web processes stored, on this machine or on another.

A worker reads the same settings as the web processes and needs their DATABASE_URL and REDIS_URL. It loads its models in
the background after its start; the WORKERS runs that it executes at once share them.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import click
from flask.cli import with_appcontext

from app.components import keep_warm
from app.logging import configure_logging
from app.web import AppServices, services

if TYPE_CHECKING:
    from wsgiref.simple_server import WSGIServer

    from celery import Celery


SHUTDOWN_SECONDS = 8.0
"""Time for which a stopping worker waits for calls in progress."""


@click.command()
@click.option("--queues", default="people,batches", show_default=True, help="The queues to work on, the first first.")
@click.option("--metrics-port", type=click.IntRange(1, 65535), help="Answer /metrics there, on this machine alone.")
@click.option("--name", default="celery", show_default=True, help="Its name on this machine, one for each worker.")
@with_appcontext
def worker(queues: str, metrics_port: int | None, name: str) -> None:
    """Carry out runs until told to leave (needs REDIS_URL)."""
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

    metrics = Metrics(app_services.runs.overview)
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
