"""Files as inputs: which ones a pattern names, and what each becomes."""

from __future__ import annotations

import os
from email.message import EmailMessage
from pathlib import Path
from typing import Any, cast

import pytest

import interlingua as il
from interlingua.media import files as module
from interlingua.media.files import InputFile

PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)
PDF = b"%PDF-1.7\n" + bytes(16)
WAV = b"RIFF\x00\x00\x00\x00WAVEfmt " + bytes(16)


def _parts(folder: Path, name: str, data: bytes) -> tuple[object, ...]:
    path = folder / name
    path.write_bytes(data)
    return InputFile(str(path)).parts()


def _mail(**more: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "Kari <kari@example.org>"
    mail["To"] = "invoices@example.org"
    mail["Subject"] = "Rechnung für März"
    for name, text in more.items():
        mail[name] = text
    return mail


HEAD = "From: Kari <kari@example.org>\nTo: invoices@example.org\nSubject: Rechnung für März"


@pytest.mark.parametrize(
    ("name", "data", "part"),
    [
        ("a.txt", "grüße\n".encode(), il.TextPart("grüße\n")),
        ("a.md", b"# Title", il.TextPart("# Title")),
        ("a.json", b'{"a": 1}', il.TextPart('{"a": 1}')),
        ("bom.txt", b"\xef\xbb\xbfhello", il.TextPart("hello")),
        ("no-ending", b"hello", il.TextPart("hello")),
        ("a.png", PNG, il.ImagePart(PNG, "image/png")),
        ("lies.txt", PNG, il.ImagePart(PNG, "image/png")),
        ("a.pdf", PDF, il.DocumentPart(PDF, "application/pdf")),
        ("a.wav", WAV, il.AudioPart(WAV, "audio/wav")),
    ],
)
def test_what_a_file_becomes(tmp_path: Path, name: str, data: bytes, part: object) -> None:
    """The content decides: text is a text, images, PDFs and audio are their parts."""
    assert _parts(tmp_path, name, data) == (part,)


def test_a_mail_is_a_text(tmp_path: Path) -> None:
    """Headers that a reader wants, decoded, and the body."""
    mail = _mail(**{"Date": "Sun, 22 Nov 2026 03:00:00 +0000", "X-Spam": "no"})
    mail.set_content("Betrag: 30 €\n")
    head = HEAD.replace("\nSubject", "\nDate: Sun, 22 Nov 2026 03:00:00 +0000\nSubject")
    assert _parts(tmp_path, "a.eml", mail.as_bytes()) == (il.TextPart(f"{head}\n\nBetrag: 30 €"),)
    assert _parts(tmp_path, "B.EML", b"no header\n\nbody\n") != ()


def test_a_mail_of_html_alone_is_read_without_its_tags(tmp_path: Path) -> None:
    """A line for each block, no scripts and styles; where there is plain text as well, that is taken."""
    html = "<style>p {}</style><p>Sum:&nbsp;<b>30</b></p><script>x()</script><ul><li>one<li>two</ul>"
    mail = _mail()
    mail.set_content(html, subtype="html")
    assert _parts(tmp_path, "a.eml", mail.as_bytes()) == (il.TextPart(f"{HEAD}\n\nSum: 30\none\ntwo"),)
    mail = _mail()
    mail.set_content("plain")
    mail.add_alternative(html, subtype="html")
    assert _parts(tmp_path, "a.eml", mail.as_bytes()) == (il.TextPart(f"{HEAD}\n\nplain"),)


def test_attachments_are_parts_of_their_own(tmp_path: Path) -> None:
    """An image and a text are there; what is not read is named, so that nothing is left out in silence."""
    mail = _mail()
    mail.set_content("See attached.")
    mail.add_attachment(PNG, maintype="application", subtype="octet-stream", filename="scan.png")
    mail.add_attachment("a;b", subtype="csv", filename="rows.csv")
    mail.add_attachment(b"\x00\x01", maintype="application", subtype="zip", filename="all.zip")
    mail.add_attachment(_mail())
    assert _parts(tmp_path, "a.eml", mail.as_bytes()) == (
        il.TextPart(
            f"{HEAD}\n\nSee attached.\n\n[attachment all.zip: application/zip, not read]\n"
            "[attachment without a name: message/rfc822, not read]"
        ),
        il.ImagePart(PNG, "image/png"),
        il.TextPart("[attachment rows.csv]\na;b\n"),
    )


def test_a_mail_in_a_charset_that_nobody_knows(tmp_path: Path) -> None:
    """It is read as far as it goes; a mail without a body is its headers."""
    data = b"Subject: x\nContent-Type: text/plain; charset=klingon\n\nbody\n"
    assert _parts(tmp_path, "a.eml", data) == (il.TextPart("Subject: x\n\nbody"),)
    image = b"Subject: x\nContent-Type: image/png\n\n"
    assert _parts(tmp_path, "b.eml", image) == (il.TextPart("Subject: x"),)


def test_what_is_no_input_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unknown bytes, an empty file, a missing one and one that is too large: one sentence each."""
    with pytest.raises(il.UsageError) as caught:
        _parts(tmp_path, "a.bin", b"\x00\x01\x02")
    assert caught.value.message == (
        f"the file {tmp_path}/a.bin is none of the kinds known here: mail, text in UTF-8, an image, a PDF or audio"
    )
    with pytest.raises(il.UsageError, match=r"empty\.txt is empty"):
        _parts(tmp_path, "empty.txt", b"")
    with pytest.raises(il.UsageError, match=r"none\.txt cannot be read: No such file or directory"):
        InputFile(str(tmp_path / "none.txt")).parts()
    with pytest.raises(il.UsageError, match="cannot be read: not a usable path"):
        InputFile("a\x00b").parts()
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 4)
    with pytest.raises(il.LimitExceededError, match=r"big\.txt is larger than 4 bytes"):
        _parts(tmp_path, "big.txt", b"12345")


def test_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a pattern by name, each once, folders left out; `**` goes into folders; a list of several."""
    monkeypatch.chdir(tmp_path)
    for name in ("b.txt", "a.txt", "c.md", "sub/d.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    assert [file.key for file in il.files("*")] == ["a.txt", "b.txt", "c.md"]
    assert [file.key for file in il.files("**/*.txt")] == ["a.txt", "b.txt", "sub/d.txt"]
    assert [file.key for file in il.files(["c.md", Path("a.txt"), "*.txt"])] == ["c.md", "a.txt", "b.txt"]
    assert [file.key for file in il.files(str(tmp_path / "sub" / "*"))] == [f"{tmp_path}/sub/d.txt"]
    assert [file.path for file in il.files(Path("nowhere.txt"))] == ["nowhere.txt"]
    with pytest.raises(il.UsageError, match=r"no file is named by \*\.eml"):
        il.files("*.eml")
    for wrong in (3, ["c.md", 3]):
        with pytest.raises(il.UsageError) as caught:
            il.files(cast("Any", wrong))
        assert caught.value.message == "il.files(…) takes paths and patterns such as 'mails/*.eml', not an int"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert [file.path for file in il.files("~/c.*")] == [os.fspath(tmp_path / "c.md")]
