"""Prometheus metrics count runs and their duration, and are protected by a token."""

from __future__ import annotations

import time
from urllib.request import urlopen

import pytest
from click import ClickException
from prometheus_client.parser import text_string_to_metric_families

from app.cli.runs import serve_metrics
from app.domain.instrumentation import Call, cached_call, use_stores
from app.extensions import db
from app.runs.metrics import Metrics
from tests.fakes import FAILING, ONE_SET_ASIDE, TWO_HOPS, scripted_container
from tests.ports import free_port
from tests.waiting import LONG
from tests.web.conftest import finished, started, wait_for

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
