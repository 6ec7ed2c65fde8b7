"""The page "Set up": who may use it, and what it does with language models, downloads and documents."""

from __future__ import annotations

import io
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from app.backends.added import with_added_keys
from app.backends.corpus.index import MANIFEST
from app.config.settings import Settings
from app.container.container import Container
from app.domain.model import Answer, RunOptions, Span
from app.site_setup import SiteSetup, Task
from app.site_setup.tasks import Work
from app.web.auth import new_token, token_line
from tests import one_claim
from tests.backends.hub_server import HubServer, point_to
from tests.backends.test_corpus_wikipedia import articles
from tests.backends.web_search.search_server import Reply as Found
from tests.backends.web_search.search_server import SearchServer
from tests.openai_server import HAMLET, Asked, OpenAIServer, Reply, error, play
from tests.waiting import LONG, until
from tests.web.conftest import token
from tests.web.test_every_form import FROM_EVIL
from tests.web.test_every_route import routes_of
from tests.word_files import word_file

KEY = "sk-planted-4711"
ROUTES = ("models", "models/remove", "keys", "keys/remove", "offer", "downloads", "documents", "tasks/stop")


def send(client, route: str, **fields):
    """Post a form of the page."""
    data = {"csrf_token": token(client), **fields}
    return client.post(f"/setup/{route}", data=data, content_type="multipart/form-data")


def script(asked: Asked) -> Reply:
    """Answers the test of the connection, and plays the prompted modules."""
    return Reply("yes") if asked.prompt == "Say: yes" else play()(asked)


def models_of(container: Container) -> dict[str, bool]:
    """Return the language models that can be chosen, with whether they are available."""
    return {each.name: each.available for each in container.capabilities().models}


@pytest.mark.parametrize(
    ("settings", "headers", "code", "words"),
    [
        ({}, {}, 200, "Language model"),
        ({"allowed_hosts": ("localhost",)}, {}, 403, "is closed here"),
        ({"proxies": 1}, {}, 403, "is closed here"),
        ({"host": "0.0.0.0"}, {}, 403, "is closed here"),
        ({}, {"X-Forwarded-For": "192.0.2.1"}, 403, "is closed here"),
        ({"host": "0.0.0.0", "site_password": "correct horse"}, {}, 403, "asks for a password"),
        ({"site_password": "correct horse"}, {}, 403, "asks for a password"),
        ({}, {"Host": "evil.example"}, 400, "not reached by that name"),
    ],
)
def test_only_the_operator_gets_the_page_and_others_can_post_nothing(make_app, settings, headers, code, words):
    app = make_app(**settings)
    client = app.test_client()
    answer = client.get("/setup", headers=headers)
    assert (answer.status_code, words in answer.text) == (code, True)
    if code != 200:
        for route in ROUTES:
            large = client.post(f"/setup/{route}", data=b"x" * 10_000_000, headers=headers)
            assert large.status_code == code, route
        assert "/setup" not in client.get("/", headers=headers).text


def test_the_password_and_a_token_that_is_still_known_make_an_operator(make_app, tmp_path):
    client = make_app(host="0.0.0.0", site_password="correct horse").test_client()
    client.post("/password", data={"password": "correct horse", "csrf_token": token(client, "/password")})
    assert client.get("/setup").status_code == 200
    known, file = new_token(), tmp_path / "tokens"
    file.write_text(token_line("me", known))
    client = make_app(host="0.0.0.0", api_tokens=file).test_client()
    for given, code in (("", 403), (new_token(), 403), (known, 303)):
        sent = {"token": given, "csrf_token": token(client, "/setup")}
        assert client.post("/setup/sign-in", data=sent).status_code == code
    assert client.get("/setup").status_code == 200 and known not in client.get("/setup").text
    file.write_text("")
    assert client.get("/setup").status_code == 403


@pytest.mark.parametrize("route", ROUTES)
def test_every_form_refuses_pages_of_other_sites_and_forged_tokens(make_app, route):
    client = make_app().test_client()
    known = token(client)
    for headers in (FROM_EVIL, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        assert client.post(f"/setup/{route}", data={"csrf_token": known}, headers=headers).status_code == 403
    assert client.post(f"/setup/{route}", data={"csrf_token": known[:-1]}).status_code == 400


def test_a_route_that_is_added_to_the_page_is_tried_here(make_app):
    posted = {route.removeprefix("POST /setup/") for route in routes_of(make_app()) if route.startswith("POST /setup/")}
    added = {f"<any(models,keys):kind>{action}" for action in ("", "/remove")}
    assert posted == {*added, "offer", "downloads", "documents", "tasks/<any(stop,resume,remove):action>", "sign-in"}


@pytest.fixture
def elsewhere(tmp_path, database_url) -> Container:
    """Another process of the site that was started before, such as a worker."""
    container = Container(Settings(instance=tmp_path, database_url=database_url))
    assert "mine" not in models_of(container)
    return container


def test_a_model_and_its_key_are_tested_stored_for_the_owner_only_and_used_at_once_everywhere(
    make_app, elsewhere, tmp_path, caplog
):
    caplog.set_level("DEBUG")
    client = make_app().test_client()
    with OpenAIServer(script) as server:
        answer = send(client, "models", base_url=server.url, model="tiny", name="mine", api_key=KEY)
        assert answer.status_code == 303 and len(server.asked) == 1
        assert "It answered" in client.get(answer.location).text
        assert models_of(elsewhere)["mine"] is True
        assert one_claim.checked(elsewhere, RunOptions("direct", model="mine")).verdict.label == "SUPPORTED"
        assert server.asked[-1].headers["authorization"] == f"Bearer {KEY}"
    (file,) = (path for path in tmp_path.iterdir() if path.is_file() and KEY.encode() in path.read_bytes())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    shown = [client.get(path).text for path in ("/", "/setup", "/choices", "/setup/doctor", "/api/v1/choices")]
    assert not any(KEY in text for text in (*shown, caplog.text))
    assert send(client, "models/remove", name="mine").status_code == 303
    assert "mine" not in models_of(elsewhere) and KEY not in file.read_text()


@pytest.mark.parametrize("setting", ["SEARXNG_URL", "FACT_CHECK_API_KEY"])
def test_a_search_engine_and_its_key_are_tested_stored_for_the_owner_only_and_used_at_once_everywhere(
    make_app, tmp_path, database_url, setting
):
    with SearchServer([Found({"results": [], "claims": []})]) as server:
        settings = {"instance": tmp_path, "database_url": database_url, "fact_check_url": server.url}
        elsewhere = Container(Settings(**settings))
        client = make_app(Container(Settings(**settings)), fact_check_url=server.url).test_client()
        key = server.url if setting == "SEARXNG_URL" else KEY

        def offered() -> set[str]:
            known = elsewhere.capabilities()
            return {each.name for each in (*known.searches, known.fact_checks) if each.available}

        before = offered()
        answer = send(client, "keys", service=setting, service_key=f" {key} ")
        assert answer.status_code == 303 and len(server.asked) == 1
        shown = client.get(answer.location).text
        assert "It answered" in shown and key not in shown
        assert len(offered() - before) == 1
        on_live = RunOptions(corpora=("wikipedia-live",))
        if setting == "SEARXNG_URL":
            assert elsewhere._documents(replace(on_live, search="searxng"))[0].search("moon", 1) == ()
        else:
            elsewhere.strategy_for(replace(on_live, look_up_fact_checks=True)).look_up("moon")
            assert server.asked[-1].headers["x-goog-api-key"] == KEY
        assert len(server.asked) == 2
        file = tmp_path / "keys.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert not any(KEY in client.get(path).text for path in ("/", "/choices", "/setup/doctor", "/api/v1/choices"))
        assert send(client, "keys/remove", name=setting).status_code == 303
        assert offered() == before and key not in file.read_text()


@pytest.mark.parametrize(
    ("service", "key", "words"),
    [
        ("HOST", "0.0.0.0", "Choose a service"),
        ("BRAVE_API_KEY", "two words", "characters that no key has"),
        ("BRAVE_API_KEY", "", "characters that no key has"),
        ("SEARXNG_URL", "no address", "characters that no key has"),
        ("SEARXNG_URL", "ftp://host/", "must be a URL"),
        ("SEARXNG_URL", "http://127.0.0.1:9", "cannot be reached"),
        ("FACT_CHECK_API_KEY", "wrong", "does not accept the key"),
    ],
)
def test_a_key_with_which_a_service_gives_nothing_is_not_stored(make_app, tmp_path, service, key, words):
    with SearchServer([Found({"error": {"message": "API key not valid"}}, 403)]) as server:
        client = make_app(call_seconds=2, fact_check_url=server.url).test_client()
        answer = send(client, "keys", service=service, service_key=key)
    assert (answer.status_code, words in answer.text) == (422, True), answer.text
    assert not (tmp_path / "keys.json").exists()


@pytest.mark.parametrize(
    ("reply", "fields", "words"),
    [
        (error(401, f"Incorrect API key provided: {KEY}"), {}, "does not accept the key"),
        (error(404, "no such model"), {}, "knows no language model"),
        (Reply(body=b"<html>", headers={"Content-Type": "text/html"}), {}, "a web page"),
        (None, {"base_url": "http://127.0.0.1:9/v1"}, "cannot be reached"),
        (None, {"base_url": f"https://user:{KEY}@host/v1"}, "must be an address"),
        (None, {"model": "a\nb"}, "Name the model"),
        (None, {"api_key": "ключ"}, "characters that no key has"),
    ],
)
def test_what_does_not_answer_or_is_no_model_is_not_stored_and_no_key_is_repeated(make_app, reply, fields, words):
    client = make_app(call_seconds=5).test_client()
    with OpenAIServer([reply or Reply("yes")]) as server:
        answer = send(client, "models", **{"base_url": server.url, "model": "tiny", "api_key": KEY, **fields})
    assert answer.status_code == 422 and words in answer.text
    assert KEY not in answer.text.replace(f'value="https://user:{KEY}@host/v1"', "")
    assert "Remove<" not in client.get("/setup").text


def test_a_key_of_the_settings_is_named_and_wins(make_app, tmp_path):
    (tmp_path / "keys.json").write_text('{"BRAVE_API_KEY": "added"}')
    settings = Settings(instance=tmp_path, brave_api_key=KEY)
    assert with_added_keys(settings) == settings
    page = make_app(brave_api_key=KEY).test_client().get("/setup").text
    assert "Brave is set up by <code>BRAVE_API_KEY</code>" in page and 'value="BRAVE_API_KEY"' not in page


@pytest.mark.parametrize("host", ["127.0.0.1:11434", "10.0.0.1", "169.254.169.254", "[::1]", "localhost", "2130706433"])
def test_a_site_that_others_reach_asks_no_server_inside_its_network(make_app, host):
    client = make_app(host="0.0.0.0", site_password="correct horse").test_client()
    client.post("/password", data={"password": "correct horse", "csrf_token": token(client, "/password")})
    sent = {"csrf_token": token(client, "/setup"), "base_url": f"http://{host}/v1", "model": "tiny"}
    answer = client.post("/setup/models", data=sent)
    assert answer.status_code == 422 and "was not asked" in answer.text
    sent = {"csrf_token": sent["csrf_token"], "service": "SEARXNG_URL", "service_key": f"http://{host}"}
    answer = client.post("/setup/keys", data=sent)
    assert answer.status_code == 422 and "was not asked" in answer.text


@pytest.mark.parametrize("name", ["language-models.json", "keys.json"])
def test_a_damaged_file_is_named_and_the_site_goes_on(make_app, elsewhere, tmp_path, name):
    (tmp_path / name).write_text('[{"name": "mine", "api_key": "' + KEY)
    assert "mine" not in models_of(elsewhere)
    page = make_app().test_client().get("/setup").text
    assert f"{name} cannot be read, or is damaged" in page and KEY not in page


WIKIPEDIA = "20231101.simple/train-00000-of-00001.parquet"
MODEL = "tiny-chat.gguf"
SIZE, CHUNK = 24_000_000, 10 * 1024**2
"""Bytes of the file, and those that huggingface_hub writes at once."""


@pytest.fixture
def hub(monkeypatch) -> Iterator[HubServer]:
    """A hub with a Wikipedia and a GGUF file, for this process and the tasks that it starts."""
    files = {WIKIPEDIA: articles("Mozart was born in Salzburg. " * 3_000), MODEL: b"GGUF" * (SIZE // 4)}
    with HubServer(files) as server:
        point_to(monkeypatch, server.address)
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        yield server


@pytest.fixture
def site(make_app) -> Iterator[tuple]:
    """A browser, and the service of the page, whose tasks are stopped when the test ends."""
    app = make_app()
    service: SiteSetup = app.extensions["hopcheck"].setup()
    yield app.test_client(), service
    for task in service.tasks():
        service.stop(task.work.name)


def ended(service: SiteSetup) -> Task:
    """Wait for the end of the newest task and return it."""
    until(lambda: not service.tasks()[0].is_running, "the end of a task", LONG)
    return service.tasks()[0]


@pytest.mark.jvm
@pytest.mark.timeout(300)
def test_uploaded_documents_become_a_source_that_answers_a_check_in_a_process_that_ran_before(site, elsewhere):
    client, service = site
    passage = HAMLET.hops[0].passage
    files = [(io.BytesIO(word_file(passage)), "../../plays.docx"), (io.BytesIO(b"# Rivers\n\nThe Rhine."), "a.md")]
    assert send(client, "documents", title="Old plays", source="Archive, CC0", files=files).status_code == 303
    done = ended(service)
    assert done.is_done, done.line
    assert "Ready" in client.get("/setup").text
    sources = {each.name: each for each in elsewhere.capabilities().sources}
    assert sources["old-plays"].available and "2 passages of Archive, CC0" in sources["old-plays"].scope
    with OpenAIServer(script) as server:
        assert send(client, "models", base_url=server.url, model="tiny", name="mine").status_code == 303
        elsewhere._reader = FirstSentence()
        report = one_claim.checked(elsewhere, RunOptions(preset="prompted", model="mine", corpora=("old-plays",)))
    cited = report.hops[0].answer.cited.passage
    assert (cited.title, cited.source) == ("plays", "Old plays (Archive, CC0)") and passage in cited.text
    assert send(client, "tasks/remove", name="old-plays").status_code == 303
    assert "old-plays" not in {each.name for each in elsewhere.capabilities().sources}


class FirstSentence:
    """Reads the whole first passage as the answer."""

    def read(self, question, passages, claim=None, context=()) -> Answer:
        return Answer(passages[0].text, Span(passages[0], 0, len(passages[0].text))) if passages else Answer(None)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ([], "Choose at least one file"),
        (["a.exe"], "a.exe is none of"),
        (["a.txt", "b"], "b is none of"),
        (["a.txt"] * 201, "at most 200"),
    ],
)
def test_a_wrong_choice_of_files_is_refused_and_leaves_nothing(site, tmp_path, files, words):
    client, service = site
    answer = send(client, "documents", files=[(io.BytesIO(b"text"), name) for name in files])
    assert answer.status_code == 422 and words in answer.text
    assert service.tasks() == () and not list(tmp_path.glob("uploads/*"))


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("../../../etc/cron.d/x.txt", "x.txt"),
        ("C:\\Users\\me\\report.PDF", "report.pdf"),
        ("..txt", "document 1.txt"),
        ("--from=x.txt", "--from_x.txt"),
        ("a\x00b\n\u202ec.txt", "a b c.txt"),
        ("é" * 200 + ".txt", "é" * 60 + ".txt"),
    ],
)
def test_a_hostile_file_name_stays_in_its_folder(tmp_path, monkeypatch, name, stored):
    service = SiteSetup(Settings(instance=tmp_path))
    monkeypatch.setattr(service._tasks, "start", lambda work: None)
    service.add_documents("A", "", [(name, io.BytesIO(b"one")), (name, io.BytesIO(b"two"))])
    files = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    stem, dot, suffix = stored.rpartition(".")
    assert {str(each) for each in files} == {f"uploads/a/{stored}", f"uploads/a/{stem} (2){dot}{suffix}"} or (
        stored == "document 1.txt" and len(files) == 2 and all(each.parts[:2] == ("uploads", "a") for each in files)
    )


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Old plays", "old-plays"),
        ("../..", "documents"),
        ("--replace", "replace"),
        ("Vital", "vital-2"),
    ],
)
def test_a_title_becomes_a_name_and_never_an_option_or_a_path(tmp_path, monkeypatch, title, name):
    service, started = SiteSetup(Settings(instance=tmp_path)), []
    monkeypatch.setattr(service._tasks, "start", started.append)
    service.add_documents(title, "--anew", [("a.txt", io.BytesIO(b"text"))])
    assert started[0].arguments[:3] == ("corpus", "build", name)
    assert {f"--title={title}", "--source=--anew"} <= set(started[0].arguments)


@pytest.mark.timeout(300)
def test_a_download_says_size_and_licence_shows_progress_and_goes_on_after_a_cancel(site, hub, elsewhere):
    client, service = site
    name = f"hub:owner/repository/{MODEL}"
    offer = send(client, "offer", download=name)
    assert "24 MB, licence mit" in offer.text and "Download it" in offer.text and not service.tasks()
    hub.hold()
    assert send(client, "downloads", download=name).location == "/setup#tasks"
    until(lambda: service.tasks()[0].fetched == CHUNK, "the first part of the file", LONG)
    shown = client.get("/setup/tasks").text
    assert "44% of 24 MB" in shown and 'value="0.437"' in shown and 'hx-trigger="every 2s"' in shown
    send(client, "downloads", download=name)
    assert len(service.tasks()) == 1
    assert send(client, "tasks/stop", name=service.tasks()[0].work.name).status_code == 303
    shown = client.get("/setup/tasks").text
    assert "Stopped at 44%" in shown and "hx-trigger" not in shown and "tiny-chat" not in models_of(elsewhere)
    hub.release()
    send(client, "tasks/resume", name=service.tasks()[0].work.name)
    assert ended(service).is_done, service.tasks()[0].line
    assert hub.ranges[-1] == CHUNK and models_of(elsewhere)["tiny-chat"]
    send(client, "tasks/remove", name=service.tasks()[0].work.name)
    assert service.tasks() == () and "tiny-chat" not in models_of(elsewhere)


@pytest.mark.parametrize("name", ["simple-wikipedia", "hub:owner/repository/a.gguf"])
def test_without_a_network_a_sentence_says_so_and_nothing_is_started(site, monkeypatch, name):
    point_to(monkeypatch, "http://127.0.0.1:9")
    client, service = site
    for route in ("offer", "downloads"):
        answer = send(client, route, download=name)
        assert answer.status_code == 502 and "check the network of this machine and try again" in answer.text
    assert service.tasks() == ()


@pytest.mark.parametrize(
    "name", ["", "vital", "../x-wikipedia", "hub:../../x.gguf", "hub:a/b/c.bin", "local-model/../x"]
)
def test_what_is_no_download_is_refused_without_a_request(site, hub, name):
    client, service = site
    answer = send(client, "offer", download=name)
    assert answer.status_code in (422, 502) and not service.tasks() and hub.asked == []


@pytest.mark.timeout(120)
def test_a_task_that_fails_shows_its_last_line_and_two_run_at_most(site, tmp_path):
    client, service = site
    tasks = service._tasks
    tasks.start(Work("broken", "Broken", ("corpus", "build", "x", "--from=/nowhere"), "corpora/x/manifest.json"))
    assert not ended(service).is_done and "/nowhere" in client.get("/setup").text
    with held(tmp_path, "one"), held(tmp_path, "two"):
        assert "2 tasks are running" in send(client, "tasks/resume", name="broken").text
    assert send(client, "tasks/stop", name="../../etc").status_code == 409


@contextmanager
def held(instance: Path, name: str) -> Iterator[None]:
    """A task that another process runs."""
    import fcntl
    import json
    from dataclasses import asdict

    folder = instance / "tasks" / name
    folder.mkdir(parents=True)
    stored = {"work": asdict(Work(name, name.title(), ("x",), "x")), "pid": 0, "host": "another machine"}
    (folder / "task.json").write_text(json.dumps(stored))
    with (folder / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_a_process_of_another_machine_is_not_signalled(site, tmp_path, monkeypatch):
    client, _ = site
    monkeypatch.setattr("os.killpg", lambda *_: pytest.fail("a process was signalled"))
    with held(tmp_path, "one"):
        answer = send(client, "tasks/stop", name="one")
    assert answer.status_code == 409 and "runs on another machine" in answer.text


def test_a_source_that_is_searched_by_default_is_not_removed(site, tmp_path):
    client, service = site
    folder = tmp_path / "corpora" / "vital"
    folder.mkdir(parents=True)
    (folder / MANIFEST).write_text("{}")
    work = Work("vital", "Vital", ("x",), f"corpora/vital/{MANIFEST}")
    (tmp_path / "tasks" / "vital").mkdir(parents=True)
    service._tasks._write(work, 0)
    assert "is searched by default" in send(client, "tasks/remove", name="vital").text and folder.exists()
