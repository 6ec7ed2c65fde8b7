"""Tests for the character set of a page: declared, given by a byte order mark, wrong, or undeclared."""

from __future__ import annotations

import time

import pytest

from app.backends.fetch.pages import decode_page

FRENCH = "Déjà vu à l’Élysée : 12 €"
RUSSIAN = "Москва является столицей Российской Федерации и крупнейшим городом страны. " * 5


def meta(name: str) -> str:
    return f'<html><head><meta charset="{name}"></head><body>'


class TestDeclared:
    @pytest.mark.parametrize(
        ("charset", "page"),
        [
            ("utf-8", FRENCH),
            ("windows-1252", FRENCH),
            ("koi8-r", RUSSIAN),
            ("shift_jis", "東京は日本の首都である。"),
            ("gb2312", "北京是中华人民共和国的首都"),
            ("big5", "臺北是中華民國的首都"),
            ("euc-kr", "서울은 대한민국의 수도이다"),
            ("utf-16-le", FRENCH),
        ],
    )
    def test_the_header_or_else_the_markup_declares_the_charset(self, charset, page):
        assert decode_page(page.encode(charset), f'text/html; charset="{charset.upper()}"') == page
        if not charset.startswith("utf-16"):
            whole = meta(charset) + page
            assert decode_page(whole.encode(charset), "text/html") == whole

    @pytest.mark.parametrize(
        ("label", "charset"),
        [
            ("x-sjis", "shift_jis"),
            ("windows-31j", "shift_jis"),
            ("x-gbk", "gbk"),
            ("windows-949", "euc-kr"),
            ("x-mac-cyrillic", "mac-cyrillic"),
            ("x-euc-jp", "euc-jp"),
            ("dos-874", "cp874"),
        ],
    )
    def test_the_labels_of_the_web_for_a_charset_are_known(self, label, charset):
        word = {"gbk": "北京", "euc-kr": "서울", "mac-cyrillic": "Москва", "cp874": "กรุงเทพ"}.get(charset, "東京")
        assert decode_page(word.encode(charset), f"text/html; charset={label}") == word

    def test_a_legacy_declaration_is_understood(self):
        page = '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">Москва'
        assert decode_page(page.encode("cp1251")) == page
        page = '<?xml version="1.0" encoding="windows-1251"?>Москва'
        assert decode_page(page.encode("cp1251")) == page

    def test_the_header_takes_precedence_over_the_markup(self):
        assert decode_page((meta("koi8-r") + "Москва").encode("cp1251"), "text/html; charset=windows-1251").endswith(
            "Москва"
        )


class TestWrong:
    @pytest.mark.parametrize("mark", ["utf-8-sig", "utf-16"])
    def test_a_byte_order_mark_takes_precedence_over_declarations(self, mark):
        assert decode_page(FRENCH.encode(mark), "text/html; charset=koi8-r") == FRENCH

    @pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1251", "utf-16", "no-such-set", ""])
    def test_valid_utf_8_is_recognized_despite_its_declaration(self, declared):
        assert decode_page(FRENCH.encode(), f"text/html; charset={declared}") == FRENCH

    def test_the_markup_is_used_when_the_header_does_not_fit_the_bytes(self):
        assert decode_page((meta("windows-1251") + RUSSIAN).encode("cp1251"), "text/html; charset=utf-8").endswith(
            RUSSIAN
        )

    @pytest.mark.parametrize("name", ["punycode", "idna", "unicode_escape", "utf-7", "rot13", "zlib", "base64", "hex"])
    def test_codecs_that_are_not_charsets_are_not_used(self, name):
        started = time.thread_time()
        assert decode_page(b"plain " * 50_000 + b"\xe9", f"text/html; charset={name}").startswith("plain plain")
        assert time.thread_time() - started < 2


class TestUndeclared:
    @pytest.mark.parametrize("charset", ["cp1251", "iso8859-5", "mac-cyrillic", "koi8-r", "cp866"])
    def test_the_charset_of_an_undeclared_page_is_guessed(self, charset):
        assert decode_page(RUSSIAN.encode(charset)) == RUSSIAN

    @pytest.mark.parametrize("charset", ["euc-jp", "shift_jis"])
    @pytest.mark.parametrize("before", ["", "a"])
    def test_the_charset_of_a_long_page_is_guessed_wherever_its_sample_ends(self, charset, before):
        page = before + "<p>東京は日本の首都である。人口はおよそ千四百万人で、世界最大の都市圏の一つである。</p>" * 300
        assert decode_page(page.encode(charset)) == page

    def test_an_undeclared_page_in_utf_8_with_one_bad_byte_loses_only_that_byte(self):
        page = RUSSIAN * 100
        assert decode_page(page.encode() + b"\xff" + FRENCH.encode()) == f"{page}\ufffd{FRENCH}"

    def test_a_page_that_begins_with_ascii_alone_is_decoded_as_windows_1252(self):
        assert decode_page(b"plain " * 50_000 + b"\xe9") == "plain " * 50_000 + "é"
