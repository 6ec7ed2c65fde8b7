"""Tiny models with random weights, built by the tests: real transformers code, no download, a second to run."""

from __future__ import annotations

from pathlib import Path


def tiny_llama(folder: Path) -> Path:
    """A Llama of two small layers with a word-level tokenizer, saved to `folder` as SmolLM2 is."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = "evidence : claim verdict none paris london capital is the of france england not in lies a".split()
    vocabulary = {word: at for at, word in enumerate(["<unk>", "<s>", "</s>", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>", pad_token="</s>"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        pad_token_id=2,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def tiny_t5(folder: Path, words: str = "", length: int = 512) -> Path:
    """A FLAN-T5-shaped model of two small layers with random weights, saved to `folder`; it spells all but `words`."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    known = "yes no true false not enough evidence ? . , claim question answer paris".split()
    vocabulary = {word: at for at, word in enumerate(dict.fromkeys(["<pad>", "</s>", "<unk>", *known, *words.split()]))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="<unk>",
        eos_token="</s>",
        pad_token="<pad>",
        model_max_length=length,
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=len(vocabulary),
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder
