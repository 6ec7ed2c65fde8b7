"""With a provider down a run goes on with what works, and says what did not."""

from __future__ import annotations

import pytest

from app.backends.web_search.registry import COOLDOWN_SECONDS, FailoverSearch
from app.domain.errors import CallFailed
from app.domain.instrumentation import listening
from app.domain.model import SearchHit
from tests.backends.web_search.search_server import Reply, SearchServer, brave_reply, tavily_reply
from tests.backends.web_search.searching_at import HAMLET, searching


class Engine:
    """A search engine that works or does not, and counts how often it was asked."""

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


def test_the_first_is_asked_and_the_others_are_not():
    first, second = Engine("first", "a.example"), Engine("second", "b.example")
    assert titles(FailoverSearch([first, second])) == ["first"]
    assert (first.asked, second.asked) == ([("Who?", 10, "2020-10-31")], [])


def test_the_next_is_asked_when_one_is_down_and_the_run_is_told():
    told: list = []
    with listening(told.append):
        assert titles(FailoverSearch([Engine("first", "a", works=False), Engine("second", "b")])) == ["second"]
    assert [each.message for each in told] == ["first is down. Another search engine was asked instead."]


def test_when_all_are_down_the_failure_says_so_of_each():
    search = FailoverSearch([Engine("first", "a", works=False), Engine("second", "b", works=False)])
    with pytest.raises(CallFailed, match=r"^first is down\. second is down\.$"):
        titles(search)


def test_one_that_failed_comes_last_for_a_while_and_then_first_again():
    now = [0.0]
    first, second = Engine("first", "a", works=False), Engine("second", "b")
    search = FailoverSearch([first, second], lambda: now[0])
    titles(search)
    first.works = True
    assert titles(search) == ["second"]
    now[0] = COOLDOWN_SECONDS
    assert titles(search) == ["first"]
    assert (len(first.asked), len(second.asked)) == (2, 2)


def test_one_that_rests_is_asked_all_the_same_when_the_others_fail_and_is_well_when_it_answers():
    first, second = Engine("first", "a", works=False), Engine("second", "b")
    search = FailoverSearch([first, second], lambda: 0.0)
    titles(search)
    first.works, second.works = True, False
    assert titles(search) == ["first"]
    second.works = True
    assert titles(search) == ["first"]


def test_finding_nothing_is_no_failure():
    empty = Engine("first", "a")
    empty.search = lambda query, k, before=None: ()
    second = Engine("second", "b")
    assert titles(FailoverSearch([empty, second])) == []
    assert second.asked == []


def test_it_has_the_first_ones_name_and_says_every_host_that_may_get_a_query():
    search = FailoverSearch([Engine("own", None), Engine("brave", "api.b.example"), Engine("two", "api.b.example")])
    assert (search.name, search.destination) == ("own", "api.b.example")
    assert FailoverSearch([Engine("a", "a.example"), Engine("b", "b.example")]).destination == "a.example or b.example"
    assert FailoverSearch([Engine("own", None)]).destination is None


def test_with_brave_down_tavily_is_searched_over_http():
    with SearchServer([Reply({}, 401)]) as down, SearchServer([Reply(tavily_reply(HAMLET))]) as up:
        search = FailoverSearch([searching("brave", down), searching("tavily", up)])
        assert titles(search) == titles(search) == ["Hamlet"]
    assert (len(down.asked), len(up.asked)) == (1, 2)


def test_all_down_over_http_names_every_setting():
    with SearchServer([Reply({}, 401)]) as one, SearchServer([Reply(brave_reply(), 403)]) as other:
        search = FailoverSearch([searching("brave", one), searching("serper", other)])
        with pytest.raises(CallFailed, match=r"BRAVE_API_KEY .*SERPER_API_KEY"):
            titles(search)
