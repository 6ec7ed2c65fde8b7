"""Import of a JSON export: its page is marked as imported, and other input gets a clear error."""

from __future__ import annotations

import io
import json
import re

import pytest

from app.runs.transfer import MAX_BYTES, TOO_LARGE
from tests.fakes import FAILING, ONE_SET_ASIDE, TWO_HOPS, scripted_container
from tests.web.conftest import ended_run, press, token

UNVERIFIED = "Imported, unverified"
HOSTILE = '"><script>alert(1)</script>'


@pytest.fixture
def exported(client) -> dict:
    """The export of a run of this site."""
    return export(client)


def export(client) -> dict:
    path = ended_run(client)
    return client.get(f"{path}/export.json").json


def as_bytes(exported: object) -> bytes:
    return exported if isinstance(exported, bytes) else json.dumps(exported).encode()


def upload(client, exported: object, **fields):
    file = (io.BytesIO(as_bytes(exported)), "report.json")
    return client.post("/import", data={"csrf_token": token(client), "file": file, **fields})


def imported(client, exported: dict) -> str:
    """Import this and return the path of its page."""
    answer = upload(client, exported)
    assert answer.status_code == 303, answer.text
    return answer.location


@pytest.mark.parametrize("script", [TWO_HOPS, ONE_SET_ASIDE, FAILING], ids=["verdict", "set-aside", "failed"])
def test_an_imported_file_shows_the_same_report_marked_as_imported(make_app, script):
    client = make_app(scripted_container(script)).test_client()
    exported = export(client)
    path = imported(client, exported)
    client = client.application.test_client()  # the owner's page also has notes
    page = client.get(path).text
    assert re.search(f"<title>{UNVERIFIED}: ", page)
    assert re.search(
        rf"<b>{UNVERIFIED}:</b> this report was not made here.*20\d\d, \d\d:\d\d UTC\.</span></p>\s*<header", page
    )
    original = client.get(f"/runs/{exported['id']}").text
    assert UNVERIFIED not in original
    trail = re.compile(r'<ol>\s*<li id="hop-1".*?</ol>\s*</div>\s*</section>', re.DOTALL)
    assert trail.search(page)[0] == trail.search(original)[0]


def test_every_export_of_an_imported_report_says_so_and_none_is_a_claim_review(client, exported):
    path = imported(client, exported)
    again = client.get(f"{path}/export.json").json
    assert again["imported"] == {"made_at": exported["created_at"]}
    assert f"> **{UNVERIFIED}: this report was not made here.**" in client.get(f"{path}/export.md").text
    for name, record in (("export.ris", "TY  - "), ("export.bib", "@misc{")):
        text = client.get(f"{path}/{name}").text
        assert text.count(f"{UNVERIFIED}: this report was not made here.") == text.count(record) > 0, name
    assert client.get(f"{path}/claimreview.json").status_code == 409
    assert f"{path}/claimreview.json" not in client.get(path).text
    assert f'<meta name="description" content="{UNVERIFIED}.' in client.get(path).text


def test_the_owner_of_an_imported_report_can_only_check_its_claim_again(client, exported):
    path = imported(client, exported)
    page = client.get(path).text
    assert f"{path}/branch" not in page and f"{path}/stop" not in page
    assert f"/?again={path.rpartition('/')[2]}" in page
    assert exported["claim"] in client.get(f"/?again={path.rpartition('/')[2]}").text.replace("&#39;", "'")
    assert "An imported report cannot be continued" in client.get(f"{path}/branch?hop=1").text
    for button, code in (("branch", 422), ("stop", 409), ("conclude", 409)):
        assert press(client, path, button, hop="1", question="And now?").status_code == code


def test_hostile_content_of_a_file_is_escaped_on_every_page(client, exported):
    hop = exported["hops"][0]
    evidence = [
        {**hop["evidence"][0], "url": "javascript:alert(1)", "title": HOSTILE, "source": HOSTILE, "text": HOSTILE * 3}
    ]
    evil = {
        **exported,
        "claim": HOSTILE,
        "speaker": HOSTILE,
        "missing": HOSTILE,
        "failures": [HOSTILE],
        "modules": [{"role": HOSTILE, "implementation": HOSTILE}],
        "rationale": [{"text": HOSTILE, "hops": [1]}],
        "options": {**exported["options"], "strategy": HOSTILE, "answerer": HOSTILE, "model": HOSTILE},
        "hops": [
            {
                **hop,
                "question": HOSTILE,
                "answer": HOSTILE,
                "answerer": HOSTILE,
                "reason": HOSTILE,
                "evidence": evidence,
            }
        ],
    }
    path = imported(client, evil)
    for place in (path, "/", "/history", f"/?again={path.rpartition('/')[2]}"):
        page = client.get(place)
        assert page.status_code == 200
        assert "<script>alert" not in page.text and 'href="javascript:' not in page.text


def test_a_report_of_the_maximum_size_is_accepted_and_a_larger_one_is_refused(client, exported):
    padded = as_bytes(exported)
    padded += b" " * (MAX_BYTES - len(padded))
    assert upload(client, padded).status_code == 303
    answer = upload(client, padded + b" ")
    assert answer.status_code == 422 and TOO_LARGE in answer.text
    pasted = client.post(
        "/import", data={"csrf_token": token(client), "report": json.dumps(exported) + " " * 1_000_000 + "x"}
    )
    assert pasted.status_code == 422 and "This is not valid JSON" in pasted.text, (
        "pasted text has the larger limit, too"
    )


def test_whole_numbers_of_a_report_may_be_written_with_a_point(client, exported):
    """JSON Schema counts 4.0 as an integer."""
    numbers = {
        "number": 1.0,
        "usage": {name: float(count or 0) for name, count in exported["hops"][0]["usage"].items()},
    }
    hops = [exported["hops"][0] | numbers, *exported["hops"][1:]]
    assert client.post("/api/v1/import", json={**exported, "resumed": 1.0, "hops": hops}).status_code == 201
    assert [each["imported"] for each in client.get("/api/v1/runs").json["runs"]] == [True, False]
