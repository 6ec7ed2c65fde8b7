"""What a run remembers of its calls: several memories, asked one after the other and written to in one transaction.

A reply that came costs one commit then, whoever keeps it. Where one of them cannot be written, each is on its own, so
that the others keep the reply all the same.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Protocol

from sqlalchemy import Connection
from sqlalchemy.orm import Session, sessionmaker

from app.domain.calls import Call, Memory
from app.runs.db import engine_of, write_transaction

log = logging.getLogger(__name__)


class Written(Memory, Protocol):
    """A memory in the database."""

    def write(self, connection: Connection, call: Call, reply: Any) -> None:
        """As `keep`, as part of the connection's transaction; raises whatever is wrong."""


class Replies:
    """Implements `calls.Memory` over memories of one database, nearest first."""

    def __init__(self, sessions: sessionmaker[Session], memories: Sequence[Written]) -> None:
        self._engine = engine_of(sessions)
        self._memories = tuple(memories)

    def recall(self, call: Call) -> Any | None:
        """The reply that the nearest one has; those before it are told of it."""
        for at, memory in enumerate(self._memories):
            if (reply := memory.recall(call)) is not None:
                self._tell(self._memories[:at], call, reply)
                return reply
        return None

    def keep(self, call: Call, reply: Any) -> None:
        """Have it remembered by all."""
        self._tell(self._memories, call, reply)

    def _tell(self, memories: Sequence[Written], call: Call, reply: Any) -> None:
        if not memories:
            return
        try:
            with write_transaction(self._engine) as connection:
                for memory in memories:
                    memory.write(connection, call, reply)
        except Exception as error:  # each says by itself what is wrong with it
            log.debug("a reply is kept by each memory alone: %s", type(error).__name__)
            for memory in memories:
                memory.keep(call, reply)
