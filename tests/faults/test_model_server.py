"""A real worker with a language model's server that is slow, hangs, sends wrong lengths or fails.

Every run ends within its deadline, and no run has an answer that the server did not give.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator

import pytest

from tests import redis_server
from tests.faults.servers import Server, run_id
from tests.faults.site import Site, site
from tests.openai_server import Asked, OpenAIServer, Reply, error, play
from tests.waiting import until

pytestmark = pytest.mark.timeout(600)

PROMPTED = "tests.faults.prompted:prompted_app"
CALL_SECONDS, RUN_SECONDS = 5, 15
CONCLUDING_SECONDS = 4 * CALL_SECONDS + 30
"""The time after the deadline for the call in progress, the calls of the conclusion, and a busy machine."""

honest = play()
unlucky = random.Random(9)


def some_errors(asked: Asked) -> Reply:
    return error(500, "out of luck") if unlucky.random() < 0.1 else honest(asked)


FAULTS = {
    "slow": lambda asked: slowed(honest(asked), 0.3),
    "crawling": lambda asked: slowed(honest(asked), 0.7 * CALL_SECONDS),
    "hung": lambda asked: Reply(delay=600),
    "length too large": lambda asked: Reply("Who wrote Hamlet?", length=100_000),
    "length too small": lambda asked: Reply("Who wrote Hamlet?", length=25),
    "a tenth fails": some_errors,
}
"""The fault for the claim that names it. Prompts for reading and reciting hold no claim and get good replies."""


def slowed(reply: Reply, seconds: float) -> Reply:
    return Reply(reply.text, top=reply.top, delay=seconds)


def faulty(asked: Asked) -> Reply:
    return next((fault(asked) for name, fault in FAULTS.items() if f"({name})" in asked.prompt), honest(asked))


@pytest.fixture
def faulty_site(tmp_path, postgresql) -> Iterator[tuple[Site, Server]]:
    """A web process and one worker that use the faulty server."""
    with (
        OpenAIServer(faulty) as server,
        redis_server.running() as redis,
        site(tmp_path / "instance", postgresql, redis) as made,
    ):
        given = {
            "OPENAI_BASE_URL": server.url,
            "OPENAI_MODEL": "scripted",
            "OPENAI_API_KEY": "key",
            "READ_WITH": "model",
            "WORKERS": str(len(FAULTS)),
            "CALL_SECONDS": str(CALL_SECONDS),
            "RUN_SECONDS": str(RUN_SECONDS),
        }
        worker = made.worker(app=PROMPTED, **given)
        web = made.web(app=PROMPTED, **given)
        worker.wait_until_up()
        yield made, web


def start(web: Server, fault: str) -> str:
    chosen = {"preset": "prompted", "answerer": "reciter-reader", "model": "scripted", "fresh": "on"}
    claim = f"The author of Hamlet was born in England ({fault})."
    page = web.get("/runs", {"csrf_token": web.token(), "claim": claim, **chosen})
    assert page.status == 200 and "/runs/" in page.url, page
    return run_id(page.url)


def test_runs_on_a_faulty_model_server_end_within_their_deadline_and_name_the_fault(faulty_site):
    made, web = faulty_site
    runs = {fault: start(web, fault) for fault in FAULTS}
    until(lambda: all(made.state(run) != "running" for run in runs.values()), "an end of every run")
    for fault, run in runs.items():
        assert_in_time(made, fault, run)
    for fault in ("slow", "a tenth fails"):
        assert end_of(made, runs[fault]) == ("verdict", "SUPPORTED")
    for fault in ("hung", "length too large", "length too small"):
        kinds = [kind for kind, _, _ in made.events(runs[fault])]
        assert end_of(made, runs[fault])[1] != "SUPPORTED" and "hop_kept" not in kinds
        assert "hop_failed" in kinds or "run_failed" in kinds
        assert TROUBLE.search(web.get(f"/runs/{runs[fault]}").text), fault
    assert f"The limit of {RUN_SECONDS} s for one check was reached." in web.get(f"/runs/{runs['crawling']}").text


TROUBLE = re.compile("did not answer|did not send a language model|broke off|closed the connection")


def end_of(made: Site, run: str) -> tuple[str, str | None]:
    return made.ask("select state, label from runs where id = :run", run=run)[0]


def assert_in_time(made: Site, fault: str, run: str) -> None:
    """Check that one worker carried out the run and that it ended in time."""
    asked = "select extract(epoch from ended_at - began_at) from runs where id = :run"
    seconds = float(made.ask(asked, run=run)[0][0])
    rows = made.events(run)
    print(
        f"{fault}: {end_of(made, run)} after {seconds:.1f} s: {[kind for kind, _, _ in rows]} {json.dumps(rows[-1][2])}"
    )
    assert seconds < RUN_SECONDS + CONCLUDING_SECONDS
    assert "run_resumed" not in [kind for kind, _, _ in rows]
