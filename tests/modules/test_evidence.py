"""What is weighed: the passages that answers cite, and what else was looked at where it fills a gap."""

from __future__ import annotations

from app.domain.model import Answer, Claim, Hop, HopStatus, Passage, Question, Span
from app.modules.judging.evidence import MOST_WEIGHED, gathered, passages_of
from app.modules.reasoner.rationale import further_quotations

CLAIM = Claim("Ada Stone sailed from Basel to Chur with Bruno Wolf.")
CITED = Passage("Ada Stone sailed a boat.", "Ada Stone", "test")
TOWNS = Passage("It never rains. Ada Stone saw Basel and Chur.", "Towns", "test")
WOLF = Passage("Bruno Wolf kept bees and met Ada Stone.", "Bruno Wolf (painter)", "test")
BASEL = Passage("Basel lies on a river.", "Basel", "test")
STRANGER = Passage("Nobody leaves Chur.", "Grass", "test")


def hop(number: int, cited: Passage, *looked_at: Passage) -> Hop:
    return Hop(
        number, Question("Who?"), Answer("Ada", Span(cited, 0, 3), retrieved=(cited, *looked_at)), HopStatus.KEPT
    )


def titles(passages: list[tuple[str, str]]) -> list[str]:
    return [title for title, _ in passages]


def test_what_was_looked_at_joins_where_it_speaks_of_what_nothing_cited_mentions():
    context = (hop(1, CITED, WOLF), hop(2, CITED, TOWNS))
    assert [(each.number, passage.title) for each, passage in gathered(CLAIM, context).added] == [
        (2, "Towns"),
        (1, "Bruno Wolf (painter)"),
    ]
    assert titles(gathered(CLAIM, context).passages) == ["Ada Stone", "Towns", "Bruno Wolf (painter)"]


def test_what_neither_names_a_cited_page_nor_is_named_there_does_not_join():
    """That Chur is a word somewhere says nothing of Ada Stone."""
    assert gathered(CLAIM, (hop(1, CITED, STRANGER, BASEL),)).added == []


def test_a_passage_that_several_hops_looked_at_belongs_to_the_first():
    assert [each.number for each, _ in gathered(CLAIM, (hop(1, CITED, WOLF), hop(2, CITED, WOLF))).added] == [1]


def test_nothing_joins_where_the_cited_passages_speak_of_the_whole_claim():
    whole = Passage(CLAIM.text, "Ada Stone", "test")
    assert gathered(CLAIM, (hop(1, whole, TOWNS, WOLF),)).added == []


def test_no_more_join_than_are_weighed_in_all():
    claim = Claim(" ".join(f"word{number}" for number in range(20)))
    pages = [Passage(f"word{number} of Ada Stone", f"Page {number}", "test") for number in range(20)]
    assert len(gathered(claim, (hop(1, CITED, *pages),)).passages) == MOST_WEIGHED


def test_a_page_that_only_looks_a_name_up_is_not_weighed():
    """That there is a Basel does not say that Ada Stone was there."""
    assert titles(passages_of(CLAIM, (hop(1, CITED), hop(2, BASEL)))) == ["Ada Stone"]


def test_a_looked_up_page_is_weighed_once_it_is_tied_to_another_or_to_the_claim():
    named = Passage("Ada Stone came from Basel.", "Ada Stone", "test")
    sailed = Passage("Basel is where boats sailed.", "Basel", "test")
    assert titles(passages_of(CLAIM, (hop(1, named), hop(2, BASEL)))) == ["Ada Stone", "Basel"]
    assert titles(passages_of(CLAIM, (hop(1, CITED), hop(2, sailed)))) == ["Ada Stone", "Basel"]


def test_both_sides_of_a_comparison_are_weighed():
    claim = Claim("Ada Stone is older than Basel.")
    assert titles(passages_of(claim, (hop(1, CITED), hop(2, BASEL)))) == ["Ada Stone", "Basel"]


def test_one_page_alone_is_weighed_whatever_it_says():
    assert titles(passages_of(CLAIM, (hop(1, BASEL),))) == ["Basel"]


def test_the_rationale_quotes_what_joined_by_its_sentence_nearest_to_the_claim():
    (sentence,) = further_quotations(CLAIM, gathered(CLAIM, (hop(1, CITED, TOWNS),)))
    assert sentence.text == "Towns, looked at as well: “Ada Stone saw Basel and Chur.”"
    assert sentence.hops == (1,)


def test_a_data_sets_own_passages_are_weighed_as_they_are():
    """Nobody asked for them, so none of them looks anything up."""
    gold = tuple(
        Hop(n, Question(""), Answer("", Span(page, 0, 0)), HopStatus.KEPT) for n, page in ((1, CITED), (2, BASEL))
    )
    assert titles(passages_of(CLAIM, gold)) == ["Ada Stone", "Basel"]
