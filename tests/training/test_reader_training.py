"""Training the reader on a tiny BERT: it learns spans and "no answer", and resumes."""

import itertools
import json
import random
from dataclasses import replace

import pytest
import torch
from app.backends.local.reader import SpanReader, unpack
from app.backends.local.reader_windows import tokenizer_from
from safetensors.torch import load_file

from app.backends.corpus.registry import Article
from app.domain.errors import InvalidInput
from app.domain.model import Passage, Question
from research.training.corpus_questions import corpus_examples
from research.training.reader import ReaderSettings, items_of, save, train
from research.training.reader_decision import Read, decide, figures, threshold_for
from research.training.reader_run import starting_point
from research.training.squad import Example, cut, elsewhere, squad_examples
from tests.tiny import tiny_bert

COLOURS = ("red", "blue", "green", "black", "white", "brown")
ANIMALS = ("cat", "dog", "cow", "pig")
WORDS = " ".join((*COLOURS, *ANIMALS, "what", "colour", "is", "the", "old", "farm"))
SETTINGS = ReaderSettings(
    learning_rate=3e-3,
    warmup_steps=5,
    batch_size=8,
    frozen_layers=0,
    elsewhere=0,
    corpus_questions=0,
    checkpoint_every=10,
)


def farm(held_out: bool, count: int = 240) -> list[Example]:
    """Return animals with their colours; for every third only the age is given."""
    rng = random.Random(held_out)
    made = []
    for at in range(count):
        animal, colour = rng.choice(ANIMALS), rng.choice(COLOURS)
        text = f"the {animal} is {'old' if at % 3 == 0 else colour}"
        place = None if at % 3 == 0 else (text.index(colour), len(text))
        answers = () if at % 3 == 0 else (colour,)
        made.append(Example("squad", f"what colour is the {animal}?", "farm", text, place, answers, held_out))
    return made


def in_order(question, passages):
    return passages


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    examples = [*farm(False), *farm(True, 60)]
    model, tokenizer = tiny_bert(WORDS)
    card = train(examples, model, tokenizer, folder, SETTINGS)
    save(model, tokenizer, folder)
    return folder, card, decide(folder, [*farm(True, 60)], in_order, threads=1, others=1)


def test_a_trained_reader_finds_answers_and_recognizes_unanswerable_questions(trained):
    folder, _, _ = trained
    reader, asked = SpanReader(folder, 1), Question("what colour is the pig?")
    assert reader.read(asked, [Passage("the pig is black", "farm", "test")]).text == "black"
    assert reader.read(asked, [Passage("the pig is old", "farm", "test")]).text is None


def test_the_decision_is_fitted_and_measured_on_separate_halves_of_the_held_out_data(trained):
    folder, card, metrics = trained
    written = json.loads((folder / "metrics.json").read_text())
    assert card["questions"] == 240
    alone = metrics["squad, own passage"]
    assert written["fitted_on"]["weights"] + alone["all"]["n"] == 60
    assert written["squad, own passage"] == alone
    assert alone["answerable"]["F1"] > 80
    assert alone["unanswerable"]["F1"] > 80


def test_the_curve_trades_unanswerable_accuracy_against_answerable_accuracy(trained):
    folder, _, metrics = trained
    curve = json.loads((folder / "metrics.json").read_text())["curve"]
    alone, answered = ([point[part] for point in curve] for part in ("unanswerable", "answerable"))
    assert alone == sorted(alone)
    assert answered == sorted(answered, reverse=True)
    assert max(answered) >= metrics["squad, own passage"]["answerable"]["F1"]


def test_the_threshold_minimizes_the_largest_shortfall_from_the_targets():
    right = [Read(True, 1.0, 1.0, True, score) for score in (0.2, 0.5, 0.8, 0.9)]
    wrong = [Read(False, 0.0, 0.0, True, score) for score in (0.1, 0.1, 0.3, 0.6)]
    # Below 0.1 every question gets an answer, above 0.5 half of the answerable ones get none.
    assert 0.1 < threshold_for(right + wrong) <= 0.5
    assert figures(right + wrong, 0.4)["answerable"] == {"n": 4, "EM": 75.0, "F1": 75.0, "right passage": 75.0}
    assert figures(right + wrong, 0.4)["unanswerable"]["F1"] == 75.0


def test_resumed_training_ends_with_the_same_weights_as_an_uninterrupted_run(tmp_path):
    examples = farm(False, 80)
    (whole, tokenizer), (parts, _) = tiny_bert(WORDS), tiny_bert(WORDS)
    settings = replace(SETTINGS, checkpoint_every=5)
    train(examples, whole, tokenizer, tmp_path / "whole", settings)

    class Interrupted(Exception):
        """Raised in the middle of training, like a machine failure."""

    def interrupt(*_):
        interrupt.calls += 1
        if interrupt.calls > 8:
            raise Interrupted

    interrupt.calls = 0
    handle = parts.register_forward_hook(interrupt)
    with pytest.raises(Interrupted):
        train(examples, parts, tokenizer, tmp_path / "parts", settings)
    handle.remove()
    train(examples, parts, tokenizer, tmp_path / "parts", settings)
    for name, weight in whole.state_dict().items():
        assert torch.allclose(weight, parts.state_dict()[name], atol=1e-6), name


def test_a_time_limit_ends_training_before_its_last_step(tmp_path):
    model, tokenizer = tiny_bert(WORDS)
    seconds = itertools.count()
    card = train(farm(False), model, tokenizer, tmp_path, replace(SETTINGS, minutes=0.1), lambda: float(next(seconds)))
    assert card["steps"] == 6 < card["of_steps"], "the seventh began after six seconds and was not learned from"


def test_repeating_a_finished_training_does_nothing(tmp_path):
    settings = replace(SETTINGS, checkpoint_every=1)
    (model, tokenizer), (again, _) = tiny_bert(WORDS), tiny_bert(WORDS)
    card = train(farm(False, 40), model, tokenizer, tmp_path, settings)
    assert train(farm(False, 40), again, tokenizer, tmp_path, settings)["steps"] == card["steps"] == card["of_steps"]
    assert all(torch.equal(weight, again.state_dict()[name]) for name, weight in model.state_dict().items())


@pytest.mark.parametrize("other", [{"settings": replace(SETTINGS, seed=8)}, {"start": "another reader"}])
def test_a_checkpoint_of_another_training_is_refused_and_one_with_more_minutes_is_not(tmp_path, other):
    model, tokenizer = tiny_bert(WORDS)
    train(farm(False, 80), model, tokenizer, tmp_path, SETTINGS)
    train(farm(False, 80), model, tokenizer, tmp_path, replace(SETTINGS, minutes=99))
    with pytest.raises(InvalidInput, match="is of other data"):
        train(farm(False, 80), model, tokenizer, tmp_path, **{"settings": SETTINGS} | other)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tiny_bert(WORDS)[1].save(str(path))
    return tokenizer_from(path)


def test_continued_training_skips_the_first_stage_and_uses_every_unanswerable_question(tmp_path):
    model, tokenizer = tiny_bert(WORDS)
    card = train(farm(False), model, tokenizer, tmp_path, replace(SETTINGS, first_questions=0, answerable_questions=40))
    assert card["of_steps"] * SETTINGS.batch_size == 40 + 80


def test_continued_training_starts_from_the_quantized_weights(trained):
    folder, _, _ = trained
    model, _, name = starting_point(folder)
    stored = unpack(load_file(folder / "model.safetensors"))
    assert name == SpanReader(folder, 1).load()[-1]
    assert all(torch.equal(weight, stored[at]) for at, weight in model.state_dict().items())
    assert all(weight.requires_grad for weight in model.parameters())


def test_answer_tokens_map_back_to_the_answers_characters(tokenizer):
    text = "the red cat and William's (brown) dog"
    start = text.index("William's")
    example = Example("squad", "whose dog?", "farm", text, (start, start + len("William's (brown)")), ("x",), False)
    ((window, first, last),) = items_of(example, tokenizer)
    assert text[window.word_ranges[first][0] : window.word_ranges[last][1]] == "William's (brown)"


def test_a_window_without_the_answer_is_trained_as_unanswerable(tokenizer):
    text = "the cat is red " + "and the dog is blue " * 80
    items = items_of(Example("squad", "what?", "", text, (11, 14), ("red",), False), tokenizer)
    assert [first >= 0 for _, first, _ in items] == [True, *[False] * (len(items) - 1)]
    assert len(items) > 1


@pytest.mark.parametrize("words", [3, 12, 40])
def test_cutting_keeps_the_answer_and_about_the_requested_number_of_words(words):
    rng = random.Random(words)
    text = " ".join(f"w{at}" for at in range(60))
    place = (text.index("w30"), text.index("w32") + 3)
    for _ in range(20):
        short = cut(Example("squad", "q", "t", text, place, ("w30 w31 w32",), False), words, rng)
        assert short.text[slice(*short.place)] == "w30 w31 w32"
        assert short.text in text
        assert abs(len(short.text.split()) - words) <= 1


def test_a_text_for_an_unanswerable_question_is_cut_around_its_best_match():
    text = " ".join(["nothing"] * 50 + ["elephants"] + ["nothing"] * 50)
    short = cut(Example("squad", "Where do elephants sleep?", "t", text, None, (), False), 10, random.Random(0))
    assert "elephants" in short.text or short.text.startswith(" nothing")
    assert short.place is None
    assert len(short.text.split()) <= 11


def squad_file(folder, name, context, questions):
    row = {"title": "A_title", "paragraphs": [{"context": context, "qas": questions}]}
    (folder / name).write_text(json.dumps({"data": [row]}))


def test_the_occurrence_whose_context_matches_the_question_is_the_answer(tmp_path):
    context = "In 1066 a comet was seen. " + "x " * 80 + "William won the battle of Hastings in 1066."
    asked = {
        "id": "1",
        "question": "When was the battle of Hastings?",
        "answers": [{"text": "1066", "answer_start": 3}],
    }
    never = {"id": "2", "question": "Who lost the comet?", "answers": [], "is_impossible": True}
    squad_file(tmp_path, "squad_dev_v1.1.json", context, [asked])
    squad_file(tmp_path, "squad_dev_v2.0.json", context, [asked, never])
    answerable, unanswerable = squad_examples(tmp_path)
    assert answerable.place == (context.rindex("1066"), context.rindex("1066") + 4)
    assert answerable.title == "A title"
    assert unanswerable.place is None


def test_a_question_is_never_paired_with_another_paragraph_containing_its_answer():
    texts = ("Bern is in Switzerland.", "Bern, the Swiss capital.", "Thun lies at a lake.")
    asked = Example("squad", "What is the capital?", "Cities", texts[0], (0, 4), ("Bern", "bern city"), False)
    examples = [asked, *(replace(asked, text=text, place=None, answers=()) for text in texts[1:])]
    made = [one for seed in range(20) for one in elsewhere(examples, 1, random.Random(seed))]
    assert {(one.text, one.place, one.answers) for one in made} == {(texts[2], None, ())}


DESCRIBED = {
    "Ada Stone": ("English poet (1801–1860)", "Ada Stone was a poet born in Basel.", "People"),
    "Max Hill": ("German actor (born 1950)", "Max Hill is an actor.", "People"),
    "The Tower (novel)": ("1850 novel by Ada Stone", "The Tower is a novel.", "Arts"),
    "Bern": ("Capital of Switzerland", "Bern is the capital of Switzerland.", "Geography"),
    "Thun": ("City in Bern, Switzerland", "Thun lies at a lake.", "Geography"),
}
ARTICLES = [Article(title, f"{told}. {text}", told, topic) for title, (told, text, topic) in DESCRIBED.items()]


def test_corpus_questions_are_answered_by_the_descriptions():
    made = {}
    for seed in range(40):
        for example in corpus_examples(ARTICLES, random.Random(seed)):
            if example.place:
                assert example.text[slice(*example.place)] == example.answers[0]
                made[example.question] = example.answers[0]
    expected = {
        "When was Ada Stone born?": "1801",
        "When did Ada Stone die?": "1860",
        "What nationality was Ada Stone?": "English",
        "What was Ada Stone's occupation?": "poet",
        "Where was Ada Stone born?": "Basel",
        "Who wrote The Tower?": "Ada Stone",
        "What is the capital of Switzerland?": "Bern",
        "In which country is Thun?": "Switzerland",
        "Who was Ada Stone?": "English poet",
    }
    assert {question: made.get(question) for question in expected} == expected


def test_a_living_person_has_no_year_of_death():
    made = [e for seed in range(40) for e in corpus_examples(ARTICLES, random.Random(seed))]
    died = [e for e in made if e.question == "When did Max Hill die?"]
    assert died
    assert all(e.place is None for e in died)
