"""One line in the log for each refusal: what was wrong, which route it was, and from whom.

What people wrote stays out, and so does the address: `from` is a digest of it made with the signing key, the same for
the same address, so that many refusals of one visitor can be told from one refusal of many.
"""

from __future__ import annotations

import hmac
import logging
from typing import Literal
from urllib.parse import quote

from flask import current_app, request

from app.web.senders import sender

log = logging.getLogger(__name__)

Reason = Literal["csrf", "owner", "limit", "password", "token"]


def refused(reason: Reason) -> None:
    """Write that the current request is refused."""
    run_id = (request.view_args or {}).get("run_id")
    about = f" run {quote(run_id)[:64]}" if run_id else ""
    log.warning("refused (%s): %s %s from %s%s", reason, request.method, request.endpoint, _pseudonym(), about)


def _pseudonym() -> str:
    key = str(current_app.secret_key).encode()
    return hmac.digest(key, sender().encode(), "sha256").hex()[:12]
