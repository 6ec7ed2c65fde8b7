"""Security headers, cookies and error pages on every response."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask, session
from flask.testing import FlaskClient
from itsdangerous import TimestampSigner
from werkzeug.test import TestResponse

from app.extensions import db
from app.runs.db import DatabaseUnavailable
from app.web.access import host_name
from app.web.security import SessionCookies
from tests.web.conftest import finished, send, started, token


def broken() -> str:
    """A view that raises an unexpected exception."""
    return str(1 / 0)


ANSWERS: dict[int | str, Callable[[FlaskClient], TestResponse]] = {
    200: lambda client: client.get("/"),
    303: lambda client: send(client),
    400: lambda client: client.post("/runs", data={"claim": "A claim from a stale page."}),
    404: lambda client: client.get("/no/such/page"),
    405: lambda client: client.get("/runs"),
    413: lambda client: send(client, "x" * 300_000),
    422: lambda client: send(client, ""),
    429: lambda client: (send(client), send(client))[1],
    500: lambda client: client.get("/broken"),
    503: lambda client: client.get("/unavailable"),
    "a file": lambda client: client.get("/static/style.css"),
    "a stream": lambda client: whole(client.get(started(client) + "/events")),
}
"""How to get kinds of responses of this application, by status code or description."""


def whole(stream: TestResponse) -> TestResponse:
    """A stream, read to its end."""
    assert "event: end" in stream.text
    return stream


def unavailable() -> str:
    """A view that finds the database unavailable."""
    raise DatabaseUnavailable("The disk that holds the database is full.")


@pytest.fixture
def every_client(make_app) -> Callable[..., FlaskClient]:
    """A browser on an application that can give every answer of ANSWERS."""

    def make(**settings) -> FlaskClient:
        app = make_app(rate_limit="1 per hour", **settings)
        app.add_url_rule("/broken", view_func=broken)
        app.add_url_rule("/unavailable", view_func=unavailable)
        return app.test_client()

    return make


@pytest.mark.parametrize("name", [200, 303, 404, 500, "a file", "a stream"])
def test_every_https_response_has_strict_transport_security(every_client, name):
    client = every_client(https=True)
    client.environ_base["wsgi.url_scheme"] = "https"
    assert ANSWERS[name](client).headers["Strict-Transport-Security"] == "max-age=31536000"


@pytest.mark.parametrize("code", [400, 404, 405, 413, 422, 429, 500, 503])
def test_every_error_page_links_home_and_has_no_traceback(every_client, code):
    answer = ANSWERS[code](every_client())
    assert answer.status_code == code and answer.mimetype == "text/html"
    assert '<a class="wordmark" href="/"' in answer.text and "</html>" in answer.text
    assert "Traceback" not in answer.text and "Error:" not in answer.text
    assert not any(f".py{end}" in answer.text for end in ('"', "&#34;", ":", ","))  # a signed token may hold ".py"


@pytest.mark.parametrize("fields", [{"claim": "A claim to keep.", "max_hops": "many"}, {"csrf_token": "stale"}])
def test_an_invalid_form_is_kept_when_the_database_is_unavailable(make_app, fields):
    app = make_app()
    client = app.test_client()
    form = {"csrf_token": token(client), "claim": "A claim to keep.", **fields}
    with app.app_context():
        for table in ("runs", "batches"):
            db.session.execute(db.text(f"DROP TABLE {table}"))
        db.session.commit()
    answer = client.post("/runs", data=form)
    assert answer.status_code == 503 and "flask --app app db upgrade" in answer.text
    assert "A claim to keep.</textarea>" in answer.text and int(answer.headers["Retry-After"]) > 0
    assert client.post("/batches", data={"csrf_token": form["csrf_token"], "claims": "?"}).status_code in (400, 503)


MALFORMED = (
    ".",
    "..",
    "a..b",
    "x" * 70,
    "a b",
    "",
    "[::1",
    "localhost:port",
    "localhost:99999",
    "ü.example",
)
FOREIGN = (
    "evil.example",
    "check.example.org.evil.example",
    "10.0.0.1",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
)
PATHS = ("/", "/readyz", "/runs/none/events", "/static/style.css", "/api/v1/runs", "/opensearch.xml")


@pytest.mark.parametrize("host", ["xn--a:8000", "a.xn--a.example"])
def test_a_host_that_is_no_valid_international_name_is_malformed(host):
    assert host_name(host) is None


def is_refused(client, host: str) -> bool:
    """Whether every path but /healthz is refused to requests for this host, without repeating its name."""
    assert client.get("/healthz", headers={"Host": host}).status_code == 200
    answers = [client.get(path, headers={"Host": host, "Origin": f"http://{host}"}) for path in PATHS]
    answers += [
        client.post(path, headers={"Host": host}, json={"claim": "A claim."}) for path in ("/runs", "/api/v1/runs")
    ]
    refused = {answer.status_code == 400 and "not reached by that name" in answer.text for answer in answers}
    assert len(refused) == 1 and all(answer.headers["X-Content-Type-Options"] == "nosniff" for answer in answers)
    if refused == {True}:
        assert not any(len(host) > 2 and host in answer.text for answer in answers)
    return refused == {True}


@pytest.mark.parametrize("host", [*MALFORMED, *FOREIGN, "127.0.0.1"])
def test_only_requests_for_an_allowed_host_are_answered(make_app, host):
    client = make_app(allowed_hosts=("check.example.org", "localhost")).test_client()
    assert is_refused(client, host)
    assert not any(is_refused(client, known) for known in ("check.example.org:8000", "Check.Example.org", "localhost."))


@pytest.mark.parametrize("at", ["127.0.0.1", "localhost", "::1", "127.0.0.5"])
def test_a_server_on_loopback_answers_to_names_of_this_machine_only(make_app, at):
    client = make_app(host=at).test_client()
    for known in ("localhost", "localhost:8000", "LOCALHOST:8000", "127.0.0.1:8000", "127.0.0.5", "[::1]:8000"):
        assert not is_refused(client, known)
    assert all(is_refused(client, host) for host in (*MALFORMED, *FOREIGN))


@pytest.mark.parametrize("settings", [{"host": "0.0.0.0"}, {"host": "::"}, {"proxies": 1}])
def test_a_server_that_others_can_reach_answers_to_any_well_formed_name(make_app, settings):
    client = make_app(**settings).test_client()
    assert not any(is_refused(client, host) for host in (*FOREIGN, "localhost", "web:8000", "[2001:db8::1]:8000"))
    assert all(is_refused(client, host) for host in MALFORMED)


def test_no_page_holds_inline_script_or_style(client):
    pages = [client.get("/").text, client.get("/how-it-works").text, send(client, "").text, finished(client)]
    for page in pages:
        assert page.count("<script") == page.count('<script src="/static/')
        assert "<style" not in page and "style=" not in page and " onclick" not in page


def test_the_cookie_is_hidden_from_scripts_and_secure_on_an_https_site(make_app):
    cookie = make_app().test_client().get("/").headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Secure" not in cookie
    assert "Secure" in make_app(https=True).test_client().get("/").headers["Set-Cookie"]


DAY, YEAR = timedelta(days=1), timedelta(days=365)


@pytest.fixture
def cookie_app() -> Flask:
    """An application that returns the owner in the session cookie, and sets one if there is none."""
    app = Flask(__name__)
    app.secret_key = "x" * 40
    app.permanent_session_lifetime = YEAR
    app.session_interface = SessionCookies()

    @app.get("/")
    def whose() -> str:
        return session.setdefault("owner", "nobody yet")

    return app


def signed(app: Flask, ahead: timedelta, owner: str = "me") -> str:
    """Return a cookie signed by a web process whose clock is `ahead` of the real time."""

    class Clock(TimestampSigner):
        def get_timestamp(self) -> int:
            return int((datetime.now(UTC) + ahead).timestamp())

    serializer = SessionCookies().get_signing_serializer(app)
    serializer.signer = Clock
    return serializer.dumps({"owner": owner})


def owner_of(app: Flask, cookie: str) -> str:
    client = app.test_client()
    client.set_cookie("session", cookie)
    return client.get("/").text


@pytest.mark.parametrize("hours", [-1, 0, 1, 23])
def test_a_cookie_signed_by_a_clock_up_to_a_day_ahead_is_accepted(cookie_app, hours):
    assert owner_of(cookie_app, signed(cookie_app, timedelta(hours=hours))) == "me"


@pytest.mark.parametrize("ahead", [2 * DAY, -YEAR - DAY])
def test_a_cookie_from_further_ahead_or_older_than_a_year_is_rejected(cookie_app, ahead):
    assert owner_of(cookie_app, signed(cookie_app, ahead)) == "nobody yet"
