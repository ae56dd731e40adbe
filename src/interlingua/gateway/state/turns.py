"""Turns of a model: the identity of each, the turn as it really was, and how a request gets it back.

A client whose dialect has no room for signatures, encrypted items or the provider's own ids sends a turn back without
them. Where its key says that it is the same turn of the same conversation, its parts are those that the provider gave.

Strategy: the key of a turn is a digest of the whole conversation before it, and of the turn itself. One pass over the
messages makes a chain of digests. The key of a turn of the model is the digest of the key before it, of everything that
was said since, and of the turn. So a key covers the whole prefix, the key of a longer conversation extends that of a
shorter one, and a conversation costs time linear in its size.

Rules of keys
- Covered: the system text, the order of speakers, texts, names and arguments of calls, results with the place of their
  call, media by the SHA-256 of their bytes, and the conversation at the provider that a request continues.
- Left out, because clients drop, move or rewrite it when they send a turn again: thinking and its signatures, also as
  `<think>` text at the beginning of a turn, cache marks, ids of calls, tools, blanks around a text, the
  division of a text into parts and of a speaker's words into messages, the order of members in arguments and of results
  in one step. Media of a turn count in the keys after it alone, since not every dialect shows them to the client.
  Claude Code's accounting line in the system text, another one in each request, is no text for the model.
- Every piece has its length before it, so that no two conversations give the same text.

Rules of turns
- A turn with the same key becomes exactly the turn that was: order, seals, the text of arguments.
- Of a turn with another key nothing comes back but the provider's ids of calls that are shown under our own ids.
- Results follow their calls to the ids that the provider knows; no two calls of a request get the same id.

Source: FAILURES ISO-01, ISO-02; decision 0063.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256
from itertools import count, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, cast

import msgspec

from interlingua.dialects._history import ERROR_PREFIX, result_text
from interlingua.dialects.table import store_dialect
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    Part,
    RefusalPart,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
    with_bytes,
)
from interlingua.types.message import Message
from interlingua.wire.json import decode, encode
from interlingua.wire.thoughts import split_thought

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from interlingua.types.request import Request

__all__ = [
    "ModelTurn",
    "Prefix",
    "Restorer",
    "Turn",
    "call_ids_of",
    "has_reasoning",
    "is_worth_keeping",
    "packed",
    "unpacked",
]

VERSION = "interlingua conversation 1"
"""The beginning of the chain: keys of another form never meet these."""
NO_WORDS = "A0:"
"""The digest of a turn without text and calls."""
_SPACED = store_dialect()
"""The dialect that has tools in spaces."""
_JOINT = "__"
"""The joint between such a space and the name of a tool, where other dialects see it."""


class ModelTurn(NamedTuple):
    """A turn of the model in a request: neighbouring messages of the assistant, which some dialects send as one."""

    begin: int
    """Place of the first of them."""
    end: int
    """Place behind the last."""
    call_ids: tuple[str, ...]
    """The ids of its calls, as the request shows them."""
    key: str
    """The digest of the conversation up to and with this turn."""
    text_before: str = ""
    """The text directly before it."""
    words: str = ""
    """Its text and calls."""

    @property
    def step_key(self) -> str:
        """The digest of its text and of what was said before; it shows that reasoning is missing, and gives none back.

        Empty for a turn with calls, which has ids, and for one without text.
        """
        return "" if self.call_ids or self.words in ("", NO_WORDS) else _digest(self.text_before + self.words)


class Prefix:
    """The keys of the turns in one request, and of the turn that answers it."""

    def __init__(self, request: Request) -> None:
        """The conversation of `request`; it is not read before somebody asks for a key."""
        self._request = request

    @property
    def turns(self) -> list[ModelTurn]:
        """The turns of the model in the request, oldest first."""
        return self._walk[0]

    def answer_key(self, parts: Sequence[Part]) -> str:
        """The key of the turn that answers the request with `parts`."""
        return self.answer(parts).key

    def answer(self, parts: Sequence[Part]) -> ModelTurn:
        """The turn that answers the request with `parts`.

        Where the request ends with words of the model, the answer goes on with them.
        """
        turns, before, latest = self._walk
        answer, messages = _Run(), self._request.messages
        begin = len(messages)
        if turns and turns[-1].end == len(messages):
            begin = turns[-1].begin
            for message in messages[begin:]:
                answer.take(message.parts)
        answer.take(parts)
        words = answer.turn()
        return ModelTurn(begin, begin, tuple(answer.call_ids), _digest(before + words), latest, words)

    @cached_property
    def _walk(self) -> tuple[list[ModelTurn], str, str]:
        """The turns of the request, what the digest of the answer begins with, and what was said directly before it."""
        request, turns, run = self._request, list[ModelTurn](), _Run()
        pieces = [VERSION if request.continues is None else VERSION + encode(request.continues.raw).decode()]
        before, latest, messages, place = "", "", request.messages, 0
        if request.system:
            system = request.system
            if system[0].text.startswith(ACCOUNTING):
                system = (TextPart(system[0].text.partition("\n")[2]), *system[1:])
            messages, place = (Message("system", system), *messages), -1
        for role, neighbours in groupby(messages, _ROLE):
            begin = place
            for message in neighbours:
                run.take(message.parts)
                place += 1
            if role == "assistant":
                before, latest, words = "".join(pieces), pieces[-1], run.turn()
                key = _digest(before + words)
                turns.append(ModelTurn(begin, place, tuple(run.call_ids), key, latest, words))
                pieces = [key, *run.rest]
            else:
                pieces.append(run.words(role))
            run.clear()
        is_open = bool(turns) and turns[-1].end == len(request.messages)
        return (turns, before, latest) if is_open else (turns, "".join(pieces), pieces[-1])


_ROLE = attrgetter("role")
ACCOUNTING = "x-anthropic-billing-header:"
"""How the first line of a system text begins that Claude Code writes anew for each request (seen since 2.1.36)."""


class _Run:
    """The words of one speaker in neighbouring messages."""

    __slots__ = ("call_ids", "calls", "places", "rest", "results", "texts")

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        """The place of each call among all calls, by its id."""
        self.texts: list[str] = []
        self.calls: list[str] = []
        self.call_ids: list[str] = []
        self.results: list[tuple[int, str]] = []
        self.rest: list[str] = []

    def clear(self) -> None:
        """Begin anew, with the next speaker."""
        for words in (self.texts, self.calls, self.call_ids, self.results, self.rest):
            if words:
                words.clear()

    def take(self, parts: Sequence[Part]) -> None:
        """Take in the parts of a message."""
        for part in parts:
            if type(part) is TextPart or type(part) is RefusalPart:
                self.texts.append(part.text)
            elif type(part) is ToolCall:
                self.places[part.id] = len(self.places)
                self.call_ids.append(part.id)
                self.calls.append(_call(part))
            elif type(part) is ToolResult:
                self.results.append((self.places.get(part.call_id, -1), _result(part)))
            elif type(part) is not ThinkingPart:
                self.rest.append(_other(part))

    def turn(self) -> str:
        """Text and calls of a turn of the model, as every dialect shows them."""
        text, calls = "".join(self.texts).strip(), "".join(self.calls)
        if text.startswith("<think"):
            text = split_thought(text, may_be_cut=True)[1]
        return f"A{len(text)}:{text}{calls}"

    def words(self, role: str) -> str:
        """Everything that system, user or tools say; empty where that is nothing."""
        text = "".join(self.texts).strip()
        pieces = [f"t{len(text)}:{text}"] if text else []
        for place, result in sorted(self.results):
            pieces.append(f"r{place}{result}")
        pieces += self.rest
        return "".join([role, *pieces]) if pieces else ""


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _sized(kind: str, text: str) -> str:
    return f"{kind}{len(text)}:{text}"


def _call(call: ToolCall) -> str:
    name = call.name
    try:  # in one order and spelling, since clients parse them and write them again
        arguments = _IN_ORDER(_READ(call.arguments_json)).decode()
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        arguments = call.arguments_json
    if call.extra:
        space = call.extra.get(_SPACED, {}).get("namespace")
        name = f"{space}{_JOINT}{name}" if isinstance(space, str) else name
    return f"c{len(name)}:{name}{len(arguments)}:{arguments}"


def _number(text: str) -> int | float:
    number = float(text)
    return int(number) if number.is_integer() else number


_READ = msgspec.json.Decoder(float_hook=_number).decode
_IN_ORDER = msgspec.json.Encoder(order="sorted").encode


def _result(result: ToolResult) -> str:
    """A result; whether it failed is a member in some dialects and the beginning of the text in others."""
    content = result.content
    text = (content if isinstance(content, str) else result_text(result)).strip()
    kind = "o"
    if result.is_error or text.startswith(ERROR_PREFIX):
        kind, text = "e", text.removeprefix(ERROR_PREFIX).strip()
    words = f"{kind}{len(text)}:{text}"
    if not isinstance(content, tuple):
        return words
    return words + "".join([_other(part) for part in content if not isinstance(part, TextPart | Json)])


def _other(part: Part) -> str:
    """Media by the digest of their bytes; whatever else there is by its content."""
    match part:
        case ImagePart(data=data) | AudioPart(data=data) | DocumentPart(data=data):
            return _sized("m", sha256(data).hexdigest())
        case OpaquePart(kind=kind, raw=raw) | ServerToolPart(kind=kind, raw=raw):
            return _sized("p", kind) + _sized("=", _IN_ORDER(raw).decode())
        case BrokenToolCall(name=name, raw_arguments=text):
            return _sized("b", name) + _sized("=", text)
        case _:
            return _sized("x", encode(part).decode())


# Turns as they were


class Turn(msgspec.Struct, frozen=True):
    """One turn of a model, as it was."""

    key: str
    """The digest of its conversation up to and with this turn."""
    parts: tuple[Part, ...]
    """Its parts, in order, with our own call ids."""
    ids: dict[str, str]
    """Our own call id -> the provider's, where it gave one."""
    step_key: str = ""
    """The digest of its text and of what was said directly before it, where it has no calls."""
    begins: bool = False
    """Whether the reasoning of the turns before it is over: its provider refused it as that of another conversation."""


_PACK = msgspec.msgpack.Encoder().encode
_UNPACK = msgspec.msgpack.Decoder(Turn).decode


def call_ids_of(parts: Iterable[Part]) -> list[str]:
    """The ids of the calls among parts."""
    return [part.id for part in parts if type(part) is ToolCall]


def packed(turn: Turn) -> bytes:
    """A turn as one object instead of a dozen: what is kept for hours takes a third of the memory so."""
    try:
        return _PACK(msgspec.structs.replace(turn, parts=with_bytes(turn.parts)))
    except (OverflowError, UnicodeEncodeError):  # whole numbers have no bound in JSON, and what it cannot say is told
        return encode(turn)


def unpacked(text: bytes) -> Turn:
    """The turn that was packed."""
    return decode(text, Turn) if text.startswith(b"{") else _UNPACK(text)


def is_worth_keeping(parts: Sequence[Part]) -> bool:
    """Whether a client could lose something of a turn that can go back as it was.

    Every call can lose its id. A turn with a broken call never goes back as it was.
    """
    kinds = frozenset(map(type, parts))
    if BrokenToolCall in kinds:
        return False
    return ToolCall in kinds or has_reasoning(parts)


def has_reasoning(parts: Iterable[Part]) -> bool:
    """Whether parts hold thinking, or sealed state of any kind."""
    return any([type(part) is ThinkingPart or getattr(part, "sealed", None) is not None for part in parts])


class Restorer:
    """Puts turns back into one conversation and remembers which ids it changed."""

    def __init__(self, messages: Sequence[Message]) -> None:
        """A restorer for `messages`."""
        spoken = [message for message in messages if message.role == "assistant"]  # who else calls cannot be answered
        self._used_ids = {call_id for message in spoken for call_id in call_ids_of(message.parts)}
        self._renamed: dict[str, str] = {}
        self._numbers = count()

    def turn(self, messages: Sequence[Message], turn: Turn) -> Message:
        """The one message of a turn that a request shows as `messages`."""
        shown = [part for message in messages for part in message.parts]
        calls = iter([part for part in shown if type(part) is ToolCall])
        parts: list[Part] = []
        for part in turn.parts:
            if type(part) is ToolCall:
                # A call is as it was; a client that has its tool in a namespace goes on naming it so.
                call, own = next(calls), part
                if own.name != call.name:
                    own = msgspec.structs.replace(own, name=call.name, extra={**own.extra, **call.extra})
                parts.append(self._call(own, call.id, turn.ids.get(own.id)))
            else:
                parts.append(part)
        mark = next((part.cache for part in reversed(shown) if type(part) is TextPart and part.cache), None)
        if mark is not None:  # of the client's, which belongs on the last text
            place = max((place for place, part in enumerate(parts) if type(part) is TextPart), default=None)
            if place is not None:
                parts[place] = msgspec.structs.replace(cast("TextPart", parts[place]), cache=mark)
        return msgspec.structs.replace(messages[0], parts=tuple(parts))

    def ids(self, messages: Sequence[Message], turns: Sequence[Turn]) -> list[Message]:
        """Messages of the model, whose calls get the ids of the provider that `turns` know for those shown."""
        ids = {call_id: providers for turn in turns for call_id, providers in turn.ids.items()}
        result = list(messages)
        for place, message in enumerate(messages if ids else ()):
            if not ids.keys().isdisjoint(call_ids_of(message.parts)):
                parts = [
                    self._call(part, part.id, ids[part.id]) if type(part) is ToolCall and part.id in ids else part
                    for part in message.parts
                ]
                result[place] = msgspec.structs.replace(message, parts=tuple(parts))
        return result

    def results(self, message: Message) -> Message:
        """A message with results, which name their calls as these are named now."""
        if not self._renamed or not any([type(part) is ToolResult for part in message.parts]):
            return message
        parts = [self._result(part) if type(part) is ToolResult else part for part in message.parts]
        return msgspec.structs.replace(message, parts=tuple(parts))

    def _result(self, result: ToolResult) -> ToolResult:
        call_id = self._renamed.get(result.call_id)
        return result if call_id is None else msgspec.structs.replace(result, call_id=call_id)

    def _call(self, call: ToolCall, shown_id: str, providers: str | None) -> ToolCall:
        """The call with the id that its provider knows; `shown_id` is the client's."""
        if providers is not None:
            call_id = shown_id if providers in self._used_ids else providers
        elif call.id != shown_id:
            call_id = shown_id
        else:  # its provider gave none: a numbered id says so to dialects that can leave it out
            call_id = next(made for number in self._numbers if (made := f"call_{number}") not in self._used_ids)
        self._used_ids.add(call_id)
        if call_id != shown_id:
            self._renamed[shown_id] = call_id
        return call if call.id == call_id else msgspec.structs.replace(call, id=call_id)
