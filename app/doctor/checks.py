"""All checks by name, in the order in which problems should be fixed."""

from __future__ import annotations

from app.doctor import components, machine, storage
from app.doctor.findings import Check

CHECKS: tuple[tuple[str, Check], ...] = (
    ("Python", machine.python),
    ("packages", machine.packages),
    ("memory", machine.memory),
    ("cores", machine.cores),
    ("clock", machine.clock),
    ("settings", storage.settings_found),
    ("instance folder", storage.instance),
    ("signing key", storage.signing_key),
    ("database", storage.database),
    ("Redis and workers", machine.workers),
    ("port", machine.port),
    ("Java", machine.java),
    ("corpora", components.corpora),
    ("question model", components.question_model),
    ("judge's base", components.base_model),
    ("judge and reader", components.shipped_models),
    ("reranker", components.reranker),
    ("language models", components.language_models),
)

ONLINE: tuple[tuple[str, Check], ...] = (("language models online", components.language_models_online),)
"""Checks that call servers and may cost money; run only on request."""
