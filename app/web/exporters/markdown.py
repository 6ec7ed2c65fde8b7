"""Export a run as Markdown: the claim, the verdict and each hop with the quoted evidence.

Passages without a quote are listed as links only; the JSON export is complete. Text from users and web pages is escaped
for CommonMark and GitHub's dialect, so that it produces no link, markup or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from app.domain.messages import Words
from app.domain.model import Answer, Hop, Label, Note, Origin, Passage, RunOptions, Span, Verdict
from app.domain.report import Report
from app.runs.notes import VERDICT
from app.runs.service import StoredRun
from app.text.fact_checkers import is_fact_check
from app.text.wording import escape_direction
from app.web.exporters import Exporter
from app.web.language import moment
from app.web.report_view import (
    corpora_words,
    formal_label,
    models_words,
    safe_address,
    source_words,
    web_link,
)
from app.web.views import (
    FACES,
    claim_only,
    confidence_words,
    date_words,
    duration,
    made_at,
    page_words,
    usage_words,
    web_search_words,
)

_SPECIAL = re.compile(r"[\\`*_\[\]|~$#<>&@]|:(?=//)|(?<=\bwww)\.", re.IGNORECASE)
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;", ":": "&#58;", ".": "&#46;"}
"""Characters that need an entity; others are escaped by a backslash."""
_LIST_OR_RULE = re.compile(r"\A(\d*)(?=[+=.)-])")
"""The start of a list item, a rule, or an underline that makes the line above a heading."""
_UNSAFE_IN_ADDRESS = re.compile(r"[\s\x00-\x20\x7f-\x9f<>{}\\`\u202a-\u202e\u2066-\u2069]")
_SPACE = re.compile(r"\s+")
_STARTS_AND_ENDS_IN_WORD = re.compile(r"[^\W_](.*[^\W_])?")


def plain(text: str) -> str:
    """Escape text within a line."""
    return _SPECIAL.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), _one_line(text))


def line(text: str) -> str:
    """Escape text at the start of a line."""
    return _LIST_OR_RULE.sub(r"\1\\", plain(text).lstrip())


def bold(text: str) -> str:
    """Return escaped text in bold.

    Asterisks beside punctuation may not make text bold (CommonMark, flanking delimiter runs), so `<strong>` does then.
    """
    if _STARTS_AND_ENDS_IN_WORD.fullmatch(_one_line(text)):
        return f"**{plain(text)}**"
    return f"<strong>{plain(text)}</strong>"


def link(text: str, address: str | None) -> str:
    """Return a link, or the text alone without an address. The caller must check that the address is safe to follow."""
    if not address:
        return plain(text)
    return f"[{plain(text)}](<{encoded(address).replace('&', '&amp;')}>)"


def encoded(address: str) -> str:
    """Percent-encode the characters that could end an address in Markdown or BibTeX, or disguise it."""
    return _UNSAFE_IN_ADDRESS.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), address)


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", escape_direction(text))


IMPORTED = "Imported, unverified: this report was not made here."
"""Notice in the Markdown and citation exports of imported reports."""

FROM_MEMORY = "from the model’s memory, not a source"


def disclaimer(options: RunOptions) -> str:
    """Return the notice beside the verdict of a run with these options."""
    warning = "A machine made this verdict, and machines are often wrong."
    if claim_only(options):
        return f"{warning} It was given the claim alone and looked at no evidence."
    return f"{warning} Read the evidence before you rely on it."


def report_as_markdown(run: StoredRun, address: str, notes: Sequence[Note] = ()) -> str:
    """Return the report of an ended run, each note below its hop; `address` is the URL of the run's page or ""."""
    report = run.report
    blocks = [*_head(run, address), *_verdict(report), *_notes(notes, VERDICT), *_fact_checks(report)]
    if not claim_only(report.options):
        sections = ((*_hop(hop, report), *_notes(notes, hop.number)) for hop in report.hops)
        blocks += ["## The trail", *(block for section in sections for block in section)]
    return "\n\n".join([*blocks, *_run_details(report)]) + "\n"


def _head(run: StoredRun, address: str) -> Iterator[str]:
    claim = run.report.claim
    yield f"# {plain(claim.text)}"
    if run.report.imported:
        yield f"> **{IMPORTED}** The file says that its check began {made_at(run.report.imported)}."
    said = [plain(each) for each in (claim.speaker, claim.date) if each]
    if said:
        yield f"Said by {', '.join(said)}" if claim.speaker else f"Said on {said[0]}"
    action = "Imported" if run.report.imported else "Checked"
    yield f"{action} {moment(run.created_at)}, {link('with Hopcheck', address)}."


def _verdict(report: Report) -> Iterator[str]:
    if report.verdict:
        label = report.verdict.label
        yield f"## Verdict: {FACES[label].word} ({formal_label(label)})"
        yield from _reasons(report.verdict, report)
    else:
        yield f"## No verdict: the check {'failed' if report.ended == 'failed' else 'was interrupted'}"
        yield line(str(report.problem))
    yield f"Source: {plain(source_words(report.options))}. Model: {plain(models_words(report.options))}."
    yield from map(line, map(str, report.failures))
    if report.stopped_because and claim_only(report.options):
        yield line(str(report.stopped_because))
    elif report.stopped_because:
        yield f"**Why it stopped asking.** {plain(page_words(report.stopped_because, is_owner=False))}"
    if report.verdict:
        yield f"*{disclaimer(report.options)}*"


def _reasons(verdict: Verdict, report: Report) -> Iterator[str]:
    if verdict.confidence is not None and verdict.label is not Label.NOT_ENOUGH_EVIDENCE:
        yield confidence_words(verdict.confidence)
    recited = {hop.number for hop in report.hops if hop.from_memory}
    sentences = []
    for sentence in verdict.rationale:
        hops = [f"[step {hop}{f', {FROM_MEMORY}' if hop in recited else ''}](#step-{hop})" for hop in sentence.hops]
        sentences.append(line(str(sentence.text)) + (f" ({', '.join(hops)})" if hops else ""))
    if sentences:
        yield " ".join(sentences)
    if verdict.missing:
        yield f"**What was missing.** {plain(str(verdict.missing))}"


def _fact_checks(report: Report) -> Iterator[str]:
    """Yield the published fact-checks, which are no part of the verdict."""
    if report.fact_checks:
        yield "## Published fact-checks"
        yield "\n".join(
            f"- {link(each.publisher, safe_address(each.url))}, {each.published or 'date unknown'}: "
            f"{bold(each.rating)} on “{plain(each.claim)}”"
            for each in report.fact_checks
        )


def _hop(hop: Hop, report: Report) -> Iterator[str]:
    yield f"### Step {hop.number}"
    yield f"**{plain(hop.question.text).strip() or 'No question could be asked'}**"
    if hop.answer:
        yield (
            "No answer was found in what was read." if hop.answer.text is None else f"Answer: {plain(hop.answer.text)}"
        )
    is_inherited = report.branch and hop.number <= report.branch.inherited_hops
    outcome = [FACES[hop.status].word, "from an earlier check" if is_inherited else duration(report.seconds_of(hop))]
    if hop.from_memory:
        outcome.append(FROM_MEMORY)
    yield f"{', '.join(outcome)}. {plain(page_words(hop.reason, is_owner=False))}".strip()
    if hop.answer:
        yield from _evidence(hop.answer, report.claim.date)


def _evidence(answer: Answer, said_on: str | None) -> Iterator[str]:
    cited = answer.cited
    if cited:
        yield _quoted(cited)
        yield _source(cited.passage, said_on)
    others = [passage for passage in answer.retrieved if not cited or passage != cited.passage]
    if others:
        yield "Also read:" if cited else "Read:"
        yield "\n".join(f"- {_source(passage, said_on)}" for passage in others)


def _notes(notes: Sequence[Note], hop: int) -> Iterator[str]:
    """Yield the note on that hop, or on the VERDICT, with agreement or disagreement in bold."""
    for note in notes:
        if note.hop == hop:
            if note.label:
                heading = f"The reader’s verdict: {FACES[note.label].word}."
            else:
                heading = {True: "My note. I agree.", False: "My note. I disagree.", None: "My note."}[note.agrees]
            signed = f" – {plain(note.signed)}" if note.signed else ""
            yield f"**{heading}** {plain(note.text)}".strip() + signed


def _quoted(span: Span) -> str:
    before, after = span.passage.text[: span.start].lstrip(), span.passage.text[span.end :]
    return f"> {line(before) if before else ''}{bold(span.text)}{plain(after).rstrip()}"


def _source(passage: Passage, said_on: str | None) -> str:
    """Return the title of a passage, as a link where it has an address, with its source and date."""
    title = passage.title or "A page without a title"
    if passage.origin is Origin.RECITED:
        return f"{plain(title)}, {FROM_MEMORY}"
    details = (passage.source, date_words(passage, said_on))
    parts = [link(title, web_link(passage)), *(plain(each) for each in details if each)]
    if passage.origin is Origin.WEB and is_fact_check(passage.url):
        parts.append("a fact-checker’s own article")
    return ", ".join(parts)


def _run_details(report: Report) -> Iterator[str]:
    options = report.options
    roles = {role for role, _ in options.modules}
    lines: list[tuple[str, str | None]] = [("strategy", options.strategy)]
    if not claim_only(options):
        lines += [
            # Usually it is listed with its version among the modules.
            ("answerer", None if "answerer" in roles else options.answerer),
            ("corpora", corpora_words(options)),
        ]
    lines += [("search", web_search_words(options)), ("language model", options.model), *options.modules]
    lines += [("calls of models", usage_words(report.usage)), ("time", duration(report.seconds))]
    yield "## Details of the check"
    yield "\n".join(f"- {plain(name[:1].upper() + name[1:])}: {plain(value)}" for name, value in lines if value)


EXPORTERS = (
    Exporter(
        file="export.md",
        title="Markdown",
        hint=Words("to read and to pass on"),
        media_type="text/markdown",
        write=lambda export: report_as_markdown(export.run, export.address, export.notes or ()),
        takes_notes=True,
        operation="exportMarkdown",
        about="Read a report in Markdown\n"
        "The claim, the verdict and every hop with its cited passage; 409 while the run is running.",
    ),
)
