"""The server's role, as far as all dialects play it alike: whose fault bad bytes are, histories, replies and errors."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from msgspec.structs import replace

from interlingua.dialects._history import paired_calls, prepare_history
from interlingua.errors import DecodeError, HistoryError
from interlingua.types.content import BrokenToolCall, TextPart, ThinkingPart
from interlingua.wire.http import HttpReply
from interlingua.wire.json import WireStruct, decode_wire, encode
from interlingua.wire.thoughts import split_thought

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._contract import DecodedRequest, DecodeOptions, ServerContext
    from interlingua.errors import Error
    from interlingua.types.change import Changes
    from interlingua.types.message import Message
    from interlingua.wire.http import Headers, HttpRequest

__all__ = ["JSON_HEADERS", "clients_fault", "error_reply", "hand_over", "paired_history", "read_member", "whole_reply"]

W = TypeVar("W", bound=WireStruct)
_Decode: TypeAlias = "Callable[[HttpRequest, DecodeOptions], DecodedRequest]"
JSON_HEADERS: Headers = (("content-type", "application/json"),)
"""The headers of a body that is JSON."""


def clients_fault(member: str) -> Callable[[_Decode], _Decode]:
    """The decorator of a decoder whose bytes are a client's: what it cannot read is the client's fault, no upstream's.

    `member` holds the conversation: a body that has none, and no system text, is no request. Where it is empty, such a
    body means something.
    """

    def guarded(decode: _Decode) -> _Decode:
        @wraps(decode)
        def run(http: HttpRequest, options: DecodeOptions) -> DecodedRequest:
            try:
                decoded = decode(http, options)
                request = decoded.request
                if member and not request.messages and not request.system and request.continues is None:
                    raise DecodeError(f"{member} is missing or empty: the request says nothing", path=f"/{member}")
            except DecodeError as error:
                error.status = 400
                raise
            return decoded

        return run

    return guarded


def read_member(name: bytes, text: bytes, kind: type[W]) -> W:
    """A wire object of one member that was left as text when the body was read; places in errors are the body's.

    Whoever read the body has repaired it.

    Raises: DecodeError, LimitExceededError.
    """
    return decode_wire(b'{"%b":%b}' % (name, text), kind)


def paired_history(
    messages: tuple[Message, ...], options: DecodeOptions, changes: Changes, *, continues: bool = False
) -> tuple[Message, ...]:
    """A client's history with calls and results paired, no call in it broken, and no thinking told twice.

    Raises: HistoryError under `refuse`.
    """
    for message in messages:
        if message.parts and type(message.parts[0]) is ThinkingPart:
            messages = tuple([_told_once(other, changes, place) for place, other in enumerate(messages)])
            break
    if paired_calls(messages) is not None:
        return messages
    if options.history == "refuse":
        for place, message in enumerate(messages):
            for part in message.parts if message.role == "assistant" else ():
                if type(part) is BrokenToolCall:
                    call = f"call {part.id!r} (tool {part.name})"
                    raise HistoryError(f"messages[{place}]: the arguments of {call} are broken: {part.reason}")
    return prepare_history(messages, options.history, changes, continues=continues)


def _told_once(message: Message, changes: Changes, place: int) -> Message:
    """A turn of the model without the `<think>` text that says its thinking again, as some clients show it."""
    thoughts = [part.text.strip() for part in message.parts if type(part) is ThinkingPart]
    first = next((at for at, part in enumerate(message.parts) if type(part) is TextPart), None)
    if message.role != "assistant" or not thoughts or first is None:
        return message
    text = cast("TextPart", message.parts[first])
    thought, rest = split_thought(text.text, may_be_cut=True)
    if not thought or thought != "\n\n".join(filter(None, thoughts)):
        return message
    changes.add("thinking_repeated", f"/messages/{place}/parts/{first}")
    rest_of_text = (replace(text, text=rest),) if rest else ()
    return replace(message, parts=(*message.parts[:first], *rest_of_text, *message.parts[first + 1 :]))


def whole_reply(body: bytes, changes: Changes, context: ServerContext, headers: Headers = JSON_HEADERS) -> HttpReply:
    """A whole answer; what encoding it changed is handed to the context."""
    hand_over(changes, context)
    return HttpReply(status=200, headers=headers, body=body)


def hand_over(changes: Changes, context: ServerContext) -> None:
    """Tell whoever asked what encoding an answer changed: a whole one, a stream at its end, or one that failed."""
    if context.changes is not None:
        context.changes.extend(changes.entries)


def error_reply(
    status: int,
    body: object,
    error: Error,
    *,
    headers: Headers = JSON_HEADERS,
    id_header: str = "x-request-id",
    tells_retry: bool = True,
) -> HttpReply:
    """An error's body with when to come back, and with whether at all if that is unusual and clients look for it."""
    if error.retry_after_s is not None:
        headers = (*headers, ("retry-after", f"{error.retry_after_s:g}"))
    if error.request_id is not None:
        headers = (*headers, (id_header, error.request_id))
    from interlingua.dialects._errors.classes import RETRYABLE_STATUSES  # only who tells errors needs them

    if tells_retry and error.retryable != (status in RETRYABLE_STATUSES):
        headers = (*headers, ("x-should-retry", "true" if error.retryable else "false"))
    return HttpReply(status=status, headers=headers, body=encode(body))
