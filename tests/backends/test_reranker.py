"""The cross-encoder ranks passages, and reports when its model is missing."""

from __future__ import annotations

import shutil
import sys

import pytest

from app.backends.local.reranker import CrossEncoderReranker, packaged_reranker
from app.domain.errors import ModelUnavailable
from app.domain.model import Passage

QUESTION = "Who wrote Hamlet?"
HAMLET = Passage("The Tragedy of Hamlet is a play written by William Shakespeare around 1600.", "Hamlet", "test")
OTHELLO = Passage("Othello is a tragedy about a Moorish general in Venice.", "Othello", "test")
VILLAGE = Passage("A hamlet is a small human settlement.", "Hamlet (place)", "test")
GRAVITY = Passage("Gravity is an interaction between all things with mass.", "Gravity", "test")


@pytest.fixture(scope="module")
def reranker():
    return CrossEncoderReranker(threads=1)


@pytest.mark.models
class TestRanking:
    def test_the_answering_passage_ranks_first_and_the_unrelated_one_last(self, reranker):
        ranked = reranker.rerank(QUESTION, [GRAVITY, VILLAGE, OTHELLO, HAMLET])
        assert (ranked[0].title, ranked[-1].title) == ("Hamlet", "Gravity")
        scores = [passage.score for passage in ranked]
        assert scores == sorted(scores, reverse=True) and scores[0] > 0 > scores[-1]

    def test_a_passages_score_does_not_depend_on_the_others(self, reranker):
        alone = reranker.rerank(QUESTION, [OTHELLO])[0].score
        beside = {p.title: p.score for p in reranker.rerank(QUESTION, [HAMLET, OTHELLO, GRAVITY, VILLAGE])}
        assert beside["Othello"] == pytest.approx(alone)

    def test_a_text_longer_than_the_window_is_scored_by_its_beginning(self, reranker):
        long = Passage(HAMLET.text + " More was said." * 2000, "Hamlet", "test")
        assert reranker.rerank(QUESTION, [GRAVITY, long])[0].title == "Hamlet"

    @pytest.mark.parametrize("text", ["", "word " * 10_000, "😀😀😀", "Лев Толстой 孔子"])
    def test_unusual_passages_are_ranked(self, reranker, text):
        assert [each.title for each in reranker.rerank(QUESTION, [Passage(text, "", "test"), HAMLET])] == ["Hamlet", ""]


@pytest.mark.models
class TestUnavailable:
    @pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
    def test_a_damaged_file_is_named_with_its_fix(self, tmp_path, name):
        folder = tmp_path / "reranker"
        folder.mkdir()
        for each in ("model.onnx", "tokenizer.json"):
            shutil.copy(packaged_reranker() / each, folder)
        (folder / name).write_bytes(b"cut off")
        with pytest.raises(ModelUnavailable, match=r"reranker is damaged.*make models"):
            CrossEncoderReranker(folder).rerank(QUESTION, [HAMLET])

    def test_a_missing_library_is_not_called_a_damaged_model(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
        with pytest.raises(ModelUnavailable, match=r"cannot be imported.*onnxruntime.*make install"):
            CrossEncoderReranker(tmp_path).load()
