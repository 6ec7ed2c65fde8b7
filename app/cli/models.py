"""The commands `models list`, `models fetch`, `prepare` and `doctor`."""

from __future__ import annotations

import json

import click
from flask.cli import with_appcontext
from flask_migrate import upgrade

from app.backends.hub import HUB_PREFIX, look_up, split_file_name
from app.backends.hub import fetch as fetch_model
from app.backends.local.base_model import LOCAL_MODELS, obtain
from app.backends.local.llama_cpp import gguf_path
from app.bootstrap import PreparationStep, steps
from app.bootstrap import prepare as run_steps
from app.capabilities.options import Choice
from app.cli.output import CommandGroup, one_line_errors
from app.config.settings import Settings
from app.doctor import State, format_findings, run_checks
from app.doctor.checks import CHECKS, ONLINE
from app.runs.schema_version import is_newest
from app.web import services

MODELS = (*LOCAL_MODELS, "flan-t5", "question-seq2seq", "next-question-seq2seq")
"""Names that `models fetch` accepts. The model of flan-t5 is the one in the setting FLAN_T5, and so on."""

models = CommandGroup("models", help="The models and modules that runs can use.")


@models.command("list")
def listing() -> None:
    """List every option: whether it is available, and if not, why and what enables it."""
    for group in services().container.catalogue():
        click.echo(f"{group.title}{f'  ({group.setting})' if group.setting else ''}")
        for choice in group.choices:
            click.echo(_line(choice))
            for line in _details(choice):
                click.echo(f"                          {line}")


class ModelName(click.ParamType):
    """One of MODELS, or a GGUF file on the hub as hub:OWNER/REPOSITORY/FILE."""

    name = "name"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"{{{'|'.join(MODELS)}|{HUB_PREFIX}OWNER/REPOSITORY/FILE}}"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value if value.startswith(HUB_PREFIX) else click.Choice(MODELS).convert(value, param, ctx)


@models.command("fetch")
@click.argument("name", type=ModelName())
@click.option("--yes", is_flag=True, help="Download a file of the hub without asking.")
def fetch(name: str, yes: bool) -> None:
    """Download the local model's base, or the model that a setting (FLAN_T5, QUESTION_SEQ2SEQ, ...) names.

    hub:OWNER/REPOSITORY/FILE downloads one GGUF file for LOCAL_MODEL, and shows its size and licence before.
    """
    if name.startswith(HUB_PREFIX):
        _fetch_file(name, yes)
    elif local := LOCAL_MODELS.get(name):
        click.echo(f"It is in {obtain(services().settings, click.echo, local.base)}")
    else:
        _fetch_model(name)


def _fetch_model(name: str) -> None:
    setting = name.replace("-", "_")
    model = getattr(services().settings, setting)
    if not model:
        raise click.UsageError(f"{setting.upper()} is not set, so there is nothing to fetch.")
    click.echo(f"Fetching {model} ...")
    click.echo(f"{model} is in {fetch_model(model)}")


def _fetch_file(name: str, yes: bool) -> None:
    repository, file = split_file_name(name)
    path = gguf_path(name, services().settings.instance)
    if not path.is_file():
        found = look_up(repository, file)
        size = f"{found.bytes / 1_000_000:,.0f} MB" if found.bytes else "size not stated"
        click.echo(f"{file} of {repository}: {size}; licence: {found.licence}.")
        if not yes:
            click.confirm("Download it?", abort=True)
        found.fetch(path)
    click.echo(f"It is in {path}")
    click.echo(f"It can be chosen as {path.stem}; LOCAL_MODEL={name} loads it at the start.")


def _line(choice: Choice) -> str:
    return f"  {'yes' if choice.available else 'no':3} {choice.name:18}  {choice.title}"


def _details(choice: Choice) -> list[str]:
    lines = [f"sends claims to {choice.destination}"] if choice.destination else []
    if not choice.available:
        lines.append(f"{choice.reason} Fix it with: {choice.mend}" if choice.mend else choice.reason)
    return lines


@click.command()
@with_appcontext
def prepare() -> None:
    """Obtain the base model, index the corpora and migrate the database, where that is not done yet."""
    settings = services().settings
    with one_line_errors():
        run_steps([*steps(settings), database(settings)], click.echo)


def database(settings: Settings) -> PreparationStep:
    """Return the step that migrates the database, like `flask --app app db upgrade`."""
    return PreparationStep(
        "Bring the database up to date", lambda: is_newest(settings.database_url), lambda say: upgrade()
    )


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as one JSON list.")
@click.option(
    "--online", is_flag=True, help="Also ask each language model on a server for one word, which may cost a little."
)
@with_appcontext
def doctor(as_json: bool, online: bool) -> None:
    """Check everything that Hopcheck needs. Exits 0 when there is no problem, 1 when there is one."""
    checks = (*CHECKS, *ONLINE) if online else CHECKS
    found = list(run_checks(services().settings, checks))
    if as_json:
        click.echo(json.dumps([finding.as_json() for finding in found], ensure_ascii=False))
    else:
        for line in format_findings(found):
            click.echo(line)
    if any(finding.state is State.PROBLEM for finding in found):
        raise SystemExit(1)
