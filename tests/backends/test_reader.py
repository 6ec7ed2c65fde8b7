"""The extractive reader on a tiny model: exact spans, unusual input, and missing or damaged weights."""

import json
import threading
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from app.backends.local import reader as reading
from app.backends.local.reader import BestSpan, ReaderCalibration, SpanReader, is_plausible, pack, span_scores, unpack
from app.backends.local.reader_windows import MAX_TOKENS, as_batch, tokenizer_from, windows
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.model import Passage, Question
from research.training.reader import save
from tests.tiny import tiny_bert

ALWAYS = ReaderCalibration(answerable=1.0, span=0.1, rank=0.0, bias=0.0, threshold=0.0)
WHO = Question("Who wrote Hamlet?")
HAMLET = Passage("A play (1600). Hamlet was written by William Shakespeare.", "Hamlet", "test")
BERLIN = Passage("Berlin is the capital of Germany.", "Berlin", "test")


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reader")
    save(*tiny_bert(), folder)
    decide(folder, ALWAYS)
    return folder


def decide(folder, decision):
    (folder / "decision.json").write_text(json.dumps(asdict(decision)))


@pytest.fixture
def copied(weights, tmp_path):
    for file in weights.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


@pytest.fixture(scope="module")
def tokenizer(weights):
    return tokenizer_from(weights / "tokenizer.json")


def cited_exactly(answer):
    return answer.cited is not None and answer.text == answer.cited.text and answer.text.strip() == answer.text != ""


def test_an_answer_is_quoted_exactly_from_one_of_the_passages(weights):
    answer = SpanReader(weights, 1).read(WHO, [BERLIN, HAMLET])
    assert cited_exactly(answer)
    assert answer.cited.passage in (BERLIN, HAMLET)
    assert answer.retrieved == (BERLIN, HAMLET)
    assert 0 < answer.score < 1


def test_below_the_threshold_there_is_no_answer_but_the_passages_are_returned(copied):
    decide(copied, replace(ALWAYS, threshold=1.01))
    answer = SpanReader(copied, 1).read(WHO, [HAMLET])
    assert (answer.text, answer.cited, answer.retrieved) == (None, None, (HAMLET,))
    assert 0 < answer.score < 1


@pytest.mark.parametrize("passages", [[], [replace(HAMLET, text="")], [replace(HAMLET, text="  \n ")]])
def test_without_text_there_is_no_answer(weights, passages):
    assert SpanReader(weights, 1).read(WHO, passages).text is None


@pytest.mark.parametrize(
    "text",
    [
        "🎭 Hamlet 👩‍👩‍👧 wurde 🇩🇪 geschrieben",
        "哈姆雷特是威廉·莎士比亚的戏剧",
        "هاملت مسرحية لشكسبير",
        "Erdoğan'ın İstanbul'u",
        "e\u0301te\u0301",
        "😀😀😀",
    ],
)
def test_any_script_and_emoji_are_read_and_cited_exactly(weights, text):
    assert cited_exactly(SpanReader(weights, 1).read(Question("🎭 kim?"), [Passage(text, "哈姆雷特 🎭", "test")]))


def test_a_book_length_passage_is_read_around_words_of_the_question(weights):
    text = "nothing to see here. " * 4000 + "Hamlet was written by William Shakespeare. " + "and so on. " * 4000
    found = SpanReader(weights, 1).read_windows(WHO, [replace(HAMLET, text=text)])
    assert len(found) == reading.MAX_WINDOWS
    at = text.index("Hamlet was")
    assert any(window.word_ranges[-2][0] >= at >= _first(window)[0] for window, _ in found)


def _first(window):
    return next(word for word in window.word_ranges if word is not None)


def test_windows_cover_the_passage_and_each_fits_the_model(tokenizer):
    text = " ".join(f"word{at}" for at in range(600))
    made = list(windows(tokenizer, WHO.text, "Title", text))
    assert max(len(window.token_ids) for window in made) <= MAX_TOKENS
    cited = {text[slice(*word)] for window in made for word in window.word_ranges if word}
    assert cited == set(text.split())


def test_an_endless_question_leaves_room_for_the_passage(weights):
    assert cited_exactly(SpanReader(weights, 1).read(Question("why " * 5000), [HAMLET]))


def test_neither_the_title_nor_the_question_can_be_cited(tokenizer):
    (window,) = windows(tokenizer, WHO.text, "Hamlet", "A play.")
    assert {word for word in window.word_ranges if word} == {(0, 1), (2, 6), (6, 7)}


def test_a_separator_token_written_in_a_passage_is_text(tokenizer):
    (window,) = windows(tokenizer, WHO.text, "", "a [SEP] b")
    separator = tokenizer.token_to_id("[SEP]")
    assert window.token_ids.count(separator) == 2


def test_a_span_is_forward_inside_the_passage_and_bounded_in_length():
    scores = span_scores(torch.zeros(1, 60), torch.zeros(1, 60), torch.tensor([[False] * 10 + [True] * 50]))
    first, last = (scores[0] > float("-inf")).nonzero(as_tuple=True)
    assert first.min() == 10
    assert (last - first).min() == 0
    assert (last - first).max() == reading.MAX_ANSWER_TOKENS - 1


def test_padding_does_not_change_spans(weights):
    reader = SpanReader(weights, 1)
    (_, alone), *_ = reader.read_windows(WHO, [BERLIN])
    (_, beside), *_ = reader.read_windows(WHO, [BERLIN, replace(HAMLET, text=HAMLET.text * 5)])
    assert (alone.start, alone.end) == (beside.start, beside.end)
    assert alone.answerable_logit == pytest.approx(beside.answerable_logit, abs=1e-4)


def passes(model):
    """Return a list that gets the number of windows of every later forward pass of `model`."""
    made = []
    model.register_forward_hook(lambda _, given, named, output: made.append(len(output.start_logits)), with_kwargs=True)
    return made


def test_ten_passages_are_read_in_one_forward_pass(weights):
    reader = SpanReader(weights, 1)
    made = passes(reader.load()[0])
    words = "a cat sat on the mat " * 20
    reader.read(WHO, [replace(BERLIN, text=f"{words[at:]} {at}") for at in range(10)])
    assert len(made) == 1
    assert made[0] >= 10


def test_the_retrieval_rank_is_weighted_by_the_decision():
    found = BestSpan(0, 1, answerable_logit=1.0, span_log_probability=-1.0)
    ranked = replace(ALWAYS, rank=-0.5)
    assert ranked.probability(found, 0) > ranked.probability(found, 1)
    assert ALWAYS.probability(found, 0) == ALWAYS.probability(found, 1)
    assert ALWAYS.probability(replace(found, answerable_logit=1e9), 0) == pytest.approx(1)


@pytest.mark.parametrize(
    ("question", "answer", "can_be"),
    [
        ("Where was Shakespeare born?", "1564–1616", False),
        ("WHO won?", "42", False),
        ("Who was it?", "Louis XIV", True),
        ("哪里?", "北京", True),
        ("Where is it?", "北京", True),
        ("When did the one who wrote it die?", "1616", True),
    ],
)
def test_who_and_where_questions_are_not_answered_with_a_bare_number(question, answer, can_be):
    assert is_plausible(question, answer) is can_be


@pytest.mark.parametrize("name", reading.FILES)
def test_a_missing_file_is_named_with_its_fix(copied, name):
    (copied / name).unlink()
    with pytest.raises(ModelUnavailable, match=name) as caught:
        SpanReader(copied, 1).read(WHO, [HAMLET])
    assert caught.value.fix == f"git checkout -- {copied}"


@pytest.mark.parametrize("name", reading.FILES)
def test_a_damaged_file_makes_the_reader_unavailable(copied, name):
    (copied / name).write_bytes((copied / name).read_bytes()[:20])
    with pytest.raises(ModelUnavailable, match="damaged"):
        SpanReader(copied, 1).load()


def test_nan_weights_fail_the_call(copied):
    packed = load_file(copied / "model.safetensors")
    packed["qa_outputs.bias"][:] = float("nan")
    save_file(packed, copied / "model.safetensors")
    with pytest.raises(CallFailed, match="not a number"):
        SpanReader(copied, 1).read(WHO, [HAMLET])


def test_concurrent_readers_get_their_own_answers_from_one_model(weights):
    reader = SpanReader(weights, 1)
    passages = {"b": BERLIN, "h": HAMLET}
    together = {}

    def read(name):
        together[name] = reader.read(WHO, [passages[name]])

    threads = [threading.Thread(target=read, args=(name,)) for name in passages]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == {name: SpanReader(weights, 1).read(WHO, [passage]) for name, passage in passages.items()}


def test_quantization_keeps_each_weight_within_half_a_step():
    weights = {"matrix": torch.randn(5, 40), "vector": torch.randn(7)}
    packed = pack(weights)
    again = unpack(packed)
    assert packed["matrix"].dtype == torch.int8
    assert torch.equal(again["vector"], weights["vector"])
    step = weights["matrix"].abs().amax(dim=1, keepdim=True) / 127
    assert ((again["matrix"] - weights["matrix"]).abs() <= step / 2 + 1e-6).all()


def test_a_batch_marks_only_the_text_as_answerable(tokenizer):
    group = [*windows(tokenizer, "a?", "b", "c d"), *windows(tokenizer, "a?", "", "c")]
    batch = as_batch(group, pad=0)
    assert batch["answerable_tokens"].sum(dim=1).tolist() == [2, 1]
    assert batch["attention_mask"].sum(dim=1).tolist() == [len(window.token_ids) for window in group]


SHIPPED = Path(__file__).parents[2] / "app" / "models" / "reader"
PLAY = Passage(
    "Tragedy by William Shakespeare. The Tragedy of Hamlet is a tragedy written by William Shakespeare around 1600.",
    "Hamlet",
    "test",
)
DARWIN = Passage(
    "English naturalist (1809–1882). Charles Robert Darwin was an English naturalist, geologist, and biologist.",
    "Charles Darwin",
    "test",
)


@pytest.mark.models
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who wrote Hamlet?", "William Shakespeare"),
        ("What nationality was Charles Darwin?", "English"),
        ("When did Charles Darwin die?", "1882"),
        ("Where was Charles Darwin born?", None),
        ("What is the capital of Germany?", "Berlin"),
        ("What is the boiling point of gold?", None),
    ],
)
def test_the_bundled_reader_answers_plain_questions_and_no_others(question, answer):
    read = SpanReader(SHIPPED, 2).read(Question(question), [PLAY, DARWIN, BERLIN])
    assert read.text == answer
