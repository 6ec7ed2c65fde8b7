"""Session cookies survive clock skew between web processes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask, session
from itsdangerous import TimestampSigner

from app.web.security import SessionCookies

DAY, YEAR = timedelta(days=1), timedelta(days=365)


@pytest.fixture
def app() -> Flask:
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
def test_a_cookie_signed_by_a_clock_up_to_a_day_ahead_is_accepted(app, hours):
    assert owner_of(app, signed(app, timedelta(hours=hours))) == "me"


@pytest.mark.parametrize("ahead", [2 * DAY, -YEAR - DAY])
def test_a_cookie_from_further_ahead_or_older_than_a_year_is_rejected(app, ahead):
    assert owner_of(app, signed(app, ahead)) == "nobody yet"
