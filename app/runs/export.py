"""A run as one JSON-ready object, for the command line and whoever else hands runs out."""

from __future__ import annotations

from typing import Any

from app.reasoning.report import Report
from app.reasoning.types import Answer, Hop, Sentence


def run_as_dict(run_id: str, report: Report) -> dict[str, Any]:
    """The run with its verdict and every hop; what there is none of is None.

    `stopped_because` is a sentence that says why no more questions were asked.
    """
    verdict = report.verdict
    return {
        "id": run_id,
        "claim": report.claim.text,
        "strategy": report.options.strategy,
        "answerer": report.options.answerer,
        "label": verdict.label.value if verdict else None,
        "confidence": verdict.confidence if verdict else None,
        "rationale": [_sentence(each, report) for each in verdict.rationale] if verdict else [],
        "missing": verdict.missing if verdict else None,
        "stopped_because": report.stopped_because or None,
        "seconds": round(report.seconds, 3),
        "usage": {
            "calls": report.usage.calls,
            "prompt_tokens": report.usage.prompt_tokens,
            "completion_tokens": report.usage.completion_tokens,
            "cached": report.usage.cached,
            "cost": report.usage.cost,
        },
        "hops": [_hop(hop) for hop in report.hops],
    }


def _sentence(sentence: Sentence, report: Report) -> dict[str, Any]:
    """`from_memory` says that a hop it cites has what a model recited behind it, and no source."""
    recited = any(hop.from_memory for hop in report.hops if hop.number in sentence.hops)
    return {"text": sentence.text, "hops": list(sentence.hops), "from_memory": recited}


def _hop(hop: Hop) -> dict[str, Any]:
    return {
        "number": hop.number,
        "question": hop.question.text,
        "answer": hop.answer.text if hop.answer else None,
        "status": hop.status.value,
        "reason": hop.reason,
        "from_memory": hop.from_memory,
        "evidence": _evidence(hop.answer) if hop.answer else [],
    }


def _evidence(answer: Answer) -> list[dict[str, Any]]:
    """Everything that was looked at; `cited` marks the passage that the answer stands in, which is never left out."""
    cited = answer.cited.passage if answer.cited else None
    looked_at = answer.retrieved if cited is None or cited in answer.retrieved else (cited, *answer.retrieved)
    return [
        {
            "title": passage.title,
            "source": passage.source,
            "url": passage.url,
            "text": passage.text,
            "origin": passage.origin.value,
            "score": passage.score,
            "cited": passage == cited,
        }
        for passage in looked_at
    ]
