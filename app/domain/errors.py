"""The exceptions of claim checking, whose messages may be shown.

HopcheckError
├── InvalidInput            the caller's input is wrong; the message may be shown as it is
│   ├── NotNow              the present state of a run, note or batch does not allow it
│   └── NotThere            what the input names does not exist
├── SettingsError           a setting has an invalid value
└── CallFailed              a call failed, and so did the hop, the step (claim verifier) or the run (reasoner)
    ├── UnparseableOutput   a model's text contains no valid answer
    └── ModelUnavailable    a model, index or JVM is missing or damaged; `fix` says how to repair it
"""

from __future__ import annotations

from app.domain.messages import Words


class HopcheckError(Exception):
    """Base class of the exceptions whose message may be shown."""


class InvalidInput(HopcheckError):
    """The caller's input is wrong. `field` names the input; the message is for the user."""

    def __init__(self, message: str, field: str = "claim") -> None:
        super().__init__(message)
        self.field = field


class NotNow(InvalidInput):
    """The present state of a run, note or batch does not allow it."""


class NotThere(InvalidInput):
    """What the input names does not exist."""


class SettingsError(HopcheckError):
    """A setting has an invalid value; the message names the setting and the valid values."""


class CallFailed(HopcheckError):
    """One call of a module failed. The message is shown on the page, so it contains no secret and no trace."""


class UnparseableOutput(CallFailed):
    """A model's text contains no valid answer. Callers must not guess one."""


class ModelUnavailable(CallFailed):
    """A model, an index or the JVM is missing or damaged.

    `problem` says what is wrong in one sentence, `fix` is the command or setting that repairs it.
    """

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(f"{message}. Fix it with: {fix}")
        self.problem: str = Words("{message}.", message=message)
        self.fix = fix
