"""Issue 4, point 2: results of MCP servers as ours, and ours as theirs."""

from __future__ import annotations

import base64
from typing import Any

import pytest

pytest.importorskip("mcp_types")

from mcp_types import CallToolResult

import interlingua as il
from interlingua.tools.mcp_results import decode_result, encode_result
from interlingua.tools.outcome import Outcome

DATA = base64.b64encode(b"bytes").decode()
TEXT = {"type": "text", "text": "hello"}
IMAGE = {"type": "image", "data": DATA, "mimeType": "image/png"}


def decoded(*content: dict[str, Any], **members: Any) -> Outcome:
    """What a result holds, from the wire."""
    return decode_result(CallToolResult.model_validate({"content": list(content), **members}))


def resource(**members: Any) -> dict[str, Any]:
    """A resource itself."""
    return {"type": "resource", "resource": {"uri": "file:///a/b.bin", **members}}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([], ""),
        ([TEXT], "hello"),
        ([TEXT, TEXT], (il.TextPart("hello"), il.TextPart("hello"))),
        ([IMAGE], (il.ImagePart(b"bytes", "image/png"),)),
        ([TEXT, IMAGE], (il.TextPart("hello"), il.ImagePart(b"bytes", "image/png"))),
        ([{"type": "audio", "data": DATA, "mimeType": "audio/wav"}], (il.AudioPart(b"bytes", "audio/wav"),)),
        ([resource(text="inside")], "inside"),
        ([resource(blob=DATA, mimeType="image/gif")], (il.ImagePart(b"bytes", "image/gif"),)),
        ([resource(blob=DATA, mimeType="audio/mpeg")], (il.AudioPart(b"bytes", "audio/mpeg"),)),
        ([resource(blob=DATA)], (il.DocumentPart(b"bytes", "application/octet-stream", "b.bin"),)),
        (
            [{"type": "resource_link", "uri": "file:///c", "name": "c", "mimeType": "text/plain", "description": "d"}],
            "Resource c: file:///c, text/plain, d",
        ),
        ([{"type": "resource_link", "uri": "file:///c", "name": "c"}], "Resource c: file:///c"),
    ],
)
def test_blocks(content: list[dict[str, Any]], expected: object) -> None:
    """One text is text, several are parts; media are parts; a link says where."""
    assert decoded(*content) == Outcome(expected)  # pyright: ignore[reportArgumentType]  # one of its forms
    assert decoded(*content, isError=True).is_error


@pytest.mark.parametrize(
    ("content", "structured", "expected"),
    [
        ([{"type": "text", "text": '{"a":1}'}], {"a": 1}, il.Json({"a": 1})),
        ([], {"a": 1}, il.Json({"a": 1})),
        ([TEXT], {"result": "hello"}, "hello"),
        ([TEXT, TEXT], {"result": ["hello", "hello"]}, il.Json({"result": ["hello", "hello"]})),
        ([TEXT, IMAGE], {"a": 1}, (il.TextPart("hello"), il.ImagePart(b"bytes", "image/png"))),
    ],
)
def test_structured_content(content: list[dict[str, Any]], structured: dict[str, Any], expected: object) -> None:
    """It takes the place of texts, which say the same; media say more than it."""
    found = decoded(*content, structuredContent=structured)
    assert found == Outcome(expected)  # pyright: ignore[reportArgumentType]  # one of its forms


def test_bytes_that_are_none() -> None:
    """What is not base64 is an error that the model reads."""
    with pytest.raises(il.ToolError, match="the tool gave bytes that are not base64"):
        decoded({**IMAGE, "data": "§"})
    with pytest.raises(il.ToolError, match="the tool gave bytes that are not base64"):
        decoded({**IMAGE, "data": "abc"})


def test_numbers_that_json_has_not() -> None:
    """They are refused before they stand in a conversation."""
    with pytest.raises(il.UsageError, match=r"NaN|nan|finite"):
        decoded(structuredContent={"a": float("nan")})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", []),
        ("hello", [TEXT]),
        (il.Json({"a": 1}), [{"type": "text", "text": '{"a":1}'}]),
        (il.Json([1]), [{"type": "text", "text": "[1]"}]),
        ((il.TextPart("hello"), il.Json(1)), [TEXT, {"type": "text", "text": "1"}]),
        ((il.ImagePart(b"bytes", "image/png"),), [IMAGE]),
        ((il.AudioPart(b"bytes", "audio/wav"),), [{"type": "audio", "data": DATA, "mimeType": "audio/wav"}]),
        (
            (il.DocumentPart(b"bytes", "application/pdf", "a.pdf"), il.DocumentPart(b"bytes", "text/plain")),
            [
                {
                    "type": "resource",
                    "resource": {"uri": f"document:///{name}", "mimeType": kind, "blob": DATA},
                }
                for name, kind in (("a.pdf", "application/pdf"), ("document", "text/plain"))
            ],
        ),
        (
            (il.OpaquePart("google", "video", {}),),
            [{"type": "text", "text": "A part that only google can read: video"}],
        ),
    ],
)
def test_our_results_on_their_wire(content: Any, expected: list[dict[str, Any]]) -> None:
    """Each form has its block; a JSON object is structured content, too."""
    wire = encode_result(il.ToolResult("a", "f", content, is_error=True)).model_dump(by_alias=True, exclude_none=True)
    assert wire["content"] == expected
    assert wire["isError"] is True
    assert wire.get("structuredContent") == ({"a": 1} if content == il.Json({"a": 1}) else None)
