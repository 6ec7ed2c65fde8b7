"""A model by name or folder is on this machine or it is said why not; nothing is downloaded unasked."""

import pytest

from app.backends.local.loading import fetch, folder_of, model_folder, why_missing
from app.domain.errors import ModelUnavailable


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    """An empty cache, and a hub at an address where nothing listens."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"")
    return folder


def test_a_folder_with_a_configuration_and_safetensors_is_a_model(model):
    assert why_missing(str(model)) == ""
    assert model_folder(str(model), "x") == model


@pytest.mark.parametrize(
    ("removed", "words"), [("config.json", "no config.json"), ("model.safetensors", "safetensors")]
)
def test_a_folder_that_lacks_a_file_says_which(model, removed, words):
    (model / removed).unlink()
    assert words in why_missing(str(model))


def test_pickled_weights_do_not_count(model):
    (model / "model.safetensors").rename(model / "pytorch_model.bin")
    assert "safetensors" in why_missing(str(model))


def test_a_folder_that_is_not_there_is_named(tmp_path):
    assert str(tmp_path / "gone") in why_missing(str(tmp_path / "gone"))


def test_a_name_of_the_hub_that_was_never_fetched_is_not_here():
    assert folder_of("google/flan-t5-base") is None
    assert why_missing("google/flan-t5-base") == "google/flan-t5-base is not on this machine yet."
    with pytest.raises(ModelUnavailable, match="not on this machine yet"):
        model_folder("google/flan-t5-base", "fetching it")


@pytest.mark.parametrize(
    ("name", "words"), [("google/flan-t5-base", "could not be fetched"), ("no/such/name", "not a name")]
)
def test_fetching_what_cannot_be_had_is_one_clear_sentence(name, words):
    with pytest.raises(ModelUnavailable, match=words):
        fetch(name)
