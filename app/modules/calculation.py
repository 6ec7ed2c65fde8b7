"""Decide claims about numbers by arithmetic: the local model writes a small program, and Python computes it.

"Gödel was in his twenties when he published his theorems." with the answers 1931 and 1906 becomes
`published = 1931; goedel_born = 1906; 20 <= published - goedel_born < 30`. The model writes it with an adapter trained
for that alone (research/training/calculations.py), or "none". Programs in place of reasoning in words: PAL
(arXiv 2211.10435), ProgramFC (arXiv 2305.12744).
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from app.domain.messages import Code
from app.domain.model import Claim, Context, Hop, Sentence
from app.domain.ports import TranscriptModel
from app.modules.transcript import before_calculation

MAX_TOKENS = 80
MIN_NUMBERS = 2
"""Least number of answers with a number: one value against the claim's own is read, not calculated."""
MAX_SHORT_DIGITS, MAX_ROUND_DIGITS = 2, 3
"""Digits up to which a number may be a tolerance or a word ("twenties"), or where it ends in 0 of a century (1280)."""

LEAST_GROUPED = 10_000
"""Number from which thousands are set apart: years are not."""
MAX_SHOWN = 30
"""Characters of an answer that is shown in the place of its number ("about 21.8 million", "c. 1323 BC")."""

Number = int | float
_OPERATIONS: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}
_SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠", "*": "×", "-": "−"}
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_WORD = re.compile(r"\w+")
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SCALED = re.compile(rf"({_NUMBER.pattern})(?:\s+({'|'.join(_SCALES)})\b)?", re.IGNORECASE)
_RANGE_END = re.compile(r"(?:\s*[–—-]\s*(?:c\.\s*)?\d{1,4})?\s*B\.?\s?C\.?(?:E\b\.?)?(?!\w)")


@dataclass(frozen=True, slots=True)
class Calculation:
    """What the claim says in numbers, whether it holds, and a sentence that says so and cites the steps."""

    holds: bool
    sentence: Sentence


Calculate = Callable[[Claim, Context], Calculation | None]


def uncalculated(claim: Claim, context: Context) -> None:
    """Calculate nothing."""


@dataclass(frozen=True, slots=True)
class Program:
    """Named numbers and a comparison of them."""

    values: Mapping[str, Number]
    comparison: ast.expr

    @classmethod
    def read(cls, text: str) -> Program | None:
        """Return the program `name = number; ...; comparison`; None for any other text."""
        try:
            *assigned, last = ast.parse(text).body
            values = {_name_of(each): _number_of(each) for each in assigned}
            program = cls(values, last.value) if isinstance(last, ast.Expr) else None
            is_finite = all(map(math.isfinite, values.values()))
            return program if program and is_finite and isinstance(program._value(program.comparison), bool) else None
        except (SyntaxError, ValueError, KeyError, ZeroDivisionError, OverflowError, RecursionError):
            return None

    @property
    def holds(self) -> bool:
        return bool(self._value(self.comparison))

    def _value(self, node: ast.expr) -> Number | bool:
        """Return the value of numbers, names, + - * /, comparisons, and, or, not, and abs(). Raises ValueError else."""
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return number
            case ast.Name(name):
                return self.values[name]
            case ast.UnaryOp(op, operand) if type(op) in _OPERATIONS:
                return _OPERATIONS[type(op)](self._value(operand))
            case ast.BinOp(left, op, right) if type(op) in _OPERATIONS:
                return _OPERATIONS[type(op)](self._value(left), self._value(right))
            case ast.Compare(left, operators, others):
                each = [self._value(part) for part in (left, *others)]
                return all(_OPERATIONS[type(op)](*pair) for op, pair in zip(operators, pairwise(each), strict=True))
            case ast.BoolOp(op, parts):
                return (all if isinstance(op, ast.And) else any)([bool(self._value(part)) for part in parts])
            case ast.Call(ast.Name("abs"), [operand], []):
                return abs(self._value(operand))
        raise ValueError(ast.dump(node))

    @property
    def limits(self) -> list[str]:
        """The numbers that stand in the comparison itself."""
        return _NUMBER.findall(re.sub(r"[a-z_]+", " ", ast.unparse(self.comparison)))

    def written(self, claim: str, answers: Sequence[str]) -> str:
        """Return the comparison as people write it, each name as the claim spells it, with its number in an answer."""
        text = ast.unparse(self.comparison)
        for sign, written in _SIGNS.items():
            text = text.replace(sign, written)
        spelled = {word.lower(): word for word in _WORD.findall(claim)}

        def named(found: re.Match[str]) -> str:
            if (number := self.values.get(name := found[0])) is None:
                return name
            words = " ".join(spelled.get(word, word) for word in name.split("_"))
            return f"{words} ({next((each for each in answers if _is_just(number, each)), _plain(number))})"

        return re.sub(r"[a-z]\w*", named, text)


def _is_just(number: Number, answer: str) -> bool:
    """Return whether a short answer has this number and no other."""
    return len(answer) <= MAX_SHOWN and len(_NUMBER.findall(answer)) == 1 and is_in(number, answer)


def _plain(number: Number) -> str:
    return f"{number if abs(number) < LEAST_GROUPED else f'{number:,}'}".replace("-", "−")


def _name_of(assigned: ast.stmt) -> str:
    match assigned:
        case ast.Assign([ast.Name(name)]):
            return name
    raise ValueError(ast.dump(assigned))


def _number_of(assigned: ast.stmt) -> Number:
    match assigned:
        case ast.Assign(value=ast.Constant(int() | float() as number)) if not isinstance(number, bool):
            return number
        case ast.Assign(value=ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as number))):
            return -number
    raise ValueError(ast.dump(assigned))


@dataclass(frozen=True)
class ClaimCalculator:
    """Implements `Calculate` with the local model and the adapter for it. Propagates the model's errors."""

    model: TranscriptModel

    def __call__(self, claim: Claim, context: Context) -> Calculation | None:
        """Return the calculation over the kept answers; None where they have too few numbers or do not decide.

        It is written twice, the second time from the answers in reverse, and does not decide where that says the
        opposite: which value is whose is what the model mistakes.
        """
        hops = [hop for hop in context if hop.answer_text]
        if sum(bool(_NUMBER.search(hop.answer_text)) for hop in hops) < MIN_NUMBERS:
            return None
        program = self._program(claim, hops)
        again = program and self._program(claim, hops[::-1])
        if program is None or (again and again.holds != program.holds):
            return None
        code = Code.CALCULATED_TRUE if program.holds else Code.CALCULATED_FALSE
        cited = {hop.number for hop in hops for number in program.values.values() if is_in(number, answer_of(hop))}
        text = program.written(claim.text, [answer_of(hop) for hop in hops])
        return Calculation(program.holds, Sentence(code(text=text), tuple(sorted(cited))))

    def _program(self, claim: Claim, hops: Sequence[Hop]) -> Program | None:
        """Return what it writes, if each value is in an answer of its own and each other number can be the claim's."""
        pairs = [(hop.question.text, answer_of(hop)) for hop in hops]
        prompt = before_calculation(claim.text, pairs)
        program = Program.read(self.model.complete(prompt, max_tokens=MAX_TOKENS, stop=("\n",)).strip())
        if program is None or not all(_is_limit(number, claim.text) for number in program.limits):
            return None
        numbers = list(program.values.values())
        is_grounded = all(sum(is_in(each, answer) for _, answer in pairs) >= numbers.count(each) for each in numbers)
        return program if is_grounded and is_in_one_scale(numbers, [answer for _, answer in pairs]) else None


def answer_of(hop: Hop) -> str:
    """Return the answer, with "BC" if that follows it in its passage, alone or after the end of a range ("–322 BC")."""
    cited = hop.answer.cited if hop.answer else None
    found = _RANGE_END.match(cited.passage.text, cited.end) if cited else None
    return f"{hop.answer_text}{found[0] if found else ''}"


def is_in(number: Number, text: str) -> bool:
    """Return whether the text has this number, also as 12.7 million, with the month as a decimal, or as its century."""
    found = _all_digits(text)
    whole = abs(int(number))
    return bool({_digits(f"{abs(number)}"), _digits(f"{whole}"), _digits(f"{whole // 100 + 1}")} & found)


def is_in_one_scale(numbers: Sequence[Number], answers: Sequence[str]) -> bool:
    """Return whether the numbers can be the answers' in one unit: not 21.8 of "21.8 million" beside 7461000."""
    found = [
        {
            round(math.log10(abs(number) / quantity))
            for answer in answers
            for digits, quantity in _quantities(answer)
            if digits == _digits(f"{abs(number)}")
        }
        for number in numbers
    ]
    return bool(set.intersection(*scales)) if (scales := [each for each in found if each]) else True


def _quantities(text: str) -> Iterator[tuple[str, float]]:
    """Yield the digits of each number of the text that is not 0, and what it is with the word after it."""
    for found in _SCALED.finditer(text):
        if quantity := float(found[1].replace(",", "")) * _SCALES.get((found[2] or "").lower(), 1):
            yield _digits(found[1]), quantity


def _is_limit(number: str, claim: str) -> bool:
    """Return whether a number of a comparison is the claim's, a share, or short or round as tolerances and ages are."""
    digits = _digits(number)
    longest = MAX_ROUND_DIGITS if number.endswith("0") else MAX_SHORT_DIGITS
    return number.startswith("0.") or digits in _all_digits(claim) or len(digits) <= longest


def _all_digits(text: str) -> set[str]:
    return {_digits(number) for number in _NUMBER.findall(text)}


def _digits(number: str) -> str:
    """Return the digits between the first and the last that is not 0."""
    return number.replace(",", "").replace(".", "").strip("0")
