"""Plain messages, which have shapes of their own on the wire: read and written byte for byte like any other."""

from __future__ import annotations

import pytest

from interlingua.dialects._contract import Quirks, Target
from interlingua.dialects.openai_chat.messages import MessageEncoder, decode_messages
from interlingua.dialects.openai_chat.wire import MessageWire
from interlingua.types.change import Changes
from interlingua.types.content import Part, Sealed, TextPart, ToolCall, ToolResult
from interlingua.types.message import Message, Role, user
from interlingua.wire.json import encode

CALL = ToolCall("call_1", "look", '{"at":1}')
HISTORY = (
    user("Look."),
    Message("assistant", (TextPart("Hm."), CALL)),
    Message("tool", (ToolResult("call_1", "look", "seen"), ToolResult("call_2", "", "no", is_error=True))),
)
TEXT = (
    b'[{"role":"system","content":"Be brief."},{"role":"user","content":"Look."},'
    b'{"role":"assistant","content":"Hm.","tool_calls":[{"id":"call_1","type":"function",'
    b'"function":{"name":"look","arguments":"{\\"at\\":1}"}}]},'
    b'{"role":"tool","content":"seen","tool_call_id":"call_1"},'
    b'{"role":"tool","content":"ERROR: no","tool_call_id":"call_2"}]'
)


def changes() -> Changes:
    """None so far."""
    return Changes("openai-chat", "decode_request")


def written(*messages: Message, quirks: Quirks | None = None) -> tuple[bytes, bool]:
    """Messages on the wire, and whether all of them are plain."""
    encoder = MessageEncoder(Target(quirks=quirks or Quirks()), {}, {}, changes())
    return encode(encoder.encode((), messages), nulls=1), encoder.is_plain


def test_a_step_is_read_and_written() -> None:
    """System text, a prompt, a turn with a call, and its results, one of them an error: the same bytes again."""
    system, messages = decode_messages(TEXT, changes())
    assert (system, messages) == ((TextPart("Be brief."),), HISTORY)
    encoder = MessageEncoder(Target(), {}, {}, changes())
    assert encode(encoder.encode(system, messages)) == TEXT
    assert encoder.is_plain


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_name_takes_the_wide_shape(role: Role) -> None:
    """A plain message has no place for it."""
    text = b'[{"role":"%b","content":"Hi.","name":"Ann"}]' % role.encode()
    assert written(Message(role, (TextPart("Hi."),), "Ann")) == (text, False)


@pytest.mark.parametrize(
    ("content", "told"), [("null", b'"content":null,'), ("empty", b'"content":"",'), ("omit", b"")]
)
def test_a_turn_of_calls_alone_has_the_content_that_the_server_takes(content: str, told: bytes) -> None:
    """Null, an empty text, or none."""
    call = b'"tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":"{\\"at\\":1}"}}]'
    quirks = Quirks(tool_only_content=content)  # pyright: ignore[reportArgumentType]  # one of its words
    assert written(Message("assistant", (CALL,)), quirks=quirks) == (
        b'[{"role":"assistant",%b%b}]' % (told, call),
        True,
    )


@pytest.mark.parametrize(
    "parts",
    [
        (CALL, TextPart("Hm.")),
        (TextPart("Hm."), TextPart("Hm.")),
        (ToolCall("call_1", "look", "{}", sealed=Sealed("openai-chat", {"extra_content": {}})),),
        (ToolCall("call_1", "look", '{"input":"x"}', freeform=True),),
        (TextPart("Hm.", extra={"openai-chat": {"x": 1}}),),
    ],
    ids=["text behind a call", "two texts", "a seal", "freeform", "a member"],
)
def test_any_other_turn_has_the_wide_shape(parts: tuple[Part, ...]) -> None:
    """Whatever a plain turn has no member for."""
    encoder = MessageEncoder(Target(), {}, {}, changes())
    (wire,) = encoder.encode((), (Message("assistant", parts),))
    assert type(wire) is MessageWire
    assert not encoder.is_plain
