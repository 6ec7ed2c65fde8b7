"""Language models are configured by three settings or a file; errors in either are reported in one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.backends.llm.registry import OPENAI_URL, ModelSettings, configured_models, unavailable_reason
from app.domain.errors import SettingsError

KEY = "sk-planted-Zx81"

TWO = """
[[model]]
name = "Small"
model = "gpt-4o-mini"
prompt_price = 0.15
completion_price = 0.6

[[model]]
name = "House"
model = "qwen3-8b"
base_url = "http://gpu.example:8000/v1"
api_key_env = "HOUSE_KEY"
thinking_tokens = 2000
"""


@pytest.fixture
def file(tmp_path):
    def make(text: str | bytes):
        path = tmp_path / "models.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make


def test_three_settings_configure_one_model_by_its_name():
    (model,) = configured_models(KEY, "http://127.0.0.1:8080/v1", "qwen3", None)
    assert model == ModelSettings("qwen3", "qwen3", "http://127.0.0.1:8080/v1", KEY)
    assert unavailable_reason(model) == ""


def test_without_a_base_url_the_model_is_at_openai():
    (model,) = configured_models(KEY, None, "gpt-4o-mini", None)
    assert (model.base_url, model.destination) == (OPENAI_URL, "api.openai.com")


def test_a_file_configures_several_models_each_with_its_own_key(file):
    secrets = {"OPENAI_API_KEY": KEY, "HOUSE_KEY": "house"}
    small, house = configured_models(KEY, None, None, file(TWO), secrets)
    assert small == ModelSettings("Small", "gpt-4o-mini", OPENAI_URL, KEY, 0.15, 0.6)
    assert house == ModelSettings(
        "House", "qwen3-8b", "http://gpu.example:8000/v1", "house", thinking_tokens=2000, key_variable="HOUSE_KEY"
    )
    assert [unavailable_reason(small), unavailable_reason(house)] == ["", ""]


def test_the_model_from_the_settings_is_the_default_ahead_of_the_file(file):
    models = configured_models(KEY, None, "gpt-4o", file(TWO))
    assert [model.name for model in models] == ["gpt-4o", "Small", "House"]


def test_openais_key_is_sent_to_another_server_only_when_named_for_it(file):
    entry = '[[model]]\nname = "Own"\nmodel = "own"\nbase_url = "http://gpu.example/v1"\n'
    (own,) = configured_models(KEY, None, None, file(entry), {"OPENAI_API_KEY": KEY})
    assert (own.api_key, own.key_variable, unavailable_reason(own)) == (None, None, "")
    (asking,) = configured_models(
        KEY, None, None, file(entry + 'api_key_env = "OPENAI_API_KEY"'), {"OPENAI_API_KEY": KEY}
    )
    assert asking.api_key == KEY


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (configured_models(KEY, None, None, None)[0], "no model: name one in OPENAI_MODEL"),
        (configured_models(None, None, "gpt-4o", None)[0], "Its key is missing: set OPENAI_API_KEY."),
        (ModelSettings("House", "h", "https://gpu.example/v1", None, key_variable="HOUSE_KEY"), "set HOUSE_KEY."),
        (ModelSettings("Big", "b", api_key="sk-é"), "characters that no key has"),
    ],
)
def test_an_unusable_model_is_reported_with_the_responsible_setting(model, reason):
    assert reason in unavailable_reason(model)


@pytest.mark.parametrize(
    ("url", "destination", "host"),
    [
        ("https://api.openai.com/v1", "api.openai.com", "api.openai.com"),
        ("http://192.168.1.5:8000/v1", "192.168.1.5", "192.168.1.5:8000"),
        ("http://[fd00::1]:80/v1", "fd00::1", "[fd00::1]:80"),
        ("http://0.0.0.0:80/v1", "0.0.0.0", "0.0.0.0:80"),
        ("http://LLM.localhost/v1", None, "LLM.localhost"),
        ("http://127.0.0.1:8080/v1", None, "127.0.0.1:8080"),
        ("http://user:word@gpu.example/v1", "gpu.example", "gpu.example"),
    ],
)
def test_the_destination_is_the_host_except_on_this_machine(url, destination, host):
    model = ModelSettings("Any", "any", url)
    assert (model.destination, model.host) == (destination, host)


ENTRY = '[[model]]\nname = "Small"\nmodel = "gpt"\n'


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[model]\n", "is not TOML"),
        (b"\xff\xfe\x00", "is not TOML: it is not UTF-8."),
        ("", "must hold [[model]] entries, and nothing else"),
        ("model = [3]", "model 1: the entry: "),
        (ENTRY + ENTRY, "LOCAL_MODEL are called 'Small'"),
        (ENTRY + 'api_key = "sk-planted-Zx81"', "model 1: api_key: Extra inputs are not permitted"),
        (
            ENTRY + 'api_key_env = "sk-planted-Zx81"',
            "api_key_env: it must be the name of an environment variable",
        ),
        (ENTRY + 'base_url = "https://me:sk-planted-Zx81@gpu.example/v1"', "model 1: base_url: it must be a URL like"),
        (ENTRY + "prompt_price = 1.0", "model 1: the entry: Value error, prompt_price and completion_price"),
    ],
)
def test_a_broken_file_is_reported_with_its_entry_and_without_secrets(file, text, complaint):
    path = file(text)
    with pytest.raises(SettingsError) as caught:
        configured_models(None, None, None, path, {"OPENAI_API_KEY": KEY})
    said = str(caught.value)
    assert str(path) in said and complaint in said
    assert KEY not in said and "\n" not in said


def test_a_missing_file_is_reported(tmp_path):
    with pytest.raises(SettingsError, match=r"missing.toml cannot be read \(No such file or directory\)"):
        configured_models(None, None, None, tmp_path / "missing.toml")


def test_the_example_file_in_the_docs_is_valid(file):
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    examples = "".join(re.findall(r"```toml\n(.*?)```", page, re.DOTALL))
    secrets = {"OPENAI_API_KEY": KEY, "HOUSE_KEY": "house", "AZURE_KEY": "azure"}
    small, house, azure = configured_models(None, None, None, file(examples), secrets)
    assert (azure.api_key, azure.base_url.rpartition("?")[2]) == ("azure", "api-version=2024-10-21")
    assert (small.destination, small.api_key, small.prompt_price) == ("api.openai.com", KEY, 0.15)
    assert (house.destination, house.api_key, house.thinking_tokens) == ("gpu.example", "house", 4000)


AZURE = """
[[model]]
name = "Azure"
model = "gpt-4o-mini"
base_url = "https://us.openai.azure.example/openai/deployments/mini"
api_key_env = "AZURE_KEY"
headers = { api-key = "{key}" }
query = { api-version = "2024-10-21" }
extra = { reasoning_effort = "low", chat_template_kwargs = { enable_thinking = false } }
"""


def test_an_entry_may_have_headers_a_query_and_more_fields_of_the_body(file):
    (model,) = configured_models(None, None, None, file(AZURE), {"AZURE_KEY": KEY})
    assert model.base_url == "https://us.openai.azure.example/openai/deployments/mini?api-version=2024-10-21"
    assert (model.headers, model.destination) == ({"api-key": "{key}"}, "us.openai.azure.example")
    assert model.extra == {"reasoning_effort": "low", "chat_template_kwargs": {"enable_thinking": False}}
    assert KEY not in repr(model)


@pytest.mark.parametrize(
    "line",
    [
        'headers = { "a b" = "x" }',
        'headers = { api-key = "x\\ny" }',
        'extra = { messages = "x" }',
        "extra = { day = 2024-10-21 }",
    ],
)
def test_headers_a_query_and_more_fields_that_cannot_be_sent_are_an_error(file, line):
    with pytest.raises(SettingsError, match="model 1: "):
        configured_models(None, None, None, file(f'[[model]]\nname = "A"\nmodel = "a"\n{line}\n'))
