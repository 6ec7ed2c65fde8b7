"""Failover between search engines: a run continues with a working engine and reports the failed one."""

from __future__ import annotations

import pytest

from app.backends.web_search.registry import COOLDOWN_SECONDS, FailoverSearch
from app.domain.errors import CallFailed
from app.domain.instrumentation import listening
from app.domain.messages import Code
from app.domain.model import SearchHit


class Engine:
    """A search engine that works or fails, and counts its searches."""

    def __init__(self, name: str, destination: str | None, works: bool = True) -> None:
        self.name, self.destination, self.works = name, destination, works
        self.asked: list[tuple[str, int, str | None]] = []

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]:
        self.asked.append((query, k, before))
        if not self.works:
            raise CallFailed(f"{self.name} is down.")
        return (SearchHit(self.name, "example.org", "", "https://example.org/"),)


def titles(search: FailoverSearch) -> list[str]:
    return [hit.title for hit in search.search("Who?", 10, "2020-10-31")]


def test_only_the_first_engine_is_searched_while_it_works():
    first, second = Engine("first", "a.example"), Engine("second", "b.example")
    assert titles(FailoverSearch([first, second])) == ["first"]
    assert (first.asked, second.asked) == ([("Who?", 10, "2020-10-31")], [])


def test_the_next_engine_is_searched_when_one_fails_and_the_failure_is_reported():
    failures: list = []
    with listening(failures.append):
        assert titles(FailoverSearch([Engine("first", "a", works=False), Engine("second", "b")])) == ["second"]
    assert [each.message for each in failures] == [Code.OTHER_ENGINE_ASKED(problem="first is down.")]


def test_when_all_engines_fail_the_error_names_each():
    search = FailoverSearch([Engine("first", "a", works=False), Engine("second", "b", works=False)])
    with pytest.raises(CallFailed, match=r"^first is down\. second is down\.$"):
        titles(search)


def test_a_failed_engine_is_tried_last_for_a_while():
    now = [0.0]
    first, second = Engine("first", "a", works=False), Engine("second", "b")
    search = FailoverSearch([first, second], lambda: now[0])
    titles(search)
    first.works = True
    assert titles(search) == ["second"]
    now[0] = COOLDOWN_SECONDS
    assert titles(search) == ["first"]
    assert (len(first.asked), len(second.asked)) == (2, 2)


def test_a_deferred_engine_is_used_when_the_others_fail_and_restored_when_it_works():
    first, second = Engine("first", "a", works=False), Engine("second", "b")
    search = FailoverSearch([first, second], lambda: 0.0)
    titles(search)
    first.works, second.works = True, False
    assert titles(search) == ["first"]
    second.works = True
    assert titles(search) == ["first"]
