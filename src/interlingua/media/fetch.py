"""Media from the web, fetched because somebody asked for it, and guarded.

Strategy: `steps` decides everything (which URL is asked next, how much is read, what it is) and does no I/O; it yields
a request to send, or None to be given the next piece of the body. Two drivers carry it out on the HTTP transports.

Rules
- https only, unless http is allowed; ports 80 and 443 only, unless others are; no credential in the URL, and none is
  sent: no cookie, no authorization, no referrer.
- A name is resolved once for each connection; every address that it has must be public, and one of these very
  addresses is connected to, so that DNS cannot change its mind in between. TLS and `host` still name the name.
- A redirect is a new URL and goes through all of it again, at most `MAX_HOPS` times, all within one deadline.
- Proxies of the environment are not used: a proxy would look the name up again, where nobody can check.
- What came is told by its first bytes. A size counts inflated bytes, while they are inflated.
- Errors name the host, never the path or the query, nor the address of a name that is not public.

Not responsible for: fetching anything unasked; nothing in the library calls it by itself.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import unquote, urljoin

from interlingua.errors import APITimeoutError, ConfigError, Error, LimitExceededError, UpstreamError, UsageError
from interlingua.media.sniff import sniff
from interlingua.transport.base import Timeouts
from interlingua.transport.body import ACCEPT_ENCODING
from interlingua.transport.options import HttpOptions
from interlingua.transport.public import is_public
from interlingua.transport.sockets import Network
from interlingua.transport.url import parse_url
from interlingua.types.content import AudioPart, Cache, DocumentPart, ImagePart
from interlingua.wire.http import HttpRequest, header

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Sequence

    from interlingua.transport.base import Reply
    from interlingua.transport.sockets import Address
    from interlingua.transport.url import Origin, Target
    from interlingua.wire.http import Headers

__all__ = [
    "MAX_FETCHED_BYTES",
    "MAX_HOPS",
    "MAX_URL_CHARACTERS",
    "TIMEOUT_S",
    "Fetched",
    "Head",
    "Steps",
    "Terms",
    "Way",
    "carry_out",
    "fetch",
    "steps",
    "timeouts",
]

MAX_FETCHED_BYTES = 20 * 1024 * 1024
"""How many inflated bytes are taken, where nothing else is said."""
MAX_HOPS = 5
"""How many redirects are followed."""
MAX_URL_CHARACTERS = 8_192
"""The longest URL."""
TIMEOUT_S = 30.0
"""Seconds that it may take, all redirects included, where nothing else is said."""

Fetched: TypeAlias = ImagePart | AudioPart | DocumentPart
"""The parts that a URL may lead to."""


class Terms(NamedTuple):
    """The terms of fetching: schemes, addresses, ports, size and time."""

    allow_http: bool = False
    """Whether http is good enough."""
    allow_private: bool = False
    """Whether addresses that are not public may be connected to."""
    allow_ports: frozenset[int] = frozenset()
    """Ports that may be connected to, beside 80 and 443."""
    max_bytes: int = MAX_FETCHED_BYTES
    """How many inflated bytes are taken."""
    timeout_s: float = TIMEOUT_S
    """Seconds that it may take in all."""
    detail: str | None = None
    """As of `il.image`."""
    cache: Cache | None = None
    """As of `il.image`."""


class Head(NamedTuple):
    """The head of a reply."""

    status: int
    """HTTP status."""
    headers: Headers
    """Lower-case names."""


class Way(NamedTuple):
    """How bytes are fetched, apart from the terms."""

    network: Network = Network()
    """How names become addresses; what it admits is decided here."""
    ca_file: str | None = None
    """PEM file of the only certificate authorities to trust; None trusts those of the system."""

    def transport_terms(self, terms: Terms) -> tuple[HttpOptions, Network]:
        """The options and the network of a transport that connects to nothing but what may be fetched from."""
        network = self.network if terms.allow_private else self.network._replace(admit=_admit)
        # The bound is kept here, for event streams too; the transport's own would let those pass.
        return HttpOptions(max_body_bytes=None, max_redirects=0, ca_file=self.ca_file), network


Steps: TypeAlias = "Generator[HttpRequest | None, Any, Fetched]"
"""Yields a request, and is sent the head of its reply; yields None, and is sent the next piece of its body."""


def fetch(
    url: str,
    *,
    allow_http: bool = False,
    allow_private: bool = False,
    allow_ports: Collection[int] = (),
    max_bytes: int = MAX_FETCHED_BYTES,
    timeout_s: float = TIMEOUT_S,
    detail: str | None = None,
    cache: Cache | None = None,
) -> Fetched:
    """The part that the content of a URL makes: an image, audio or a document.

    It must be `https`, lead to public addresses on port 443 or 80, and hold no credential, at every redirect anew;
    `allow_http`, `allow_private` (your own network, loopback included) and `allow_ports` say otherwise. At most
    `max_bytes` are taken, inflated, in at most `timeout_s` seconds.

    Raises: UsageError for a URL that may not be fetched, an answer without what was asked for, and content of no known
    kind; LimitExceededError, APITimeoutError, APIConnectionError, and UpstreamError for a server that fails.
    """
    terms = Terms(allow_http, allow_private, frozenset(allow_ports), max_bytes, timeout_s, detail, cache)
    return carry_out(steps(url, terms), terms, Way())


def carry_out(steps: Steps, terms: Terms, way: Way) -> Fetched:
    """The result of the steps, blocking."""
    from interlingua.transport.sync import HttpTransport

    options, network = way.transport_terms(terms)
    transport = HttpTransport(options, network=network)
    at = time.monotonic() + terms.timeout_s
    reply: Reply | None = None
    try:
        effect = next(steps)
        while True:
            try:
                if effect is None:
                    result: object = reply.read() if reply is not None else b""
                else:
                    if reply is not None:
                        reply.close()
                    reply = transport.open(effect, timeouts(at - time.monotonic()))
                    result = Head(reply.status, reply.headers)
            except Error as error:
                effect = steps.throw(error)
            else:
                effect = steps.send(result)
    except StopIteration as done:
        return done.value
    finally:
        if reply is not None:
            reply.close()
        transport.close()


def timeouts(left_s: float) -> Timeouts:
    """The deadlines of one hop, when so much time is left of all."""
    left_s = max(0.001, left_s)
    return Timeouts(connect_s=left_s, first_byte_s=left_s, idle_s=left_s, total_s=left_s, pool_s=left_s)


# What is asked


def steps(url: str, terms: Terms) -> Steps:
    """The steps to what a URL leads to.

    Raises: as `fetch`.
    """
    target = _checked(url, terms)
    for _ in range(MAX_HOPS + 1):
        try:
            step = yield from _hop(target, terms)
        except APITimeoutError:
            sentence = f"{_place(target)} sent nothing whole within {terms.timeout_s:g} s (timeout_s)"
            raise APITimeoutError(sentence, phase="total") from None
        if not isinstance(step, str):
            return step
        place = _place(target)
        try:
            target = _checked(urljoin(f"{place}{target.path}", step), terms)
        except (UsageError, ValueError) as error:
            why = error.message if isinstance(error, UsageError) else "that is no URL"
            raise UsageError(f"{place} redirects to what may not be fetched: {why}") from None
    raise UsageError(f"{_place(target)} is the end of more than {MAX_HOPS} redirects: nothing was fetched")


def _hop(target: Target, terms: Terms) -> Generator[HttpRequest | None, Any, Fetched | str]:
    """The result of one URL: a part, or where to go on."""
    place = _place(target)
    head: Head = yield HttpRequest(method="GET", url=f"{place}{target.path}", headers=_HEADERS)
    location = header(head.headers, "location")
    if head.status in _REDIRECTS and location is not None:
        return location
    data = yield from _body(place, head, terms)
    # The part is what the bytes are, whatever they are said to be; a text in place of a picture is an error page.
    claimed = (header(head.headers, "content-type") or "").partition(";")[0].strip().lower()
    sniffed = sniff(data)
    if sniffed is None:
        what = "nothing" if not data else "no image, audio, PDF or text that is known here"
        raise UsageError(f"{place} sent {what}")
    if sniffed.media_type == "text/plain" and (claimed.startswith(_NO_TEXTS) or claimed == "application/pdf"):
        raise UsageError(f"{place} says {claimed[:60]} and sent a text: is it an error page?")
    match sniffed.kind:
        case "image":
            return ImagePart(data, sniffed.media_type, terms.detail, terms.cache)
        case "audio":
            return AudioPart(data, sniffed.media_type, cache=terms.cache)
        case "document":
            name = unquote(target.path.partition("?")[0].rpartition("/")[2])
            is_text = sniffed.media_type == "text/plain"
            own_type = claimed if is_text and claimed in _TEXTS else sniffed.media_type
            return DocumentPart(data, own_type, name if _FILE_NAME.fullmatch(name) else None, terms.cache)


def _place(target: Target) -> str:
    """A URL as errors name it: its scheme, host and port."""
    return f"{target.origin.scheme}://{target.authority}"


def _checked(url: object, terms: Terms) -> Target:
    """A URL that may be asked, as far as the URL itself tells.

    Raises: UsageError, without the path and the query.
    """
    if not isinstance(url, str):
        raise UsageError(f"il.fetch takes a URL, not {type(url).__name__}; il.image and il.file take paths and bytes")
    if len(url) > MAX_URL_CHARACTERS:
        raise UsageError(f"the URL is longer than {MAX_URL_CHARACTERS:,} characters")
    scheme = url.partition(":")[0].lower() if ":" in url else ""
    if scheme != "https" and not (scheme == "http" and terms.allow_http):
        shown = f"{scheme}:" if re.fullmatch(r"[a-z][a-z0-9+.-]{0,20}", scheme) else "that"
        way_out = "; allow_http=True takes it, too" if scheme == "http" else ""
        raise UsageError(f"il.fetch takes https:// URLs, not {shown}{way_out}")
    if "@" in re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0]:
        raise UsageError("the URL holds a credential before the @, and il.fetch sends none: fetch it yourself")
    try:
        target = parse_url(url)
    except ConfigError as error:
        raise UsageError(error.message) from None
    origin = target.origin
    host = origin.host.removesuffix(".")
    if ":" not in host and _NUMBER.fullmatch(host.rpartition(".")[2]) and not _DOTTED_QUAD.fullmatch(host):
        raise UsageError(f"the host {host} is a number that is no usual spelling of an address")
    if origin.port not in (80, 443) and origin.port not in terms.allow_ports:
        raise UsageError(
            f"il.fetch connects to port 80 and 443, not to {origin.port} of {host}; allow_ports=[{origin.port}] lets it"
        )
    authority = target.authority
    if host != origin.host:
        authority = authority.replace(origin.host, host, 1)
    return target._replace(origin=origin._replace(host=host), authority=authority)


def _admit(origin: Origin, addresses: Sequence[Address]) -> None:
    """Nothing, where every address of an origin is public.

    Raises: UsageError, which does not say where the name leads: that may be nobody else's business.
    """
    if not addresses or not all(is_public(str(place[0])) for _, place in addresses):
        raise UsageError(
            f"{origin.host} does not lead to the public internet, so nothing is fetched from it; "
            "allow_private=True lets il.fetch reach your own network"
        )


# What came


def _body(place: str, head: Head, terms: Terms) -> Generator[None, bytes, bytes]:
    """The whole body of a reply that has what was asked for.

    Raises: UsageError and UpstreamError for any other reply; LimitExceededError.
    """
    status = head.status
    if status >= 500 or status == 429:
        raise UpstreamError(f"{place} answered {status}: ask again later", status=status, retryable=True)
    if status not in (200, 203):
        raise UsageError(f"{place} answered {status}: {_WORDS.get(status, 'there is nothing to fetch')}", status=status)
    length = header(head.headers, "content-length") or ""
    if length.isdecimal() and int(length[:20]) > terms.max_bytes:
        raise _too_large(place, terms)
    pieces: list[bytes] = []
    left = terms.max_bytes
    while piece := (yield None):
        left -= len(piece)
        if left < 0:
            raise _too_large(place, terms)
        pieces.append(piece)
    return b"".join(pieces)


def _too_large(place: str, terms: Terms) -> LimitExceededError:
    return LimitExceededError(f"what {place} sends is larger than {terms.max_bytes:,} bytes (max_bytes)")


_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = (("accept", "*/*"), ("accept-encoding", ACCEPT_ENCODING), ("user-agent", "interlingua"))
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")
_DOTTED_QUAD = re.compile(r"(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})")
_FILE_NAME = re.compile(r"[\w][\w .()-]{0,100}\.[A-Za-z0-9]{1,8}")
_NO_TEXTS = ("image/", "audio/", "video/")
_TEXTS = frozenset({
    "text/markdown", "text/html", "text/csv", "text/tab-separated-values", "text/xml", "application/json",
    "application/xml",
})  # fmt: skip
_WORDS = {
    401: "il.fetch sends no credentials; fetch it yourself and give the bytes",
    403: "il.fetch sends no credentials; fetch it yourself and give the bytes",
    404: "is the URL right?",
    410: "it is gone",
}
