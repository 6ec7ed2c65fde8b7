"""A small Llama classifier with three classes, and its logits from padded and from packed texts."""

from __future__ import annotations

import torch
from app.backends.local.judge import pack_batch
from transformers import LlamaConfig, LlamaForSequenceClassification

ONE, TWO, LONG = [5], [7, 8], [3 + at % 90 for at in range(400)]


def small_llama():
    """Key heads are shared and norm weights are not all one, as in the real model."""
    torch.manual_seed(3)
    sizes = {"hidden_size": 48, "intermediate_size": 64, "num_hidden_layers": 3, "vocab_size": 100}
    heads = {"num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 8}
    model = LlamaForSequenceClassification(LlamaConfig(**sizes, **heads, num_labels=3, pad_token_id=0)).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name:
                weight.uniform_(0.2, 3.0)
            else:
                weight.mul_(6.0)
    return model


def padded_logits(model, texts):
    rows = [torch.tensor(text) for text in texts]
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    with torch.inference_mode():
        return model(input_ids=ids, attention_mask=(ids != 0).long()).logits


def packed_logits(model, texts):
    ends = torch.tensor([len(text) for text in texts]).cumsum(0) - 1
    with torch.inference_mode():
        return model.score(model.model(**pack_batch(texts)).last_hidden_state[0, ends])
