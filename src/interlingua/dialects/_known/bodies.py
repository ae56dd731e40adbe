"""Bodies that were read before: an agent's next body is its last one with a few messages more, byte for byte.

Strategy: a body whose conversation and tools are known is remembered as what stands before the end of its messages and
what stands behind. A later body that begins with the one and ends with the other differs from it in messages alone:
only what lies between is read, and where nothing lies between, nothing is.

Why that is right: JSON has no context. What comes before ends right behind an element of the messages, and what follows
begins with the end of that array (both were parsed). If a comma and the inside of an array lie between, which is
checked, then the whole is JSON, and its messages are the known ones and these.

Rules
- As in `_known/histories`: nothing is shared that could be changed, the rest is read by itself only where nothing
  before bears on it, what is told about a request is told each time, and whatever is unusual is read as a whole.
- A body is found by what it begins with: the beginnings lie in order, so the longest that fits is next to it. What many
  have in common before their messages, as an agent's tools, is a stem: compared once, and not with each of them.
- Memory is bounded in bytes of text; when one generation is full, the one before it is forgotten.
- Threads need no lock: each step is one operation on a dict or a list, and a lost race means that work is done twice.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.dialects._contract import DecodedRequest
from interlingua.dialects._known.frames import asked_beside
from interlingua.dialects._known.histories import (
    MAX_TEXT_BYTES,
    KnownMessages,
    alone,
    read_further,
    usual_further,
)
from interlingua.dialects._known.marks import before_marks
from interlingua.dialects._known.sharing import memory_of, shareable_system
from interlingua.dialects._known.tools import KnownTools
from interlingua.types.change import Changes
from interlingua.types.shared import read_only
from interlingua.wire.cache import ByteCache

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._contract import DecodeOptions
    from interlingua.dialects._known.histories import KnownHistory, Read
    from interlingua.dialects._usual.histories import ReadUsual
    from interlingua.types.request import Request

__all__ = ["MAX_BODY_BYTES", "BodyMemo"]

MAX_BODY_BYTES = 2 * MAX_TEXT_BYTES
"""A longer body is never remembered."""
MAX_GENERATION_BYTES = 9_000_000
"""How much memory each of the two generations of a memo may take."""
MAX_ALIKE = 8
"""How many bodies are looked at."""
MAX_AROUND_BYTES = 2_000_000
"""How much text before and behind messages is known again."""
MAX_STEMS = 8
"""How many stems a generation tells apart."""
MIN_STEM_BYTES = 256
"""A shorter one is compared with each body."""
_SPACE = b" \t\r\n"
_ONE_VALUE = msgspec.json.Decoder(msgspec.Raw)
_VALUES = ("output_schema", "logit_bias", "metadata", "extra")
"""Members of a request that hold plain JSON."""


class _KnownBody(msgspec.Struct, frozen=True, gc=False):
    """A body up to the end of its messages, and what it says."""

    stem: bytes
    """What stands up to the end of the tools, where these stand before the messages."""
    head: bytes
    """What stands between the stem and the end of the messages."""
    tail: bytes
    """What stands behind."""
    about: tuple[object, ...]
    """What bears on the reading besides the body."""
    decoded: DecodedRequest
    """What was read; nothing in it can be changed."""
    history: KnownHistory
    """Its conversation."""
    asked: bytes | None
    """What it asks beside messages, tools and system text, as frames tell it."""

    def again(self, history: KnownHistory) -> DecodedRequest:
        """What was read, for another request with a conversation that is or goes on this one."""
        decoded, request, messages = self.decoded, self.decoded.request, history.messages
        if request.extra:
            request = msgspec.structs.replace(request, messages=messages)
        else:
            request = msgspec.structs.replace(request, messages=messages, extra={})
            history.handed = request, self.asked
        return msgspec.structs.replace(decoded, request=request)


_HEAD = attrgetter("head")


class _Generation:
    """Bodies by their stems, in the order of how they go on; of those that are alike, the last comes last."""

    __slots__ = ("shelves", "size_bytes")

    def __init__(self) -> None:
        self.shelves: tuple[tuple[bytes, list[_KnownBody]], ...] = ((b"", []),)
        self.size_bytes = 0

    def alike(self, body: bytes) -> list[_KnownBody]:
        """The bodies whose beginning is the longest that this one has, the last one first."""
        for stem, bodies in self.shelves:
            if bodies and body.startswith(stem):
                rest = body[len(stem) :]
                last = bisect_right(bodies, rest, key=_HEAD)
                for place in range(last - 1, max(-1, last - 1 - MAX_ALIKE), -1):
                    head = bodies[place].head
                    if rest.startswith(head):
                        first = place
                        while first and last - first < MAX_ALIKE and bodies[first - 1].head == head:
                            first -= 1
                        return bodies[first : place + 1][::-1]
        return []

    def put(self, known: _KnownBody, size_bytes: int) -> None:
        """Remember one more, of that size."""
        self.size_bytes += size_bytes
        for stem, bodies in self.shelves:
            if stem == known.stem:
                insort(bodies, known, key=_HEAD)
                return
        if len(self.shelves) <= MAX_STEMS:
            self.shelves = (*self.shelves, (known.stem, [known]))
        else:
            whole = msgspec.structs.replace(known, stem=b"", head=known.stem + known.head)
            insort(self.shelves[0][1], whole, key=_HEAD)


class BodyMemo:
    """The bodies that one dialect read lately."""

    __slots__ = ("_around", "_dialect", "_further", "_mark", "_max_bytes", "_old", "_read", "_usual", "_young")

    def __init__(
        self,
        dialect: str,
        read: Callable[[DecodeOptions, bytes, Changes], Read],
        further: Callable[[DecodeOptions, bytes, Changes, KnownHistory], Read] | None = None,
        usual: ReadUsual | None = None,
        *,
        max_generation_bytes: int = MAX_GENERATION_BYTES,
        mark: bytes | None = None,
    ) -> None:
        """An empty memo; `further` reads an array of messages, told what came before, or else `read` without.

        `usual` reads such an array in one go, if it is usual. `mark` is the name of the member that marks something for
        the prompt cache.
        """
        self._mark = mark
        self._dialect = dialect
        self._read = read
        self._further = further
        self._usual = usual
        self._max_bytes = max_generation_bytes
        self._young = _Generation()
        self._old = _Generation()
        self._around = ByteCache[bytes, bytes](MAX_AROUND_BYTES)

    def find(self, body: bytes, options: DecodeOptions, about: tuple[object, ...]) -> DecodedRequest | None:
        """What a body says that came before, or that goes on with one that did; None where it must be read."""
        about = (options, *about)
        if type(body) is not bytes:
            return None
        for generation in (self._young, self._old):
            for known in generation.alike(body):
                if known.about == about and body.endswith(known.tail):
                    found = self._gone_on(known, body, options)
                    if found is None:
                        continue
                    known_now, history = found
                    if known_now is not known or generation is self._old:
                        self._put(known_now)
                    return known_now.again(history)
        return None

    def _gone_on(
        self, known: _KnownBody, body: bytes, options: DecodeOptions
    ) -> tuple[_KnownBody, KnownHistory] | None:
        """What is known from now on, and the conversation; the one goes as far as the other if nothing is marked."""
        stem_bytes = len(known.stem)
        begin, end = stem_bytes + len(known.head), len(body) - len(known.tail)
        if begin == end:
            return known, known.history
        rest = body[begin:end].lstrip(_SPACE)
        if begin > end or rest[:1] != b"," or len(body) > MAX_BODY_BYTES:
            return None
        text = b"[%b]" % rest[1:]
        if self._mark is None or self._mark not in text:
            further = self._read_rest(known.history, text, options)
            found = None if further is None else _with(known, body[stem_bytes:end], further)
            return None if found is None else (found, found.history)
        parted = before_marks(text, self._mark)
        if parted is not None:
            first, text = parted.both(text)
            further = self._read_rest(known.history, first, options)
            found = None if further is None else _with(known, body[stem_bytes : end - len(rest) + parted.ends], further)
            if found is None:
                return None
            known = found
        marked = self._read_rest(known.history, text, options, is_last=False)
        return None if marked is None or len(marked.entries) != len(known.history.entries) else (known, marked)

    def _read_rest(
        self, known: KnownHistory, rest: bytes, options: DecodeOptions, *, is_last: bool = True
    ) -> KnownHistory | None:
        further = None if self._usual is None else usual_further(known, rest, self._usual, is_last=is_last)
        if further is not None:
            return further
        try:
            _ONE_VALUE.decode(rest)  # and nothing behind it: what follows is the end of this very array
        except (msgspec.DecodeError, RecursionError):  # who reads it as a whole says how deep it may be
            return None
        own = Changes(self._dialect, "decode_request")
        return read_further(known, rest, own, self._reader(options), is_last=is_last)

    def _reader(self, options: DecodeOptions) -> Callable[[bytes, Changes, KnownHistory], Read]:
        further = self._further
        return alone(partial(self._read, options)) if further is None else partial(further, options)

    def keep(
        self,
        body: bytes,
        options: DecodeOptions,
        about: tuple[object, ...],
        texts: tuple[msgspec.Raw | msgspec.UnsetType, msgspec.Raw | msgspec.UnsetType],
        decoded: DecodedRequest,
    ) -> None:
        """Remember what a body says, if all of it is known and can be shared; `texts`: its messages and tools."""
        request, (messages, tools) = decoded.request, texts
        history, known = request.messages, request.tools
        if known and not (type(known) is KnownTools and known.is_sealed):
            return
        if type(history) is not KnownMessages or not history:
            return
        conversation = history.known
        if type(body) is not bytes or len(body) > MAX_BODY_BYTES or isinstance(messages, msgspec.UnsetType):
            return
        text, system = bytes(messages), shareable_system(request.system)
        if system is None or body.count(text) != 1:
            return
        begin = body.index(text)
        head = body[: begin + len(text) - 1].rstrip(_SPACE)
        tail = self._shared(body[len(head) :])
        before = conversation.parent
        if conversation.is_marked and before is not None and before.text:
            if before.entries != conversation.entries:
                return
            head, conversation = head[: begin + len(before.text) - 1], before
        stem = b"" if isinstance(tools, msgspec.UnsetType) else self._stem(body[:begin], bytes(tools))
        kept = msgspec.structs.replace(decoded, request=_read_only(request, system))
        asked = asked_beside(request)
        self._put(_KnownBody(stem, head[len(stem) :], tail, (options, *about), kept, conversation, asked))

    def _stem(self, before: bytes, tools: bytes) -> bytes:
        """What stands before the messages up to the end of the tools, if these stand there."""
        end = before.find(tools) + len(tools)
        return self._shared(before[:end]) if end > max(len(tools), MIN_STEM_BYTES) else b""

    def _shared(self, text: bytes) -> bytes:
        """The same text as before where it came before, as the tools of an agent do: it is at hand, and kept once."""
        known = self._around.get(text)
        if known is None:
            self._around.put(text, text)
        return known or text

    def _put(self, known: _KnownBody) -> None:
        size_bytes, young = sum(map(memory_of, (known.stem, known.head, known.tail))), self._young
        if young.size_bytes + size_bytes > self._max_bytes:
            self._old, self._young = young, (young := _Generation())
        young.put(known, size_bytes)


def _with(known: _KnownBody, head: bytes, history: KnownHistory) -> _KnownBody | None:
    """What is known of a body that goes on; None where what its messages repaired cannot be told apart."""
    decoded, before = known.decoded, known.history.entries
    if len(history.entries) != len(before):  # ids that were made, told behind those of the messages before
        if decoded.changes != before:
            return None
        decoded = msgspec.structs.replace(decoded, changes=history.entries)
    return _KnownBody(known.stem, head, known.tail, known.about, decoded, history, known.asked)


def _read_only(request: Request, system: tuple[Any, ...]) -> Request:
    """The same request; nobody can change what is in it, its messages and tools aside."""
    members: dict[str, Any] = {"system": system}
    for name in _VALUES:
        value = getattr(request, name)
        if value is not None:
            members[name] = read_only(value)
    if request.continues is not None:
        members["continues"] = msgspec.structs.replace(request.continues, raw=read_only(request.continues.raw))
    return msgspec.structs.replace(request, **members)
