"""Labels and their words."""

from __future__ import annotations

import pytest

from app.domain.model import Label


def test_a_label_without_all_its_words_cannot_be_defined():
    with pytest.raises(ValueError, match="not enough values"):
        Label._new_member_(Label, "HALF_TRUE", "Half true", "half true")
