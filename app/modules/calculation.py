"""Decide claims about numbers by arithmetic: the local model writes a small program, and Python computes it.

"Gödel was in his twenties when he published his theorems." with the answers 1931 and 1906 becomes
`published = 1931; goedel_born = 1906; 20 <= published - goedel_born < 30`. The model writes it with an adapter trained
for that alone (research/training/calculations.py), or "none". Programs in place of reasoning in words: PAL
(arXiv 2211.10435), ProgramFC (arXiv 2305.12744).
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
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
            return program if program and isinstance(program._value(program.comparison), bool) else None
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

    def __str__(self) -> str:
        """Return the comparison as people write it, each name followed by its number."""
        text = ast.unparse(self.comparison)
        for sign, written in _SIGNS.items():
            text = text.replace(sign, written)
        return re.sub(r"[a-z]\w*", lambda name: self._named(name[0]), text)

    def _named(self, name: str) -> str:
        if name not in self.values:
            return name
        number = self.values[name]
        return f"{name.replace('_', ' ')} ({number if abs(number) < LEAST_GROUPED else f'{number:,}'})".replace(
            "(-", "(−"
        )


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

        It is written twice, the second time from the answers in reverse, and decides where both agree: which value is
        whose is what the model mistakes.
        """
        hops = [hop for hop in context if hop.answer_text]
        if sum(bool(_NUMBER.search(hop.answer_text)) for hop in hops) < MIN_NUMBERS:
            return None
        program = self._program(claim, hops)
        again = program and self._program(claim, hops[::-1])
        if program is None or again is None or again.holds != program.holds:
            return None
        code = Code.CALCULATED_TRUE if program.holds else Code.CALCULATED_FALSE
        cited = {hop.number for hop in hops for number in program.values.values() if is_in(number, answer_of(hop))}
        return Calculation(program.holds, Sentence(code(text=str(program)), tuple(sorted(cited))))

    def _program(self, claim: Claim, hops: Sequence[Hop]) -> Program | None:
        """Return what it writes, if each value is in an answer of its own and each other number can be the claim's."""
        pairs = [(hop.question.text, answer_of(hop)) for hop in hops]
        prompt = before_calculation(claim.text, pairs)
        program = Program.read(self.model.complete(prompt, max_tokens=MAX_TOKENS, stop=("\n",)).strip())
        if program is None or not all(_is_limit(number, claim.text) for number in program.limits):
            return None
        numbers = list(program.values.values())
        is_grounded = all(sum(is_in(each, answer) for _, answer in pairs) >= numbers.count(each) for each in numbers)
        return program if is_grounded else None


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
