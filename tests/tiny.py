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


def tiny_bert(words: str = ""):
    """A BERT reader of two small layers with random weights, and its tokenizer, which spells all but `words`."""
    import string

    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import BertConfig, BertForQuestionAnswering

    letters = string.ascii_lowercase + string.digits
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *".,?()'-", *letters, *[f"##{letter}" for letter in letters]]
    vocabulary = {piece: at for at, piece in enumerate(dict.fromkeys([*pieces, *words.casefold().split()]))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    torch.manual_seed(0)
    model = BertForQuestionAnswering(
        BertConfig(
            vocab_size=len(vocabulary),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
    )
    return model, tokenizer
