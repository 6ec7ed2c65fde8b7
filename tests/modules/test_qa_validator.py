"""The validator keeps pairs that are answered, new and tied to the check; it does not judge the claim."""

from __future__ import annotations

import pytest

from app.domain.model import Answer, Claim, Hop, HopStatus, Judgement, Passage, Question, Span
from app.modules.qa_validator import TiedAnswerValidator

CLAIM = Claim("The author of Middlemarch was born in the same country as Emily Brontë.")
FIRST = Hop(1, Question("Who wrote Middlemarch?"), Answer("George Eliot"), HopStatus.KEPT)


def judged(question: str, answer: str | None, *context: Hop, evidence: tuple[str, str] | None = None) -> Judgement:
    at = evidence[1].find(answer or "") if evidence else 0
    cited = Span(Passage(evidence[1], evidence[0], "test"), max(at, 0), max(at, 0) + 1) if evidence else None
    hop = Hop(len(context) + 1, Question(question), Answer(answer, cited))
    return TiedAnswerValidator().is_useful(CLAIM, context, hop)


def test_a_bridge_answer_is_kept_though_it_decides_nothing() -> None:
    """The hop that a claim of two hops needs says nothing yet about its truth."""
    assert judged("Who wrote Middlemarch?", "George Eliot").holds


def test_an_answer_that_speaks_against_the_claim_is_kept() -> None:
    """Useful is not the same as true."""
    assert judged("Where was Emily Brontë born?", "Timbuktu").holds


def test_no_answer_is_set_aside_with_a_plain_reason() -> None:
    """A question without an answer stays out of the context, None and blank alike."""
    assert judged("Who wrote Middlemarch?", None) == Judgement(False, "No passage answers this question.")
    assert not judged("Who wrote Middlemarch?", "  ").holds


@pytest.mark.parametrize(
    "words", ["Unknown.", "No answer could be found.", "I don't know", "It is not mentioned here."]
)
def test_words_that_say_there_is_no_answer_are_none(words: str) -> None:
    """Answerers that write text say so in many ways."""
    assert judged("Who wrote Middlemarch?", words) == Judgement(False, "No passage answers this question.")


def test_an_answer_that_begins_with_no_is_an_answer() -> None:
    """ "No. 10 Downing Street" and "No" say something."""
    assert judged("Was Emily Brontë born in York?", "No").holds
    assert judged("Where did Emily Brontë live?", "No. 10 Downing Street").holds


def test_the_same_answer_to_nearly_the_same_question_is_set_aside() -> None:
    """Asked in other words, it brings what was there."""
    judgement = judged("Who exactly wrote Middlemarch?", "George Eliot", FIRST)
    assert not judgement.holds


def test_the_same_question_about_another_name_is_no_repetition() -> None:
    """Each country of a list is asked about."""
    fiji = Hop(1, Question("Has Emily Brontë been put on the list of writers in Fiji?"), Answer("No"), HopStatus.KEPT)
    assert judged("Has Emily Brontë been put on the list of writers in Peru?", "No", fiji).holds


def test_a_question_about_the_claim_itself_is_tied_to_it() -> None:
    """Fact-checkers ask where a claim was made first."""
    assert judged("Where was the claim first published?", "In a satirical paper").holds


def test_a_pair_that_is_there_already_is_set_aside() -> None:
    """The same question in other words brings nothing new."""
    judgement = judged("Who is the author of Middlemarch?", "George Eliot", FIRST)
    assert (judgement.holds, judgement.reason) == (False, "Hop 1 asked this already.")


def test_an_answer_that_says_the_question_s_name_again_is_set_aside() -> None:
    """ "Where is the Berlin Wall?" is not answered by "the Berlin Wall", but Mexico City may lie in Mexico."""
    assert not judged("Where was Emily Brontë born?", "Emily Brontë").holds
    assert judged("Which country was Emily Brontë of Brontë Town from?", "Brontë").holds


def test_a_question_about_a_kept_answer_is_tied_to_it() -> None:
    """The reason names the hop that brought what is asked about."""
    judgement = judged("Where was George Eliot born?", "Nuneaton", FIRST)
    assert judgement == Judgement(True, "It answers a question about George Eliot, from hop 1.")


def test_a_pair_about_something_else_is_set_aside() -> None:
    """Answered and new is not enough: without a tie to the claim or to a kept answer it is no part of the check."""
    judgement = judged("Who painted Guernica?", "Pablo Picasso", FIRST)
    assert not judgement.holds and judgement.reason.startswith("Neither the question")


def test_evidence_that_does_not_mention_what_was_asked_about_is_set_aside() -> None:
    """A passage on somebody else answers nothing, whatever the reader took from it."""
    question = "Where was Emily Brontë born?"
    stray = judged(question, "Calcutta", evidence=("William Makepeace Thackeray", "He was born in Calcutta."))
    assert stray == Judgement(False, "The evidence does not mention Emily Brontë.")
    assert judged(question, "Thornton", evidence=("Brontë family", "Emily Bronte was born in Thornton.")).holds


def test_what_a_page_tells_of_somebody_else_is_set_aside() -> None:
    """A page that mentions whom the question is about says "he" of its own subject."""
    question, text = "Where was Emily Brontë born?", "{} wrote of Emily Brontë, too. She was born in Chilvers Coton."
    stray = judged(question, "Chilvers Coton", evidence=("Marian Evans", f"Marian Evans was a writer. {text}"))
    assert stray == Judgement(False, "The evidence tells this of Marian Evans, not of Emily Brontë.")
    alias = "Marian Evans, for friends Emily Brontë, was a writer. She was born in Chilvers Coton."
    assert judged(question, "Chilvers Coton", evidence=("Marian Evans", alias)).holds
    assert judged("Who praised Emily Brontë?", "Marian Evans", evidence=("Marian Evans", f"She met {text}")).holds


def test_a_description_leads_on_by_its_names_alone() -> None:
    """ "a former soldier born in Nuneaton" makes Nuneaton worth asking about, and not every soldier."""
    known = Hop(1, Question("Who was George Eliot?"), Answer("a former soldier born in Nuneaton"), HopStatus.KEPT)
    told = judged("Where is Nuneaton?", "Warwickshire", known).reason
    assert told == "It answers a question about a former soldier born in Nuneaton, from hop 1."
    assert not judged("Which soldier lived longest?", "Nobody", known).holds
