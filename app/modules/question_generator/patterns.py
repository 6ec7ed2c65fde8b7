"""The patterns of prompts/claim_questions.json, compiled, their questions filled in, and a claim cut for them."""

from __future__ import annotations

import re
from functools import lru_cache

from app.modules.prompts import data
from app.modules.question_generator.clauses import is_person, looks_like_a_person
from app.modules.question_generator.main_clause import main_clause
from app.modules.wording import NAME, names


@lru_cache
def patterns(group: str) -> tuple[tuple[re.Pattern[str], list[str]], ...]:
    """The patterns of one group, compiled, with X, ROLES, PERSONS and NOROLES filled in."""
    facts = data("claim_questions")
    plain = rf"(?:the |an? )?[a-z][\w-]*(?: [a-z][\w-]*){{0,3}}?(?= (?:{facts['verbs']})\b|[’']s |[.,;]|$)"
    singular = r"(?= (?:was|is|has|died|lived|wrote)\b)"
    work = rf"(?:[a-z]+ )?(?:{facts['works']})"
    named = rf"(?:[Tt]he )?(?:{work} )?(?:the )?[\"“]?{NAME}(?: and (?:the )?{NAME}{singular})?[\"”]?"
    things = rf"(?:[\"“][^\"”]+[\"”]|{named}|{plain})"
    names_for = {
        "NOROLES": rf"(?:{facts['no_roles']})\b",
        "ROLES": "|".join(facts["roles"]),
        "PERSONS": facts["persons"],
        "PASTS": facts["past_with_object"],
        "PAST": "|".join(facts["past"]),
        "PLURAL": facts["plural_verbs"],
        "PARTICIPLE": r"[a-z]+(?:ed|en|wn|lt|ght|nt|ung|un|ade|eld|aid|ut)",
    }
    compiled = []
    for entry in facts[group]:
        pattern = entry["pattern"].replace("(?P<x>X)", f"(?P<x>{things})")
        for name, value in names_for.items():
            pattern = pattern.replace(name, value)
        compiled.append((re.compile(rf"(?:(?<=\W)|^){pattern}"), entry["asks"]))
    return tuple(compiled)


def filled(ask: str, match: re.Match[str], **more: str) -> str:
    """The question with the match's groups in it, and the words that depend on them."""
    facts = data("claim_questions")
    parts = {name: value for name, value in match.groupdict().items() if value} | more
    person_noun = re.compile(rf"\b(?:{facts['persons']})\b")
    parts["does"] = facts["roles"].get(parts.get("role", "").casefold(), "")
    parts["who"] = "Who was" if person_noun.search(parts.get("n", "")) or is_person(parts.get("n", "")) else "What is"
    parts["who_complement"] = "Who" if person_noun.search(parts.get("c", "")) else "What"
    done_by_person = re.match(rf"(?:{facts['by_persons']})\b", parts.get("p", "") or parts.get("vp", ""))
    called = complement(match.string)
    is_one = is_person(called) if called.islower() else is_person(called) or looks_like_a_person(parts.get("s", ""))
    parts["whom"] = "Who" if done_by_person or is_one else "What"
    parts["past"] = facts["participles"].get(parts.get("p", ""), parts.get("past") or parts.get("p", ""))
    parts["base"] = facts["past"].get(parts.get("past", ""), "")
    return ask.format(**parts)


def complement(predicate: str) -> str:
    """What the predicate says that its subject is: "private schools" of "are both private schools"; or nothing."""
    found = re.match(
        r"(?:was|were|is|are) (?:both |not |all |an? |the |one of |kinds of )*(\w.*?)"
        r"(?= (?:of|in|from|by|and|for|that|who|at|with|on|about|to)\b|[.,]|$)",
        predicate,
    )
    return found[1] if found and found[1].split()[-1] not in ("part", "cast", "member", "known") else ""


def subjects(text: str) -> tuple[list[str], str]:
    """The claim's subjects, as they stand inside a sentence, and its predicate; none where their bounds are unclear."""
    subject, predicate = _split(text)
    if not re.match(r"(?:were|are|have|share|lie|do|did|both)\b", predicate):
        return [_lowered(subject)] if subject else [], predicate
    parts = [part for part in re.split(r",? and |, ", re.sub(r"^[Bb]oth | both$", "", subject)) if part]
    if len(parts) > 2 and "," not in subject:
        return [], predicate  # "Pride and Prejudice and Emma": nothing tells where one name ends
    return [_lowered(part) for part in parts], predicate


def _split(text: str) -> tuple[str, str]:
    """The claim's subject and the rest from its first verb on, without the full stop; ("", text) when unclear."""
    text = text.rstrip(" .!")
    clause = main_clause(text)
    if (
        clause
        and "," not in clause.subject
        and text.casefold().startswith(clause.subject.casefold())
        and names(clause.subject)
    ):
        return text[: len(clause.subject)], text[text.index(clause.verb, len(clause.subject)) :]
    name = re.match(rf"(?:[Tt]he |[Aa]n? |[Bb]oth )?{NAME}", text)
    start = 0 if name is None else name.end()
    verb = re.compile(rf"(?<= )(?:{_verbs()})\b").search(text, start)
    if verb is None or re.search(r"\b(?:who|whose|that|which|where)\b", text[: verb.start()]):
        return "", text
    subject = re.sub(rf"^({NAME})(?: with|,) .*", r"\1", text[: verb.start()].strip(" ,"))
    return subject, text[verb.start() :]


def _verbs() -> str:
    facts = data("claim_questions")
    return "|".join((facts["verbs"], facts["past_with_object"], facts["plural_verbs"], *facts["past"]))


def _lowered(subject: str) -> str:
    """A subject as it stands inside a sentence: a leading article loses its capital."""
    return re.sub(r"^(The|A|An)\b", lambda match: match.group().lower(), subject)
