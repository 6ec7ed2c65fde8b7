"""Every check, by name and in the order in which one would mend things."""

from __future__ import annotations

from app.doctor import grown, keeping, machine, parts
from app.doctor.findings import Check

CHECKS: tuple[tuple[str, Check], ...] = (
    ("Python", machine.python),
    ("packages", machine.packages),
    ("memory", machine.memory),
    ("cores", machine.cores),
    ("clock", machine.clock),
    ("settings", keeping.settings_found),
    ("instance folder", keeping.instance),
    ("signing key", keeping.signing_key),
    ("database", keeping.database),
    ("Redis and workers", grown.workers),
    ("port", machine.port),
    ("Java", machine.java),
    ("corpora", parts.corpora),
    ("question model", parts.question_model),
    ("judge's base", parts.base_model),
    ("judge and reader", parts.shipped_models),
    ("reranker", parts.reranker),
    ("language models", parts.language_models),
)

ONLINE: tuple[tuple[str, Check], ...] = (("language models online", parts.language_models_online),)
"""Checks that call servers and may cost money: only when asked for."""
