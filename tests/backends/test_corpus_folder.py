"""A folder of text, Markdown, HTML and PDF: which files are read, the extracted text, and skipped bad files."""

from __future__ import annotations

import io
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from app.backends.corpus.formats import entries, files_in, passages_of
from app.backends.corpus.pdf import read_pdf
from app.backends.corpus.word import MAX_XML_BYTES
from app.backends.fetch.sandbox import UnreadableSource
from app.text.clean import clean_line
from tests.word_files import paragraph, word_file

PAGE = """<html><head><title>The Thames</title><script>let menu = 1</script></head><body><nav>Home About</nav>
<article><p>The Thames is a river that flows through southern England, and through London on its way to the sea.</p>
<p>It is the longest river that is entirely in England, and the second longest in the United Kingdom.</p></article>
</body></html>"""


def pdf(*pages: str, title: str = "", packed: bytes | None = None) -> bytes:
    """A PDF with a line of text on each page; `packed` replaces the last page's content stream, deflated."""
    writer = PdfWriter()
    writer.add_metadata({"/Title": title})
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    fonts = DictionaryObject({NameObject("/F1"): DictionaryObject({NameObject(k): NameObject(font[k]) for k in font})})
    for number, text in enumerate(pages, 1):
        page, content = writer.add_blank_page(612, 792), DecodedStreamObject()
        is_packed = packed is not None and number == len(pages)
        content.set_data(packed if is_packed else f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode())
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        page[NameObject("/Contents")] = writer._add_object(content.flate_encode() if is_packed else content)
    writer.write(out := io.BytesIO())
    return out.getvalue()


@pytest.fixture
def folder(tmp_path):
    return make(tmp_path / "folder")


def make(path: Path) -> Path:
    path.mkdir()
    return path


def read(folder: Path) -> dict[str, tuple[str, str]]:
    """Return (title, text) for each file, or ("", problem)."""
    found = {}
    for entry in entries(folder, "folder", folder.parent):
        document = entry.document
        found[entry.where] = ("", entry.problem) if document is None else (document.title, text_of(document))
    return found


def text_of(document) -> str:
    return clean_line(" ".join(document.paragraphs))


class TestFiles:
    def test_known_files_are_found_in_all_subfolders_in_a_fixed_order(self, folder):
        make(folder / "b")
        for name in ("c.txt", "b/a.MD", "b/z.html", "a.pdf", "picture.png", "noext"):
            (folder / name).write_text("x")
        assert [name for _, name in files_in(folder)] == ["a.pdf", "c.txt", "b/a.MD", "b/z.html"]

    def test_hidden_files_and_folders_are_skipped(self, folder):
        make(folder / ".git")
        for name in (".hidden.txt", ".git/notes.txt", "shown.txt"):
            (folder / name).write_text("x")
        assert [name for _, name in files_in(folder)] == ["shown.txt"]

    def test_symlinks_are_followed_but_not_in_cycles(self, folder, tmp_path):
        (make(tmp_path / "elsewhere") / "far.txt").write_text("x")
        (folder / "linked").symlink_to(tmp_path / "elsewhere")
        (tmp_path / "elsewhere" / "back").symlink_to(folder)
        (folder / "self").symlink_to(".")
        (folder / "dead.txt").symlink_to("nowhere")
        (folder / "round.txt").symlink_to("round.txt")
        assert [name for _, name in files_in(folder)] == ["linked/far.txt"]

    def test_special_files_are_skipped_without_blocking(self, folder):
        os.mkfifo(folder / "pipe.txt")
        assert list(files_in(folder)) == []


class TestText:
    @pytest.mark.parametrize("text", [b"fine\ncaf\xe9\n", "Grüße".encode("utf-16"), b"fine\ncut \xe2\x82"])
    def test_text_that_is_not_utf8_is_reported_with_its_line(self, folder, text):
        (folder / "notes.txt").write_bytes(text)
        line = 2 if text.startswith(b"fine") else 1
        assert read(folder) == {"notes.txt": ("", f"is not UTF-8 (line {line})")}

    def test_memory_does_not_grow_with_the_file_even_for_a_single_line(self, folder):
        def most(size: int) -> int:
            (folder / "large.txt").write_text("and the river flows on " * (size // 23))
            tracemalloc.start()
            (entry,) = entries(folder, "folder", folder)
            for _ in passages_of(entry.document.paragraphs):
                pass
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return peak

        most(1000)  # loads the sentence splitter
        assert most(800_000) < most(100_000) + 100_000


class TestMarkdown:
    def test_markup_is_removed_and_the_first_heading_is_the_title(self, folder):
        (folder / "a.md").write_text(
            "---\nlayout: post\n---\n# The *Thames*\n\nA [river](http://a/b) in\n**England** `code`.\n\n"
            "- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## Course\n\n<b>bold</b> text ![alt](x.png)\n"
        )
        assert read(folder)["a.md"] == ("The Thames", "A river in England code. one two a b 1 2 Course bold text")

    @pytest.mark.parametrize(
        ("written", "text"),
        [
            ("It made 10<sup>6</sup> bricks.", "It made 10^6 bricks."),
            ("In 1890[^1] it sank.\n\n[^1]: A note.", "In 1890 it sank. A note."),
            ("It employed ~~40~~ 60 people.", "It employed 60 people."),
            ("It employed <del>40</del> 60 people.", "It employed 60 people."),
            ("[[The Thames|It]] is in [[England]]. ![[map.png]]", "It is in England."),
            ("<p hidden>secret</p>\n\nShown.", "Shown."),
        ],
    )
    def test_superscripts_notes_and_struck_out_text_are_read_as_in_html(self, folder, written, text):
        (folder / "a.md").write_text(written)
        assert read(folder)["a.md"][1] == text

    def test_front_matter_with_the_line_ends_of_windows_is_removed(self, folder):
        (folder / "a.md").write_bytes(b"---\r\nlayout: post\r\n---\r\n# The Thames\r\n\r\nA river.\r\n")
        assert read(folder)["a.md"] == ("The Thames", "A river.")


class TestHtml:
    def test_the_main_text_is_extracted_without_navigation(self, folder):
        (folder / "a.html").write_text(PAGE)
        title, text = read(folder)["a.html"]
        assert title == "The Thames"
        assert text.startswith("The Thames is a river")
        assert not {"menu", "Home"} & set(text.split())

    @pytest.mark.parametrize(("declared", "encoding"), [("windows-1252", "cp1252"), ("", "utf-16")])
    def test_the_encoding_that_the_page_declares_or_marks_is_used(self, folder, declared, encoding):
        page = PAGE.replace("<head>", f'<head><meta charset="{declared}">').replace("London", "Zürich")
        (folder / "a.html").write_text(page, encoding=encoding)
        assert "Zürich" in read(folder)["a.html"][1]

    def test_a_declared_codec_that_is_no_character_set_is_not_used(self, folder):
        page = PAGE.replace("<head>", '<head><meta charset="cp037">').replace("London", "Zürich")
        (folder / "a.html").write_bytes(page.encode("latin-1"))
        assert read(folder)["a.html"] == ("", "is not in UTF-8, nor in an encoding that it declares")

    @pytest.mark.parametrize("name", ["a.html", "a.md"])
    def test_a_file_too_large_to_parse_is_reported(self, folder, name):
        with (folder / name).open("wb") as file:
            file.truncate(9 * 1024 * 1024)
        assert read(folder)[name] == ("", "is larger than 8 MB")


class TestPdf:
    def test_the_text_of_every_page_is_read(self, folder):
        (folder / "a.pdf").write_bytes(pdf("The Thames flows", "through London.", title="Rivers"))
        assert read(folder) == {"a.pdf": ("Rivers", "The Thames flows through London.")}

    @pytest.mark.parametrize(
        ("content", "text"),
        [
            (b"(made 10) Tj /F1 7 Tf 5 Ts (6) Tj 0 Ts /F1 12 Tf ( bricks) Tj", "made 10^6 bricks"),
            (b"(made 10) Tj /F1 7 Tf 43 5 Td (6) Tj /F1 12 Tf 5 -5 Td ( bricks) Tj", "made 10^6 bricks"),
            (b"(in 1890) Tj /F1 7 Tf 5 Ts (12) Tj 0 Ts /F1 12 Tf ( there) Tj", "in 1890 there"),
            (b"(5 km) Tj /F1 7 Tf 5 Ts (2) Tj 0 Ts /F1 12 Tf ( there) Tj", "5 km2 there"),
            (b"(in Paris.) Tj /F1 7 Tf 5 Ts (12) Tj 0 Ts /F1 12 Tf ( There) Tj", "in Paris. There"),
            (b"(10 and 6) Tj /F1 7 Tf (66) Tj", "10 and 666"),
        ],
    )
    def test_a_raised_number_never_joins_other_digits_and_a_footnotes_is_left_out(self, folder, content, text):
        (folder / "a.pdf").write_bytes(pdf("x", packed=b"BT /F1 12 Tf 72 720 Td " + content + b" ET"))
        assert read(folder)["a.pdf"][1] == text

    def test_a_password_protected_pdf_is_reported(self, folder):
        writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf("Secret"))))
        writer.encrypt("word", algorithm="RC4-128")
        writer.write(folder / "a.pdf")
        assert read(folder)["a.pdf"] == ("", "is locked by a password")

    @pytest.mark.parametrize("content", [b"", b"garbage", b"%PDF-1.4\n%%EOF", pdf("Cut off")[:200]])
    def test_a_broken_pdf_is_reported_and_the_others_are_read(self, folder, content):
        (folder / "a.pdf").write_bytes(content)
        (folder / "b.txt").write_text("Fine.")
        assert read(folder) == {"a.pdf": ("", "is no PDF that can be read"), "b.txt": ("b", "Fine.")}

    def test_a_pdf_that_takes_too_long_is_killed(self, folder):
        (folder / "a.pdf").write_bytes(pdf("Slow"))
        with pytest.raises(UnreadableSource, match=r"takes longer than 0\.01 seconds"):
            read_pdf(folder / "a.pdf", folder / "text", seconds=0.01)

    def test_a_pdf_that_needs_too_much_memory_fails_without_ending_this_process(self, folder):
        bomb = pdf("Bomb", packed=b"BT (text) Tj ET\n" * 2_000_000)
        (folder / "a.pdf").write_bytes(bomb)
        assert len(bomb) < 1_000_000
        with pytest.raises(UnreadableSource):
            read_pdf(folder / "a.pdf", folder / "text", memory=256 * 1024**2)


NESTED = """<!DOCTYPE w:document [<!ENTITY a0 "bomb">{}]>""".format(
    "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 11))
)


class TestWord:
    def test_paragraphs_cells_and_insertions_are_read_and_deletions_are_not(self, folder):
        cell = f"<w:tbl><w:tr><w:tc>{paragraph('In a cell.')}</w:tc></w:tr></w:tbl>"
        changed = "<w:ins><w:r><w:t>April.</w:t></w:r></w:ins><w:del><w:r><w:delText>May.</w:delText></w:r></w:del>"
        met = f"<w:p><w:r><w:t>They met in </w:t></w:r>{changed}</w:p>"
        (folder / "the_minutes.docx").write_bytes(word_file(body=met + cell))
        assert read(folder) == {"the_minutes.docx": ("the minutes", "They met in April. In a cell.")}

    @pytest.mark.parametrize(
        ("before", "style", "run", "text"),
        [
            ("made 10", '<w:vertAlign w:val="superscript"/>', "6", "made 10^6 bricks"),
            ("in 1890", '<w:vertAlign w:val="superscript"/>', "12", "in 1890 bricks"),
            ("made 60", "<w:strike/>", " or 40", "made 60 bricks"),
            ("made CO", '<w:vertAlign w:val="subscript"/>', "2", "made CO2 bricks"),
            ("made 60", "<w:dstrike/>", " or 40", "made 60 bricks"),
            ("made 60", "<w:vanish/>", " or 40", "made 60 bricks"),
            ("made 60", '<w:strike w:val="0"/>', " or 40", "made 60 or 40 bricks"),
        ],
    )
    def test_superscripts_notes_and_struck_out_text_are_read_as_in_html(self, folder, before, style, run, text):
        runs = f"<w:r><w:t>{before}</w:t></w:r><w:r><w:rPr>{style}</w:rPr><w:t xml:space='preserve'>{run}</w:t></w:r>"
        body = f"<w:p>{runs}<w:r><w:t xml:space='preserve'> bricks</w:t></w:r></w:p>"
        (folder / "a.docx").write_bytes(word_file(body=body))
        assert read(folder)["a.docx"][1] == text

    def test_line_ends_and_hyphens_inside_a_run_part_words(self, folder):
        run = "<w:t>The red</w:t><w:cr/><w:t>river is 1</w:t><w:noBreakHyphen/><w:t>24 feet deep.</w:t>"
        (folder / "a.docx").write_bytes(word_file(body=f"<w:p><w:r>{run}</w:r></w:p>"))
        assert " ".join(read(folder)["a.docx"][1].split()) == "The red river is 1-24 feet deep."

    def test_a_document_is_read_whose_parts_have_backslashes_in_their_names(self, folder):
        written = word_file("The river.")
        assert written.count(b"word/document.xml") == 2
        (folder / "a.docx").write_bytes(written.replace(b"word/document.xml", b"word\\document.xml"))
        assert read(folder)["a.docx"][1] == "The river."

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            (word_file(" "), "holds no text"),
            (b"", "is no Word document"),
            (b"\xd0\xcf\x11\xe0 an old or encrypted one", "is no Word document"),
            (word_file("Cut off")[:-40], "is no Word document"),
            (word_file("&a10;", prologue=NESTED), "is no Word document"),
        ],
        ids=["empty", "nothing", "old", "cut", "nested entities"],
    )
    def test_a_broken_or_hostile_document_is_reported_and_the_others_are_read(self, folder, content, problem):
        (folder / "a.docx").write_bytes(content)
        (folder / "b.txt").write_text("Fine.")
        found = read(folder)
        assert problem in found["a.docx"][1] and found["b.txt"] == ("b", "Fine.")

    def test_a_document_that_unpacks_to_more_than_is_allowed_is_not_unpacked(self, folder):
        (folder / "a.docx").write_bytes(bomb := word_file("a" * MAX_XML_BYTES))
        assert len(bomb) < 1_000_000
        assert "is larger, unpacked" in read(folder)["a.docx"][1]


@given(
    content=st.binary(max_size=200) | st.text(max_size=200).map(str.encode),
    suffix=st.sampled_from([".txt", ".md", ".html"]),
)
@example(content=b"[" * 3000, suffix=".md")
@example(content=b"> " * 3000, suffix=".md")
@example(content=b"<div>" * 3000, suffix=".html")
def test_arbitrary_bytes_at_most_exclude_their_file(tmp_path_factory, content, suffix):
    folder = tmp_path_factory.mktemp("any")
    (folder / f"any{suffix}").write_bytes(content)
    assert list(read(folder)) == [f"any{suffix}"]
