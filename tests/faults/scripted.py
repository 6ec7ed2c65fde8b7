"""The real application with slow scripted runs, for faults that do not concern models."""

from __future__ import annotations

import os
from dataclasses import replace

from flask import Flask

from app import create_app
from app.backends.corpus.bm25 import Bm25Retriever
from app.bootstrap import index_folder
from app.config.settings import load_settings
from app.domain.model import Answer, Claim, Context, Question, RunOptions, Span
from app.domain.ports import Retriever
from tests.fakes import FakeContainer, scripted_container, scripted_strategy


def scripted_app() -> Flask:
    """Two kept hops, then SUPPORTED. Each step of a run takes STEP_SECONDS; a run has eleven."""
    container = scripted_container(delay=float(os.environ.get("STEP_SECONDS", "0.1")))
    return create_app(container=container, commands=False)


def searching_app() -> Flask:
    """The same, but every answer is searched for in the real index of the instance folder."""
    settings = load_settings()
    return create_app(settings, Searching(Bm25Retriever(index_folder(settings, "vital"))), commands=False)


class Searching(FakeContainer):
    """A scripted container whose answerer searches a real index."""

    def __init__(self, retriever: Retriever) -> None:
        super().__init__()
        self.answerer = FirstWord(retriever)

    def strategy_for(self, options: RunOptions):
        """Return the scripted strategy with the searching answerer."""
        return replace(scripted_strategy(), answerer=self.answerer)


class FirstWord:
    """Answers with the first word of the best passage for the question."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    def answer(self, question: Question, claim: Claim, context: Context = ()) -> Answer:
        passages = self._retriever.retrieve(question.text, 3)
        cited = Span(passages[0], 0, len(passages[0].text.split()[0]))
        return Answer(cited.text, cited, passages, "retriever-reader")
