"""Cookies and tokens that this site did not sign are rejected."""

from __future__ import annotations

import base64
import json
from hashlib import sha256

import pytest
from flask import Flask
from flask.sessions import SecureCookieSessionInterface
from itsdangerous import URLSafeTimedSerializer

from app.web.auth import new_token, token_line
from tests.web.conftest import started, wait_for
from tests.web.test_api import CLAIM, RUNS
from tests.web.test_site_password import PASSWORD, enter

CLAIM_OF_MINE = "A claim of one owner alone."


def signed(key: str, claims: dict) -> str:
    """Return a cookie that Flask signed with this key."""
    app = Flask("forger")
    app.secret_key = key
    return SecureCookieSessionInterface().get_signing_serializer(app).dumps(claims)


def forged(value: str, claims: dict) -> dict[str, str]:
    """Return forged cookies that name the owner; `value` is the owner's real cookie."""
    body, at, signature = value.rsplit(".", 2)
    named = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return {
        "signed with another key": signed("another key", claims),
        "not signed": f"{named}.{at}.",
        "signed in another way": URLSafeTimedSerializer("another key", salt="x").dumps(claims),
        "with the signature of another body": f"{named}x.{at}.{signature}",
        "with another time": f"{body}.{at[::-1]}.{signature}",
        "cut off": value[:-4],
        "only the body": body,
        "plain JSON": json.dumps(claims),
        "the owner's name": claims["owner"],
        "empty": "",
        "very long": value + "A" * 3000,
        "no text": "\xff\xfe",
    }


def test_a_forged_cookie_does_not_grant_ownership(make_app):
    app = make_app()
    mine = app.test_client()
    path = started(mine, CLAIM_OF_MINE)
    wait_for(mine, path, 'id="verdict-heading"')
    with mine.session_transaction() as session:
        claims = dict(session)
    value = mine.get_cookie("hopcheck").value
    assert CLAIM_OF_MINE in mine.get("/history").text and mine.get(f"{path}/delete").status_code == 200
    for how, cookie in forged(value, claims).items():
        client = app.test_client()
        client.set_cookie("hopcheck", cookie)
        assert CLAIM_OF_MINE not in client.get("/history").text, how
        assert client.get(f"{path}/delete").status_code == 404, how
        assert client.get(RUNS).json["runs"] == [], how


def test_a_forged_cookie_does_not_replace_the_password(make_app):
    client = make_app(site_password=PASSWORD).test_client()
    enter(client)
    value = client.get_cookie("hopcheck").value
    with client.session_transaction() as session:
        claims = {"owner": "me", **session}
    assert client.get("/").status_code == 200
    for how, cookie in {**forged(value, claims), "a plain flag": signed("another key", {"let_in": True})}.items():
        forger = client.application.test_client()
        forger.set_cookie("hopcheck", cookie)
        assert forger.get("/").status_code == 403, how


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "Basic ", "Token ", ""])
def test_a_forged_api_token_is_refused(make_app, tmp_path, scheme):
    known, file = new_token(), tmp_path / "tokens"
    file.write_text(token_line("one", known))
    client = make_app(api_tokens=file).test_client()
    hashed = sha256(known.encode()).hexdigest()
    guesses = [known[:-1], known + "A", known.swapcase(), known[9:], hashed, f"one:{hashed}", "one", "", "\xe9"]
    for guess in [*guesses, new_token()]:
        answer = client.post(RUNS, json={"claim": CLAIM}, headers={"Authorization": f"{scheme}{guess}"})
        assert answer.status_code == 401, guess
    assert client.post(RUNS, json={"claim": CLAIM}, headers={"Authorization": f"Bearer {known}"}).status_code == 201
