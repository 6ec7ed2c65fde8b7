"""Reports by the JSON API, as Markdown, ClaimReview and comparisons, equal those of the pages."""

from __future__ import annotations

import re

import pytest

from tests.fakes import SUPPORTED, Script, scripted_container
from tests.web.test_api import ended, held_to, problem, start

COMPARE = "/api/v1/compare"


def two_runs(client) -> list[str]:
    """The ids of two finished runs of one claim."""
    return [ended(client, start(client))["id"] for _ in range(2)]


class TestExports:
    @pytest.mark.parametrize(
        ("form", "kind"),
        [
            ("export.md", "text/markdown"),
            ("claimreview.json", "application/ld+json"),
            ("export.ris", "application/x-research-info-systems"),
            ("export.bib", "application/x-bibtex"),
        ],
    )
    def test_an_export_equals_the_file_that_the_page_offers(self, client, form, kind):
        address = start(client)
        ended(client, address)
        body, file = client.get(f"{address}/{form}"), client.get(f"{address.removeprefix('/api/v1')}/{form}")
        assert (body.status_code, body.mimetype) == (200, kind)
        assert (body.json == file.get_json(force=True)) if "json" in kind else (body.text == file.text)

    def test_a_run_that_cites_nothing_has_no_list_of_sources(self, make_app):
        client = make_app(scripted_container(Script((), SUPPORTED))).test_client()
        address = start(client)
        ended(client, address)
        assert "cites a source" in problem(client.get(f"{address}/export.ris"), 409)["detail"]


class TestComparing:
    def test_a_comparison_has_the_runs_in_the_given_order_with_hops_by_question_and_pages(self, client):
        first, second = two_runs(client)
        body = held_to("Comparison", client.get(f"{COMPARE}?run={second}&run={first}").json)
        assert [run["id"] for run in body["runs"]] == [second, first]
        assert {run["label"] for run in body["runs"]} == {"SUPPORTED"}
        assert [(row["hops"], row["agree"]) for row in body["rows"]] == [([1, 1], True), ([2, 2], True)]
        cited = [page for page in body["pages"] if page["uses"][0]["cited"]]
        assert cited and all(page["alike"] for page in cited)

    def test_comparison_errors_have_the_same_words_as_the_page(self, client):
        first = ended(client, start(client))["id"]
        other = ended(client, start(client, "Everest is a mountain."))["id"]
        for code, runs in (
            (422, []),
            (422, [first]),
            (422, [first, first]),
            (422, [first, other]),
            (422, [f"{number:02}" for number in range(20)]),
            (404, [first, "never"]),
        ):
            asked = {"run": runs}
            page = client.get("/compare", query_string=asked)
            body = problem(client.get(COMPARE, query_string=asked), code)
            assert page.status_code == code and body["detail"] in re.sub(r"&#39;", "'", page.text)
            assert body.get("field") == ("run" if code == 422 else None)
