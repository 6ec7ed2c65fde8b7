"""A Qwen2 model of two small layers with random weights, as one GGUF file with a byte-level vocabulary."""

from __future__ import annotations

from pathlib import Path

import numpy as np

WIDTH, INNER, LAYERS, HEADS, KEY_HEADS = 32, 64, 2, 4, 2
WORDS = ("true", "false", "open", "not", "found", "Paris", "Rome", "the", "capital", "of", "France", "Italy")
END = "<|im_end|>"


def tiny_qwen(folder: Path, seed: int = 0) -> Path:
    """Write the file and return its path. Its matrices are Q8_0 and F16, which both PyTorch and llama.cpp read."""
    from gguf import GGMLQuantizationType, GGUFWriter, TokenType
    from gguf.quants import quantize

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tiny.gguf"
    tokens, merges = vocabulary()
    writer = GGUFWriter(path, "qwen2")
    writer.add_context_length(512)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10_000.0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([TokenType.CONTROL if token == END else TokenType.NORMAL for token in tokens])
    writer.add_token_merges(merges)
    writer.add_eos_token_id(tokens.index(END))
    writer.add_bos_token_id(tokens.index(END))
    writer.add_add_bos_token(False)
    rng = np.random.default_rng(seed)

    def add(name: str, *shape: int) -> None:
        """Matrices and biases are random, norms one."""
        if name.endswith("norm.weight"):
            writer.add_tensor(name, np.ones(shape, np.float32))
        elif len(shape) == 1:
            writer.add_tensor(name, rng.normal(0, 0.1, shape).astype(np.float32))
        elif "ffn" in name:
            values = quantize(rng.normal(0, 0.3, shape).astype(np.float32), GGMLQuantizationType.Q8_0)
            writer.add_tensor(name, values, raw_dtype=GGMLQuantizationType.Q8_0)
        else:
            writer.add_tensor(name, rng.normal(0, 0.3, shape).astype(np.float16))

    key_width = WIDTH // HEADS * KEY_HEADS
    add("token_embd.weight", len(tokens), WIDTH)
    add("output_norm.weight", WIDTH)
    for block in (f"blk.{at}" for at in range(LAYERS)):
        add(f"{block}.attn_norm.weight", WIDTH)
        add(f"{block}.ffn_norm.weight", WIDTH)
        for part, width in (("attn_q", WIDTH), ("attn_k", key_width), ("attn_v", key_width)):
            add(f"{block}.{part}.weight", width, WIDTH)
            add(f"{block}.{part}.bias", width)
        add(f"{block}.attn_output.weight", WIDTH, WIDTH)
        add(f"{block}.ffn_gate.weight", INNER, WIDTH)
        add(f"{block}.ffn_up.weight", INNER, WIDTH)
        add(f"{block}.ffn_down.weight", WIDTH, INNER)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def vocabulary() -> tuple[list[str], list[str]]:
    """Return GPT-2's byte symbols with WORDS after a space as single tokens, and the merges that make them."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    symbols = [chr(byte) for byte in printable] + [chr(256 + at) for at in range(len(others))]
    space = chr(256 + others.index(ord(" ")))
    tokens, merges = list(symbols), []
    for word in WORDS:
        made = space
        for letter in word:
            if made + letter not in tokens:
                tokens.append(made + letter)
                merges.append(f"{made} {letter}")
            made += letter
    return [*tokens, END], merges
