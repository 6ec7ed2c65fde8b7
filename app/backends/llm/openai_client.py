"""A language model behind any server that speaks OpenAI's chat protocol: OpenAI, a gateway, vLLM, llama.cpp, Ollama ...

One prompt is one user message, asked greedily (temperature 0, a fixed seed). Whatever goes wrong is a CallFailed with
one clear sentence; nothing is asked for ever. docs/language-models.md says how to set models up.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from app.backends.http import Outcome, Patience, awaited, quoted, troubled
from app.backends.llm.errors import complaint, error_of
from app.backends.llm.negotiation import Accepted, Reply, chosen, read, spelled_out
from app.backends.llm.registry import ModelSettings, availability
from app.domain.calls import Call, cached_call
from app.domain.errors import CallFailed, UnparseableOutput
from app.domain.model import Usage
from app.domain.ports import Choice
from app.domain.progress import used

# The line to a server that speaks OpenAI's chat protocol: one request, one outcome, never later than its deadline.
#
# Replies are not streamed: nothing shows half a reply, HTTP itself notices one that is cut off, and every server counts
# tokens in a whole reply.

NO_KEY = "none"
"""What is sent where no key is set: the client insists on one, and local servers read none."""


class Line:
    """Asks one server with one key. Safe to share between threads; the client is made at the first request."""

    def __init__(self, base_url: str, api_key: str | None) -> None:
        self._base_url = base_url
        self._api_key = api_key
        self._client: Any = None
        self._making = threading.Lock()

    def post(self, parameters: Mapping[str, Any], seconds: float) -> Outcome:
        """Ask for a chat completion and wait for it at most `seconds`. Never raises."""
        return awaited(_post(self.open(), parameters, seconds), seconds)

    def open(self) -> Any:
        """The client, made once. The first in a process takes a second or two, which count for no deadline."""
        with self._making:
            if self._client is None:
                self._client = self._make()
            return self._client

    def _make(self) -> Any:
        import openai

        # At DEBUG these write whole prompts, at INFO a line for every call that says less than the run's own.
        for name in ("openai", "httpx2", "httpcore2"):
            logging.getLogger(name).setLevel(logging.WARNING)
        return openai.AsyncOpenAI(
            api_key=self._api_key or NO_KEY,
            base_url=self._base_url,
            timeout=None,
            max_retries=0,
            # Whoever is redirected sends the claim to a host that the page did not name.
            http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False),
        )


async def _post(client: Any, parameters: Mapping[str, Any], seconds: float) -> Outcome:
    import openai

    try:
        async with asyncio.timeout(seconds):
            reply = (await client.chat.completions.with_raw_response.create(**parameters)).http_response
    except TimeoutError:
        return Outcome(late=True)
    except openai.APIStatusError as error:
        reply = error.response
    except openai.APIConnectionError as error:
        return troubled(error.__cause__)
    except Exception as error:  # its text may hold the key, as that of a header which cannot be written does
        return Outcome(trouble=f"could not be asked ({type(error).__name__})", hopeless=True)
    return Outcome(reply.status_code, {name.lower(): text for name, text in reply.headers.items()}, reply.content)


SEED = 1
CHOICE_TOKENS = 16
"""Enough for an option and the words around it; a longer option gets more."""
ALTERNATIVES = 20
"""What the first token might have been: as many as OpenAI tells."""


class OpenAIChat:
    """Implements `TextGenerator`. Safe to share between threads; the client is made at the first call.

    What the model refuses is remembered in this object, so keep one for the life of the process.
    """

    def __init__(self, model: ModelSettings, call_seconds: float, patience: Patience | None = None) -> None:
        """`call_seconds` is the most that one call takes, waits and further tries included."""
        self.name = model.name
        self.destination = model.destination
        self._model = model
        self._call_seconds = call_seconds
        self._patience = patience or Patience()
        self._line = Line(model.base_url, model.api_key)
        self._accepted = Accepted(model.model, model.thinking_tokens)

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
        """The model's reply to `prompt`, up to any of `stop`. Raises CallFailed."""
        return self._ask(prompt, max_tokens, stop)["text"]

    def choose(self, prompt: str, options: Sequence[str]) -> Choice:
        """The option that the model answers `prompt` with; it is asked a second time with the options spelled out.

        Raises UnparseableOutput when it names none of them even then, CallFailed when it cannot be asked.
        """
        tokens = max(CHOICE_TOKENS, *(len(option) for option in options))
        for asked in (prompt, spelled_out(prompt, options)):
            said = self._ask(asked, tokens, alternatives=True)
            if choice := chosen(said["text"], said["first"], options):
                return choice
        raise UnparseableOutput(f"The language model {self._model.model} chose none of: {', '.join(options)}.")

    def _ask(
        self, prompt: str, max_tokens: int, stop: Sequence[str] = (), alternatives: bool = False
    ) -> dict[str, Any]:
        """{"text", "first"}: the reply, made or cached by what was asked for, whatever of it the model refuses."""
        request: dict[str, Any] = {
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": max_tokens,
            "temperature": 0,
            "seed": SEED,
        }
        if stop:
            request["stop"] = list(stop)
        if alternatives:
            request |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
        call = Call(f"{self._model.model} at {self._model.base_url}", request, costly=True)
        return cached_call(call, lambda: self._made(request))

    def _made(self, request: dict[str, Any]) -> dict[str, Any]:
        """Ask until the model takes the request as it is sent; each refusal makes the next one shorter."""
        if reason := availability(self._model):
            raise CallFailed(f"The language model {self.name} cannot be asked. {reason}")
        self._line.open()
        deadline = self._patience.clock() + self._call_seconds
        while True:
            sent = self._accepted.adapted(request)
            outcome = self._patience.outcome(partial(self._post, sent), deadline, self._model.host)
            if outcome.status == 200:
                reply = self._read(outcome)
                if not (_is_spent(reply) and self._accepted.learn_thinking(sent, request["max_tokens"])):
                    return {"text": self._text(reply, request.get("stop", ())), "first": reply.first}
            elif not self._accepted.learn_refusal(outcome, sent):
                raise CallFailed(complaint(outcome, self._model, self._call_seconds))

    def _post(self, sent: Mapping[str, Any], seconds: float) -> Outcome:
        return self._line.post({"model": self._model.model, **sent}, seconds)

    def _read(self, outcome: Outcome) -> Reply:
        """The reply in a body, its tokens reported. Raises CallFailed when it is none."""
        reply = read(outcome)
        if reply is None:
            said = quoted(str(error_of(outcome).get("message", "")), self._model.api_key)
            told = f': "{said}"' if said else ""
            raise CallFailed(f"The server {self._model.host} did not send a language model's reply{told}.")
        used(Usage(1, reply.prompt_tokens, reply.completion_tokens, cost=self._cost(reply)))
        return reply

    def _cost(self, reply: Reply) -> float | None:
        prices = self._model.prompt_price, self._model.completion_price
        if prices[0] is None or prices[1] is None:
            return None
        return (reply.prompt_tokens * prices[0] + reply.completion_tokens * prices[1]) / 1_000_000

    def _text(self, reply: Reply, stop: Sequence[str]) -> str:
        """The reply's text up to any of `stop`, which the server may not have looked for. Raises CallFailed."""
        who = f"The language model {self._model.model} at {self._model.host}"
        if reply.finish == "no choice":
            raise CallFailed(f"{who} replied without an answer: its list of choices is empty.")
        if reply.finish == "content_filter":
            raise CallFailed(f"{who} was stopped by its server's content filter.")
        if reply.refusal:
            raise CallFailed(f'{who} declined to answer: "{quoted(reply.refusal, self._model.api_key)}".')
        if _is_spent(reply):
            raise CallFailed(f"{who} used up its tokens before it wrote an answer: give it more thinking_tokens.")
        if reply.text is None:
            raise CallFailed(f"{who} replied without any text.")
        text = reply.text.lstrip()
        return text[: min((at for each in stop if (at := text.find(each)) >= 0), default=len(text))]


def _is_spent(reply: Reply) -> bool:
    """Whether all tokens went into thoughts."""
    return reply.finish == "length" and not (reply.text or "").strip()
