"""A Llama in int8 is near its float32, for a token of large values costs only itself its digits."""

import pytest
import torch

from app.backends.int8_llama import Int8Linear, in_int8, turn_features
from app.backends.packed_batch import take_packed
from tests.backends.llamas import LONG, ONE, TWO, packed_logits, padded_logits, small_llama


@pytest.fixture
def llama():
    return small_llama()


def test_turning_features_and_heads_changes_no_logit(llama):
    before = padded_logits(llama, [TWO, LONG])
    layer = llama.model.layers[1]
    turned = (layer.mlp.gate_proj, layer.self_attn.v_proj, layer.self_attn.o_proj)
    weights = [part.weight.clone() for part in turned]
    turn_features(llama)
    assert not any(torch.allclose(part.weight, old, atol=1e-2) for part, old in zip(turned, weights, strict=True))
    torch.testing.assert_close(padded_logits(llama, [TWO, LONG]), before, atol=1e-4, rtol=0)


def test_int8_is_near_float32_and_leaves_the_model_as_it_was(llama):
    take_packed(llama)
    before = packed_logits(llama, [TWO, LONG])
    quick = in_int8(llama)
    after = packed_logits(quick, [TWO, LONG])
    assert not torch.equal(after, before)
    assert (after - before).abs().max() < 0.1 * before.abs().max()
    assert torch.equal(packed_logits(llama, [TWO, LONG]), before)


def test_no_matrix_of_a_layer_is_left_in_float32(llama):
    take_packed(llama)
    left = [name for name, _ in in_int8(llama).named_parameters()]
    assert left == ["model.embed_tokens.weight", "model.norm.weight", "score.weight"]


def test_a_text_sees_nothing_of_the_texts_beside_it_in_int8(llama):
    take_packed(llama)
    quick = in_int8(llama)
    one, other = packed_logits(quick, [LONG, TWO]), packed_logits(quick, [ONE, TWO])
    torch.testing.assert_close(one[1], other[1], atol=1e-5, rtol=0)


def test_a_token_of_large_values_costs_the_others_nothing():
    torch.manual_seed(3)
    weight, tokens = torch.randn(32, 64), torch.randn(5, 64)
    linear = Int8Linear(weight)
    alone = linear(tokens)
    tokens[2] *= 300
    beside = linear(tokens)
    torch.testing.assert_close(beside[[0, 1, 3, 4]], alone[[0, 1, 3, 4]])
    wrong = (beside - tokens @ weight.T).norm(dim=1) / (tokens @ weight.T).norm(dim=1)
    assert wrong.max() < 0.03


def test_zeros_stay_zeros_and_what_is_no_number_stays_visible():
    signs = torch.tensor([1.0, -1.0] * 4)
    linear = Int8Linear(torch.stack((torch.zeros(8), signs, signs)))
    tokens = torch.stack((torch.zeros(8), torch.full((8,), float("nan")), torch.full((8,), float("inf")), signs))
    outputs = linear(tokens)
    assert torch.equal(outputs[0], torch.zeros(3))
    assert not outputs[1:3, 1:].isfinite().any()
    assert outputs[3].tolist() == pytest.approx([0.0, 8.0, 8.0], rel=0.02)
