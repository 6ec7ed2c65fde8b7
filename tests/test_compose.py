"""compose.yaml: everything it starts exists, every service has a health check, and no secret has a default."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from app import create_app
from app.config.settings import settings_fields
from app.web.security import LARGER_LIMITS
from tests.waiting import LONG

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "compose.yaml").read_text()
SERVICES = yaml.safe_load(TEXT)["services"]
SECRETS = ("POSTGRES_PASSWORD", "REDIS_PASSWORD", "SECRET_KEY")


@pytest.mark.parametrize(("written", "valid"), [(TEXT, True), (TEXT.replace("healthcheck:", "health_check:"), False)])
def test_it_conforms_to_the_compose_specification(tmp_path, written, valid):
    file = tmp_path / "compose.yaml"
    file.write_text(written)
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONG)
    assert (done.returncode == 0) == valid, done.stdout


def test_every_file_and_volume_that_it_names_exists():
    mounted = {volume.partition(":")[0] for each in SERVICES.values() for volume in each.get("volumes", ())}
    files = {each for each in mounted if each.startswith("./")}
    assert mounted - files == set(yaml.safe_load(TEXT)["volumes"])
    assert all((ROOT / each).is_file() for each in files)
    for each in SERVICES.values():
        assert set(each.get("depends_on", ())) <= set(SERVICES)
    assert set(re.findall(r"@(\w+)[:/]", TEXT)) <= set(SERVICES)
    assert (ROOT / "Dockerfile").is_file() and SERVICES["web"]["build"]["context"] == "."


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_has_a_default_and_the_example_leaves_each_empty(secret):
    uses = re.findall(r"\$\{" + secret + r"([^}]*)\}", TEXT)
    assert uses and all(each.startswith(":?") for each in uses)
    assert re.search(rf"^{secret}=$", (ROOT / ".env.compose.example").read_text(), re.MULTILINE)


def test_every_application_variable_is_a_setting():
    known = {each.metadata["env"] for each in settings_fields()}
    assert set(SERVICES["web"]["environment"]) <= known
    assert SERVICES["worker"]["environment"] == SERVICES["web"]["environment"]


def test_every_setting_except_the_listening_address_can_be_set_in_one_file():
    for name in ("web", "worker"):
        assert SERVICES[name]["env_file"] == ".env"
    inside = SERVICES["web"]["environment"]["PORT"]
    assert SERVICES["web"]["ports"] == [f"${{PORT:-{inside}}}:{inside}"], "PORT there is the port of the host"


def test_the_workers_command_exists():
    *program, command = SERVICES["worker"]["command"]
    assert program == [".venv/bin/flask", "--app", "app"]
    assert command in create_app().cli.list_commands(None)


def test_searxngs_settings_allow_the_json_that_hopcheck_reads_and_hold_no_key():
    (mounted,) = SERVICES["searxng"]["volumes"]
    file, inside, mode = mounted.split(":")
    settings = yaml.safe_load((ROOT / file).read_text())
    assert (inside, mode) == ("/etc/searxng/settings.yml", "ro")
    assert settings["use_default_settings"] is True and "json" in settings["search"]["formats"]
    assert "secret_key" not in settings["server"] and "SEARXNG_SECRET" in SERVICES["searxng"]["environment"]


@pytest.mark.parametrize("unit", ["hopcheck-web.service", "hopcheck-worker@.service"])
def test_a_systemd_unit_runs_an_existing_command_as_an_ordinary_user(unit):
    lines = dict(re.findall(r"^(\w+)=(.*)$", (ROOT / "deploy" / unit).read_text(), re.MULTILINE))
    program, *arguments = lines["ExecStart"].removeprefix(f"{lines['WorkingDirectory']}/").split()
    assert lines["User"] == "hopcheck"
    if program == ".venv/bin/flask":
        worker = create_app().cli.get_command(None, arguments[2])
        assert {option for option in arguments[3:] if option.startswith("--")} <= {
            name for each in worker.params for name in each.opts
        }
    else:
        assert program == ".venv/bin/gunicorn" and not arguments


def test_nginx_accepts_the_largest_body_and_streams_answers_to_slow_clients():
    text = (ROOT / "deploy/nginx.conf").read_text()
    directives = dict(re.findall(r"^\s*(\w+) (\S+);$", text, re.MULTILINE))
    megabytes = int(directives["client_max_body_size"].removesuffix("m"))
    assert megabytes * 1024**2 >= max(LARGER_LIMITS.values())
    assert (directives["proxy_request_buffering"], directives["proxy_buffering"]) == ("on", "off")
