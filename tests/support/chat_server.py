"""A server of any dialect on loopback, made of nothing but the dialect's server role; Chat Completions unless told.

It is there for clients that we did not write, and for our own: what it sends is what the role encodes, framed as
HTTP/1.1.
"""

from __future__ import annotations

import itertools
import json
import ssl
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeAlias

import msgspec

from interlingua.dialects._contract import DecodedRequest, DecodeOptions, Dialect, ServerContext
from interlingua.dialects.table import get_dialect, stream_type
from interlingua.errors import Error
from interlingua.stream.unfold import unfold
from interlingua.testing.upstream import Problem, judge
from interlingua.types.change import Change
from interlingua.types.event import Event
from interlingua.types.response import Response
from interlingua.wire.http import Headers, HttpReply, HttpRequest
from tests.support.server import Answer, Hold, Reset, Seen, Server, chunked, serving
from tests.support.server import reply as framed_reply

__all__ = ["KEY", "ChatServer", "Said", "Streamed", "chat_serving"]

CHAT = "openai-chat"
KEY = "sk-test-0123456789abcdef"
CREATED = 1_795_000_000
STREAM_HEAD = (
    "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nx-request-id: req_stream\r\ntransfer-encoding: chunked\r\n\r\n"
)
COMPATIBLE = frozenset({("reasoning",), ("reasoning_content",), ("reasoning_details",), ("cache_control",)})
"""Members of Chat that only compatible servers take: the server stands for one of those."""
PATHS = {"google": "/v1beta", "ollama": "", "cohere": "/v2", "bedrock": "", "unified": ""}
"""The path of a base URL, where it is not `/v1`."""
SCHEMES = {"unified": "interlingua"}
"""The scheme of a DSN, where it is not the name of the dialect."""


@dataclass(frozen=True)
class Streamed:
    """A stream of these events, and how its connection goes on after them."""

    events: tuple[Event, ...]
    after: Hold | Reset | None = None


Said: TypeAlias = "Response[Any] | Error | Sequence[Event] | Streamed | Answer | Callable[[DecodedRequest], Said]"
"""An answer (streamed when the client asks for it), an error, events, raw bytes, or what decides among them."""


@dataclass
class ChatServer:
    """The running server: what it was asked, and what it put onto the wire."""

    server: Server
    dialect: str = CHAT
    requests: list[DecodedRequest] = field(default_factory=list[DecodedRequest])
    bodies: list[Any] = field(default_factory=list[Any])
    """The parsed body of every whole answer that was no error."""
    chunks: list[Any] = field(default_factory=list[Any])
    """Every parsed chunk of every stream."""
    changes: list[Change] = field(default_factory=list[Change])

    @property
    def url(self) -> str:
        """The base URL."""
        return self.server.url(PATHS.get(self.dialect, "/v1"))

    def problems(self, seen: Seen) -> list[Problem]:
        """Why the real service would refuse a request; a server of Chat knows what compatible ones know."""
        method, path, _ = seen.line.split(" ")
        request = HttpRequest(method=method, url=self.server.url(path), headers=_headers(seen), body=seen.body)
        found = judge(self.dialect, request).problems
        return [problem for problem in found if not (self.dialect == CHAT and problem.steps[-1:] in COMPATIBLE)]

    @property
    def dsn(self) -> str:
        """The same as one line of `LLM_<NAME>`."""
        return f"{SCHEMES.get(self.dialect, self.dialect)}://{KEY}@127.0.0.1:{self.server.port}?tls=0"


class _Writer:
    """Turns what the script says into the steps of one connection."""

    def __init__(self, said: Callable[[DecodedRequest], Said], chat: ChatServer) -> None:
        self.said = said
        self.chat = chat
        self.dialect: Dialect = get_dialect(chat.dialect)
        self.numbers = itertools.count(1)

    def answer(self, seen: Seen) -> Answer:
        path = seen.line.split(" ")[1]
        context = ServerContext(
            created=CREATED, make_id=lambda: f"chatcmpl-{next(self.numbers)}", path=path, changes=self.chat.changes
        )
        try:
            request = HttpRequest(url=self.chat.server.url(path), headers=_headers(seen), body=seen.body)
            asked = self.dialect.decode_request(request, DecodeOptions())
            self.chat.requests.append(asked)
            return self.say(self.said, asked, context)
        except Error as error:
            return Answer((_whole(self.dialect.encode_error(error, context)),))

    def say(self, said: Said, asked: DecodedRequest, context: ServerContext) -> Answer:
        match said:
            case Answer():
                return said
            case Error():
                raise said
            case Response() if asked.stream:
                return self.stream(Streamed(tuple(unfold(said))), asked, context)
            case Response():
                reply = self.dialect.encode_response(said, self.named(context, asked))
                self.chat.bodies.append(json.loads(reply.body))
                return Answer((_whole(reply),))
            case Streamed():
                return self.stream(said, asked, context)
            case Sequence():
                return self.stream(Streamed(tuple(said)), asked, context)
            case _:
                return self.say(said(asked), asked, context)

    def stream(self, said: Streamed, asked: DecodedRequest, context: ServerContext) -> Answer:
        encoder = self.dialect.stream_encoder(self.named(context, asked))
        pieces = [piece for event in said.events if (piece := encoder.encode(event))]
        lines = [line.removeprefix(b"data: ") for line in b"".join(pieces).splitlines()]
        self.chat.chunks.extend(json.loads(line) for line in lines if line.startswith(b"{"))
        head = STREAM_HEAD.format(kind=stream_type(self.dialect.name)).encode()
        framed = [chunked(piece, end=False) for piece in pieces]
        ending: bytes | Hold | Reset = chunked() if said.after is None else said.after
        return Answer((head, *framed, ending))

    def named(self, context: ServerContext, asked: DecodedRequest) -> ServerContext:
        """The context of an answer to this request: the client's own name of the model, and whether it wants counts."""
        options: dict[str, Any] = asked.request.extra.get(CHAT, {}).get("stream_options") or {}
        wanted = self.dialect.name != CHAT or bool(options.get("include_usage"))
        return msgspec.structs.replace(context, model=asked.model, stream_usage=wanted, json_array=asked.json_array)


def _headers(seen: Seen) -> Headers:
    pairs = [line.partition(":") for line in seen.head.decode("latin-1").split("\r\n")[1:]]
    return tuple((name.lower(), value.strip()) for name, _, value in pairs)


def _whole(reply: HttpReply) -> bytes:
    named = {"x-request-id": "req_whole", **dict(reply.headers)}
    headers = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return framed_reply(reply.body, status=f"{reply.status} {HTTPStatus(reply.status).phrase}", headers=headers)


@contextmanager
def chat_serving(
    *script: Said, dialect: str = CHAT, context: ssl.SSLContext | None = None, judged: bool = True
) -> Generator[ChatServer]:
    """A server of that dialect, which says one thing after the other, and the last one for ever.

    Unless `judged` is false, everything that it is asked must be what the real service takes.
    """
    lines = list(script)

    def following(asked: DecodedRequest) -> Said:
        return lines.pop(0) if len(lines) > 1 else lines[0]

    def answer(seen: Seen) -> Answer:
        return _Writer(following, chat).answer(seen)

    with serving(answer, context=context) as server:
        chat = ChatServer(server, dialect)
        yield chat
    if judged:
        found = [problem for seen in server.seen for problem in chat.problems(seen)]
        assert found == [], "\n".join(map(str, found))
