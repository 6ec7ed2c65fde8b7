"""OpenAI's Responses API, for servers without chat completions: requests and replies in the form of the other API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.backends.http import HttpResult

MIN_OUTPUT_TOKENS = 16
"""OpenAI refuses fewer."""
_FINISH = {"max_output_tokens": "length", "content_filter": "content_filter"}


def request_from(completion: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request for a response in place of a chat completion. The API has no seed and no stop strings."""
    tokens = completion.get("max_tokens") or completion.get("max_completion_tokens") or MIN_OUTPUT_TOKENS
    request = {
        "model": completion["model"],
        "input": completion["messages"],
        "max_output_tokens": max(tokens, MIN_OUTPUT_TOKENS),
        "store": False,
    }
    if schema := completion.get("response_format"):
        request["text"] = {"format": {"type": "json_schema", **schema["json_schema"]}}
    if "top_logprobs" in completion:
        request["include"] = ["message.output_text.logprobs"]
    return request | {name: completion[name] for name in ("temperature", "top_logprobs") if name in completion}


def as_completion(outcome: HttpResult) -> HttpResult:
    """Return a response as a chat completion; any other result unchanged."""
    body = outcome.parsed
    if outcome.status != 200 or not isinstance(body, dict) or not isinstance(body.get("output"), list):
        return outcome
    messages = [each for each in body["output"] if isinstance(each, dict) and each.get("type") == "message"]
    parts = [part for each in messages for part in each.get("content") or () if isinstance(part, dict)]
    logprobs = [token for part in parts if isinstance(part.get("logprobs"), list) for token in part["logprobs"]]
    usage, details = body.get("usage"), body.get("incomplete_details")
    usage = usage if isinstance(usage, dict) else {}
    reason = details.get("reason") if isinstance(details, dict) else None
    choice = {
        "message": {
            "content": [part for part in parts if part.get("type") != "refusal"] or None,
            "refusal": next((part.get("refusal") for part in parts if part.get("type") == "refusal"), None),
        },
        "finish_reason": "error" if body.get("status") == "failed" else _FINISH.get(str(reason), "stop"),
        "logprobs": {"content": logprobs} if logprobs else None,
    }
    counts = {"prompt_tokens": usage.get("input_tokens"), "completion_tokens": usage.get("output_tokens")}
    completion = {"choices": [choice], "usage": counts, "error": body.get("error")}
    return replace(outcome, content=json.dumps(completion).encode())
