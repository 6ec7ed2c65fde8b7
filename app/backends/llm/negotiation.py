"""Learn which parameters an OpenAI-compatible endpoint accepts, and parse its replies."""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, FiniteFloat, TypeAdapter, ValidationError

from app.backends.http import HttpResult, quoted
from app.backends.llm.registry import ModelSettings
from app.domain.ports import OptionChoice
from app.text.options import option_in, plain, without_thoughts

_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size|string_above_max_length|context (?:length|window|size)"
    r"|(?:prompt|input|request) (?:is |was )?too (?:long|large)|too many (?:input |prompt )?tokens"
    r"|maximum number of tokens"
)
_NO_MODEL = re.compile(
    r"model_not_found|model\b.{0,100}\b(?:not found|does not exist|not exist|unknown|invalid)\b|not a valid model",
    re.DOTALL,
)

_BAD_KEY = re.compile(r"api.?key.{0,20}(?:not valid|invalid)|(?:invalid|incorrect) api.?key")
"""Some servers report a wrong key as a bad request (400)."""
_MODERATION = re.compile(r"moderation|flagged|content.{0,3}(?:policy|filter)|data_inspection|safety|harmful")
_PARAMETERS = re.compile(r"parameters|response_format|structured|schema")


def error_message(outcome: HttpResult, model: ModelSettings, seconds: float) -> str:
    """Return the sentence for a result without a reply; `seconds` is the time limit of one call."""
    host, name = model.host, model.model
    if outcome.timed_out:
        return f"The language model {name} at {host} did not answer within {seconds:g} seconds."
    if outcome.error:
        return f"The language model's server {host} {outcome.error}."
    if is_overflow(outcome):
        return f"The prompt is too long for the language model {name} at {host}."
    if outcome.status == 400 and _is_moderated(outcome):
        return f"The content filter of {host} turned the prompt down."
    if sentence := _by_status(outcome, model):
        return sentence
    said = quoted_message(outcome, model.api_key)
    return f"The language model's server {host} turned the request for {name} down ({outcome.status}){said}."


def _by_status(outcome: HttpResult, model: ModelSettings) -> str:
    """Return the sentence for a status with a known meaning; "" for the others."""
    host, name, status = model.host, model.model, outcome.status
    look = f": look at {model.key_variable}" if model.key_variable else ""
    if outcome.has_no_credit:
        return f"The account at {host} has no credit left for the language model {name} ({status})."
    if status == 401 or (status == 400 and _BAD_KEY.search(_body_text(outcome))):
        return f"The server {host} does not accept the key for the language model {name} ({status}){look}."
    if status == 404 or (status == 400 and _NO_MODEL.search(_body_text(outcome))):
        hint = "" if model.gguf or urlsplit(model.base_url).path.strip("/") else " Most addresses end in /v1."
        return f"The server {host} knows no language model {name}, or its address is wrong ({status}).{hint}"
    if status == 403 and outcome.content.lstrip().startswith(b"<"):
        return f"A gateway before {host} turned the request down with a web page (403)."
    if status == 403 and _MODERATION.search(_body_text(outcome)):
        return f"The moderation of {host} turned the prompt for the language model {name} down (403)."
    if status == 403:
        return f"The server {host} does not let this key use the language model {name} (403)."
    if status == 429:
        return f"The server {host} has had too many requests for the language model {name} (429): try again later."
    if 300 <= status < 400:
        return f"The server {host} sends requests on to another address ({status}): set the right one."
    if status >= 500:
        return f"The language model's server {host} failed ({status}){quoted_message(outcome, model.api_key)}."
    return ""


def error_of(outcome: HttpResult) -> dict[str, Any]:
    """Return the error object in a reply's body, or the whole body where it names none; {} for other content."""
    body = _object(outcome.parsed)
    error = body.get("error") or _first_choice(body).get("error") or body.get("errors") or body.get("base_resp") or body
    error = _object(error) or error
    if not isinstance(error, dict):
        return {"message": str(error)}
    message = next(filter(None, map(error.get, ("message", "msg", "detail", "status_msg"))), None)
    return {**error, "message": message}


def _object(body: Any) -> dict[str, Any]:
    if isinstance(body, list) and body:  # some servers wrap it
        body = body[0]
    return body if isinstance(body, dict) else {}


def _first_choice(body: dict[str, Any]) -> dict[str, Any]:
    choices = body.get("choices")
    return _object(choices) if isinstance(choices, list) else {}


_STREAM = re.compile(r"\A\s*(?:(?:data|event|id|retry)?:|\{)")
_STREAM_MARKS = re.compile(r"^(?:data:[ \t]*)+|^(?:event|id|retry)?:.*", re.MULTILINE)
"""The fields of server-sent events around their data, and comments."""
MAX_BROKEN_CHUNKS, MAX_FINISH_CHARACTERS = 50, 100


def unstreamed(outcome: HttpResult) -> HttpResult:
    """Return a reply that is streamed, or has marks of a stream around it, as a chat completion; others unchanged."""
    text = b"\n".join(outcome.content.splitlines()).decode("utf-8", errors="replace").removeprefix("\ufeff")
    if not _STREAM.match(text) or outcome.parsed is not None:
        return outcome
    chunks = list(_chunks(_STREAM_MARKS.sub("", text)))
    if not chunks and text.lstrip().startswith("{"):
        return outcome
    choices = [choice for chunk in chunks if (choice := _first_choice(chunk))]
    whole = [chunk for chunk in chunks if _first_choice(chunk).get("message")]
    texts = [_object(each.get("delta")).get("content") for each in choices]
    texts += [chunk.get("delta") for chunk in chunks if chunk.get("type") == "response.output_text.delta"]
    text = "".join(each for each in texts if isinstance(each, str))
    last = {name: value for chunk in chunks for name, value in chunk.items() if value}
    finish = next((each["finish_reason"] for each in reversed(choices) if each.get("finish_reason")), None)
    choice = {"message": {"content": text}, "finish_reason": finish}
    completion = last | {"choices": whole[-1]["choices"] if whole else [choice] if choices else []}
    if response := _object(last.get("response")):  # of the Responses API, whose last event has it whole, or nearly
        part = {"type": "output_text", "text": text}
        completion = response | {"output": response.get("output") or [{"type": "message", "content": [part]}]}
    return replace(outcome, content=json.dumps(completion).encode())


def _chunks(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a text, each from where the one before it ends; broken ones are left out."""
    at = broken = 0
    while broken < MAX_BROKEN_CHUNKS and (at := text.find("{", at)) >= 0:
        try:
            chunk, at = json.JSONDecoder().raw_decode(text, at)
            yield chunk
        except (ValueError, RecursionError):
            broken += 1
            if (at := text.find("\n", at)) < 0:
                return


FAILED = ("error", "network_error", "server_error", "insufficient_system_resource", "abort")
"""Reasons for the end of a reply with which servers report a failure of theirs."""


def with_reported_status(outcome: HttpResult) -> HttpResult:
    """Return the result with the status of an error that a server reports in a reply with status 200.

    A reply without anything in it has an error, so that it is asked for again.
    """
    body = _object(outcome.parsed) if outcome.status == 200 else {}
    choice = _first_choice(body)
    finish = finish_of(choice.get("finish_reason"))
    is_failed = finish in FAILED or body.get("object") == "error"
    is_code = not choice and bool(body.get("errors") or body.get("code") or body.get("success") is False)
    if not (is_failed or is_code or body.get("error") or choice.get("error")):
        said = {**_object(choice.get("message")), "role": None}
        is_empty = finish in ("stop", "end_turn") and said.get("content", "") is None and not any(said.values())
        return replace(outcome, error="sent an empty reply") if is_empty else outcome
    error = error_of(outcome)
    codes = (str(error.get(name)) for name in ("code", "status", "status_code"))
    return replace(outcome, status=next((int(code) for code in codes if re.fullmatch(r"[45]\d\d", code)), 502))


def is_overflow(outcome: HttpResult) -> bool:
    """Return whether the server reports that prompt and answer exceed the model's context."""
    return outcome.status in (400, 413, 422) and bool(outcome.status == 413 or _OVERFLOW.search(_body_text(outcome)))


def is_about_request(outcome: HttpResult) -> bool:
    """Return whether the server may have turned the request's form down, in whatever words."""
    body = _body_text(outcome)
    is_other = _BAD_KEY.search(body) or _NO_MODEL.search(body) or _is_moderated(outcome)
    is_unrouted = outcome.status == 404 and bool(_PARAMETERS.search(body))  # no server behind a gateway takes them
    is_refusal = outcome.status in (400, 422, 500, 501) or is_unrouted
    is_other = is_other or outcome.has_no_credit or _is_value_refused(outcome)
    return is_refusal and not is_overflow(outcome) and not is_other


def _is_moderated(outcome: HttpResult) -> bool:
    return bool(_MODERATION.search(str(error_of(outcome).get("code")).casefold()))


def no_reply_message(outcome: HttpResult, model: ModelSettings) -> str:
    """Return the sentence for a reply with status 200 that is no chat completion."""
    begin = outcome.content[:200].lstrip().lower()
    if outcome.kind == "text/html" or begin.startswith((b"<!doctype html", b"<html")):
        return f"The server {model.host} sent a web page and not a language model's reply: its address may be wrong."
    said = quoted_message(outcome, model.api_key)
    return f"The server {model.host} did not send a language model's reply{said}."


def quoted_message(outcome: HttpResult, key: str | None) -> str:
    """Return a colon and the quoted message of the reply's error object; "" where there is none."""
    message = error_of(outcome).get("message")
    text = quoted(message, key) if isinstance(message, str) else ""
    return f': "{text}"' if text else ""


def _body_text(outcome: HttpResult) -> str:
    return outcome.content.decode(errors="replace").casefold()


log = logging.getLogger(__name__)

THINKING_TOKENS = 4000
"""Tokens added for a reasoning model; OpenAI advises more for hard tasks, but these tasks are short."""

JSON_SCHEMA = "response_format"
_REFUSABLE = {
    JSON_SCHEMA: r"response_?format|json_?schema|structured outputs?|text\.format",
    "top_logprobs": r"top_?logprobs",
    "logprobs": r"logprobs",
    "temperature": r"temperature",
    "seed": r"seed",
    "stop": r"stop(?:_?sequences?| sequences?)?",
    "max_tokens": r"max_?tokens",
}
"""Optional parameters with the patterns of their names in error messages, in the order in which they are matched."""

_REFUSAL = re.compile(
    r"unsupported|not (?:\w+ )?support|unrecogni[sz]ed|unknown|not enabled|not permitted|not allowed|not available"
    r"|unexpected|cannot find|invalid|too (?:many|long)|at most|maximum|only"
)
_OUT_OF_RANGE = re.compile(
    r"too (?:large|small|high|low)|at (?:most|least)|(?:less|greater) than|between|maximum|minimum|range|exceed|[<>]="
)
MAX_SEARCHED_CHARACTERS = 500
"""Limit of the search for parameter names in an error: after it some servers echo the prompt."""


class ParameterNegotiation:
    """The parameters that one model accepts, learned from its error messages.

    Threads may share it: what one learns at the same moment as another is learned again.
    """

    def __init__(self, model: str, thinking_tokens: int | None = None) -> None:
        """`thinking_tokens` is the configured token allowance for reasoning; None detects reasoning models."""
        self._model = model
        self._thinking_tokens = THINKING_TOKENS if thinking_tokens is None else thinking_tokens
        self._thinks = bool(thinking_tokens)
        self._refused: frozenset[str] = frozenset()
        self._accepted: frozenset[str] = frozenset()
        self._doubted: frozenset[str] = frozenset()

    def adapt(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request with only the parameters that the model accepts.

        A reasoning model gets no stop strings, as they would end its reasoning: the caller cuts the text.
        """
        refused, thinks = self._refused | self._doubted, self._thinks
        unwanted = refused | ({"stop"} if thinks else set())
        if refused & {"logprobs", "top_logprobs"}:
            unwanted |= {"logprobs", "top_logprobs"}
        sent = {name: value for name, value in request.items() if name not in unwanted}
        limit = "max_completion_tokens" if "max_tokens" in refused else "max_tokens"
        sent[limit] = request["max_tokens"] + (self._thinking_tokens if thinks else 0)
        return sent

    def learn_refusal(self, outcome: HttpResult, sent: Mapping[str, Any]) -> bool:
        """Return True when `outcome` refuses a parameter in `sent`, which is left out from now on: then retry."""
        name = refused_parameter(outcome, sent)
        if name is None:
            return False
        self._refused |= {name}
        # OpenAI's reasoning models support max_completion_tokens only.
        self._thinks = self._thinks or name == "max_tokens"
        log.info("%s refuses the parameter %s: leaving it out from now on", self._model, name)
        return True

    def doubt(self, sent: Mapping[str, Any]) -> bool:
        """Leave out the parameters in `sent` that were never accepted, for one try; return whether there are any.

        A schema is left out first, since the prompts for text differ.
        """
        doubted = {name for name in _REFUSABLE if name in sent and name != "max_tokens"} - self._accepted
        doubted = {JSON_SCHEMA} if JSON_SCHEMA in doubted else doubted
        self._doubted |= doubted
        return bool(doubted)

    def settle(self, sent: Mapping[str, Any], is_accepted: bool) -> None:
        """Record whether the server accepted the request: what was doubted is then refused, or not to blame."""
        if is_accepted:
            self._refused |= self._doubted
            self._accepted |= sent.keys()
        self._doubted = frozenset()

    @property
    def has_json_schema(self) -> bool:
        """Return whether JSON may be requested: until the server has refused or ignored a schema."""
        return JSON_SCHEMA not in self._refused | self._doubted

    def learn_no_json_schema(self) -> None:
        """Record that the server ignores the JSON schema of a reply."""
        self._refused |= {JSON_SCHEMA}
        log.info("%s ignores JSON schemas: asking it in text from now on", self._model)

    def learn_thinking(self, sent: Mapping[str, Any], max_tokens: int) -> bool:
        """Record that reasoning used up all tokens; return True when a retry would get more for it."""
        given = sent.get("max_tokens") or sent.get("max_completion_tokens") or 0
        if given > max_tokens or not self._thinking_tokens:
            return False
        self._thinks = True
        log.info("%s reasons before it answers: allowing it %d more tokens", self._model, self._thinking_tokens)
        return True


_VALUES = ("max_tokens", "temperature", "seed")
"""Parameters whose values runs set."""


def _is_value_refused(outcome: HttpResult) -> bool:
    words = outcome.content[:MAX_SEARCHED_CHARACTERS].decode(errors="replace").casefold()
    return bool(_OUT_OF_RANGE.search(words)) and any(re.search(_REFUSABLE[name], words) for name in _VALUES)


def refused_parameter(outcome: HttpResult, sent: Mapping[str, Any]) -> str | None:
    """Return the parameter in `sent` that the server refuses, None when its reply names none.

    A value that a run has set and that is out of range does not count: other runs send another value.
    """
    if outcome.status not in (400, 403, 422) or is_overflow(outcome):
        return None
    words = outcome.content[:MAX_SEARCHED_CHARACTERS].decode(errors="replace").casefold()
    name = error_of(outcome).get("param")
    if not (isinstance(name, str) and name in _REFUSABLE and name in sent):
        patterns = _REFUSABLE.items() if _REFUSAL.search(words) else ()
        named = (each for each, written in patterns if re.search(rf"(?<![a-z_]){written}(?![a-z_])", words))
        name = next((each for each in named if each in sent), None)
    is_value = name in _VALUES and sent[name] and _OUT_OF_RANGE.search(words)
    return None if is_value else name


# Parsing of chat completions. Servers differ in the optional fields, so only the needed ones are validated.

_JSON_VALUE = re.compile(r'\A\{\s*"[^"]*"\s*:\s*"')


@dataclass(frozen=True, slots=True)
class Reply:
    """A parsed chat completion."""

    text: str | None
    """The text without the reasoning before it; None when the server sent no text."""
    finish: str
    refusal: str
    first: dict[str, float]
    """Log-probabilities of the alternatives for the first word's token; empty where the server reports none."""
    prompt_tokens: int
    """Like `completion_tokens`, 0 where the server reports no count."""
    completion_tokens: int


class _Alternative(BaseModel):
    token: str
    logprob: FiniteFloat


class _Token(_Alternative):
    top_logprobs: list[_Alternative] = []


class _Message(BaseModel):
    content: str | list[Any] | dict[str, Any] | None = None
    refusal: str | None = None
    reasoning: Any = None
    reasoning_content: Any = None
    function_call: Any = None
    tool_calls: Any = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: Any = None
    logprobs: Any = None


class _Completion(BaseModel):
    choices: list[_Choice]
    usage: Any = None


Tokens = Annotated[int, Field(ge=0, le=100_000_000)]
"""No context is longer; a server that reports more counts as one that reports nothing."""


class _Usage(BaseModel):
    prompt_tokens: Tokens | None = 0
    completion_tokens: Tokens | None = 0


_tokens = TypeAdapter(list[_Token])

TEXT_PARTS = ("text", "output_text")
NO_CHOICE = "no choice"
"""`Reply.finish` for an empty list of choices."""


def parse_reply(outcome: HttpResult, is_json: bool = False) -> Reply | None:
    """Parse a reply's body; None when it is not a chat completion. An empty list of choices gives no text.

    Where JSON was asked for, it may stand in the arguments of a call of a function.
    """
    try:
        completion = _Completion.model_validate(outcome.parsed)
    except ValidationError:
        return None
    choice = completion.choices[0] if completion.choices else _Choice(message=_Message(), finish_reason=NO_CHOICE)
    message = choice.message
    text = _text_of(message.content)
    if not text and any((message.reasoning, message.reasoning_content, message.tool_calls, message.function_call)):
        called = _object(_object(message.tool_calls).get("function") or message.function_call)
        written = called.get("arguments") if is_json else None
        text = written if isinstance(written, str) else text if is_json else None
    if text is not None:
        text = without_thoughts(_storable(text))
    usage = _usage(completion.usage)
    return Reply(
        text,
        finish_of(choice.finish_reason),
        message.refusal or "",
        _first_token(choice.logprobs, text or ""),
        usage.prompt_tokens or 0,
        usage.completion_tokens or 0,
    )


def finish_of(reason: Any) -> str:
    """Return the reason for the end of a reply without the spelling of its server: FinishReason.MAX-TOKENS."""
    return str(reason or "")[-MAX_FINISH_CHARACTERS:].casefold().rpartition(".")[2].replace("-", "_")


def _text_of(content: str | list[Any] | dict[str, Any] | None) -> str | None:
    """Return the content as text; of a list of parts those with text, without reasoning."""
    if content is None or isinstance(content, str):
        return content
    content = content if isinstance(content, list) else [content]
    parts = [{"text": part} if isinstance(part, str) else part for part in content]
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type", "text") in TEXT_PARTS]
    texts = [each.get("value") if isinstance(each, dict) else each for each in texts]
    return "".join(each for each in texts if isinstance(each, str)) if texts else None


def _usage(raw: Any) -> _Usage:
    try:
        return _Usage.model_validate(raw)
    except ValidationError:
        return _Usage()


def _first_token(logprobs: Any, text: str) -> dict[str, float]:
    """Return the alternatives for the token that begins the first word, or value in JSON; {} without such a token."""
    try:
        tokens = _tokens.validate_python(logprobs["content"])
    except (ValidationError, TypeError, KeyError):
        return {}
    if value := _JSON_VALUE.match(text):
        ends = accumulate(len(each.token) for each in tokens)
        token = next((each for each, end in zip(tokens, ends, strict=True) if end > value.end()), None)
        is_in_reply = "".join(each.token for each in tokens).startswith(value.group())
    else:
        token = next((each for each in tokens if plain(each.token)), None)
        is_in_reply = token is not None and plain(text).startswith(plain(token.token))
    if token is None or not is_in_reply:
        return {}  # some servers also report the tokens of the reasoning, with which the reply does not begin
    return {_storable(each.token): each.logprob for each in token.top_logprobs}


def _storable(text: str) -> str:
    """Remove NUL, which some databases reject, and replace lone surrogates with a question mark."""
    return text.replace("\0", "").encode(errors="replace").decode()


# A choice among options: by the probabilities of the first token, else by the text.

MIN_OPTIONS_PROBABILITY = 0.5
"""The first token decides if the total probability of the options is at least this; else the text is parsed."""


def choose_option(text: str, first: Mapping[str, float], options: Sequence[str]) -> OptionChoice | None:
    """Return the chosen option; None when neither the probabilities nor the text name exactly one.

    `first` maps the alternatives for the first token to their log-probabilities. The choice's probability is its
    share among the options; None where the server reported none or the text names another option than the likeliest.
    """
    shares = _shares(first, options)
    total = sum(shares.values())
    likeliest = max(shares, key=lambda option: shares[option])
    if total >= MIN_OPTIONS_PROBABILITY and list(shares.values()).count(shares[likeliest]) == 1:
        return OptionChoice(likeliest, shares[likeliest] / total)
    named = option_in(text, options)
    if named is None:
        return None
    return OptionChoice(named, shares[named] / total if total and named == likeliest else None)


def _shares(first: Mapping[str, float], options: Sequence[str]) -> dict[str, float]:
    """Return the probability that the first token begins each option; tokens that begin two options are ignored."""
    shares = dict.fromkeys(options, 0.0)
    for token, logprob in first.items():
        matches = [option for option in options if _begins(plain(token), plain(option))]
        if len(matches) == 1:
            shares[matches[0]] += math.exp(min(logprob, 0.0))
    return shares


def _begins(token: str, option: str) -> bool:
    # A single letter begins too many other words, unless it is the whole option.
    return token == option or (len(token) > 1 and option.startswith(token))


def with_options_listed(prompt: str, options: Sequence[str]) -> str:
    return f"{prompt}\n\nAnswer with exactly one of these and nothing else: {' | '.join(options)}\nAnswer:"
