"""A port that is taken, and two servers on one database."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from urllib.request import Request, urlopen

import pytest

from tests.faults.servers import ROOT, SCRIPTED, assert_sound, events, run_id, serving, surroundings
from tests.waiting import LONG


def test_a_port_that_is_taken_ends_the_start_quickly_with_one_clear_line(instance):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        given = surroundings(instance, PORT=str(port))
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "gunicorn", SCRIPTED],
            cwd=ROOT,
            env=given,
            capture_output=True,
            text=True,
            timeout=LONG,
        )
        assert time.monotonic() - began < LONG / 2
    assert done.returncode != 0
    output = [line for line in done.stderr.splitlines() if "INFO" not in line]
    assert output == [
        f"Hopcheck cannot start: Port {port} of 127.0.0.1 is taken. Stop what listens there, or choose another: "
        f"make run PORT={port + 1}"
    ]


FORWARDED = {
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "proxy.example",
    "X-Forwarded-Ssl": "on",
    "X-Forwarded-Protocol": "ssl",
    "X-Forwarded-Prefix": "/evil",
    "Forwarded": "host=proxy.example;proto=https",
    "SCRIPT_NAME": "/evil",
    "PATH_INFO": "/evil",
}


@pytest.mark.parametrize(
    ("proxies", "believed"), [("0", ()), ("1", ("X-Forwarded-Proto", "X-Forwarded-Host"))], ids=["none", "one"]
)
def test_forwarded_headers_are_believed_only_from_proxies_that_are_set_up(instance, old_run, proxies, believed):
    """The test connects from this machine, whose headers Gunicorn would believe by default."""
    expected = {"X-Forwarded-Proto": "(<https://127.0.0.1:", "X-Forwarded-Host": "(<http://proxy.example/runs/"}
    with serving(instance, PROXIES=proxies) as server:
        for name, value in FORWARDED.items():
            with urlopen(
                Request(f"{server.address}{old_run}/export.md", headers={name: value}), timeout=LONG
            ) as answer:
                report = answer.read().decode()
            assert (expected[name] if name in believed else f"(<{server.address}{old_run}>)") in report, name


def test_two_servers_on_one_database_carry_each_run_out_exactly_once_and_both_serve_its_page(instance):
    with serving(instance, STEP_SECONDS="0.2") as one, serving(instance, STEP_SECONDS="0.2") as other:
        paths = [server.start(f"Claim {number} of a server.") for number in range(3) for server in (one, other)]
        for path in paths:
            for server in (one, other):
                assert "Supported" in server.wait_for(path, 'id="verdict-heading"')
            kinds = events(instance, run_id(path))
            assert (kinds.count("question_asked"), kinds.count("verdict_reached")) == (2, 1)
            assert "run_resumed" not in kinds
        carried_out = [sum(f"run {run_id(path)} verdict" in server.said() for path in paths) for server in (one, other)]
        assert sum(carried_out) == len(paths) and all(carried_out), "each server had a part in it"
    assert_sound(instance)
