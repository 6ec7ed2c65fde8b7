"""Every error that Hopcheck raises on purpose.

HopcheckError
├── InvalidInput            the caller's words are at fault; the message may be shown as it is
├── SettingsError           a setting has a value that it cannot have
├── CallFailed              one call of a module did not work; the hop fails, the run goes on
│   ├── UnparseableOutput   a model's text holds no answer to what it was asked
│   └── ModelUnavailable    a model, index or JVM is missing or damaged; `fix` says what makes it right
└── RunStopped              the run was told to stop between two calls
"""

from __future__ import annotations


class HopcheckError(Exception):
    """The root: catching it catches everything that Hopcheck raises on purpose and nothing else."""


class InvalidInput(HopcheckError):
    """The caller's words are at fault. `field` names the input; the message is one clear sentence."""

    def __init__(self, message: str, field: str = "claim") -> None:
        super().__init__(message)
        self.field = field


class SettingsError(HopcheckError):
    """A setting has a value that it cannot have; the message names the setting and its choices."""


class CallFailed(HopcheckError):
    """One call of a module did not work. The message is shown on the page, so it holds no secret and no trace."""


class UnparseableOutput(CallFailed):
    """A model's text holds no answer to what it was asked. Nothing is guessed in its place."""


class ModelUnavailable(CallFailed):
    """A model, an index or the JVM is missing or damaged.

    `problem` says what is wrong in a sentence, `fix` is the command or setting that makes it right.
    """

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(f"{message}. Fix it with: {fix}")
        self.problem = f"{message}."
        self.fix = fix


class RunStopped(HopcheckError):
    """The run was told to stop between two calls."""
