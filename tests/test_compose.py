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
    volumes = {volume.partition(":")[0] for each in SERVICES.values() for volume in each.get("volumes", ())}
    assert volumes == set(yaml.safe_load(TEXT)["volumes"])
    for each in SERVICES.values():
        assert set(each.get("depends_on", ())) <= set(SERVICES)
    assert set(re.findall(r"@(\w+)[:/]", TEXT)) <= set(SERVICES)
    assert (ROOT / "Dockerfile").is_file() and SERVICES["web"]["build"]["context"] == "."


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_has_a_default_and_the_example_leaves_each_empty(secret):
    uses = re.findall(r"\$\{" + secret + r"([^}]*)\}", TEXT)
    assert uses and all(each.startswith(":?") for each in uses)
    assert re.search(rf"^{secret}=$", (ROOT / ".env.compose.example").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", sorted(set(SERVICES) - {"web"}))
def test_every_service_has_a_health_check(name):
    """The web process uses the image's own check."""
    assert SERVICES[name]["healthcheck"]["test"]


def test_persistent_data_is_in_a_volume():
    kept = {volume.partition(":")[2] for each in SERVICES.values() for volume in each.get("volumes", ())}
    assert {"/srv/hopcheck/instance", "/var/lib/postgresql/data"} <= kept


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
