"""How much longer two runs of the embedded default take at once than one after the other.

    .venv/bin/python -m benchmarks.two_at_once [--pairs 2]

Real models, warm, in one process, and our own samples as claims: both of a pair alone, then both at once. What counts
is the ratio, for other programs make both sides slower. No reply is kept from one side to the other.
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

MOST_TIMES = 1.6


class Both(NamedTuple):
    """Seconds that two runs took, each alone and then at once."""

    alone: tuple[float, float]
    at_once: tuple[float, float]

    @property
    def ratio(self) -> float:
        """How many times as long a run took, both taken together."""
        return sum(self.at_once) / sum(self.alone)


def seconds(container: Container, claim: str) -> float:
    """What a whole run takes."""
    began = time.perf_counter()
    for _ in container.strategy_for(RunOptions()).run(Claim(claim), RunOptions()):
        pass
    return time.perf_counter() - began


def both(container: Container, one: str, other: str) -> Both:
    """Two claims checked alone, then at once."""
    alone = seconds(container, one), seconds(container, other)
    took: dict[str, float] = {}

    def check(claim: str) -> None:
        took[claim] = seconds(container, claim)

    threads = [threading.Thread(target=check, args=(claim,)) for claim in (one, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Both(alone, (took[one], took[other]))


def measured(pairs: int) -> list[Both]:
    """So many pairs of samples, the first ones."""
    container = Container(load_settings())
    container.warm()
    claims = [sample.claim for sample in EXAMPLES]
    seconds(container, claims[-1])  # what is left to load or to compile
    return [both(container, claims[2 * at], claims[2 * at + 1]) for at in range(pairs)]


def overall(pairs: list[Both]) -> float:
    """The ratio over all of them."""
    return sum(sum(each.at_once) for each in pairs) / sum(sum(each.alone) for each in pairs)


def main() -> None:
    """One line a pair, then the ratio."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--pairs", type=int, default=2)
    pairs = measured(arguments.parse_args().pairs)
    for each in pairs:
        alone, at_once = (" and ".join(f"{took:.1f} s" for took in side) for side in each)
        print(f"alone {alone}; at once {at_once}: {each.ratio:.2f} times")
    print(f"{overall(pairs):.2f} times in all (goal: under {MOST_TIMES:g})")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
