"""The short roads of the dialects and the general ones behind them, side by side, on bodies that somebody has changed.

`Roads` switches off the cache of tools, and the templates of streams. What is left is the general road, and
the law of all of it is that nobody can tell the difference.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy, deepcopy
from importlib import import_module
from random import Random
from typing import Any, cast
from unittest import mock

from bench.rows.pairs import load
from interlingua.dialects import _request, _tool_cache
from interlingua.dialects._contract import (
    DecodeContext,
    DecodedRequest,
    DecodeOptions,
    EncodeOptions,
    Facts,
    Quirks,
    ServerContext,
    Target,
    Undo,
)
from interlingua.dialects._request import RequestWriter
from interlingua.dialects._tool_cache import ToolCache
from interlingua.dialects.anthropic import client_stream
from interlingua.dialects.anthropic.client_stream import MessagesStreamDecoder
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import Error
from interlingua.types.event import Event
from interlingua.types.response import Response
from interlingua.wire.cache import ByteCache
from interlingua.wire.http import HttpReply, HttpRequest
from tests.support.exactly import exactly
from tests.support.upstream_requests import whole_request

__all__ = ["Roads", "changed", "conversations", "marked_turns", "places", "turns"]

HISTORIES = {"openai-responses": "input", "google": "contents"}
"""The members that are the history, where that is not `messages`."""
THINKING: dict[str, dict[str, Any]] = {
    "openai-chat": {"reasoning_effort": "high"},
    "openai-responses": {"reasoning": {"effort": "high"}},
    "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 2_048}, "max_tokens": 4_096},
    "google": {"generationConfig": {"thinkingConfig": {"thinkingBudget": 2_048}}},
    "unified": {"effort": "high"},
}
"""How thinking is asked for."""
TARGETS = (
    Target(model="m"),
    Target(model="m", quirks=Quirks(name_rule="openai", call_id_rule="max40")),
    Target(model="m", quirks=Quirks(tool_only_content="empty", empty_result="marker", call_ids_back=False)),
    Target(model="m", facts=Facts(thinking=frozenset({"enabled", "disabled"}), budgets=(1_024, 64_000))),
    Target(model="m", quirks=Quirks(result_name=True, reasoning_echo="always", strict_schemas=False)),
)
"""Servers of some kinds."""


class Roads:
    """Everything that dialects do, by the road that is open."""

    def __init__(self) -> None:
        """Both roads are there; the short ones are open."""
        self.is_general: bool = False

    @contextmanager
    def built(self) -> Generator[Roads]:
        """Both roads, for as long as the block runs; nothing is remembered from before, and nothing is left."""
        with ExitStack() as stack:
            for holder, name, memo in _memos():
                stack.enter_context(mock.patch.object(holder, name, memo))
            stack.enter_context(mock.patch.object(client_stream, "_starts", _Starts(self)))
            stack.enter_context(mock.patch.object(client_stream, "_latest", list[Any]()))
            for holder, name, instead in _short_roads():
                found = getattr(holder, name)
                either: Any = self._either(found, instead)
                if isinstance(holder, type) and issubclass(holder, RequestWriter):
                    either = staticmethod(either)
                stack.enter_context(mock.patch.object(holder, name, either))
            yield self

    def _either(self, short: Callable[..., Any], instead: Callable[..., Any]) -> Callable[..., Any]:
        def go(*arguments: Any, **named: Any) -> Any:
            return (instead if self.is_general else short)(*arguments, **named)

        return go

    def _both(self, go: Callable[[], Any], times: int) -> Any:
        """What the general road gives, which the short ones have to give, again and again."""
        self.is_general = True
        expected = go()
        self.is_general = False
        found = expected
        for _ in range(times):
            found = go()
            if exactly(found) != exactly(expected):
                raise AssertionError(f"the general road says\n{exactly(expected)}\nand the short one\n{exactly(found)}")
        return found

    def check_request(self, name: str, url: str, body: bytes, random: Random) -> None:
        """A request is read alike, and what is read of it is written alike in another dialect."""
        http, options = HttpRequest(url=url, body=body), DecodeOptions(history=random.choice(("refuse", "mend")))
        self.is_general = True
        general = _tried(lambda: get_dialect(name).decode_request(http, options))
        decoded = self._both(lambda: _tried(lambda: get_dialect(name).decode_request(http, options)), 2)
        if not isinstance(decoded, DecodedRequest) or not isinstance(general, DecodedRequest):
            return
        encode = get_dialect(random.choice(list(DIALECTS))).encode_request
        how = EncodeOptions(target=random.choice(TARGETS), stream=decoded.stream, history=options.history)
        self.is_general = True
        expected = _told(_tried(lambda: encode(general.request, how)))
        self.is_general = False
        for _ in range(2):
            if (found := _told(_tried(lambda: encode(decoded.request, how)))) != expected:
                raise AssertionError(f"the general road writes\n{expected}\nand the short one\n{found}")

    def check_answer(self, name: str, body: bytes, random: Random) -> None:
        """An answer is read alike, and written alike in another dialect."""
        reply, number, source = HttpReply(status=200, body=body), random.randrange(4), random.choice(list(DIALECTS))
        response = self._both(lambda: _tried(lambda: get_dialect(name).decode_response(reply, _context(number))), 1)
        if not isinstance(response, Response):
            return
        other = get_dialect(random.choice(list(DIALECTS)))
        asked = HttpRequest(url=load(other.name).url, body=load(other.name).request) if number & 1 else None

        def write() -> tuple[object, object]:
            changes: list[Any] = []
            request = None if asked is None else other.decode_request(asked, DecodeOptions()).request
            served = ServerContext(model="shown", make_id=lambda: "a", source=source, request=request, changes=changes)
            return _tried(lambda: other.encode_response(cast("Response[Any]", response), served)), changes

        self._both(write, 2)

    def check_stream(self, name: str, body: bytes, random: Random) -> None:
        """A stream is read alike, wherever it is cut."""
        number, ends = (
            random.randrange(4),
            [place + 1 for place in range(len(body)) if body[place : place + 1] == b"\n"],
        )
        self.is_general = True
        expected = _events(name, [body], number)
        self.is_general = False
        inside = sorted(random.randrange(len(body) + 1) for _ in range(random.randrange(12)))
        for cuts in (ends, ends[1::2], inside):
            pieces = [body[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(body)], strict=True) if begin < end]
            if (found := _events(name, pieces, number)) != expected:
                raise AssertionError(f"the general road reads\n{expected}\nand in pieces\n{found}\nof\n{pieces}")


class _Starts(ByteCache[bytes, Any]):
    """Beginnings of texts that streams have in common, of which the general road knows nothing."""

    def __init__(self, roads: Roads) -> None:
        super().__init__(100_000)
        self._roads = roads

    def get(self, key: bytes, default: Any = None) -> Any:
        """What is known of it."""
        return default if self._roads.is_general else super().get(key, default)

    def put(self, key: bytes, value: Any) -> None:
        """As that of the cache in whose place it stands."""
        self[key] = value


def _short_roads() -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    """Where a short road begins: its holder, its name, and what is done in its place."""

    def nothing(*_: object, **__: object) -> None:
        return None

    def anew_tools(_: object, text: Any, _changes: object, decode: Callable[[Any], Any]) -> Any:
        return decode(text)

    def same(tools: Any) -> Any:
        return tools

    yield ToolCache, "read", anew_tools
    yield _request, "equal_tools", same
    for module in DIALECTS.values():
        stream = import_module(f"{module}.client_stream")
        for name in ("template_of", "numbered_template_of"):
            if hasattr(stream, name):
                yield stream, name, nothing
    yield MessagesStreamDecoder, "_begins_as_before", lambda *_: False


def _memos() -> Iterator[tuple[Any, str, Any]]:
    """Where something is remembered: its holder, its name, and an empty one of its kind."""
    for module in DIALECTS.values():
        for holder in (import_module(f"{module}.server"), import_module(f"{module}.tools"), _tool_cache):
            for name, memo in list(vars(holder).items()):
                if isinstance(memo, ToolCache):
                    empty: Any = copy(memo)
                    empty._young, empty._old = type(empty._young)(), type(empty._old)()
                    yield holder, name, empty


def _tried(go: Callable[[], Any]) -> Any:
    """What is made; the error that it is, its place and code included."""
    try:
        return go()
    except Error as error:
        return repr(error), error.message, error.code, getattr(error, "path", None)


def _told(encoded: Any) -> str:
    """A written request; names in no order stand in one."""
    if isinstance(encoded, tuple):
        return exactly(cast("object", encoded))
    undo = encoded.undo
    named = [sorted(names) for names in (undo.tool_names, undo.freeform, undo.history_ids)]
    rest = (undo.names, undo.first_index, undo.arguments, undo.output, named)
    return exactly((encoded.path, encoded.body, encoded.headers, encoded.changes, rest))


def _context(number: int) -> DecodeContext:
    numbers = iter(range(1_000_000))
    return DecodeContext(
        target=Target(model="m", provider="p"),
        undo=Undo(tool_names=frozenset({"look"}), history_ids=frozenset({"call_1"})) if number & 1 else Undo(),
        make_id=(lambda: f"own_{next(numbers)}") if number & 2 else None,
        provider_ids={} if number & 2 else None,
    )


def _events(name: str, pieces: Sequence[bytes], number: int) -> str:
    decoder = get_dialect(name).stream_decoder(_context(number))
    events: list[Event] = []
    for piece in pieces:
        events += decoder.feed(piece)
        if decoder.ended:
            break
    return "\n".join(map(exactly, [*events, *decoder.close()]))


# What a client may make of a body

ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, "", " ", "x", "user", "tool", "assistant", "system", "model", "call_0", "call_1", "auto"),
    *([], {}, [1], [[]], {"x": 1}, "{}", "[]", "ERROR: x", "null", '{"a":1,"a":2}', '{"a":'),
)
"""What may stand in the place of anything."""
TEXTS = (
    *('"\\ud800"', '"\\u0041\\ud83d\\ude00"', "1e400", "-0", "-0.0", "9" * 30, "01", "NaN", '{"a":1,"a":2}', "{ }"),
    *("[" * 140 + "]" * 140, "[" * 100 + "]" * 100, '"a\\/b"', '"\\u0000"'),
)
"""The same, of what no writer of JSON writes so."""
NAMES = (
    "id",
    "name",
    "type",
    "role",
    "content",
    "status",
    "x",
    "cache_control",
    "index",
    "thought",
    "extra",
    "n",
    "input",
)
_MARK = "\ue000"


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value within a JSON value."""
    if path:
        yield path
    steps: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        steps = cast("dict[str, Any]", value).items()
    elif isinstance(value, list):
        steps = enumerate(cast("list[Any]", value))
    for step, below in steps:
        yield from places(below, (*path, step))


def changed(value: Any, random: Random, times: int = 1) -> bytes:
    """A JSON object as text, with something in it replaced, left out, put in, repeated, moved or written otherwise."""
    value, texts = deepcopy(value), list[tuple[str, str]]()
    for _ in range(times):
        path = random.choice(list(places(value)))
        holder = value
        for step in path[:-1]:
            holder = holder[step]
        _change(holder, path[-1], random, texts)
    style: dict[str, Any] = random.choice(({"separators": (",", ":")}, {}, {"indent": 1}))
    text = json.dumps(value, ensure_ascii=random.random() < 0.3, **style)
    for mark, instead in texts:
        text = text.replace(json.dumps(mark), instead, 1).replace(f'"{mark}"', instead, 1)
    return text.encode(errors="surrogatepass")


def _change(holder: Any, last: Any, random: Random, texts: list[tuple[str, str]]) -> None:
    how = random.randrange(6)
    if how == 0:
        holder[last] = deepcopy(random.choice(ODD))
    elif how == 1:
        mark = f"{_MARK}{len(texts)}"
        holder[last] = mark
        texts.append((mark, random.choice(TEXTS)))
    elif how == 2:
        del holder[last]
    elif isinstance(holder, list):
        items = cast("list[Any]", holder)
        items.insert(random.randrange(len(items) + 1), deepcopy(items[last]) if how < 5 else items.pop(last))
    elif how == 3:
        holder[random.choice(NAMES)] = deepcopy(random.choice(ODD))
    elif how == 4:  # told twice
        mark = f"{_MARK}{len(texts)}"
        told = json.dumps(holder[last])
        holder[last] = mark
        texts.append((mark, f"{json.dumps(random.choice(ODD))},{json.dumps(last)}:{told}"))
    else:
        holder[last] = holder.pop(last)  # at the end


def conversations(name: str) -> list[Any]:
    """Bodies of agents: as long as they are, without tools, just begun, and with everything."""
    long = json.loads(load(name).request)
    member = HISTORIES.get(name, "messages")
    short = {key: value for key, value in long.items() if key not in ("tools", "tool_choice", "toolConfig")}
    begun = {**short, member: long[member][:3]}
    thinking = {**long, **THINKING.get(name, {})}
    return [thinking, long, short, begun, *([] if name == "unified" else [whole_request(name)])]


def turns(name: str, body: Any, random: Random) -> Iterator[bytes]:
    """Bodies of a conversation as it grows, some of them twice, some of them changed on the way."""
    member = HISTORIES.get(name, "messages")
    history = body[member]
    for length in sorted({*random.sample(range(1, len(history) + 1), min(3, len(history))), len(history)}):
        told = {**body, member: history[:length]}
        plain = json.dumps(told, separators=(",", ":")).encode()
        for _ in range(random.randrange(1, 4)):
            yield plain
        for _ in range(2):
            yield changed(told, random, random.randrange(1, 3))
            last = changed({member: history[max(0, length - 2) : length]}, random)
            yield plain.replace(json.dumps(told[member], separators=(",", ":")).encode(), _array(last, told[member]))


def marked_turns(random: Random) -> Iterator[bytes]:
    """Bodies of an agent that speaks Messages and marks the last of what it says, as it grows.

    How many it marks and how, whether it thinks and keeps that, and what its results are differs from agent to agent.
    """
    whole = json.loads(load("anthropic").request)
    if random.random() < 0.5:
        whole["system"] = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    if random.random() < 0.5:
        whole["tools"][-1]["cache_control"] = {"type": "ephemeral"}
    if random.random() < 0.5:
        whole.update(THINKING["anthropic"])
    most, thinks = random.choice((1, 2, 2, 3, 6)), random.random() < 0.5
    odd, kind = random.random() < 0.3, random.randrange(4)
    history: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "Look, please. " * 20}]}]
    for number in range(random.randrange(3, 9)):
        told = {**whole, "messages": deepcopy(history)}
        for message in [one for one in told["messages"] if odd or one["role"] == "user"][-most:]:
            message["content"][-1]["cache_control"] = random.choice(MARKS) if odd else MARKS[0]
        for _ in range(random.randrange(1, 3)):
            yield json.dumps(told, separators=random.choice(((",", ":"), None))).encode()
        if odd:
            yield changed(told, random)
        history += _agents_step(number, random.randrange(4) if kind == 3 else kind, thinks=thinks)


MARKS: tuple[Any, ...] = (
    *({"type": "ephemeral"}, {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}),
    *({"type": "ephemeral", "ttl": "9d"}, {"ttl": 1, "type": "ephemeral"}),
)
"""Marks for the prompt cache, usual ones first."""


def _agents_step(number: int, kind: int, *, thinks: bool) -> list[Any]:
    said: list[Any] = [{"type": "thinking", "thinking": f"Hm {number}.", "signature": "c2VhbGVk"}] if thinks else []
    said += [{"type": "text", "text": f"Step {number}."}] if kind % 2 else []
    named = f"toolu_{number}", {"city": "Oslo", "cache_control": number}
    said.append({"type": "tool_use", "id": named[0], "name": "get_weather_1", "input": named[1]})
    texts: Any = [{"type": "text", "text": f"{number} degrees"}, {"type": "text", "text": "or so"}][: kind or 1]
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    result = {"type": "tool_result", "tool_use_id": named[0], "content": texts if kind else f"{number} degrees"}
    rest = [{"type": "text", "text": "Go on."}] if kind == 1 else [image] if kind == 3 and number == 2 else []
    return [{"role": "assistant", "content": said}, {"role": "user", "content": [result, *rest]}]


def _array(text: bytes, history: list[Any]) -> bytes:
    """A history of which the last messages are said otherwise; the text is an object that holds these."""
    begun = json.dumps(history[: max(0, len(history) - 2)], separators=(",", ":")).encode()[:-1]
    inside = text.partition(b"[")[2].strip().removesuffix(b"}").strip()
    return begun + (b"," if len(begun) > 1 and inside != b"]" else b"") + inside
