"""Measure how much longer two runs of the embedded default take at once than one after the other.

    .venv/bin/python -m benchmarks.two_at_once [--pairs 2]

The sample claims are checked in pairs with warm models in one process: each alone, then both at once. The result is the
ratio, as other programs make both measurements slower. No replies are cached.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from typing import NamedTuple

from app.config.settings import load_settings
from app.container.container import Container
from app.domain.model import Claim, RunOptions
from app.web.forms import EXAMPLES

MAX_RATIO = 1.6


class PairTimes(NamedTuple):
    """Seconds of two runs, each alone and then both at once."""

    alone: tuple[float, float]
    at_once: tuple[float, float]

    @property
    def ratio(self) -> float:
        """Return the sum of the times at once divided by the sum of the times alone."""
        return sum(self.at_once) / sum(self.alone)


def time_run(container: Container, claim: str) -> float:
    """Return the seconds of a whole run."""
    started = time.perf_counter()
    for _ in container.strategy_for(RunOptions()).run(Claim(claim), RunOptions()):
        pass
    return time.perf_counter() - started


def time_pair(container: Container, one: str, other: str) -> PairTimes:
    """Check two claims alone, then both at once."""
    alone = time_run(container, one), time_run(container, other)
    took: dict[str, float] = {}

    def check(claim: str) -> None:
        took[claim] = time_run(container, claim)

    threads = [threading.Thread(target=check, args=(claim,)) for claim in (one, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return PairTimes(alone, (took[one], took[other]))


def measure(pairs: int) -> list[PairTimes]:
    """Measure the first `pairs` pairs of sample claims."""
    container = Container(load_settings())
    container.warm()
    claims = [sample.claim for sample in EXAMPLES]
    time_run(container, claims[-1])  # loads and compiles the rest
    return [time_pair(container, claims[2 * at], claims[2 * at + 1]) for at in range(pairs)]


def overall_ratio(pairs: list[PairTimes]) -> float:
    """Return the ratio over all pairs."""
    return sum(sum(each.at_once) for each in pairs) / sum(sum(each.alone) for each in pairs)


def main() -> None:
    """Print a line for each pair, then the ratio."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--pairs", type=int, default=2)
    pairs = measure(arguments.parse_args().pairs)
    for each in pairs:
        alone, at_once = (" and ".join(f"{took:.1f} s" for took in side) for side in each)
        print(f"alone {alone}; at once {at_once}: {each.ratio:.2f} times")
    print(f"{overall_ratio(pairs):.2f} times overall (goal: under {MAX_RATIO:g})")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
