"""Every form and every API route with a body refuses forged, cross-site and oversized requests."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from app.web.api.about import document
from app.web.api.blueprint import API
from app.web.security import LARGER_LIMITS
from tests.web import test_strangers
from tests.web.conftest import token
from tests.web.hostile import Page
from tests.web.test_strangers import OPERATOR, ROUTES, Owned, Site

site = test_strangers.site

FORMS = sorted(
    route for route, kind in ROUTES.items() if route.startswith("POST ") and API not in route and kind != OPERATOR
)
ROUTES_WITH_BODY = sorted(route for route in ROUTES if route.split()[0] in ("POST", "PUT"))

EVIL = {"next": "//evil.example", "wanted": "//evil.example", "url": "https://evil.example", "back": "/\\evil.example"}
FROM_EVIL = {
    "Referer": "https://evil.example/",
    "Origin": "https://evil.example",
    "X-Forwarded-Host": "evil.example",
    "Forwarded": "host=evil.example",
}

NEW = {
    "POST /runs": {"claim": "A claim of mine."},
    "POST /batches": {"claims": "A claim of mine."},
    "POST /import": {},
    "POST /password": {},
}
"""The fields of the forms that belong to no run or batch."""


def made_for(site: Callable[..., Site], route: str) -> Site:
    kind = ROUTES[route]
    return site(kind.state, batch=kind.batch) if isinstance(kind, Owned) else site("ended")


def address_of(place: Site, route: str) -> str:
    path = route.split()[1].replace("<batch_id>", place.batch)
    return path.replace("<run_id>", place.ids[0]).replace("<hop>", "1")


def fields_of(place: Site, route: str) -> dict:
    if route == "POST /import":
        exported = place.owner.get(f"/runs/{place.ids[0]}/export.json").data
        return {"file": (io.BytesIO(exported), "report.json")}
    return dict(NEW[route]) if route in NEW else dict(ROUTES[route].fields)


@pytest.mark.parametrize("route", [route for route in FORMS if route != "POST /password"])
def test_a_form_needs_its_own_token_and_redirects_only_within_this_site(site, route):
    place = made_for(site, route)
    address, mine = address_of(place, route), token(place.owner)
    theirs, before = token(place.browser()), place.stored()
    for forged in ({}, {"csrf_token": theirs}, {"csrf_token": mine[:-1]}, {"csrf_token": ""}):
        answer = place.owner.post(address, data={**fields_of(place, route), **forged})
        assert answer.status_code == 400, forged
    assert place.stored() == before
    sent = {**EVIL, **fields_of(place, route), "csrf_token": mine}
    answer = place.owner.post(address, data=sent, query_string=EVIL, headers=FROM_EVIL)
    assert answer.status_code == 303, answer.text
    assert re.fullmatch(r"/(?![/\\])[\w/#?=&.-]*", answer.location)
    assert place.stored() != before


def test_a_stale_form_is_offered_again_with_what_it_held_but_not_to_another_site(client):
    sent = {"report": "no report"}
    answer = client.post("/import", data=sent)
    held = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', answer.text))
    assert (answer.status_code, answer.headers["HX-Refresh"]) == (400, "true")
    assert held.keys() - sent.keys() == {"csrf_token"} and client.post("/import", data=held).status_code == 422
    assert "Send it again" not in client.post("/import", data=sent, headers={"Sec-Fetch-Site": "cross-site"}).text


def test_every_form_on_a_page_has_a_token_and_posts_to_this_site(site):
    place, seen = site("ended", batch="paused"), set()
    addresses = [f"{path.replace('<run_id>', place.ids[0]).replace('<batch_id>', place.batch)}" for path in PAGES]
    place.owner.post(f"/runs/{place.ids[1]}/delete", data={"csrf_token": token(place.owner)})
    for address in addresses:
        page = place.owner.get(address, query_string={"hop": 2}).text
        for form in re.findall(r"<form\b.*?</form>", page, re.DOTALL):
            attributes = Page(form).elements[0][1]
            assert re.fullmatch(r"/(?!/)[\w/.#?=-]*", attributes["action"]), address
            if attributes.get("method") == "post":
                assert 'name="csrf_token"' in form, (address, attributes)
                seen.add(re.sub(r"/(runs|batches)/[\w-]{22}/", r"/\1/<id>/", attributes["action"]))
    assert seen >= SHOWN_FORMS, SHOWN_FORMS - seen


PAGES = ("/", "/runs/<run_id>", "/runs/<run_id>/branch", "/runs/<run_id>/delete", "/history", "/import", "/batches")
PAGES += ("/batches/<batch_id>", "/batches/<batch_id>/cancel", "/batches/<batch_id>/delete")
SHOWN_FORMS = {"/runs", "/import", "/batches", "/runs/<id>/branch", "/runs/<id>/delete", "/runs/<id>/restore"}
SHOWN_FORMS |= {"/runs/<id>/notes", "/runs/<id>/publish", "/batches/<id>/resume", "/batches/<id>/cancel"}
SHOWN_FORMS |= {"/batches/<id>/delete"}


MAX_BYTES = max(LARGER_LIMITS.values())


class Counted(io.RawIOBase):
    """An endless body that counts the bytes read from it."""

    taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, into) -> int:
        self.taken += len(into)
        into[:] = b"x" * len(into)
        return len(into)


def send_endlessly(client: FlaskClient, route: str, media: str, **environ) -> tuple[int, int]:
    """Send an endless body; return the status code and the number of bytes read."""
    (method, rule), body = route.split(), Counted()
    path = re.sub(r"<(run|batch)_id>", "x" * 22, rule).replace("<hop>", "1")
    answer = client.open(path, method=method, content_type=media, environ_overrides={"wsgi.input": body, **environ})
    return answer.status_code, body.taken


@pytest.mark.parametrize(
    "media", ["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_a_body_over_every_limit_is_refused_unread(make_app, media):
    client = make_app(rate_limit="9999 per minute").test_client()
    for route in ROUTES_WITH_BODY:
        code, taken = send_endlessly(client, route, media, CONTENT_LENGTH=str(2 * MAX_BYTES))
        assert code in (404, 413, 415) and taken == 0, (route, code, taken)


def test_a_body_without_a_length_is_read_no_further_than_the_limit(make_app):
    client = make_app(rate_limit="9999 per minute").test_client()
    endless = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
    for route in ROUTES_WITH_BODY:
        media = "application/json" if API in route else "application/x-www-form-urlencoded"
        code, taken = send_endlessly(client, route, media, **endless)
        assert 400 <= code < 500 and taken < MAX_BYTES + 512 * 1024, (route, code, taken)


@pytest.mark.parametrize(
    "media", ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", ""]
)
def test_no_api_route_accepts_a_form(make_app, media):
    client = make_app().test_client()
    for route in [route for route in ROUTES_WITH_BODY if API in route]:
        method, rule = route.split()
        path = re.sub(r"<(run|batch)_id>", "x" * 22, rule).replace("<hop>", "1")
        answer = client.open(path, method=method, data=b"{}", content_type=media)
        assert answer.status_code == 415, route


def test_the_document_requires_a_body_wherever_a_request_without_one_is_refused(make_app):
    client = make_app().test_client()
    for path, item in document()["paths"].items():
        for method, operation in item.items():
            if method != "parameters" and "requestBody" in operation:
                answer = client.open(re.sub(r"{\w+}", "1", path), method=method)
                assert (answer.status_code == 415) == operation["requestBody"]["required"], (method, path)
