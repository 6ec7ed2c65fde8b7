"""Publishing where the operator allows it, the gallery, and indexing by search engines."""

from __future__ import annotations

import re

import pytest

from tests.web.conftest import ended_run, press
from tests.web.test_api import held_to

NOINDEX = '<meta name="robots" content="noindex">'


@pytest.fixture
def client(make_app):
    """A browser on an application whose operator lets people publish."""
    return make_app(publishing=True).test_client()


def test_search_engines_may_index_only_published_reports(client, path):
    def has_noindex(address: str) -> tuple[bool, bool]:
        answer = client.get(address)
        return "noindex" in answer.headers.get("X-Robots-Tag", ""), NOINDEX in answer.text

    assert has_noindex(path) == (True, True)
    press(client, path, "publish")
    assert has_noindex(path) == (False, False)
    assert "noindex" in client.get(f"/api/v1{path}").headers["X-Robots-Tag"]
    assert has_noindex("/gallery") == (False, False)
    (listed,) = held_to("Gallery", client.get("/api/v1/gallery").json)["reports"]
    assert (f"/runs/{listed['id']}", listed["label"]) == (path, "SUPPORTED")
    listing = {label: client.get(f"/gallery?label={label}").text for label in ("SUPPORTED", "REFUTED", "nonsense")}
    assert [path in each for each in listing.values()] == [True, False, True]
    press(client, path, "unpublish")
    assert has_noindex(path) == (True, True)


def test_published_reports_are_unlisted_once_the_operator_disallows_publishing(make_app):
    client = make_app(publishing=True).test_client()
    path = ended_run(client)
    press(client, path, "publish")
    later = make_app().test_client()
    answer = later.get(path)
    assert answer.headers["X-Robots-Tag"] == "noindex" and NOINDEX in answer.text
    assert later.get("/gallery").status_code == 404
    assert press(later, ended_run(later), "publish").status_code == 404


def test_the_owner_sees_that_a_report_was_taken_down_and_cannot_publish_it(client, path):
    press(client, path, "publish")
    client.application.extensions["hopcheck"].runs.publishing.take_down(path.rsplit("/", 1)[-1])
    page = client.get(path)
    assert "The operator of this site has taken this report down" in page.text
    assert "/publish" not in page.text and page.headers["X-Robots-Tag"] == "noindex"
    assert path not in client.get("/gallery").text
    pressed = press(client, path, "publish")
    assert pressed.status_code == 409
    assert re.search(r'role="alert">The operator of this site has taken this report down', pressed.text)
    assert client.application.test_client().get(path).status_code == 200
