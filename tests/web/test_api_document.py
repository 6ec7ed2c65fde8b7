"""The OpenAPI document is valid, browsable, complete, and matches the responses."""

from __future__ import annotations

import json
import re
import shlex
from typing import get_args, get_type_hints
from urllib.parse import urlsplit

import jsonschema_rs
import pytest

from app import ROOT
from app.domain.events import Event
from app.web.api.about import document
from app.web.api.blueprint import API
from tests.web.test_api import held_to


def test_the_document_has_exactly_the_routes_for_programs(make_app):
    rules = make_app().url_map.iter_rules()
    routes = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in rules
        if rule.rule.startswith((f"{API}/", "/healthz", "/readyz")) and rule.endpoint != "api.openapi"
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }
    known = {(path, method) for path, item in document()["paths"].items() for method in item if method != "parameters"}
    assert routes == known


def test_every_route_of_the_api_is_in_its_documentation():
    written = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    known = set(re.findall(r"`(GET|POST|PUT|DELETE) (/\S*?)[?`]", written))
    routes = {
        (method.upper(), re.sub(r"{(?:run_|batch_)?(\w+)}", lambda name: name[1].upper(), path.removeprefix(API)))
        for path, item in document()["paths"].items()
        for method in item
        if method != "parameters"
    }
    assert routes == known


def test_the_document_describes_every_event_type():
    described = document()["components"]["schemas"]["Event"]["discriminator"]["mapping"]
    assert set(described) == {get_args(get_type_hints(event)["kind"])[0] for event in get_args(Event)}


def test_the_document_is_served_and_all_its_references_resolve(client):
    served = client.get(f"{API}/openapi.json")
    assert served.json == document() and served.json["openapi"].startswith("3.1")
    names = re.findall(r'"#/components/schemas/(\w+)"', served.text)
    assert names and set(names) <= set(document()["components"]["schemas"])


def test_the_api_page_shows_every_operation_and_schema_without_a_script(client):
    answer = client.get("/api")
    page = answer.text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "<script" not in page[page.index("<main") :] and "style=" not in page
    for item in document()["paths"].values():
        assert all(each["summary"] in page for name, each in item.items() if name != "parameters")
    targets = re.findall(r'href="#(schema-\w+)"', page)
    assert targets and all(page.count(f'id="{target}"') == 1 for target in targets)


def test_every_body_with_fields_has_an_example_and_every_example_fits_its_schema():
    schemas = document()["components"]["schemas"]
    bodies = {
        operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        for item in document()["paths"].values()
        for name, operation in item.items()
        if name != "parameters" and "requestBody" in operation
    }
    assert {name for name in bodies if not schemas[name].get("examples")} == {"Nothing", "Exported"}
    for name, schema in schemas.items():
        for example in schema.get("examples", ()):
            held_to(name, example)


def test_the_commands_on_the_api_page_work(client):
    page = client.get("/api").text
    start, follow = (shlex.split(line) for line in re.findall(r"curl .*?(?=\n|</code>)", page))
    sent = client.post(urlsplit(start[-3]).path, json=json.loads(start[-1]))
    assert sent.status_code in (201, 202) and start[-2] == "--json"
    followed = client.get(urlsplit(follow[-1]).path.replace("ID", sent.json["id"]))
    assert followed.mimetype == "text/event-stream" and "event: end" in followed.text


RUN = (ROOT / "tests/golden/files/run.question-guided.json").read_text()
COMPLETE = {
    "NewRun": {"claim": "Hamlet is a play."},
    "NewBranch": {"hop": 1},
    "NewNote": {"agrees": True},
    "Exported": json.loads(RUN.replace("TIME", "2026-01-01T00:00:00Z")),
}


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("NewRun", {"answerer": "none of these"}),
        ("NewBranch", {"question": " \t"}),
        ("NewBranch", {"question": "Who\u0000?"}),
        ("NewBranch", {"question": "Who wrote Hamlet?", "leave_out": True}),
        ("NewNote", {"text": "a\u0080"}),
        ("Exported", {"state": "running", "label": None}),
        ("Exported", {"label": None}),
        ("Exported", {"created_at": "1999-12-31T00:00:00Z"}),
    ],
)
def test_what_no_site_accepts_does_not_fit_the_document(name, body):
    complete = held_to(name, COMPLETE[name])
    with pytest.raises(jsonschema_rs.ValidationError):
        held_to(name, complete | body)
