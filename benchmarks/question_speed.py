"""How much faster a question is when the demonstrations' keys and values are kept, and whether the text is the same.

    .venv/bin/python -m benchmarks.question_speed CLAIMS.jsonl [--prompts 200] [--float32]

Both sides are llama.cpp over the same weights with the same greedy settings: plain evaluates the whole prompt in every
call (cache_prompt off), ours keeps what it has read. Calls alternate, so that a busy machine is equally busy for both.
With --float32 the packaged 4-bit weights are written out in float32 first, and keys and values are float32 too.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from app.backends.local.llama_cpp import packaged_gguf, parameters
from app.domain.model import Claim
from app.modules.question_generator.local import MAX_TOKENS, prompt_for

MADE_BY_READER = "GGUF."
"""What the reader calls the fields of the file's own header, which a writer makes itself."""


def in_float32(packed: Path, to: Path) -> None:
    """Write the GGUF file `packed` to `to` with every weight as the float32 number that it stands for."""
    from gguf import GGUFReader, GGUFValueType, GGUFWriter, LlamaFileType
    from gguf.quants import dequantize

    read = GGUFReader(packed)
    writer = GGUFWriter(to, read.fields["general.architecture"].contents())
    for name, field in read.fields.items():
        if name.startswith(MADE_BY_READER) or name in ("general.architecture", "general.file_type"):
            continue
        inner = field.types[-1] if field.types[0] is GGUFValueType.ARRAY else None
        writer.add_key_value(name, field.contents(), field.types[0], sub_type=inner)
    writer.add_file_type(LlamaFileType.ALL_F32)
    for tensor in read.tensors:
        writer.add_tensor(tensor.name, dequantize(tensor.data, tensor.tensor_type).astype("float32"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def server(path: Path, exact: bool) -> Any:
    """llama.cpp's server as a run has it; `exact` keeps keys and values in float32 instead of float16."""
    import xllamacpp

    params = parameters(path, threads=1)
    if exact:
        params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    return xllamacpp.Server(params)


def timed(engine: Any, prompt: str, kept: bool) -> tuple[float, str]:
    """Seconds and text of one greedy completion; plain and ours each have a slot, so neither helps the other."""
    request = {"prompt": prompt, "n_predict": MAX_TOKENS, "temperature": 0, "stop": ["\n"]}
    began = time.perf_counter()
    reply = engine.handle_completions({**request, "cache_prompt": kept, "id_slot": int(kept)})
    return time.perf_counter() - began, reply["choices"][0]["text"]


def compared(engine: Any, prompts: list[str]) -> str:
    """The medians, the ratio of the sums and the share of equal texts, in two lines."""
    timed(engine, prompts[0], kept=True)
    pairs = [(timed(engine, prompt, kept=False), timed(engine, prompt, kept=True)) for prompt in prompts]
    plain, ours = [each[0][0] for each in pairs], [each[1][0] for each in pairs]
    same = sum(each[0][1] == each[1][1] for each in pairs)
    medians = f"plain {statistics.median(plain):.2f} s, kept {statistics.median(ours):.2f} s (medians)"
    return (
        f"{len(pairs)} prompts: {medians}\n"
        f"{sum(plain) / sum(ours):.1f} times faster in all; the same text for {same} of {len(pairs)}"
    )


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("claims", type=Path)
    parser.add_argument("--prompts", type=int, default=200)
    parser.add_argument("--float32", action="store_true")
    options = parser.parse_args()
    lines = options.claims.read_text(encoding="utf-8").splitlines()[: options.prompts]
    prompts = [prompt_for(Claim(json.loads(line)["claim"]), ()) for line in lines]
    with tempfile.TemporaryDirectory() as folder:
        path = packaged_gguf()
        if options.float32:
            path = Path(folder) / "float32.gguf"
            in_float32(packaged_gguf(), path)
        print(compared(server(path, options.float32), prompts))


if __name__ == "__main__":
    main()
