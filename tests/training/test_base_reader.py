"""Training a reader from another base model: it learns spans and "no answer", and loads like a reader from the hub."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from app.backends.local.hub_reader import HubReader
from app.domain.errors import InvalidInput, ModelUnavailable
from app.domain.model import Passage, Question
from research.training.base_reader import items_of, train
from research.training.fine_tuning import Tuning
from research.training.squad import Example
from tests.tiny import tiny_llama, tiny_nli, tiny_qa, tiny_t5

COLOURS, ANIMALS = ("red", "blue", "green", "black"), ("cat", "dog", "cow")
WORDS = " ".join((*COLOURS, *ANIMALS, "what", "colour", "is", "the", "old", "farm"))
TUNING = Tuning(epochs=6, batch_size=8, learning_rate=3e-3, checkpoint_every=20)


def farm(held_out: bool, count: int) -> list[Example]:
    """Return animals with their colours; for every third only the age is given."""
    rng = random.Random(held_out)
    made = []
    for at in range(count):
        animal, colour = rng.choice(ANIMALS), rng.choice(COLOURS)
        text = f"the {animal} is {'old' if at % 3 == 0 else colour}"
        place = None if at % 3 == 0 else (text.index(colour), len(text))
        answers = (colour,) if place else ()
        made.append(Example("squad", f"what colour is the {animal}?", "farm", text, place, answers, held_out))
    return made


@pytest.fixture(scope="module", params=["bert", "roberta"])
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    """A reader trained from a base model of each family, without a head or with another one, as after pre-training."""
    folder = tmp_path_factory.mktemp(request.param)
    base = tiny_nli(folder / "base", words=WORDS, family=request.param)
    card = train([*farm(False, 160), *farm(True, 30)], str(base), folder / "out", TUNING)
    return folder / "out", card


def test_a_trained_reader_finds_answers_and_recognizes_unanswerable_questions(trained) -> None:
    reader, asked = HubReader(str(trained[0])), Question("what colour is the dog?")
    assert reader.read(asked, [Passage("the dog is green", "farm", "test")]).text == "green"
    assert reader.read(asked, [Passage("the dog is old", "farm", "test")]).text is None


def test_the_card_records_base_data_and_held_out_metrics(trained) -> None:
    out, card = trained
    assert json.loads((out / "training.json").read_text()) == card
    assert (card["questions"], card["held_out"]["n"], card["steps"]) == (160, 30, 6 * 160 // 8)
    assert card["held_out"]["F1"] > 80
    assert not (out / "checkpoint.pt").exists()


def test_target_tokens_decode_to_the_answer_and_other_windows_target_the_first_token(tmp_path: Path) -> None:
    weights = HubReader(str(tiny_qa(tmp_path, WORDS))).load()
    text = "the cat is old. " * 120 + "the dog is William's (red) one. " + "the cow is old. " * 120
    place = (text.index("William's"), text.index("(red)") + 5)
    windows = list(items_of(Example("squad", "what?", "farm", text, place, ("x",), False), weights))
    pointing = [(window, first, last) for window, first, last in windows if first]
    assert pointing and len(pointing) < len(windows)
    for window, first, last in pointing:
        assert text[window.word_ranges[first][0] : window.word_ranges[last][1]] == "William's (red)"


@pytest.mark.parametrize(
    ("make", "sentence"), [(tiny_t5, "does not begin its input"), (tiny_llama, "its weights lack")]
)
def test_a_base_model_that_cannot_be_a_reader_is_refused(tmp_path: Path, make, sentence: str) -> None:
    """Their types could have the head, but their input starts with no token that could mean "no answer"."""
    with pytest.raises(ModelUnavailable, match=sentence) as raised:
        train(farm(False, 8), str(make(tmp_path / "base")), tmp_path / "out", TUNING)
    assert "--base" in raised.value.fix


def test_without_training_questions_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no question"):
        train(farm(True, 8), str(tmp_path), tmp_path / "out", TUNING)
    assert not (tmp_path / "out").exists()
