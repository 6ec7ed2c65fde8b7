"""The page that explains the method: its drawings, every module, every label."""

from __future__ import annotations

import re

import pytest

from app.domain.model import Label
from app.web.views import FACES, GUIDED_MODULES, PURSUIT_MODULES


@pytest.fixture
def page(client) -> str:
    return client.get("/how-it-works").text


def test_both_strategies_have_a_drawing_with_a_text_alternative(page):
    drawings = re.findall(r'<svg class="modules"[^>]*role="img" aria-label="([^"]+)"', page)
    assert len(drawings) == 2
    assert "QA validator" in drawings[0] and "paraphraser" in drawings[1] and ' lit"' not in page


@pytest.mark.parametrize("modules", [GUIDED_MODULES, PURSUIT_MODULES])
def test_every_module_is_explained_and_has_a_box(page, modules):
    for module in modules:
        assert f"<dt>{module.name}</dt><dd>{module.does}</dd>" in page
        assert f'class="box {module.box}"' in page


def test_every_label_is_explained(page):
    meanings = page.partition('id="labels"')[2].partition("</dl>")[0]
    for label in Label:
        assert FACES[label].word in meanings
