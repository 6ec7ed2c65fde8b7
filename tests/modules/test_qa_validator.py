"""The validator keeps pairs that are answered, new and related to the check; it does not judge the claim."""

from __future__ import annotations

import pytest

from app.domain.messages import Code
from app.domain.model import Answer, Claim, Hop, HopStatus, Judgement, Passage, Question, Span
from app.modules.qa_validator import RuleBasedValidator

CLAIM = Claim("The author of Middlemarch was born in the same country as Emily Brontë.")
FIRST = Hop(1, Question("Who wrote Middlemarch?"), Answer("George Eliot"), HopStatus.KEPT)


def judged(question: str, answer: str | None, *context: Hop, evidence: tuple[str, str] | None = None) -> Judgement:
    at = evidence[1].find(answer or "") if evidence else 0
    cited = Span(Passage(evidence[1], evidence[0], "test"), max(at, 0), max(at, 0) + 1) if evidence else None
    hop = Hop(len(context) + 1, Question(question), Answer(answer, cited))
    return RuleBasedValidator().is_useful(CLAIM, context, hop)


FIJI = Hop(1, Question("Has Emily Brontë been put on the list of writers in Fiji?"), Answer("No"), HopStatus.KEPT)


@pytest.mark.parametrize(
    ("question", "answer", "context"),
    [
        ("Who wrote Middlemarch?", "George Eliot", ()),  # it says nothing yet about the truth of a two-hop claim
        ("Was Emily Brontë born in York?", "No", ()),
        ("Where did Emily Brontë live?", "No. 10 Downing Street", ()),
        ("Where was the claim first published?", "In a satirical paper", ()),
        ("Which country was Emily Brontë of Brontë Town from?", "Brontë", ()),
        ("Has Emily Brontë been put on the list of writers in Peru?", "No", (FIJI,)),
    ],
)
def test_an_answered_new_and_related_pair_is_kept(question: str, answer: str, context: tuple[Hop, ...]) -> None:
    assert judged(question, answer, *context).holds


@pytest.mark.parametrize(
    ("question", "answer", "reason"),
    [
        ("Who wrote Middlemarch?", None, Code.NO_ANSWER()),
        ("Who wrote Middlemarch?", "  ", Code.NO_ANSWER()),
        ("Where was Emily Brontë born?", "Emily Brontë", Code.QUESTION_REPEATED()),
        ("Who exactly wrote Middlemarch?", "George Eliot", Code.ALREADY_ANSWERED(hop=1)),
        ("Who is the author of Middlemarch?", "George Eliot", Code.ALREADY_ASKED(hop=1)),
        ("Who painted Guernica?", "Pablo Picasso", Code.UNRELATED()),
    ],
)
def test_any_other_pair_is_set_aside_with_a_reason(question: str, answer: str | None, reason) -> None:
    assert judged(question, answer, FIRST) == Judgement(False, reason)


def test_a_question_about_a_kept_answer_is_related() -> None:
    judgement = judged("Where was George Eliot born?", "Nuneaton", FIRST)
    assert judgement == Judgement(True, Code.ABOUT_ANSWER(answer="George Eliot", hop=1))


def test_evidence_that_does_not_mention_the_subject_of_the_question_is_set_aside() -> None:
    """A passage about somebody else does not answer it, whatever the reader extracted."""
    question = "Where was Emily Brontë born?"
    stray = judged(question, "Calcutta", evidence=("William Makepeace Thackeray", "He was born in Calcutta."))
    assert stray == Judgement(False, Code.NOT_MENTIONED(name="Emily Brontë"))
    assert judged(question, "Thornton", evidence=("Brontë family", "Emily Bronte was born in Thornton.")).holds


def test_a_pages_statement_about_somebody_else_is_set_aside() -> None:
    question, text = "Where was Emily Brontë born?", "{} wrote of Emily Brontë, too. She was born in Chilvers Coton."
    stray = judged(question, "Chilvers Coton", evidence=("Marian Evans", f"Marian Evans was a writer. {text}"))
    assert stray == Judgement(False, Code.OTHER_SUBJECT(other="Marian Evans", name="Emily Brontë"))
    alias = "Marian Evans, for friends Emily Brontë, was a writer. She was born in Chilvers Coton."
    assert judged(question, "Chilvers Coton", evidence=("Marian Evans", alias)).holds
    assert judged("Who praised Emily Brontë?", "Marian Evans", evidence=("Marian Evans", f"She met {text}")).holds


def test_an_abbreviation_does_not_end_the_sentence_that_gives_another_name() -> None:
    alias = "Mary Ann Evans (22 Nov. 1819 – 1880), known as George Eliot, was a writer. She was born in Nuneaton."
    assert judged("Where was George Eliot born?", "Nuneaton", evidence=("Mary Ann Evans", alias)).holds


def test_only_names_in_a_descriptive_answer_relate_later_questions() -> None:
    """After "a former soldier born in Nuneaton" a question may be about Nuneaton, but not about any soldier."""
    known = Hop(1, Question("Who was George Eliot?"), Answer("a former soldier born in Nuneaton"), HopStatus.KEPT)
    why = judged("Where is Nuneaton?", "Warwickshire", known).reason
    assert why == Code.ABOUT_ANSWER(answer="a former soldier born in Nuneaton", hop=1)
    assert not judged("Which soldier lived longest?", "Nobody", known).holds


def test_a_whole_sentence_of_the_source_is_kept_as_the_nearest_one() -> None:
    sentence = "Emily Brontë was an English novelist."
    judgement = judged("Where was Emily Brontë born?", sentence, evidence=("Emily Brontë", sentence))
    assert judgement == Judgement(True, Code.NEAREST_SENTENCE())
