"""The real application for runs that use only a language model's server: it loads no local models."""

from __future__ import annotations

from flask import Flask

from app import create_app
from app.config.settings import load_settings
from app.container.container import Container
from app.text.wording import stems


class Cold(Container):
    """The real container without loading its local models, which these tests do not use."""

    ready = True  # type: ignore[assignment] # a property there

    def warm(self) -> None: ...


def prompted_app(commands: bool = False) -> Flask:
    """Return the application for the server at OPENAI_BASE_URL; a worker needs the `commands`."""
    settings = load_settings()
    if commands:
        # Imported now: on a busy machine the imports at the first call take longer than a whole run may take.
        import httpx2  # noqa: F401

        stems("England")
    return create_app(settings, Cold(settings), commands)
