"""Messages that several calls have in common are written once, and sent as they are now."""

from __future__ import annotations

import pytest

import interlingua as il
from interlingua.client.shared.messages import MAX_CHARACTERS, MessageMemo, shared_messages
from interlingua.dialects._known.histories import KnownMessages
from interlingua.types.content import ImagePart, Json, Sealed, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.message import Message

TURN = (il.user("What is the weather?"), Message("assistant", (ToolCall("c1", "weather", '{"city":"Oslo"}'),)))
RESULT = Message("tool", (ToolResult("c1", "weather", "Rain."),))


def _conversation() -> tuple[Message, ...]:
    return (*TURN, RESULT)


def _sent(messages: tuple[Message, ...]) -> bytes:
    plan = il.model("openai/gpt-5.6").explain("Well?", history=messages)
    assert plan.http is not None, plan
    return plan.http.body


def test_messages_are_known_from_their_second_call_on() -> None:
    """The first call has the caller's own, every later one equal messages that are the same each time."""
    messages, memo = _conversation(), MessageMemo()
    first, second, third = [memo.shared((*messages,)) for _ in range(3)]
    assert first == messages
    assert type(first) is tuple
    assert type(second) is KnownMessages
    assert second == messages
    assert third is second
    assert memo.shared(second) is second


def test_a_conversation_that_goes_on_is_known_at_once() -> None:
    """Its second call is evidence enough; from the third on only what was added is new."""
    memo, messages = MessageMemo(), _conversation()
    assert type(memo.shared(messages)) is tuple
    longer = (*messages, Message("assistant", (TextPart("It rains."),)), il.user("And tomorrow?"))
    known = memo.shared(longer)
    assert type(known) is KnownMessages
    longest = (*longer, Message("assistant", (TextPart("Sun."),)), il.user("Good."))
    further = memo.shared(longest)
    assert type(further) is KnownMessages
    assert further == longest
    assert further.known.parent is known.known
    assert further.known.rest == longest[-2:]
    assert further.known.calls == ("c1",)


def test_what_is_sent_is_the_same_at_every_call() -> None:
    """The bytes do not tell whether the messages were known."""
    messages = _conversation()
    assert len({_sent(messages), _sent(messages), _sent(messages)}) == 1


@pytest.mark.parametrize("what", ["member", "seal", "result"])
def test_what_was_changed_is_not_known_any_more(what: str) -> None:
    """A member, a seal and a value of a result: changed in place, the messages are the caller's own again."""
    mark: list[object] = [1]
    parts = {
        "member": TextPart("Hm.", extra={"openai-chat": {"mark": mark}}),
        "seal": ThinkingPart("Hm.", sealed=Sealed("anthropic", {"mark": mark})),
        "result": ToolResult("c2", "weather", Json({"mark": mark})),
    }
    part = parts[what]
    begin = (il.user("Go."), Message("assistant", (ToolCall("c2", "weather", "{}"),)))
    last = (Message("tool", (part if isinstance(part, ToolResult) else ToolResult("c2", "weather", "Rain."),)),)
    other = () if isinstance(part, ToolResult) else (Message("assistant", (part,)),)
    messages, memo = (*begin, *last, *other), MessageMemo()
    memo.shared(messages)
    assert type(memo.shared(messages)) is KnownMessages
    mark[0] = True
    changed = memo.shared(messages)
    assert changed == messages
    known = memo.shared(messages)
    assert known == messages
    assert "True" in repr(known)


def test_an_empty_member_that_was_filled_is_sent() -> None:
    """What had nothing to say may say something later."""
    messages = _conversation()
    for _ in range(3):
        _sent(messages)
    messages[0].extra["openai-responses"] = {"weight": 0}
    assert b'"weight":0' in _sent(messages)
    del messages[0].extra["openai-responses"]
    assert b"weight" not in _sent(messages)


def test_what_is_shared_cannot_be_changed_and_the_callers_own_can() -> None:
    """A change behind the back of a request would be sent with others that share it."""
    messages, memo = _conversation(), MessageMemo()
    memo.shared(messages)
    known = memo.shared(messages)[0]
    with pytest.raises(TypeError):
        known.extra["openai-chat"] = {}
    assert known is not messages[0]


def test_a_response_holds_the_messages_that_the_caller_gave() -> None:
    """What is shared is for the wire alone."""
    messages = _conversation()
    replies = [il.model("fake/m").generate("Well?", history=messages) for _ in range(3)]
    told = [reply.request.messages[:3] for reply in replies if reply.request is not None]
    assert [list(map(id, held)) for held in told] == [list(map(id, messages))] * 3


@pytest.mark.parametrize(
    "messages",
    [
        (il.user("One."),),
        TURN,
        (*TURN, RESULT, RESULT),
        (*TURN, RESULT, Message("user", (ImagePart(b"GIF", "image/gif"),))),
        (*TURN, RESULT, il.user("x" * MAX_CHARACTERS)),
        (il.user("Hm."), Message("assistant", (TextPart("Hm.", extra={"openai-chat": {"a": "\ud800"}}),))),
    ],
    ids=["one", "unanswered", "answered twice", "media", "long", "unsayable"],
)
def test_some_conversations_are_never_shared(messages: tuple[Message, ...]) -> None:
    """They stay the caller's own, however often they come."""
    memo = MessageMemo()
    assert all(memo.shared(messages) is messages for _ in range(4))


def test_a_generation_is_forgotten_when_the_next_one_is_full() -> None:
    """Two generations are kept: what was not asked for in the time of two is a first call again."""
    memo = MessageMemo(1_000)
    messages = _conversation()
    memo.shared(messages)
    assert type(memo.shared(messages)) is KnownMessages
    others = [(il.user("x" * 300), il.user(str(number))) for number in range(12)]
    for other in others[:2]:
        memo.shared(other)
    assert type(memo.shared(messages)) is KnownMessages
    for other in others:
        memo.shared(other)
    assert type(memo.shared(messages)) is tuple


def test_the_process_has_one_memo() -> None:
    """Calls of all models share it."""
    messages = _conversation()
    shared_messages(messages)
    assert shared_messages(messages) is shared_messages(messages)
