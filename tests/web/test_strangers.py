"""Two owners cannot access each other's runs by any route: every route of the application is tried.

A new route must get a kind in `kind_of`; by default one that changes a run or batch is for its owner only.
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
from tests.golden.golden_file import FOLDER
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
    """Only for the owner of a run or batch. Tried on one in this state with these fields."""

    state: str = "ended"
    fields: dict[str, Any] = field(default_factory=dict)
    batch: str = "going"


EXECUTION_COLUMNS = ("epoch", "holder", "leased_until", "cut_offs", "began_at")
"""Columns of a run that change without a request."""

WITHOUT_A_COOKIE = (400, 404)
"""A form without a token may be called stale, as long as that shows nothing of the run."""

STATES = {"stop": "running", "conclude": "running", "restore": "deleted", "unpublish": "published"}
BATCHES = {"resume": "paused", "retry": "failed", "recheck": "undecided", "restore": "deleted"}
"""The states of a run and of a batch in which a button has an effect, by the last word of its path."""

FIELDS: dict[str, dict[str, Any]] = {
    "branch": {"hop": 2, "question": "In which country was he born?"},
    "recheck": {"source": "vital"},
    "notes": {"hop": 1, "agrees": "yes"},
    "<hop>": {"agrees": True},
}
OWNERS_PAGES = {"branch", "branches", "cancel", "delete", "notes"}
"""The GETs of a run or batch that only its owner may send."""

LISTS = {"/": LIST, "/history": LIST, "/batches": BATCH_LIST, f"{API}/runs": LIST, f"{API}/batches": BATCH_LIST}
LISTS |= {f"{API}/deleted": LIST, f"{API}/deleted/batches": BATCH_LIST}
MAKERS = ("/runs", "/import", "/batches")
PUBLIC = {"/favicon.ico", "/opensearch.xml", "/parts", "/how-it-works", "/choices", "/export.schema.json", "/gallery"}
PUBLIC |= {"/static/<path:filename>", "/healthz", "/readyz", "/metrics", "/password", "/import", "/api"}
PUBLIC |= {f"{API}/openapi.json", f"{API}/choices", f"{API}/gallery"}


def kind_of(route: str) -> str | Link | Owned:
    """Return what a route is for; what changes a run or batch is for its owner. Raises KeyError for a new one."""
    method, path = route.split()
    word = path.rpartition("/")[2]
    if path.startswith("/setup"):
        return OPERATOR
    if "_id>" in path and (method != "GET" or word in OWNERS_PAGES):
        return Owned(STATES.get(word, "ended"), FIELDS.get(word, {}), BATCHES.get(word, "going"))
    if "<batch_id>" in path:
        return BATCH_LINK
    if "<run_id>" in path or path.endswith("/compare"):
        return Link("" if "<run_id>" in path else "run={0}&run={1}")
    if method == "POST" and path.removeprefix(API) in MAKERS:
        return MAKES
    return OPEN if path in PUBLIC else LISTS[path]


def success_of(route: str) -> int:
    """Return the status code of a request by the owner."""
    method, path = route.split()
    if method == "DELETE":
        return 204
    if method == "POST" and path == f"{API}/runs/<run_id>/branch":
        return 201
    return 303 if method == "POST" and API not in path else 200


ROUTES = {
    f"{method} {path}": kind_of(f"{method} {path}")
    for method, path in map(str.split, (FOLDER / "routes.txt").read_text("utf-8").splitlines())
}
"""All routes of the application, from the golden file that lists them, with what they are for."""

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
    assert routes_of(make_app()) == set(ROUTES)


@pytest.mark.parametrize("route", OWNED)
def test_another_browser_gets_404_and_changes_nothing_while_the_owner_succeeds(site, route):
    place = site(ROUTES[route].state, batch=ROUTES[route].batch)
    before = place.stored()
    assert place.ask(place.browser(), route).status_code == 404
    assert place.ask(place.app.test_client(), route).status_code in WITHOUT_A_COOKIE
    assert place.stored() == before
    answer = place.ask(place.owner, route)
    assert answer.status_code == success_of(route), answer.text


@pytest.mark.parametrize("route", [route for route in OWNED if API in route])
def test_another_token_is_refused_and_changes_nothing_while_the_owners_succeeds(site, route):
    place = site(ROUTES[route].state, with_a_token=True, batch=ROUTES[route].batch)
    (mine, another), before = place.tokens, place.stored()
    visits = [(place.browser(), {}), (place.browser(), {"Authorization": "Bearer wrong"}), (place.owner, another)]
    assert [place.ask(client, route, headers=sent).status_code for client, sent in visits] == [401, 401, 404]
    assert place.stored() == before
    answer = place.ask(place.owner, route, headers=mine)
    assert answer.status_code == success_of(route), answer.text


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
