"""Cleaning the text of claims and documents, and restoring the letter case of claims."""

from __future__ import annotations

import pytest

from app.text.clean import clean_text, restore_case


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        # entities and broken encodings
        ("Paris&nbsp;is the capital of France.", "Paris is the capital of France."),
        ("Tom &amp; Jerry &amp;quot;won&amp;quot; in &#82;io&#x2e;", 'Tom & Jerry "won" in Rio.'),
        ("AT&T and a=1&copy=2 stay", "AT&T and a=1&copy=2 stay"),
        ("AntonÃ­n DvoÅ™Ã¡k", "Antonín Dvořák"),
        ("\x93It\x92s big,\x94 he said", "“It’s big,” he said"),
        # signs that readers do not see
        ("The Eif\u00adfel Tow\u200ber is\u2060 in\ufeff Pa\u034fris.", "The Eiffel Tower is in Paris."),
        ("\u202ethe\u202c \u2066Nile\u2069 \u200eflows\u061c", "the Nile flows"),
        ("a\U000e0041\ue000\u180e\u115fb", "ab"),
        ("regulating\ufffdvitamin\ufffdD", "regulating vitamin D"),
        ("a\u00a0b\u3000c\u2009d\u202fe\u2800f\tg", "a b c d e f g"),
        ("Pаris is the cаpital of Frаnce.", "Paris is the capital of France."),
        ("Москва is Moscow", "Москва is Moscow"),
        # emoji and marks
        ("Paris is the capital of France 🇫🇷.", "Paris is the capital of France."),
        ("✅ Berlin🇩🇪is 👨‍👩‍👧 big ❤️👍🏽", "Berlin is big"),
        ("1️⃣ Paris\n② Berlin\n❸ Rome\n⒋Bern", "1. Paris\n2. Berlin\n3. Rome\n4. Bern"),
        ("C♯ minor, 5 €, ©2020, 20 °C", "C♯ minor, 5 €, ©2020, 20 °C"),
        ("Lego™ is No. 1", "Lego is No. 1"),
        # other forms of letters and digits
        ("The Eiﬀel Tower, ﬁve ﬂoors, ofﬁce, aﬄuent", "The Eiffel Tower, five floors, office, affluent"),
        ("The ﬁ eld was ﬂ at, an eﬀ ective Pﬁ zer", "The field was flat, an effective Pfizer"),
        ("staﬀ members, oﬀ duty, Cliﬀ Richard, an oﬀ ice", "staff members, off duty, Cliff Richard, an off ice"),
        ("１８８９ 𝐏𝐚𝐫𝐢𝐬 Ⅳ ㎞ ℃", "1889 Paris IV km °C"),
        ("Cafe\u0301", "Café"),
        # digits never fuse
        ("made 10⁶ bricks, 10⁻³ m, 2ⁿ, 5⁽²⁾", "made 10^6 bricks, 10^-3 m, 2^n, 5^(2)"),
        ("1½ miles, ½ mile, 3¾", "1 1/2 miles, 1/2 mile, 3 3/4"),
        ("10º, 5ª, 101₂, 2ⁿᵈ", "10º, 5ª, 101_2, 2nd"),
        ("5 km², mc², 3 m³, H₂O, CO₂, Na⁺, Ca²⁺, s⁻¹", "5 km2, mc2, 3 m3, H2O, CO2, Na+, Ca2+, s^-1"),
        ("It opened¹ in Paris.² It is big.¹⁻³ ¹ Note", "It opened in Paris. It is big. Note"),
        # lines
        ("a\r\nb\rc\u2028d\x0be\x0cf\x85g \n \n\n\n h", "a\nb\nc\nd\ne\nf\ng\n\nh"),
        ("It was found-\ned in 1889 by engi-\r\n  neers.", "It was founded in 1889 by engineers."),
        ("found- ed by Leo-\nnardo, with pre- and post-war parts", "founded by Leonardo, with pre- and post-war parts"),
        ("The well-\nknown Anglo-\nSaxon", "The well-known Anglo-Saxon"),
        ("small, power\n-\nenhancing parts", "small, power-enhancing parts"),
        ("enter\u00ad\ntainment is enter\u00ad tainment", "entertainment is entertainment"),
        ("Cross-\u00ad\nsectional", "Cross-sectional"),
        ("COVID- 19, F-\n16, mid- 1990s, 1914-\n1918, 1939- 1945", "COVID-19, F-16, mid-1990s, 1914-1918, 1939-1945"),
        ("a 19-\nyear-old, an X-\nray, n-\noctanal, 5- metre-high", "a 19-year-old, an X-ray, n-octanal, 5-metre-high"),
        ("5- and 6-year-old, 5-\nand 6-year-old", "5- and 6-year-old, 5-\nand 6-year-old"),
        ("Paris- 2 million people; this-\n1. One", "Paris- 2 million people; this-\n1. One"),
        ("Zwolfheim is near Zwolf-\nheim", "Zwolfheim is near Zwolfheim"),
        ("\x1b[31mred\x1b[0m and\x00black", "red and black"),
        ("Joe wrote:\n\n> It was built\n> in 1889.\n>\n>> 3 > 2", "Joe wrote:\n\nIt was built\nin 1889.\n\n>> 3 > 2"),
        ("", ""),
    ],
)
def test_text_is_cleaned_of_what_readers_do_not_see(text: str, clean: str) -> None:
    assert clean_text(text) == clean
    assert clean_text(clean) == clean


PASSAGES = (
    (
        "Mona Lisa",
        "The Mona Lisa is a painting by the Italian artist Leonardo da Vinci. It hangs in Paris, capital of France.",
    ),
    ("eBay", "The company eBay was sold. It worked with NASA. Zendaya acted."),
)


@pytest.mark.parametrize(
    ("claim", "restored"),
    [
        ("the mona lisa was painted by leonardo da vinci.", "The Mona Lisa was painted by Leonardo da Vinci."),
        ("THE MONA LISA WAS PAINTED BY LEONARDO DA VINCI!", "The Mona Lisa was painted by Leonardo da Vinci!"),
        ("paris is the capital of france", "Paris is the capital of France"),
        ("ebay worked with nasa", "eBay worked with NASA"),
        ("zendaya was painted", "Zendaya was painted"),
        ("The Mona Lisa Was Painted By Leonardo Da Vinci", "The Mona Lisa was painted by Leonardo da Vinci"),
    ],
)
def test_a_claim_without_letter_case_gets_that_of_the_passages(claim: str, restored: str) -> None:
    assert restore_case(claim, PASSAGES) == restored
