"""The in-process language model: damaged files, text and probabilities, slots, and real questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.backends.local import llama_cpp
from app.backends.local.llama_cpp import LocalLM, Slots
from app.container.container import CALCULATION, REMAINING
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.instrumentation import listening
from app.domain.messages import Code
from app.domain.model import Answer, Claim, Hop, HopStatus, Passage, Question, Span
from app.modules.calculation import ClaimCalculator
from app.modules.claim_preparation import ClaimSorter
from app.modules.remaining_claim import ClaimReducer
from tests.local_files import FILES
from tests.small_model import packaged_gguf

BASE, ADAPTER, *_ = FILES


def test_a_missing_base_is_named_with_its_fix_and_only_a_call_fails(tmp_path: Path) -> None:
    """The app starts without the model."""
    model = LocalLM(tmp_path / "gone.gguf", ADAPTER)
    with pytest.raises(ModelUnavailable, match="make models") as raised:
        model.complete("a", max_tokens=1)
    assert "gone.gguf" in str(raised.value)


@pytest.mark.parametrize("content", [None, b"GGUF cut off"])
def test_a_missing_or_damaged_adapter_is_named_with_its_fix(tmp_path: Path, content: bytes | None) -> None:
    adapter = tmp_path / "adapter.gguf"
    if content:
        adapter.write_bytes(content)
    with pytest.raises(ModelUnavailable, match=r"adapter\.gguf is") as raised:
        LocalLM(BASE, adapter).load()
    assert raised.value.fix == f"git checkout -- {adapter}"


@pytest.mark.models
@pytest.mark.parametrize("size", [0, 3_000, 1_000_000])
def test_a_truncated_file_is_reported_and_does_not_crash_the_process(tmp_path: Path, size: int) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(packaged_gguf().read_bytes()[:size])
    with pytest.raises(ModelUnavailable, match=r"cut\.gguf is damaged"):
        LocalLM(cut, ADAPTER).load()


def test_the_next_part_of_a_run_goes_to_the_slot_of_its_transcript() -> None:
    slots = Slots(2)
    run, other = "Claim: Ann sings.\n" + "Source: a. " * 50, "Claim: Bob runs.\n" + "Source: b. " * 50
    first = slots.choose(f"{run}Question: Who?", 0)
    second = slots.choose(f"{other}Question: Who?", 0)
    assert first != second
    assert slots.choose(f"{run}Question: Who?\nAnswer: Ann\nVerdict:", 0) == first
    assert slots.choose(f"{run}Verdict:", 0) == first  # loses a few words
    assert slots.choose(f"{other}Question: Who?\nAnswer: Bob\nVerdict:", 0) == second


def test_a_prompt_that_shares_only_the_beginning_does_not_replace_the_rest_of_a_transcript() -> None:
    slots = Slots(2)
    run = "Claim: Ann sings.\n" + "Source: a. " * 50
    first = slots.choose(f"{run}{'Source: b. ' * 50}Verdict:", 0)
    assert slots.choose(f"{run}Verdict:", 0) != first


def test_a_prompt_without_the_adapter_shares_no_slot_with_one_with_it() -> None:
    slots = Slots(2)
    assert slots.choose("The same text.", 0) != slots.choose("The same text.", None)


@pytest.fixture(scope="module")
def model() -> LocalLM:
    return LocalLM(*FILES, threads=2)


PROMPT = "Claim: Macbeth was written by Goethe.\nSource: Macbeth: Macbeth is a tragedy by William Shakespeare.\n"


@pytest.mark.models
def test_completion_is_greedy_and_ends_before_the_stop(model: LocalLM) -> None:
    texts = {model.complete(f"{PROMPT}Question: Who wrote Macbeth?\nAnswer:", max_tokens=8, stop=("\n",)) for _ in "ab"}
    assert texts == {" William Shakespeare"}


@pytest.mark.models
def test_probabilities_of_words_sum_to_one_and_follow_the_sources(model: LocalLM) -> None:
    true, false, open_ = model.probabilities(f"{PROMPT}Verdict:", ["true", "false", "open"])
    assert true + false + open_ == pytest.approx(1.0)
    assert false > 0.9


@pytest.mark.slow
@pytest.mark.models
def test_the_adapter_is_applied_where_it_is_chosen(model: LocalLM) -> None:
    """In any order, because questions and paraphrases of a run share the model."""
    adapted, plain, again = (each.complete(PROMPT, max_tokens=6) for each in (model, model.using(None), model))
    assert adapted == again != plain


@pytest.mark.slow
@pytest.mark.models
def test_usage_is_reported(model: LocalLM) -> None:
    events = []
    with listening(events.append):
        model.complete("One, two, three,", max_tokens=4)
    usage = events[0].usage
    assert (usage.calls, usage.completion_tokens) == (1, 4)
    assert usage.prompt_tokens >= 4


@pytest.mark.slow
@pytest.mark.models
def test_a_prompt_that_continues_another_is_computed_from_there(model: LocalLM) -> None:
    model.probabilities(f"{PROMPT}Verdict:", ["true"])
    server, _ = model._engine()
    request = {"prompt": f"{PROMPT}Question: Who wrote Macbeth?", "n_predict": 1, "cache_prompt": True}
    slot = model._slots.choose(request["prompt"], 0)
    used = server.handle_completions({**request, "id_slot": slot, "lora": [{"id": 0, "scale": 1.0}]})["usage"]
    assert used["prompt_tokens_details"]["cached_tokens"] >= used["prompt_tokens"] - 10 > 20


@pytest.mark.models
def test_a_prompt_that_is_too_long_fails_the_call_and_the_model_keeps_working(model: LocalLM) -> None:
    with pytest.raises(CallFailed, match="context"):
        model.complete("word " * 5_000, max_tokens=4)
    assert model.complete("One, two, three,", max_tokens=2)


@pytest.mark.slow
@pytest.mark.models
def test_nothing_is_written_to_stderr(model: LocalLM, capfd: pytest.CaptureFixture[str]) -> None:
    model.complete("One,", max_tokens=1)
    assert capfd.readouterr().err == ""


def test_the_engine_is_given_no_repacked_copy_of_the_weights() -> None:
    """It would take another gigabyte of memory."""
    assert llama_cpp.parameters(BASE, 1).no_extra_bufts


@pytest.mark.models
@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("London is a horrible place to live.", Code.OPINION()),
        ("China will land people on the Moon by 2030.", Code.PREDICTION()),
        ("The Nile flows into the Red Sea.", None),
        ("Mount Everest is the highest mountain on Earth.", None),
    ],
)
def test_the_base_tells_opinions_and_predictions_from_facts(model: LocalLM, claim, reason) -> None:
    assert ClaimSorter(model.using(None)).why_uncheckable(Claim(claim)) == reason


@pytest.mark.models
@pytest.mark.parametrize(
    ("claim", "answer", "remaining"),
    [
        ("The author of Frankenstein died in 1851.", "Mary Shelley", "Mary Shelley died in 1851."),
        ("The author of Frankenstein died in 1851.", "Percy Shelley", None),  # its source says another name
        ("Frankenstein was written by Goethe.", "Mary Shelley", None),  # nothing remains
    ],
)
def test_an_answer_is_put_into_a_claim_of_which_something_remains(model, claim, answer, remaining) -> None:
    passage = Passage("Frankenstein is an 1818 novel written by English author Mary Shelley.", "Frankenstein", "test")
    cited = Answer(answer, Span(passage, 0, len(passage.text)), (passage,))
    kept = Hop(1, Question("Who wrote Frankenstein?"), cited, HopStatus.KEPT)
    found = ClaimReducer(model.using(REMAINING), model)(Claim(claim), (kept,))
    assert (found.claim.text if found.settled else None) == remaining


@pytest.mark.models
@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ("Liechtenstein is smaller than Malta.", True),
        ("Malta's area is smaller than that of Liechtenstein.", False),
        ("Liechtenstein has more hotels than Malta.", None),  # the answers do not say how many
    ],
)
def test_what_a_claim_says_of_two_amounts_is_calculated(model, claim, holds) -> None:
    hops = [
        Hop(at, Question(f"What is the area of {place}?"), Answer(area), HopStatus.KEPT)
        for at, (place, area) in enumerate((("Liechtenstein", "160 km2"), ("Malta", "316 km2")), 1)
    ]
    found = ClaimCalculator(model.using(CALCULATION))(Claim(claim), tuple(hops))
    assert (found and found.holds) is holds
