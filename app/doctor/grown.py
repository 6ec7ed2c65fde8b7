"""Findings about what a site has that outgrew one process: Redis, and workers that answer."""

from __future__ import annotations

from collections.abc import Iterator

from app.doctor.findings import Finding, ok, problem, warning
from app.domain.errors import HopcheckError
from app.settings import Settings


def workers(settings: Settings) -> Iterator[Finding]:
    """Does Redis answer, and who works for it? Nothing is missing where none is named."""
    if not settings.redis_url:
        yield ok("Redis and workers", "REDIS_URL is not set: the server carries its runs out itself")
        return
    from app.runs.celery_jobs import answering_workers

    try:
        names = answering_workers(settings.redis_url)
    except HopcheckError as error:
        yield problem("Redis and workers", f"{error}", "Start it, or mend REDIS_URL")
        return
    if names:
        yield ok("Redis and workers", f"{len(names)}: {', '.join(names)}")
    else:
        yield warning("Redis and workers", "No worker answers, so runs wait", "flask --app app worker")
