"""Names by capitals alone."""

import pytest

from app.language.mentions import mentions, names_in


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The author of Hamlet was born in the same country as Charles Darwin.", ("Hamlet", "Charles Darwin")),
        ("During World War II, Marie Curie's husband lived in Paris.", ("World War II", "Marie Curie", "Paris")),
        ("Élodie met İsmet İnönü and Erdoğan in St. Petersburg.", ("Élodie", "İsmet İnönü", "Erdoğan", "St. Petersburg")),
        ("Лев Толстой родился в России.", ("Лев Толстой", "России")),
        ("Apollo 11 landed on the Moon in 1969.", ("Apollo 11", "Moon")),
        ("it rained", ()),
        ("😀😀", ()),
    ],
)
def test_the_names_of_a_text_in_order_without_sentence_openers(text, names):
    assert mentions(text) == names


def test_a_name_is_found_whole_and_in_any_case():
    assert names_in("the NILE flows north", "Nile")
    assert not names_in("She was juvenile", "Nile")
