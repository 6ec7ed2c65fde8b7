"""What a command says when it cannot do what was asked: one sentence, and an exit status that says why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from app.domain.errors import HopcheckError, InvalidInput


@contextmanager
def told_in_one_line() -> Iterator[None]:
    """Inside the block bad input exits 2, and everything else that Hopcheck or the disk refuses exits 1."""
    try:
        yield
    except InvalidInput as error:
        raise click.UsageError(str(error)) from None
    except HopcheckError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{error.strerror}: {error.filename or 'a file'}") from None
