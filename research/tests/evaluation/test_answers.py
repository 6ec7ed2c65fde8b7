"""Exact match and F1 of answers, against values computed by hand."""

import pytest

from research.evaluation.answers import exact_match, f1


def test_case_articles_and_punctuation_do_not_count():
    assert (
        exact_match("The Tower, of London!", ["tower of london"]) == f1("a tower of london", ["Tower of London"]) == 1
    )


def test_f1_is_the_best_word_overlap_with_any_right_answer():
    assert f1("William Shakespeare of Stratford", ["Marlowe", "William Shakespeare"]) == pytest.approx(2 * 2 / (4 + 2))


@pytest.mark.parametrize(("given", "answers", "value"), [(None, [], 1), ("Paris", [], 0), (None, ["Paris"], 0)])
def test_no_answer_is_right_only_for_unanswerable_questions(given, answers, value):
    assert exact_match(given, answers) == f1(given, answers) == value


def test_an_answer_of_articles_alone_matches_only_itself():
    assert f1("the", ["The"]) == 1
    assert f1("the", ["Paris"]) == 0
