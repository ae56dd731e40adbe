"""The cache of tools: an agent sends the same ones with every turn, a program with every call.

Strategy: a list of tools is cached by its exact text, from the second time on that it comes, and with it everything
that encoders made of it. A list that a dialect reads is found by the bytes in which it came, without parsing; one of a
program by its canonical text, which is written for each request (`equal_tools`): a schema that was changed in place has
another text.

Rules
- What requests share cannot be changed, schemas, notes and further members alike: changing one is a TypeError, a copy
  of it (`copy.deepcopy`) is a plain dict. Whoever wants a tool with other members replaces it.
- A program keeps its own tools, handlers included; only the writer of a request sees the cached ones in their place.
- What was written counts only for exactly these tools, untouched; nothing about other tools is ever remembered. What
  writing them changed is told each time.
- Memory is bounded in bytes of text: when one generation is full, the one before it is forgotten.
- Threads need no lock: each step is one operation on a dict, and a lost race only means that something is done twice.
"""

from __future__ import annotations

from itertools import starmap
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.types.change import CODES
from interlingua.types.content import Cache
from interlingua.types.shared import NO_EXTRA, read_only
from interlingua.types.tool import Freeform, OpaqueTool, Tool
from interlingua.wire._nulls import is_told_by
from interlingua.wire.json import encode_wires, write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interlingua.types.change import Change, Changes
    from interlingua.wire.json import WireStruct

__all__ = [
    "MAX_GENERATION_BYTES",
    "CachedTools",
    "NewTools",
    "ToolCache",
    "Written",
    "can_be_told_again",
    "equal_tools",
    "memory_of",
    "write_tools",
]

MAX_GENERATION_BYTES = 3_000_000
"""How much text each of the two generations of a cache holds; a longer text is never remembered."""


_OBJECT_BYTES = 400
"""The bytes of an entry of a schema, beside its text."""


def memory_of(text: bytes) -> int:
    """About how many bytes of memory the text of tools takes with what was read of it."""
    return len(text) + _OBJECT_BYTES * text.count(b"{")


class Written(msgspec.Struct, frozen=True, eq=False):
    """A list of tools as a dialect writes it."""

    text: bytes
    """The JSON array."""
    entries: tuple[Change, ...] = ()
    """The changes of writing it."""


def can_be_told_again(entries: Sequence[Change]) -> bool:
    """Whether entries follow from what is written alone: none is a refusal, or would be one if it were not allowed."""
    return not entries or all([CODES[entry.code].action == entry.action != "refused" for entry in entries])


def write_tools(wires: Sequence[WireStruct], entries: Sequence[Change]) -> Written:
    """Entries of `tools` as JSON text, with what writing them changed.

    Raises: UsageError, with the place, for what JSON cannot say.
    """
    return Written(b"[%b]" % encode_wires(wires), tuple(entries))


class CachedTools(tuple[Tool, ...]):  # noqa: SLOT001 - a tuple has no slots for more members
    """Tools whose schemas cannot be changed, with what encoders made of them."""

    written: dict[tuple[object, ...], Written]
    """By dialect and whatever else decides how it writes them."""
    fitted: dict[tuple[object, ...], object]
    """The fitted forms of their schemas, by the same; None where nothing had to be rewritten."""
    names: frozenset[str]
    """The names."""
    freeform: frozenset[str]
    """The names of the freeform ones."""
    is_marked: bool
    """Whether one has a mark for the prompt cache."""

    def __reduce__(self) -> tuple[type, tuple[list[Tool]]]:
        """Pickled and copied as a plain tuple."""
        return tuple, (list(self),)


class NewTools(tuple[Tool | OpaqueTool, ...]):
    """Tools that were read of a text that no cache had: nobody looks for them again."""

    __slots__ = ()

    def __reduce__(self) -> tuple[type, tuple[list[Tool | OpaqueTool]]]:
        """Pickled and copied as a plain tuple."""
        return tuple, (list(self),)


def _known_tools(tools: list[Tool]) -> CachedTools:
    """Equal tools whose schemas and members cannot be changed, of which nothing was written yet."""
    copies: list[Tool] = []
    for tool in tools:
        extra = read_only(tool.extra) if tool.extra else NO_EXTRA
        parameters = read_only(tool.parameters)
        copies.append(
            msgspec.structs.replace(tool, parameters=parameters, handler=None, metadata=NO_EXTRA, extra=extra)
        )
    cached = CachedTools(copies)
    cached.written, cached.fitted = {}, {}
    cached.names = frozenset([tool.name for tool in tools])
    cached.freeform = frozenset([tool.name for tool in tools if tool.freeform])
    # a mark for the prompt cache may be one of a kind that we do not know
    cached.is_marked = any(
        [tool.cache is not None or any("cache_control" in members for members in tool.extra.values()) for tool in tools]
    )
    return cached


class ToolCache:
    """The tools that one dialect read lately, by the bytes in which they came."""

    __slots__ = ("_bytes", "_max_bytes", "_old", "_young")

    def __init__(self, max_generation_bytes: int = MAX_GENERATION_BYTES) -> None:
        """An empty cache of two generations, each of at most so many bytes of text."""
        self._max_bytes = max_generation_bytes
        self._bytes = 0
        self._young: dict[bytes, CachedTools | None] = {}
        self._old: dict[bytes, CachedTools | None] = {}

    def read(
        self, text: bytes, changes: Changes, decode: Callable[[bytes], tuple[Tool | OpaqueTool, ...]]
    ) -> tuple[Tool | OpaqueTool, ...]:
        """The tools of a JSON array; `decode` reads one that is not cached, `changes` taking what it repairs.

        Raises: what `decode` raises.
        """
        cached = self.get(text)
        if cached is not None:
            return cached
        count = len(changes.entries)
        tools = decode(text)
        if len(changes.entries) == count:
            self.keep(text, tools)
        return NewTools(tools)

    def get(self, text: bytes) -> CachedTools | None:
        """The tools that this text is, if it was kept twice."""
        cached = self._young.get(text)
        if cached is None and (cached := self._old.get(text)) is not None:
            self._put(text, cached, memory_of(text))
        return cached

    def keep(self, text: bytes, tools: tuple[Tool | OpaqueTool, ...]) -> None:
        """Remember what this text is, if it came before and all of it are tools that somebody here can run.

        Most lists that come once never come again: they are not worth the copy.
        """
        plain = [tool for tool in tools if isinstance(tool, Tool)]
        memory = memory_of(text)
        if plain and len(plain) == len(tools) and memory <= self._max_bytes:
            self._put(text, _known_tools(plain) if text in self._young or text in self._old else None, memory)

    def _put(self, text: bytes, cached: CachedTools | None, memory: int) -> None:
        if text not in self._young:
            if self._bytes + memory > self._max_bytes:
                self._old, self._young, self._bytes = self._young, {}, 0
            self._bytes += memory
        self._young[text] = cached


class _WrittenTool(msgspec.Struct, omit_defaults=True, gc=False):
    """The members of a tool that are written somewhere: neither its handler nor the caller's notes."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None
    cache: Cache | None = None
    freeform: Freeform | None = None
    extra: dict[str, dict[str, Any]] = {}


_members = attrgetter(*_WrittenTool.__struct_fields__)
_equal = ToolCache()
"""Tools of programs, by their canonical text."""


def equal_tools(tools: tuple[Tool | OpaqueTool, ...]) -> tuple[Tool | OpaqueTool, ...]:
    """Cached tools that every dialect writes as it writes `tools`; `tools` themselves where there are none.

    A list with a provider's own tool, and one that JSON cannot say, is never cached.
    """
    try:
        written = list(starmap(_WrittenTool, map(_members, tools)))
        text = write_text(written)
    except (AttributeError, TypeError, ValueError, RecursionError):
        return tools
    if not is_told_by(text, written):
        return tools
    cached = _equal.get(text)
    if cached is not None:
        return cached
    _equal.keep(text, tools)
    return tools
