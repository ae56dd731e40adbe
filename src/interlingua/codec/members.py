"""Three operations on single members of bodies: definitions, calls and results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

import msgspec

from interlingua.codec.definitions import collect, read_definitions
from interlingua.codec.service import Service, body_of, history_of, service_of, tools_in
from interlingua.dialects._contract import DecodeContext, Undo
from interlingua.errors import UnsupportedError, UsageError, kind_of
from interlingua.types.content import BrokenToolCall, ToolCall, ToolResult
from interlingua.types.handmade import check_result
from interlingua.types.message import Message, user
from interlingua.types.request import Request
from interlingua.wire.http import HttpReply
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from interlingua.codec.definitions import Definition
    from interlingua.dialects._contract import Encoded
    from interlingua.providers.row import Provider
    from interlingua.types._base import JsonObject
    from interlingua.types.change import Change
    from interlingua.types.tool import OpaqueTool, Tool

__all__ = ["decode_definitions", "decode_tool_calls", "encode_definitions", "encode_result"]

_SPEAKERS = frozenset({"assistant", "model"})
_CALLS = frozenset({"function_call", "custom_tool_call"})
_TOOLS = {"/tools/": "/", "/tools": ""}
_RESULTS = {"/messages/2/parts/": "/", "/messages/2": "", "/messages": ""}
"""Where members stand in the small request around them, and where in what the caller gave."""


def encode_definitions(
    definitions: Iterable[Definition],
    dialect: str | None = None,
    *,
    provider: str | Provider | None = None,
    model: str = "",
    changes: list[Change] | None = None,
) -> list[JsonObject]:
    """The value of the dialect's `tools` member; empty for no definitions, and then the member is to be left out.

    With `provider` it is what that provider is sent, in the first dialect of its row where none is named; `model` is
    the provider's own id of the model. `changes` takes an entry for each change; paths begin with the tool's number.

    Loss: names that the dialect does not take are mapped; give the definitions to `decode_tool_calls`, too.
    Raises: DecodeError or SchemaError, which name the entry; UnsupportedError for another dialect's own tools;
    ConfigError for an unknown dialect or provider.
    """
    service = service_of(dialect, provider, model)
    tools = read_definitions(definitions, service.dialect, changes)
    if not tools:
        return []
    encoded = _encode_tools(tools, service)
    collect(changes, encoded.changes, _TOOLS)
    return tools_in(service.dialect, body_of(encoded))


def decode_definitions(
    definitions: Iterable[Definition], dialect: str = "openai-chat"
) -> tuple[Tool | OpaqueTool, ...]:
    """The tools that definitions are, in the form of any dialect; what is of no form is a tool of `dialect`'s provider.

    Raises: DecodeError or SchemaError, which name the entry.
    """
    return read_definitions(definitions, service_of(dialect, None).dialect)


def decode_tool_calls(
    response_body: JsonObject,
    dialect: str | None = None,
    *,
    definitions: Iterable[Definition] = (),
    first_index: int = 0,
    provider: str | Provider | None = None,
    model: str = "",
    changes: list[Change] | None = None,
) -> tuple[ToolCall | BrokenToolCall, ...]:
    """Every call of the answer's first choice, whatever its finish reason says; broken ones are kept as such.

    `definitions` are the tools that were sent, to the same `provider` and `model`: mapped names are turned back. Calls
    without an id get `call_<n>`, n counting on from `first_index`, the number of calls in the history. `changes` takes
    an entry for each repair; paths point into the canonical response.

    Raises: DecodeError, with the first bad place; UpstreamError, for an error in a body that came with status 200;
    ConfigError for an unknown dialect or provider.
    """
    service = service_of(dialect, provider, model)
    if type(first_index) is not int or first_index < 0:
        raise UsageError(f"first_index is the number of calls before these, from 0 on, not {first_index!r:.60}")
    tools = read_definitions(definitions, service.dialect)
    undo = _encode_tools(tools, service).undo if tools else Undo()
    context = DecodeContext(target=service.target, undo=msgspec.structs.replace(undo, first_index=first_index))
    response = service.dialect.decode_response(HttpReply(status=200, body=encode(response_body)), context)
    collect(changes, response.changes)
    return tuple([part for part in response.parts if isinstance(part, ToolCall | BrokenToolCall)])


def encode_result(
    results: ToolResult | Iterable[ToolResult],
    dialect: str | None = None,
    *,
    calls: Iterable[ToolCall | BrokenToolCall] = (),
    provider: str | Provider | None = None,
    model: str = "",
    changes: list[Change] | None = None,
) -> list[JsonObject]:
    """The messages that carry one result or the results of one turn, ready to be appended to the conversation.

    Anthropic and Google get one message, Chat and Ollama one for each result, Responses one item for each. `calls` are
    the decoded calls; only results of freeform tools need them, to be told in their own form. With `provider` they are
    what that provider is sent; `changes` takes an entry for each change; paths begin with the result's number.

    Raises: HistoryError, for two results of one call; UnsupportedError, for content that the dialect cannot take;
    UsageError, for what is no content at all; ConfigError for an unknown dialect or provider.
    """
    several = not isinstance(results, ToolResult | dict | str) and hasattr(results, "__iter__")
    answers = tuple(cast("Iterable[ToolResult]", results)) if several else (cast("ToolResult", results),)
    service = service_of(dialect, provider, model)
    if not answers:
        return []
    for place, one in enumerate(answers):
        if not isinstance(one, ToolResult):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
            raise UsageError(f"results[{place}] is {kind_of(one)}, not an il.ToolResult(call_id, name, content)")
        check_result(one, f"results[{place}]")
    calls_of_turn = tuple(calls) if isinstance(calls, Iterable) else (calls,)  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
    strange = [one for one in calls_of_turn if not isinstance(one, ToolCall | BrokenToolCall)]  # pyright: ignore[reportUnnecessaryIsInstance]  # as above
    if strange:
        raise UsageError(f"calls are those that decode_tool_calls gave, not {kind_of(strange[0])}")
    freeform = {call.id for call in calls_of_turn if call.freeform}
    asking = tuple([ToolCall(one.call_id, one.name, "{}", one.call_id in freeform) for one in answers])
    turns = (user("?"), Message("assistant", asking), Message("tool", answers))
    try:
        encoded = service.encode(Request(messages=turns))
    except UsageError as error:
        # The places are those in what the caller gave.
        error.args = (error.message.replace("/messages/2/parts/", "results/"), *error.args[1:])
        if isinstance(error, UnsupportedError):
            moves: list[Change] = []
            collect(moves, error.changes, _RESULTS)
            error.changes = tuple(moves)
        raise error from None
    collect(changes, encoded.changes, _RESULTS)
    history = cast("list[JsonObject]", body_of(encoded)[history_of(service.dialect)])
    last = max(
        place for place, entry in enumerate(history) if entry.get("role") in _SPEAKERS or entry.get("type") in _CALLS
    )
    return history[last + 1 :]


def _encode_tools(tools: tuple[Tool | OpaqueTool, ...], service: Service) -> Encoded:
    return service.encode(Request(messages=(user("?"),), tools=tools))
