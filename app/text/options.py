"""Strip what models put around a reply, find the option with which it begins, and detect that it gives no answer.

An unclear reply has no option: "No one knows" is not "No", "Yes or no" names both, and "Yes, but only if ..." is
qualified.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import islice, takewhile
from typing import Any

from json_repair import loads as repaired

_THOUGHT = r"(?:think(?:ing)?|thoughts?|思考|反思|推理|推敲)"
_THINKING = (
    rf"(?:\w+:)?(?:ant|inner_?)?(?:{_THOUGHT}|reason(?:ing)?|reflection|scratchpad|monologue|analysis)"
    r"(?:_(?:process|content|block|steps?))?"
)
_BEGIN_THOUGHT = re.compile(
    rf"[<◁]\|?(?:(?:begin|start)_(?:of_)?)?{_THINKING}(?:\s[^<>]*)?\|?[>▷]|\[{_THOUGHT}\]|<unused94>(?:thought)?"
    r"|<\|channel>thought|\|startthink\|",
    re.IGNORECASE,
)
_END_THOUGHT = re.compile(
    rf"[<◁]\|?(?:/\s*|end_(?:of_)?){_THINKING}\s*\|?[>▷]|\[/{_THOUGHT}\]|<unused95>|<channel\|>|\|endthink\|",
    re.IGNORECASE,
)
"""Marks of the reasoning before a reply, in the templates of the known models."""
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>", re.IGNORECASE)
_CHANNEL_END = re.compile(r"<\|(?:end|return|start|call|channel)\|>")
_DETAILS = re.compile(r"<details\b[^<>]*reasoning[^<>]*>.*?(?:</details>|\Z)\s*", re.DOTALL | re.IGNORECASE)
_BARE_CHANNEL = re.compile(r"\A(?:assistant\s?final(?=\S)|analysis(?=[A-Z]).*?(?:assistant\s*final|\Z))", re.DOTALL)
"""gpt-oss's channels, and what is left of them where a server drops the special tokens."""
_WRAPPER = re.compile(
    r"</?(?:final_?answer|answer|final|response|output|solution|result|label|verdict|s|end_of_turn)>"
    r"|<\|start_header_id\|>\s*assistant\s*<\|end_header_id\|>|<start_of_turn>\s*model\b"
    r"|<\|im_start\|>\s*assistant\b|<?\|assistant\|>?"
    r"|<[|｜]?(?:begin|start|end)[_▁](?:of[_▁])?(?:solution|box|sentence|text|response|answer|turn(?:_token)?)[|｜]?>"
    r"|<[|｜](?:im_end|eot_id|end|return|endoftext)[|｜]?>",
    re.IGNORECASE,
)
"""Tags around a reply, and special tokens at its end that some servers leave in the text."""
MAX_JSON_STARTS = 50
"""Brackets in a reply at which a JSON value is looked for."""
_BROKEN_JSON = re.compile(r"""\{\s*["'“‘]?\w+["'”’]?\s*:|\[\s*["'“‘]""")
MAX_REPAIRED_LENGTH = 3_000
"""Characters of a JSON value with errors that is read, since the library takes quadratic time for some."""
_QUOTE_MARKS = re.compile(r"(?<!\s)\s*\[(?:data|end) (?:[0-9a-f]{8}|example)\]")
"""The delimiters of quoted texts in Hopcheck's own prompts."""
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
    """Return a model's text without the reasoning before its reply, and without tags around the reply."""
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
    if cut_off := _BEGIN_THOUGHT.search(text):
        text = text[: cut_off.start()].rstrip()
    return _WRAPPER.sub("", text).lstrip() if "<" in text or "|" in text else text


def json_in(text: str) -> Any:
    """Return the first JSON object, or list with a string or an object in it, ignoring the text around; else None."""
    return next(json_values(text), None)


def json_values(text: str) -> Iterator[Any]:
    """Yield the JSON objects, and lists with a string or an object in them, of a text.

    Without one, a value at its end is read in spite of single quotes, commas too many, comments and the like.
    """
    with suppress(ValueError, RecursionError):
        text = inner if isinstance(inner := json.loads(text), str) else text  # encoded twice
    starts, has_found = [match.start() for match in islice(re.finditer(r"[\[{]", text), MAX_JSON_STARTS)], False
    for start in starts:
        with suppress(ValueError, RecursionError):
            value, _ = json.JSONDecoder(strict=False).raw_decode(text, start)
            if isinstance(value, dict) or any(isinstance(item, str | dict) for item in value):
                has_found = True
                yield value
    broken = None if has_found or len(starts) == MAX_JSON_STARTS else _BROKEN_JSON.search(text := text.rstrip())
    if broken and len(text) - broken.start() <= MAX_REPAIRED_LENGTH and text.endswith(("}", "]")):
        value = repaired(text[broken.start() :], skip_json_loads=True)
        yield from [value] if isinstance(value, dict | list) else []


def unwrapped(text: str) -> str:
    r"""Return a reply without code fences, delimiters of quotations and LaTeX commands, as in \boxed{True}."""
    text = _QUOTE_MARKS.sub("", _FENCE.sub("", text))
    return _LATEX.sub(r"\1", _LATEX.sub(r"\1", text))  # twice, for \boxed{\text{True}}


def without_markup(text: str) -> str:
    return " ".join(_MARKUP.sub(" ", text).split())


_NUMBERS = r"\d{1,3}(?:\s*(?:,|;|&|\band\b|[-–])\s*(?:[a-z]+ )?\d{1,3})*"
_CITING = r"(?:answer|question|evidence|source|document|passage|step|hop|pair|reference|citation|ref|doc)s?"
_PLACE = r"(?:[,:;]?\s*(?:pp?|pages?|lines?|para|sections?|sec)\.?\s*\d{1,4}(?:\s*[-–]\s*\d{1,4})?)?"
_CITED = re.compile(
    rf"(?:\[\[|\[|【)\s*(?:\^|(?:{_CITING}|[qae])\s*[#:.=]*\s*)?({_NUMBERS})\^?{_PLACE}(?:†[^】\]]{{0,100}})?\s*(?:\]\]|\]|】)"
    rf"(?:\(\s*https?://[^\s)]*\s*\))?|<(?:sup|cite)>\[?({_NUMBERS})\]?</(?:sup|cite)>|\({_CITING} ({_NUMBERS})\)"
    r"|(?<=[.!?])([⁰¹²³⁴-⁹]{1,3})(?!\w)",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d+)\s*[-–]\s*(?:[a-z]+ )?(\d+)", re.IGNORECASE)
_FOREIGN_CITATION = re.compile(
    r"【[^】]{0,100}†[^】]{0,100}】| ?\[@[^\[\]]{1,100}\]| ?\\cite\w*\{[^{}]{0,100}\}"
    r"| ?<(cite|ref|citation|source)\b[^<>]{0,100}>[^<>\s]{0,100}</\1>| ?<ref\b[^<>]{0,100}/>"
)
"""Citations of sources by their own names, which no passage has."""
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
    return " ".join(re.sub(r"\A\W+|(?<!\W)\W+\Z", "", text.casefold().replace("_", " ")).split())


def option_in(text: str, options: Sequence[str]) -> str | None:
    """Return the option with which `text` begins, None when there is none.

    Only markup and a heading like "Final answer:" may precede the option; only punctuation, a line break or the end may
    follow it. None also when the same sentence names another option, or qualifies this one as in "Yes, but".
    """
    reply = _BEFORE.sub("", unwrapped(text))
    # Not "no-one" for "No", and nothing but punctuation after it.
    end = r"(?![-‐–'’\w])(?=\s*(?:\Z|[^\w\s]|\n))"
    found = [option for option in options if re.match(_pattern(option) + end, reply, re.IGNORECASE)]
    if not found:
        return None
    option = max(found, key=len)
    rest = _SENTENCE_END.split(reply[len(option) :], maxsplit=1)[0]
    # The reply may repeat its option, in full or in part: after "not enough", "enough" is no other option.
    others = (other for other in options if plain(other) not in plain(option))
    names_other = any(re.search(rf"\b{_pattern(other)}\b", rest, re.IGNORECASE) for other in others)
    return None if names_other or _QUALIFIED.match(rest) else option


def _pattern(option: str) -> str:
    return r"[\s_]+".join(re.escape(word) for word in re.split(r"[\s_]+", option))


# Statements that there is no answer.

_REFUSAL = re.compile(
    r"(?:(?:assistant|ai|model|response|answer): ?)?"
    r"(?:(?:i[’']m|i am) (?:very |so |really )?sorry\b|sorry, (?:but )?i\b|i apologi[sz]e,? but\b"
    r"|as an? (?:ai|(?:ai )?(?:language )?(?:model|assistant)|llm)(?:,| i\b)"
    r"|i(?: can ?not| can[’']t| won[’']t|(?: am|[’']m) (?:unable|not able) to) "
    r"(?:help (?:you|with)|assist|answer|provide|comply|verify|determine|discuss|recall|share (?:this|that|any)"
    r"|fulfil)|i (?:(?:must|have to|will have to|need to) )?(?:respectfully )?(?:decline|refuse)(?: to\b|\W|\Z))",
    re.IGNORECASE,
)
MAX_STATEMENT_WORDS = 60
"""Words of a reply in which a statement that there is no answer is looked for."""
_UNKNOWN = re.compile(
    r"(?:i (?:do not|don[’']t) (?:know|recall|have)\b|i[’']?(?: a)?m not (?:sure|certain)\b).*"
    r"|(?:unknown|unanswerable|unclear|none|n/?a|no answer|not (?:sure|known|stated|specified|given|available)"
    r"|null|nil|idk|you (?:do not|don[’']t) know)\.?",
    re.IGNORECASE | re.DOTALL,
)
# Words of which a statement that a text does not answer consists, in any order.
_NEGATIONS = frozenset(
    "no not nothing none neither nor never nowhere unable without lack lacks lacking missing omits omitted".split()
)
_UNSAID = frozenset(
    "unknown unclear unspecified unavailable unsure uncertain unanswerable unanswered undetermined undisclosed "
    "unstated unmentioned insufficient inconclusive silent".split()
)
_SAYING = frozenset(
    "mention mentions mentioned say says said state states stated specify specifies specified provide provides "
    "provided give gives given include includes included contain contains contained address addresses addressed "
    "answer answers answered indicate indicates indicated tell tells told disclose discloses disclosed discuss "
    "discusses discussed cover covers covered reveal reveals revealed clarify clarified find found available "
    "known know knows clear determine determined applicable sure certain identify identified help helps relevant "
    "recall information info detail details reference indication knowledge idea access see seen answerable".split()
)
_TEXTS = frozenset(
    "document documents passage passages text texts page pages snippet snippets article articles source sources "
    "result results evidence context excerpt excerpts material paragraph data".split()
)
_CONNECTING = frozenset("when where who whom what which whether how why if about regarding concerning on of".split())
_FILLING = frozenset(
    "a an the for to this that these those it its i we you am is are was were be been being can could do does did has "
    "have had will would there here in by from at as with and or any all such so too yet just also sorry however "
    "based according above question search provided given enough explicit direct specific further afraid able "
    "remains but me us my them they something anything anywhere concerned seem seems appear appears possible make "
    "makes topic".split()
)
_PASSIVELY = frozenset("mentioned stated specified disclosed".split())
_ARTICLES = frozenset("a an any the".split())
_FIRST_PERSON = re.compile(
    r"(?:sorry )?(?:but )?(?:i|we) (?:(?:am |are |do |can |could )?not (?:\w+ly )?|(?:am|are|was|were) unable to )"
    r"(?:know|sure|certain|find|recall|say|tell|determine|identify|locate)\b"
)
_NOT_SAYING = re.compile(
    rf"\b(?:do|does|did|could) not (?:\w+ly )?(?:{'|'.join(_SAYING - {'contain', 'help'})})\b|\bgives? no$"
    rf"|^(?:none of|neither|no|nothing in) .*\b(?:{'|'.join(_SAYING)})$"
    r"|\bno (?:mention|reference|indication|information|details?) (?:of|to|on|about)$"
    r"|\bnothing in .*\b(?:about|regarding|concerning)$"
)
_NOT_POSSIBLE = re.compile(
    r"(?:(?:based on|according to|from|with) (?:\w+ ){1,5})?it is (?:not possible|impossible) to "
    r"(?:determine|say|tell|answer|know|state|identify)\b"
)
_SHORT_FORMS = (("can't", "can not"), ("n't", " not"), ("cannot", "can not"), ("'s", " is"), ("'m", " am"))


def _says_nothing(text: str) -> bool:
    """Return whether the first sentence says that there is no answer, or that a text has none."""
    plain = text.casefold().replace("’", "'")
    for short, long in _SHORT_FORMS:
        plain = plain.replace(short, long)
    words = re.findall(r"\w+", _SENTENCE_END.split(plain, maxsplit=1)[0])[:MAX_STATEMENT_WORDS]
    if words[:1] == ["the"] and len(words) == 2:
        return False  # a title
    words = [word for word in words[:-1] if not (word.endswith("ly") and len(word) > 5)] + words[-1:]
    if _FIRST_PERSON.match(" ".join(words)) or _NOT_POSSIBLE.match(" ".join(words)):
        return True
    opening = list(takewhile(_is_of_statement, words))
    ending = list(takewhile(_is_of_statement, reversed(words)))
    is_denial, is_about_text = _denies(opening), not _TEXTS.isdisjoint(opening)
    if len(opening) == len(words):
        return is_denial or (is_about_text and not _NEGATIONS.isdisjoint(opening))
    while opening and opening[-1] in _ARTICLES:
        opening.pop()
    if is_about_text and _NOT_SAYING.search(" ".join(opening)):
        return True
    if is_denial and opening[-1] in _CONNECTING:
        return True
    is_about_text = not _TEXTS.isdisjoint(ending) or ending[:1] in ([word] for word in _PASSIVELY)
    return is_about_text and _denies([*ending, *(word for word in words[:1] if word == "no")])


def _is_of_statement(word: str) -> bool:
    sets = (_NEGATIONS, _UNSAID, _SAYING, _TEXTS, _CONNECTING, _FILLING)
    return any(word in each for each in sets) or (word.isdigit() and len(word) < 3)  # "Documents 1 and 2"


def _denies(words: Collection[str]) -> bool:
    is_negated = not _NEGATIONS.isdisjoint(words) and not _SAYING.isdisjoint(words)
    return is_negated or not _UNSAID.isdisjoint(words)


def declines(text: str) -> bool:
    """Return whether the text is a refusal or states that the model does not know; False for an empty text."""
    unmarked = without_markup(text)
    return bool(_REFUSAL.match(unmarked) or _UNKNOWN.fullmatch(unmarked))


def is_no_answer(text: str) -> bool:
    """Return whether the text is empty, a refusal, or states that there is no answer: "It does not say."."""
    unmarked = without_markup(text)
    return not any(letter.isalnum() for letter in unmarked) or declines(unmarked) or _says_nothing(unmarked)
