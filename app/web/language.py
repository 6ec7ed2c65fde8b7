"""The language of a page: where it is chosen, and the one place where codes and words become text in it.

Catalogues are `locale/CODE/LC_MESSAGES/messages.po`, whose keys are the English sentences (scripts/translations.py).
The API, files and the command line are in English, and so is what is outside of a request.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import cache
from gettext import NullTranslations
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

from babel.dates import format_datetime, format_skeleton
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import get_decimal_symbol, get_group_symbol
from babel.support import Translations
from flask import Flask, Response, g, has_request_context, request
from flask.templating import Environment
from jinja2 import Template, nodes
from jinja2.visitor import NodeTransformer
from markupsafe import Markup

from app.config.settings import ROOT
from app.domain.messages import Message, Words, WordsFormatter
from app.text.wording import escape_direction

ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "de": "Deutsch"}
"""The languages of the page, as each calls itself."""
COOKIE = "lang"
COOKIE_SECONDS = 365 * 24 * 3600


def language() -> str:
    """Return the language of the page: the one asked for with `?lang=`, or before, or by the browser."""
    if not has_request_context():
        return ENGLISH
    if (known := g.get("language")) is None:
        asked = request.args.get("lang"), request.cookies.get(COOKIE), request.accept_languages.best_match(LANGUAGES)
        is_english = request.blueprint == "api" or request.endpoint == "exports.download"
        known = g.language = ENGLISH if is_english else next((each for each in asked if each in LANGUAGES), ENGLISH)
    return str(known)


@cache
def translations(code: str) -> NullTranslations:
    """Return the catalogue of a language, compiled from its text once."""
    if code == ENGLISH:
        return NullTranslations()
    with (ROOT / "locale" / code / "LC_MESSAGES" / "messages.po").open("rb") as file:
        catalogue = read_po(file, locale=code)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Translations(compiled)


class _Formatter(WordsFormatter):
    """Writes numbers and dates with a format, such as `{count:,}` and `{day:%B %Y}`, as the page's language does."""

    def format_field(self, value: Any, format_spec: str) -> str:
        text = super().format_field(value, format_spec)
        if language() == ENGLISH or not format_spec or not isinstance(value, int | float | date):
            return text
        if isinstance(value, date):
            return str(format_skeleton("yMMMMd" if "d" in format_spec else "yMMMM", value, locale=language()))
        symbols: dict[str, str | int | None] = {",": get_group_symbol(language()), ".": get_decimal_symbol(language())}
        return text.translate(str.maketrans(symbols))


_FORMATTER = _Formatter()


def words(value: Any) -> Any:
    """Return the text of a code or of words in the page's language, and of an error of such words; else the value."""
    if isinstance(value, Exception) and value.args and isinstance(value.args[0], Words):
        value = value.args[0]
    if isinstance(value, Message):
        value = str(value)
    if not isinstance(value, Words) or not value or language() == ENGLISH:
        return value
    catalogue = translations(language())
    if value.plural:
        template = catalogue.ngettext(value.template, value.plural, next(iter(value.values.values())))
    else:
        template = catalogue.gettext(value.template)
    values = {name: words(each) for name, each in value.values.items()}
    return _FORMATTER.vformat(template, (), values) if values else template


def translated(text: str) -> str:
    """Return the words for a name that is stored as text, such as that of a role; the text itself if it is none."""
    return str(words(Words(text)))


def capitalize_first(text: str) -> str:
    text = words(text)
    return text[:1].upper() + text[1:]


def lower_first(text: str) -> str:
    text = words(text)
    return text[:1].lower() + text[1:]


def number(value: float, form: str = ",") -> str:
    """Format a number: "10,033"."""
    return format(value, form) if language() == ENGLISH else _FORMATTER.format_field(value, form)


def moment(at: datetime) -> str:
    """Format a date and time to the minute, in UTC."""
    pattern = translations(language()).gettext("d MMM y, HH:mm 'UTC'")
    return str(format_datetime(at, pattern, locale=language()))


def other_languages() -> list[tuple[str, str, str]]:
    """Return code, name and address of this page in each other language; a form's answer leads to the home page."""
    path = f"{request.script_root}/{request.path.lstrip('/') if request.method == 'GET' else ''}"
    query = [(name, each) for name, each in request.args.items(multi=True) if name != "lang"]
    return [
        (code, name, f"{path}?{urlencode([*query, ('lang', code)])}")
        for code, name in LANGUAGES.items()
        if code != language()
    ]


def in_english() -> Markup:
    """Return the attribute of an element with English content, as claims and evidence are; "" on an English page."""
    return Markup("") if language() == ENGLISH else Markup(' lang="en"')


def in_own() -> Markup:
    """Return the attribute of words of the page inside such an element."""
    return Markup("") if language() == ENGLISH else Markup(' lang="{}"').format(language())


def _filled(text: str, values: dict[str, Any]) -> Markup:
    return Markup(text) % {name: words(each) for name, each in values.items()}


def _gettext(text: str, /, **values: Any) -> Markup:
    return _filled(translations(language()).gettext(text), values)


def _ngettext(text: str, plural: str, num: int, /, **values: Any) -> Markup:
    return _filled(translations(language()).ngettext(text, plural, num), {"num": num, **values})


class _InLanguage(NodeTransformer):
    """Puts words, and what else depends on nothing but the language, into a template as text."""

    def visit_Output(self, node: nodes.Output) -> nodes.Node:
        node.nodes = [part for each in node.nodes for part in self._parts(each) or [self.visit(each)]]
        return node

    def visit_Call(self, node: nodes.Call) -> nodes.Node:
        parts = self._parts(node)
        if len(parts) > 1:  # outside of an output, which shows each part as it does every value
            return nodes.Concat([nodes.Filter(each, "words", [], [], None, None) for each in parts])
        return parts[0] if parts else self.generic_visit(node)

    def _parts(self, node: nodes.Node) -> list[nodes.Expr]:
        """Return the text and the parameters, in their order, of a call of gettext with a fixed text; else []."""
        if not isinstance(node, nodes.Call) or not isinstance(node.node, nodes.Name):
            return []
        if fixed := _OF_LANGUAGE.get(node.node.name):
            return [nodes.Const(fixed())]
        if node.node.name not in ("_", "gettext") or not isinstance(node.args[0], nodes.Const):
            return []
        given = {each.key: self.visit(each.value) for each in node.kwargs}
        pieces = _PARAMETER.split(translations(language()).gettext(node.args[0].value))
        return [
            given[piece] if at % 2 else nodes.Const(Markup(piece.replace("%%", "%"))) for at, piece in enumerate(pieces)
        ]


class Templates(Environment):
    """Templates that are compiled once for each language, with its words in them. `code` is that of the language."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.code = ""
        self._by_code: dict[str, Templates] = {}

    def get_template(self, name: str | Template, *args: Any, **options: Any) -> Template:
        if self.code:
            return super().get_template(name, *args, **options)
        code = language()
        if code not in self._by_code:
            own = self.overlay()
            own.code = code
            self._by_code[code] = own
        return self._by_code[code].get_template(name, *args, **options)

    def _generate(self, source: nodes.Template, *args: Any, **options: Any) -> str:
        return super()._generate(_InLanguage().visit(source), *args, **options)


_PARAMETER = re.compile(r"%\((\w+)\)s")
_OF_LANGUAGE = {each.__name__: each for each in (language, in_english, in_own)}


def _shown(value: Any) -> Any:
    value = value if type(value) in (str, Markup) else words(value)
    return escape_direction(value) if isinstance(value, str) and not value.isascii() else value


def add_languages(app: Flask) -> None:
    """Translate what templates show, and keep a visitor's choice in a cookie."""
    app.jinja_environment = Templates
    app.jinja_options = {"finalize": _shown, "extensions": ["jinja2.ext.i18n"]}
    environment = app.jinja_env
    environment.newstyle_gettext = True  # type: ignore[attr-defined]
    environment.globals.update(_=_gettext, gettext=_gettext, ngettext=_ngettext, other_languages=other_languages)
    mine = (words, translated, capitalize_first, lower_first, number, moment)
    environment.filters.update({each.__name__: each for each in mine})

    @app.after_request
    def keep_language(response: Response) -> Response:
        if response.mimetype in ("text/html", "text/event-stream"):
            response.vary.update(("Accept-Language", "Cookie"))
        if (chosen := request.args.get("lang")) in LANGUAGES and response.mimetype == "text/html":
            response.set_cookie(COOKIE, chosen, COOKIE_SECONDS, samesite="Lax", secure=request.is_secure, httponly=True)
        return response
