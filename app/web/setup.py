"""The page "Set up", on which the operator adds language models, downloads and documents, and sees `doctor`'s result.

access.py lets only the operator in. Keys are stored and never shown again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flask import Blueprint, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import RequestEntityTooLarge

from app.domain.errors import CallFailed, HopcheckError, InvalidInput, ModelUnavailable
from app.domain.messages import Words
from app.web import services
from app.web.access import operator_proof, operator_state
from app.web.auth import token_hash
from app.web.language import words
from app.web.observability import log_refusal
from app.web.runs import is_htmx_request
from app.web.security import MAX_UPLOAD_BYTES, STALE

if TYPE_CHECKING:
    from app.site_setup import SiteSetup

setup = Blueprint("setup", __name__, url_prefix="/setup")

SERVERS = {
    "OpenAI": "https://api.openai.com/v1",
    "OpenRouter": "https://openrouter.ai/api/v1",
    "Mistral": "https://api.mistral.ai/v1",
    "Google Gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    Words("Ollama on this machine"): "http://127.0.0.1:11434/v1",
    Words("LM Studio on this machine"): "http://127.0.0.1:1234/v1",
    Words("llama.cpp on this machine"): "http://127.0.0.1:8080/v1",
}
"""Servers that the page proposes; any other with OpenAI's protocol can be typed."""

FIELDS = {"models": ("base_url", "model", "api_key", "name"), "keys": ("service", "service_key")}
UPLOAD_TOO_LARGE = Words(
    "These files have more than the {max_upload_bytes} MB that can be sent at once.",
    max_upload_bytes=MAX_UPLOAD_BYTES // 1024**2,
)
UNKNOWN_TOKEN = Words("This token is not known here.")


@dataclass(frozen=True)
class Problem:
    """What is wrong with a form of the page."""

    section: str
    text: str
    field: str = ""


def _site() -> SiteSetup:
    return services().setup()


@setup.get("")
def page() -> str:
    """Show the page; `?added=` names a model that was just added."""
    return _page(added=request.args.get("added", ""))


@setup.get("/doctor")
def doctor() -> str:
    """Show the page with the result of all checks of the installation."""
    return _page(findings=_site().check_installation())


@setup.get("/tasks")
def tasks() -> str:
    """Show the downloads and indexes, for the script that reloads them while one is running."""
    return render_template("setup_tasks.html", tasks=_site().tasks())


@setup.post("/<any(models,keys):kind>")
def add(kind: str) -> ResponseReturnValue:
    """Test the connection to a language model, or to a search engine, and store it with its key."""
    sent = (request.form.get(name, "") for name in FIELDS[kind])
    try:
        added = _site().add_key(*sent) if kind == "keys" else _site().add_model(*sent)
    except (InvalidInput, CallFailed) as error:
        return _page(Problem(kind, words(error), getattr(error, "field", "") or "")), 422
    return redirect(url_for("setup.page", added=added, _anchor=kind), 303)


@setup.post("/<any(models,keys):kind>/remove")
def remove(kind: str) -> ResponseReturnValue:
    """Forget a language model or a search engine, and its key."""
    (_site().remove_key if kind == "keys" else _site().remove_model)(request.form.get("name", ""))
    return redirect(url_for("setup.page", _anchor=kind), 303)


@setup.post("/offer")
def offer() -> ResponseReturnValue:
    """Show size and licence of a download before it is started."""
    return _about_download(lambda site, name: _page(offer=site.offer(name)))


@setup.post("/downloads")
def download() -> ResponseReturnValue:
    """Start a download."""

    def start(site: SiteSetup, name: str) -> ResponseReturnValue:
        site.download(name)
        return _to_tasks()

    return _about_download(start)


def _about_download(action: Callable[[SiteSetup, str], ResponseReturnValue]) -> ResponseReturnValue:
    name = request.form.get("download", "").strip()
    section = "files" if name.startswith("hub:") or name in _site().model_names else "wikipedia"
    try:
        return action(_site(), name)
    except InvalidInput as error:
        return _page(Problem(section, words(error), "download")), 422
    except ModelUnavailable as error:
        problem = Words(
            "{problem}. Nothing was changed; check the network of this machine and try again.", problem=error.problem
        )
        return _page(Problem(section, problem, "download")), 502


@setup.post("/documents")
def documents() -> ResponseReturnValue:
    """Start to make a source of uploaded documents."""
    files = [(each.filename, each.stream) for each in request.files.getlist("files") if each.filename]
    try:
        _site().add_documents(request.form.get("title", ""), request.form.get("source", ""), files)
    except InvalidInput as error:
        return _page(Problem("documents", words(error), error.field or "")), 422
    return _to_tasks()


@setup.post("/tasks/<any(stop,resume,remove):action>")
def change_task(action: str) -> ResponseReturnValue:
    """Stop, continue or remove a download or a source."""
    try:
        getattr(_site(), action)(request.form.get("name", ""))
    except InvalidInput as error:
        if is_htmx_request():
            return render_template("setup_tasks.html", tasks=_site().tasks(), problem=words(error))
        return _page(Problem("tasks", words(error))), 409
    return tasks() if is_htmx_request() else _to_tasks()


@setup.post("/sign-in")
def sign_in() -> ResponseReturnValue:
    """Let this browser set up the site with a token of API_TOKENS."""
    path, token = services().settings.api_tokens, request.form.get("token", "").strip()
    known = token_hash(path, token) if path and token else None
    if known is None:
        log_refusal("token")
        return render_template("operator.html", state=operator_state(), problem=UNKNOWN_TOKEN), 403
    session["operator"] = operator_proof(known)
    return redirect(url_for("setup.page"), 303)


@setup.app_template_filter("megabytes")
def megabytes(size: int) -> str:
    """Format a number of bytes: "156 MB", "11.6 GB"."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.{0 if size >= 1e7 else 1}f} MB"


def _to_tasks() -> ResponseReturnValue:
    return redirect(url_for("setup.page", _anchor="tasks"), 303)


def _page(problem: Problem | None = None, **more: Any) -> str:
    site = _site()
    try:
        models, keyed = site.models(), site.services()
    except HopcheckError as error:
        models, keyed, problem = (), (), problem or Problem("models", f"{error}.")
    # The body of a request that is too large cannot be parsed.
    sent = request.form if problem is None or problem.text != UPLOAD_TOO_LARGE else {}
    form = {name: value for name, value in sent.items() if not name.endswith("_key")}
    return render_template(
        "setup.html",
        site=site,
        models=models,
        keyed=keyed,
        tasks=site.tasks(),
        problem=problem,
        form=form,
        servers=SERVERS,
        megabytes=MAX_UPLOAD_BYTES // 1024**2,
        **more,
    )


@setup.errorhandler(CSRFError)
def _stale(error: CSRFError) -> ResponseReturnValue:
    log_refusal("csrf")
    if operator_state() != "open":
        return render_template("operator.html", state=operator_state(), problem=STALE), 400
    return _page(Problem("", STALE)), 400


@setup.errorhandler(RequestEntityTooLarge)
def _too_large(error: RequestEntityTooLarge) -> ResponseReturnValue:
    return _page(Problem("documents", UPLOAD_TOO_LARGE, "files")), 413
