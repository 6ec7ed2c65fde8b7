"""Training texts are the prompts and continuations of a run."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from app.domain.errors import InvalidInput
from app.modules import transcript as inference
from app.modules.transcript import Source, Step
from research.claims.data import CLAIMS_FILE, Asked, VitalClaim
from research.tests.training.data import ROW, vital_row, write_training_data
from research.training.transcripts import (
    Hop,
    Paragraph,
    claim_examples,
    examples,
    joined,
    published_examples,
    run_of,
    squad_examples,
)

CLAIM = "The capital of France is larger than Rome."
PARIS, ROME = Source("Paris", "Paris is the capital of France."), Source("Rome", "Rome has 2.7 million inhabitants.")
STEPS = (
    Step("What is the capital of France?", (PARIS,), "Paris"),
    Step("How many people live in Rome?", (ROME, PARIS), None),
)


def found(query: str, count: int) -> list[Source]:
    return [Source(f"Other {at}", f"Something else, {at}.") for at in range(count)]


def learned(parts) -> list[str]:
    return [part.text for part in parts if part.weight]


def text_of(parts) -> str:
    return "".join(part.text for part in parts)


def test_a_transcript_is_learned_from_the_prompts_of_a_run() -> None:
    first, rest = joined(run_of(CLAIM, [Hop(step) for step in STEPS], ("false",), "Because."))
    assert text_of(first) == inference.before_question(CLAIM, ()) + " What is the capital of France?\n"
    whole = inference.before_explanation(inference.before_verdict(CLAIM, STEPS), "false")
    assert text_of(rest) == f"{whole} Because.{inference.END}"
    assert learned(rest) == [
        " Paris\n",
        " open\n",
        " How many people live in Rome?\n",
        " not found\n",
        " false\n",
        f" Because.{inference.END}",
    ]


def test_a_transcript_of_which_nothing_is_learned_is_left_out() -> None:
    made = list(joined(run_of(CLAIM, [Hop(STEPS[0], question_weight=0)], ("true",))))
    assert len(made) == 1 and learned(made[0]) == [" Paris\n", " true\n"]


def a_claim(**changes) -> VitalClaim:
    about = {
        "id": "1",
        "claim": "Paris is the capital of Italy.",
        "label": "REFUTED",
        "kind": "place",
        "group": "1",
        "style": "plain",
        "hops": 1,
        "leads": (("Paris", PARIS.text),),
        "questions": (Asked("Of which country is Paris the capital?", "France", "Paris"),),
        "decisive": (),
        "explanation": "The lead says France.",
        "split": "train",
    }
    return VitalClaim(**(about | changes))


def test_a_claim_about_the_corpus_has_its_article_and_others_as_sources() -> None:
    made = list(claim_examples([a_claim()], found, random.Random(1)))
    text = made[1].text
    assert "Source: Paris: Paris is the capital of France." in text and "Verdict: false" in text
    assert "The source says France." in text, "a reader sees a source, not a lead"


def test_the_explanation_of_a_balanced_claim_is_not_learned_because_it_is_its_twins() -> None:
    made = claim_examples([a_claim(style="balanced")], found, random.Random(1))
    assert not any("Explanation" in each.text for each in made)


def test_a_leading_question_is_not_found_and_the_next_one_decides() -> None:
    leading = Asked("Of which country is Rome the capital?", None, "Rome")
    row = a_claim(leads=(("Rome", ROME.text), ("Paris", PARIS.text)), questions=(leading, a_claim().questions[0]))
    text = next(each.text for each in claim_examples([row], found, random.Random(1)) if "Verdict" in each.text)
    assert text.index("Rome has 2.7 million") < text.index("Answer: not found\nVerdict: open")
    assert text.index("Verdict: open") < text.index("Answer: France\nVerdict: false")


def test_few_answerable_questions_are_searched_in_vain() -> None:
    """More of them make a model say "not found" over sources that answer."""
    made = [each for seed in range(400) for each in claim_examples([a_claim()], found, random.Random(seed))]
    answers = [text for each in made for text in learned(each.parts) if text in (" France\n", " not found\n")]
    assert 0 < answers.count(" not found\n") < 0.06 * len(answers)


def test_a_wrong_answer_does_not_change_the_verdict_and_is_not_learned() -> None:
    rows = [a_claim(), a_claim(id="2", questions=(Asked("Where is the Louvre?", "on the Seine", "Paris"),))]
    made = [each for seed in range(100) for each in claim_examples(rows, found, random.Random(seed))]
    wrong = [each for each in made if "Of which country is Paris the capital?\nAnswer: on the Seine" in each.text]
    assert wrong and all(" on the Seine\n" not in learned(each.parts) for each in wrong)
    assert all("Verdict: false" in each.text for each in wrong)


@pytest.mark.parametrize(
    ("label", "words"),
    [("SUPPORTED", ("true",)), ("REFUTED", ("false",)), ("NOT_SUPPORTED", ("false", "open"))],
)
def test_a_published_claim_is_read_with_its_evidence(label: str, words: tuple[str, ...]) -> None:
    row = {"id": 1, "claim": CLAIM, "label": label, "evidence": [{"title": "Paris", "text": PARIS.text}]}
    (made,) = published_examples([("hover_dev", row | {"hops": 2})], found, random.Random(1))
    (verdict,) = [part.verdicts for part in made.parts if part.verdicts]
    assert (made.source, verdict) == ("hover_dev-2hop", words)


def test_a_supported_claim_without_one_of_its_passages_is_open() -> None:
    evidence = [{"title": each.title, "text": each.text} for each in (PARIS, ROME)]
    rows = [("hover_dev", {"id": at, "claim": CLAIM, "label": "SUPPORTED", "evidence": evidence}) for at in range(200)]
    made = [each for each in published_examples(rows, found, random.Random(1)) if not each.held_out]
    for each in made:
        whole = PARIS.text in each.text and ROME.text in each.text
        assert ("Verdict: true" in each.text) == whole and ("Verdict: open" in each.text) != whole
    assert 0.05 < sum("Verdict: open" in each.text for each in made) / len(made) < 0.3


def test_the_answer_to_a_squad_question_is_read_from_the_source_and_not_from_the_claim() -> None:
    asked = (("What is the capital?", "Paris"), ("Of which country?", "France"), ("Who lives there?", None))
    made = list(squad_examples([Paragraph(PARIS, asked, False)] * 30, random.Random(1)))
    for each in made:
        claim, answer = each.text.splitlines()[0], learned(each.parts)[0].strip()
        right = {"What is the capital?": "Paris", "Of which country?": "France", "Who lives there?": "not found"}
        question = next(one for one in right if one in claim)
        assert answer == right[question]
        verdict = "open" if answer == "not found" else "true" if claim.endswith(answer) else "false"
        assert f"Verdict: {verdict}" in each.text
    assert {"true", "false", "open"} <= {learned(each.parts)[1].strip() for each in made}


def test_a_squad_answer_outside_the_cut_is_not_asked_for() -> None:
    long = Source(
        "Paris", "What is the capital, people ask. " * 30 + "It is Lyon, says nobody. " + "So it goes. " * 200
    )
    assert not list(squad_examples([Paragraph(long, (("What is the capital?", "goes. So"),), False)], random.Random(1)))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_training_data(tmp_path)


def test_no_held_out_claim_is_trained_on(data: Path) -> None:
    made = list(examples(data, found, epochs=2, seed=1))
    titles = [{line for line in each.text.splitlines() if line.startswith("Source: Town")} for each in made]
    trained = set().union(*(found for each, found in zip(made, titles, strict=True) if not each.held_out))
    measured = set().union(*(found for each, found in zip(made, titles, strict=True) if each.held_out))
    assert trained and measured and not trained & measured


def test_the_same_seed_gives_the_same_examples_and_another_seed_the_same_held_out_ones(data: Path) -> None:
    one, same, other = (list(examples(data, found, 1, seed)) for seed in (1, 1, 2))
    assert one == same != other
    assert [each for each in one if each.held_out] == [each for each in other if each.held_out]


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("wice_dev.jsonl", json.dumps(ROW) + "\n" + json.dumps(ROW | {"label": "MAYBE"}), "line 2: the label 'MAYBE'"),
        ("wice_dev.jsonl", json.dumps(ROW | {"evidence": [{"title": "T"}]}), "line 1: no text"),
        ("wice_dev.jsonl", json.dumps({"id": 1, "label": "SUPPORTED"}), "line 1: no claim"),
        ("wice_dev.jsonl", None, "cannot be read: No such file"),
        ("squad_dev_v2.0.json", None, "cannot be read: No such file"),
        ("squad_dev_v2.0.json", '{"data":\n[', "not in SQuAD's format"),
        ("squad_dev_v2.0.json", "[]", "not in SQuAD's format"),
        ("squad_dev_v2.0.json", json.dumps({"data": [{"title": "T"}]}), "paragraphs that are no list"),
        (CLAIMS_FILE, json.dumps(vital_row(1) | {"style": ""}), "no style"),
        (CLAIMS_FILE, json.dumps(vital_row(1) | {"hops": "1"}), "no hops"),
        (CLAIMS_FILE, json.dumps(vital_row(1) | {"evidence": []}), "evidence that are no list"),
        (CLAIMS_FILE, json.dumps(vital_row(1) | {"questions": [{"question": "Q?"}]}), "without an answer and a title"),
    ],
)
def test_invalid_data_are_reported_before_training(data: Path, file: str, text: str | None, sentence: str) -> None:
    path = data / file
    path.unlink() if text is None else path.write_text(text)
    with pytest.raises(InvalidInput) as raised:
        list(examples(data, found, 1, 1))
    assert file in str(raised.value) and sentence in str(raised.value)
