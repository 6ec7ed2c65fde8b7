"""Several texts of different lengths in one forward pass, without padding: their tokens stand one after the other.

Every layer but attention looks at one token at a time, so only attention has to know where a text ends. What comes out
is what a padded batch gives, but for rounding, in less time by the share of the padding
(research/notes/2026-11-22-judge.md, "How fast").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

ATTENTION = "text by text"


def take_packed(model: PreTrainedModel) -> None:
    """Make a model of transformers take what `packed` gives. It takes no padded batch any more."""
    from transformers import AttentionInterface

    AttentionInterface.register(ATTENTION, attend)
    model.set_attn_implementation(ATTENTION)


def packed(texts: Sequence[Sequence[int]]) -> dict[str, Any]:
    """The model's arguments for texts given as token ids, none empty: a batch of one row [1, tokens of all texts]."""
    import torch

    return {
        "input_ids": torch.tensor([[token for text in texts for token in text]]),
        "position_ids": torch.cat([torch.arange(len(text)) for text in texts])[None],
        "lengths": [len(text) for text in texts],
    }


def attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    *,
    lengths: Sequence[int],
    **_: Any,
) -> tuple[Tensor, None]:
    """Each text's attention by itself, in the form transformers asks for.

    `query`, `key` and `value` are [1, heads, tokens, head size]; the first of what is returned is [1, tokens, heads,
    head size].
    """
    import torch

    shared = query.shape[1] // key.shape[1]
    key, value = (part.repeat_interleave(shared, dim=1) if shared > 1 else part for part in (key, value))
    texts = zip(*(part.split(list(lengths), dim=2) for part in (query, key, value)), strict=True)
    attended = [
        torch.nn.functional.scaled_dot_product_attention(*text, scale=scaling, is_causal=module.is_causal)
        for text in texts
    ]
    return torch.cat(attended, dim=2).transpose(1, 2), None
