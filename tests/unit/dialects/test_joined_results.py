"""What stands beside media in a tool's result, where the media go into a message of the user: kept or noted."""

from __future__ import annotations

import pytest

from interlingua.dialects._contract import EncodeOptions, Quirks, Target
from interlingua.dialects.table import get_dialect
from interlingua.types.content import ImagePart, Json, OpaquePart, TextPart, ToolCall, ToolResult
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.wire.json import decode_any

PICTURE = ImagePart(data=b"\x89PNG\r\n\x1a\n", media_type="image/png")
TARGET = Target(model="m", quirks=Quirks(result_media=False, output_media=False))
HERE = "/messages/1/parts/0/content"


def noted(dialect: str, *parts: TextPart | OpaquePart | Json) -> tuple[str, list[str]]:
    """The body of a request whose result holds a picture and then `parts`, and its entries but for the first ones."""
    call, result = ToolCall("c1", "f", "{}"), ToolResult("c1", "f", (PICTURE, *parts))
    request = Request(messages=(Message("assistant", (call,)), Message("tool", (result,))))
    options = EncodeOptions(target=TARGET, allow=frozenset({"media_refs"}))
    encoded = get_dialect(dialect).encode_request(request, options)
    entries = [f"{change.code} {change.path}" for change in encoded.changes]
    assert f"result_media_moved {HERE}" in entries
    decode_any(encoded.body)
    return encoded.body.decode(), [one for one in entries if one.startswith(("extra", "cache", "media_ref"))]


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "google", "ollama", "cohere"])
def test_members_and_marks_of_a_text_beside_media_are_noted(dialect: str) -> None:
    """Members of another dialect, a mark for the cache and a foreign part, each with its own place."""
    text = TextPart("seen", cache="5m", extra={"bedrock": {"x_odd": 1}})
    body, entries = noted(dialect, Json({"a": 1}), text, OpaquePart("bedrock", "media_ref", {"odd": {}}))
    assert "seen" in body
    assert sorted(entries) == [
        f"cache_unsupported {HERE}/2/cache",
        f"extra_foreign {HERE}/2/extra/bedrock",
        f"media_refs {HERE}/3",
    ]


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses"])
def test_own_members_of_a_joined_text_are_noted_and_own_parts_move(dialect: str) -> None:
    """A text becomes one string with others, so that its members have no place; a part of the dialect moves along."""
    own = OpaquePart(dialect, "media_ref", {"type": "input_file" if "res" in dialect else "file", "file_id": "file-7"})
    body, entries = noted(dialect, TextPart("seen", extra={dialect: {"x_odd": 1}}), own)
    assert entries == [f"extra_foreign {HERE}/1/extra/{dialect}"]
    assert '"file-7"' in body
    assert "x_odd" not in body
