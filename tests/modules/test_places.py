"""Places exclude each other only when they are of one size: nothing here knows what lies in what."""

import pytest

from app.modules.judging.comparison import exclude_each_other, is_place, territory


@pytest.mark.parametrize(
    ("one", "other"),
    [("Berlin", "Paris"), ("Canada", "Russia"), ("Europe", "Asia"), ("Andes", "Himalayas"), ("Turkey", "Netherlands")],
)
def test_two_places_of_one_size_exclude_each_other(one, other):
    assert exclude_each_other(one, other) and exclude_each_other(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Europe", "Paris"),
        ("France", "Paris"),
        ("France", "Europe"),
        ("Wales", "Cardiff"),
        ("Caribbean", "North America"),
        ("Texas", "United States"),
        ("Bavaria", "Munich"),
        ("Alps", "Grindelwald"),
    ],
)
def test_a_place_may_lie_in_a_larger_one(one, other):
    assert not exclude_each_other(one, other) and not exclude_each_other(other, one)


@pytest.mark.parametrize(
    ("one", "other"), [("Burma", "Myanmar"), ("USA", "United States"), ("St. Lucia", "Saint Lucia"), ("UK", "U.K.")]
)
def test_one_country_has_several_names(one, other):
    assert territory(one) == territory(other) != ""
    assert not exclude_each_other(one, other)


def test_an_adjective_is_no_place_but_oman_is_one():
    assert [name for name in ("German", "Polish", "Oman", "Bonn", "Milan") if is_place(name)] == [
        "Oman",
        "Bonn",
        "Milan",
    ]
