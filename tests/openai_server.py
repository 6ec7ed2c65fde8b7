"""A scripted server with OpenAI's chat protocol over real HTTP on this machine.

    with OpenAIServer(lambda asked: Reply("Yes")) as server:
        OpenAIChat(ModelSettings("test", "tiny", server.url, "key"), 5).complete("Hello", max_tokens=5)
        assert server.asked[0].prompt == "Hello"

The script is a function of the request, or a list of replies sent in turn (the last one repeatedly).
`play(story)` is a script for whole runs: it plays every prompted module and the reciter.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tests.loopback import QuietHandler, ScriptedServer


@dataclass(frozen=True)
class Asked:
    """One received request; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        """Return the last message."""
        return self.body["messages"][-1]["content"]

    @property
    def schema(self) -> str:
        """Return the name of the requested JSON schema, "" for a request of text."""
        return self.body.get("response_format", {}).get("json_schema", {}).get("name", "")


@dataclass(frozen=True)
class Reply:
    """What the server sends. `text` is cut at the request's stop strings, as a real server does.

    `top`: the first token's likeliest alternatives with their probabilities, sent when logprobs are requested.
    `usage`: prompt and completion tokens, None to send none. `message` adds to or replaces fields of the message.
    `body`: sent in place of all that, as JSON, or as it is when it is bytes. `delay`: seconds before anything is sent;
    `drip`: seconds between any two bytes of the body; `cut`: hang up in the middle of the body.
    """

    text: str | None = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    finish: str = "stop"
    top: Mapping[str, float] | None = None
    usage: tuple[int, int] | None = (10, 2)
    message: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    delay: float = 0.0
    drip: float = 0.0
    cut: bool = False


Script = Callable[[Asked], Reply]


def error(status: int, message: str = "", *, headers: Mapping[str, str] | None = None, **fields: Any) -> Reply:
    """A failure in OpenAI's form; `fields` are its param, code and type."""
    return Reply(status=status, headers=headers or {}, body={"error": {"message": message, **fields}})


class OpenAIServer(ScriptedServer):
    """The server, running inside the `with` block. `asked` holds every request in order, `url` is its base URL."""

    def __init__(self, script: Script | Sequence[Reply], has_json_schema: bool = False) -> None:
        """A server without JSON schemas refuses requests with one, which are in `refused` and not in `asked`."""
        self.has_json_schema = has_json_schema
        self.refused: list[Asked] = []
        super().__init__(script, _handler(self))

    @property
    def url(self) -> str:
        """Its base URL, as OPENAI_BASE_URL takes it."""
        return f"http://127.0.0.1:{self.port}/v1"


def _handler(server: OpenAIServer) -> type[QuietHandler]:
    class Handler(QuietHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            asked = Asked(self.path, self.lower_headers(), json.loads(self.rfile.read(length)))
            if "response_format" in asked.body and not server.has_json_schema:
                server.refused.append(asked)
                refusal = error(400, "response_format is not supported", param="response_format")
                return self._send(refusal, asked)
            with suppress(ConnectionError):  # the client closed the connection
                self._send(server.reply_to(asked), asked)

        def _send(self, reply: Reply, asked: Asked) -> None:
            headers = {"Content-Type": "application/json", **reply.headers}
            self.send(reply.status, _body(reply, asked), headers, reply.drip, reply.cut)

    return Handler


def _body(reply: Reply, asked: Asked) -> bytes:
    if isinstance(reply.body, bytes):
        return reply.body
    return json.dumps(_completion(reply, asked) if reply.body is None else reply.body).encode()


def _completion(reply: Reply, asked: Asked) -> dict[str, Any]:
    text = reply.text
    for stop in asked.body.get("stop") or ():
        text = text.split(stop)[0] if text else text
    choice: dict[str, Any] = {
        "index": 0,
        "finish_reason": reply.finish,
        "message": {"role": "assistant", "content": text, **reply.message},
    }
    if asked.body.get("logprobs") and reply.top:
        choice["logprobs"] = {"content": [_token(reply.top)]}
    completion = {"id": "1", "object": "chat.completion", "model": asked.body["model"], "choices": [choice]}
    if reply.usage:
        prompt, written = reply.usage
        completion["usage"] = {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
    return completion


def _token(top: Mapping[str, float]) -> dict[str, Any]:
    told = [{"token": token, "logprob": math.log(p), "bytes": list(token.encode())} for token, p in top.items()]
    return {**max(told, key=lambda each: each["logprob"]), "top_logprobs": told}


@dataclass(frozen=True)
class Told:
    """One hop of a story: the question, the recited passage, and the answer."""

    question: str
    passage: str
    answer: str


@dataclass(frozen=True)
class Story:
    """What the model knows of a claim: the hops to ask in order, and how it ends, in the prompts' words for a label."""

    hops: tuple[Told, ...]
    rationale: str
    label: str


HAMLET = Story(
    hops=(
        Told("Who wrote Hamlet?", "Hamlet is a tragedy by William Shakespeare.", "William Shakespeare"),
        Told("Where was William Shakespeare born?", "William Shakespeare was born in Stratford, England.", "England"),
    ),
    rationale="Hamlet was written by William Shakespeare [1]. He was born in England [2].",
    label="true",
)
"""For the claim "The author of Hamlet was born in England."."""

ROLES = {
    "we can ask is:": "first question",
    "should we ask next?": "next question",
    "Can we know whether the claim is true or false now?": "claim verifier",
    "useful to verify the claim?": "QA validator",
    "Rationale =": "reasoner",
    "write the label on the last line.": "reasoner",
    "Label =": "label",
    "Write a short passage": "reciter",
    "that stand in the passage": "reader",
    "in a few words": "reader",
}
"""The words of each prompt (app/modules/prompts) that no other prompt has so near its end."""


def role_of(prompt: str) -> str:
    """Return the module that a prompt belongs to, found by the phrase nearest to its end."""
    words = max(ROLES, key=prompt.rfind)
    if words not in prompt:
        raise ValueError(f"no module's prompt: ...{prompt[-200:]!r}")
    return ROLES[words]


def play(story: Story = HAMLET) -> Script:
    """A script that plays every prompted module by what the prompt's own case (after its demonstrations) says.

    Questions are asked in the story's order, the first one missing from the case; the claim verifier is
    satisfied when all are in it; every pair is useful; the reader and the reciter know the story's questions only.
    """

    def script(asked: Asked) -> Reply:
        role = role_of(asked.prompt)
        case = asked.prompt[max(asked.prompt.rfind("Claim ="), asked.prompt.rfind("Contexts:"), 0) :]
        if role in ("reader", "reciter"):
            case = asked.prompt[max(asked.prompt.rfind("Question"), 0) :]
            known = next((told for told in story.hops if told.question in case), None)
            return Reply("I don't know." if known is None else known.answer if role == "reader" else known.passage)
        unasked = [told.question for told in story.hops if told.question not in case]
        if role in ("claim verifier", "QA validator"):
            yes = role == "QA validator" or not unasked
            return Reply("Yes" if yes else "No", top={"Yes": 0.9, "No": 0.1} if yes else {"Yes": 0.1, "No": 0.9})
        if role == "reasoner":
            return Reply(f"{story.rationale}\n{story.label}")
        return Reply(story.label if role == "label" else unasked[0] if unasked else story.hops[-1].question)

    return script


def play_in_json(story: Story = HAMLET) -> Script:
    """The same story, played for the chats that ask for JSON."""

    def script(asked: Asked) -> Reply:
        case = asked.prompt
        known = next((told for told in story.hops if told.question in case), None)
        unasked = [told.question for told in story.hops if told.question not in case]
        replies = {
            "question": {"question": unasked[0] if unasked else story.hops[-1].question},
            "passage": {"passage": known and known.passage},
            "answer": {"answer": known and known.answer},
            "useful": {"useful": "Yes"},
            "enough": {"enough": "No" if unasked else "Yes"},
            "verdict": {"rationale": story.rationale, "missing": None, "label": story.label},
        }
        return Reply(json.dumps(replies[asked.schema], ensure_ascii=False))

    return script
