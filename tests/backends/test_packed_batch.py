"""Texts packed into one row give the same result as a padded batch."""

import copy

import pytest
import torch
from transformers import BertConfig, BertForQuestionAnswering

from app.backends.local.judge import pack_batch, use_packed_attention
from tests.backends.llamas import LONG, ONE, TWO, packed_logits, padded_logits, small_llama


@pytest.fixture
def llama():
    return small_llama()


@pytest.mark.parametrize("texts", [[ONE], [LONG], [TWO, LONG, ONE], [LONG, LONG[:399], TWO, TWO]])
def test_packed_texts_give_the_same_logits_as_padded_ones(llama, texts):
    plain = copy.deepcopy(llama)
    use_packed_attention(llama)
    torch.testing.assert_close(packed_logits(llama, texts), padded_logits(plain, texts), atol=1e-4, rtol=0)


def test_a_packed_text_does_not_attend_to_the_others(llama):
    use_packed_attention(llama)
    one, other = packed_logits(llama, [LONG, TWO]), packed_logits(llama, [ONE, TWO])
    torch.testing.assert_close(one[1], other[1], atol=1e-5, rtol=0)
    assert not torch.allclose(one[0], other[0], atol=1e-2)


def test_packing_works_for_a_bidirectional_model():
    torch.manual_seed(3)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    model = BertForQuestionAnswering(BertConfig(**sizes, vocab_size=100)).eval()
    with torch.inference_mode():
        alone = [model(input_ids=torch.tensor([text])).start_logits[0] for text in (TWO, LONG)]
        use_packed_attention(model)
        together = model(**pack_batch([TWO, LONG])).start_logits[0]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-4, rtol=0)


def test_nan_weights_give_nan_logits(llama):
    use_packed_attention(llama)
    with torch.no_grad():
        llama.model.layers[0].mlp.up_proj.weight[0, 0] = float("nan")
    assert packed_logits(llama, [ONE, TWO]).isnan().all()
