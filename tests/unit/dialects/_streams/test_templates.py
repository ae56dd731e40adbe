"""Chunks that are read by comparing bytes: what becomes a template, and what is like it."""

from __future__ import annotations

import pytest

from interlingua.dialects._streams.templates import RANDOM, Ahead, Behind, Template, template_of
from interlingua.dialects.ollama import lines
from interlingua.dialects.openai_responses.template import numbered_template_of


def pieces(template: Template | None) -> tuple[bytes, bytes, bytes] | None:
    """The bytes around the text."""
    if template is None:
        return None
    return template.head, template.inside.before if isinstance(template.inside, Behind) else b"", template.tail


@pytest.mark.parametrize(
    ("data", "text", "found"),
    [
        (b'{"a":1,"content":"Hi"}', "Hi", (b'{"a":1,"content":', b"", b"}")),
        (b'{"content": "Hi"}', "Hi", (b'{"content": ', b"", b"}")),
        (b'{"content":""}', "", (b'{"content":', b"", b"}")),
        (rb'{"content":"a\"b\\"}', 'a"b\\', (b'{"content":', b"", b"}")),
        (rb'{"content":"\\\\"}', "\\\\", (b'{"content":', b"", b"}")),
        (rb'{"content":"\\\""}', '\\"', (b'{"content":', b"", b"}")),
        (rb'{"content":"\u00e9","x":2}', "é", (b'{"content":', b"", b',"x":2}')),
        (
            b'{"content":"Hi","obfuscation":"a1"}',
            "Hi",
            (b'{"content":', b',"obfuscation":"', b'"}'),
        ),
        (
            b'{"content":"Hi","obfuscation": "a1","x":2}',
            "Hi",
            (b'{"content":', b',"obfuscation": "', b'","x":2}'),
        ),
        (b'{"content":"Hi","obfuscation":7}', "Hi", (b'{"content":', b"", b',"obfuscation":7}')),
        (b'{"content":"Hi","obfuscation":""}', "Hi", None),
        (b'{"content":7}', "7", None),
        (b'{"content":"Hi', "Hi", None),
        (b'{"text":"Hi"}', "Hi", None),
        (b'{"text":""}', "", None),
        (b'{"content":\n"Hi"}', "Hi", None),
        (b'{"content":"Hi"\n}', "Hi", None),
        (b'{"content":"Ho","content":"Hi"}', "Hi", None),
    ],
)
def test_what_becomes_a_template(data: bytes, text: str, found: tuple[bytes, bytes, bytes] | None) -> None:
    """What stands before the one string, between it and the padding, and behind."""
    assert pieces(template_of(data, "content", text)) == found


@pytest.mark.parametrize(
    ("chunk", "text"),
    [
        (b'{"content":"Ho"}', "Ho"),
        (rb'{"content":"\u00e9\n"}', "é\n"),
        (b'{"content":"a","content":"b"}', None),
        (b'{"content":7}', None),
        (b'{"content":null}', None),
        (b'{"content":"Ho",}', None),
        (b'{"content":"Ho"}}', None),
        (b'{"contents":"Ho"}', None),
        (b'{"content":"\n"}', None),
        (b'{"content":}', None),
        (b'{"content":', None),
    ],
)
def test_what_is_like_a_template(chunk: bytes, text: str | None) -> None:
    """Exactly one JSON string in the gap."""
    template = Template(b'{"content":', b"}")
    assert template.text_in(chunk) == text


@pytest.mark.parametrize(
    ("chunk", "text"),
    [
        (b'{"content":"Ho","obfuscation":"xyz"}', "Ho"),
        (b'{"content":"Ho","obfuscation":""}', None),
        (b'{"content":"Ho","obfuscation":"x\\"y"}', None),
        (b'{"content":"Ho","obfuscation":"x","y":"z"}', None),
        (b'{"content":"Ho"}', None),
        (b'{"content":"o\\",\\"obfuscation\\":\\"a","obfuscation":"b"}', 'o","obfuscation":"a'),
    ],
)
def test_what_is_like_a_template_with_padding(chunk: bytes, text: str | None) -> None:
    """The padding may be any letters and digits, and stands behind the text."""
    assert Template(b'{"content":', b'"}', Behind(RANDOM, b',"obfuscation":"')).text_in(chunk) == text


# With a number


def numbered(template: Template | None) -> tuple[bytes, bytes, bytes] | None:
    """What stands before the number or the text, between the two, and behind."""
    inside = None if template is None else template.inside
    if template is None or not isinstance(inside, Ahead | Behind):
        return None
    return template.head, inside.middle if isinstance(inside, Ahead) else inside.before, template.tail


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (
            b'{"type":"x","sequence_number":7,"delta":"Hi","y":1}',
            (b'{"type":"x","sequence_number":', b',"delta":', b',"y":1}'),
        ),
        (b'{"type":"x","delta":"Hi","sequence_number":7}', (b'{"type":"x","delta":', b',"sequence_number":', b"}")),
        (b'{"sequence_number":7,"delta":"Ho"}', None),
        (b'{"delta":"Hi","sequence_number":7,"x":1}', None),
        (b'{"delta":"Hi"}', None),
        (b'{"sequence_number":7,"text":"Hi"}', None),
        (b'{"delta":"Hi","sequence_number":"7"}', None),
        (b'{"sequence_number":-7,"delta":"Hi"}', None),
    ],
)
def test_what_becomes_a_numbered_template(data: bytes, found: tuple[bytes, bytes, bytes] | None) -> None:
    """The number stands before the text, or is the last member."""
    assert numbered(numbered_template_of(data, "Hi")) == found


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'{"sequence_number":8,"delta":"Ho"}', "Ho"),
        (b'{"sequence_number":800,"delta":"Ho"}', "Ho"),
        (b'{"sequence_number":,"delta":"Ho"}', None),
        (b'{"sequence_number":8.5,"delta":"Ho"}', None),
        (b'{"sequence_number":8}', None),
        (b'{"sequence_numbers":8,"delta":"Ho"}', None),
    ],
)
def test_what_is_like_a_template_with_the_number_first(data: bytes, text: str | None) -> None:
    """Any whole number."""
    template = numbered_template_of(b'{"sequence_number":7,"delta":"Hi"}', "Hi")
    assert template is not None
    assert template.text_in(data) == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'{"delta":"Ho","sequence_number":8}', "Ho"),
        (b'{"delta":"Ho","sequence_number":12345678901234567890}', None),
        (b'{"delta":"Ho","sequence_number":1234567890123456789}', "Ho"),
        (b'{"delta":"Ho","sequence_number":}', None),
        (b'{"delta":"Ho","sequence_number":8]', None),
        (b'{"delta":"Ho"}', None),
        (b'{"delta":"\\"sequence_number\\":1","sequence_number":8}', '"sequence_number":1'),
    ],
)
def test_what_is_like_a_template_with_the_number_last(data: bytes, text: str | None) -> None:
    """Any whole number of not too many digits, and the end of the object."""
    template = numbered_template_of(b'{"delta":"Hi","sequence_number":7}', "Hi")
    assert template is not None
    assert template.text_in(data) == text


# Lines with a time


TIME = "2026-11-22T00:00:00Z"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (
            b'{"created_at":"%b","content":"Hi","x":1}',
            (b'{"created_at":"', b'","content":', b',"x":1}'),
        ),
        (b'{"created_at": "%b","content": "Hi"}', (b'{"created_at": "', b'","content": ', b"}")),
        (b'{"content":"Hi","created_at":"%b"}', None),
        (b'{"created_at":"%b","text":"Hi"}', None),
        (b'{"created":"%b","content":"Hi"}', None),
        (b'{"created_at":"%b","content":"H\\u0069"}', None),
        (b'{"created_at":"%b","content":"Ho","content":"Hi"}', None),
    ],
)
def test_what_becomes_a_template_of_lines(line: bytes, found: tuple[bytes, bytes, bytes] | None) -> None:
    """Up to the time, from there to the text, and what follows."""
    template = lines.template_of(line % TIME.encode(), TIME, "content", "Hi")
    inside = None if template is None else template.inside
    shown = (template.head, inside.middle, template.tail) if template and isinstance(inside, lines.Time) else None
    assert shown == found


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (b'{"created_at":"2026-11-22T00:00:01.5+01:00","content":"Ho"}', ("2026-11-22T00:00:01.5+01:00", "Ho")),
        (b'{"created_at":"","content":"Ho"}', ("", "Ho")),
        (b'{"created_at":"now","content":"Ho"}', None),
        (b'{"created_at":"2026","contents":"Ho"}', None),
        (b'{"created_at":"2026","content":7}', None),
        (b'{"created_at":"2026","content":"Ho","content":"He"}', None),
        (b'{"created_at":"2026","content":"Ho"},', None),
        (b'{"created_at":"2026', None),
        (b'{"created_at":"}', None),
    ],
)
def test_what_is_like_a_template_of_lines(line: bytes, read: tuple[str, str] | None) -> None:
    """A plain time and exactly one JSON string."""
    template = Template(b'{"created_at":"', b"}", lines.Time(b"2026-01", b'","content":'))
    text = template.text_in(line)
    assert (None if text is None else (lines.time_of(template, line), text)) == read
