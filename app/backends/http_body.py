"""The content of one HTTP reply, unpacked while it comes in and counted while it is unpacked.

A kilobyte of gzip can hold a megabyte, so a limit that looks at the whole afterwards comes too late.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from app.domain.errors import CallFailed

GZIP_OR_ZLIB, RAW_DEFLATE = 47, -15
"""What zlib calls the ways in which deflated bytes are wrapped."""


class Body:
    """Takes in chunks. Raises CallFailed as soon as they come to more than `limit` bytes, packed or unpacked."""

    def __init__(self, host: str, headers: Mapping[str, str], limit: int) -> None:
        """`headers` are the reply's; only Content-Encoding and Content-Length are read."""
        self._host, self._limit = host, limit
        self._encoding = headers.get("content-encoding", "").strip().lower()
        if self._encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise CallFailed(f"{host} packs its pages in a way that it was not asked for.")
        if (length := headers.get("content-length", "")).isdecimal() and int(length[:20]) > limit:
            raise self._too_large()
        self._packed = 0
        self._content = bytearray()
        self._unpacker: Any = None

    def add(self, chunk: bytes) -> None:
        """Take in the next bytes as they were sent."""
        self._packed += len(chunk)
        self._content += self._unpacked(chunk) if self._encoding not in ("", "identity") else chunk
        if max(self._packed, len(self._content)) > self._limit:
            raise self._too_large()

    def whole(self) -> bytes:
        """All of it, once the last chunk is in. Raises CallFailed when its end is missing."""
        if self._unpacker is not None and not self._unpacker.eof:
            raise CallFailed(f"{self._host} broke off in the middle of its page.")
        return bytes(self._content)

    def _unpacked(self, chunk: bytes) -> bytes:
        """At most one byte more than the limit allows: enough to know that it is passed."""
        if self._unpacker is None:
            # Many servers send "deflate" without the wrapping that the standard asks for, which begins with 0x78.
            wrapped = self._encoding != "deflate" or chunk[:1] == b"\x78"
            self._unpacker = zlib.decompressobj(GZIP_OR_ZLIB if wrapped else RAW_DEFLATE)
        try:
            return self._unpacker.decompress(chunk, self._limit - len(self._content) + 1)
        except zlib.error:
            raise CallFailed(f"{self._host} sent a page that cannot be unpacked.") from None

    def _too_large(self) -> CallFailed:
        return CallFailed(f"{self._host} has a page larger than {self._limit / 1024**2:.3g} MB, which is not read.")
