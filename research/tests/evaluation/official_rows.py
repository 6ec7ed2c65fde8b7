"""Rows in the shape of the released files, made up here, and files of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TYPES = ("Event/Property Claim", "Quote Verification", "Numerical Claim")
LABELS = ("Supported", "Refuted", "Not Enough Evidence", "Conflicting Evidence/Cherrypicking")


def averitec(number: int) -> dict[str, Any]:
    """Return a row of AVeriTeC's release; every second question is answered by an explained yes."""
    answer = {"answer": "William Shakespeare.", "answer_type": "Extractive", "source_url": "https://a.example/1"}
    yes = {"answer": "Yes", "answer_type": "Boolean", "boolean_explanation": "It was written by Shakespeare."}
    return {
        "claim": f"The author of Hamlet was born in England, says letter {number}.",
        "required_reannotation": False,
        "label": LABELS[number % 4],
        "justification": "Hamlet was written by Shakespeare, who was born in England.",
        "claim_date": "31-10-2020",
        "speaker": None if number % 2 else "Ada Stone",
        "original_claim_url": None,
        "fact_checking_article": "https://a.example/check",
        "reporting_source": "Facebook",
        "location_ISO_code": "GB",
        "claim_types": [TYPES[number % 3]],
        "fact_checking_strategies": ["Written Evidence"],
        "questions": [{"question": "Who wrote Hamlet?", "answers": [yes if number % 2 else answer]}],
        "cached_original_claim_url": None,
    }


def hover(number: int) -> dict[str, Any]:
    """Return a row of HoVer's release."""
    return {
        "uid": f"0a{number:04}",
        "claim": f"The author of Hamlet was born in England, as letter {number} has it.",
        "supporting_facts": [["Hamlet", 0], ["William Shakespeare", 1], ["William Shakespeare", 2]][: 1 + number % 3],
        "label": "NOT_SUPPORTED" if number % 2 else "SUPPORTED",
        "num_hops": 2 + number % 3,
        "hpqa_id": f"5a{number:04}",
    }


def feverous(number: int) -> dict[str, Any]:
    """Return a row of FEVEROUS's release; every fifth needs a cell of a table."""
    content = ["Hamlet_sentence_0", "William Shakespeare_cell_0_1_1" if number % 5 == 4 else "Hamlet_sentence_3"]
    return {
        "id": 7000 + number,
        "label": "REFUTES" if number % 2 else "SUPPORTS",
        "annotator_operations": [{"operation": "start", "value": "start", "time": "0"}],
        "evidence": [{"content": content, "context": {each: ["Hamlet_title"] for each in content}}],
        "claim": f"The author of Hamlet was born in England, letter {number} says.",
        "expected_challenge": "Multi-hop Reasoning",
        "challenge": "Multi-hop Reasoning",
    }


EMPTY = {"id": "", "label": "", "claim": "", "annotator_operations": [], "evidence": [], "challenge": ""}
"""The first line of FEVEROUS's release."""


def array(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write the rows as one JSON array, indented as AVeriTeC's is."""
    path.write_text(json.dumps(rows, indent=4), encoding="utf-8")
    return path


def released(folder: Path, rows: int = 20) -> dict[str, Path]:
    """Write a file of each format in its released shape, by the format's name."""
    numbers = range(rows)
    lines = [EMPTY, *(feverous(number) for number in numbers)]
    feverous_file = folder / "feverous_dev_challenges.jsonl"
    feverous_file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return {
        "averitec": array(folder / "dev.json", [averitec(number) for number in numbers]),
        "hover": array(folder / "hover_dev_release_v1.1.json", [hover(number) for number in numbers]),
        "feverous": feverous_file,
    }
