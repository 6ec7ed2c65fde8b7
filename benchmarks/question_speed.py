"""How much faster a question is when the demonstrations' keys and values are kept, and whether the text is the same.

    .venv/bin/python -m benchmarks.question_speed CLAIMS.jsonl [--prompts 200]

Both sides are llama.cpp over the same weights with the same greedy settings: plain evaluates the whole prompt in every
call (cache_prompt off), ours keeps what it has read. Calls alternate, so that a busy machine is equally busy for both.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

from app.backends.local_lm import LocalLM
from app.modules.question_generator import MAX_TOKENS, prompt_for
from app.reasoning.types import Claim


def timed(server: Any, prompt: str, kept: bool) -> tuple[float, str]:
    """Seconds and text of one greedy completion; plain and ours each have a slot, so neither helps the other."""
    request = {"prompt": prompt, "n_predict": MAX_TOKENS, "temperature": 0, "stop": ["\n"]}
    began = time.perf_counter()
    reply = server.handle_completions({**request, "cache_prompt": kept, "id_slot": int(kept)})
    return time.perf_counter() - began, reply["choices"][0]["text"]


def main() -> None:
    """Print the medians, the ratio of the sums and the share of equal texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("claims", type=Path)
    parser.add_argument("--prompts", type=int, default=200)
    options = parser.parse_args()
    lines = options.claims.read_text(encoding="utf-8").splitlines()[: options.prompts]
    prompts = [prompt_for(Claim(json.loads(line)["claim"]), ()) for line in lines]
    server = LocalLM().server()
    timed(server, prompts[0], kept=True)
    pairs = [(timed(server, prompt, kept=False), timed(server, prompt, kept=True)) for prompt in prompts]
    plain, ours = [each[0][0] for each in pairs], [each[1][0] for each in pairs]
    same = sum(each[0][1] == each[1][1] for each in pairs)
    print(
        f"{len(pairs)} prompts: plain {statistics.median(plain):.2f} s, kept {statistics.median(ours):.2f} s (medians)"
    )
    print(f"{sum(plain) / sum(ours):.1f} times faster in all; the same text for {same} of {len(pairs)}")


if __name__ == "__main__":
    main()
