"""Findings of the doctor about language models: no model is called unless requested, and no key is shown."""

from __future__ import annotations

from app.config.settings import Settings
from app.doctor import checks
from tests.doctor.looking import BROKEN, SOUND, the_one
from tests.openai_server import OpenAIServer, Reply

KEY = "sk-much-too-secret"


def to(server: OpenAIServer) -> Settings:
    return Settings(openai_api_key=KEY, openai_base_url=server.url, openai_model="tiny")


def test_having_no_language_model_is_a_problem_only_if_the_settings_need_one():
    assert the_one(checks.language_models, Settings())[0] is SOUND
    for settings in (
        Settings(preset="prompted"),
        Settings(preset="qacheck"),
        Settings(reasoner="prompted"),
        Settings(strategy="direct"),
        Settings(answerer="reciter-reader"),
    ):
        state, message = the_one(checks.language_models, settings)
        assert state is BROKEN and "Set LOCAL_MODEL, OPENAI_API_KEY and OPENAI_MODEL" in message
    unused = Settings(answerer="reciter-reader", source="vital")
    assert the_one(checks.language_models, unused)[0] is SOUND


def test_a_configured_model_is_named_with_its_host_and_not_called():
    with OpenAIServer(lambda asked: Reply("yes")) as server:
        state, message = the_one(checks.language_models, to(server))
        assert state is SOUND and "tiny at 127.0.0.1" in message and KEY not in message
        assert server.asked == []


def test_a_model_without_its_key_is_reported_with_the_setting():
    state, message = the_one(checks.language_models, Settings(openai_model="gpt-something"))
    assert state is BROKEN and "OPENAI_API_KEY" in message


def test_the_online_check_accepts_a_model_that_answers_and_reports_one_that_refuses():
    with OpenAIServer(lambda asked: Reply("yes")) as server:
        assert the_one(checks.language_models_online, to(server))[0] is SOUND
        assert len(server.asked) == 1
    with OpenAIServer(lambda asked: Reply(status=401)) as server:
        state, message = the_one(checks.language_models_online, to(server))
        assert state is BROKEN and KEY not in message
