"""compose.yaml: no secret has a default, and its server commands and health checks work, run without containers."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from sqlalchemy import make_url

from tests.faults.servers import ROOT
from tests.faults.site import Site, site
from tests.ports import free_port
from tests.waiting import LONG, until

TEXT = (ROOT / "compose.yaml").read_text()
SERVICES = yaml.safe_load(TEXT)["services"]
PASSWORD = "open-sesame"
PROGRAMS = f"{Path(sys.executable).parent}/"


def line_of(words: list[str], **places: str) -> list[str]:
    """Return the shell command in `words` as compose passes it on, with the programs named in `places` replaced."""
    assert words[:-1] in (["sh", "-c"], ["CMD-SHELL"])
    line = words[-1].replace("$$", "$").replace(".venv/bin/", PROGRAMS)
    for program, place in places.items():
        line = line.replace(program.replace("_", "-"), place)
    return ["sh", "-c", line]


def asked(service: str, environment: dict[str, str], **places: str) -> subprocess.Popen[bytes]:
    """Start the health check of the service."""
    line = line_of(SERVICES[service]["healthcheck"]["test"], **places)
    return subprocess.Popen(line, env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def is_healthy(*arguments, **places: str) -> bool:
    """Run the health check of the service and return whether it succeeds."""
    return asked(*arguments, **places).wait(LONG) == 0


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a Redis started as compose.yaml starts it."""
    port = free_port()
    line = line_of(SERVICES["redis"]["command"], redis_server=f"redis-server --bind 127.0.0.1 --port {port}")
    process = subprocess.Popen(line, env=os.environ | {"REDIS_PASSWORD": PASSWORD}, stdout=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.kill()
        process.wait(LONG)


@pytest.fixture
def grown(tmp_path, postgresql, port) -> Iterator[Site]:
    """A site on that Redis."""

    class Redis:
        url = f"redis://:{PASSWORD}@127.0.0.1:{port}/0"

    with site(tmp_path / "instance", postgresql, Redis) as made:
        yield made


def test_redis_is_healthy_once_it_accepts_its_password(port):
    places = {"redis_cli": f"redis-cli -p {port}"}
    until(lambda: is_healthy("redis", {"REDIS_PASSWORD": PASSWORD}, **places), "a Redis that is well")
    assert not is_healthy("redis", {"REDIS_PASSWORD": "another"}, **places)
    assert not is_healthy("redis", {"REDIS_PASSWORD": PASSWORD}, redis_cli=f"redis-cli -p {free_port()}")


def test_postgresql_is_healthy_where_it_answers(postgresql, tmp_path):
    folder = make_url(postgresql.fresh()).query["host"]
    assert is_healthy("postgres", {"PGHOST": folder})
    assert not is_healthy("postgres", {"PGHOST": str(tmp_path)})


def test_a_worker_is_healthy_if_it_answers_under_its_host_name(grown, port):
    grown.worker().wait_until_up()
    machines = (socket.gethostname(), "another-machine")
    checks = [asked("worker", {"REDIS_URL": grown.redis.url, "HOSTNAME": machine}) for machine in machines]
    assert [check.wait(LONG) == 0 for check in checks] == [True, False]


def test_no_secret_has_a_default():
    uses = re.findall(r"\$\{(POSTGRES_PASSWORD|REDIS_PASSWORD|SECRET_KEY)([^}]*)\}", TEXT)
    assert len({secret for secret, _ in uses}) == 3 and all(rest.startswith(":?") for _, rest in uses)
