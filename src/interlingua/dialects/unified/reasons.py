"""Errors, both ways: the class by its name, and everything that an error of ours knows.

Rules
- `type` is the name of the class in snake_case, from a closed list; `status` is the status of the answer.
- `code` is the rule that a request broke, or the upstream's own code; `path` points into the request.
- An answer that is no JSON of ours, such as a proxy's page, has the class of its status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, get_args

from interlingua.dialects._errors.bodies import ErrorBody, read_error
from interlingua.dialects._errors.classes import COMMON_STATUSES, class_of, error_of, retry_after_s
from interlingua.dialects._errors.classes import request_id as named_request
from interlingua.dialects.unified.answer import decode_answer, encode_answer
from interlingua.dialects.unified.parts import NAME
from interlingua.dialects.unified.wire import ERROR_TYPES, ErrorBodyWire, ErrorWire, type_of_error
from interlingua.errors import (
    APITimeoutError,
    DecodeError,
    Error,
    IncompleteStreamError,
    LimitExceededError,
    MalformedArgumentsError,
    OutputError,
    OutputFault,
    Phase,
    UnsupportedError,
    UpstreamError,
)
from interlingua.stream.failure import failure_of
from interlingua.types.content import BrokenToolCall
from interlingua.wire.json import decode_wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._contract import ServerContext
    from interlingua.types.response import Response
    from interlingua.wire.http import Headers

__all__ = ["broken_call", "decode_error_body", "encode_error_body", "error_of_wire", "fault", "malformed", "partial_of"]


# Writing


def encode_error_body(error: Error) -> ErrorBodyWire:
    """The body of an error: what it knows, and what had come."""
    status = error.status if error.status in COMMON_STATUSES else error.http_status
    wire = ErrorWire(
        type=type_of_error(type(error)) if type_of_error(type(error)) in ERROR_TYPES else "error",
        message=error.message,
        status=status,
        code=error.code,
        path=error.path or None if isinstance(error, DecodeError) else None,
        retryable=error.retryable,
        retry_after_s=error.retry_after_s,
        request_id=error.request_id,
        phase=error.phase if isinstance(error, APITimeoutError) else None,
        fault=error.fault if isinstance(error, OutputError) else None,
        changes=list(error.changes) if isinstance(error, UnsupportedError) else [],
        attempts=list(error.attempts),
    )
    partial = partial_of(error)
    return ErrorBodyWire(wire, None if partial is None else encode_answer(partial, model=partial.model))


def partial_of(error: Error) -> Response[Any] | None:
    """The response up to the error."""
    match error:
        case IncompleteStreamError(partial=partial):
            return partial
        case (
            MalformedArgumentsError(response=response)
            | OutputError(response=response)
            | UpstreamError(response=response)
        ):
            return response
        case _:
            return None


def broken_call(response: Response[Any]) -> BrokenToolCall | None:
    """The first call that fails the answer: broken, and not because the answer ended at its length."""
    for one in (response, *response.alternatives):
        for part in one.parts:
            if type(part) is BrokenToolCall and part.reason != "cut_off":
                return part
    return None


def fault(response: Response[Any], context: ServerContext) -> Error | None:
    """The error that an answer is; one that came in this dialect keeps a finish that says so."""
    broken = broken_call(response)
    if broken is not None:
        return malformed(broken, response)
    return None if context.says_own(NAME) else failure_of(response)


def malformed(call: BrokenToolCall, response: Response[Any]) -> MalformedArgumentsError:
    """The error that an answer with such a call is."""
    sentence = f"the arguments of the call {call.id!r} (tool {call.name}) are not one JSON object: {call.reason}"
    return MalformedArgumentsError(sentence, call=call, response=response)


# Reading


def decode_error_body(body: bytes, status: int | None, headers: Headers) -> Error:
    """The error in the body of a failed answer; `status` is the answer's own, None inside a stream or a 200."""
    try:
        wire: ErrorBodyWire = decode_wire(body, ErrorBodyWire, repairs=[])
    except (DecodeError, LimitExceededError):
        return error_of(read_error(body), status, headers, {})
    return error_of_wire(wire.error, wire.partial and decode_answer(wire.partial), status, headers)


def error_of_wire(wire: ErrorWire, partial: Response[Any] | None, status: int | None, headers: Headers = ()) -> Error:
    """The error that a wire error says."""
    status = status or wire.status
    words = (wire.code or "", wire.type)
    kind = ERROR_TYPES.get(wire.type) or class_of(ErrorBody(wire.message, words), status, {})
    if issubclass(kind, UpstreamError):
        facts: dict[str, Any] = {"response": partial}
    else:
        facts = _FACTS[kind](wire, partial) if kind in _FACTS else {}
    wait = wire.retry_after_s if wire.retry_after_s is not None else retry_after_s(headers)
    return kind(
        wire.message,
        retryable=wire.retryable,
        retry_after_s=wait,
        status=status,
        code=wire.code,
        request_id=wire.request_id or named_request(headers),
        attempts=tuple(wire.attempts),
        **facts,
    )


def _malformed_facts(wire: ErrorWire, partial: Response[Any] | None) -> dict[str, Any]:
    del wire
    return {"response": partial, "call": None if partial is None else broken_call(partial)}


def _output_facts(wire: ErrorWire, partial: Response[Any] | None) -> dict[str, Any]:
    return {"fault": wire.fault if wire.fault in get_args(OutputFault) else "invalid", "response": partial}


def _timeout_facts(wire: ErrorWire, partial: Response[Any] | None) -> dict[str, Any]:
    del partial
    return {"phase": cast("Phase", wire.phase if wire.phase in get_args(Phase) else "upstream")}


_FACTS: dict[type[Error], Callable[[ErrorWire, Response[Any] | None], dict[str, Any]]] = {
    DecodeError: lambda wire, _: {"path": wire.path or ""},
    UnsupportedError: lambda wire, _: {"changes": tuple(wire.changes)},
    MalformedArgumentsError: _malformed_facts,
    IncompleteStreamError: lambda _, partial: {"partial": partial},
    OutputError: _output_facts,
    APITimeoutError: _timeout_facts,
}
"""The facts of errors of a class beyond the others."""
