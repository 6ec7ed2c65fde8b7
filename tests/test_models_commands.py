"""`flask --app app models ...`: listing choices with reasons, and fetching the models that settings name."""

from __future__ import annotations

import errno
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from app import create_app
from app.config import FLASK
from app.config.settings import Settings
from tests.tiny import tiny_t5


@pytest.fixture
def command(tmp_path):
    """Runs `models ...` with these settings."""

    def invoke(*arguments: str, **settings: str):
        env = {"INSTANCE": str(tmp_path / "instance"), "FLAN_T5": str(tmp_path / "t5")}
        app = create_app(Settings.from_env(env | settings))
        return app.test_cli_runner().invoke(args=["models", *arguments])

    return invoke


def test_every_module_is_listed_with_its_setting_and_every_unavailable_choice_with_its_fix(command):
    output = command("list").stdout
    for setting in ("PRESET", "CLAIM_VERIFIER", "QUESTION_GENERATOR", "QA_VALIDATOR", "REASONER", "ANSWERER"):
        assert f"({setting})" in output
    reason = " ".join(output.split("no  reciter-reader", 1)[1].splitlines()[1].split())
    assert (
        reason
        == "No language model is set up. Fix it with: LOCAL_MODEL, OPENAI_API_KEY and OPENAI_MODEL, or MODELS_FILE"
    )
    assert f"Fix it with: {FLASK} models fetch flan-t5" in output


def test_a_language_model_is_listed_with_its_destination(command):
    output = command(
        "list", OPENAI_API_KEY="a-key", OPENAI_MODEL="big", OPENAI_BASE_URL="https://api.example.org/v1"
    ).stdout
    assert "yes reciter-reader" in output
    listed = output.split("yes big", 1)[1].splitlines()
    assert listed[1].split() == "sends claims to api.example.org".split()


def test_a_model_folder_needs_no_fetch(command, tmp_path):
    folder = tiny_t5(tmp_path / "t5")
    assert f"is in {folder}" in command("fetch", "flan-t5").stdout
    assert "yes flan-t5" in command("list").stdout


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("flan-t5", 1, "There is no folder"),
        ("question-seq2seq", 2, "QUESTION_SEQ2SEQ is not set"),
        ("everything", 2, "is not one of"),
    ],
)
def test_a_failed_fetch_is_reported_in_one_sentence(command, name, status, words):
    done = command("fetch", name)
    assert done.exit_code == status
    assert words in done.stderr and "Traceback" not in done.stderr


REPOSITORY, FILE = "someone/tiny-GGUF", "tiny.Q4.gguf"
NAME = f"hub:{REPOSITORY}/{FILE}"
CONTENT = b"GGUF" + bytes(range(256)) * 4000
BROKEN_AT = 300_000


class Hub:
    """A hub with one repository of one GGUF file; `asked` has the method, path and Range header of each request."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str | None]] = []
        self.etag = hashlib.sha256(CONTENT).hexdigest()
        self.breaks_off = False
        """Whether a download ends after BROKEN_AT bytes, and none begins after it."""
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                path = self.path.partition("?")[0]
                asked_range = self.headers.get("Range")
                hub.asked.append((self.command, path, asked_range))
                if path == f"/api/models/{REPOSITORY}":
                    about = {"id": REPOSITORY, "tags": ["gguf", "license:apache-2.0"]}
                    about["siblings"] = [{"rfilename": FILE, "size": len(CONTENT)}, {"rfilename": "README.md"}]
                    self.answer(200, json.dumps(about).encode())
                elif path != f"/{REPOSITORY}/resolve/main/{FILE}":
                    self.answer(404, b"{}")
                elif hub.breaks_off and len(hub.downloads) > 1:
                    self.answer(403, b"{}")
                else:
                    start = int(asked_range.removeprefix("bytes=").split("-")[0]) if asked_range else 0
                    self.answer(206 if asked_range else 200, CONTENT[start:])

            do_HEAD = do_GET

            def answer(self, status, body):
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("ETag", f'"{hub.etag}"')
                self.send_header("X-Repo-Commit", "89abcdef0123456789abcdef0123456789abcdef")
                if status == 206:
                    first = len(CONTENT) - len(body)
                    self.send_header("Content-Range", f"bytes {first}-{len(CONTENT) - 1}/{len(CONTENT)}")
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body[:BROKEN_AT] if hub.breaks_off else body)
                    self.close_connection = True

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def downloads(self) -> list[str | None]:
        return [asked_range for method, path, asked_range in self.asked if method == "GET" and "/resolve/" in path]


@pytest.fixture
def hub(monkeypatch):
    from huggingface_hub import constants

    hub = Hub()
    threading.Thread(target=hub.server.serve_forever, args=(0.02,), daemon=True).start()
    address = f"http://127.0.0.1:{hub.server.server_port}"
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "ENDPOINT", address)
    yield hub
    hub.server.shutdown()
    hub.server.server_close()


def test_size_and_licence_of_a_file_are_said_before_it_is_downloaded(command, hub):
    done = command("fetch", NAME)
    assert done.exit_code == 1 and "Aborted" in done.output
    assert f"{FILE} of {REPOSITORY}: 1 MB; licence: apache-2.0." in done.output
    assert "Download it?" in done.output
    assert hub.downloads == []


def test_a_file_that_is_there_is_neither_looked_up_nor_asked_for_again(command, hub):
    command("fetch", NAME, "--yes")
    hub.asked.clear()
    done = command("fetch", NAME)
    assert done.exit_code == 0 and "It is in " in done.output and hub.asked == []


def test_a_hub_that_does_not_answer_and_a_full_disk_are_told_apart(command, hub, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", "tiny.Q4.gguf")

    with monkeypatch.context() as patch:
        patch.setattr("huggingface_hub.file_download.http_get", full)
        assert "No space left on device: tiny.Q4.gguf" in command("fetch", NAME, "--yes").stderr
    hub.server.shutdown()
    hub.server.server_close()
    assert "the hub cannot be reached" in command("fetch", NAME, "--yes").stderr


def test_a_fetched_file_is_the_model_that_local_model_names(command, hub):
    assert f"Fix it with: {FLASK} models fetch {NAME}" in command("list", LOCAL_MODEL=NAME).output
    done = command("fetch", NAME, "--yes")
    assert done.exit_code == 0, done.output
    assert f"LOCAL_MODEL={NAME} loads it at the start" in done.output
    path = Path(done.output.split("It is in ")[1].splitlines()[0])
    assert path.read_bytes() == CONTENT
    assert "yes tiny.Q4 " in command("list", LOCAL_MODEL=NAME).output
    assert "yes tiny.Q4 " in command("list", LOCAL_MODEL=str(path)).output


def test_a_download_that_broke_off_goes_on_where_it_ended(command, hub, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 100_000)  # what arrives is written in these
    hub.breaks_off = True
    assert command("fetch", NAME, "--yes").exit_code == 1
    hub.breaks_off = False
    done = command("fetch", NAME, "--yes")
    assert done.exit_code == 0, done.output
    assert (hub.downloads[0], hub.downloads[-1]) == (None, f"bytes={BROKEN_AT}-")
    assert Path(done.output.split("It is in ")[1].splitlines()[0]).read_bytes() == CONTENT


def test_a_file_that_arrived_damaged_is_no_model(command, hub):
    hub.etag = hashlib.sha256(b"another file").hexdigest()
    done = command("fetch", NAME, "--yes")
    assert done.exit_code == 1 and "tiny.Q4.gguf was damaged during the download" in done.stderr
    assert "There is no file" in command("list", LOCAL_MODEL=NAME).output


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("hub:../../../etc/passwd.gguf", "names no GGUF file on the hub"),
        (f"hub:{REPOSITORY}/other.gguf", f"has no file other.gguf. Fix it with: one that it has: {FILE}"),
        ("hub:someone/other/a.gguf", "could not be fetched"),
        (f"hub:{REPOSITORY}/README.md", "names no GGUF file on the hub"),
        ("hub:a.gguf", "names no GGUF file on the hub"),
    ],
)
def test_a_file_that_the_hub_lacks_is_reported_in_one_sentence(command, hub, name, words):
    done = command("fetch", name, "--yes")
    assert done.exit_code == 1
    assert words in done.stderr and "Traceback" not in done.stderr
