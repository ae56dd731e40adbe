"""Where a conversation with marks for the prompt cache is parted."""

from __future__ import annotations

import pytest

from interlingua.dialects._known.marks import Parted, before_marks, is_marked
from interlingua.types.content import OpaquePart, TextPart, ToolCall, ToolResult
from interlingua.types.tool import Tool

MARK = b'"cache_control"'
ASKED = b'{"role":"user","content":"Look."}'
TURN = b'{"content":[],"role":"assistant"}'
MARKED = b'{"role":"user","content":[{"cache_control":{}}]}'


def parted(*messages: bytes, between: bytes = b",") -> tuple[bytes, bytes] | None:
    """The two arrays that one of these messages becomes."""
    text = b"[%b]" % between.join(messages)
    found = before_marks(text, MARK)
    return None if found is None else found.both(text)


def test_the_last_turn_of_the_model_before_the_mark_begins_the_rest() -> None:
    """What is marked answers it, so that it is read with it."""
    told = parted(ASKED, TURN, ASKED, TURN, MARKED, TURN, MARKED)
    assert told == (b"[%b,%b,%b]" % (ASKED, TURN, ASKED), b"[%b]" % b",".join((TURN, MARKED, TURN, MARKED)))


def test_a_turn_that_is_marked_itself_begins_the_rest() -> None:
    """There is no mark before it."""
    marked = TURN.replace(b"[]", b'[{"cache_control":{}}]')
    assert parted(ASKED, TURN, ASKED, marked) == (b"[%b,%b,%b]" % (ASKED, TURN, ASKED), b"[%b]" % marked)


def test_spaces_between_messages_are_left_where_they_stand() -> None:
    """Both halves are arrays as they are."""
    assert parted(ASKED, TURN, MARKED, between=b" ,\n ") == (b"[%b]" % ASKED, b"[%b ,\n %b]" % (TURN, MARKED))


def test_words_of_that_name_are_no_mark() -> None:
    """In a text each quotation mark is escaped."""
    said = b'{"role":"user","content":"\\"cache_control\\""}'
    assert parted(said, TURN, said, TURN, MARKED) == (
        b"[%b,%b,%b]" % (said, TURN, said),
        b"[%b,%b]" % (TURN, MARKED),
    )


@pytest.mark.parametrize(
    "messages",
    [
        (MARKED,),
        (MARKED, TURN, ASKED),
        (TURN, MARKED),
        (ASKED, MARKED),
        (ASKED, b"7", MARKED),
        (ASKED, TURN, MARKED, b""),
    ],
    ids=["alone", "first", "nothing before", "no turn", "no message", "no JSON"],
)
def test_what_cannot_be_parted_is_not(messages: tuple[bytes, ...]) -> None:
    """Nothing is known before the first mark, or it is no array of messages."""
    assert parted(*messages) is None


def test_where_it_is_parted_is_told_in_bytes() -> None:
    """Of the text as it came."""
    assert before_marks(b"[%b, %b,%b]" % (ASKED, TURN, MARKED), MARK) == Parted(1 + len(ASKED), 3 + len(ASKED))


MARKS: dict[str, object] = {
    "text": TextPart("x", cache="5m"),
    "unknown": TextPart("x", extra={"anthropic": {"cache_control": {"ttl": "9d"}}}),
    "call": ToolCall("a", "look", "{}", extra={"anthropic": {"cache_control": {}}}),
    "in a result": ToolResult("a", "look", (TextPart("x"), TextPart("y", cache="1h"))),
    "tool": Tool(name="look", parameters={}, extra={"anthropic": {"cache_control": {}}}),
}


@pytest.mark.parametrize("name", MARKS)
def test_a_mark_is_found_wherever_it_is(name: str) -> None:
    """Those that say more than a life time are counted, too."""
    assert is_marked(MARKS[name])


@pytest.mark.parametrize(
    "what",
    [
        TextPart("x"),
        ToolResult("a", "look", (TextPart("x"),)),
        OpaquePart("anthropic", "odd", {}),
        TextPart("x", extra={"google": {"odd": 1}}),
    ],
    ids=["text", "result", "opaque", "members"],
)
def test_what_has_no_mark_has_none(what: object) -> None:
    """Other members are no marks."""
    assert not is_marked(what)
