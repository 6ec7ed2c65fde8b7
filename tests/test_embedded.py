"""The embedded default, complete and real: Lucene, the reranker and the local model, on four samples.

`python -m research.measure.samples` checks all of them.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.config.settings import load_settings
from app.container.container import Container
from app.domain.model import Answer, Claim, HopStatus, Label, LabelSet, RunOptions
from app.domain.report import Report
from app.modules.local import LocalClaimVerifier, LocalReasoner
from app.text.sentences import content_words
from app.web.forms import EXAMPLES
from tests.one_claim import checked

CHAINED = next(sample for sample in EXAMPLES if sample.pair == 1)
DECIDED = [*(sample for sample in EXAMPLES if sample.pair == 3), CHAINED]
"""A pair of claims whose two answers are compared, and one whose second question needs the first answer."""
SAMPLES = [*DECIDED, next(sample for sample in EXAMPLES if sample.label is Label.NOT_ENOUGH_EVIDENCE)]
"""Also a claim that cannot be decided."""

pytestmark = [pytest.mark.models, pytest.mark.jvm, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def container() -> Container:
    made = Container(replace(load_settings(), call_seconds=600))  # a call may be slow on a busy machine
    made.warm()
    return made


@pytest.fixture(scope="module")
def reports(container) -> dict[str, Report]:
    return {sample.claim: checked(container, RunOptions(), Claim(sample.claim)) for sample in SAMPLES}


def label_of(report: Report) -> Label | None:
    return report.verdict.label if report.verdict else None


def test_every_component_is_ready_once_warm(container):
    assert container.ready, container.components()


@pytest.mark.slow
def test_no_sample_fails_and_no_hop_of_one_fails(reports):
    for report in reports.values():
        assert report.ended == "verdict"
        assert all(hop.status is not HopStatus.FAILED for hop in report.hops)


@pytest.mark.slow
def test_at_least_three_of_four_samples_get_the_right_label(reports):
    wrong = [sample.claim for sample in SAMPLES if label_of(reports[sample.claim]) != sample.label]
    assert len(SAMPLES) == 4 and len(wrong) <= 1, wrong


@pytest.mark.slow
def test_verdicts_cite_only_kept_hops_and_every_citation_was_retrieved(reports):
    for report in reports.values():
        kept = {hop.number for hop in report.context}
        assert all(set(sentence.hops) <= kept for sentence in report.verdict.rationale)
        for hop in report.context:
            assert hop.answer.cited.passage in hop.answer.retrieved


def test_the_common_test_claim_is_checked_without_a_models_memory(container):
    report = checked(container, RunOptions())
    assert report.ended == "verdict" and report.usage.calls
    assert not any(hop.from_memory for hop in report.hops)


@pytest.mark.slow
def test_another_claims_evidence_is_not_enough(container, reports):
    decided = [sample for sample in DECIDED if reports[sample.claim].context]
    swapped = 0
    for sample in decided:
        said = content_words(sample.claim)
        other = next(other for other in reversed(decided) if not said & content_words(other.claim))
        context = reports[other.claim].context
        verdict = LocalReasoner(container.judge).conclude(Claim(sample.claim), context, LabelSet.THREE.labels)
        assert verdict.label is Label.NOT_ENOUGH_EVIDENCE, (sample.claim, other.claim)
        assert not LocalClaimVerifier(container.judge).is_sufficient(Claim(sample.claim), context).holds
        swapped += 1
    assert swapped >= 3


@pytest.mark.slow
def test_the_second_question_of_a_two_hop_sample_names_what_only_the_first_answer_provided(container, reports):
    report = reports[CHAINED.claim]
    first, second, *_ = report.hops
    assert first.answer.text not in report.claim.text
    assert first.answer.text in second.question.text


@pytest.mark.slow
def test_without_the_first_answer_the_second_question_is_different(container, reports):
    report = reports[CHAINED.claim]
    first, second, *_ = report.hops
    lost = replace(first, answer=Answer(None), status=HopStatus.SET_ASIDE)
    question = container.generator.next_question(report.claim, (), (lost,))
    assert question != second.question
