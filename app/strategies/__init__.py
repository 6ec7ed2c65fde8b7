"""Strategies: the ways of checking a claim with a set of modules. A new one is a file here, and its record below."""

from app.strategies import claim_only, evidence_pursuit, question_guided

GUIDED, PURSUIT = question_guided.KIND.name, evidence_pursuit.KIND.name
_KINDS = (question_guided.KIND, evidence_pursuit.KIND, claim_only.DIRECT, claim_only.CHAIN_OF_THOUGHT)
STRATEGIES = {kind.name: kind for kind in _KINDS}
ASKING = tuple(kind.name for kind in _KINDS if kind.modules)
BASELINES = tuple(kind.name for kind in _KINDS if not kind.modules)
"""Strategies that ask a language model about the claim alone (QACheck, Table 1)."""
