"""The answerers. A new one is a file here with a `KIND`, and its name in `ANSWERERS` (app/domain/model.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from app.domain.model import ANSWERERS, Need, Origin, RunOptions
from app.domain.ports import PageReader, QuestionAnswerer, Reader, Reranker, Retriever, TextGenerator, WebSearch

if TYPE_CHECKING:
    from app.config.settings import Settings
    from app.modules.answerers.web_search import DocumentSettings


@dataclass(frozen=True)
class AnswererParts:
    """The objects of one run that answerers are built from."""

    model: TextGenerator | None  # the run's language model; None if it has none
    reader: Reader
    recitation_reader: Reader | None  # None if the language model reads what it recites
    reranker: Reranker
    seq2seq: TextGenerator
    retriever: Callable[[], Retriever]  # over the run's corpora
    documents: Callable[[], tuple[WebSearch, PageReader, Origin]]  # the search engine, its pages, their origin
    document_settings: DocumentSettings
    prefetched_pages: int  # pages opened while a document is chosen
    as_papelo: bool = False  # whether documents are chosen and read with the prompts that Papelo prints

    def demand_model(self) -> TextGenerator:
        """Return the run's language model. Raises KeyError without one, which the check of options excludes."""
        if self.model is None:
            raise KeyError("model")
        return self.model


@dataclass(frozen=True)
class AnswererKind:
    """An answerer as an option of a run."""

    title: str
    needs: tuple[Need, ...]
    describe: Callable[[RunOptions, Settings], str]  # its description in reports; models are named, not their folders
    build: Callable[[AnswererParts], QuestionAnswerer]
    asks_model: bool = False  # whether it calls the run's language model, if there is one


def kind_of(name: str) -> AnswererKind:
    """Return the answerer of that name. Raises KeyError for an unknown one."""
    if name not in ANSWERERS:
        raise KeyError(name)
    kind: AnswererKind = import_module(f"{__name__}.{name.replace('-', '_')}").KIND
    return kind
