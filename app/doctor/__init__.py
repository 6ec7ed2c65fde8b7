"""Check an installation and report problems with their fixes.

    flask --app app doctor        python -m app.doctor, when Flask does not start

A check that fails does not stop the others. Checks change nothing: they load no model, create no table, and call no
server unless asked to.
"""

from __future__ import annotations

from app.doctor import components, machine
from app.doctor.findings import Check

CHECKS: tuple[tuple[str, Check], ...] = (
    ("Python", machine.python),
    ("packages", machine.packages),
    ("memory", machine.memory),
    ("cores", machine.cores),
    ("clock", machine.clock),
    ("settings", components.settings_found),
    ("instance folder", components.instance),
    ("signing key", components.signing_key),
    ("database", components.database),
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
