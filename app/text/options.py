"""Strip what models put around a reply, find the option with which it begins, and detect that it gives no answer.

An unclear reply has no option: "No one knows" is not "No", "Yes or no" names both, and "Yes, but only if ..." is
qualified.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

_THOUGHT = r"(?:think(?:ing)?|thoughts?)"
_THINKING = (
    rf"(?:\w+:)?(?:ant|inner_?)?(?:{_THOUGHT}|reason(?:ing)?|reflection|scratchpad|monologue|analysis)"
    r"(?:_(?:process|content|block|steps?))?"
)
_BEGIN_THOUGHT = re.compile(
    rf"[<◁]\|?(?:(?:begin|start)_(?:of_)?)?{_THINKING}(?:\s[^<>]*)?\|?[>▷]|\[{_THOUGHT}\]|<unused94>(?:thought)?"
    r"|<\|channel>thought",
    re.IGNORECASE,
)
_END_THOUGHT = re.compile(
    rf"[<◁]\|?(?:/\s*|end_(?:of_)?){_THINKING}\s*\|?[>▷]|\[/{_THOUGHT}\]|<unused95>|<channel\|>", re.IGNORECASE
)
"""Marks of the reasoning before a reply, in the templates of the known models."""
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>", re.IGNORECASE)
_CHANNEL_END = re.compile(r"<\|(?:end|return|start|call|channel)\|>")
_DETAILS = re.compile(r"<details\b[^<>]*reasoning[^<>]*>.*?(?:</details>|\Z)\s*", re.DOTALL | re.IGNORECASE)
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
    r"\A[\s\"'“”‘’`*_#>\[({\u2190-\u27bf\ufe0f\U0001f300-\U0001faff-]*"
    r"(?:(?:the )?(?:final )?(?:answer|prediction|decision|label|verdict)\W*[:=][\s\"'“”‘’`*_]*)?",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;\n]")
_QUALIFIED = re.compile(
    r"^\W*(?:but|if|unless|though|although|however|except|only|part(?:ly|ially)|in part|mostly|largely|somewhat)\b",
    re.IGNORECASE,
)


def without_thoughts(text: str) -> str:
    """Return a model's text without the reasoning before its reply, and without tags around the reply.

    A text that was cut off may have no end mark, and some chat templates leave out the beginning.
    """
    if channels := list(_CHANNEL.finditer(text)):
        final = channels[-1] if channels[-1][1].casefold() == "final" else None
        text = _CHANNEL_END.split(text[final.end() :], maxsplit=1)[0] if final else ""
    text = _DETAILS.sub("", _BARE_CHANNEL.sub("", text))
    kept: list[str] = []
    at = 0
    for end in _END_THOUGHT.finditer(text):
        begin = _BEGIN_THOUGHT.search(text, at, end.start())
        if begin is None:
            kept = []
        elif kept or text[at : begin.start()].strip():
            kept.append(text[at : begin.start()])
        at = end.end()
    text = "".join((*kept, text[at:])).strip() if at else text
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


_NUMBERS = r"\d{1,3}(?:\s*(?:,|;|&|\band\b|[-–])\s*(?:[a-z]+ )?\d{1,3})*"
_CITING = r"(?:answer|question|evidence|source|document|passage|step|hop|pair|reference|citation|ref|doc)s?"
_CITED = re.compile(
    rf"(?:\[\[|\[|【)\s*(?:\^|(?:{_CITING}|[qae])\s*[#:.=]*\s*)?({_NUMBERS})\^?(?:†[^】\]]{{0,100}})?\s*(?:\]\]|\]|】)"
    rf"(?:\(\s*https?://[^\s)]*\s*\))?|<(?:sup|cite)>\[?({_NUMBERS})\]?</(?:sup|cite)>|\({_CITING} ({_NUMBERS})\)"
    r"|(?<=[.!?])([⁰¹²³⁴-⁹]{1,3})(?!\w)",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d+)\s*[-–]\s*(?:[a-z]+ )?(\d+)", re.IGNORECASE)
_FOREIGN_CITATION = re.compile(r"【[^】]{0,100}†[^】]{0,100}】")
_LINK = re.compile(r"\[([^\[\]]*)\]\(\s*(?:https?://|www\.)[^\s)\[]*\s*\)", re.IGNORECASE)
_ADDRESS = re.compile(
    r"(?<!\s)\s*(?:\([^()]{0,40}(?:https?://|www\.)[^\s()]+\)|[(<\[]?\b(?:https?://|www\.)[^\s)>\]]+[)>\]]?)",
    re.IGNORECASE,
)


def with_plain_citations(text: str) -> str:
    """Return the text with its citations as [1, 2], whatever their style, and without web addresses."""

    def rewritten(cited: re.Match[str]) -> str:
        numbers = (cited[1] or cited[2] or cited[3] or unicodedata.normalize("NFKC", cited[4])).casefold()
        numbers = _RANGE.sub(lambda ends: ", ".join(map(str, range(int(ends[1]), int(ends[2]) + 1))), numbers)
        return f" [{', '.join(re.findall(r'[0-9]+', numbers))}]"

    return _ADDRESS.sub("", _LINK.sub(r"\1", _FOREIGN_CITATION.sub("", _CITED.sub(rewritten, text))))


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
    r"|null|nil|idk|you (?:do not|don[’']t) know)\.?",
    re.IGNORECASE | re.DOTALL,
)


def declines(text: str) -> bool:
    """Return whether the text is a refusal or states that the model does not know; False for an empty text."""
    unmarked = without_markup(text)
    return bool(_REFUSAL.match(unmarked) or _UNKNOWN.fullmatch(unmarked))


def is_no_answer(text: str) -> bool:
    """Return whether the text is empty or `declines`.

    Models that write JSON are asked for null; the prompts of the others ask for "I don't know.".
    """
    return not any(letter.isalnum() for letter in without_markup(text)) or declines(text)
