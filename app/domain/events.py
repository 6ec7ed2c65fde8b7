"""What a run says while it thinks: past-tense facts, each one small dataclass with a `kind` that names it when stored.

A run's events, in order, are the whole truth about it (report.py folds them). They know no clock, no run id and no
sequence number: those belong to whoever stores them. Bump SCHEMA_VERSION when a stored event can no longer be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.domain.model import Answer, Branch, Claim, Imported, Judgement, Question, RunOptions, Usage, Verdict

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The first event of every run."""

    claim: Claim
    options: RunOptions
    kind: Literal["run_started"] = "run_started"


@dataclass(frozen=True, slots=True)
class RunResumed:
    """A run that was cut off is taken up again: its closed hops stand, the one that was open is asked anew."""

    reason: str
    kind: Literal["run_resumed"] = "run_resumed"


@dataclass(frozen=True, slots=True)
class RunBranched:
    """The run goes on from an earlier one. What follows tells of the hops that stand, in that run's own events."""

    branch: Branch
    kind: Literal["run_branched"] = "run_branched"


@dataclass(frozen=True, slots=True)
class RunImported:
    """The run was read from a file and not carried out here. All that follows is what the file says."""

    imported: Imported
    kind: Literal["run_imported"] = "run_imported"


@dataclass(frozen=True, slots=True)
class PhaseEntered:
    """A module says what it is doing, in words for the status line ("reading 8 passages")."""

    phase: str
    kind: Literal["phase_entered"] = "phase_entered"


@dataclass(frozen=True, slots=True)
class TokensUsed:
    """A model call finished and this is what it cost."""

    usage: Usage
    kind: Literal["tokens_used"] = "tokens_used"


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """A hop began."""

    hop: int
    question: Question
    kind: Literal["question_asked"] = "question_asked"


@dataclass(frozen=True, slots=True)
class AnswerFound:
    """The answerer came back, with an answer or without one."""

    hop: int
    answer: Answer
    kind: Literal["answer_found"] = "answer_found"


@dataclass(frozen=True, slots=True)
class HopKept:
    """The validator found the pair useful: it joins the context."""

    hop: int
    reason: str
    kind: Literal["hop_kept"] = "hop_kept"


@dataclass(frozen=True, slots=True)
class HopSetAside:
    """The validator turned the pair down: it stays on the page and out of the context."""

    hop: int
    reason: str
    kind: Literal["hop_set_aside"] = "hop_set_aside"


@dataclass(frozen=True, slots=True)
class HopFailed:
    """A call of this hop did not work. `module` names which, `message` says why in one clear sentence."""

    hop: int
    module: str
    message: str
    kind: Literal["hop_failed"] = "hop_failed"


@dataclass(frozen=True, slots=True)
class HopInterrupted:
    """The hop was left where it was, for the run is to conclude now; its answer, if it has one, counts for nothing."""

    hop: int
    reason: str
    kind: Literal["hop_interrupted"] = "hop_interrupted"


@dataclass(frozen=True, slots=True)
class StepFailed:
    """A call that belongs to no hop did not work (the claim verifier's); the run goes on without its answer."""

    module: str
    message: str
    kind: Literal["step_failed"] = "step_failed"


@dataclass(frozen=True, slots=True)
class TroubleMet:
    """Something did not work and the run went on without it: a search engine, say, in whose place another was asked."""

    message: str
    kind: Literal["trouble_met"] = "trouble_met"


@dataclass(frozen=True, slots=True)
class SufficiencyJudged:
    """The claim verifier was asked whether the context is enough."""

    judgement: Judgement
    kind: Literal["sufficiency_judged"] = "sufficiency_judged"


@dataclass(frozen=True, slots=True)
class QuestioningEnded:
    """No more hops will be asked; `reason` says why, for the page."""

    reason: str
    kind: Literal["questioning_ended"] = "questioning_ended"


@dataclass(frozen=True, slots=True)
class VerdictReached:
    """Terminal: the run has a verdict."""

    verdict: Verdict
    kind: Literal["verdict_reached"] = "verdict_reached"


@dataclass(frozen=True, slots=True)
class RunFailed:
    """Terminal: no verdict could be given, and `message` says why in one clear sentence."""

    message: str
    kind: Literal["run_failed"] = "run_failed"


@dataclass(frozen=True, slots=True)
class RunInterrupted:
    """Terminal: the run was cut off and keeps what it had."""

    message: str
    kind: Literal["run_interrupted"] = "run_interrupted"


Event = (
    RunStarted
    | RunResumed
    | RunBranched
    | RunImported
    | PhaseEntered
    | TokensUsed
    | QuestionAsked
    | AnswerFound
    | HopKept
    | HopSetAside
    | HopFailed
    | HopInterrupted
    | StepFailed
    | TroubleMet
    | SufficiencyJudged
    | QuestioningEnded
    | VerdictReached
    | RunFailed
    | RunInterrupted
)

TERMINAL = (VerdictReached, RunFailed, RunInterrupted)
"""After one of these a run's log takes nothing more."""
