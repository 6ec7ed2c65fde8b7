"""Answers compared with what the claim says: like with like, and nothing where nothing can be compared."""

import pytest

from app.domain.model import Answer, Claim, Hop, HopStatus, Label, Passage, Question, Span
from app.modules.judging.comparison import findings
from app.modules.judging.scoring import weigh

LONDON = Passage("A hotel in Westminster, London.", "Savoy", "test")


def hop(number: int, question: str, answer: str, cited: Passage | None = None) -> Hop:
    return Hop(number, Question(question), Answer(answer, cited and Span(cited, 0, 1)), HopStatus.KEPT)


KAFKA = hop(1, "Who wrote The Metamorphosis?", "Franz Kafka")
TCHAIKOVSKY = hop(1, "Who composed Swan Lake?", "Pyotr Ilyich Tchaikovsky")
DARWIN, EINSTEIN = hop(1, "When was Charles Darwin born?", "1809"), hop(2, "When was Albert Einstein born?", "1879")


@pytest.mark.parametrize(
    ("claim", "context", "agrees", "told"),
    [
        (
            "The author of The Metamorphosis was born in Vienna.",
            (KAFKA, hop(2, "Where was Franz Kafka born?", "Prague")),
            False,
            "The claim says Vienna; hop 2 found Prague.",
        ),
        (
            "The author of The Metamorphosis was born in Prague.",
            (KAFKA, hop(3, "Where was Franz Kafka born?", "Prague, in the Austro-Hungarian Empire")),
            True,
            "The claim says Prague, and so does hop 3.",
        ),
        (
            "The composer of Swan Lake died in 1921.",
            (TCHAIKOVSKY, hop(2, "When did Pyotr Ilyich Tchaikovsky die?", "1893")),
            False,
            "The claim says 1921; hop 2 found 1893.",
        ),
        (
            "The Louvre is located in Madrid.",
            (hop(1, "Where is the Louvre located?", "Paris, France"),),
            False,
            "The claim says Madrid; hop 1 found Paris, France.",
        ),
        (
            "The Louvre is located in Spain.",
            (hop(1, "Where is the Louvre located?", "Paris, France"),),
            False,
            "The claim says Spain; hop 1 found Paris, France.",
        ),
        (
            "Franz Kafka and Jane Austen were both born in Bonn.",
            (hop(1, "Where was Franz Kafka born?", "Prague"),),
            False,
            "The claim says Bonn; hop 1 found Prague.",
        ),
        (
            "Jane Austen wrote Frankenstein.",
            (hop(1, "Who wrote Frankenstein?", "Mary Shelley"),),
            False,
            "The claim says Jane Austen; hop 1 found Mary Shelley.",
        ),
        (
            "Frankenstein was written by Mary Shelley.",
            (hop(1, "Who wrote Frankenstein?", "Mary Shelley"),),
            True,
            "The claim says Mary Shelley, and so does hop 1.",
        ),
        (
            "Charles Darwin was born before Albert Einstein.",
            (DARWIN, EINSTEIN),
            True,
            "Hop 1 found 1809 and hop 2 found 1879.",
        ),
        (
            "The Starry Night was painted by a Norwegian artist.",
            (hop(1, "Who painted The Starry Night?", "Van Gogh"), hop(2, "What nationality was Van Gogh?", "Dutch")),
            False,
            "The claim says Norwegian; hop 2 found Dutch.",
        ),
        (
            "Albert Einstein was born before Charles Darwin.",
            (DARWIN, EINSTEIN),
            False,
            "Hop 2 found 1879 and hop 1 found 1809.",
        ),
        (
            "Canberra is the capital of New Zealand.",
            (hop(1, "What is the capital of New Zealand?", "Wellington"),),
            False,
            "The claim says Canberra; hop 1 found Wellington.",
        ),
        (
            "Mount Kilimanjaro is higher than Mount Everest.",
            (
                hop(1, "How high is Mount Kilimanjaro?", "5,895 m"),
                hop(2, "How high is Mount Everest?", "8,849 metres"),
            ),
            False,
            "Hop 1 found 5,895 m and hop 2 found 8,849 metres.",
        ),
        (
            "The Oder is shorter than the Volga.",
            (hop(2, "How long is the Oder?", "840 km"), hop(3, "How long is the Volga?", "3,531 kilometres")),
            True,
            "Hop 2 found 840 km and hop 3 found 3,531 kilometres.",
        ),
        (
            "The Crimean War ended in 1871.",
            (hop(1, "When did the Crimean War end?", "1853–1856"),),
            False,
            "The claim says 1871; hop 1 found 1853–1856.",
        ),
        (
            "Charles Darwin and Albert Einstein were born in the same year.",
            (DARWIN, EINSTEIN),
            False,
            "Hop 1 found 1809 and hop 2 found 1879.",
        ),
        (
            "Charles Darwin and Abraham Lincoln were born in the same year.",
            (DARWIN, hop(2, "When was Abraham Lincoln born?", "1809")),
            True,
            "Hop 1 found 1809 and hop 2 found 1809.",
        ),
        (
            "Charles Darwin was born later than Albert Einstein.",
            (DARWIN, EINSTEIN),
            False,
            "Hop 1 found 1809 and hop 2 found 1879.",
        ),
    ],
)
def test_what_the_claim_says_is_held_against_what_was_found(claim, context, agrees, told):
    (finding,) = findings(Claim(claim), context)
    assert (finding.agrees, finding.told) == (agrees, told)


@pytest.mark.parametrize(
    ("claim", "context"),
    [
        ("The author of The Metamorphosis was born in Vienna.", (KAFKA,)),
        ("Leo Tolstoy kept a white parrot.", (hop(1, "Who was Leo Tolstoy?", "a Russian writer"),)),
        ("The Starry Night was painted by a Norwegian artist.", (hop(1, "Who painted The Starry Night?", "Van Gogh"),)),
        (
            "Swan Lake and The Rite of Spring were composed by Russian composers.",
            (hop(1, "Who composed Swan Lake?", "Pyotr Ilyich Tchaikovsky"),),
        ),
        (
            "The emperor who commissioned the Taj Mahal reigned until 1658.",
            (hop(1, "Which emperor commissioned the Taj Mahal?", "Shah Jahan"),),
        ),
        (
            "Vincent van Gogh sold a painting to Edvard Munch.",
            (hop(1, "What is Edvard Munch?", "Norwegian painter"),),
        ),
        (
            "Leo Tolstoy wrote The Cossacks.",
            (hop(1, "Which novel did Leo Tolstoy write?", "Anna Karenina"),),
        ),
        ("Tosca is set in Rome and was first sung in Paris.", (hop(1, "Where is Tosca set?", "Naples"),)),
        (
            "Tosca was first sung in 1900.",
            (hop(1, "When was Tosca first sung?", "It was begun in 1895 and sung from 1901 on"),),
        ),
        (
            "Tosca was written by Giacomo Puccini.",
            (hop(1, "Who wrote Tosca?", "Victorien Sardou wrote the play that Giacomo Puccini had seen in Milan"),),
        ),
        ("The Nile flows through Brazil.", (hop(1, "Where is Brazil located?", "South America"),)),
        ("The Louvre is in Europe.", (hop(1, "Where is the Louvre located?", "Paris, France"),)),
        ("Albert Einstein was born in Ulm.", (hop(1, "Where was Albert Einstein born?", "German"),)),
        ("The Savoy is located in Westminster.", (hop(1, "Where is the Savoy located?", "London", LONDON),)),
        (
            "Everest is higher than K2.",
            (hop(1, "How high is Everest?", "8,849 m"), hop(2, "How high is K2?", "28,251 ft")),
        ),
        ("Oslo is the home of Edvard Munch.", (hop(1, "What is the home of Edvard Munch?", "Ekely"),)),
        ("The Crimean War ended in 1855.", (hop(1, "When did the Crimean War end?", "1853–1856"),)),
        ("Charles Darwin was born before Albert Einstein.", (DARWIN,)),
        ("Charles Darwin was born before Albert Einstein.", (DARWIN, hop(2, "When was Albert Einstein born?", "1809"))),
        ("Charles Darwin and Albert Einstein were born in the same year.", (EINSTEIN,)),
        ("Everest is high.", (Hop(1, Question("Where is Everest?"), None, HopStatus.KEPT),)),
        ("Everest is high.", ()),
    ],
    ids=[
        "bridge only",
        "nothing named",
        "person or nationality",
        "other work",
        "name or year",
        "only looked up",
        "one of many",
        "two places in the claim",
        "two years in the answer",
        "names in a long answer",
        "what flows through the place that was asked for",
        "a town and the continent it may lie in",
        "where is no nationality",
        "another place that the same passage names",
        "two units",
        "one of several homes",
        "a year within the years it lasted",
        "one side",
        "same year",
        "one side of the same year",
        "no answer",
        "no hop",
    ],
)
def test_nothing_is_said_where_like_cannot_be_held_against_like(claim, context):
    assert findings(Claim(claim), context) == ()


@pytest.mark.parametrize(
    ("claim", "agrees"),
    [
        ("Charles Darwin was not born before Albert Einstein.", False),
        ("Albert Einstein was not born before Charles Darwin.", True),
        ("Charles Darwin and Albert Einstein were not born in the same year.", True),
    ],
)
def test_a_denied_order_of_two_answers_is_read_the_other_way_round(claim, agrees):
    (finding,) = findings(Claim(claim), (DARWIN, EINSTEIN))
    assert finding.agrees is agrees


def test_only_what_was_found_counts_as_compared():
    """What the claim says besides is still open: "stars Bill Paxton"."""
    claim = Claim("Groundhog Day was directed by Harold Ramis and stars Bill Paxton.")
    (finding,) = findings(claim, (hop(1, "Who directed Groundhog Day?", "Harold Ramis"),))
    assert (finding.agrees, finding.claimed) == (True, ("Harold Ramis",))


LOUVRE, LOUVRE_IN_PARIS = "Where is the Louvre located?", "The Louvre, which was never a church, is in Paris."


@pytest.mark.parametrize(
    ("claim", "question", "answer", "agrees", "told"),
    [
        (
            "The Louvre is not in Paris.",
            LOUVRE,
            "Paris",
            False,
            "The claim denies Paris; hop 1 found Paris.",
        ),
        (
            "The Louvre isn't in Berlin.",
            LOUVRE,
            "Paris",
            True,
            "The claim denies Berlin; hop 1 found Paris.",
        ),
        ("The Louvre is not only in Paris.", LOUVRE, "Paris", True, "The claim says Paris, and so does hop 1."),
        (
            "Jane Austen did not write Frankenstein.",
            "Who wrote Frankenstein?",
            "Mary Shelley",
            True,
            "The claim denies Jane Austen; hop 1 found Mary Shelley.",
        ),
        (LOUVRE_IN_PARIS, LOUVRE, "Paris", True, "The claim says Paris, and so does hop 1."),
        (
            "Neither Ada Stone nor Max Frei was born in Chur.",
            "Where was Max Frei born?",
            "Basel",
            True,
            "The claim denies Chur; hop 1 found Basel.",
        ),
    ],
)
def test_what_the_claim_denies_is_held_against_what_was_found_the_other_way_round(
    claim, question, answer, agrees, told
):
    (finding,) = findings(Claim(claim), (hop(1, question, answer),))
    assert (finding.agrees, finding.told) == (agrees, told)


@pytest.mark.parametrize(
    ("claim", "question", "answer", "agrees"),
    [
        ("Ada Stone left Basel in 1900.", "Did Ada Stone leave Basel in 1900?", "No. She stayed.", False),
        ("Ada Stone left Basel in 1900.", "Did Ada Stone leave Basel in 1900?", "yes", True),
        ("Ada Stone never left Basel.", "Did Ada Stone leave Basel?", "No", True),
        ("Ada Stone never left Basel.", "Did Ada Stone leave Basel?", "Yes", False),
    ],
)
def test_a_yes_or_no_to_what_the_claim_says_bears_it_out_or_does_not(claim, question, answer, agrees):
    (finding,) = findings(Claim(claim), (hop(1, question, answer),))
    assert (finding.agrees, finding.hops) == (agrees, (1,))
    assert finding.told.endswith(f"found {answer[:3].strip('.').lower().strip()}.")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Was the mayor of Chur paid by the canton?", "No"),
        ("Did Ada Stone leave Basel in 1900?", "Nobody knows."),
        ("Who left Basel in 1900?", "No one"),
    ],
    ids=["about something else", "no yes and no no", "no such question"],
)
def test_a_yes_or_no_to_anything_else_decides_nothing(question, answer):
    assert findings(Claim("Ada Stone left Basel in 1900."), (hop(1, question, answer),)) == ()


class Undecided:
    """A judge that cannot tell."""

    def classify(self, pairs):
        return [(0.35, 0.35, 0.3) for _ in pairs]


def test_an_undecided_judge_is_moved_by_a_comparison_either_way_and_probabilities_still_sum_to_one():
    refuted = weigh(Undecided(), Claim("Albert Einstein was born before Charles Darwin."), (DARWIN, EINSTEIN), [])
    supported = weigh(Undecided(), Claim("Charles Darwin was born before Albert Einstein."), (DARWIN, EINSTEIN), [])
    assert max(refuted.probabilities, key=refuted.probabilities.get) is Label.REFUTED
    assert max(supported.probabilities, key=supported.probabilities.get) is Label.SUPPORTED
    assert sum(refuted.probabilities.values()) == pytest.approx(1)
    assert refuted.decided == pytest.approx(supported.decided)


def test_without_a_comparison_the_judges_probabilities_stand():
    assert list(weigh(Undecided(), Claim("Everest is high."), (), []).probabilities.values()) == pytest.approx(
        [0.35, 0.35, 0.3]
    )


def test_an_answer_about_one_side_of_a_comparison_refutes_it_and_does_not_bear_it_out():
    claim = Claim("Franz Kafka and Jane Austen were both born in Prague.")
    kafka, austen = hop(1, "Where was Franz Kafka born?", "Prague"), hop(2, "Where was Jane Austen born?", "Steventon")
    one_side, refuted = weigh(Undecided(), claim, (kafka,), []), weigh(Undecided(), claim, (austen,), [])
    assert list(one_side.probabilities.values()) == pytest.approx([0.175, 0.175, 0.65])
    assert refuted.probabilities[Label.REFUTED] > 0.8
    both = weigh(Undecided(), claim, (kafka, hop(2, "Where was Jane Austen born?", "Prague")), [])
    assert both.probabilities[Label.SUPPORTED] > 0.8
