"""Text of people, models and web pages is never interpreted: in pages, streams, exports, headers and queries."""

from __future__ import annotations

import io
import json
import re

import pytest

from app.extensions import db
from tests.fakes import scripted_container
from tests.web.conftest import ended_run, finished, press, send, started
from tests.web.hostile import CODE, FIELDS, LINK, SCRIPT, Page, hostile_container, marked
from tests.web.test_batches import started as batch_of
from tests.web.test_import import imported
from tests.web.test_strangers import ROUTES


@pytest.fixture
def client(make_app):
    """A browser on a site where every run is hostile."""
    return make_app(hostile_container(), publishing=True).test_client()


def hostile_run(client) -> str:
    """The path of a hostile run that has ended, is published and has a hostile note."""
    path = ended_run(client, marked("claim"), speaker=marked("claim")[:80])
    note = {"hop": "1", "agrees": "no", "text": marked("note"), "seen": ""}
    assert press(client, path, "notes", **note).status_code == press(client, path, "publish").status_code == 303
    return path


def test_hostile_runs_put_no_active_content_on_any_page(client):
    path = hostile_run(client)
    copy, other = imported(client, client.get(f"{path}/export.json").data), started(client, marked("claim"))
    shown = ["/", "/history", "/gallery", path, copy, f"{path}/delete", f"{path}/branch?hop=1", f"{copy}/delete"]
    shown += [f"/compare?run={path[6:]}&run={other[6:]}", f"{path}/events", f"{other}/events", f"/history?q={SCRIPT}"]
    seen = ""
    for address in shown:
        answer = client.get(address)
        page = Page(answer.text)
        assert answer.status_code == 200 and page.active_elements() == [], address
        assert "<script>alert" not in answer.text and LINK not in [each.get("href") for _, each in page.elements], (
            address
        )
        assert "\u202e" not in answer.text, address
        seen += page.text if answer.mimetype == "text/html" else ""
    assert [field for field in FIELDS if f"[{field}] {SCRIPT}" not in seen] == []
    assert CODE in seen, "no template syntax was evaluated"


NAMED = "<script>alert(1)</script>.jsonl"


@pytest.mark.parametrize("titled", [True, False])
def test_hostile_batches_put_no_active_content_on_any_page(client, titled):
    claims = [
        {"claim": marked("claim"), "speaker": SCRIPT},
        {"claim": "?", "speaker": SCRIPT},
        {"claim": {SCRIPT: 1}},
    ]
    lines = "\n".join(map(json.dumps, claims))
    given = {"claims": lines, "title": SCRIPT} if titled else {"file": (io.BytesIO(lines.encode()), NAMED)}
    path = batch_of(client, **{"claims": "", **given})
    pages = [client.get(f"{path}{then}").text for then in ("", "/cancel", "/delete")]
    pages.append(client.get("/batches").text)
    assert press(client, path, "delete").status_code == 303
    pages.append(client.get("/batches").text)
    for page in map(Page, pages):
        assert page.active_elements() == []
        assert (SCRIPT if titled else NAMED)[:30] in page.text
    assert f"[claim] {SCRIPT}" in Page(pages[0]).text


def test_a_refused_form_shows_the_typed_text_escaped(client):
    for fields in ({"claim": marked("claim") + "x" * 600}, {"max_hops": SCRIPT}, {"date": SCRIPT}):
        answer = send(client, **{"claim": marked("claim"), **fields})
        assert answer.status_code == 422 and Page(answer.text).active_elements() == []
        assert f"[claim] {SCRIPT}" in Page(answer.text).text


CLAIMS = (
    "{{7*7}} {{config}} {% for x in y %}",
    "'; DROP TABLE runs; --",
    "../../../../etc/passwd",
    "%s %n %x {0} {secret_key}",
    "A claim\r\nSet-Cookie: hopcheck=forged",
    "$(id) && id | id",
)


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_is_treated_as_plain_text(make_app, caplog, claim):
    client = make_app().test_client()
    page = Page(finished(client, claim))
    kept = re.split(r"[\x00-\x1f]+", claim)
    assert all(" ".join(part.split()) in " ".join(page.text.split()) for part in kept)
    assert "Set-Cookie" not in caplog.text
    for part in kept:
        found = client.get("/history", query_string={"q": part})
        assert found.status_code == 200 and re.search(r'href="/runs/[\w-]+"', found.text), part


NEEDLES = ("'", "' OR '1'='1", "%", "_", "\\", "';DROP TABLE runs;--", "\0", "%00", "\r\n", "{{7*7}}", "../..")
NEEDLES += ("x" * 5000, "😀", "\ud800")
PARAMETERS = ("q", "label", "answerer", "after", "hop", "run", "date", "claim", "lang")


def test_no_query_breaks_a_page_or_reveals_the_runs_of_others(client):
    path = hostile_run(client)
    addresses = ["/", "/history", "/gallery", "/compare", f"{path}/branch", f"{path}/events", "/runs/none", "/choices"]
    stranger = client.application.test_client()
    for address in [*addresses, "/api/v1/runs", "/api/v1/compare", f"/api/v1{path}"]:
        for needle in NEEDLES:
            query = {name: needle.encode(errors="surrogatepass") for name in PARAMETERS}
            answer = stranger.get(address, query_string=query, buffered=True)
            assert answer.status_code < 500, (address, needle)
            assert "[claim]" not in answer.text or "/runs/" in address or address == "/gallery", (address, needle)
    with client.application.app_context():
        assert db.session.scalar(db.text("SELECT count(*) FROM runs")) == 1


PATHS = ("/static/../app/__init__.py", "/static/..%2f..%2fREADME.md", "/static/%2e%2e/README.md", "/static//etc/passwd")
PATHS += (
    "/runs/..%2f..%2fetc%2fpasswd",
    "/runs/../../README.md",
    "/static/..\\README.md",
    "/runs/%00",
    "/static/%00.css",
)


@pytest.mark.parametrize("path", PATHS)
def test_no_path_reads_a_file_outside_the_site(make_app, path):
    answer = make_app().test_client().get(path)
    assert answer.status_code in (404, 308) and "root:" not in answer.text and "Hopcheck:" not in answer.text


HEADERS = ("Cookie", "If-None-Match", "Authorization", "Accept-Encoding", "Origin", "Accept-Language", "Referer")
HEADERS += ("Last-Event-ID", "X-Forwarded-For", "X-Forwarded-Host", "HX-Request", "HX-Target")


def test_no_request_header_breaks_a_response_or_is_reflected_in_it(make_app):
    client = make_app(scripted_container()).test_client()
    path = ended_run(client)
    for name in HEADERS:
        for value in ("'\"><script>alert(1)</script>", "é\xff", "1" * 4000, "-1", "999999999999999999999", "{{7*7}}"):
            for address in (path, f"{path}/events", "/api/v1/runs"):
                answer = client.get(address, headers={name: value}, buffered=True)
                assert answer.status_code < 500 and Page(answer.text).active_elements() == [], (name, value, address)
                assert not any("alert(1)" in each for _, each in answer.headers), (name, address)


STRANGE = ("//evil.example", "//evil.example/..", "/\\evil.example", "/%2f%2fevil.example", "/runs//evil.example")


@pytest.mark.parametrize("path", STRANGE)
def test_no_address_redirects_to_another_site(make_app, path):
    app = make_app()
    answer = app.test_client().get("/", environ_overrides={"PATH_INFO": path, "REQUEST_URI": path})
    assert "evil.example" not in (answer.location or "").partition("localhost")[0]


def test_other_sites_cannot_read_responses(make_app):
    client = make_app().test_client()
    run_id = started(client).removeprefix("/runs/")
    foreign = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    for route in ROUTES:
        method, rule = route.split()
        address = rule.replace("<run_id>", run_id).replace("<path:filename>", "style.css")
        for tried in (method, "OPTIONS"):
            if method == "GET" or tried == "OPTIONS":
                answer = client.open(
                    address, method=tried, headers=foreign, query_string={"run": run_id}, buffered=True
                )
                assert not [name for name, _ in answer.headers if name.startswith("Access-Control")], (tried, route)
    assert "SameSite=Lax" in client.application.test_client().get("/").headers["Set-Cookie"]
