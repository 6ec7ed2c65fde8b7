"""The records of strategies."""

from dataclasses import dataclass

from app.config.settings import Settings
from app.container.container import Container
from app.domain.model import RunOptions
from app.domain.ports import QuestionAnswerer, Reasoner
from app.strategies import STRATEGIES
from app.strategies.kind import ANSWERER, REASONER, StrategyKind
from app.web.report_view import strategy_words


@dataclass
class OneQuestion:
    answerer: QuestionAnswerer
    reasoner: Reasoner


def test_a_strategy_is_offered_built_and_described_by_its_record_alone(tmp_path, monkeypatch):
    kind = StrategyKind(
        "one-question", "One question", "asking once", OneQuestion, ("answerer", "reasoner"), (), (ANSWERER, REASONER)
    )
    monkeypatch.setitem(STRATEGIES, kind.name, kind)
    options = RunOptions(strategy=kind.name, corpora=("wikipedia-live",))
    container = Container(Settings.from_env({"INSTANCE": str(tmp_path)}))
    capabilities = container.capabilities()
    assert capabilities.strategies[-1].title == "One question"
    assert isinstance(container.strategy_for(options), OneQuestion)
    assert [role for role, implementation in capabilities.modules(options)] == ["answerer", "reasoner"]
    assert strategy_words(options) == "asking once"
