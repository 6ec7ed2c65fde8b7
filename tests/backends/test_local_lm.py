"""The in-process language model: damaged files, completion with and without the adapter, and real questions."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from app.backends.local import llama_cpp
from app.backends.local.llama_cpp import LocalLM, packaged_gguf
from app.container.container import SHIPPED
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.instrumentation import listening
from app.domain.model import Answer, Claim, Hop, HopStatus, Question
from app.modules.question_generator import LocalQuestionGenerator


def test_a_missing_file_is_named_with_its_fix(tmp_path: Path) -> None:
    """For a path set by the operator, the fix is the setting."""
    with pytest.raises(ModelUnavailable, match="QUESTION_MODEL") as raised:
        LocalLM(tmp_path / "gone.gguf").complete("a", max_tokens=1)
    assert "gone.gguf" in str(raised.value)


@pytest.mark.parametrize("content", [None, b"GGUF cut off"])
def test_a_missing_or_damaged_adapter_is_named_with_its_fix(tmp_path: Path, content: bytes | None) -> None:
    """The model's own file is another one, which has another fix."""
    adapter = tmp_path / "adapter.gguf"
    if content:
        adapter.write_bytes(content)
    with pytest.raises(ModelUnavailable, match=r"adapter\.gguf is") as raised:
        LocalLM(adapter=adapter).load()
    assert raised.value.fix == f"git checkout -- {adapter}"


def test_construction_loads_nothing(tmp_path: Path) -> None:
    """The app starts without the model; only calling it fails."""
    LocalLM(tmp_path / "gone.gguf")


@pytest.mark.models
@pytest.mark.parametrize("size", [0, 3_000, 1_000_000])
def test_a_truncated_file_is_reported_and_does_not_crash_the_process(tmp_path: Path, size: int) -> None:
    """llama.cpp refuses an incomplete download; its error becomes our message."""
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(packaged_gguf().read_bytes()[:size])
    with pytest.raises(ModelUnavailable, match=r"cut\.gguf is damaged"):
        LocalLM(cut).load()


@pytest.fixture(scope="module")
def model() -> LocalLM:
    return LocalLM(adapter=SHIPPED / "questions" / "adapter.gguf")


@pytest.mark.models
def test_completion_is_greedy_and_ends_before_the_stop(model: LocalLM) -> None:
    """The same prompt gives the same text, without the stop string."""
    texts = {model.complete("One, two, three,", max_tokens=8, stop=(" six",)) for _ in range(2)}
    assert texts == {" four, five,"}


@pytest.mark.models
def test_the_adapter_is_applied_to_adapted_completions_only(model: LocalLM) -> None:
    """In any order, because questions and paraphrases of a run share the model."""
    prompt = "Claim: Macbeth was written by Goethe.\nQuestion: Who wrote Macbeth?\nAnswer: Shakespeare\n"
    adapted, plain = (each.complete(prompt, max_tokens=12, stop=("\n",)) for each in (model.adapted, model))
    assert adapted.startswith("Verdict:") and not plain.startswith("Verdict:")
    assert LocalLM().complete(prompt, max_tokens=12, stop=("\n",)) == plain


@pytest.mark.models
def test_usage_is_reported(model: LocalLM) -> None:
    events = []
    with listening(events.append):
        model.complete("One, two, three,", max_tokens=4)
    usage = events[0].usage
    assert (usage.calls, usage.completion_tokens) == (1, 4)
    assert usage.prompt_tokens >= 4


@pytest.mark.models
def test_the_demonstrations_of_two_prompt_kinds_are_evaluated_once_and_both_cached(model: LocalLM) -> None:
    """Transcripts and paraphrases alternate in a run; only the new end of a prompt is evaluated."""
    families = ["Claim: the Nile is long. Question: how long? " * 6, "Reply, after an answer, with what is left. " * 6]
    for shown in families:
        model.complete(f"{shown}Claim: Paris is a city.", max_tokens=1)
    server, _ = model._engine()
    for shown in families:
        prompt = f"{shown}Statement: Nairobi is one."
        used = server.handle_completions({"prompt": prompt, "n_predict": 1, "cache_prompt": True})["usage"]
        assert used["prompt_tokens_details"]["cached_tokens"] >= used["prompt_tokens"] - 10 > 40


@pytest.mark.models
def test_a_prompt_that_is_too_long_fails_the_call(model: LocalLM) -> None:
    """The model keeps working afterwards."""
    with pytest.raises(CallFailed, match="context"):
        model.complete("word " * 5_000, max_tokens=4)
    assert model.complete("One, two, three,", max_tokens=2)


@pytest.mark.models
def test_a_prompt_that_fills_the_shared_cache_changes_no_other_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three prompts share one cache; the longest that fits displaces the others' prefixes."""
    monkeypatch.setattr(llama_cpp, "CONTEXT_TOKENS", 256)  # else the long prompt takes half a minute
    model = LocalLM()
    prompts = [f"{kind} {'The sky is blue. ' * 11}One, two, three," for kind in ("First.", "Then.", "Again.")]
    for _ in range(2):
        assert [model.complete(prompt, max_tokens=2) for prompt in prompts] == [" four,"] * 3
        assert model.complete("word " * 240, max_tokens=4)


@pytest.mark.models
def test_two_threads_get_their_own_texts(model: LocalLM) -> None:
    """Concurrent calls are serialized and never mix their texts."""
    prompts = ("One, two, three,", "Monday, Tuesday, Wednesday,")
    alone = {prompt: model.complete(prompt, max_tokens=2) for prompt in prompts}
    got: dict[str, str] = {}

    def ask(prompt: str) -> None:
        got[prompt] = model.complete(prompt, max_tokens=2)

    threads = [threading.Thread(target=ask, args=(prompt,)) for prompt in prompts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == alone
    assert len(set(alone.values())) == 2


@pytest.mark.models
def test_nothing_is_written_to_stderr(model: LocalLM, capfd: pytest.CaptureFixture[str]) -> None:
    """The engine's own log is suppressed."""
    LocalLM().complete("One,", max_tokens=1)
    assert capfd.readouterr().err == ""


@pytest.mark.models
def test_questions_of_the_real_model_follow_from_the_answers(model: LocalLM) -> None:
    """The second question names what only the first answer provided, and changes with it."""
    generator = LocalQuestionGenerator(model.adapted)
    claim = Claim("The author of Frankenstein was born in the same city as Virginia Woolf.")
    first = generator.next_question(claim, (), ())
    assert first is not None and "Frankenstein" in first.text
    asked = set()
    for author in ("Mary Shelley", "Bram Stoker"):
        second = generator.next_question(claim, (Hop(1, first, Answer(author), HopStatus.KEPT),), ())
        assert second is not None and author in second.text
        asked.add(second.text)
    assert len(asked) == 2


@pytest.mark.models
def test_the_real_model_never_repeats_itself_or_the_claim(model: LocalLM) -> None:
    """After each rejected question the next one is new, and none is the claim with a question mark."""
    generator = LocalQuestionGenerator(model.adapted)
    claim, asked = Claim("Vincent van Gogh was born in Norway."), []
    while (question := generator.next_question(claim, (), asked)) and len(asked) < 4:
        assert question not in [hop.question for hop in asked]
        assert question != Question("Was Vincent van Gogh born in Norway?")
        asked.append(Hop(len(asked) + 1, question, Answer(None), HopStatus.SET_ASIDE))
    assert asked
