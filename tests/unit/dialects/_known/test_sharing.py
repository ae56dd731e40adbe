"""What of a message requests can share: every kind of part."""

from __future__ import annotations

import pytest

from interlingua.dialects._known.sharing import can_be_shared
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    Citation,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    Part,
    RefusalPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)

CITED = TextPart("See.", annotations=(Citation("google", {"uri": "x"}),))


@pytest.mark.parametrize(
    ("part", "can_be"),
    [
        (TextPart("Hi."), True),
        (CITED, False),
        (ThinkingPart("Hm."), True),
        (ToolCall("c", "look", "{}"), True),
        (ToolResult("c", "look", "4"), True),
        (ToolResult("c", "look", Json({"at": 1})), True),
        (ToolResult("c", "look", (TextPart("4"), TextPart("5"))), True),
        (ToolResult("c", "look", (TextPart("4"), CITED)), False),
        (ToolResult("c", "look", (ImagePart(b"", "image/png"),)), False),
        (ImagePart(b"", "image/png"), False),
        (AudioPart(b"", "audio/wav"), False),
        (DocumentPart(b"", "text/plain"), False),
        (RefusalPart("No."), False),
        (BrokenToolCall("c", "look", "{", "cut_off"), False),
        (OpaquePart("google", "new", {}), False),
    ],
    ids=repr,
)
def test_only_what_can_be_made_read_only_is_shared(part: Part, can_be: bool) -> None:
    """Text, thinking, calls and results of text; media, annotations and what nobody knows are not."""
    assert can_be_shared(part) is can_be
