"""Error messages for failed calls of a language model's server: one sentence for the page, without keys or traces."""

from __future__ import annotations

import re
from typing import Any

from app.backends.http import QUOTA_EXHAUSTED, HttpResult, quoted
from app.backends.llm.registry import ModelSettings

_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size|string_above_max_length|context (?:length|window|size)"
    r"|(?:prompt|input|request) (?:is |was )?too (?:long|large)|too many (?:input |prompt )?tokens"
    r"|maximum number of tokens"
)
_NO_MODEL = re.compile(
    r"model_not_found|model\b.{0,100}\b(?:not found|does not exist|not exist|unknown|invalid)|not a valid model",
    re.DOTALL,
)

_BAD_KEY = re.compile(r"api.?key.{0,20}(?:not valid|invalid)|(?:invalid|incorrect) api.?key")
"""Some servers call a wrong key a bad request."""


def error_message(outcome: HttpResult, model: ModelSettings, seconds: float) -> str:
    """Return the sentence for a result without a reply; `seconds` is the time limit of one call."""
    host, name = model.host, model.model
    if outcome.timed_out:
        return f"The language model {name} at {host} did not answer within {seconds:g} seconds."
    if outcome.error:
        return f"The language model's server {host} {outcome.error}."
    if is_overflow(outcome):
        return f"The prompt is too long for the language model {name} at {host}."
    if _is_filtered(outcome):
        return f"The content filter of {host} turned the prompt down."
    if sentence := _by_status(outcome, model):
        return sentence
    message = quoted(_message(outcome), model.api_key)
    detail = f': "{message}"' if message else ""
    return f"The language model's server {host} turned the request for {name} down ({outcome.status}){detail}."


def _by_status(outcome: HttpResult, model: ModelSettings) -> str:
    """Return the sentence for a status with a known meaning; "" for the others."""
    host, name, status = model.host, model.model, outcome.status
    look = f": look at {model.key_variable}" if model.key_variable else ""
    if status == 401 or (status == 400 and _BAD_KEY.search(_body_text(outcome))):
        return f"The server {host} does not accept the key for the language model {name} ({status}){look}."
    if status == 402 or any(code.encode() in outcome.content for code in QUOTA_EXHAUSTED):
        return f"The account at {host} has no credit left for the language model {name} ({status})."
    if status == 404 or (status == 400 and _NO_MODEL.search(_body_text(outcome))):
        return f"The server {host} knows no language model {name}, or its address is wrong ({status})."
    if status == 403:
        return f"The server {host} does not let this key use the language model {name} (403)."
    if status == 429:
        return f"The server {host} has had too many requests for the language model {name} (429): try again later."
    if 300 <= status < 400:
        return f"The server {host} sends requests on to another address ({status}): set the right one."
    if status >= 500:
        return f"The language model's server {host} failed ({status})."
    return ""


def error_of(outcome: HttpResult) -> dict[str, Any]:
    """Return the error object in a reply's body, {} where there is none. Some servers wrap it in a list."""
    body = outcome.body
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error", body) if isinstance(body, dict) else {}
    return error if isinstance(error, dict) else {"message": str(error)}


def is_overflow(outcome: HttpResult) -> bool:
    """Return whether the server reports that prompt and answer exceed the model's context."""
    return outcome.status in (400, 413, 422) and bool(outcome.status == 413 or _OVERFLOW.search(_body_text(outcome)))


def _is_filtered(outcome: HttpResult) -> bool:
    return outcome.status == 400 and error_of(outcome).get("code") == "content_filter"


def _message(outcome: HttpResult) -> str:
    message = error_of(outcome).get("message")
    return message if isinstance(message, str) else ""


def _body_text(outcome: HttpResult) -> str:
    return outcome.content.decode(errors="replace").casefold()
