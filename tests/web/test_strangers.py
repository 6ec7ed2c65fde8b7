"""Two owners cannot access each other's runs by any route: every route of the application is tried.

A new route must be added to ROUTES; a test fails until it is there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from unittest.mock import patch

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from app.domain.model import BatchLine, Claim, Label, RunOptions
from app.extensions import db
from app.runs.models import BatchClaimRow, RunRow
from app.web.api.blueprint import API
from tests.fakes import Gate, scripted_container
from tests.waiting import LONG, until
from tests.web.conftest import token
from tests.web.test_api import CLAIM, RUNS, with_tokens
from tests.web.test_every_route import routes_of

OPEN = "the same for everybody"
LIST = "lists only the visitor's own runs"
BATCH_LIST = "lists only the visitor's own batches"
BATCH_LINK = "open to anybody with the batch's id"
OPERATOR = "for the site's operator, who has no runs by it (test_setting_up.py)"
MAKES = "makes a run or batch that belongs to the visitor"


@dataclass(frozen=True)
class Link:
    """Open to anybody with the run's id; `query` is where the id is, when it is not in the path."""

    query: str = ""


@dataclass(frozen=True)
class Owned:
    """Only for the owner of a run or batch. Tried on one in this state with these fields, it returns `code`."""

    state: str = "ended"
    fields: dict[str, Any] = field(default_factory=dict)
    code: int = 200
    batch: str = "going"


EXECUTION_COLUMNS = ("epoch", "holder", "leased_until", "cut_offs", "began_at")
"""Columns of a run that change without a request."""

WITHOUT_A_COOKIE = (400, 404)
"""A form without a token may be called stale, as long as that shows nothing of the run."""

BRANCH = {"hop": 2, "question": "In which country was he born?"}

ROUTES: dict[str, str | Link | Owned] = {
    "GET /static/<path:filename>": OPEN,
    "GET /": LIST,
    "GET /favicon.ico": OPEN,
    "GET /opensearch.xml": OPEN,
    "GET /parts": OPEN,
    "GET /how-it-works": OPEN,
    "GET /choices": OPEN,
    "GET /export.schema.json": OPEN,
    "GET /healthz": OPEN,
    "GET /readyz": OPEN,
    "GET /metrics": OPEN,
    "GET /password": OPEN,
    "POST /password": OPEN,
    "POST /runs": MAKES,
    "GET /history": LIST,
    "GET /gallery": OPEN,
    "GET /import": OPEN,
    "POST /import": MAKES,
    "GET /batches": BATCH_LIST,
    "POST /batches": MAKES,
    "GET /batches/<batch_id>": BATCH_LINK,
    "GET /batches/<batch_id>/results.csv": BATCH_LINK,
    "GET /batches/<batch_id>/results.jsonl": BATCH_LINK,
    "POST /batches/<batch_id>/pause": Owned(code=303),
    "POST /batches/<batch_id>/resume": Owned(code=303, batch="paused"),
    "GET /batches/<batch_id>/cancel": Owned(),
    "POST /batches/<batch_id>/cancel": Owned(code=303),
    "POST /batches/<batch_id>/retry": Owned(code=303, batch="failed"),
    "POST /batches/<batch_id>/recheck": Owned(code=303, batch="undecided", fields={"source": "vital"}),
    "GET /batches/<batch_id>/delete": Owned(),
    "POST /batches/<batch_id>/delete": Owned(code=303),
    "POST /batches/<batch_id>/restore": Owned(code=303, batch="deleted"),
    "GET /compare": Link("run={0}&run={1}"),
    "GET /runs/<run_id>": Link(),
    "GET /runs/<run_id>/events": Link(),
    "GET /runs/<run_id>/export.json": Link(),
    "GET /runs/<run_id>/export.md": Link(),
    "GET /runs/<run_id>/export.html": Link(),
    "GET /runs/<run_id>/claimreview.json": Link(),
    "GET /runs/<run_id>/export.ris": Link(),
    "GET /runs/<run_id>/export.bib": Link(),
    "GET /runs/<run_id>/card.png": Link(),
    "GET /runs/<run_id>/embed": Link(),
    "POST /runs/<run_id>/stop": Owned("running", code=303),
    "POST /runs/<run_id>/conclude": Owned("running", code=303),
    "GET /runs/<run_id>/branch": Owned(fields={"hop": 2}),
    "POST /runs/<run_id>/branch": Owned(fields=BRANCH, code=303),
    "POST /runs/<run_id>/notes": Owned(fields={"hop": 1, "agrees": "yes"}, code=303),
    "GET /runs/<run_id>/delete": Owned(),
    "POST /runs/<run_id>/delete": Owned(code=303),
    "POST /runs/<run_id>/restore": Owned("deleted", code=303),
    "POST /runs/<run_id>/publish": Owned(code=303),
    "POST /runs/<run_id>/unpublish": Owned("published", code=303),
    "GET /setup": OPERATOR,
    "GET /setup/doctor": OPERATOR,
    "GET /setup/tasks": OPERATOR,
    "POST /setup/sign-in": OPERATOR,
    "POST /setup/<any(models,keys):kind>": OPERATOR,
    "POST /setup/<any(models,keys):kind>/remove": OPERATOR,
    "POST /setup/offer": OPERATOR,
    "POST /setup/downloads": OPERATOR,
    "POST /setup/documents": OPERATOR,
    "POST /setup/tasks/<any(stop,resume,remove):action>": OPERATOR,
    "GET /api": OPEN,
    f"GET {API}/openapi.json": OPEN,
    f"GET {API}/choices": OPEN,
    f"GET {API}/runs": LIST,
    f"POST {API}/runs": MAKES,
    f"GET {API}/runs/<run_id>": Link(),
    f"GET {API}/runs/<run_id>/events": Link(),
    f"GET {API}/compare": Link("run={0}&run={1}"),
    f"GET {API}/runs/<run_id>/export.md": Link(),
    f"GET {API}/runs/<run_id>/claimreview.json": Link(),
    f"GET {API}/runs/<run_id>/export.ris": Link(),
    f"GET {API}/runs/<run_id>/export.bib": Link(),
    f"POST {API}/runs/<run_id>/stop": Owned("running"),
    f"POST {API}/runs/<run_id>/conclude": Owned("running"),
    f"POST {API}/runs/<run_id>/branch": Owned(fields=BRANCH, code=201),
    f"GET {API}/runs/<run_id>/branches": Owned(),
    f"DELETE {API}/runs/<run_id>": Owned(code=204),
    f"POST {API}/runs/<run_id>/restore": Owned("deleted"),
    f"GET {API}/deleted": LIST,
    f"POST {API}/import": MAKES,
    f"GET {API}/batches": BATCH_LIST,
    f"POST {API}/batches": MAKES,
    f"GET {API}/batches/<batch_id>": BATCH_LINK,
    f"GET {API}/batches/<batch_id>/results": BATCH_LINK,
    f"POST {API}/batches/<batch_id>/pause": Owned(),
    f"POST {API}/batches/<batch_id>/resume": Owned(batch="paused"),
    f"POST {API}/batches/<batch_id>/cancel": Owned(),
    f"POST {API}/batches/<batch_id>/retry": Owned(batch="failed"),
    f"DELETE {API}/batches/<batch_id>": Owned(code=204),
    f"POST {API}/batches/<batch_id>/restore": Owned(batch="deleted"),
    f"GET {API}/deleted/batches": BATCH_LIST,
    f"POST {API}/runs/<run_id>/publish": Owned(),
    f"POST {API}/runs/<run_id>/unpublish": Owned("published"),
    f"GET {API}/gallery": OPEN,
    f"GET {API}/runs/<run_id>/notes": Owned(),
    f"PUT {API}/runs/<run_id>/notes/<hop>": Owned(fields={"agrees": True}),
    f"DELETE {API}/runs/<run_id>/notes/<hop>": Owned(code=204),
}

OWNED = sorted(route for route, kind in ROUTES.items() if isinstance(kind, Owned))
LINKS = sorted(route for route, kind in ROUTES.items() if isinstance(kind, Link))
BATCH_LINKS = sorted(route for route, kind in ROUTES.items() if kind == BATCH_LINK)
SHOWN = sorted(route for route, kind in ROUTES.items() if kind in (OPEN, LIST, BATCH_LIST) and "<" not in route)


@dataclass(frozen=True)
class Site:
    """An application with runs of one owner, who uses a browser, or a token where `tokens` are asked for."""

    app: Flask
    owner: FlaskClient
    ids: tuple[str, ...]
    batch: str
    tokens: tuple[dict[str, str], ...] = ()

    def ask(self, client: FlaskClient, route: str, ids: tuple[str, ...] = (), headers: dict | None = None):
        """Request this route for the runs and batch of the site, or for these `ids`, as a page or a program does."""
        kind, (method, rule) = ROUTES[route], route.split()
        rule = rule.replace("<batch_id>", ids[0] if ids else self.batch)
        ids = ids or self.ids
        path = rule.replace("<run_id>", ids[0]).replace("<hop>", "1")
        fields = kind.fields if isinstance(kind, Owned) else {}
        if method == "GET":
            query = kind.query.format(*ids) if isinstance(kind, Link) else fields
            return client.get(path, query_string=query, headers=headers, buffered=True)
        if path.startswith("/api/"):
            return client.open(path, method=method, json=fields, headers=headers)
        sent = {"csrf_token": token(client), **fields} if client.get_cookie("hopcheck") else fields
        return client.open(path, method=method, data=sent)

    def stored(self) -> dict[str, list]:
        """Return everything stored about runs and batches, except the columns in EXECUTION_COLUMNS."""
        tables = db.metadata.tables
        chosen = {name: list(tables[name].columns) for name in ("events", "notes", "batches", "batch_claims")}
        chosen["runs"] = [each for each in tables["runs"].columns if each.name not in EXECUTION_COLUMNS]
        with self.app.app_context():
            return {name: db.session.execute(select(*columns)).all() for name, columns in chosen.items()}

    def browser(self) -> FlaskClient:
        """Another browser, with a cookie of its own."""
        client = self.app.test_client()
        token(client)
        return client


@pytest.fixture
def site(make_app, tmp_path, request) -> Callable[..., Site]:
    """Make a site with one run that is "running", or two that are "ended", "deleted" or "published"."""

    def make(state: str, with_a_token: bool = False, batch: str = "going") -> Site:
        gate = Gate("answer 2")
        request.addfinalizer(gate.open)
        container = scripted_container(gate=gate)
        if with_a_token:
            app, *tokens = with_tokens(make_app, tmp_path, "one", "two", container=container, publishing=True)
        else:
            app, tokens = make_app(container, publishing=True, embed_on=("*",)), []
        owner, runs = app.test_client(), app.extensions["hopcheck"].runs
        number, mine = (1 if state == "running" else 2), next(iter(tokens), None)
        made = [owner.post(RUNS, json={"claim": CLAIM}, headers=mine) for _ in range(number)]
        ids = tuple(answer.json["id"] for answer in made)
        if state == "running":
            assert gate.reached.wait(LONG)
        else:
            gate.open()
            until(lambda: all(runs.report(each).report.ended for each in ids))
        batch_id = batch_of(app, runs.report(ids[0]).owner, batch, ids[-1])
        for run_id in ids:
            if state == "deleted":
                runs.deletion.delete(run_id)
            if state == "published":
                runs.publishing.publish(run_id)
        return Site(app, owner, ids, batch_id, tuple(tokens))

    return make


def batch_of(app: Flask, owner: str, state: str, run_id: str) -> str:
    """Create a batch that is "going", "paused" or "deleted", or whose run `run_id` is "failed" or "undecided"."""
    batches = app.extensions["hopcheck"].batches
    with patch.object(batches, "feed"):  # no run is started
        batch_id = batches.start([BatchLine(Claim(CLAIM))], RunOptions(), owner, "A batch")
    if state == "paused":
        batches.pause(batch_id)
    if state == "deleted":
        batches.delete(batch_id)
    outcomes = {
        "failed": {"state": "failed"},
        "undecided": {"state": "verdict", "label": Label.NOT_ENOUGH_EVIDENCE.value},
    }
    if state in outcomes:
        with app.app_context():
            db.session.execute(update(RunRow).where(RunRow.id == run_id).values(batch=batch_id, **outcomes[state]))
            db.session.execute(update(BatchClaimRow).values(run_id=run_id))
            db.session.commit()
    return batch_id


def test_every_route_is_classified(make_app):
    routes = routes_of(make_app())
    assert routes - set(ROUTES) == set(), "classify these in ROUTES"
    assert set(ROUTES) - routes == set(), "these are gone"


@pytest.mark.parametrize("route", OWNED)
def test_another_browser_gets_404_and_changes_nothing_while_the_owner_succeeds(site, route):
    place = site(ROUTES[route].state, batch=ROUTES[route].batch)
    before = place.stored()
    assert place.ask(place.browser(), route).status_code == 404
    assert place.ask(place.app.test_client(), route).status_code in WITHOUT_A_COOKIE
    assert place.stored() == before
    answer = place.ask(place.owner, route)
    assert answer.status_code == ROUTES[route].code, answer.text


@pytest.mark.parametrize("route", [route for route in OWNED if API in route])
def test_another_token_is_refused_and_changes_nothing_while_the_owners_succeeds(site, route):
    place = site(ROUTES[route].state, with_a_token=True, batch=ROUTES[route].batch)
    (mine, another), before = place.tokens, place.stored()
    visits = [(place.browser(), {}), (place.browser(), {"Authorization": "Bearer wrong"}), (place.owner, another)]
    assert [place.ask(client, route, headers=sent).status_code for client, sent in visits] == [401, 401, 404]
    assert place.stored() == before
    answer = place.ask(place.owner, route, headers=mine)
    assert answer.status_code == ROUTES[route].code, answer.text


@pytest.mark.parametrize("route", [route for route in OWNED if API not in route])
def test_a_browser_cannot_change_the_run_of_a_token(site, route):
    place = site(ROUTES[route].state, with_a_token=True, batch=ROUTES[route].batch)
    before = place.stored()
    assert place.ask(place.browser(), route).status_code == 404
    assert place.ask(place.app.test_client(), route).status_code in WITHOUT_A_COOKIE
    assert place.stored() == before


def test_a_link_opens_its_run_for_everyone_unless_it_is_unknown_or_deleted(site):
    place = site("ended")
    visitor, gone = place.app.test_client(), ("x" * 22, "y" * 22)
    assert {route: place.ask(visitor, route).status_code for route in LINKS} == dict.fromkeys(LINKS, 200)
    visitor = place.browser()
    for route in (*LINKS, *OWNED):
        assert place.ask(visitor, route, gone).status_code == 404, route
    for run_id in place.ids:
        place.app.extensions["hopcheck"].runs.deletion.delete(run_id)
    assert {route: place.ask(visitor, route).status_code for route in LINKS} == dict.fromkeys(LINKS, 404)


def test_a_link_opens_its_batch_for_everyone_unless_it_is_unknown(site):
    place = site("ended")
    visitor = place.app.test_client()
    for route in BATCH_LINKS:
        answer = place.ask(visitor, route)
        assert answer.status_code == 200, route
        assert CLAIM in unescape(answer.text) or place.batch in answer.text, route
        assert "Pause" not in answer.text and answer.headers["X-Robots-Tag"] == "noindex", route
        assert place.ask(visitor, route, ("x" * 22,)).status_code == 404, route


def test_no_page_or_list_shows_the_runs_of_others(site):
    place = site("ended")
    for route in SHOWN:
        ids = (*place.ids, place.batch)
        assert not any(each.encode() in place.ask(place.browser(), route).get_data() for each in ids), route
    for route in [route for route in SHOWN if ROUTES[route] == LIST and "deleted" not in route]:
        assert all(run_id in place.ask(place.owner, route).text for run_id in place.ids), route
    for route in [route for route in SHOWN if ROUTES[route] == BATCH_LIST and "deleted" not in route]:
        assert place.batch in place.ask(place.owner, route).text, route
