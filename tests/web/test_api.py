"""The JSON API starts, lists and reads runs, with tokens where they are set up, and refuses what it documents."""

from __future__ import annotations

import json
import re

import jsonschema_rs
import pytest

from app.capabilities.options import Choice
from app.domain.errors import InvalidInput, SettingsError
from app.runs.transfer import run_as_dict
from app.web.api.about import document
from app.web.api.blueprint import API
from app.web.auth import find_token, new_token, token_line
from tests.fakes import AWAY, FAILING, scripted_container
from tests.waiting import LONG, until

CLAIM = "Hamlet's author was born in England."
RUNS = "/api/v1/runs"


def held_to(name: str, value):
    """Return the value after checking it against the OpenAPI schema of this name."""
    schemas = document()["components"]["schemas"]
    schema = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": schemas}}
    jsonschema_rs.validate(schema, value)
    return value


def start(client, claim: str = CLAIM, **fields) -> str:
    """Start a run and return its address."""
    answer = client.post(RUNS, json={"claim": claim, **fields})
    assert answer.status_code == 201, answer.text
    held_to("Run", answer.json)
    return answer.headers["Location"]


def ended(client, address: str) -> dict:
    """Return the run once it has ended."""
    return until(lambda: (run := held_to("Run", client.get(address).json))["state"] != "running" and run, "its end")


def problem(answer, code: int) -> dict:
    """Return the problem of a response after checking its status code and media type."""
    assert (answer.status_code, answer.mimetype) == (code, "application/problem+json"), answer.text
    assert answer.json["status"] == code
    return held_to("Problem", answer.json)


def with_tokens(make_app, tmp_path, *names: str, container=None, **settings):
    """Return an application that requires tokens, and the request headers of one token per name."""
    tokens = [new_token() for _ in names]
    file = tmp_path / "tokens"
    file.write_text("\n".join(token_line(name, token) for name, token in zip(names, tokens, strict=True)))
    return make_app(container, api_tokens=file, **settings), *({"Authorization": f"Bearer {token}"} for token in tokens)


class TestRuns:
    def test_a_started_run_reads_the_same_as_its_export(self, make_app):
        app = make_app()
        client = app.test_client()
        run = ended(client, start(client))
        assert (run["label"], run["state"], len(run["hops"])) == ("SUPPORTED", "verdict", 2)
        exported = run_as_dict(app.extensions["hopcheck"].runs.report(run["id"]))
        assert run == {**exported, "place": None, "concluding": False, "published_at": None, "taken_down": False}

    def test_every_choice_reaches_the_run_and_missing_or_null_fields_use_the_settings(self, make_app):
        container = scripted_container(
            language_models=(AWAY,), choices=(Choice("web-search", "Web"), Choice("retriever-reader", "Corpus"))
        )
        chosen = {
            "speaker": "A teacher",
            "date": "31 October 2020",
            "strategy": "evidence-pursuit",
            "preset": "paper",
            "answerer": "web-search",
            "search": "brave",
            "model": "big",
            "max_hops": 7.0,  # an integer, as JSON Schema has it
            "fresh": True,
            "undated": False,
            "fact_checks": False,
            "corpora": None,
        }
        client = make_app(container).test_client()
        run = ended(client, start(client, **chosen))
        assert (run["speaker"], run["date"]) == ("A teacher", "2020-10-31")
        body = {name: value for name, value in run["options"].items() if name in chosen}
        assert body == {**{name: chosen[name] for name in body}, "corpora": []}
        assert run["options"]["labels"] == "two", "the preset's own"
        assert ended(client, start(client))["options"]["corpora"] == ["vital"]

    def test_a_source_of_the_choices_sets_what_answers_a_run_and_each_run_of_a_batch(self, make_app):
        answerers = (Choice("retriever-reader", "Retriever and reader"), Choice("web-search", "Web search"))
        client = make_app(scripted_container(choices=answerers)).test_client()
        choices = held_to("Choices", client.get("/api/v1/choices").json)
        assert [each["name"] for each in choices["sources"] if each["available"]] == ["vital", "web"]
        for name, answerer in (("vital", "retriever-reader"), ("web", "web-search")):
            assert ended(client, start(client, source=name))["options"]["answerer"] == answerer
        assert client.post("/api/v1/batches", json={"claims": [CLAIM], "source": "web"}).status_code == 201

    def test_the_same_request_with_the_same_idempotency_key_returns_the_same_run(self, client):
        def sent(claim: str, key: str) -> str:
            answer = client.post(RUNS, json={"claim": claim}, headers={"Idempotency-Key": key})
            assert answer.status_code == 201
            return answer.json["id"]

        first = sent(CLAIM, "one")
        assert sent(CLAIM, "one") == first
        assert len({first, sent(CLAIM, "two"), sent("Hamlet is a play.", "one")}) == 3


class TestList:
    def test_paging_lists_all_of_the_visitors_runs_and_no_others(self, make_app):
        app = make_app()
        mine, other = app.test_client(), app.test_client()
        start(other, "Somebody else's claim.")
        ids = [start(mine, f"Claim number {number}.").rpartition("/")[2] for number in range(5)]
        seen, cursor = [], ""
        while cursor is not None:
            page = held_to("RunList", mine.get(f"{RUNS}?limit=2{cursor}").json)
            seen += [run["id"] for run in page["runs"]]
            assert len(page["runs"]) <= 2
            cursor = page["next"] and f"&cursor={page['next']}"
        assert sorted(seen) == sorted(ids)

    def test_the_list_can_be_searched_and_filtered_like_the_history(self, client):
        fits, other = start(client, "Hamlet was written in 1600."), start(client, "Everest is a mountain.")
        ended(client, fits), ended(client, other)
        for query, expected in (
            ({"label": "SUPPORTED", "q": "everest"}, [other]),
            ({"label": "REFUTED"}, []),
            ({"answerer": "retriever-reader", "limit": 1, "q": "hamlet"}, [fits]),
        ):
            body = held_to("RunList", client.get(RUNS, query_string=query).json)
            assert [f"{RUNS}/{run['id']}" for run in body["runs"]] == expected, query

    @pytest.mark.parametrize(
        ("field", "value"), [("label", "MAYBE"), ("label", ""), ("answerer", "nobody"), ("q", "x" * 501)]
    )
    def test_an_invalid_filter_is_refused_by_name(self, client, field, value):
        assert problem(client.get(RUNS, query_string={field: value}), 422)["field"] == field


class TestBadInput:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("claim", ["a claim"]),
            ("claim", "x" * 501),
            ("date", "2020-02-30"),
            ("model", 3),
            ("corpora", ["nowhere"]),
            ("max_hops", 0),
            ("max_hops", True),
            ("temperature", float("nan")),
            ("undated", 1),
            ("owner", "me"),
        ],
    )
    def test_an_invalid_field_is_named_and_no_run_is_started(self, client, field, value):
        answer = problem(
            client.post(RUNS, data=json.dumps({"claim": CLAIM, field: value}), content_type="application/json"), 422
        )
        assert answer["field"] == field and answer["detail"].endswith(".")
        assert client.get(RUNS).json["runs"] == []

    @pytest.mark.parametrize(
        "body", [b"{", b"claim=x", b"\xff", b"[" * 100_000, b'{"claim": "\\ud800"}', b"[]", b'"x"', b"7"]
    )
    def test_a_body_that_is_not_a_json_object_is_refused(self, client, body):
        problem(client.post(RUNS, data=body, content_type="application/json"), 400)

    def test_a_server_error_returns_a_problem_without_a_traceback(self, make_app):
        app = make_app()
        app.view_functions["api.readRun"] = lambda run_id: 1 / 0
        assert "ZeroDivision" not in json.dumps(problem(app.test_client().get(f"{RUNS}/x"), 500))


def test_an_unreadable_token_file_grants_no_access(make_app, tmp_path):
    client = make_app(api_tokens=tmp_path / "none").test_client()
    problem(client.get(RUNS, headers={"Authorization": "Bearer x"}), 503)
    problem(client.get(RUNS), 401)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "tokens"


def test_the_command_prints_a_token_and_its_line_for_the_token_file(make_app, file):
    result = make_app(api_tokens=file).test_cli_runner().invoke(args=["tokens", "new", "my-script"])
    token = result.stdout.strip()
    line = re.search(r"^my-script:[0-9a-f]{64}$", result.stderr, re.MULTILINE)[0]
    file.write_text(f"# for trials\n\n{line}\n")
    assert result.exit_code == 0 and str(file) in result.stderr
    assert token not in line and find_token(file, token) == "my-script"


def test_tokens_are_unique_and_each_belongs_to_its_own_name(file):
    first, second = new_token(), new_token()
    file.write_text(token_line("one", first) + "\n" + token_line("two", second) + "\n")
    assert (find_token(file, first), find_token(file, second), find_token(file, new_token())) == ("one", "two", None)
    file.write_text(token_line("two", second))
    assert find_token(file, first) is None, "its line was removed"


@pytest.mark.parametrize("name", ["", "a:b", "Big", "a\nb", "x" * 41, "-a"])
def test_a_name_that_would_break_the_file_is_refused(name):
    with pytest.raises(InvalidInput):
        token_line(name, "token")


def test_a_missing_or_broken_file_is_reported_without_its_content(file):
    with pytest.raises(SettingsError, match="cannot be read"):
        find_token(file, "token")
    file.write_text("# fine\nplain-secret\n")
    with pytest.raises(SettingsError, match="Line 2") as refusal:
        find_token(file, "token")
    assert "plain-secret" not in str(refusal.value)


RUNNING = [
    ("POST", "branch", {"hop": 1}, 409),
    ("POST", "conclude", {}, 409),
    ("POST", "publish", {}, 409),
    ("PUT", "notes/1", {"agrees": True}, 409),
    ("GET", "export.md", None, 409),
    ("GET", "claimreview.json", None, 409),
]
WITH_A_VERDICT = [
    ("PUT", "notes/7", {"agrees": True}, 404),
    ("DELETE", "notes/two", None, 404),
    ("PUT", "notes/1", {"text": "x" * 2001}, 422),
    ("PUT", "notes/1", {"hop": 1, "agrees": True}, 422),
    ("POST", "branch", {"hop": 7}, 422),
    ("POST", "branch", {"hop": True}, 422),
    ("POST", "branch", {"hop": 10**4000}, 422),
    ("POST", "branch", {"hop": 2, "question": " "}, 422),
    ("POST", "branch", {"hop": 2, "answerer": "flan-t5"}, 422),
    ("POST", "branch", {"hop": 2, "question": "Who?", "leave_out": True}, 422),
    ("POST", "stop", {"hop": 1}, 422),
    ("POST", "conclude", {}, 409),
]
WITHOUT_A_VERDICT = [("GET", "claimreview.json", None, 409), ("POST", "publish", {}, 409)]


@pytest.mark.parametrize(("method", "path", "body", "code"), RUNNING)
def test_a_run_without_an_answer_refuses(gated, method, path, body, code):
    client, gate = gated("answer 1", publishing=True)
    address = start(client)
    assert gate.reached.wait(LONG)
    problem(client.open(f"{address}/{path}", method=method, json=body), code)


@pytest.mark.parametrize(
    ("container", "requests"),
    [(scripted_container, WITH_A_VERDICT), (lambda: scripted_container(FAILING), WITHOUT_A_VERDICT)],
)
def test_an_ended_run_refuses(make_app, container, requests):
    client = make_app(container(), publishing=True).test_client()
    address = start(client)
    before = ended(client, address)
    for method, path, body, code in requests:
        problem(client.open(f"{address}/{path}", method=method, json=body), code)
    assert client.get(address).json == before


def test_a_batch_refuses_what_its_state_forbids_and_a_cursor_that_is_no_number(gated):
    client, _ = gated("question 1")
    path = client.post(f"{API}/batches", json={"claims": [CLAIM]}).headers["Location"]
    problem(client.get(f"{path}/results?after=x"), 422)
    assert client.post(f"{path}/cancel", json={}).json["state"] == "cancelled"
    problem(client.post(f"{path}/cancel", json={}), 409)
    assert client.delete(path).status_code == 204
    problem(client.delete(path), 404)
    assert client.post(f"{path}/restore", json={}).json["state"] == "cancelled"
