"""The session cookie, where clocks are set and differ: one that was signed a little later than now is still good.

Flask's own refuses a cookie from the future. After a clock was put right, or on a web process whose clock is behind
another's, people would lose their runs to that: they would get a new owner's name in place of theirs.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from flask import Flask
from flask.sessions import SecureCookieSessionInterface
from itsdangerous import SignatureExpired, TimestampSigner, URLSafeTimedSerializer

AHEAD = timedelta(days=1)
"""By so much the clock that a cookie was signed by may have been ahead."""


class PatientSigner(TimestampSigner):
    """Takes what was signed within a day from now for signed now."""

    def unsign(self, signed_value: str | bytes, max_age: int | None = None, return_timestamp: bool = False) -> Any:
        try:
            return super().unsign(signed_value, max_age, return_timestamp)  # type: ignore[call-overload]
        except SignatureExpired as expired:
            if expired.date_signed is None or not datetime.now(UTC) < expired.date_signed <= datetime.now(UTC) + AHEAD:
                raise
            return super().unsign(signed_value, None, return_timestamp)  # type: ignore[call-overload]


class SessionCookies(SecureCookieSessionInterface):
    """Flask's signed cookies, read by that signer."""

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        """As Flask's; None where there is no key."""
        serializer = super().get_signing_serializer(app)
        if serializer is not None:
            serializer.signer = PatientSigner
        return serializer
