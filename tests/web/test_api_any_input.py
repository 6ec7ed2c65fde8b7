"""Fuzzing by schemathesis: any input to the JSON API gets a documented response and never a server error.

The requests are derived from the document, valid and invalid ones, with a fixed seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    positive_data_acceptance,
    response_schema_conformance,
    status_code_conformance,
)

from app import create_app
from app.config.settings import Settings
from app.web.api.about import document
from app.web.api.blueprint import API
from tests.conftest import sqlite_file
from tests.fakes import scripted_container
from tests.web.test_api import CLAIM, RUNS, ended, with_tokens

REQUESTS_A_MODE = 5
"""Requests per operation, once with valid and once with invalid input."""

MOST_SECONDS = 20.0
"""Time limit of a request; streams stay below it because their runs have ended."""

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]

SITE_DECIDES = {
    ("POST", f"{RUNS}"),
    ("POST", f"{API}/batches"),
    ("POST", f"{RUNS}/{{run_id}}/branch"),
    ("PUT", f"{RUNS}/{{run_id}}/notes/{{hop}}"),
    ("POST", f"{API}/import"),
}
"""Operations that refuse some requests that fit the document, for reasons that docs/api.md lists."""

OPERATIONS = [
    (method.upper(), path) for path, item in document()["paths"].items() for method in item if method != "parameters"
]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[tuple[Flask, dict[str, str], list[str]]]:
    """An application, the headers of one token, and three run ids: two of that token, one of another token."""
    folder = tmp_path_factory.mktemp("site")
    app, mine, theirs = with_tokens(partial(site_in, folder), folder, "one", "two")
    client = app.test_client()
    started = [client.post(RUNS, json={"claim": CLAIM}, headers=each) for each in (mine, mine, theirs)]
    yield app, mine, [ended(client, answer.headers["Location"])["id"] for answer in started]
    app.extensions["hopcheck"].runs.stop()


@pytest.fixture(scope="module")
def operations(site) -> BaseSchema:
    """The operations of the API's document, which schemathesis reads once."""
    return schemathesis.openapi.from_wsgi(f"{API}/openapi.json", site[0])


def site_in(folder: Path, _container: None, **settings) -> Flask:
    """Return an application whose runs end at once and whose limits are never reached."""
    url = sqlite_file(folder)
    plenty = {"rate_limit": "9999 per second", "max_waiting": 9999, "publishing": True}
    return create_app(Settings(instance=folder, database_url=url, **plenty, **settings), scripted_container(), False)


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=lambda part: part.removeprefix(API))
@pytest.mark.parametrize("mode", GenerationMode, ids=lambda mode: mode.value)
def test_any_input_gets_a_documented_response(site, operations, method, path, mode):
    app, token, ids = site
    operation = operations[path][method]
    if mode is GenerationMode.NEGATIVE and not (operation.body or operation.query or operation.headers):
        return  # the operation has no input that could be invalid
    for run_id in ids:  # another test may have deleted it
        app.extensions["hopcheck"].runs.deletion.restore(run_id, "token:one")
    valid_fields = {"hop": 1, "run": ids[:2]} if mode is GenerationMode.POSITIVE else {}
    known = st.sampled_from([*({**valid_fields, "run_id": run_id} for run_id in ids), {}])
    accepts = mode is GenerationMode.POSITIVE and (method, path) not in SITE_DECIDES
    checks = [*CHECKS, positive_data_acceptance] if accepts else CHECKS
    send_some(operation.as_strategy(generation_mode=mode), known, token, checks, path.endswith("/events"))


def send_some(cases, about, token, wanted, is_stream: bool) -> None:
    """Send generated requests of one operation, most of them with ids that exist (`about`)."""

    @settings(
        max_examples=REQUESTS_A_MODE,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases, about)
    def send(case, there):
        for place in (case.path_parameters, case.query):
            place.update({name: value for name, value in there.items() if name in place})
        answer = case.call(headers={**token, "Accept-Encoding": "identity"})
        # That check takes 413, for a body larger than the limit, for no rejection.
        left = {negative_data_rejection} if answer.status_code == 413 else set()
        # It reads each event of a stream for the whole text that the document describes.
        left |= {response_schema_conformance} if is_stream else set()
        checks = [each for each in wanted if each not in left]
        case.validate_response(answer, checks=checks)
        assert answer.elapsed < MOST_SECONDS

    send()
