"""Language model servers on this machine are found, and their models get nothing before somebody chooses one."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from app import create_app
from app.backends.llm import registry
from app.backends.llm.registry import LocalServer, LocalServers, ModelSettings
from app.config.settings import Settings
from app.container.container import Container
from app.domain.errors import InvalidInput
from app.domain.model import RunOptions
from tests.backends.openai_asking import llama_server
from tests.conftest import sqlite_file
from tests.waiting import LONG, until
from tests.web.conftest import finished
from tests.web_server import Sent, WebServer

TAGS = Sent(json.dumps({"data": [{"id": "llama3.2:3b"}, {"id": "nomic-embed-text"}]}).encode())
LISTED = Sent(json.dumps({"object": "list", "data": [{"id": "qwen3-8b", "object": "model"}]}).encode())


def names(servers: LocalServers) -> list[str]:
    return [each.name for each in servers.models()]


def ollama(port: int) -> LocalServer:
    return LocalServer("Ollama", port)


def made(folder, monkeypatch, *servers: LocalServer, **settings: str) -> Container:
    """A container that looks for these servers."""
    monkeypatch.setattr("app.container.parts.SERVERS", servers)
    return Container(Settings.from_env({"INSTANCE": str(folder), "CALL_SECONDS": "300", **settings}))


def test_the_models_of_every_server_are_found_but_none_that_only_embeds():
    with WebServer({"/v1/models": TAGS}) as first, WebServer({"/v1/models": LISTED}) as second:
        found = LocalServers((ollama(first.port), LocalServer("LM Studio", second.port))).models()
    assert [(each.name, each.model, each.base_url) for each in found] == [
        ("ollama/llama3.2:3b", "llama3.2:3b", f"http://127.0.0.1:{first.port}/v1"),
        ("lm-studio/qwen3-8b", "qwen3-8b", f"http://127.0.0.1:{second.port}/v1"),
    ]
    assert {each.destination for each in found} == {None}


def test_a_model_that_is_set_up_is_not_found_a_second_time():
    with WebServer({"/v1/models": LISTED}) as site:
        mine = ModelSettings("Mine", "qwen3-8b", f"http://localhost:{site.port}/v1")
        other = ModelSettings("Mine", "qwen3-8b", f"http://gpu.example:{site.port}/v1")
        assert names(LocalServers((LocalServer("vLLM", site.port),), [mine])) == []
        assert names(LocalServers((LocalServer("vLLM", site.port),), [other])) == ["vllm/qwen3-8b"]


@pytest.mark.parametrize(("mine", "listed"), [("llama3.2", "llama3.2:latest"), ("llama3.2:latest", "llama3.2")])
def test_a_model_without_a_tag_is_its_latest_one(mine, listed):
    with WebServer({"/v1/models": Sent(json.dumps({"data": [{"id": listed}]}).encode())}) as site:
        configured = ModelSettings(mine, mine, f"http://localhost:{site.port}/v1")
        assert names(LocalServers((ollama(site.port),), [configured])) == []


@pytest.mark.parametrize(
    "sent",
    [
        Sent(b"<html>A web site</html>"),
        Sent(b'{"data": [{"id": 7}, {"id": "two\\nlines"}, "text", null]}'),
        Sent(b'{"detail": "no key"}', status=401),
        Sent(b"", status=302, headers={"Location": "http://good.test/"}),
        Sent(raw=[b"nonsense\r\n\r\n"]),
        Sent(b'{"data": [{"id": "' + b"x" * 2_000_000 + b'"}]}'),
    ],
)
def test_whatever_else_listens_there_is_no_model_server(sent):
    with WebServer({"/v1/models": sent}) as site:
        assert names(LocalServers((LocalServer("vLLM", site.port),))) == []
        assert site.asked == ["/v1/models"]


def test_hopcheck_itself_is_no_model_server(tmp_path, monkeypatch):
    with WebServer({"/v1/models": LISTED}) as site:
        container = made(tmp_path, monkeypatch, LocalServer("vLLM", site.port), PORT=str(site.port))
        container.capabilities()
        assert site.asked == []


@pytest.mark.parametrize("pause", [60, 0.1])
def test_a_server_that_hangs_or_drips_costs_one_look_and_hides_no_other(pause):
    drips = Sent(raw=[b"HTTP/1.1 200 OK\r\n", *[b"x"] * 2000], pause=pause)
    with WebServer({"/v1/models": drips}) as slow, WebServer({"/v1/models": TAGS}) as good:
        servers = LocalServers((LocalServer("vLLM", slow.port), ollama(good.port)))
        began = time.monotonic()
        assert names(servers) == ["ollama/llama3.2:3b"]
        assert time.monotonic() - began < LONG


def test_later_looks_are_made_in_the_background():
    now = [0.0]
    with WebServer({"/v1/models": TAGS}) as site:
        servers = LocalServers((ollama(site.port),), clock=lambda: now[0])
        assert names(servers) == names(servers) == ["ollama/llama3.2:3b"]
        assert site.asked == ["/v1/models"]
        site.pages["/v1/models"] = Sent(b'{"data": []}')
        now[0] = registry.LOOK_AGAIN_SECONDS + 1
        assert names(servers) == ["ollama/llama3.2:3b"]  # what is known, without a wait
        until(lambda: names(servers) == [])
        assert len(site.asked) == 2


def test_local_servers_off_asks_none(tmp_path, monkeypatch):
    with WebServer({"/v1/models": TAGS}) as site:
        container = made(tmp_path, monkeypatch, ollama(site.port), LOCAL_SERVERS="off")
        assert not [each for each in container.capabilities().models if each.found]
        assert site.asked == []


def test_a_found_model_gets_nothing_and_is_no_default_until_somebody_chooses_it(tmp_path, monkeypatch):
    with WebServer({"/v1/models": TAGS}) as site:
        container = made(tmp_path, monkeypatch, ollama(site.port), PRESET="prompted")
        capabilities = container.capabilities()
        assert capabilities.default_options.model is None
        assert next(each for each in capabilities.presets if each.name == "prompted").available
        with pytest.raises(InvalidInput, match="needs a language model; choose one"):
            container.strategy_for(replace(capabilities.default_options, strategy="direct", answerer=""))
        app = create_app(Settings(instance=tmp_path, database_url=sqlite_file(tmp_path)), container)
        page = app.test_client().get("/").text
        assert '<option value="ollama/llama3.2:3b">llama3.2:3b (Ollama on this machine)</option>' in page
        assert site.asked == ["/v1/models"]


def test_a_model_that_another_process_found_a_moment_ago_is_looked_for(tmp_path, monkeypatch):
    with WebServer({}) as site:
        container = made(tmp_path, monkeypatch, ollama(site.port))
        assert not [each for each in container.capabilities().models if each.found]
        site.pages["/v1/models"] = TAGS
        options = RunOptions(preset="prompted", answerer="reciter-reader", model="ollama/llama3.2:3b", corpora=())
        assert container.strategy_for(options)


@pytest.fixture
def used_and_gone(tmp_path, monkeypatch):
    """A site, a container that has used its model, and the options; the container's last look found no model."""
    options = RunOptions(preset="prompted", answerer="reciter-reader", model="ollama/llama3.2:3b", corpora=())
    with WebServer({"/v1/models": TAGS}) as site:
        container = made(tmp_path, monkeypatch, ollama(site.port))
        assert container.strategy_for(options)
        site.pages["/v1/models"] = Sent(b'{"data": []}')
        with monkeypatch.context() as patch:
            patch.setattr(registry, "LOOK_AGAIN_SECONDS", 0)
            until(lambda: not [each for each in container.capabilities().models if each.found])
        yield site, container, options


def test_a_used_model_that_was_gone_for_a_moment_is_looked_for(used_and_gone):
    site, container, options = used_and_gone
    site.pages["/v1/models"] = TAGS
    assert container.strategy_for(options)


def test_a_used_model_that_is_gone_is_refused(used_and_gone):
    _, container, options = used_and_gone
    with pytest.raises(InvalidInput, match=r"'ollama/llama3\.2:3b' is no longer found"):
        container.statement_of("Is the moon made of rock?", options)


@pytest.mark.models
@pytest.mark.timeout(900)
def test_the_page_checks_a_claim_with_the_model_of_a_real_server(tmp_path, monkeypatch):
    """llama.cpp's own server, where Ollama would be."""
    with llama_server() as address:
        server = ollama(urlsplit(address).port or 0)
        container = made(tmp_path, monkeypatch, server)
        app = create_app(Settings(instance=tmp_path, database_url=sqlite_file(tmp_path)), container)
        visitor = app.test_client()
        (found,) = [each for each in container.capabilities().models if each.found]
        assert found.name in visitor.get("/").text
        page = finished(visitor, "Hamlet was written in England.", model=found.name, strategy="direct")
        assert f"{found.name}, prompted" in page
