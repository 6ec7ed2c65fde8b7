"""Build every object of a run from the settings; the only package that knows all implementations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.capabilities.options import Capabilities, Group
    from app.components import Component
    from app.domain.model import Claim, Page, RunOptions
    from app.domain.ports import Strategy
    from app.text.claims import Candidate


class AppContainer(Protocol):
    """The interface of the container for the application; `container.Container` and test doubles implement it."""

    @property
    def ready(self) -> bool: ...

    def warm(self) -> None: ...

    def components(self) -> tuple[Component, ...]: ...

    def capabilities(self) -> Capabilities: ...

    def catalogue(self) -> tuple[Group, ...]: ...

    def loading_strategy_for(self, options: RunOptions) -> Strategy: ...

    def page_at(self, url: str) -> Page: ...

    def claims_of(self, found: Sequence[Candidate], options: RunOptions) -> tuple[Candidate, ...] | None: ...

    def rewritten(self, sentence: Candidate, before: str) -> tuple[Candidate, ...]: ...

    def statement_of(self, question: str, options: RunOptions) -> str | None: ...

    def names_for(self, claim: Claim, options: RunOptions) -> str | None: ...
