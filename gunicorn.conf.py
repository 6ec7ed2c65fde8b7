"""Settings of Gunicorn: one process, because models are large, with many threads, because each open run page holds one.

Models are loaded, and runs resumed, in the worker after the fork.
"""

import logging
import selectors
import signal
import sys
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
from app.web.http_delivery import HalfSentRequests, RequestReader, SlowClientLogFilter, set_socket_timeouts

_settings = load_settings()

MAX_SILENT = 200
"""Connections without a first byte, of which the oldest is closed when there are more."""


class Worker(ThreadWorker):
    """Gunicorn's threaded worker, in which a slow client delays neither the main thread nor other connections."""

    half_sent = HalfSentRequests()

    def enqueue_req(self, conn):
        """Give a connection a thread once data has arrived; until then it waits in the poller, up to `keepalive` s."""
        if conn.initialized or conn.data_ready:
            super().enqueue_req(conn)
            return
        conn.sock.setblocking(False)
        conn.set_timeout()
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def murder_pending(self):
        """Also close the oldest silent connections above the maximum.

        This runs once all that the poller reported is done: an event of a closed connection would end the process.
        """
        for number in range(len(self.pending_conns) - MAX_SILENT):
            self.pending_conns[number].timeout = 0.0
        super().murder_pending()

    def handle(self, conn):
        """Read the request with a deadline. Also close the connection here: Gunicorn would do so in its main thread.

        There it would wait for the client, up to 2 s.
        """
        if not conn.initialized:
            conn.init()
            reader = RequestReader(conn.sock, self._address(conn), self.half_sent)
            reader.unread(conn.parser.unreader.take_buffered())
            conn.parser.unreader = reader
        else:
            conn.parser.unreader.begin()
        is_kept = super().handle(conn)
        if not is_kept:
            with suppress(OSError):  # it may be closed already
                conn.close(graceful=True)
            conn.close = lambda graceful=False: None
        return is_kept

    @staticmethod
    def _address(conn):
        """Return the client's address, "" for a Unix socket."""
        return conn.client[0] if conn.client else ""


class JsonLogger(Logger):
    """Write Gunicorn's own log lines as JSON."""

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
worker_connections = 800  # below the usual limit of 1024 open files, at which the worker would exit
threads = 700  # one for each connection with a request; at most THREADS of them compute at once (ThreadLimit)
forwarded_allow_ips = ""  # the application reads scheme, host and address from trusted proxies (PROXIES)
timeout = 120
graceful_timeout = 8  # seconds; requests still open then are cut off, so that a stop takes less than 10 s
keepalive = 5
loglevel = _settings.log_level.lower()
control_socket_disable = True  # the socket would be created in the home folder


def on_starting(server):
    """Exit with one line that says why if the server cannot start, before a worker is forked."""
    if reason := startup_problem(_settings):
        raise SystemExit(f"Hopcheck cannot start: {reason}")


def when_ready(server):
    """Set the timeouts after which clients that neither send nor read are disconnected."""
    set_socket_timeouts(listener.sock for listener in server.LISTENERS)


def post_worker_init(worker):
    """Start to execute runs, unfinished ones first, and load the models in the background."""
    configure_logging(_settings.log_level, _settings.log_format)
    logging.getLogger("gunicorn.error").addFilter(SlowClientLogFilter())
    app_services = worker.wsgi.extensions["hopcheck"]
    app_services.runs.serve()
    if not _settings.redis_url:  # else workers execute the runs, and only they need the models
        threading.Thread(target=keep_warm, args=(app_services.container,), name="warm", daemon=True).start()
    threading.Thread(target=_stop_runs_at_exit, args=(worker, app_services.runs), name="shutdown", daemon=True).start()
    if worker.age == 1 and _settings.log_format == "text":  # not for a worker that replaces another
        print(f"Open {_address()}", file=sys.stderr, flush=True)


def _address():
    """Return the site's address for a browser on this machine."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(_settings.host, _settings.host)
    return f"http://[{host}]:{_settings.port}" if ":" in host else f"http://{host}:{_settings.port}"


def worker_int(worker):
    """Release the runs of an interrupted worker, which exits right after this.

    Further signals are ignored: after Ctrl-C the master's signal follows the terminal's and would end the process.
    """
    for another in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(another, signal.SIG_IGN)
    if worker.booted:
        worker.wsgi.extensions["hopcheck"].runs.stop()


def _stop_runs_at_exit(worker, runs):
    """Release the runs and end their streams when the worker shall exit, so that nothing waits for a timeout.

    Gunicorn has a hook for an interrupt but none for a termination, so this polls.
    """
    while worker.alive:
        time.sleep(0.2)
    runs.stop()


def worker_exit(server, worker):
    """Finish releasing the runs: without open streams the process may end before the thread above has done so."""
    if worker.booted:
        worker.wsgi.extensions["hopcheck"].runs.stop()
