"""Calls that are answered as a whole or as a stream, for both faces: what `create`, `parse` and `completion` share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from interlingua.client.call.core import call_steps
from interlingua.client.call.pump import carried_out
from interlingua.compat.account import headers_of, refuse, timeouts_of
from interlingua.compat.asking import ask, whole
from interlingua.compat.chat import ParsedChatCompletion
from interlingua.compat.responses import ParsedResponse
from interlingua.compat.streams import Stream
from interlingua.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlingua.compat.account import Account
    from interlingua.compat.answer import Answer
    from interlingua.compat.asking import PreparedCall
    from interlingua.compat.async_streams import AsyncStream
    from interlingua.compat.body import Body
    from interlingua.types.response import Response

__all__ = [
    "answered",
    "answered_async",
    "asked_of",
    "parsed_chat",
    "parsed_chat_async",
    "parsed_response",
    "parsed_response_async",
    "prepared_body",
    "streamed",
    "streamed_async",
]

A = TypeVar("A", bound="Answer")
B = TypeVar("B", bound="Body")
P = TypeVar("P", bound="ParsedChatCompletion[Any] | ParsedResponse[Any]")
T = TypeVar("T")


def asked_of(name: str, account: Account, members: Mapping[str, Any], output: object = None) -> PreparedCall:
    """The call that the arguments of `create` ask for: what is not the body's is taken out of it.

    Raises: UsageError and its kinds; DecodeError for a bad body.
    """
    account, body = prepared_body(account, members)
    return ask(name, body, account, output)


def prepared_body(account: Account, members: Mapping[str, Any]) -> tuple[Account, dict[str, Any]]:
    """The body that arguments of `create` make, and the account with those that are not the body's.

    Raises: UsageError for one that is not taken here.
    """
    body = dict(members)
    own: dict[str, Any] = {}
    if "timeout" in body and type(value := body.pop("timeout")).__name__ not in {"NotGiven", "Omit"}:
        own["timeouts"] = timeouts_of(value)
    if headers := body.pop("extra_headers", None):
        own["headers"] = (*account.headers, *headers_of(headers))
    refuse({"extra_query": body.pop("extra_query", None)})
    body |= body.pop("extra_body", None) or {}
    return msgspec.structs.replace(account, **own), body


def answered(prepared: PreparedCall, kind: type[A]) -> A:
    """The whole answer."""
    return _made(prepared, kind, carried_out(call_steps(prepared.call)))


async def answered_async(prepared: PreparedCall, kind: type[A]) -> A:
    """The whole answer."""
    from interlingua.client.aio.pump import carried_out as carried_out_async  # who blocks needs no event loop

    return _made(prepared, kind, await carried_out_async(call_steps(prepared.call)))


def _made(prepared: PreparedCall, kind: type[A], response: Response[Any]) -> A:
    members, changes = whole(prepared, response)
    answer = kind(members)
    answer.behind(response, changes)
    return answer


def streamed(prepared: PreparedCall, kind: type[B]) -> Stream[B]:
    """The answer as it comes, its first content there."""
    return Stream(prepared, kind)


async def streamed_async(prepared: PreparedCall, kind: type[B]) -> AsyncStream[B]:
    """The answer as it comes, its first content there."""
    from interlingua.compat.async_streams import AsyncStream  # the same

    return await AsyncStream(prepared, kind).open()


def parsed_chat(prepared: PreparedCall, output: type[T]) -> ParsedChatCompletion[T]:
    """The whole answer with the value of the type `output` that it holds.

    Raises: OutputError for an answer that is cut or not of that type.
    """
    return _typed_answer(answered(prepared, ParsedChatCompletion[T]), output)


async def parsed_chat_async(prepared: PreparedCall, output: type[T]) -> ParsedChatCompletion[T]:
    """`parsed_chat`, awaited."""
    return _typed_answer(await answered_async(prepared, ParsedChatCompletion[T]), output)


def parsed_response(prepared: PreparedCall, output: type[T]) -> ParsedResponse[T]:
    """The whole answer with the value of the type `output` that it holds.

    Raises: OutputError for an answer that is cut or not of that type.
    """
    return _typed_answer(answered(prepared, ParsedResponse[T]), output)


async def parsed_response_async(prepared: PreparedCall, output: type[T]) -> ParsedResponse[T]:
    """`parsed_response`, awaited."""
    return _typed_answer(await answered_async(prepared, ParsedResponse[T]), output)


def _typed_answer(answer: P, output: object) -> P:
    from interlingua.client.typed.output import with_output  # only typed answers need schemas

    assert answer.interlingua is not None, "an answer that was made knows of what"  # noqa: S101 - an invariant
    try:
        filled: Response[Any] = with_output(answer.interlingua, output)
    except OutputError as error:
        if error.fault != "refused":
            raise
        return answer  # as in the SDK: the words of the refusal say enough
    answer.hold(filled.output)
    return answer
