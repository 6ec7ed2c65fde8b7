"""The events of a run: small dataclasses in the past tense, each with the `kind` under which it is stored.

`report.reduce_events` computes a run's report from them. Time, run id and sequence number are added by the event store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.domain.messages import Text
from app.domain.model import Answer, Branch, Claim, FactCheck, Imported, Judgement, Question, RunOptions, Usage, Verdict

SCHEMA_VERSION = 2  # increase it when stored events can no longer be read


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The first event of every run."""

    claim: Claim
    options: RunOptions
    kind: Literal["run_started"] = "run_started"


@dataclass(frozen=True, slots=True)
class RunResumed:
    """A run whose process was lost continues: closed hops are kept, the open one is asked again."""

    reason: Text
    kind: Literal["run_resumed"] = "run_resumed"


@dataclass(frozen=True, slots=True)
class RunBranched:
    """The run branches off an earlier one; copies of that run's events for the inherited hops follow."""

    branch: Branch
    kind: Literal["run_branched"] = "run_branched"


@dataclass(frozen=True, slots=True)
class RunImported:
    """The run was imported from a file; the events that follow were derived from the file."""

    imported: Imported
    kind: Literal["run_imported"] = "run_imported"


@dataclass(frozen=True, slots=True)
class PhaseEntered:
    """An activity began, or the run waits in the queue."""

    phase: Text
    kind: Literal["phase_entered"] = "phase_entered"


@dataclass(frozen=True, slots=True)
class TokensUsed:
    """A call of a model or search service finished, or a stored reply replaced it; `usage` is its cost."""

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
    """The answerer returned, with or without an answer."""

    hop: int
    answer: Answer
    kind: Literal["answer_found"] = "answer_found"


@dataclass(frozen=True, slots=True)
class HopKept:
    """The pair joins the context: the validator accepted it or, in an evidence pursuit, it has an answer."""

    hop: int
    reason: Text
    kind: Literal["hop_kept"] = "hop_kept"


@dataclass(frozen=True, slots=True)
class HopSetAside:
    """The pair stays in the report but not in the context: rejected, unanswered, or left out by the owner."""

    hop: int
    reason: Text
    kind: Literal["hop_set_aside"] = "hop_set_aside"


@dataclass(frozen=True, slots=True)
class HopFailed:
    """A call of this hop failed. `module` names the module, `message` gives the reason in one sentence."""

    hop: int
    module: str
    message: str
    kind: Literal["hop_failed"] = "hop_failed"


@dataclass(frozen=True, slots=True)
class HopInterrupted:
    """The hop was abandoned because the run must conclude now; its answer, if any, is not used."""

    hop: int
    reason: Text
    kind: Literal["hop_interrupted"] = "hop_interrupted"


@dataclass(frozen=True, slots=True)
class StepFailed:
    """A call of the claim verifier, or of a pursuit's questioner, failed outside any hop; the run continues."""

    module: str
    message: str
    kind: Literal["step_failed"] = "step_failed"


@dataclass(frozen=True, slots=True)
class TroubleMet:
    """A recoverable problem, such as a search engine that was replaced by another."""

    message: Text
    kind: Literal["trouble_met"] = "trouble_met"


@dataclass(frozen=True, slots=True)
class FactChecksFound:
    """Published fact-checks were looked up, or found in the markup of a page that was read."""

    fact_checks: tuple[FactCheck, ...]
    kind: Literal["fact_checks_found"] = "fact_checks_found"


@dataclass(frozen=True, slots=True)
class SufficiencyJudged:
    """The claim verifier judged the context; in an evidence pursuit, the questioner is done; paraphrases may follow."""

    judgement: Judgement
    kind: Literal["sufficiency_judged"] = "sufficiency_judged"


@dataclass(frozen=True, slots=True)
class QuestioningEnded:
    """No more questions will be asked; `reason` says why."""

    reason: Text
    early: bool = False
    """True if the owner's command or a limit on time, calls, tokens or cost ended the questions."""
    kind: Literal["questioning_ended"] = "questioning_ended"


@dataclass(frozen=True, slots=True)
class VerdictReached:
    """Terminal: the run has a verdict."""

    verdict: Verdict
    kind: Literal["verdict_reached"] = "verdict_reached"


@dataclass(frozen=True, slots=True)
class RunFailed:
    """Terminal: there is no verdict; `message` gives the reason in one sentence."""

    message: Text
    kind: Literal["run_failed"] = "run_failed"


@dataclass(frozen=True, slots=True)
class RunInterrupted:
    """Terminal: the run was interrupted and keeps its hops."""

    message: Text
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
    | FactChecksFound
    | SufficiencyJudged
    | QuestioningEnded
    | VerdictReached
    | RunFailed
    | RunInterrupted
)

Reported = PhaseEntered | TokensUsed | TroubleMet | FactChecksFound
"""The events that modules and back ends report during a call."""

TERMINAL = (VerdictReached, RunFailed, RunInterrupted)
"""Nothing is appended to a run's log after one of these."""
