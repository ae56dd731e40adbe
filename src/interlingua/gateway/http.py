"""Requests and replies of the gateway as plain values: what a server hands in, and what it is to send back.

Rules
- Header names are lower case; order is kept; a name may repeat.
- A request's body is whole, inflated and within the bound; a reply's body is whole, or pieces to send as they come.
- Who sends the pieces closes them (`aclose`), also when none was taken, and that closes the upstream.
- A request is one object from its head to its end: what is found out of it on the way is set on it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

import msgspec

from interlingua.dialects.table import DEFAULT_DIALECT, services
from interlingua.wire.http import Headers

if TYPE_CHECKING:
    from interlingua.gateway.keys.auth import Welcome
    from interlingua.gateway.records.record import Entry, Origin
    from interlingua.gateway.routes import Route
    from interlingua.gateway.state.latest import Latest
    from interlingua.types.change import Change
    from interlingua.wire.body import Body as RequestBody

__all__ = [
    "STRICT",
    "Body",
    "Closing",
    "GatewayReply",
    "GatewayRequest",
    "Head",
    "HeadFacts",
    "Pieces",
    "Sink",
    "dialect_by_headers",
]

STRICT = "x-interlingua-strict"
"""The header by which a client wants nothing dropped, where it is `1`."""


class Pieces(Protocol):
    """A body that comes piece by piece; an asynchronous generator is one."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """The pieces, whole frames each where the body has frames."""
        ...

    def aclose(self) -> Awaitable[object]:
        """Close what they come from."""
        ...


class Closing:
    """Pieces with what has to be closed after them: a generator that never began would close nothing."""

    __slots__ = ("_close", "_pieces", "pour_into")

    def __init__(
        self,
        pieces: AsyncGenerator[bytes],
        close: Callable[[], Awaitable[object]],
        pour_into: Callable[[Sink], None] | None = None,
    ) -> None:
        """The pieces, and what closes their source any number of times."""
        self._pieces = pieces
        self._close = close
        self.pour_into: Callable[[Sink], None] | None = pour_into
        """Tells their source who may be given pieces where they arrive, before the first one is taken; None where there
        is no such source. The pieces that nobody was given come as always, in their order, and the first one at once,
        though it may be empty."""

    def __aiter__(self) -> AsyncGenerator[bytes]:
        """The pieces."""
        return self._pieces

    async def aclose(self) -> None:
        """Close the source."""
        await self._pieces.aclose()
        await self._close()


Sink: TypeAlias = Callable[[bytes], bool]
"""Takes a piece of a body at once, and says whether more may come so."""
Body: TypeAlias = "bytes | Pieces"
"""A whole body, or its pieces as they come."""


class HeadFacts(msgspec.Struct, gc=False):
    """The cached facts of the head of a request; they hold for all requests that have the same head."""

    route: Route | None = None
    """The route, once somebody has looked; None for what nothing answers."""
    named: dict[str, str] | None = None
    """The first value of each header by name, once somebody has asked for one."""
    welcome: Welcome | None = None
    """That it may ask, once that was found; what is refused is looked at anew each time."""
    origin: Origin | None = None
    """The origin in a record, once there was one."""
    client_id: str | None = None
    """The id that it brings, once somebody has asked; empty for none that is taken."""
    carried: Headers | None = None
    """Those of its headers that go out with a body as it came, once there was one."""
    names_provider: bool = False
    """Whether its client wants to be told who answered, once its route was found."""

    def __repr__(self) -> str:
        """The route, without anything that may be secret."""
        return f"<HeadFacts {'' if self.route is None else self.route.pattern}>"


class GatewayRequest(msgspec.Struct, kw_only=True, gc=False):
    """One request of a client, and what is found out of it on its way."""

    method: str = "POST"
    """GET, POST, … in capitals."""
    path: str
    """The path, below the place where the gateway is mounted, percent-decoded, without a query."""
    query: str = ""
    """The query as it came, without the question mark."""
    headers: Headers = ()
    """Lower-case names."""
    body: bytes = b""
    """The whole body."""
    peer: str = ""
    """The address of the client; empty when unknown."""
    entry: Entry | None = None
    """The record of it; None where nobody wants to know. It must not lead back to this: requests are not
    looked at by the collector of garbage."""
    facts: HeadFacts = msgspec.field(default_factory=HeadFacts)
    """The facts of its head; a request with other headers or another query begins anew."""
    welcome: Welcome | None = None
    """That it may ask, where it is all there and has just begun; None has whoever wants to know look."""
    read: RequestBody | None = None
    """Its body, where that was read already."""
    owner: str | None = None
    """The owner whose state it may go on with, once somebody has asked."""
    kept_by: tuple[str, ...] = ()
    """The providers that keep what it names by signed ids."""
    changes: tuple[Change, ...] = ()
    """The members that were left out of it before it was read by its dialect."""
    latest: Latest | None = None
    """The latest response of the WebSocket that it came over, which it may go on from; None for plain HTTP."""
    signed_ids: dict[str, str] = {}
    """Those ids as the client gave them, by the provider's own."""
    trace_headers: Headers = ()
    """The headers that tell an upstream to which trace its work belongs; none where no spans are made."""

    @property
    def named(self) -> dict[str, str]:
        """The first value of each header by its name."""
        named = self.facts.named
        if named is None:
            named = self.facts.named = dict(reversed(self.headers))
        return named

    def header(self, name: str) -> str | None:
        """The first value of the header `name` (lower case), or None."""
        named = self.facts.named
        return (self.named if named is None else named).get(name)

    def __repr__(self) -> str:
        """The method and path, without secrets: headers and query hold keys, and a body is its client's."""
        return f"<GatewayRequest {self.method} {self.path}, {len(self.body)} bytes>"


class Head(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The head of a request; the same object for all requests of which it is the same but for a length."""

    method: str
    """GET, POST, … in capitals."""
    path: str
    """The path, percent-decoded, without a query."""
    query: str = ""
    """The text behind the question mark, as it came."""
    headers: Headers = ()
    """Lower-case names, without `content-length`."""
    is_coded: bool = False
    """Whether the body has a content coding, which the server does not undo."""
    is_old: bool = False
    """Whether it is HTTP/1.0: it is the last of its connection, and its reply has no chunks."""
    keeps: bool = True
    """Whether the client would go on with the connection."""
    expects: bool = False
    """Whether the client waits to be told that it may send the body."""
    upgrades: bool = False
    """Whether the client would go on with another protocol."""
    facts: HeadFacts = msgspec.field(default_factory=HeadFacts)
    """The facts of it."""

    def request(self, peer: str, body: bytes = b"") -> GatewayRequest:
        """The request of the client at the address `peer`."""
        return GatewayRequest(
            method=self.method,
            path=self.path,
            query=self.query,
            headers=self.headers,
            body=body,
            peer=peer,
            facts=self.facts,
        )

    def __repr__(self) -> str:
        """The method and path, without anything that may be secret."""
        return f"<Head {self.method} {self.path}>"


class GatewayReply(msgspec.Struct, frozen=True, kw_only=True):
    """One reply to a client."""

    status: int = 200
    """HTTP status."""
    headers: Headers = ()
    """Lower-case names."""
    body: Body = b""
    """The whole body, or its pieces as they come."""
    keep_alive: bytes = b""
    """Bytes that may be sent between two pieces while nothing comes; empty for nothing."""


def dialect_by_headers(request: GatewayRequest, default: str = DEFAULT_DIALECT) -> str:
    """The dialect of a client under a path that several dialects have; `default` where no header tells it."""
    return next((name for header, name in _HEADERS.items() if request.header(header) is not None), default)


_HEADERS = {service.header: name for name, service in services().items() if service.header}
"""The headers by which clients of a dialect can be told from others, and that dialect."""
