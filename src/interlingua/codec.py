"""Only the translation, on plain dicts, for whoever has an HTTP client or an SDK of their own.

Three operations on single members (`encode_definitions`, `decode_tool_calls`, `encode_result`), and `bridge`, which
translates whole exchanges between two dialects and remembers the names and ids that it has to undo.

Rules
- Nothing is translated here: a small request is built and given to the dialect, and the wanted member taken out.
- Nothing is sent, read from the environment or looked up: the same input gives the same output.
- `openai` is accepted as a spelling of `openai-chat`, here alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, cast, get_args

import msgspec

from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target, Undo
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError, SchemaError, UsageError, kind_of
from interlingua.providers.limits import facts_for
from interlingua.types._base import JsonObject
from interlingua.types.capability import CallIds, Capability, HistoryPolicy
from interlingua.types.content import BrokenToolCall, ToolCall, ToolResult
from interlingua.types.event import StreamEnd
from interlingua.types.handmade import check_result
from interlingua.types.message import Message, user
from interlingua.types.request import Request
from interlingua.types.tool import OpaqueTool, Tool
from interlingua.wire.http import HttpReply, HttpRequest
from interlingua.wire.json import decode_any, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from interlingua.dialects._contract import DecodedRequest, Dialect, Encoded, StreamDecoder, StreamEncoder
    from interlingua.types.change import Change
    from interlingua.types.content import Part
    from interlingua.types.event import Event

__all__ = [
    "Bridge",
    "Definition",
    "bridge",
    "decode_definitions",
    "decode_tool_calls",
    "encode_definitions",
    "encode_result",
]

Definition: TypeAlias = Tool | OpaqueTool | JsonObject
"""A tool: a value of ours, an entry of any dialect's `tools`, or `{"name": …, "description": …, "parameters": …}`."""

_PROVIDERS = {"openai-chat": "openai", "openai-responses": "openai"}
"""Whose model facts count, where the dialect has not its provider's name."""
_HISTORY = {"openai-responses": "input", "google": "contents"}
"""The member that holds the conversation, where it is not `messages`."""
_TURNS: dict[str, Any] = {"google": {"role": "user", "parts": [{"text": "?"}]}}
"""A turn of a conversation, where it is not written as in Chat."""
_TURN = {"role": "user", "content": "?"}
_SPEAKERS = frozenset({"assistant", "model"})
_CALLS = frozenset({"function_call", "custom_tool_call"})
_CALL_PARTS = (ToolCall, BrokenToolCall)


def encode_definitions(definitions: Iterable[Definition], dialect: str) -> list[JsonObject]:
    """The value of the dialect's `tools` member; empty for no definitions, and then the member is to be left out.

    Loss: names that the dialect does not take are mapped; give the definitions to `decode_tool_calls`, too.
    Raises: DecodeError or SchemaError, which name the entry; UnsupportedError for another dialect's own tools.
    """
    found = _dialect(dialect)
    tools = _tools(definitions, found)
    if not tools:
        return []
    return cast("list[JsonObject]", _body(_encode_tools(tools, found))["tools"])


def decode_definitions(
    definitions: Iterable[Definition], dialect: str = "openai-chat"
) -> tuple[Tool | OpaqueTool, ...]:
    """The tools that definitions are, in the form of any dialect; what is of no form is a tool of `dialect`'s provider.

    Raises: DecodeError or SchemaError, which name the entry.
    """
    return _tools(definitions, _dialect(dialect))


def decode_tool_calls(
    response_body: JsonObject, dialect: str, *, definitions: Iterable[Definition] = (), first_index: int = 0
) -> tuple[ToolCall | BrokenToolCall, ...]:
    """Every call of the answer's first choice, whatever its finish reason says; broken ones are kept as such.

    `definitions` are the tools that were sent: mapped names are turned back. Calls without an id get `call_<n>`, n
    counting on from `first_index`, the number of calls in the history.

    Raises: DecodeError, with the first bad place; UpstreamError, for an error in a body that came with status 200.
    """
    found = _dialect(dialect)
    tools = _tools(definitions, found)
    undo = _encode_tools(tools, found).undo if tools else Undo()
    context = DecodeContext(undo=msgspec.structs.replace(undo, first_index=first_index))
    response = found.decode_response(HttpReply(status=200, body=encode(response_body)), context)
    return tuple([part for part in response.parts if isinstance(part, ToolCall | BrokenToolCall)])


def encode_result(
    results: ToolResult | Iterable[ToolResult], dialect: str, *, calls: Iterable[ToolCall | BrokenToolCall] = ()
) -> list[JsonObject]:
    """The messages that carry one result or the results of one turn, ready to be appended to the conversation.

    Anthropic and Google get one message, Chat and Ollama one for each result, Responses one item for each. `calls` are
    the decoded calls; only results of freeform tools need them, to be told in their own form.

    Raises: HistoryError, for two results of one call; UnsupportedError, for content that the dialect cannot take;
    UsageError, for what is no content at all.
    """
    answers = _several(results)
    if not answers:
        return []
    for place, one in enumerate(answers):
        if not isinstance(one, ToolResult):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without types
            raise UsageError(f"results[{place}] is {kind_of(one)}, not an il.ToolResult(call_id, name, content)")
        check_result(one, f"results[{place}]")
    found = _dialect(dialect)
    freeform = {call.id for call in calls if call.freeform}
    asked = tuple([ToolCall(one.call_id, one.name, "{}", one.call_id in freeform) for one in answers])
    request = Request(messages=(Message("assistant", asked), Message("tool", answers)))
    history = cast("list[JsonObject]", _body(found.encode_request(request, EncodeOptions()))[_history(found)])
    last = max(place for place, entry in enumerate(history) if _is_asking(entry))
    return history[last + 1 :]


def _several(results: ToolResult | Iterable[ToolResult]) -> tuple[ToolResult, ...]:
    """One result or several, in a tuple."""
    several = not isinstance(results, ToolResult | dict | str) and hasattr(results, "__iter__")
    return tuple(cast("Iterable[ToolResult]", results)) if several else (cast("ToolResult", results),)


def _is_asking(entry: JsonObject) -> bool:
    return entry.get("role") in _SPEAKERS or entry.get("type") in _CALLS


def _history(dialect: Dialect) -> str:
    return _HISTORY.get(dialect.name, "messages")


def _dialect(name: str) -> Dialect:
    return get_dialect("openai-chat" if name == "openai" else name)


def _encode_tools(tools: tuple[Tool | OpaqueTool, ...], dialect: Dialect) -> Encoded:
    return dialect.encode_request(Request(messages=(user("?"),), tools=tools), EncodeOptions())


def _body(encoded: Encoded) -> JsonObject:
    return cast("JsonObject", decode_any(encoded.body))


def _tools(definitions: Iterable[Definition], dialect: Dialect) -> tuple[Tool | OpaqueTool, ...]:
    """The definitions as tools.

    Raises: DecodeError or SchemaError, which name the entry; UsageError for what is no list.
    """
    if isinstance(definitions, dict | str) or not hasattr(definitions, "__iter__"):
        kind = kind_of(cast("object", definitions))
        raise UsageError(f"definitions are a list, not {kind}; one alone is [definition]")
    tools = tuple([tool for place, entry in enumerate(definitions) for tool in _read(entry, place, dialect)])
    names = [tool.name for tool in tools if isinstance(tool, Tool)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SchemaError(f"two tools are called {twice}; give one of them another name")
    return tools


def _read(entry: object, place: int, dialect: Dialect) -> tuple[Tool | OpaqueTool, ...]:
    where = f"definitions[{place}]"
    if isinstance(entry, Tool | OpaqueTool):
        tools: tuple[Tool | OpaqueTool, ...] = (entry,)
    elif isinstance(entry, dict):
        tools = _decode(cast("JsonObject", entry), place, where, dialect)
    else:
        raise DecodeError(f"{where}: a definition is a tool or a dict, not {type(entry).__name__}", path=f"/{place}")
    for tool in tools:
        if isinstance(tool, Tool):
            _check(tool, where)
    return tools


def _check(tool: Tool, where: str) -> None:
    from interlingua.schema.validate import check_schema  # only who has tools pays for it

    if not tool.name:
        raise SchemaError(f"{where}: a tool must have a name")
    if tool.freeform is None:
        check_schema(tool.parameters, where=f"{where} (tool {tool.name})")


def _decode(entry: JsonObject, place: int, where: str, dialect: Dialect) -> tuple[Tool | OpaqueTool, ...]:
    origin, tool = _shape(entry, dialect)
    body = {"model": "m", "tools": [tool], _history(origin): [_TURNS.get(origin.name, _TURN)]}
    try:
        http = HttpRequest(url="https://localhost/models/m:generateContent", body=encode(body))
        tools = origin.decode_request(http, DecodeOptions()).request.tools
    except DecodeError as error:
        sentence = error.message.removeprefix(error.path).removeprefix(": ").removesuffix(f", at {error.path}")
        below = error.path.removeprefix("/tools/0")
        if "function" not in entry:
            below = below.replace("/function/", "/", 1)
        raise DecodeError(f"{where}{below}: {sentence}", path=f"/{place}{below}") from None
    except UsageError as error:
        raise SchemaError(f"{where}: {error.message.replace('/tools/0/', '/')}") from None
    if not tools:
        raise DecodeError(f"{where}: no tool is defined", path=f"/{place}")
    return tools


def _shape(entry: JsonObject, dialect: Dialect) -> tuple[Dialect, JsonObject]:
    """The dialect in whose shape a definition stands, and the definition as that dialect's entry."""
    names = entry.keys()
    if names & {"functionDeclarations", "function_declarations"}:
        return get_dialect("google"), entry
    if names & {"parametersJsonSchema", "parameters_json_schema"}:
        return get_dialect("google"), {"functionDeclarations": [entry]}
    if "input_schema" in names:
        return get_dialect("anthropic"), entry
    if names & {"function", "custom"}:
        return get_dialect("openai-chat"), entry
    if entry.get("type") in ("function", "custom"):
        return get_dialect("openai-responses"), entry
    if "freeform" in names or entry.get("type") == "opaque_tool":
        return get_dialect("unified"), entry
    if "type" not in names and names & {"name", "description", "parameters"}:
        # Not as Responses writes it: a function that says nothing of strictness is strict there.
        return get_dialect("openai-chat"), {"type": "function", "function": entry}
    return dialect, entry  # a tool that the provider runs, in the words of the dialect that is asked for


class Bridge:
    """A translator for one client and one service, one exchange after the other: request, then response or stream."""

    def __init__(
        self,
        source: Dialect,
        target: Dialect,
        *,
        model: str | None,
        allow: frozenset[Capability],
        history: HistoryPolicy,
        call_ids: CallIds,
        make_id: Callable[[], str] | None,
    ) -> None:
        """A bridge that has seen nothing yet; `bridge` makes one by the names of the dialects."""
        self._source = source
        self._target = target
        self._model = model
        self._allow = allow
        self._history: HistoryPolicy = history
        self._make_id = make_id
        self._make_call_id = _OwnIds() if call_ids == "own" else None
        self._provider_ids: dict[str, str] = {}
        self._context = DecodeContext()
        self._changes: list[Change] = []
        self._server = ServerContext(source=target.name, make_id=make_id, changes=self._changes)
        self._path = ""

    @property
    def changes(self) -> tuple[Change, ...]:
        """What translation changed in the exchange at hand, there and back; a stream's are complete at its end."""
        return tuple(self._changes)

    @property
    def path(self) -> str:
        """What follows the service's base URL for the last request, such as `/messages`; empty before the first."""
        return self._path

    def request(self, body: JsonObject, *, path: str = "") -> JsonObject:
        """The body for the service that a client's body stands for.

        `path` is what the client asked for; only Google's and Ollama's say something there that the body does not: the
        model, whether to stream, the older form. Without it the model of a Google body is the bridge's, not streamed.

        Raises: DecodeError, with the first bad place; HistoryError; UnsupportedError.
        """
        url = f"https://localhost{path or self._default_path()}"
        decoded = self._source.decode_request(
            HttpRequest(url=url, body=encode(body)), DecodeOptions(history=self._history)
        )
        told = self._source.name != "openai-chat" or _asks_for_usage(body)
        encoded = self._encode(decoded, told=told)
        self._server = ServerContext(
            model=decoded.model,
            make_id=self._make_id,
            stream_usage=told,
            source=self._target.name,
            json_array=decoded.json_array,
            path=path,
            changes=self._changes,
        )
        return _body(encoded)

    def _encode(self, decoded: DecodedRequest, *, told: bool) -> Encoded:
        model = self._model or decoded.model
        provider = _PROVIDERS.get(self._target.name, self._target.name)
        target = Target(model=model, facts=facts_for(provider, self._target.name, model))
        options = EncodeOptions(
            target=target, stream=decoded.stream, stream_usage=told, allow=self._allow, history=self._history
        )
        encoded = self._target.encode_request(_renamed(decoded.request, self._provider_ids), options)
        self._changes = [*decoded.changes, *encoded.changes]
        self._context = DecodeContext(
            target=target, undo=encoded.undo, make_id=self._make_call_id, provider_ids=self._provider_ids
        )
        self._path = encoded.path
        return encoded

    def _default_path(self) -> str:
        return f"/models/{self._model or 'unknown'}:generateContent" if self._source.name == "google" else ""

    def response(self, body: JsonObject) -> JsonObject:
        """The body for the client that the service's answer to the last request stands for.

        Raises: DecodeError, with the first bad place; UpstreamError, for an error in a body that came with status 200.
        """
        response = self._target.decode_response(HttpReply(status=200, body=encode(body)), self._context)
        self._changes += response.changes
        reply = self._source.encode_response(response, self._server)
        return cast("JsonObject", decode_any(reply.body))

    def stream(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The bytes for the client that the service's stream stands for, as they come and however they are cut.

        A stream that breaks off ends with an error in the client's dialect; what `chunks` itself raises goes through.
        """
        decoder, encoder = self._target.stream_decoder(self._context), self._source.stream_encoder(self._server)
        return _told(_events(decoder, chunks), encoder, self._changes)


class _OwnIds:
    """Makes ids of our own: `call_` and 24 letters and digits, the same ones for every bridge."""

    def __init__(self) -> None:
        self._made = 0

    def __call__(self) -> str:
        """The next id."""
        from hashlib import sha256  # 4 ms: only who wants own ids pays for it

        self._made += 1
        return f"call_{sha256(b'%d' % self._made).hexdigest()[:24]}"


def _renamed(request: Request, ids: Mapping[str, str]) -> Request:
    """The request with the provider's ids of calls and results in place of ours, each at most once.

    A provider that began its ids anew with every turn gets the later ones as ours: they are different.
    """
    if not ids:
        return request
    known = {part.id for message in request.messages for part in message.parts if isinstance(part, _CALL_PARTS)}
    names: dict[str, str] = {}
    for own in [own for own in ids if own in known]:
        if ids[own] not in names.values():
            names[own] = ids[own]
    messages = tuple([_with_ids(message, names) for message in request.messages])
    return msgspec.structs.replace(request, messages=messages)


def _with_ids(message: Message, names: Mapping[str, str]) -> Message:
    parts: list[Part] = []
    for part in message.parts:
        match part:
            case ToolCall(id=own) | BrokenToolCall(id=own) if own in names:
                parts.append(msgspec.structs.replace(part, id=names[own]))
            case ToolResult(call_id=own) if own in names:
                parts.append(msgspec.structs.replace(part, call_id=names[own]))
            case _:
                parts.append(part)
    return msgspec.structs.replace(message, parts=tuple(parts))


def _told(events: Iterable[Event], encoder: StreamEncoder, changes: list[Change]) -> Iterator[bytes]:
    for event in events:
        if isinstance(event, StreamEnd):
            changes += event.response.changes
        if data := encoder.encode(event):
            yield data


def _asks_for_usage(body: JsonObject) -> bool:
    options: object = body.get("stream_options")
    return isinstance(options, dict) and cast("JsonObject", options).get("include_usage") is True


def _events(decoder: StreamDecoder, chunks: Iterable[bytes]) -> Iterator[Event]:
    for chunk in chunks:
        if not isinstance(chunk, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance]  # as above
            raise UsageError(f"a stream comes in pieces of bytes, and this one is {kind_of(chunk)}")
        yield from decoder.feed(chunk)
        if decoder.ended:
            return
    yield from decoder.close()


def bridge(
    source: str,
    target: str,
    *,
    model: str | None = None,
    allow: Iterable[Capability] = (),
    history: HistoryPolicy = "refuse",
    call_ids: CallIds = "keep",
    make_id: Callable[[], str] | None = None,
) -> Bridge:
    """A bridge between a client that speaks the dialect `source` and a service that speaks `target`.

    `model` is the service's own model id; without it the client's name of the model goes on. `allow` names what may be
    let go instead of refused, `history` says what becomes of calls and results that do not pair, and `make_id` gives an
    id to an answer whose service gave none. With `call_ids="own"` the client gets ids of ours, of one form whatever the
    service's look like; the bridge remembers which stands for which, and the service gets its own back.

    Raises: ConfigError, for a name that is no dialect; UsageError, for another word that is not known.
    """
    allowed = frozenset((allow,) if isinstance(allow, str) else allow)
    _expect_words("allow", allowed, Capability)
    _expect_words("history", (history,), HistoryPolicy)
    _expect_words("call_ids", (call_ids,), CallIds)
    return Bridge(
        _dialect(source),
        _dialect(target),
        model=model,
        allow=cast("frozenset[Capability]", allowed),
        history=history,
        call_ids=call_ids,
        make_id=make_id,
    )


def _expect_words(option: str, given: Iterable[str], kind: Any) -> None:
    known = get_args(kind)
    for word in given:
        if word not in known:
            raise UsageError(f"{option} takes {', '.join(known)}, not {word!r}")
