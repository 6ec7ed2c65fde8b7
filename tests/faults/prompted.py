"""What a site serves whose runs lean on a language model's server alone: the real application, with nothing to warm."""

from __future__ import annotations

from flask import Flask

from app import create_app
from app.config.settings import load_settings
from app.container.container import Container
from app.text.wording import stems


class Cold(Container):
    """The real one. Its own models are left on the disk: the runs of these tests ask none of them."""

    ready = True  # type: ignore[assignment] # a property there

    def warm(self) -> None: ...


def prompted_app(commands: bool = False) -> Flask:
    """OPENAI_BASE_URL says where the server is. A worker is started by one of the `commands`."""
    settings = load_settings()
    if commands:
        # A first call waits for these imports: on a busy machine longer than a whole run may take.
        import openai  # noqa: F401

        stems("England")
    return create_app(settings, Cold(settings), commands)
