"""Corpora as passages: texts with descriptions, valid addresses, and reports of damaged files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.backends.corpus.registry import CORPORA, VITAL, Article, read_extracts, vital_articles
from app.domain.errors import ModelUnavailable


def extracts(path: Path, *rows: dict) -> Path:
    path.write_text(json.dumps({row["title"]: row for row in rows}), encoding="utf-8")
    return path


def row(title: str, extract: str = "A text.", description: str = "", topic: str = "Arts") -> dict:
    return {"title": title, "extract": extract, "description": description, "topic": topic}


@pytest.mark.parametrize(
    ("title", "address"),
    [
        ("Charles Darwin", "Charles_Darwin"),
        ("2001: A Space Odyssey", "2001:_A_Space_Odyssey"),
        ("HIV/AIDS", "HIV/AIDS"),
        ("AT&T", "AT%26T"),
        ("Who Framed Roger Rabbit?", "Who_Framed_Roger_Rabbit%3F"),
        ("Recep Tayyip Erdoğan", "Recep_Tayyip_Erdo%C4%9Fan"),
    ],
)
def test_urls_are_quoted_as_wikipedia_expects(title, address):
    assert Article(title, "", "", "").url == f"https://en.wikipedia.org/wiki/{address}"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"Ada": {"title": "Ada"}}', '{"Ada": null}'])
def test_a_damaged_file_is_reported_with_its_fix(tmp_path, content):
    path = tmp_path / "extracts.json"
    path.write_text(content)
    with pytest.raises(ModelUnavailable, match=r"extracts\.json is damaged.*make setup"):
        read_extracts(path)


def test_vital_has_every_article_of_the_package():
    articles = vital_articles()
    assert len(articles) == 10_033
    assert len({article.id for article in articles}) == len(articles)
    assert CORPORA["vital"] is VITAL
    assert "CC BY-SA 4.0" in VITAL.source
