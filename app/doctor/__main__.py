"""`python -m app.doctor`: the checks without Flask, for an installation in which `flask` does not start."""

from __future__ import annotations

import sys

from app.config.settings import load_settings
from app.doctor import Check, State, components, format_findings, machine, run_checks

CHECKS: tuple[tuple[str, Check], ...] = (
    ("Python", machine.python),
    ("packages", machine.packages),
    ("memory", machine.memory),
    ("cores", machine.cores),
    ("clock", machine.clock),
    ("settings", components.settings_found),
    ("instance folder", components.instance),
    ("signing key", components.signing_key),
    ("database", components.database),
    ("Redis and workers", machine.workers),
    ("port", machine.port),
    ("Java", machine.java),
    ("corpora", components.corpora),
    ("live Wikipedia", components.live_wikipedia),
    ("local model", components.base_model),
    ("local model's adapter", components.local_model),
    ("reranker", components.reranker),
    ("language models", components.language_models),
)

ONLINE: tuple[tuple[str, Check], ...] = (("language models online", components.language_models_online),)
"""Checks that call servers and may cost money; run only on request."""


def main() -> int:
    """Print the findings; return 1 when there is a problem, else 0."""
    found = list(run_checks(load_settings(), CHECKS))
    print("\n".join(format_findings(found)))
    return int(any(finding.state is State.PROBLEM for finding in found))


if __name__ == "__main__":
    sys.exit(main())
