"""Strip what models put around a reply, find the option with which it begins, and detect that it gives no answer.

An unclear reply has no option: "No one knows" is not "No", "Yes or no" names both, and "Yes, but only if ..." is
qualified.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

_THINKING = r"(?:\w+:)?(?:ant)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|analysis)"
_BEGIN_THOUGHT = re.compile(
    rf"[<\[◁]{_THINKING}(?:\s[^<>\[\]]*)?[>\]▷]|<\|(?:begin_of|start)_(?:thought|thinking)\|>|<unused94>(?:thought)?"
    r"|<\|channel>thought",
    re.IGNORECASE,
)
_END_THOUGHT = re.compile(
    rf"[<\[◁]/\s*{_THINKING}\s*[>\]▷]|<\|end_(?:of_)?(?:thought|thinking)\|>|<unused95>|<channel\|>", re.IGNORECASE
)
"""Marks of the reasoning before a reply, in the templates of the known models."""
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>", re.IGNORECASE)
_CHANNEL_END = re.compile(r"<\|(?:end|return|start|call|channel)\|>")
_BARE_CHANNEL = re.compile(r"\Aanalysis(?=[A-Z]).*?(?:assistant\s*final|\Z)", re.DOTALL)
"""gpt-oss's channels, and what is left of them where a server drops the special tokens."""
_WRAPPER = re.compile(
    r"</?(?:final_?answer|answer|final|response|output|solution|result|s|end_of_turn)>"
    r"|<\|?(?:begin|end)_of_(?:solution|box|sentence|text)\|?>|<[|｜](?:im_end|eot_id|end|return|endoftext)[|｜]>",
    re.IGNORECASE,
)
"""Tags around a reply, and special tokens at its end that some servers leave in the text."""
MAX_JSON_STARTS = 50
"""Brackets in a reply at which a JSON value is looked for."""
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*$\n?", re.MULTILINE)
_LATEX = re.compile(r"\$?\\(?:boxed|text|textbf|mathbf|mathrm)\s*\{([^{}]*)\}\$?")
_MARKUP = re.compile(r"[*_`#\"“”]+")
_BEFORE = re.compile(
    r"\A[\s\"'“”‘’`*_#>\[({-]*"
    r"(?:(?:the )?(?:final )?(?:answer|prediction|decision|label|verdict)\W*[:=][\s\"'“”‘’`*_]*)?",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;\n]")
_QUALIFIED = re.compile(r"^\W*(?:but|if|unless|though|although|however|except|only)\b", re.IGNORECASE)


def without_thoughts(text: str) -> str:
    """Return a model's text without the reasoning before its reply, and without tags around the reply.

    A text that was cut off may have no end mark, and some chat templates leave out the beginning.
    """
    if channels := list(_CHANNEL.finditer(text)):
        final = channels[-1] if channels[-1][1].casefold() == "final" else None
        text = _CHANNEL_END.split(text[final.end() :], maxsplit=1)[0] if final else ""
    text = _BARE_CHANNEL.sub("", text)
    while end := _END_THOUGHT.search(text):
        begin = _BEGIN_THOUGHT.search(text, 0, end.start())
        is_before_reply = begin is None or not text[: begin.start()].strip()
        before = "" if begin is None or is_before_reply else text[: begin.start()]
        text = (before + text[end.end() :]).strip()
    if _BEGIN_THOUGHT.match(text.lstrip()):
        text = ""
    return _WRAPPER.sub("", text).lstrip() if "<" in text else text


def json_in(text: str) -> Any:
    """Return the first JSON object, or list with a string or an object in it, ignoring the text around; else None."""
    return next(json_values(text), None)


def json_values(text: str) -> Iterator[Any]:
    """Yield the JSON objects, and lists with a string or an object in them, of a text."""
    for start in islice((match.start() for match in re.finditer(r"[\[{]", text)), MAX_JSON_STARTS):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) or any(isinstance(item, str | dict) for item in value):
            yield value


def unwrapped(text: str) -> str:
    r"""Return a reply without code fences and LaTeX commands around its words, as in \boxed{True}."""
    text = _FENCE.sub("", text)
    return _LATEX.sub(r"\1", _LATEX.sub(r"\1", text))  # twice, for \boxed{\text{True}}


def without_markup(text: str) -> str:
    """Return the text without markup and repeated spaces."""
    return " ".join(_MARKUP.sub(" ", text).split())


def plain(text: str) -> str:
    """Return `text` case-folded, with single spaces for white space and underscores, without outer punctuation."""
    return " ".join(re.sub(r"\A\W+|\W+\Z", "", text.casefold().replace("_", " ")).split())


def option_in(text: str, options: Sequence[str]) -> str | None:
    """Return the option with which `text` begins, None when there is none.

    Only markup and a heading like "Final answer:" may precede the option; only punctuation, a line break or the end may
    follow it. None also when the same sentence names another option, or qualifies this one as in "Yes, but".
    """
    reply = _BEFORE.sub("", unwrapped(text))
    found = [option for option in options if _begins(reply, option)]
    if not found:
        return None
    option = max(found, key=len)
    rest = _SENTENCE_END.split(reply[len(option) :], maxsplit=1)[0]
    # The reply may repeat its option, in full or in part: after "not enough", "enough" is no other option.
    others = (other for other in options if plain(other) not in plain(option))
    return None if _QUALIFIED.match(rest) or any(_contains(rest, other) for other in others) else option


def _begins(text: str, option: str) -> bool:
    """Return whether `text` begins with the whole option: "No, ..." with "No", but not "No one" or "no-one"."""
    return bool(re.match(rf"{_pattern(option)}(?![-‐–'’\w])(?=\s*(?:\Z|[^\w\s]|\n))", text, re.IGNORECASE))


def _contains(text: str, option: str) -> bool:
    return bool(re.search(rf"\b{_pattern(option)}\b", text, re.IGNORECASE))


def _pattern(option: str) -> str:
    """Return a pattern for the option's words, joined by spaces or underscores."""
    return r"[\s_]+".join(re.escape(word) for word in re.split(r"[\s_]+", option))


# Statements that there is no answer.

_REFUSAL = re.compile(
    r"(?:i[’']m|i am) (?:very |so |really )?sorry\b|sorry, (?:but )?i\b|as an ai\b"
    r"|i(?: can ?not| can[’']t| won[’']t|(?: am|[’']m) (?:unable|not able) to) "
    r"(?:help (?:you|with)|assist|answer|provide|comply|verify|determine|discuss|recall|share (?:this|that|any)"
    r"|fulfil)",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"(?:i (?:do not|don[’']t) (?:know|recall|have)\b|i[’']?(?: a)?m not (?:sure|certain)\b).*"
    r"|(?:unknown|unanswerable|unclear|none|n/?a|no answer|not (?:sure|known|stated|specified|given|available)"
    r"|you (?:do not|don[’']t) know)\.?",
    re.IGNORECASE | re.DOTALL,
)
_TEXTS = r"(?:\w+ )?(?:(?:document|passage|text|page|snippet|article|source|result)s?|evidence|information|context)"
_SAYS = r"(?:say|state|mention|specify|tell|answer|indicate|contain|provide|give|include|address|help)s?\b"
_NOT = r"(?:do(?:es)?|did)(?: not|n[’']t)"
_FOUND = r"(?:found|given|provided|available|stated|mentioned|specified|said|included|known|clear)"
_IN_TEXTS = rf"(?:in|by|from|among) (?:any of )?(?:the|this|these|that) {_TEXTS}"
_NO = r"(?:there (?:is|was) |i (?:have|found|see) )?no (?:\w+ )?"
_NOTHING_SAID = re.compile(
    r"(?:(?:unfortunately|sorry|however),? |(?:based on|according to|from) [^,.]{1,80}, )*(?:"
    + "|".join(
        (
            rf"(?:(?:the|this|these|that|any of the) )?{_TEXTS} (?:here )?{_NOT} {_SAYS}",
            rf"(?:it|this|that) {_NOT} (?:say|state|specify|mention (?:it|this|that))\b",
            rf"(?:none|neither) of (?:them|these|those|(?:the|these|those) {_TEXTS}) (?:here )?{_SAYS}",
            rf"no {_TEXTS} (?:here )?{_SAYS}",
            rf"{_NO}(?:answer|information|mention|details?|evidence|data)"
            r"(?: (?:about|on|regarding|concerning) (?:this|that|it|the question))?(?: (?:is|was|were|could be))?"
            rf"(?: {_FOUND}\b.*| {_IN_TEXTS}.*)?(?:[.!]( .*)?)?$",
            rf"{_NO}(?:information|mention|details?) (?:about|on|of|regarding)\b",
            rf"(?:it |this |that )?(?:is |was )?not {_FOUND}\b"
            rf"(?=[.!]?$|[.!] | (?:when|where|who|what|which|whether|how|why|if|here|{_IN_TEXTS}))",
            r"(?:i |we )(?:do not|don[’']t|cannot|can[’']t|could not|couldn[’']t) (?:know|say|tell|find|determine)\b",
            r"(?:it |this )?cannot be (?:said|told|answered|determined)\b",
        )
    )
    + ")",
    re.IGNORECASE,
)


def declines(text: str) -> bool:
    """Return whether the text is a refusal or states that the model does not know; False for an empty text."""
    unmarked = without_markup(text)
    return bool(_REFUSAL.match(unmarked) or _UNKNOWN.fullmatch(unmarked))


def is_no_answer(text: str) -> bool:
    """Return whether the text is empty, a refusal, or states that there is no answer: "It does not say."."""
    unmarked = without_markup(text)
    return not any(letter.isalnum() for letter in unmarked) or declines(unmarked) or bool(_NOTHING_SAID.match(unmarked))
