"""The home page's sample claims: pairs, one and two hops, every label, and unseen by the prompts."""

from collections import Counter

from app.domain.model import Label
from app.modules.prompting import demonstrations, template
from app.text.claims import clean_claim
from app.text.wording import names
from app.web.forms import EXAMPLES, outcomes


def test_twins_are_one_supported_and_one_refuted_claim():
    pairs = Counter(sample.pair for sample in EXAMPLES if sample.pair)
    assert len(pairs) >= 3
    for pair in pairs:
        labels = sorted(sample.label for sample in EXAMPLES if sample.pair == pair)
        assert labels == [Label.REFUTED, Label.SUPPORTED]


def test_every_sample_is_accepted_by_the_form_verbatim():
    assert all(clean_claim(sample.claim).text == sample.claim for sample in EXAMPLES)


def test_no_demonstration_shows_a_sample_claim_or_its_subject():
    shown = " ".join(
        str(each) for prompt in ("first_question", "follow_up_question") for each in demonstrations(prompt)
    )
    shown += template("transcript").template
    for sample in EXAMPLES:
        assert sample.claim not in shown
        assert not [name for name in names(sample.claim) if name in shown], sample.claim


def test_every_sample_has_the_outcome_of_a_run_with_steps():
    assert [each.claim for each in outcomes()] == [sample.claim for sample in EXAMPLES]
    assert all(each.reason and (each.steps or each.label is Label.NOT_ENOUGH_EVIDENCE) for each in outcomes())
