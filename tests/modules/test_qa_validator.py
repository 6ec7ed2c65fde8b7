"""The validator keeps pairs that are answered, new and related to the check; it does not judge the claim."""

from __future__ import annotations

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


def test_a_bridge_answer_is_kept_though_it_decides_nothing() -> None:
    """The first hop of a two-hop claim says nothing yet about its truth."""
    assert judged("Who wrote Middlemarch?", "George Eliot").holds


def test_a_pair_without_an_answer_is_set_aside_with_a_reason() -> None:
    """None and blank count alike."""
    assert judged("Who wrote Middlemarch?", None) == Judgement(False, Code.NO_ANSWER())
    assert not judged("Who wrote Middlemarch?", "  ").holds


def test_an_answer_that_begins_with_no_is_an_answer() -> None:
    """Such as "No. 10 Downing Street" and "No" itself."""
    assert judged("Was Emily Brontë born in York?", "No").holds
    assert judged("Where did Emily Brontë live?", "No. 10 Downing Street").holds


def test_the_same_answer_to_nearly_the_same_question_is_set_aside() -> None:
    """A paraphrased question adds nothing new."""
    judgement = judged("Who exactly wrote Middlemarch?", "George Eliot", FIRST)
    assert judgement == Judgement(False, Code.ALREADY_ANSWERED(hop=1))


def test_the_same_question_about_another_name_is_kept() -> None:
    """For instance about each country of a list."""
    fiji = Hop(1, Question("Has Emily Brontë been put on the list of writers in Fiji?"), Answer("No"), HopStatus.KEPT)
    assert judged("Has Emily Brontë been put on the list of writers in Peru?", "No", fiji).holds


def test_a_question_about_the_claim_itself_is_related() -> None:
    """Fact-checkers first ask where a claim was made."""
    assert judged("Where was the claim first published?", "In a satirical paper").holds


def test_an_answer_that_repeats_the_name_in_the_question_is_set_aside() -> None:
    """As "the Berlin Wall" for "Where is the Berlin Wall?", but Mexico City may be in Mexico."""
    assert not judged("Where was Emily Brontë born?", "Emily Brontë").holds
    assert judged("Which country was Emily Brontë of Brontë Town from?", "Brontë").holds


def test_a_question_about_a_kept_answer_is_related() -> None:
    """The reason names the hop with that answer."""
    judgement = judged("Where was George Eliot born?", "Nuneaton", FIRST)
    assert judgement == Judgement(True, Code.ABOUT_ANSWER(answer="George Eliot", hop=1))


def test_an_unrelated_pair_is_set_aside() -> None:
    """Answered and new is not enough: the question must be related to the claim or to a kept answer."""
    judgement = judged("Who painted Guernica?", "Pablo Picasso", FIRST)
    assert not judgement.holds and judgement.reason == Code.UNRELATED()


def test_evidence_that_does_not_mention_the_subject_of_the_question_is_set_aside() -> None:
    """A passage about somebody else does not answer it, whatever the reader extracted."""
    question = "Where was Emily Brontë born?"
    stray = judged(question, "Calcutta", evidence=("William Makepeace Thackeray", "He was born in Calcutta."))
    assert stray == Judgement(False, Code.NOT_MENTIONED(name="Emily Brontë"))
    assert judged(question, "Thornton", evidence=("Brontë family", "Emily Bronte was born in Thornton.")).holds


def test_a_pages_statement_about_somebody_else_is_set_aside() -> None:
    """A page that mentions the person in question says "he" of its own subject."""
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


def test_a_repeated_pair_is_set_aside() -> None:
    judgement = judged("Who is the author of Middlemarch?", "George Eliot", FIRST)
    assert (judgement.holds, judgement.reason) == (False, Code.ALREADY_ASKED(hop=1))
