"""Liveness and readiness checks, and Prometheus metrics, which a token protects."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from urllib.request import urlopen

import pytest
from click import ClickException
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import create_engine, text

from app import create_app
from app.capabilities.options import Choice
from app.cli.runs import serve_metrics
from app.config.settings import Settings
from app.domain.instrumentation import Call, cached_call, use_stores
from app.extensions import db
from app.runs.celery_jobs import WORKERS_CACHE_SECONDS, celery_app
from app.runs.metrics import Metrics
from tests.celery_worker import at_work
from tests.fakes import FAILING, ONE_SET_ASIDE, TWO_HOPS, Component, scripted_container
from tests.ports import free_port
from tests.redis_server import running
from tests.waiting import LONG, until
from tests.web.conftest import finished, started, wait_for


def test_the_liveness_check_needs_neither_database_nor_models(client, tmp_path):
    (tmp_path / "hopcheck.sqlite3").unlink()
    answer = client.get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok\n")


def test_a_ready_site_lists_every_component_as_ready(client):
    answer = client.get("/readyz")
    assert answer.status_code == 200 and answer.json["ready"] is True
    assert {part["name"]: part["state"] for part in answer.json["parts"]} == {
        "database": "ready",
        "corpus index": "ready",
        "judge": "ready",
    }


def test_a_component_that_is_not_ready_has_its_state_and_its_fix(make_app):
    parts = (Component("judge", "failed", "The weights are damaged.", "make models"), Component("reader", "loading"))
    answer = make_app(scripted_container(loaded=parts)).test_client().get("/readyz")
    assert answer.status_code == 503 and answer.json["ready"] is False
    _, judge, reader = answer.json["parts"]
    assert judge == {"name": "judge", "state": "failed", "message": "The weights are damaged.", "mend": "make models"}
    assert reader == {"name": "reader", "state": "loading"}


def test_a_database_without_tables_is_not_ready_and_names_the_fix(make_app, database_url):
    Path(database_url.removeprefix("sqlite:///")).write_bytes(b"")
    answer = make_app().test_client().get("/readyz")
    (database, *_) = answer.json["parts"]
    assert answer.status_code == 503 and database["state"] == "failed"
    assert "flask --app app db upgrade" in database["message"]


def test_a_read_only_database_is_not_ready(tmp_path, database_url):
    path = database_url.removeprefix("sqlite:///")
    app = create_app(
        Settings(instance=tmp_path, database_url=f"sqlite:///file:{path}?mode=ro&uri=true"), scripted_container()
    )
    client = app.test_client()
    (database, *_) = client.get("/readyz").json["parts"]
    assert client.get("/").status_code == 200
    assert database["state"] == "failed" and "The database is read-only" in database["message"]


def in_time(client) -> dict:
    """Return what /readyz answers, long before a check without a timeout of its own would be given up."""
    began = time.monotonic()
    answer = client.get("/readyz")
    assert time.monotonic() - began < 15
    assert answer.status_code == (200 if answer.json["ready"] else 503)
    return {part["name"]: part for part in answer.json["parts"] if part["state"] != "ready"}


def test_a_site_whose_workers_are_all_gone_is_not_ready_and_its_page_says_that_no_worker_is_running(make_app):
    with running() as redis:
        client = make_app(redis_url=redis.url).test_client()
        assert in_time(client)["workers"]["message"] == "No worker is running, so runs wait."
        path = started(client)
        page = wait_for(client, path, "No worker is running. This check waits until one starts.")
        assert "in line" not in page
        api = client.get(path.replace("/runs", "/api/v1/runs")).json
        assert api["place"] == {"position": 1, "seconds": None, "has_worker": False}
        with at_work(celery_app(redis.url)):
            until(lambda: not in_time(client), "a ready site")
            assert "Next in line" in wait_for(client, path, "Next in line")
        until(lambda: "workers" in in_time(client), "a site without a worker again")


def test_a_redis_that_hangs_makes_the_site_unready_in_time_and_claims_nothing_about_workers(make_app):
    with running() as redis:
        client = make_app(redis_url=redis.url).test_client()
        path = started(client)
        redis.hold()
        time.sleep(WORKERS_CACHE_SECONDS)
        assert "Redis does not answer" in in_time(client)["workers"]["message"]
        assert "Next in line" in client.get(path).text
        redis.release()


def test_a_corpus_that_is_gone_makes_the_site_unready_although_it_was_loaded(make_app):
    gone = Choice("vital", "Vital articles").unavailable("The corpus vital is missing.", "make corpus")
    client = make_app(scripted_container(shelves=(gone,))).test_client()
    lost = {"name": "corpus vital", "state": "failed", "message": "The corpus vital is missing.", "mend": "make corpus"}
    assert in_time(client) == {"corpus vital": lost}


def test_a_locked_database_is_reported_within_a_second_however_often_it_is_asked(client, database_url):
    with closing(sqlite3.connect(database_url.removeprefix("sqlite:///"), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for _ in range(3):
            assert "locked" in in_time(client)["database"]["message"]
        other.execute("ROLLBACK")
    until(lambda: not in_time(client), "a ready site")


def test_a_postgresql_that_takes_no_writes_is_not_ready(tmp_path, postgresql):
    url = postgresql.fresh()
    engine = create_engine(url)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"ALTER DATABASE {engine.url.database} SET default_transaction_read_only = on"))
    engine.dispose()
    client = create_app(Settings(instance=tmp_path, database_url=url), scripted_container()).test_client()
    assert "takes no writes" in in_time(client)["database"]["message"]
    postgresql.drop(url)


TOKEN = "token-of-the-operator"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def scraped(text: str) -> dict[tuple, float]:
    """Each sample by its name and labels, as Prometheus reads it."""
    families = text_string_to_metric_families(text)
    return {(each.name, *sorted(each.labels.items())): each.value for family in families for each in family.samples}


@pytest.fixture
def scrape():
    return lambda client: scraped(client.get("/metrics", headers=BEARER).text)


def test_runs_are_counted_by_state_and_label(make_app, scrape):
    client = make_app(scripted_container(TWO_HOPS, TWO_HOPS, FAILING), metrics_token=TOKEN).test_client()
    finished(client), finished(client), wait_for(client, started(client), "No verdict")
    seen = scrape(client)
    assert seen["hopcheck_runs", ("label", "SUPPORTED"), ("state", "verdict")] == 2
    assert seen["hopcheck_runs", ("label", ""), ("state", "failed")] == 1
    assert seen["hopcheck_runs_waiting",] == 0 and seen["hopcheck_database_up",] == 1


def test_hops_are_timed_by_outcome_and_tokens_are_summed(make_app, scrape):
    client = make_app(scripted_container(ONE_SET_ASIDE, delay=0.03), metrics_token=TOKEN).test_client()
    finished(client)
    seen = scrape(client)
    assert seen["hopcheck_hop_seconds_count", ("outcome", "kept")] == 2
    assert seen["hopcheck_hop_seconds_count", ("outcome", "set_aside")] == 1
    assert 0.06 <= seen["hopcheck_hop_seconds_sum", ("outcome", "kept")] < 20
    prompt, completion = (seen["hopcheck_tokens_total", ("kind", each)] for each in ("prompt", "completion"))
    assert prompt == 5 * completion > 0  # tests/fakes.py counts 10 and 2 tokens per call


class Known:
    """A response store with every reply of one model."""

    def get(self, call):
        return "kept" if call.model == "known" else None

    def put(self, call, reply): ...


def test_only_calls_without_a_cached_reply_are_timed(make_app):
    metrics = Metrics(make_app().extensions["hopcheck"].runs.queries)
    with use_stores(Known(), on_call=metrics.record_call):
        cached_call(Call("known", {}), lambda: "new")
        cached_call(Call("asked", {}), lambda: time.sleep(0.05) or "new")
    seen = scraped(metrics.text().decode())
    assert seen["hopcheck_call_seconds_count", ("model", "asked")] == 1
    assert seen["hopcheck_call_seconds_sum", ("model", "asked")] >= 0.05
    assert ("hopcheck_call_seconds_count", ("model", "known")) not in seen


def test_followers_are_counted(make_app, scrape):
    app = make_app(metrics_token=TOKEN)
    with app.extensions["hopcheck"].followers.slot():
        assert scrape(app.test_client())["hopcheck_followers",] == 1
    assert scrape(app.test_client())["hopcheck_followers",] == 0


@pytest.mark.parametrize("shown", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}])
def test_without_the_token_the_metrics_are_404(make_app, shown):
    answer = make_app(metrics_token=TOKEN).test_client().get("/metrics", headers=shown)
    assert answer.status_code == 404 and "hopcheck_" not in answer.text
    assert make_app().test_client().get("/metrics", headers=BEARER).status_code == 404


def test_a_broken_database_is_reported_as_down(make_app, scrape):
    app = make_app(metrics_token=TOKEN)
    with app.app_context():
        db.session.execute(db.text("DROP TABLE runs"))
        db.session.commit()
    assert scrape(app.test_client())["hopcheck_database_up",] == 0


def test_the_metrics_contain_no_user_text(make_app):
    client = make_app(metrics_token=TOKEN).test_client()
    page = finished(client, "A private zebra lives in Prague.")
    assert "zebra" in page and "zebra" not in client.get("/metrics", headers=BEARER).text


def test_a_worker_serves_its_metrics_only_on_localhost(make_app):
    app = make_app()
    port = free_port()
    server = serve_metrics(app.extensions["hopcheck"], port)
    finished(app.test_client())
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=LONG) as answer:
        seen = scraped(answer.read().decode())
    with pytest.raises(ClickException, match=f"Port {port} cannot be used"):
        serve_metrics(app.extensions["hopcheck"], port)
    server.shutdown(), server.server_close()
    assert server.server_address[0] == "127.0.0.1"
    assert seen["hopcheck_hop_seconds_count", ("outcome", "kept")] == 2
