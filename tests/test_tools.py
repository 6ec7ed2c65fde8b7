"""Hopcheck in other programs: the Python API, the MCP server and the examples of docs/api.md."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import httpx2
import pytest
import uvicorn
from flask import Flask
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from werkzeug.serving import make_server

import app as hopcheck
from app import check
from app.cli.mcp import mcp, mcp_over_http, mcp_server
from app.config import VERSION
from app.domain.errors import HopcheckError
from app.domain.model import Label, LabelSet
from app.runs.report_schema import RunReport
from app.runs.service import RunFilter
from app.runs.transfer import run_as_dict
from app.web.auth import token_line
from tests.fakes import FAILING, Gate, scripted_container
from tests.waiting import LONG, in_thread, until
from tests.web.conftest import make_app

__all__ = ["make_app"]

ROOT = Path(__file__).resolve().parents[1]
CLAIM = "The author of Hamlet was born in England."


def example(language: str, number: int = 0) -> str:
    """Return an example of docs/api.md, by its language and its place among those."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[number]


def runs_of(app: Flask):
    return app.extensions["hopcheck"].runs


def test_check_returns_the_report_that_is_stored_and_exported(make_app):
    app = make_app()
    report = check(CLAIM, app=app, speaker="A teacher", date="2020-10-31", max_hops=4)
    assert isinstance(report, RunReport)
    assert (report.label, report.confidence, report.speaker) == (Label.SUPPORTED, 0.91, "A teacher")
    assert [hop.answer for hop in report.hops] == ["William Shakespeare", "England"]
    assert report.options.max_hops == 4
    stored = runs_of(app).report(report.id)
    assert run_as_dict(stored)["hops"][0]["question"] == report.hops[0].question


def test_a_failed_check_returns_a_report_with_the_problem_and_no_label(make_app):
    report = check(CLAIM, app=make_app(scripted_container(FAILING)))
    assert (report.label, report.state) == (None, "failed")
    assert report.problem and "secret" not in str(report.problem)


def test_an_exception_of_the_caller_ends_the_run(make_app):
    app = make_app(scripted_container(gate=(gate := Gate("answer 2"))))

    def give_up(event) -> None:
        if event.kind == "hop_kept":
            assert gate.reached.wait(LONG)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(CLAIM, app=app, on_event=give_up)
    gate.open()
    (run,) = runs_of(app).recent("python")
    assert run.state == "interrupted"


def test_a_check_whose_run_is_deleted_does_not_wait_for_ever(make_app):
    app = make_app(scripted_container(gate=(gate := Gate("answer 2"))))

    def delete(event) -> None:
        if event.kind == "hop_kept":
            runs_of(app).deletion.delete(runs_of(app).recent("python")[0].id)

    with pytest.raises(HopcheckError, match="deleted"):
        check(CLAIM, app=app, on_event=delete)
    gate.open()


def test_calls_without_an_application_share_one(monkeypatch, make_app):
    made: list[Flask] = []
    monkeypatch.setattr(hopcheck, "create_app", lambda commands: made.append(make_app()) or made[-1])
    hopcheck._make_shared_app.cache_clear()
    try:
        assert {check(CLAIM).label, check(CLAIM).label} == {Label.SUPPORTED}
    finally:
        hopcheck._make_shared_app.cache_clear()
    assert len(made) == 1


def test_the_python_example_of_the_documentation_prints_the_verdict_and_each_step(monkeypatch, make_app, capsys):
    monkeypatch.setattr(hopcheck, "_shared_app", make_app)
    exec(compile(example("python"), "docs/api.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == [
        "SUPPORTED 0.91",
        "1. Who wrote Hamlet? William Shakespeare (kept)",
        "    Hamlet https://en.wikipedia.org/wiki/Hamlet",
        "2. Where was William Shakespeare born? England (kept)",
        "    William Shakespeare https://en.wikipedia.org/wiki/William_Shakespeare",
    ]


async def _with_client(app: Flask, use) -> None:
    """Call `use` with a client of the SDK that is connected to the application's MCP server."""
    async with Client(mcp_server(app.extensions["hopcheck"])) as client:
        await use(client)


def test_an_mcp_client_checks_a_claim_follows_it_and_gets_the_report(make_app):
    app = make_app()

    async def use(client: Client) -> None:
        started = await client.call_tool("check_claim", {"claim": CLAIM, "speaker": "A teacher", "max_hops": 4})
        assert started.structured_content["sent_to"] == []
        run_id = started.structured_content["run_id"]
        news = (await client.call_tool("follow_check", {"run_id": run_id})).structured_content
        assert news["ended"] and news["lines"][0] == "1. Who wrote Hamlet?"
        assert "SUPPORTED (91%)" in news["lines"]
        again = (await client.call_tool("follow_check", {"run_id": run_id, "after": news["after"]})).structured_content
        assert (again["after"], again["lines"][0]) == (news["after"], "SUPPORTED (91%)")
        report = await client.call_tool("get_report", {"run_id": run_id})
        assert report.content[0].text.startswith(f"# {CLAIM}\n")
        assert report.structured_content == run_as_dict(runs_of(app).report(run_id))
        assert report.structured_content["speaker"] == "A teacher"

    in_thread(asyncio.run, _with_client(app, use))


def test_an_mcp_client_that_follows_in_parts_gets_every_line_once(make_app):
    app = make_app(scripted_container(gate=(gate := Gate("answer 2"))))

    async def use(client: Client) -> None:
        run_id = (await client.call_tool("check_claim", {"claim": CLAIM})).structured_content["run_id"]
        assert await asyncio.to_thread(gate.reached.wait, LONG)
        seen = {"run_id": run_id, "wait_seconds": 0}
        first = (await client.call_tool("follow_check", seen)).structured_content
        early = await client.call_tool("get_report", {"run_id": run_id})
        assert early.is_error and "follow_check" in early.content[0].text
        gate.open()
        rest = (await client.call_tool("follow_check", {"run_id": run_id, "after": first["after"]})).structured_content
        assert (first["ended"], rest["ended"]) == (False, True)
        whole = (await client.call_tool("follow_check", {"run_id": run_id})).structured_content
        assert first["lines"] + rest["lines"] == whole["lines"] and first["lines"]

    in_thread(asyncio.run, _with_client(app, use))


def test_mcp_tools_refuse_bad_input_in_words_and_hide_other_errors(make_app):
    app = make_app()

    async def use(client: Client) -> None:
        for tool, arguments, words in (
            ("check_claim", {"claim": ""}, "Please write a claim."),
            ("check_claim", {"claim": CLAIM, "max_hops": 99}, "The number of hops must be"),
            ("follow_check", {"run_id": "never"}, "There is no check of that id."),
            ("follow_check", {"run_id": "never", "wait_seconds": 1e6}, "wait_seconds"),
            ("get_report", {"run_id": "never"}, "There is no check of that id."),
            ("check_claim", {"claim": CLAIM, "sources": "vital"}, "no argument of this name: sources"),
        ):
            answer = await client.call_tool(tool, arguments)
            assert answer.is_error and words in answer.content[0].text, answer

    in_thread(asyncio.run, _with_client(app, use))


def test_the_mcp_server_names_its_version_and_marks_quoted_text_as_data(make_app):
    async def use(client: Client) -> None:
        assert client.server_info.version == VERSION
        assert "data" in client.instructions
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"check_claim", "follow_check", "get_report", "list_checks"}
        assert all(f"`{name}`" in (ROOT / "docs" / "api.md").read_text(encoding="utf-8") for name in tools)
        assert all(tool.output_schema and tool.description for tool in tools.values())
        assert not any(tool.input_schema["additionalProperties"] for tool in tools.values())

    in_thread(asyncio.run, _with_client(make_app(), use))


@contextmanager
def mcp_url(app: Flask) -> Iterator[str]:
    """The address of the application's MCP server over HTTP, inside the block."""
    server = uvicorn.Server(uvicorn.Config(mcp_over_http(app), host="127.0.0.1", port=0, log_config=None))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until(lambda: server.started)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/mcp"
    server.should_exit = True
    thread.join(LONG)


async def over_http(url: str, use, headers: Mapping[str, str] = MappingProxyType({})) -> None:
    """Call `use` with a client of the SDK that is connected to this address."""
    http = httpx2.AsyncClient(headers=dict(headers))
    async with http, Client(streamable_http_client(url, http_client=http)) as client:
        await use(client)


def test_over_http_an_mcp_client_checks_a_claim_sees_its_progress_and_finds_it_in_its_list(make_app):
    app, seen = make_app(), []

    async def note(number: float, total: float | None, line: str | None) -> None:
        seen.append((number, line))

    async def use(client: Client) -> None:
        options = {"max_hops": 4, "answerer": "retriever-reader", "preset": "local", "labels": "two"}
        started = (await client.call_tool("check_claim", {"claim": CLAIM, **options})).structured_content
        following = {"run_id": started["run_id"]}
        news = await client.call_tool("follow_check", following, progress_callback=note)
        assert news.structured_content["ended"]
        listed = (await client.call_tool("list_checks", {"words": "hamlet"})).structured_content["result"]
        assert [(each["id"], each["claim"], each["label"]) for each in listed] == [
            (started["run_id"], CLAIM, "SUPPORTED")
        ]
        assert (await client.call_tool("list_checks", {"words": "nothing"})).structured_content["result"] == []

    with mcp_url(app) as url:
        in_thread(asyncio.run, over_http(url, use))
    (run,) = runs_of(app).recent("mcp")
    assert runs_of(app).report(run.id).report.options.labels == LabelSet.TWO
    assert [number for number, _ in seen] == sorted({number for number, _ in seen})
    assert "1. Who wrote Hamlet?" in [line for _, line in seen]


def test_over_http_each_token_has_its_own_checks_and_counts_for_the_rate_limit(make_app, tmp_path):
    tokens = {"ann": "first-token", "bob": "second-token"}
    (tmp_path / "tokens").write_text("\n".join(token_line(name, token) for name, token in tokens.items()))
    app = make_app(api_tokens=tmp_path / "tokens", rate_limit="1 per minute")

    async def starts_one(client: Client) -> None:
        assert not (await client.call_tool("list_checks")).structured_content["result"]
        assert not (await client.call_tool("check_claim", {"claim": CLAIM})).is_error
        again = await client.call_tool("check_claim", {"claim": "x"})
        assert again.is_error and "1 per minute" in again.content[0].text
        assert len((await client.call_tool("list_checks")).structured_content["result"]) == 1

    with mcp_url(app) as url:
        for token in tokens.values():
            in_thread(asyncio.run, over_http(url, starts_one, {"Authorization": f"Bearer {token}"}))
        for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic Zmlyc3QtdG9rZW46"}):
            assert httpx2.post(url, json={}, headers=header).status_code == 401
    assert {len(runs_of(app).recent(f"token:{name}")) for name in tokens} == {1}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 400),
        ({"Host": "."}, 400),
        ({"Host": "é.example".encode("latin-1")}, 400),
        ({"Host": "localhost:1", "Origin": "http://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_over_http_a_page_of_another_site_gets_nothing(make_app, headers, status):
    """Also not by a name that it resolves to this machine (DNS rebinding), and in no method."""
    with mcp_url(make_app()) as url:
        for method in ("GET", "POST", "DELETE", "OPTIONS"):
            assert httpx2.request(method, url, headers=headers).status_code == status


def test_the_command_serves_others_over_http_only_where_they_need_a_token(make_app):
    done = make_app(host="0.0.0.0").test_cli_runner(catch_exceptions=False).invoke(mcp, ["--http", "8001"])
    assert done.exit_code == 1 and "API_TOKENS" in done.output


def run_example(source: str, **environment: str) -> list[str]:
    """Run an example in a process of its own in the checkout, and return the lines that it prints."""
    env = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=ROOT, env=env, capture_output=True, text=True, timeout=1100
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


ARGUMENTS = 'args=["--app", "app", "mcp"]'
"""The arguments of the command in the example."""


@pytest.mark.slow
def test_the_mcp_example_of_the_documentation_talks_to_the_command(tmp_path, database_url):
    source = example("python", 1)
    assert ARGUMENTS in source
    scripted = f"args=['--app', 'tests.scripted_app:make(\"{tmp_path}\")', 'mcp']"
    lines = run_example(source.replace(ARGUMENTS, scripted))
    assert lines[0] == "1. Who wrote Hamlet?" and lines[-1] == "SUPPORTED"
    assert any(line.startswith("## Verdict: ") for line in lines)


@pytest.mark.slow
def test_over_standard_streams_what_is_no_message_is_refused_and_the_next_one_is_answered(tmp_path, database_url):
    """A batch of JSON-RPC, and text: clients wait for a reply."""
    client = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    ping = {"jsonrpc": "2.0", "id": 5, "method": "ping"}
    lines = [{**ping, "id": 1, "method": "initialize", "params": client}, [ping], "hello", ping]
    command = [sys.executable, "-m", "flask", "--app", f'tests.scripted_app:make("{tmp_path}")', "mcp"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        print(*map(json.dumps, lines), sep="\n", file=process.stdin, flush=True)
        replies = [json.loads(process.stdout.readline()) for _ in lines]
    # A refusal may overtake the reply to what came before it.
    *refused, initialized, answered = sorted(replies, key=lambda reply: reply["id"] or 0)
    assert initialized["result"]["protocolVersion"] == client["protocolVersion"]
    assert [(each["id"], each["error"]["code"]) for each in refused] == [(None, -32600)] * 2
    assert answered == {"jsonrpc": "2.0", "id": 5, "result": {}}


@pytest.mark.slow
def test_the_example_of_a_generated_client_starts_a_run_follows_it_and_reads_the_verdict(make_app, tmp_path):
    app = make_app()
    server = make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.port}"
    command = [str(Path(sys.executable).with_name("clientele")), "start-api"]
    document = f"{address}/api/v1/openapi.json"
    try:
        subprocess.run([*command, "-u", document, "-o", "hopcheck_client"], cwd=tmp_path, check=True, timeout=120)
        path = os.pathsep.join([str(tmp_path), str(ROOT)])
        *events, label = run_example(example("python", 2), BASE_URL=address, PYTHONPATH=path)
    finally:
        server.shutdown()
    (run,) = runs_of(app).queries.newest(RunFilter(), 10)
    assert label == "SUPPORTED" == run.label
    stored = runs_of(app).follow(run.id, 0, 0)
    assert events == [f"{each.seq} {each.event.kind}" for each in stored]
