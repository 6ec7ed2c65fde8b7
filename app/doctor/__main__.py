"""`python -m app.doctor`: the checks without Flask, for an installation in which `flask` does not start."""

from __future__ import annotations

import sys

from app.config.settings import load_settings
from app.doctor import State, format_findings, run_checks
from app.doctor.checks import CHECKS


def main() -> int:
    """Print the findings; return 1 when there is a problem, else 0."""
    found = list(run_checks(load_settings(), CHECKS))
    print("\n".join(format_findings(found)))
    return int(any(finding.state is State.PROBLEM for finding in found))


if __name__ == "__main__":
    sys.exit(main())
