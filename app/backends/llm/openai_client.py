"""Client for language models behind OpenAI's chat protocol: OpenAI, a gateway, vLLM, Ollama, a GGUF file and others.

A text prompt is one user message; a Chat is a system message, its demonstrations as turns, and the case. Decoding is
greedy (temperature 0, seed 1) unless a run sets other values. Setup: docs/models.md.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from app.backends.http import HttpResult, RetryPolicy, body_of, quoted, result_from_error, run_with_deadline
from app.backends.llm.negotiation import (
    JSON_SCHEMA,
    NO_CHOICE,
    THINKING_TOKENS,
    ParameterNegotiation,
    Reply,
    choose_option,
    error_message,
    is_about_request,
    no_reply_message,
    parse_reply,
    unstreamed,
    with_options_listed,
    with_reported_status,
)
from app.backends.llm.registry import RESPONSES, ModelSettings, unavailable_reason
from app.backends.local.llama_cpp import ChatTransport, one_of_grammar
from app.domain.errors import CallFailed, UnparseableOutput
from app.domain.instrumentation import Call, cached_call, cached_if_readable, report_problem, report_usage
from app.domain.messages import Code
from app.domain.model import Usage
from app.domain.ports import Chat, OptionChoice
from app.text.options import json_in, json_values, unwrapped

KEY = "{key}"
NO_KEY = "none"
"""Placeholder where no key is set: the client requires one, and local servers ignore it."""
_ENDPOINT = re.compile(r"(?:/(?:chat/completions|responses))?/*\Z")
"""The end of an address that is the endpoint's own, or a slash."""


class OpenAITransport:
    """Requests to a model's server, without streaming."""

    def __init__(self, model: ModelSettings) -> None:
        self._model = model
        self._has_responses = model.api == RESPONSES
        self.address = f"{model.base_url} ({model.api})" if self._has_responses else model.base_url

    def open(self) -> Any:
        """Create the client once. This takes a second or two, so do it before a deadline starts."""
        with _client_lock:
            return self._client

    @cached_property
    def _client(self) -> Any:
        import openai

        key, given, url = self._model.api_key, self._model.headers, urlsplit(self._model.base_url)
        is_fixed = any(name.lower() == "authorization" for name in given)
        has_own_key_header = not is_fixed and any(KEY in text for text in given.values())

        class LimitedClient(openai.DefaultAsyncHttpxClient):
            """Reads at most `_reply_limit` bytes of a reply, decompressed, also of an error."""

            async def send(self, request: Any, **options: Any) -> Any:
                if has_own_key_header:
                    request.headers.pop("authorization", None)
                response = await super().send(request, **(options | {"stream": True}))
                try:
                    content = await body_of(response, _reply_limit.get())
                finally:
                    await response.aclose()
                headers = [each for each in response.headers.multi_items() if each[0] not in _OF_TRANSPORT]
                return type(response)(response.status_code, headers=headers, content=content, request=request)

        # At DEBUG these log whole prompts, at INFO a line for every call.
        for name in ("openai", "httpx2", "httpcore2"):
            logging.getLogger(name).setLevel(logging.WARNING)
        return openai.AsyncOpenAI(
            api_key=key or NO_KEY,
            base_url=_ENDPOINT.sub("", url._replace(query="", fragment="").geturl()),
            default_headers={name: text.replace(KEY, key or "") for name, text in given.items()},
            default_query=dict(parse_qsl(url.query)),  # such as Azure's api-version
            timeout=None,
            max_retries=0,
            # A redirect would send the claim to a host that users were not shown.
            http_client=LimitedClient(follow_redirects=False),
        )

    def post(self, parameters: Mapping[str, Any], seconds: float) -> HttpResult:
        """Request a chat completion and wait at most `seconds`. Never raises."""
        client, limit = self.open(), max_reply_bytes(parameters)
        if not self._has_responses:
            asked = _post(client.chat.completions, parameters, self._model.extra, limit)
            return unstreamed(run_with_deadline(asked, seconds))
        asked = _post(client.responses, request_from(parameters), self._model.extra, limit)
        return as_completion(unstreamed(run_with_deadline(asked, seconds)))


_client_lock = threading.Lock()
_reply_limit: ContextVar[int] = ContextVar("bytes that the reply to the current request may have")
_OF_TRANSPORT = ("content-encoding", "content-length")
"""Headers that no longer hold for a body that was read."""


async def _post(resource: Any, parameters: Mapping[str, Any], extra: Mapping[str, Any], limit: int) -> HttpResult:
    import openai

    _reply_limit.set(limit)  # each request is a task with a context of its own
    try:
        reply = (await resource.with_raw_response.create(**parameters, extra_body=extra or None)).http_response
    except openai.APIStatusError as error:
        reply = error.response
    except openai.APIConnectionError as error:
        return result_from_error(error.__cause__)
    return HttpResult(reply.status_code, dict(reply.headers), reply.content)


REPLY_OVERHEAD_BYTES = 200_000
BYTES_PER_TOKEN, BYTES_PER_TOKEN_WITH_ALTERNATIVES = 80, 3_000
MAX_REPLY_CHARACTERS = 50_000
"""Characters of a reply that are read, however many tokens it may have."""
MAX_CHARACTERS_PER_TOKEN, MAX_PROMPT_CHARACTERS_PER_TOKEN = 12, 7
"""A longer reply than its tokens can hold is cut; a prompt with more characters than its tokens can hold was cut."""
MIN_MISSING_TOKENS = 50
"""Tokens by which a server must report too few before its prompts count as cut."""


def max_reply_bytes(parameters: Mapping[str, Any]) -> int:
    """Return the bytes that a reply to this request may have, decompressed; more are not read."""
    tokens = parameters.get("max_tokens") or parameters.get("max_completion_tokens") or 0
    per_token = BYTES_PER_TOKEN_WITH_ALTERNATIVES if "top_logprobs" in parameters else BYTES_PER_TOKEN
    return int(REPLY_OVERHEAD_BYTES + (tokens + THINKING_TOKENS) * per_token)  # a server may reason unasked


# OpenAI's Responses API, for servers without chat completions: requests and replies in the form of the other API.

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


FILTERED = re.compile(r"content_filter|sensitive|safety|recitation|prohibited|blocklist|spii|guardrail")
CUT_OFF = re.compile(r"length|max_?(?:\w+_)?tokens|token_limit|context_window|truncated|incomplete")
"""Reasons for the end of a reply that a server's filter stopped, and of one that is as long as it may be."""
SEED = 1


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters, None for the usual ones. `max_tokens` limits texts, but not choices among options."""

    seed: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None


Messages = list[dict[str, str]]


class NoJsonSchema(UnparseableOutput):
    """The server does not write replies that fit a JSON schema."""


def _messages(prompt: str | Chat) -> Messages:
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}]
    turns = chain.from_iterable((("user", case), ("assistant", reply)) for case, reply in prompt.shown)
    messages = (("system", prompt.system), *turns, ("user", prompt.case))
    return [{"role": role, "content": text} for role, text in messages]


YES_OR_NO = dict.fromkeys(("true", "1", "y"), "Yes") | dict.fromkeys(("false", "0", "n"), "No")
CHOICE_TOKENS = 16
"""Tokens for the reply to a choice: enough for an option with a few words, or JSON, around it."""
ALTERNATIVES = 20
"""Alternatives requested for each token: OpenAI's maximum."""


class OpenAIChat:
    """Implements `TextGenerator`. Thread-safe. Keep one per process: it remembers which parameters are refused."""

    def __init__(
        self,
        model: ModelSettings,
        call_seconds: float,
        retry_policy: RetryPolicy | None = None,
        transport: ChatTransport | None = None,
    ) -> None:
        """`call_seconds` limits one call, including waits and retries. `transport` replaces the one to a server."""
        self.name = model.name
        self.destination = model.destination
        self._model = model
        self._call_seconds = call_seconds
        self._retry_policy = retry_policy or RetryPolicy()
        self._transport = transport or OpenAITransport(model)
        self._negotiation = ParameterNegotiation(model.model, model.thinking_tokens)
        self._sampling = Sampling()
        self._is_text_only = False

    def sampled(self, sampling: Sampling, is_text_only: bool = False) -> OpenAIChat:
        """Return this model with another sampling; one that `is_text_only` is never asked for JSON."""
        other = copy(self)
        other._sampling, other._is_text_only = sampling, is_text_only
        return other

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
        """Return the model's reply to `prompt`, up to any of `stop`. Raises CallFailed."""
        return self._cached_reply(_messages(prompt), self._sampling.max_tokens or max_tokens, stop)["text"]

    def choose(self, prompt: str, options: Sequence[str]) -> OptionChoice:
        """Return the option that the model chooses, asked again with the options listed if it names none."""
        tokens = max(CHOICE_TOKENS, *(len(option) for option in options))
        try:
            return self._chosen(prompt, options, tokens)
        except UnparseableOutput:
            return self._chosen(with_options_listed(prompt, options), options, tokens)

    def complete_chat(self, chat: Chat, *, max_tokens: int) -> str | None:
        """Return the reply in JSON, None if the server has no JSON schemas or cut it off. Raises CallFailed."""
        reply = self._chat_reply(chat, self._sampling.max_tokens or max_tokens)
        return reply["text"] if reply else None

    def choose_in_chat(self, chat: Chat, options: Sequence[str]) -> OptionChoice | None:
        """Return the option that the model chooses; None in the same cases. Raises as above."""
        reply = self._chat_reply(chat, CHOICE_TOKENS, options)
        if reply is None:
            return None
        (name,) = chat.schema["properties"]
        said = str(json.loads(reply["text"])[name])
        said = YES_OR_NO.get(said.casefold().strip(), said) if "Yes" in options else said
        choice = choose_option(said, reply["first"], options)
        if choice is None:
            self._negotiation.learn_no_json_schema()
        return choice

    def _chat_reply(self, chat: Chat, max_tokens: int, options: Sequence[str] = ()) -> dict[str, Any] | None:
        if self._is_text_only or not self._negotiation.has_json_schema:
            return None
        with suppress(NoJsonSchema), cached_if_readable():
            described = {"name": chat.name, "strict": True, "schema": chat.schema}
            form: dict[str, Any] = {JSON_SCHEMA: {"type": "json_schema", "json_schema": described}}
            reply = self._cached_reply(_messages(chat), max_tokens, options=options, **form)
            text = unwrapped(reply["text"])
            wanted = chat.schema["properties"]
            for value in json_values(text):
                items = value.items() if isinstance(value, dict) else ()
                named = {name.casefold().strip(): each for name, each in items}
                if wanted.keys() <= named.keys():
                    values = {name: fitted(named[name], schema) for name, schema in wanted.items()}
                    return reply | {"text": json.dumps(values, ensure_ascii=False)}
            # Grammars that allow any white space let a small model write it without end: text has no such end.
            is_cut_off = text.lstrip().startswith("{") and json_in(text) is None
            if not is_cut_off:
                self._negotiation.learn_no_json_schema()
            raise NoJsonSchema  # ends the blocks above: the reply is not stored
        return None

    def _chosen(self, prompt: str, options: Sequence[str], max_tokens: int) -> OptionChoice:
        with cached_if_readable():
            reply = self._cached_reply(_messages(prompt), max_tokens, options=options)
            if choice := choose_option(reply["text"], reply["first"], options):
                return choice
            raise UnparseableOutput(f"The language model {self._model.model} chose none of: {', '.join(options)}.")

    def _cached_reply(
        self,
        messages: Messages,
        max_tokens: int,
        stop: Sequence[str] = (),
        options: Sequence[str] = (),
        **more: Any,
    ) -> dict[str, Any]:
        """Return {"text": the reply, "first": log-probabilities of the alternatives for its first word}.

        `options` are those of a choice; a model in this process can write nothing else. The cache key is the full
        request, including parameters that the model refuses.
        """
        request: dict[str, Any] = {
            "messages": messages,
            "max_tokens": max_tokens,
            "temperature": self._sampling.temperature or 0,
            "seed": SEED if self._sampling.seed is None else self._sampling.seed,
            **more,
        }
        if stop:
            request["stop"] = list(stop)
        if options:
            request |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
            request |= {"grammar": one_of_grammar(options)} if self._model.gguf else {}
        extra = {"extra": self._model.extra} if self._model.extra else {}
        call = Call(f"{self._model.model} at {self._transport.address}", request | extra, costly=True)
        return cached_call(call, lambda: self._request_reply(request))

    def _request_reply(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send the request, and again without the parameters that the model refuses, until it accepts one."""
        if reason := unavailable_reason(self._model):
            raise CallFailed(f"The language model {self.name} cannot be asked. {reason}")
        self._transport.open()
        deadline = self._retry_policy.clock() + self._call_seconds
        problem = ""
        while True:
            adapted = self._negotiation.adapt(request)
            response = self._retry_policy.run(partial(self._post, adapted), deadline, self._model.host)
            if response.status == 200:
                reply = self._parsed(response, adapted)
                self._negotiation.settle(adapted, is_accepted=True)
                if not (_is_spent(reply) and self._negotiation.learn_thinking(adapted, request["max_tokens"])):
                    text = self._text_up_to(reply, request.get("stop", ()))
                    length = min(request["max_tokens"] * MAX_CHARACTERS_PER_TOKEN, MAX_REPLY_CHARACTERS)
                    return {"text": text[:length], "first": reply.first}
            elif not self._negotiation.learn_refusal(response, adapted):
                problem = problem or error_message(response, self._model, self._call_seconds)
                is_plain = not is_about_request(response) or (response.status >= 500 and JSON_SCHEMA not in adapted)
                if is_plain or not self._negotiation.doubt(adapted):
                    self._negotiation.settle(adapted, is_accepted=False)
                    raise CallFailed(problem)
            if JSON_SCHEMA in request and not self._negotiation.has_json_schema:
                raise NoJsonSchema

    def _post(self, adapted: Mapping[str, Any], seconds: float) -> HttpResult:
        result = with_reported_status(self._transport.post({"model": self._model.model, **adapted}, seconds))
        # Some servers answer 500 to a schema or a system message: without one they may answer at once.
        return replace(result, permanent=True) if result.status in (500, 501) and JSON_SCHEMA in adapted else result

    def _parsed(self, response: HttpResult, adapted: Mapping[str, Any]) -> Reply:
        """Parse the reply and report its token usage. Raises CallFailed when it is not a chat completion."""
        reply = parse_reply(response, is_json=JSON_SCHEMA in adapted)
        if reply is None:
            raise CallFailed(no_reply_message(response, self._model))
        report_usage(Usage(1, reply.prompt_tokens, reply.completion_tokens, cost=self._cost(reply)))
        characters = sum(len(message["content"]) for message in adapted["messages"])
        if 0 < reply.prompt_tokens < characters / MAX_PROMPT_CHARACTERS_PER_TOKEN - MIN_MISSING_TOKENS:
            report_problem(Code.PROMPT_CUT(host=self._model.host, tokens=reply.prompt_tokens, characters=characters))
        return reply

    def _cost(self, reply: Reply) -> float | None:
        prices = self._model.prompt_price, self._model.completion_price
        if prices[0] is None or prices[1] is None:
            return None
        return (reply.prompt_tokens * prices[0] + reply.completion_tokens * prices[1]) / 1_000_000

    def _text_up_to(self, reply: Reply, stop: Sequence[str]) -> str:
        """Return the reply's text up to any of `stop`, which the server may have ignored. Raises CallFailed."""
        who = f"The language model {self._model.model} at {self._model.host}"
        if reply.finish == NO_CHOICE:
            raise CallFailed(f"{who} replied without an answer: its list of choices is empty.")
        if FILTERED.search(reply.finish):
            raise CallFailed(f"{who} was stopped by its server's content filter.")
        if reply.refusal:
            raise CallFailed(f'{who} declined to answer: "{quoted(reply.refusal, self._model.api_key)}".')
        if _is_spent(reply):
            raise CallFailed(f"{who} used up its tokens before it wrote an answer: give it more thinking_tokens.")
        if reply.text is None:
            called = " but called a tool" if reply.finish in ("tool_calls", "function_call") else ""
            raise CallFailed(f"{who} replied without any text{called}.")
        text = reply.text.lstrip()
        return text[: min((at for each in stop if (at := text.find(each)) >= 0), default=len(text))]


def ask_for_a_word(model: ModelSettings, seconds: float) -> None:
    """Test the connection to a model's server, its key and the model's name. Raises CallFailed."""
    OpenAIChat(model, seconds).complete("Say: yes", max_tokens=3)


def _is_spent(reply: Reply) -> bool:
    return bool(CUT_OFF.search(reply.finish)) and not (reply.text or "").strip()


def fitted(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return a value of a reply in the type that its schema names: text, a list of texts, or None where allowed."""
    if value is None:
        return None
    if schema["type"] == "array":
        return next(json_values(value), value.splitlines()) if isinstance(value, str) else value
    if isinstance(value, list):
        value = " ".join(map(str, value))
    elif isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    is_null = "null" in schema["type"] and str(value).casefold().strip(" .") in ("null", "none", "n/a", "")
    return None if is_null else str(value)
