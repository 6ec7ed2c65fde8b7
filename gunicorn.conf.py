"""How `gunicorn` serves the application: one process, many threads.

One process, because models are large and runs are carried out in it; threads, because an open run page holds one.
What is loaded, connected and taken up happens in the worker, after the fork.
"""

import logging
import selectors
import signal
import threading
import time
from contextlib import suppress
from functools import partial

from gunicorn.glogging import Logger
from gunicorn.workers.gthread import ThreadWorker

from app.bootstrap import startup_problem
from app.components import keep_warm
from app.config.settings import load_settings
from app.logging import configure_logging, formatter
from app.web.http_delivery import ShortenTimeouts, set_socket_timeouts

_settings = load_settings()


class Worker(ThreadWorker):
    """Gunicorn's threaded worker, whose main thread and whose other connections wait for no client."""

    def enqueue_req(self, conn):
        """Give a connection a thread once something arrived on it; new ones wait in the poller, `keepalive` seconds."""
        if conn.initialized or conn.data_ready:
            super().enqueue_req(conn)
            return
        conn.sock.setblocking(False)
        conn.set_timeout()
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def handle(self, conn):
        """Close the connection here: Gunicorn would wait in its main thread, 2 s for a client that does not close."""
        is_kept = super().handle(conn)
        if not is_kept:
            with suppress(OSError):  # it may be closed already
                conn.close(graceful=True)
            conn.close = lambda graceful=False: None
        return is_kept


class JsonLogger(Logger):
    """Gunicorn's own lines as JSON."""

    def setup(self, cfg):
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(formatter("json"))


if _settings.log_format == "json":
    logger_class = JsonLogger
wsgi_app = "app:create_app(commands=False)"
bind = f"{_settings.host}:{_settings.port}"
workers = 1
worker_class = Worker
worker_connections = 800  # below the usual limit of 1024 open files, at which the worker would end
threads = 700  # one for each connection with a request; how many of them compute at once is THREADS (ThreadLimit)
forwarded_allow_ips = ""  # scheme, host and address of a proxy are read by the application, if PROXIES says so
timeout = 120
graceful_timeout = 8  # of the 10 s that leaving may take: whatever a page or a call does, it is ended then
keepalive = 5
loglevel = _settings.log_level.lower()
control_socket_disable = True  # it would be made in the home folder, outside the clone


def on_starting(server):
    """Where it cannot serve, say why in one line and leave, before a worker is made."""
    if reason := startup_problem(_settings):
        raise SystemExit(f"Hopcheck cannot start: {reason}")


def when_ready(server):
    """Whoever connects from now on has to go on, or is cut off."""
    set_socket_timeouts(listener.sock for listener in server.LISTENERS)


def post_worker_init(worker):
    """Take up the runs that were left unfinished, and load the models without keeping the first page waiting."""
    configure_logging(_settings.log_level, _settings.log_format)
    logging.getLogger("gunicorn.error").addFilter(ShortenTimeouts())
    here = worker.wsgi.extensions["hopcheck"]
    here.runs.serve()
    if not _settings.redis_url:  # else workers carry the runs out, and they alone need the models
        threading.Thread(target=keep_warm, args=(here.container,), name="warm", daemon=True).start()
    threading.Thread(target=_leave_with, args=(worker, here.runs), name="leave", daemon=True).start()


def worker_int(worker):
    """Interrupted, a worker ends at once: its runs must be free before.

    After Ctrl-C the master's own signal follows the terminal's; handled in the middle, it would end the process there.
    """
    for another in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(another, signal.SIG_IGN)
    if worker.booted:
        worker.wsgi.extensions["hopcheck"].runs.stop()


def _leave_with(worker, runs):
    """Once the worker is told to go, let go of its runs and their followers: nobody waits for a timeout.

    Gunicorn has a hook for an interrupt but none for a termination, so this looks.
    """
    while worker.alive:
        time.sleep(0.2)
    runs.stop()
