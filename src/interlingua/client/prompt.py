"""Prompts and histories as messages: a prompt of any convenient form, and the conversation before it.

Rules
- Loose texts and parts make one user message; loose tool results make one tool message, in the order given.
- A history brings its system text along, unless the call or the model gives another, which replaces it.
- The first message of a stored conversation, when it is its system text, becomes the request's system text again, so
  that a conversation taken up later is byte for byte the one that was left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast, get_args

import msgspec

from interlingua.errors import UsageError, kind_of
from interlingua.types.content import (
    BrokenToolCall,
    Part,
    RefusalPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.handmade import check_messages
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Conversation", "History", "Prompt", "build_request", "turns"]


class Conversation(Protocol):
    """Whatever holds a conversation, such as a run."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation, oldest first."""
        ...


Prompt: TypeAlias = str | Part | Message | Request | Iterable[str | Part | Message]
"""A text, a part, a message, or several of them; tool results go back as they came from the toolbox. A
request is sent as it is, with its system text, its tools and its knobs."""
History: TypeAlias = Response[Any] | Request | Conversation | Iterable[Message]
"""The earlier conversation: a reply, a run, messages, or a request, with its system text, tools and knobs."""

_PARTS = get_args(Part)
_ALONE = {Message}
_SAID_BY_MODELS = (ToolCall, BrokenToolCall, ThinkingPart, RefusalPart)


def build_request(base: Request, prompt: Prompt, history: History | None) -> Request:
    """`base` with the conversation in it.

    Raises: UsageError for what is no prompt and no history, for messages that hold what is no part, and for a request
    that says nothing.
    """
    messages = turns(prompt)
    check_messages(messages)
    if history is None:
        if not messages:
            raise UsageError("nothing to send: the prompt is empty and there is no history")
        return msgspec.structs.replace(base, messages=messages)
    system, before = _past(history)
    if base.system:
        system = base.system
        before = tuple([message for message in before if message.role != "system"])
    if not (before or messages):
        raise UsageError("nothing to send: the prompt and the history are empty")
    return msgspec.structs.replace(base, system=system, messages=before + messages)


def turns(prompt: Prompt) -> tuple[Message, ...]:
    """The messages that a prompt makes; none for an empty one."""
    if type(prompt) is list or type(prompt) is tuple:  # the usual case of many, and quicker to see
        return _grouped(prompt)  # pyright: ignore[reportUnknownArgumentType]  # whatever lies in it is looked at there
    if isinstance(prompt, str):
        return (Message("user", (TextPart(prompt),)),) if prompt else ()
    if isinstance(prompt, Message):
        return (prompt,)
    if isinstance(prompt, _PARTS):
        return _grouped((prompt,))
    if isinstance(prompt, Iterable) and not isinstance(prompt, bytes | bytearray | Mapping):
        return _grouped(cast("Iterable[object]", prompt))
    raise _no_prompt(cast("object", prompt))


def _grouped(items: Iterable[object]) -> tuple[Message, ...]:
    entries = tuple(items)
    if {*map(type, entries)} == _ALONE:
        return entries  # pyright: ignore[reportReturnType]  # as their types say
    return tuple(_messages(entries))


def _messages(items: Iterable[object]) -> Iterator[Message]:
    """Messages as they are; what lies loose between them, gathered by role."""
    loose: list[Part] = []
    for item in items:
        if isinstance(item, Message):
            yield from _gathered(loose)
            yield item
            loose = []
            continue
        part = _loose(item)
        if loose and isinstance(part, ToolResult) != isinstance(loose[0], ToolResult):
            yield from _gathered(loose)
            loose = []
        loose.append(part)
    yield from _gathered(loose)


def _gathered(parts: list[Part]) -> Iterator[Message]:
    parts = [part for part in parts if part != _EMPTY]
    if parts:
        yield Message("tool" if isinstance(parts[0], ToolResult) else "user", tuple(parts))


_EMPTY = TextPart("")


def _loose(item: object) -> Part:
    if isinstance(item, str):
        return TextPart(item)
    if isinstance(item, _SAID_BY_MODELS):
        raise UsageError(f"{kind_of(item)} belongs to a model's message; put it in il.assistant(…)")
    if isinstance(item, _PARTS):
        return cast("Part", item)
    raise _no_prompt(item)


def _no_prompt(value: object) -> UsageError:
    ways: dict[type, str] = {
        dict: "il.user(…), il.assistant(…) and il.load(…) make messages; interlingua.compat takes OpenAI's own",
        bytes: "il.image(…), il.audio(…), il.document(…) and il.file(…) make parts of bytes",
        bytearray: "il.file(bytes(…)) makes a part of bytes",
        Request: "it is sent alone, as in model.send(request)",
    }
    way = ways.get(type(value), "texts, parts and messages do; il.file(…) and il.image(…) make parts of files")
    return UsageError(f"{kind_of(value)} cannot be a prompt: {way}")


def _past(history: History) -> tuple[tuple[TextPart, ...], tuple[Message, ...]]:
    """The system text and the other messages of what was said before."""
    if isinstance(history, Response):
        reply = cast("Response[Any]", history)
        if reply.request is None:
            return (), (reply.message,)
        return reply.request.system, (*reply.request.messages, reply.message)
    source: Any = getattr(history, "messages", history)
    if isinstance(source, str | bytes | Mapping | Message) or not isinstance(source, Iterable):
        hint = "; a message alone is [message]" if isinstance(source, Message) else ""
        raise UsageError(f"history takes a reply, a run or messages, not {kind_of(cast('object', source))}{hint}")
    messages = tuple(cast("Iterable[object]", source))
    for message in messages:
        if not isinstance(message, Message):
            kind = kind_of(message)
            way = "il.user(…), il.assistant(…) and il.load(…) make messages"
            if isinstance(message, Response):
                way = "a reply is a whole history by itself, and reply.message is its last turn"
            raise UsageError(f"history has {kind}, which is not a message; {way}")
    past = cast("tuple[Message, ...]", messages)
    check_messages(past)
    # A system message at the beginning is taken out where it holds nothing but texts.
    first = past[0] if past else None
    if first is None or first.role != "system" or first.name is not None or first.extra:
        return (), past
    system = tuple([part for part in first.parts if isinstance(part, TextPart)])
    return (system, past[1:]) if len(system) == len(first.parts) else ((), past)
