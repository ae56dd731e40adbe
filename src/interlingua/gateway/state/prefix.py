"""The identity of a turn: a digest of the whole conversation before it, and of the turn itself.

Strategy: one pass over the messages makes a chain of digests. The key of a turn of the model is the digest of the key
before it, of everything that was said since, and of the turn. So a key covers the whole prefix, the key of a longer
conversation extends that of a shorter one, and a conversation costs time linear in its size.

Rules
- Covered: the system text, the order of speakers, texts, names and arguments of calls, results with the place of their
  call, media by the SHA-256 of their bytes, and the conversation at the provider that a request continues.
- Left out, because clients drop, move or rewrite it when they send a turn again: thinking and its signatures, also as
  `<think>` text at the beginning of a turn, cache marks, ids of calls, tools, blanks around a text, the
  division of a text into parts and of a speaker's words into messages, the order of members in arguments and of results
  in one step. Media of a turn count in the keys after it alone, since not every dialect shows them to the client.
  Claude Code's accounting line in the system text, another one in each request, is no text for the model.
- Every piece has its length before it, so that no two conversations give the same text.

Source: FAILURES ISO-01, ISO-02; decision 0063.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

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
    RefusalPart,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message
from interlingua.wire.json import encode
from interlingua.wire.thoughts import split_thought

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlingua.types.content import Part
    from interlingua.types.request import Request

__all__ = ["ModelTurn", "Prefix"]

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
            messages, place = (Message("system", _without_accounting(request.system)), *messages), -1
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


def _without_accounting(system: tuple[TextPart, ...]) -> tuple[TextPart, ...]:
    if not system[0].text.startswith(ACCOUNTING):
        return system
    return (TextPart(system[0].text.partition("\n")[2]), *system[1:])


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
    name, arguments = call.name, _arguments(call.arguments_json)
    if call.extra:
        space = call.extra.get(_SPACED, {}).get("namespace")
        name = f"{space}{_JOINT}{name}" if isinstance(space, str) else name
    return f"c{len(name)}:{name}{len(arguments)}:{arguments}"


def _arguments(text: str) -> str:
    """Arguments in one order and spelling, since clients parse them and write them again."""
    try:
        return _IN_ORDER(_READ(text)).decode()
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return text


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
