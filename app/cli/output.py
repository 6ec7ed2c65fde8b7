"""Print runs to the terminal, and turn errors into one line with an exit status."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from flask.cli import AppGroup

from app.domain.errors import HopcheckError, InvalidInput
from app.domain.events import (
    AnswerFound,
    Event,
    FactChecksFound,
    HopFailed,
    HopKept,
    HopSetAside,
    QuestionAsked,
    QuestioningEnded,
    StepFailed,
    TroubleMet,
)
from app.domain.messages import Code
from app.domain.model import RANGES, Answer, Origin, Passage, Verdict
from app.domain.report import Report
from app.modules.answerers.reciter_reader import FROM_MEMORY
from app.text.fact_checkers import is_fact_check
from app.text.wording import escape_direction

Writer = Callable[[str], None]

EXIT_INTERRUPTED = 130
"""The exit status after Ctrl-C."""


def range_type(option: str) -> click.ParamType:
    limits = RANGES[option]
    return (click.IntRange if limits.is_whole else click.FloatRange)(limits.minimum, limits.maximum)


def confirm_costs() -> None:
    """Ask whether to go on, on standard error. Raises click.Abort unless the answer is yes."""
    click.confirm("Go on? (--yes does not ask)", abort=True, err=True)


def print_event(event: Event, say: Writer) -> None:
    """Print what a hop brought, a failure, or why no more questions are asked; other events print nothing."""
    match event:
        case QuestionAsked(number, question):
            say(f"{number}. {question.text}")
        case AnswerFound(_, answer):
            _print_answer(answer, say)
        case HopKept(_, reason):
            say(f"   kept: {reason}")
        case HopSetAside(_, reason):
            say(f"   set aside: {reason}")
        case HopFailed(_, module, message):
            say(f"   {Code.FAILED(module=module, problem=message)}")
        case StepFailed(module, message):
            say(f"   {Code.FAILED(module=module, problem=message)}")
        case TroubleMet(message):
            say(f"   {message}")
        case FactChecksFound(found):
            for each in found:
                say(f"   published: {each.publisher}, {each.published or 'no date'}: {each.rating}. {each.url}")
        case QuestioningEnded(reason):
            say(str(reason))


def _print_answer(answer: Answer, say: Writer) -> None:
    say(f"   {answer.text or 'no answer'}")
    if answer.cited and answer.cited.passage.origin is Origin.RECITED:
        say(f"   {answer.cited.passage.source} ({answer.cited.passage.title})")
    elif answer.cited:
        say(f"   from: {_source(answer.cited.passage)}")


def _source(passage: Passage) -> str:
    parts = [passage.title]
    if passage.origin is Origin.WEB:
        parts += [passage.source, passage.published or "date unknown"]
        if is_fact_check(passage.url):
            parts.append("a fact-checker's own article")
    return f"{', '.join(filter(None, parts))} {passage.url or ''}".strip()


def print_verdict(verdict: Verdict, report: Report, say: Writer) -> None:
    """Print the label with its confidence, the rationale with the hops it cites, and what is missing."""
    recited = {hop.number for hop in report.hops if hop.from_memory}
    confidence = "" if verdict.confidence is None else f" ({verdict.confidence:.0%})"
    say(f"{verdict.label}{confidence}")
    for sentence in verdict.rationale:
        hops = "".join(f"[{hop}, {FROM_MEMORY}]" if hop in recited else f"[{hop}]" for hop in sentence.hops)
        say(f"   {sentence.text} {hops}".rstrip())
    if verdict.missing:
        say(f"   missing: {verdict.missing}")


def escape_for_terminal(line: str) -> str:
    """Replace control characters and lone surrogates, and escape characters that change the direction of text."""
    safe = "".join("\ufffd" if unicodedata.category(each) in ("Cc", "Cs") else each for each in line)
    return escape_direction(safe)


def print_line(line: str, err: bool = False) -> None:
    """Print a line that may have text of others in it."""
    click.echo(escape_for_terminal(line), err=err)


class _BadInput(click.ClickException):
    exit_code = 2


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn errors into one line: invalid input exits with 2; other errors, of packages and disks too, with 1."""
    try:
        yield
    except InvalidInput as error:
        raise _BadInput(str(error)) from None
    except HopcheckError as error:
        raise click.ClickException(str(error)) from None
    except ModuleNotFoundError as error:
        fix = "make evaluate or make train, which install what research needs first"
        raise click.ClickException(f"The package {error.name} is not installed. Fix it with: {fix}") from None
    except BrokenPipeError:  # click ends quietly, as others do in a pipe
        raise
    except OSError as error:
        problem = f"{error.strerror}: {error.filename or 'a file'}" if error.strerror else str(error)
        raise click.ClickException(problem) from None


class CommandGroup(AppGroup):
    """Commands whose errors are one line."""

    def invoke(self, ctx: click.Context) -> Any:
        with one_line_errors():
            return super().invoke(ctx)
