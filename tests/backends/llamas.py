"""A small Llama classifier with three classes, and its logits from padded and from packed texts."""

from __future__ import annotations

ONE, TWO, LONG = [5], [7, 8], [3 + at % 90 for at in range(400)]
