"""The log has one line per event, whatever text the event contains."""

from __future__ import annotations

import io
import logging

import pytest

from app.logging import FORMAT, OneLineFormatter


@pytest.fixture
def written():
    """A logger, and its output so far."""
    logger, stream = logging.getLogger("tests.logs"), io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(OneLineFormatter(FORMAT))
    logger.addHandler(handler)
    yield logger, stream
    logger.removeHandler(handler)


@pytest.mark.parametrize("break_", ["\n", "\r\n", "\x0b", "\x85", "\u2028", "\x1b[2J"])
def test_control_characters_cannot_forge_a_line_or_steer_a_terminal(written, break_):
    logger, stream = written
    logger.warning("run %s failed: %s", "r1", f"no{break_}2026 INFO all is well")
    line = stream.getvalue()
    assert len(line.splitlines()) == 1 and "\x1b" not in line
    assert ascii(break_)[1:-1] in line and "all is well" in line


def test_other_scripts_are_logged_unchanged(written):
    logger, stream = written
    logger.warning("東京 é %s", "🌍")
    assert stream.getvalue().endswith("tests.logs: 東京 é 🌍\n")


def test_a_traceback_keeps_its_lines(written):
    logger, stream = written
    try:
        raise ValueError("why")
    except ValueError:
        logger.exception("it failed")
    assert stream.getvalue().count("\n") > 3 and "ValueError: why" in stream.getvalue()
