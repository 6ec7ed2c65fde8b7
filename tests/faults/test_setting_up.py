"""What the operator adds on the page "Set up" is used at once by every process: web servers and Celery workers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests import redis_server
from tests.backends.web_search.search_server import Reply, SearchServer
from tests.faults.servers import START_SECONDS, Server, run_id
from tests.faults.site import Site, site
from tests.openai_server import OpenAIServer
from tests.waiting import until
from tests.web.test_setting_up import KEY, script

PRODUCT = "app:create_app"


@pytest.fixture
def cluster(tmp_path, postgresql) -> Iterator[Site]:
    with redis_server.running() as redis, site(tmp_path / "instance", postgresql, redis) as made:
        yield made


def post(server: Server, path: str, **fields: str) -> str:
    """Post a form as a browser does and return the page after redirects."""
    token = re.search(r'name="csrf_token" value="([^"]+)"', server.get("/setup").text)[1]
    page = server.get(path, {"csrf_token": token, **fields})
    assert page.status == 200, page.text
    return page.text


def test_a_model_and_a_search_engine_of_one_web_process_are_used_by_others_and_by_a_worker_without_a_restart(cluster):
    one, other = (cluster.web(PRODUCT, LOCAL_SERVERS="off") for _ in range(2))
    worker = cluster.worker(PRODUCT, LOCAL_SERVERS="off")
    worker.wait_until_up()
    with OpenAIServer(script) as model, SearchServer([Reply({"results": []})]) as engine:
        assert "It answered" in post(one, "/setup/models", base_url=model.url, model="tiny", api_key=KEY)
        assert "It answered" in post(one, "/setup/keys", service="SEARXNG_URL", service_key=engine.url)
        form = other.get("/").text
        assert 'value="tiny"' in form and '<option value="web"' in form
        asked = {"claim": "Hamlet is a play.", "strategy": "direct", "model": "tiny", "from_source": ""}
        run = run_id(other.get("/runs", {"csrf_token": other.token(), **asked}).url)
        until(lambda: cluster.state(run) != "running", "the end of the run", START_SECONDS)
        assert cluster.state(run) == "verdict", worker.said()
        assert model.asked[-1].headers["authorization"] == f"Bearer {KEY}"
        asked = {"claim": "Hamlet is a play.", "preset": "prompted", "model": "tiny", "from_source": "web"}
        run = run_id(other.get("/runs", {"csrf_token": other.token(), **asked}).url)
        until(lambda: cluster.state(run) != "running", "the end of the run", START_SECONDS)
        assert len(engine.asked) > 1, worker.said()
        assert KEY not in worker.said() + one.said() + other.said()
        post(one, "/setup/models/remove", name="tiny")
        post(one, "/setup/keys/remove", name="SEARXNG_URL")
        form = other.get("/").text
        assert 'value="tiny"' not in form and '<option value="web"' not in form
