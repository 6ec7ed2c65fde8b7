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


def tiny_qa(folder: Path, words: str = "", family: str = "bert") -> Path:
    """An extractive reader of two small layers, saved to `folder` as one from the hub is; it spells all but `words`.

    `family` is "bert" or "roberta" (no token types, <s> question </s></s> text </s>).
    """
    from tokenizers import processors
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaForQuestionAnswering

    model, tokenizer = tiny_bert(words)
    first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    between = "[SEP] [SEP]" if family == "roberta" else "[SEP]"
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair=f"[CLS] $A {between} $B" + ("" if family == "roberta" else ":1") + " [SEP]",
        special_tokens=[("[CLS]", first), ("[SEP]", last)],
    )
    if family == "roberta":
        sizes = {name: getattr(model.config, name) for name in ("vocab_size", "hidden_size", "intermediate_size")}
        config = RobertaConfig(
            **sizes, num_hidden_layers=2, num_attention_heads=2, type_vocab_size=1, pad_token_id=0, bos_token_id=first
        )
        model = RobertaForQuestionAnswering(config)
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if family == "bert" else [])]
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        cls_token="[CLS]",
        sep_token="[SEP]",
        unk_token="[UNK]",
        pad_token="[PAD]",
        model_max_length=512,
        model_input_names=names,
    ).save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


def tiny_roberta_qa(folder: Path, pieces: str) -> Path:
    """An extractive reader with RoBERTa's bytes ("bytes"), or SentencePiece as XLM-RoBERTa and DeBERTa ("sentence").

    Both keep the space before a word in its token; SentencePiece keeps the full stop after it, too.
    """
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaForQuestionAnswering

    texts, special = (
        ["Who wrote Emma? Emma is a novel by Jane (Austen) of Zürich, or not."] * 5,
        ["<s>", "<pad>", "</s>", "<unk>"],
    )
    if pieces == "bytes":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=special, initial_alphabet=alphabet)
        tokenizer.train_from_iterator(texts, trainer)
        tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, False)
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=80, special_tokens=special, unk_token="<unk>")
        tokenizer.train_from_iterator(texts, trainer)
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
        )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=512,
        model_input_names=["input_ids", "attention_mask"],
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=514,
        type_vocab_size=1,
        pad_token_id=1,
    )
    RobertaForQuestionAnswering(config).save_pretrained(folder)
    return folder
