"""One request of a client, read: whom it names, how it wants its answer, and what it asks.

Strategy: only the head of a body is read first, the names and texts of its members. A request that can go out as it
came needs no more; one that has to be translated is read whole.

Rules
- A body without a model, or without anything to say to it, is refused with the name of the missing member.
- Histories of foreign clients are mended; the unified dialect refuses by its rules.
- The answer shows the model under the name that the client used for it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import msgspec

from interlingua.dialects._contract import DecodeOptions, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError, PermissionDeniedError
from interlingua.gateway.keys.admission import FREE
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode

if TYPE_CHECKING:
    from interlingua.client.job import Lane
    from interlingua.dialects._contract import DecodedRequest, Dialect
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.keys.admission import Grant
    from interlingua.gateway.settings import GatewayKey
    from interlingua.gateway.state.keep import Keeping
    from interlingua.types.change import Change
    from interlingua.types.response import Response

__all__ = [
    "ANSWER_IDS",
    "MAX_MODEL_CHARACTERS",
    "TOOL_MARKS",
    "Asked",
    "Head",
    "Offered",
    "missing",
    "read",
    "read_head",
]

ANSWER_IDS = {"openai-chat": "chatcmpl-", "openai-responses": "resp_", "anthropic": "msg_"}
"""How ids of answers begin, by dialect."""
MAX_MODEL_CHARACTERS = 1_024
"""How long the name of a model may be, a chain included."""
_SAID_IN: dict[str, tuple[str, ...]] = {
    "openai-responses": ("input", "previous_response_id", "conversation", "prompt"),
    "google": ("contents",),
}
"""The members that say something to the model, where it is not `messages` alone."""
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
_MEND, _REFUSE = DecodeOptions(history="mend"), DecodeOptions()
_Members = dict[str, msgspec.Raw]


class Offered(NamedTuple):
    """What the tools of a request are, as far as that matters before they are read."""

    acts: bool
    """Whether one of them is the provider's own."""
    marks: frozenset[bytes]
    """Which of `TOOL_MARKS` stand in them."""


class Head(msgspec.Struct, frozen=True):
    """What is known of a body before it is read as a whole."""

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

    @property
    def has_tools(self) -> bool:
        """Whether tools are offered."""
        return self.offered is not None


class Asked(msgspec.Struct, eq=False):
    """One request of a client, whose head was read."""

    gateway: Gateway
    """Who was asked."""
    http: GatewayRequest
    """The request as it came."""
    dialect: Dialect
    """The client's dialect."""
    head: Head
    """What is known of its body."""
    key: GatewayKey | None = None
    """The key that it brought; None where none is wanted."""
    changes: list[Change] = []
    """What writing the answer changed."""
    provider_ids: dict[str, str] = {}
    """Our own call ids in the answer, and the provider's that they stand for."""
    grant: Grant = FREE
    """The right to make this call."""
    keeping: Keeping | None = None
    """How the answer is kept, for a client that can go on from it by its id."""
    relayed: tuple[Lane, ...] = ()
    """The targets that get the body as it came."""
    _decoded: DecodedRequest | None = None
    _is_ours: bool | None = None
    _is_committed: bool | None = None

    @property
    def owner(self) -> str:
        """The name of that key: whose state it may see; empty where there is none."""
        return "" if self.key is None else self.key.name

    @property
    def decoded(self) -> DecodedRequest:
        """The whole request, read by its dialect the first time that somebody asks.

        Raises: DecodeError, HistoryError, LimitExceededError.
        """
        if self._decoded is None:
            self._decoded = self._read()
        return self._decoded

    @property
    def is_read(self) -> bool:
        """Whether the whole request was read."""
        return self._decoded is not None

    def _read(self) -> DecodedRequest:
        http = self.http
        url = f"{http.path}?{http.query}" if http.query else http.path
        request = HttpRequest(method=http.method, url=url, headers=http.headers, body=http.body)
        return self.dialect.decode_request(request, _REFUSE if self.dialect.name == "unified" else _MEND)

    @property
    def is_ours(self) -> bool:
        """Whether the history holds turns that were translated for this client, so that no provider knows them."""
        if self._is_ours is None:
            self._is_ours = self._holds_ours()
        return self._is_ours

    def _holds_ours(self) -> bool:
        if self.keeping is not None and self.keeping.is_changed:
            return True
        members, name = self.head.members, self.dialect.name
        for one in _SAID_IN.get(name, _MESSAGES):
            text = members.get(one)
            if text is not None and (_OUR_ID.search(text) or (name == "anthropic" and _UNSIGNED.search(text))):
                return True
        return False

    @property
    def is_committed(self) -> bool:
        """Whether the request lets the provider act or keep something, so that it must not run twice."""
        if self._is_committed is None:
            self._is_committed = self._commits()
        return self._is_committed

    def _commits(self) -> bool:
        members = self.head.members
        if "store" in members and bytes(members["store"]) == b"true":
            return True
        if not _STATE.isdisjoint(members) and any(_is_said(members, name) for name in _STATE):
            return True
        return self.head.offered is not None and self.head.offered.acts

    @property
    def wants_usage(self) -> bool:
        """Whether token counts belong in the stream."""
        if self.dialect.name != "openai-chat":
            return True
        options = self.head.members.get("stream_options")
        return options is not None and _includes_usage(options)

    @property
    def read_changes(self) -> tuple[Change, ...]:
        """What reading the request repaired; nothing where it went out as it came."""
        return () if self._decoded is None else self._decoded.changes

    async def remember(self, response: Response[Any]) -> None:
        """Keep what the client's dialect has no room for of a translated answer, for its next request."""
        await self.gateway.vault.remember(self.owner, self.decoded.request, response, self.provider_ids)

    async def keep(self, response: Response[Any], lane: Lane, body: bytes | None = None) -> None:
        """Keep an answer for a client that can go on from it by its id; `body` is its whole text, where it has one."""
        keeping = self.keeping
        if keeping is None:
            return

        def written() -> bytes:
            if body is not None:
                return body
            context = msgspec.structs.replace(self.context(lane.dialect.name), changes=None)
            return self.dialect.encode_response(keeping.answer(response, lane), context).body

        await keeping.keep(response, lane, written)

    def context(self, source: str | None) -> ServerContext:
        """How the answer is to be written, when a target of the dialect `source` gave it."""
        gateway = self.gateway
        prefix = ANSWER_IDS.get(self.dialect.name, "")
        return ServerContext(
            model=self.head.model,
            created=int(gateway.now()),
            make_id=lambda: gateway.make_id(prefix),
            stream_usage=self.wants_usage,
            source=source,
            json_array=self.head.json_array,
            path=self.http.path,
            request=None if self._decoded is None else self._decoded.request,
            changes=self.changes,
        )


def read(gateway: Gateway, http: GatewayRequest, name: str) -> Asked:
    """What a client of the dialect `name` asks.

    Raises: DecodeError with the place for a body that is no JSON object, names no model or says nothing;
    PermissionDeniedError for a model that the key may not ask for.
    """
    head = read_head(http, name)
    if http.entry is not None:
        http.entry.asked(head.model, stream=head.stream)
    if not head.model:
        raise missing("model", "name the model, as `provider/model` or by an alias")
    if len(head.model) > MAX_MODEL_CHARACTERS:
        raise DecodeError(f"/model: a name has at most {MAX_MODEL_CHARACTERS} characters", path="/model", status=400)
    key = gateway.guard.key(http)
    if not gateway.guard.lets(key, head.model):
        raise PermissionDeniedError(f"this key may not ask for the model {head.model[:100]!r}", status=403)
    if http.path != "/api/generate" and not _says_something(head.members, name):
        raise missing(_SAID_IN.get(name, _MESSAGES)[0], "there is nothing to say to the model")
    return Asked(gateway, http, get_dialect(name), head, key)


def read_head(http: GatewayRequest, name: str) -> Head:
    """The head of a body in the dialect `name`.

    Raises: DecodeError with the place; LimitExceededError.
    """
    try:
        members: _Members = decode(http.body, _Members)
        if name == "google":
            return _google_head(http, members)
        model = _text(members, "model")
        stream = _flag(members, "stream")
    except DecodeError as error:
        error.status = 400
        raise
    streams = name == "ollama" if stream is None else stream
    return Head(model, streams, False, members, _offered(members))


def _google_head(http: GatewayRequest, members: _Members) -> Head:
    found = _GOOGLE.fullmatch(http.path)
    if found is None:
        raise DecodeError("the path names no model: it must end in /models/NAME:generateContent")
    name = unquote(found["name"])
    streams = found["method"] == "streamGenerateContent"
    return Head(
        f"{found['kind']}/{name}" if found["kind"] else name,
        streams,
        streams and "alt=sse" not in http.query.split("&"),
        members,
        _offered(members),
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


def _includes_usage(options: msgspec.Raw) -> bool:
    try:
        return decode(options, dict[str, Any]).get("include_usage") is True
    except DecodeError:
        return False  # whoever reads the whole body says what is wrong with it


def _says_something(members: _Members, name: str) -> bool:
    """Whether there is anything to say to the model."""
    for member in _SAID_IN.get(name, _MESSAGES):  # noqa: SIM110 - a generator takes longer
        if _is_said(members, member):
            return True
    return False


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
