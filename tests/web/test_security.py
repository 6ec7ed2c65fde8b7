"""Headers, cookies and error pages: what protects a visitor on every answer."""

from __future__ import annotations

import pytest

from tests.web.conftest import finished, send, started


@pytest.mark.parametrize("path", ["/", "/how-it-works", "/parts", "/runs/none", "/static/style.css", "/no/such/page"])
def test_every_answer_carries_the_headers(client, path):
    headers = client.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_runs_are_not_indexed(client):
    path = started(client)
    assert client.get(path).headers["X-Robots-Tag"] == "noindex"
    assert '<meta name="robots" content="noindex">' in client.get(path).text
    assert "X-Robots-Tag" not in client.get("/").headers


def test_no_page_holds_inline_script_or_style(client):
    pages = [client.get("/").text, client.get("/how-it-works").text, send(client, "").text, finished(client)]
    for page in pages:
        assert page.count("<script") == page.count('<script src="/static/')
        assert "<style" not in page and "style=" not in page and " onclick" not in page


def test_no_page_names_a_resource_of_another_site(client):
    for page in (client.get("/").text, finished(client)):
        assert 'src="http' not in page and "url(http" not in page
        assert page.count('<link rel="stylesheet" href="/static/') == page.count('<link rel="stylesheet"')


def test_the_owner_cookie_is_signed_and_kept_from_scripts(client):
    cookie = client.get("/").headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
    value = client.get_cookie("hopcheck").value
    finished(client, "A claim of mine.")
    client.set_cookie("hopcheck", value[:-1] + ("A" if value[-1] != "A" else "B"))
    assert "A claim of mine." not in client.get("/").text


def test_a_reader_without_a_cookie_gets_none_by_opening_a_run(make_app):
    app = make_app()
    path = started(app.test_client())
    assert "Set-Cookie" not in app.test_client().get(path).headers


def test_a_request_that_is_too_large_is_a_413_page(client):
    answer = send(client, "x" * 300_000)
    assert answer.status_code == 413 and "That was too much at once" in answer.text


def test_a_wrong_method_is_a_page_too(client):
    answer = client.get("/runs")
    assert answer.status_code == 405 and "Hopcheck" in answer.text


def test_a_fault_is_a_500_page_without_a_trace(make_app):
    app = make_app()
    app.add_url_rule("/broken", view_func=lambda: 1 / 0)
    answer = app.test_client().get("/broken")
    assert answer.status_code == 500 and "Something went wrong here" in answer.text
    assert "ZeroDivisionError" not in answer.text
