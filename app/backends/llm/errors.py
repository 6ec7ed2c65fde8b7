"""A server's failure as one clear sentence for the page: what went wrong and where to look, no key and no trace."""

from __future__ import annotations

import re
from typing import Any

from app.backends.http import SPENT, Outcome, quoted
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


def complaint(outcome: Outcome, model: ModelSettings, seconds: float) -> str:
    """The sentence for an outcome without a reply; `seconds` is what one call may take."""
    host, name = model.host, model.model
    if outcome.late:
        return f"The language model {name} at {host} did not answer within {seconds:g} seconds."
    if outcome.trouble:
        return f"The language model's server {host} {outcome.trouble}."
    if is_overflow(outcome):
        return f"The prompt is too long for the language model {name} at {host}."
    if _is_filtered(outcome):
        return f"The content filter of {host} turned the prompt down."
    if sentence := _by_status(outcome, model):
        return sentence
    said = quoted(_message(outcome), model.api_key)
    told = f': "{said}"' if said else ""
    return f"The language model's server {host} turned the request for {name} down ({outcome.status}){told}."


def _by_status(outcome: Outcome, model: ModelSettings) -> str:
    """The sentence of a status that needs no quoting; "" for the others."""
    host, name, status = model.host, model.model, outcome.status
    look = f": look at {model.key_variable}" if model.key_variable else ""
    if status == 401 or (status == 400 and _BAD_KEY.search(_words(outcome))):
        return f"The server {host} does not accept the key for the language model {name} ({status}){look}."
    if status == 402 or any(code.encode() in outcome.content for code in SPENT):
        return f"The account at {host} has no credit left for the language model {name} ({status})."
    if status == 404 or (status == 400 and _NO_MODEL.search(_words(outcome))):
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


def error_of(outcome: Outcome) -> dict[str, Any]:
    """The error in a reply's body, {} where there is none. Some servers wrap it in a list."""
    body = outcome.body
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error", body) if isinstance(body, dict) else {}
    return error if isinstance(error, dict) else {"message": str(error)}


def is_overflow(outcome: Outcome) -> bool:
    """Whether the server says that prompt and answer do not fit into the model's context."""
    return outcome.status in (400, 413, 422) and bool(outcome.status == 413 or _OVERFLOW.search(_words(outcome)))


def _is_filtered(outcome: Outcome) -> bool:
    return outcome.status == 400 and error_of(outcome).get("code") == "content_filter"


def _message(outcome: Outcome) -> str:
    message = error_of(outcome).get("message")
    return message if isinstance(message, str) else ""


def _words(outcome: Outcome) -> str:
    return outcome.content.decode(errors="replace").casefold()
