"""A model given by name or folder is found on this machine or the reason is reported; nothing downloads unasked."""

import pytest

from app.backends.hub import fetch, find_model_folder, require_model_folder, why_missing
from app.domain.errors import ModelUnavailable


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    """An empty cache, and a hub URL where nothing listens."""
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
    assert require_model_folder(str(model), "x") == model


@pytest.mark.parametrize(
    ("removed", "words"), [("config.json", "no config.json"), ("model.safetensors", "safetensors")]
)
def test_a_missing_file_of_a_model_folder_is_named(model, removed, words):
    (model / removed).unlink()
    assert words in why_missing(str(model))


def test_a_hub_model_that_was_never_fetched_is_not_available():
    assert find_model_folder("google/flan-t5-base") is None
    assert why_missing("google/flan-t5-base") == "google/flan-t5-base is not on this machine yet."
    with pytest.raises(ModelUnavailable, match="not on this machine yet"):
        require_model_folder("google/flan-t5-base", "fetching it")


@pytest.mark.parametrize(
    ("name", "words"), [("google/flan-t5-base", "could not be fetched"), ("no/such/name", "not a valid name")]
)
def test_a_failed_fetch_is_reported_in_one_sentence(name, words):
    with pytest.raises(ModelUnavailable, match=words):
        fetch(name)
