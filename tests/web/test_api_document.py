"""The OpenAPI document: valid, browsable, complete, and true of what the API answers."""

from __future__ import annotations

import re

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

from app import create_app
from app.settings import Settings
from app.web.api_problems import API
from app.web.openapi import document
from tests.fakes import scripted_wiring


def test_every_route_of_the_api_is_in_the_document_and_nothing_else_is(make_app):
    rules = make_app().url_map.iter_rules()
    routes = {
        (re.sub(r"<(\w+)>", r"{\1}", rule.rule.removeprefix(API)), method.lower())
        for rule in rules
        if rule.rule.startswith(f"{API}/") and rule.endpoint != "api.openapi"
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }
    told = {(path, method) for path, item in document()["paths"].items() for method in item if method != "parameters"}
    assert routes == told


def test_it_is_served_and_every_reference_in_it_leads_somewhere(client):
    served = client.get(f"{API}/openapi.json")
    assert served.json == document() and served.json["openapi"].startswith("3.1")
    names = re.findall(r'"#/components/schemas/(\w+)"', served.text)
    assert names and set(names) <= set(document()["components"]["schemas"])


def test_its_page_shows_every_operation_and_schema_without_any_script(client):
    answer = client.get("/api")
    page = answer.text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "<script" not in page and "style=" not in page
    for item in document()["paths"].values():
        assert all(each["summary"] in page for name, each in item.items() if name != "parameters")
    targets = re.findall(r'href="#(schema-\w+)"', page)
    assert targets and all(page.count(f'id="{target}"') == 1 for target in targets)


@pytest.fixture
def described(tmp_path, database_url):
    """The document over an application whose runs take no time."""
    site = Settings(instance=tmp_path, database_url=database_url, rate_limit="9999 per second", max_waiting=9999)
    app = create_app(site, scripted_wiring(), commands=False)
    yield schemathesis.openapi.from_wsgi(f"{API}/openapi.json", app)
    app.extensions["hopcheck"].runs.stop()


def test_whatever_is_sent_no_answer_is_a_server_error_and_all_are_as_described(described):
    checks = [not_a_server_error, content_type_conformance, response_schema_conformance]

    for operation in described.get_all_operations():
        send_some(operation.ok().as_strategy(), checks)


def send_some(cases, checks) -> None:
    """Send a dozen made-up requests of one operation."""

    @settings(
        max_examples=12,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def send(case):
        case.call_and_validate(checks=checks)

    send()
