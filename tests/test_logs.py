"""The log has one line per event, whatever text the event contains."""

from __future__ import annotations

import io
import json
import logging

import pytest

from app.logging import FORMAT, JsonFormatter, OneLineFormatter, current_run


@pytest.fixture
def written(request):
    """A logger, and its output so far, in lines of text unless a test is marked AS_JSON."""
    logger, stream = logging.getLogger("tests.logs"), io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(getattr(request, "param", OneLineFormatter(FORMAT)))
    logger.addHandler(handler)
    yield logger, stream
    logger.removeHandler(handler)


@pytest.mark.parametrize("break_", ["\n", "\r\n", "\x0b", "\x85", "\u2028", "\x1b[2J", "\u202e", "\u2066"])
def test_control_characters_cannot_forge_a_line_or_steer_a_terminal(written, break_):
    logger, stream = written
    logger.warning("run %s failed: %s", "r1", f"no{break_}2026 INFO all is well")
    line = stream.getvalue()
    assert len(line.splitlines()) == 1 and break_ not in line.removesuffix("\n")
    assert ascii(break_)[1:-1] in line and "all is well" in line


def test_other_scripts_are_logged_unchanged(written):
    logger, stream = written
    logger.warning("東京 é %s", "🌍")
    assert stream.getvalue().endswith("tests.logs: 東京 é 🌍\n")


def test_the_message_of_an_error_cannot_forge_a_line_or_steer_a_terminal(written):
    logger, stream = written
    try:
        raise ValueError("no\n2026-11-23 INFO all is well\x1b[2J\u202e")
    except ValueError:
        logger.exception("it failed")
    first, *others = stream.getvalue().splitlines()
    assert "it failed" in first and others[-1] == "  2026-11-23 INFO all is well\\x1b[2J\\u202e"
    assert all(line.startswith("  ") for line in others) and len(others) > 3
    assert "  ValueError: no" in others


AS_JSON = pytest.mark.parametrize("written", [JsonFormatter()], indirect=True)


@AS_JSON
def test_a_json_line_has_time_level_logger_message_and_run(written):
    logger, stream = written
    current_run.set("r1")
    logger.warning("it is %s\n2026 INFO forged", "so")
    current_run.set(None)  # no reset: requests of other tests set it in this thread too
    logger.warning("no run")
    about, none = map(json.loads, stream.getvalue().splitlines())
    assert about.pop("time").endswith("+00:00")
    message = "it is so\\n2026 INFO forged"
    assert about == {"level": "WARNING", "logger": "tests.logs", "message": message, "run": "r1"}
    assert "run" not in none


@AS_JSON
def test_an_error_in_json_has_its_type_and_place_on_the_same_line_but_not_its_message(written):
    logger, stream = written
    typed = "what somebody typed"
    try:
        raise ValueError(typed)
    except ValueError:
        logger.exception("it failed")
    (line,) = map(json.loads, stream.getvalue().splitlines())
    assert line["error"] == "ValueError" and "test_logs.py" in line["traceback"]
    assert typed not in json.dumps(line)
