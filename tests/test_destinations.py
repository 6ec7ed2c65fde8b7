"""What leaves the machine: only what the page names, for every source and kind of language model; else nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import ip_address

import pytest

from app import check
from app.config.settings import load_settings
from tests.openai_server import OpenAIServer, play_in_json

CLAIM = "The author of Hamlet was born in England."
MODEL, BRAVE, WIKIPEDIA = "model.example", "api.search.brave.com", "en.wikipedia.org"
PROMPTED = {"preset": "prompted", "model": "scripted", "max_hops": 1}


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.fixture
def asked(monkeypatch) -> Iterator[set[str]]:
    """Unplug the network. Holds every host that was to be reached; MODEL is this machine, all others are unknown."""
    hosts: set[str] = set()
    look_up, connect = socket.getaddrinfo, socket.socket.connect

    def known_or_unplugged(host, *more, **options):
        name = host.decode() if isinstance(host, bytes) else str(host)
        if is_loopback(name):
            return look_up(host, *more, **options)
        hosts.add(name)
        if name == MODEL:
            return look_up("127.0.0.1", *more, **options)
        raise socket.gaierror(socket.EAI_NONAME, "the network is unplugged")

    def refuse(self, address):
        if self.family != socket.AF_UNIX and not is_loopback(address[0]):
            hosts.add(address[0])
            raise OSError("the network is unplugged")
        return connect(self, address)

    monkeypatch.setattr(socket, "getaddrinfo", known_or_unplugged)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    yield hosts


@pytest.fixture
def make_app(tmp_path, real_app):
    """real_app with the corpora and models of this machine."""
    for name in ("corpora", "models"):
        (tmp_path / name).symlink_to(load_settings().instance / name)
    return real_app


@pytest.mark.models
@pytest.mark.parametrize(
    ("options", "hosts"),
    [
        (PROMPTED | {"answerer": "reciter-reader"}, {MODEL}),
        (PROMPTED | {"source": "web"}, {MODEL, BRAVE}),
        (PROMPTED | {"source": "wikipedia-live"}, {MODEL, WIKIPEDIA}),
    ],
    ids=["recited", "web", "Wikipedia"],
)
def test_a_check_asks_no_host_that_the_page_did_not_name_first(make_app, asked, options, hosts):
    with OpenAIServer(play_in_json(), True) as server:
        address = server.url.replace("127.0.0.1", MODEL)
        app = make_app(
            OPENAI_BASE_URL=address,
            OPENAI_MODEL="scripted",
            OPENAI_API_KEY="key",
            BRAVE_API_KEY="key",
            READ_WITH="model",
            CALL_SECONDS="5",
        )
        page = app.test_client().get("/").text
        assert asked == set(), "the page itself asks nobody"
        assert {host for host in hosts if host in page} == hosts
        report = check(CLAIM, app=app, **options)
    assert report.hops[0].question == "Who wrote Hamlet?"
    assert report.state in ("verdict", "failed") and asked == hosts


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.jvm
@pytest.mark.timeout(1200)
def test_with_the_network_unplugged_a_default_check_comes_to_its_verdict_and_asks_nobody(make_app, asked):
    report = check(CLAIM, app=make_app(CALL_SECONDS="600", RUN_SECONDS="900"), max_hops=1)
    assert report.state == "verdict" and report.label
    assert report.hops and all(hop.status != "failed" for hop in report.hops)
    assert asked == set()
