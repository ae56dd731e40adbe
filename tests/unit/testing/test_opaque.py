"""What travels unread: taken out and weighed."""

from __future__ import annotations

from interlingua.testing.opaque import stripped, weigh
from interlingua.types.content import OpaquePart, TextPart, ToolResult
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.tool import OpaqueTool, Tool

REQUEST = Request(
    messages=(
        Message(
            "user",
            (TextPart("Hi", extra={"d": {"x": 1}}), OpaquePart("d", "media_ref", {"url": "u"})),
            extra={"d": {"y": "zz"}},
        ),
        Message("tool", (ToolResult("c", "t", (TextPart("r"), OpaquePart("d", "odd", 12))),)),
    ),
    tools=(Tool(name="t", extra={"d": {"z": True}}), OpaqueTool("d", "web_search", {})),
    extra={"d": {"seedling": [1, 2], "message": {"odd": "x", "even": {}}}},
)


def test_everything_opaque_is_taken_out() -> None:
    """Extras are emptied and opaque parts and tools removed, at any depth; the rest stays."""
    assert stripped(REQUEST) == Request(
        messages=(
            Message("user", (TextPart("Hi"),)),
            Message("tool", (ToolResult("c", "t", (TextPart("r"),)),)),
        ),
        tools=(Tool(name="t"),),
    )


def test_everything_opaque_is_weighed() -> None:
    """Bytes of JSON are counted by path, positions as `*`."""
    assert weigh(REQUEST) == {
        "/messages/*/parts/*/extra/d/x": 1,
        "/messages/*/parts/*/media_ref": 11,
        "/messages/*/extra/d/y": 4,
        "/messages/*/parts/*/content/*/odd": 2,
        "/tools/*/extra/d/z": 4,
        "/tools/*/web_search": 2,
        "/extra/d/seedling": 5,
        "/extra/d/message/odd": 3,
        "/extra/d/message/even": 2,
    }
