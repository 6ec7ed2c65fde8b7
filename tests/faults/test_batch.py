"""A batch from its upload to its last label, through real workers: a person's run goes first, and one worker dies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from urllib.request import Request

import pytest

from tests import redis_server
from tests.faults.servers import Server, run_id
from tests.faults.site import Site, Worker, site
from tests.waiting import LONG, until

pytestmark = pytest.mark.timeout(600)

CLAIMS = [f"Play number {number} was written in England." for number in range(1, 10)]
BOUNDARY = "a-line-that-no-claim-holds"


@pytest.fixture
def newsroom(tmp_path, postgresql) -> Iterator[Site]:
    with redis_server.running() as redis, site(tmp_path / "instance", postgresql, redis) as made:
        yield made


def upload(web: Server, name: str, content: str) -> str:
    """Send a file as the form at /batches does and return the path of the batch's page."""
    parts = (
        f'Content-Disposition: form-data; name="csrf_token"\r\n\r\n{web.token()}',
        f'Content-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: text/csv\r\n\r\n{content}',
    )
    body = "".join(f"--{BOUNDARY}\r\n{part}\r\n" for part in parts) + f"--{BOUNDARY}--\r\n"
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    with web.browser.open(Request(f"{web.address}/batches", body.encode(), headers), timeout=LONG) as page:
        return page.url.removeprefix(web.address)


def begun(made: Site, batch: str) -> list[str]:
    """Return the runs of the batch that a worker has taken, oldest first."""
    taken = "select id from runs where batch = :batch and began_at is not null order by began_at"
    return [run for (run,) in made.ask(taken, batch=batch)]


def has_begun(made: Site, run: str) -> bool:
    """Return whether a worker has taken the run, even if it has ended since."""
    return bool(made.ask("select id from runs where id = :run and began_at is not null", run=run))


def kill_a_busy_worker(made: Site, workers: list[Worker], batch: str) -> str:
    """Kill a worker in the middle of a run of the batch and return that run."""

    def in_the_middle() -> str | None:
        going = made.ask("select id from runs where batch = :batch and state = 'running' and last_seq > 6", batch=batch)
        return next((run for (run,) in going if made.holder(run)), None)

    run = until(in_the_middle, "a run in the middle")
    holder = made.holder(run)
    next(each for each in workers if each.process.pid == holder).kill()
    return run


def test_a_batch_completes_although_a_person_goes_first_and_a_worker_dies(newsroom, tmp_path):
    held = tmp_path / "held"
    held.touch()
    pace = {"STEP_SECONDS": "0.25", "WORKERS": "1", "STUCK_IN": "answer 2", "HELD_BY": str(held)}
    workers = [newsroom.worker(**pace) for _ in range(2)]
    web = newsroom.web()
    path = upload(web, "plays.csv", "claim\n" + "\n".join(CLAIMS))
    batch = run_id(path)
    until(lambda: begun(newsroom, batch), "a run of the batch")
    persons = run_id(web.start("A person waits for this claim."))
    held.unlink()  # only now can the workers finish the runs they took first
    until(lambda: has_begun(newsroom, persons), "the person's run under way")
    ahead = begun(newsroom, batch)
    held.touch()
    cut_off = kill_a_busy_worker(newsroom, workers, batch)
    held.unlink()
    page = web.wait_for(path, f"{len(CLAIMS)} of {len(CLAIMS)} checked", 300)
    assert page.count("True</span>") == len(CLAIMS) + 1, "each claim's, and the count of them"

    newsroom.assert_whole(persons)
    waited = newsroom.ask(
        "select count(*) from runs b, runs p where p.id = :run and b.batch = :batch"
        " and b.began_at > p.created_at and b.began_at < p.began_at",
        run=persons,
        batch=batch,
    )
    assert waited[0][0] <= len(workers), "what a worker had been handed already goes on, and nothing else"
    assert len(ahead) < len(CLAIMS), "the rest of the batch let the person go first"
    results = [json.loads(line) for line in web.get(f"{path}/results.jsonl").text.splitlines()]
    assert [(each["claim"], each["label"]) for each in results] == [(claim, "SUPPORTED") for claim in CLAIMS]
    runs = [run_id(each["permalink"]) for each in results]
    assert sorted(runs) == sorted(begun(newsroom, batch)) and len(set(runs)) == len(CLAIMS), "one run for each claim"
    for run in runs:
        newsroom.assert_whole(run)
        events = newsroom.events(run)
        assert [kind for kind, _, _ in events].count("run_resumed") == (run == cut_off)
        assert all(before <= at for (_, before, _), (_, at, _) in pairwise(events))
