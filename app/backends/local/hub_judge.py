"""Judge with any cross-encoder for natural language inference, given by hub name or folder.

The evidence is the premise, the claim the hypothesis. Evidence longer than the model's window is shortened by sentence
selection.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.backends.local.judge import Calibration, Probabilities
from app.backends.local.loading import PAIR_CLASSIFIER, HubModel, Pretrained, find_model_folder, load, token_limit
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.instrumentation import Call, cached_call, report_usage
from app.domain.model import Label, Usage
from app.domain.ports import Asked, Bounds
from app.text.sentences import select_sentences

MAX_TOKENS = 512
"""Tokens of evidence and claim together; fewer if the model's window is smaller."""
WORDS_PER_TOKEN = 0.8
"""First estimate of the words that fit; if they do not, evidence is selected again with fewer words."""
BATCH_SIZE = 8
NO_EVIDENCE: Probabilities = (0.0, 0.0, 1.0)
"""The probabilities for evidence without text, returned without a call of the model."""

Evidence = Sequence[tuple[str, str]]
"""(title, text) passages."""

# Models differ in the order and names of the three classes (MNLI: entailment, neutral, contradiction; FEVER: supports,
# not enough info, refutes). A wrong order would invert verdicts, so models without class names are rejected.

_SPELLINGS = {
    Label.SUPPORTED: "entailment entails entailed entail supports supported support",
    Label.REFUTED: "contradiction contradicts contradicted contradictory contradict refutes refuted refute",
    Label.NOT_ENOUGH_EVIDENCE: "neutral notenough notenoughinfo notenoughinformation notenoughevidence nei",
}
_LABEL_OF = {spelled: label for label, spellings in _SPELLINGS.items() for spelled in spellings.split()}
_UNNAMED_CLASS = re.compile(r"label\d+")


def label_order(id2label: Mapping[int, str], name: str, fix: str) -> tuple[int, int, int]:
    """Return the indices of (supports, refutes, not enough) among the outputs of the model `name`.

    Raises ModelUnavailable for a model with other classes, or without class names.
    """
    plain = {index: re.sub(r"[^a-z0-9]", "", str(label).casefold()) for index, label in id2label.items()}
    classes = ", ".join(str(label) for label in id2label.values())
    if len(plain) != 3:
        raise ModelUnavailable(
            f"{name} has {len(plain)} classes ({classes}); a judge needs three: entailment, neutral and contradiction",
            fix,
        )
    if any(_UNNAMED_CLASS.fullmatch(label) for label in plain.values()):
        raise ModelUnavailable(
            f"{name} does not say what its classes mean ({classes}); its config.json must name them in id2label", fix
        )
    index_of = {_LABEL_OF.get(label): index for index, label in plain.items()}
    if set(index_of) != set(_SPELLINGS):
        raise ModelUnavailable(f"{name} has the classes {classes}, not entailment, neutral and contradiction", fix)
    return index_of[Label.SUPPORTED], index_of[Label.REFUTED], index_of[Label.NOT_ENOUGH_EVIDENCE]


@dataclass(frozen=True, slots=True)
class LoadedJudge:
    """A loaded model with what is needed to use it as a judge."""

    weights: Pretrained
    window: int
    """In tokens."""
    order: tuple[int, int, int]
    """Indices of (supports, refutes, not enough) among the model's outputs."""
    temperature: float

    @property
    def version(self) -> str:
        """The model's name, fingerprints of its files and the temperature, which identify its output for an input."""
        return f"{self.weights.version} at temperature {self.temperature:g}"


class HubJudge(HubModel[LoadedJudge]):
    """Implements EntailmentModel with a model of Hugging Face."""

    FIX = "flask --app app models fetch judge, or JUDGE with the folder of a model"

    @property
    def version(self) -> str:
        """The `LoadedJudge.version`; loads the model. Raises ModelUnavailable and CallFailed, as `load` does."""
        return self.load().version

    @property
    def bounds(self) -> Bounds:
        """Minimum probabilities for a verdict. Raises ModelUnavailable."""
        return self.calibration.bounds

    @property
    def calibration(self) -> Calibration:
        """The values of calibration.json in the model's folder, or the defaults. Raises ModelUnavailable."""
        return calibration_of(self._name_or_path)

    def classify(self, pairs: Sequence[tuple[str, Evidence]], asked: Sequence[Asked] = ()) -> list[Probabilities]:
        """Return (p(supports), p(refutes), p(not enough)) for each (claim, (title, text) passages) pair.

        Evidence without text gets NO_EVIDENCE. `asked` is ignored, as such models were trained without questions.
        Raises ModelUnavailable, and CallFailed when the output is not a number or the call takes too long.
        """
        has_evidence = [any(text.strip() for _, text in passages) for _, passages in pairs]
        with_evidence = [pair for pair, has_text in zip(pairs, has_evidence, strict=True) if has_text]
        if not with_evidence:
            return [NO_EVIDENCE] * len(pairs)
        judge = self.load()
        call = Call(
            judge.version, {"pairs": [[claim, [list(each) for each in texts]] for claim, texts in with_evidence]}
        )
        rows = iter(cached_call(call, lambda: self._compute(judge, with_evidence)))
        return [tuple(next(rows)) if has_text else NO_EVIDENCE for has_text in has_evidence]

    def _load(self, name_or_path: str, threads: int, fix: str) -> LoadedJudge:
        weights = load(name_or_path, PAIR_CLASSIFIER, threads, fix)
        order = label_order(weights.model.config.id2label, self.name, fix)
        if weights.tokenizer.pad_token_id is None:
            raise ModelUnavailable(f"{self.name} has no padding token, which batches need", fix)
        return LoadedJudge(weights, _window(weights), order, calibration_of(name_or_path).temperature)

    def _compute(self, judge: LoadedJudge, pairs: Sequence[tuple[str, Evidence]]) -> list[list[float]]:
        batches = [pairs[start : start + BATCH_SIZE] for start in range(0, len(pairs), BATCH_SIZE)]
        computed = self._inference.run(lambda: [_forward(judge, batch) for batch in batches])
        report_usage(Usage(len(pairs), sum(tokens for _, tokens in computed)))
        return [row for rows, _ in computed for row in rows]


def calibration_of(name_or_path: str) -> Calibration:
    """Return the model's calibration without loading it. Raises ModelUnavailable when the file is damaged."""
    folder = find_model_folder(name_or_path)
    if folder is None or not (folder / "calibration.json").exists():
        return Calibration()
    try:
        return Calibration.read(folder)
    except ModelUnavailable as error:
        fix = f"another {folder / 'calibration.json'}, or none"
        raise ModelUnavailable(error.problem.rstrip("."), fix) from error


def _window(weights: Pretrained) -> int:
    """Return the maximum of tokens that the model reads at once. RoBERTa reserves two of its positions."""
    config = weights.model.config
    positions = getattr(config, "max_position_embeddings", None) or MAX_TOKENS
    reserved = 2 if "roberta" in config.model_type else 0
    return min(MAX_TOKENS, positions - reserved, token_limit(weights.tokenizer) or MAX_TOKENS)


def _premise(judge: LoadedJudge, claim: str, passages: Evidence) -> str:
    """Return the sentences nearest to the claim, as many as fit into the window with it."""
    tokenizer = judge.weights.tokenizer
    other_tokens = _count(tokenizer, claim) + tokenizer.num_special_tokens_to_add(pair=True)
    max_tokens = max(judge.window - other_tokens, judge.window // 2)  # a claim over half a window may be truncated
    words = max(1, int(max_tokens * WORDS_PER_TOKEN))
    while True:
        premise = " ".join(select_sentences(claim, passages, words))
        tokens = _count(tokenizer, premise)
        if tokens <= max_tokens or words == 1:
            return premise
        words = max(1, min(words - 1, words * max_tokens // tokens))


def _count(tokenizer: Any, text: str) -> int:
    return len(tokenizer(text, add_special_tokens=False)["input_ids"])


def _forward(judge: LoadedJudge, batch: Sequence[tuple[str, Evidence]]) -> tuple[list[list[float]], int]:
    """Return probabilities for each pair, and the tokens read.

    Runs in the queue because the tokenizers of transformers are not thread-safe.
    """
    import torch

    premises = [_premise(judge, claim, passages) for claim, passages in batch]
    # Only an overlong word, title or claim still does not fit: the longer of the two texts is truncated.
    inputs = judge.weights.tokenizer(
        premises,
        [claim for claim, _ in batch],
        padding=True,
        truncation="longest_first",
        max_length=judge.window,
        return_tensors="pt",
    )
    with torch.inference_mode():
        logits = judge.weights.model(**inputs).logits.float()
    rows = torch.softmax(logits[:, list(judge.order)] / judge.temperature, dim=-1)
    if not torch.isfinite(rows).all():
        raise CallFailed("The judge's output is not a number.")
    return rows.tolist(), int(inputs["attention_mask"].sum())
