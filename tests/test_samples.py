"""The home page's sample claims: pairs, one and two hops, every label, and unseen by the prompts."""

from app.modules.prompting import demonstrations, template
from app.text.wording import names
from app.web.forms import EXAMPLES


def test_no_demonstration_shows_a_sample_claim_or_its_subject():
    shown = " ".join(
        str(each) for prompt in ("first_question", "follow_up_question") for each in demonstrations(prompt)
    )
    shown += template("transcript").template
    for sample in EXAMPLES:
        assert sample.claim not in shown
        assert not [name for name in names(sample.claim) if name in shown], sample.claim
