"""Texts packed into one row give what a padded batch gives, and int8 over turned features is near it."""

import copy

import pytest
import torch
from transformers import BertConfig, BertForQuestionAnswering, LlamaConfig, LlamaForSequenceClassification

from app.backends.packed_batch import packed, take_packed
from benchmarks.rotated_int8 import IN_INT8, in_int8, turn_features

ONE, TWO, LONG = [5], [7, 8], [3 + at % 90 for at in range(400)]


@pytest.fixture
def llama():
    """A small one whose key heads are shared, and whose norms have weights of their own."""
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
        return model.score(model.model(**packed(texts)).last_hidden_state[0, ends])


@pytest.mark.parametrize("texts", [[ONE], [LONG], [TWO, LONG, ONE], [LONG, LONG[:399], TWO, TWO]])
def test_packed_texts_are_judged_as_padded_ones_are(llama, texts):
    plain = copy.deepcopy(llama)
    take_packed(llama)
    torch.testing.assert_close(packed_logits(llama, texts), padded_logits(plain, texts), atol=1e-4, rtol=0)


def test_a_text_sees_nothing_of_the_texts_beside_it(llama):
    take_packed(llama)
    one, other = packed_logits(llama, [LONG, TWO]), packed_logits(llama, [ONE, TWO])
    torch.testing.assert_close(one[1], other[1], atol=1e-5, rtol=0)
    assert not torch.allclose(one[0], other[0], atol=1e-2)


def test_a_model_that_reads_both_ways_is_packed_as_well():
    torch.manual_seed(3)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    model = BertForQuestionAnswering(BertConfig(**sizes, vocab_size=100)).eval()
    with torch.inference_mode():
        alone = [model(input_ids=torch.tensor([text])).start_logits[0] for text in (TWO, LONG)]
        take_packed(model)
        together = model(**packed([TWO, LONG])).start_logits[0]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-4, rtol=0)


def test_weights_that_are_not_numbers_stay_visible(llama):
    take_packed(llama)
    with torch.no_grad():
        llama.model.layers[0].mlp.up_proj.weight[0, 0] = float("nan")
    assert packed_logits(llama, [ONE, TWO]).isnan().all()


def test_turning_the_features_changes_no_logit(llama):
    before = padded_logits(llama, [TWO, LONG])
    weight = llama.model.layers[1].mlp.gate_proj.weight.clone()
    turn_features(llama)
    assert not torch.allclose(llama.model.layers[1].mlp.gate_proj.weight, weight, atol=1e-2)
    torch.testing.assert_close(padded_logits(llama, [TWO, LONG]), before, atol=1e-4, rtol=0)


def test_int8_computes_every_matrix_but_the_one_that_no_turn_reaches(llama):
    take_packed(llama)
    before = packed_logits(llama, [TWO, LONG])
    int8 = in_int8(llama)
    kinds = {name: type(part).__module__ for name, part in int8.named_modules()}
    assert all("quantized" in kinds[f"model.layers.{layer}.{part}"] for layer in range(3) for part in IN_INT8)
    assert type(int8.model.layers[0].mlp.down_proj) is torch.nn.Linear
    after = packed_logits(int8, [TWO, LONG])
    assert not torch.equal(after, before)
    assert (after - before).abs().max() < 0.2 * before.abs().max()
