"""Which rows of published data sets are held out from training: decided by hashes, the same on every machine."""

from __future__ import annotations

import hashlib

HELD_OUT_SHARE = 0.12
MAX_TRAINING_HOPS = 3
"""Claims with more hops are only measured."""


def is_held_out(key: str, share: float = HELD_OUT_SHARE) -> bool:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4]) / 2**32 < share


def row_is_held_out(row_id: str, group: str | None = None, hops: int | None = None) -> bool:
    """Return whether a row is held out, by the hash of its group or id, and by its number of hops."""
    return is_held_out(group or row_id) or (hops or 0) > MAX_TRAINING_HOPS
