"""The owner's steering buttons: effects, errors once the run has ended, and protection from others."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from flask import session

from app.domain.events import RunInterrupted
from app.runs.service import StoredRun
from app.web.runs import NOTHING_KEPT
from app.web.sse import PageUpdates
from tests.waiting import LONG
from tests.web.conftest import press, started, wait_for
from tests.web.test_cut_streams import ASKED_TWICE, after, report

SCRIPT = {"HX-Request": "true"}
ENDED = "This check had ended already, so nothing was changed."


@pytest.fixture
def held(gated):
    """Start a run that waits before a step; return the owner's browser and the path of the page."""

    def start(step: str = "answer 2"):
        client, gate = gated(step)
        path = started(client)
        assert gate.reached.wait(LONG)
        return client, path

    return start


def without_tokens(page: str) -> str:
    """Return the page without its form tokens, which change every second."""
    return re.sub(r'(name="(?:csrf_token|form_name)" value=")[^"]*', r"\1", page)


def test_with_script_a_button_returns_only_the_steering_section(held):
    client, path = held()
    answer = press(client, path, "conclude", headers=SCRIPT)
    assert answer.status_code == 200
    assert re.match(r'\s*<div id="steering" class="steering" hx-swap-oob="true" tabindex="-1">', answer.text)
    assert "Deciding once" in answer.text and "<html" not in answer.text
    assert "button" not in press(client, path, "stop", headers=SCRIPT).text


def test_a_run_without_kept_answers_cannot_conclude(held):
    client, path = held("answer 1")
    (decide,) = re.findall(r'<button[^>]*id="conclude"[^>]*>', client.get(path).text)
    pressed = press(client, path, "conclude")
    assert "disabled" in decide and pressed.status_code == 409 and NOTHING_KEPT in pressed.text


@pytest.mark.parametrize("button", ["stop", "conclude"])
def test_an_ended_run_is_not_changed_and_the_page_says_so(client, button):
    path = started(client)
    before = wait_for(client, path, 'id="verdict-heading"')
    pressed = press(client, path, button)
    assert (pressed.status_code, ENDED in pressed.text) == (409, True)
    assert ENDED in press(client, path, button, headers=SCRIPT).text
    assert without_tokens(client.get(path).text) == without_tokens(before)


@pytest.mark.parametrize("read", [2, len(ASKED_TWICE)])
@pytest.mark.parametrize("reader, times", [("somebody", 2), ("another", 0)])
def test_the_stream_updates_the_buttons_only_for_the_owner(make_app, reader, times, read):
    """The first kept hop enables the conclude button, and the end removes all buttons.

    The run may have been read before or after the events of the stream were stored.
    """
    with make_app().test_request_context():
        session["owner"] = reader
        following = PageUpdates(StoredRun("r", "somebody", datetime.now(UTC), read, report(ASKED_TWICE[:read])))
        messages = [following.render(ASKED_TWICE[2:])]
        messages.append(following.render([after(ASKED_TWICE, RunInterrupted("Stopped."))]))
    drawn = [each for each in messages if 'id="steering"' in each]
    assert len(drawn) == times
    assert ['id="conclude"' in each for each in drawn] == [True, False][:times]
    assert 'id="stop"' not in messages[-1]
