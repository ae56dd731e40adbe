"""What is known of a body before it is read as a whole: the names and texts of its members, and what they say.

Rules
- A body that came before, or that goes on with a conversation that did, is known again (`known`): an agent's next body
  is its last one with a few messages more, byte for byte.
- What takes a search through the history is found when somebody asks for it, and once.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import msgspec

from interlingua.errors import DecodeError
from interlingua.gateway.calls.known import KnownBodies, begun
from interlingua.gateway.calls.reading import spaced_pieces
from interlingua.wire.json import decode

if TYPE_CHECKING:
    from interlingua.client.call.job import Lane
    from interlingua.dialects._contract import DecodedRequest
    from interlingua.gateway.calls.plan import Plan
    from interlingua.gateway.http import GatewayRequest, Seen

__all__ = ["BODIES", "TOOL_MARKS", "Head", "Offered", "Placed", "ReadAs", "missing", "nothing_said", "read_head"]

_SAID_IN: dict[str, tuple[str, ...]] = {
    "openai-responses": ("input", "previous_response_id", "conversation", "prompt"),
    "google": ("contents",),
}
"""The members that say something to the model, the history first, where it is not `messages` alone."""
_MESSAGES = ("messages",)
_NOTHING = frozenset({b"", b"[]", b"null", b'""'})
_LONGEST_NOTHING = 4
_GOOGLE = re.compile(r".*/(?:models|(?P<kind>tunedModels))/(?P<name>.+):(?P<method>\w+)")
_OUR_ID = re.compile(rb"_il[a-z0-9]{22}")
"""What tells that a turn of the history came from another dialect: our own ids."""
_UNSIGNED = re.compile(rb'"signature":\s?""')
"""What tells it of a turn that Messages wrote: thinking that nobody signed."""
_ACTING = re.compile(
    rb'"(?:web_?search|web_fetch|file_?search|code_interpreter|code_?execution|image_generation|mcp|computer_use|'
    rb'google_?search|google_?maps|url_?context|tool_search)\w*"',
    re.IGNORECASE,
)
"""What among tools tells of one that the provider runs; a caller's own tool of such a name is only asked for once."""
TOOL_MARKS = (b'"strict"', b'"custom"')
"""What among tools some servers want in other words."""
_STATE = frozenset({"previous_response_id", "conversation", "cachedContent", "cached_content", "mcp_servers"})
"""Members that let a provider act, or keep something."""
_MOST_REMEMBERED_BYTES = 65_536
_PLAIN = re.compile(rb'"[\w./:@+ -]*"', re.ASCII)
"""A text that is what it says: names of models are."""
_Members = dict[str, msgspec.Raw]


class Offered(NamedTuple):
    """What the tools of a request are, as far as that matters before they are read."""

    acts: bool
    """Whether one of them is the provider's own."""
    marks: frozenset[bytes]
    """Which of `TOOL_MARKS` stand in them."""


class Placed(NamedTuple):
    """Where the text of a member stands in a body that can be cut there."""

    at: int
    """Its first byte; counted from the end where it is negative, since a history may grow before it."""
    text: bytes
    """What stands there."""


class ReadAs(NamedTuple):
    """A body that was read as a whole."""

    seen: Seen
    """What is known of the head with which it came; address and headers have a say in what a body means."""
    decoded: DecodedRequest | None
    """What it says, where it came so before; nobody in a gateway writes to it."""


class Head(msgspec.Struct):
    """What is known of a body before it is read as a whole; bodies that are alike may share it."""

    dialect: str
    """The dialect that it is in."""
    model: str
    """The model that the client names."""
    stream: bool
    """Whether it wants a stream."""
    json_array: bool
    """Whether it wants the stream as one JSON array."""
    members: dict[str, msgspec.Raw]
    """The members of the body as text."""
    offered: Offered | None
    """What its tools are; None where none are offered."""
    says_something: bool
    """Whether there is anything to say to the model."""
    placed: Placed | None = None
    """Where the model is named; None where the body has no such place, or is not written as usual."""
    relayed: tuple[Plan, tuple[Lane, ...]] | None = None
    """The targets of a plan to which the body can go out as it came, once that was found."""
    tokens: tuple[int, int] | None = None
    """About how many tokens the body has, and the most that it lets be written, once that was found."""
    read_as: ReadAs | None = None
    """How the whole body was read last, once it was."""
    _is_ours: bool | None = None
    _is_committed: bool | None = None
    _marks: dict[tuple[str, bytes], bool] = {}

    @property
    def has_tools(self) -> bool:
        """Whether tools are offered."""
        return self.offered is not None

    @property
    def is_ours(self) -> bool:
        """Whether the history holds turns that were translated for this client, so that no provider knows them."""
        if self._is_ours is None:
            said_in = _SAID_IN.get(self.dialect, _MESSAGES)
            self._is_ours = any(_is_ours(self.members[one], self.dialect) for one in said_in if one in self.members)
        return self._is_ours

    @property
    def is_committed(self) -> bool:
        """Whether the request lets the provider act or keep something, so that it must not run twice."""
        if self._is_committed is None:
            self._is_committed = self._commits()
        return self._is_committed

    def _commits(self) -> bool:
        members = self.members
        if bytes(members.get("store", b"")) == b"true":
            return True
        if not _STATE.isdisjoint(members) and any(_is_said(members, name) for name in _STATE):
            return True
        return self.offered is not None and self.offered.acts

    def has_mark(self, member: str, mark: bytes) -> bool:
        """Whether a mark stands in the text of a member."""
        text = self.members.get(member)
        if text is None:
            return False
        known = self._marks.get((member, mark))
        if known is None:
            known = self._marks[member, mark] = mark in bytes(text)
        return known

    def begun(self, member: str, text: bytes) -> Head:
        """The same of a body whose history is `text`, with which this one's begins."""
        members = {**self.members, member: msgspec.Raw(text)}
        ours = _is_ours(text, self.dialect)
        return msgspec.structs.replace(
            self, members=members, relayed=None, tokens=None, read_as=None, _is_ours=ours, _marks={}
        )

    def gone_on(self, member: str, text: bytes, more: bytes) -> Head:
        """The same of a body whose history is `text`, in which `more` came behind what was known."""
        is_ours = self._is_ours
        if is_ours is False:
            is_ours = _is_ours(more, self.dialect)
        marks = self._marks.copy()
        for (where, mark), stands in self._marks.items():
            if not stands and where == member and mark in more:
                marks[where, mark] = True
        relayed = self.relayed if is_ours is self._is_ours and marks == self._marks else None
        members = {**self.members, member: msgspec.Raw(text)}
        return msgspec.structs.replace(
            self, members=members, relayed=relayed, tokens=None, read_as=None, _is_ours=is_ours, _marks=marks
        )


BODIES: KnownBodies[Head] = KnownBodies()
"""The bodies that came lately."""


def read_head(http: GatewayRequest, name: str) -> Head:
    """The head of a body in the dialect `name`.

    Raises: DecodeError with the place; LimitExceededError.
    """
    about = (name, http.path, http.query) if name == "google" else name
    known = BODIES.find(http.body, about)
    if known is not None:
        return known
    try:
        members: _Members = decode(http.body, _Members)
        head = _google_head(http, members) if name == "google" else _head(name, members)
    except DecodeError as error:
        error.status = 400
        raise
    _place(http.body, about, head)
    return head


def _place(body: bytes, about: object, head: Head) -> None:
    """Find where a body can be cut, and remember one that is written as usual."""
    pieces = spaced_pieces(head.members, body)
    if pieces is None:
        return
    names = list(head.members)
    member = _SAID_IN.get(head.dialect, _MESSAGES)[0]
    history = names.index(member) if member in head.members else len(names)
    if "model" in head.members and head.dialect != "google":
        place = names.index("model")
        at = begun(pieces, place)
        head.placed = Placed(at if place < history else at - len(body), bytes(head.members["model"]))
    if history < len(names):
        BODIES.keep(body, about, member, begun(pieces, history), head)


def _head(name: str, members: _Members) -> Head:
    model, stream = _text(members, "model"), _flag(members, "stream")
    streams = name == "ollama" if stream is None else stream
    return Head(name, model, streams, False, members, _offered(members), _says_something(members, name))


def _google_head(http: GatewayRequest, members: _Members) -> Head:
    found = _GOOGLE.fullmatch(http.path)
    if found is None:
        raise DecodeError("the path names no model: it must end in /models/NAME:generateContent")
    name = unquote(found["name"])
    streams = found["method"] == "streamGenerateContent"
    return Head(
        "google",
        f"{found['kind']}/{name}" if found["kind"] else name,
        streams,
        streams and "alt=sse" not in http.query.split("&"),
        members,
        _offered(members),
        _says_something(members, "google"),
    )


def _text(members: _Members, name: str) -> str:
    text = members.get(name)
    if text is None:
        return ""
    told = bytes(text)
    return told[1:-1].decode() if _PLAIN.fullmatch(told) else _member(text, str | None, name) or ""


def _flag(members: _Members, name: str) -> bool | None:
    text = members.get(name)
    return None if text is None else _member(text, bool | None, name)


def _member(text: msgspec.Raw, kind: Any, name: str) -> Any:
    try:
        return decode(text, kind)
    except DecodeError as error:
        raise error.under(f"/{name}") from None


def _is_ours(text: bytes | msgspec.Raw, dialect: str) -> bool:
    told = bytes(text)
    if b"_il" in told and _OUR_ID.search(told):
        return True
    return dialect == "anthropic" and b'"signature"' in told and _UNSIGNED.search(told) is not None


def _says_something(members: _Members, name: str) -> bool:
    return any([_is_said(members, member) for member in _SAID_IN.get(name, _MESSAGES)])


def _is_said(members: _Members, name: str) -> bool:
    """Whether a member holds something."""
    text = members.get(name)
    return text is not None and (len(told := bytes(text)) > _LONGEST_NOTHING or told not in _NOTHING)


def _offered(members: _Members) -> Offered | None:
    """What the tools of a body are; agents offer the same ones again and again."""
    text = members.get("tools")
    tools = b"" if text is None else bytes(text)
    if tools in _NOTHING:
        return None
    return (_look_at if len(tools) <= _MOST_REMEMBERED_BYTES else _look_at.__wrapped__)(tools)


@lru_cache(maxsize=128)
def _look_at(tools: bytes) -> Offered:
    return Offered(_ACTING.search(tools) is not None, frozenset([mark for mark in TOOL_MARKS if mark in tools]))


def missing(member: str, hint: str) -> DecodeError:
    """The error of a body that lacks a member."""
    return DecodeError(f"/{member}: it is missing or empty; {hint}", path=f"/{member}", status=400)


def nothing_said(name: str) -> DecodeError:
    """The error of a body in the dialect `name` that says nothing to the model."""
    return missing(_SAID_IN.get(name, _MESSAGES)[0], "there is nothing to say to the model")
