"""Have sentences rewritten as claims that are understandable alone, and questions as statements, by a language model.

A claim with a name or number that the text lacks is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.domain.ports import Completer, TextGenerator
from app.modules.judging import is_grounded
from app.modules.prompting import Delimiters, one_line, template
from app.text.claims import MAX_CLAIM_LENGTH, MIN_CLAIM_LENGTH, NOT_CHECKABLE, Candidate, without_marks

SENTENCES_PER_CALL = 25
MAX_TOKENS_PER_SENTENCE = 60
MAX_CLAIMS_PER_SENTENCE = 3
MAX_CHARACTERS_BEFORE = 600
"""Of the text before a sentence that the local model rewrites."""
TURN, END_OF_TURN = "<|", "<|im_end|>"
"""The beginning of every special token of the local model, and the one that ends a reply."""
_LINE = re.compile(
    r"^[^\w\n]{0,9}(?:(?:sentence|claim|statement) )?(\d{1,3})(?:[^\w\n]{1,9}(?<=\s)|\W{0,4}: ?)(?:[-–—] )?(\S.*)$",
    re.MULTILINE | re.IGNORECASE,
)
"""A numbered line, as text, Markdown or a field of a JSON object."""


@dataclass(frozen=True)
class PromptedClaimExtractor:
    """Rewrites sentences with a language model. Propagates errors of the model."""

    model: TextGenerator

    def decontextualise(self, sentences: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """Return the claims of the sentences, each understandable alone; sentences that cannot be checked get a note.

        A sentence of several claims is returned as often. One without an accepted rewrite is unchanged.
        """
        found: list[Candidate] = []
        for at in range(0, len(sentences), SENTENCES_PER_CALL):
            found += self._rewritten(sentences[at : at + SENTENCES_PER_CALL], " ".join(s.claim for s in sentences))
        return tuple(found)

    def statement(self, question: str) -> str | None:
        """Return the statement behind a yes-or-no question; None for others and for an unaccepted reply."""
        delimiters = Delimiters.for_texts([question])
        prompt = template("statement").substitute(notice=delimiters.notice, question=delimiters(question))
        reply = one_line(self.model.complete(prompt, max_tokens=MAX_TOKENS_PER_SENTENCE, stop=("\n",)))
        return reply if not _is_none(reply) and _is_claim_of(reply, question) else None

    def _rewritten(self, part: Sequence[Candidate], text: str) -> list[Candidate]:
        delimiters = Delimiters.for_texts([each.claim for each in part])
        numbered = "\n".join(f"{number}. {delimiters(each.claim)}" for number, each in enumerate(part, 1))
        prompt = template("claims_of_text").substitute(notice=delimiters.notice, sentences=numbered)
        reply = self.model.complete(prompt, max_tokens=MAX_TOKENS_PER_SENTENCE * len(part))
        lines: dict[int, list[str]] = {}
        for number, rewrite in _LINE.findall(reply):
            lines.setdefault(int(number), []).append(without_marks(one_line(rewrite).strip('", ')))
        return [claim for number, each in enumerate(part, 1) for claim in _claims(each, lines.get(number, []), text)]


@dataclass(frozen=True)
class LocalClaimExtractor:
    """Rewrites single sentences with the base of the local model, an instruct model with ChatML. Propagates errors."""

    model: Completer

    def decontextualise(self, sentence: Candidate, before: str) -> tuple[Candidate, ...]:
        """Return the claims of the sentence that follows the text `before`; the sentence itself if none is accepted."""
        sent = {"before": one_line(before)[-MAX_CHARACTERS_BEFORE:], "sentence": one_line(sentence.claim)}
        prompt = template("stands_alone").substitute({name: text.replace(TURN, "") for name, text in sent.items()})
        tokens = MAX_TOKENS_PER_SENTENCE * 2
        reply = self.model.complete(f"{prompt}\n", max_tokens=tokens, stop=(END_OF_TURN, "\n\n"))
        found = (replace(sentence, claim=without_marks(one_line(line)), note="") for line in reply.splitlines())
        accepted = [each for each in found if _is_claim_of(each.claim, f"{before} {sentence.claim}")]
        return tuple(dict.fromkeys(accepted[:MAX_CLAIMS_PER_SENTENCE])) or (sentence,)


def _claims(sentence: Candidate, rewrites: Sequence[str], text: str) -> list[Candidate]:
    """Return the sentence with each accepted rewrite as its claim, and with a note for NONE; else as it is."""
    if sentence.note:
        return [sentence]
    found = [
        replace(sentence, note=NOT_CHECKABLE) if _is_none(rewrite) else replace(sentence, claim=rewrite)
        for rewrite in rewrites[:MAX_CLAIMS_PER_SENTENCE]
        if _is_none(rewrite) or _is_claim_of(rewrite, text)
    ]
    return list(dict.fromkeys(each for each in found if each != sentence)) or [sentence]


def _is_none(reply: str) -> bool:
    return reply.strip(" .*").upper() == "NONE"


def _is_claim_of(rewrite: str, text: str) -> bool:
    fits = MIN_CLAIM_LENGTH <= len(rewrite) <= MAX_CLAIM_LENGTH
    return fits and rewrite.isprintable() and not rewrite.endswith("?") and is_grounded(rewrite, text)
