"""What the doctor says of language models: nobody is called unless it is asked for, and no key is ever shown."""

from __future__ import annotations

from pathlib import Path

from app.config.settings import Settings
from app.doctor import components
from tests.doctor.looking import BROKEN, SOUND, found, has, the_one
from tests.openai_server import OpenAIServer, Reply

KEY = "sk-much-too-secret"


def to(server: OpenAIServer) -> Settings:
    return Settings(openai_api_key=KEY, openai_base_url=server.url, openai_model="tiny")


def test_without_any_nothing_is_missing_unless_a_preset_needs_one():
    assert the_one(components.language_models, Settings())[0] is SOUND
    state, message = the_one(components.language_models, Settings(preset="prompted"))
    assert state is BROKEN and "Set OPENAI_API_KEY and OPENAI_MODEL" in message


def test_one_that_is_set_up_is_named_with_its_host_and_not_called():
    with OpenAIServer(lambda asked: Reply("yes")) as server:
        state, message = the_one(components.language_models, to(server))
        assert state is SOUND and "tiny at 127.0.0.1" in message and KEY not in message
        assert server.asked == []


def test_one_without_its_key_names_the_setting():
    state, message = the_one(components.language_models, Settings(openai_model="gpt-something"))
    assert state is BROKEN and "OPENAI_API_KEY" in message


def test_online_one_that_answers_is_well_and_one_that_refuses_is_named():
    with OpenAIServer(lambda asked: Reply("yes")) as server:
        assert the_one(components.language_models_online, to(server))[0] is SOUND
        assert len(server.asked) == 1
    with OpenAIServer(lambda asked: Reply(status=401)) as server:
        state, message = the_one(components.language_models_online, to(server))
        assert state is BROKEN and KEY not in message


def test_a_models_file_that_is_broken_is_named_by_the_check(tmp_path: Path):
    from app.doctor.findings import run_checks

    (tmp_path / "models.toml").write_text("[[model]\n")
    settings = Settings(models_file=tmp_path / "models.toml")
    (finding,) = run_checks(settings, [("language models", components.language_models)])
    assert finding.state is BROKEN and "models.toml" in finding.message
    assert not has(found(components.language_models, Settings()), BROKEN, "")
