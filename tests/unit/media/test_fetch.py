"""The guarded fetcher, against servers on loopback that play an internet with names and addresses of its own."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import zlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

import interlingua as il
from interlingua import aio
from interlingua.media import fetch as blocking
from interlingua.media.aio import fetch as awaited
from interlingua.media.fetch import Terms, Way
from interlingua.transport.body import Inflater
from interlingua.transport.sockets import Address, Found, Network
from tests.support.server import Answer, Hold, Pause, Seen, Server, chunked, reply, serving

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 24
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt "
PDF = b"%PDF-1.7\n%...."
PUBLIC = "93.184.216.34"
PUBLIC_V6 = "2606:4700::1111"


class Authority(NamedTuple):
    """A certificate authority and the server's side of it."""

    file: str
    context: ssl.SSLContext


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """One authority for all names that are used here."""
    made = trustme.CA()
    file = tmp_path_factory.mktemp("authority") / "authority.pem"
    made.cert_pem.write_to_path(str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    names = ["cdn.example", "other.example", "plain.example", "xn--bcher-kva.example"]
    made.issue_cert(*names).configure_cert(context)  # pyright: ignore[reportUnknownMemberType]  # typed for PyOpenSSL, too
    return Authority(str(file), context)


class Internet:
    """Names with their addresses, and what was connected to."""

    def __init__(self, secure: Server, plain: Server, file: str) -> None:
        """An internet in which every address leads to one of two servers, by its port."""
        self.secure = secure
        self.plain = plain
        self.file = file
        self.names: dict[str, list[list[str]]] = {"cdn.example": [[PUBLIC]], "other.example": [[PUBLIC, PUBLIC_V6]]}
        self.asked: list[str] = []
        self.reached: list[str] = []

    def resolve(self, host: str, port: int) -> Sequence[Found]:
        """The addresses of a name: the first list once, and so on, the last one for ever."""
        self.asked.append(host)
        if host not in self.names:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        lists = self.names[host]
        return [_found(address, port) for address in (lists.pop(0) if len(lists) > 1 else lists[0])]

    def route(self, address: Address) -> Address:
        """Loopback, in place of an address that was admitted."""
        host, port = str(address[1][0]), int(address[1][1])
        self.reached.append(f"{host} {port}")
        return (socket.AF_INET, ("127.0.0.1", self.plain.port if port in (80, 8080) else self.secure.port))

    @property
    def way(self) -> Way:
        """How it is reached."""
        return Way(Network(resolve=self.resolve, route=self.route), ca_file=self.file)

    @property
    def seen(self) -> list[Seen]:
        """The requests that came."""
        return [*self.secure.seen, *self.plain.seen]


def _found(address: str, port: int) -> Found:
    if ":" in address:
        return (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port, 0, 0))
    return (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))


class Face:
    """The blocking or the awaited fetcher, called in the same way."""

    def __init__(self, *, is_awaited: bool) -> None:
        """One of the two."""
        self.is_awaited = is_awaited

    def fetch(self, internet: Internet, url: Any, **terms: Any) -> Any:
        """What a URL leads to in that internet."""
        terms["allow_ports"] = frozenset(terms.get("allow_ports", ()))
        given = Terms(**terms)
        asked = blocking.steps(url, given)
        if self.is_awaited:
            return asyncio.run(awaited.carry_out(asked, given, internet.way))
        return blocking.carry_out(asked, given, internet.way)


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces."""
    return Face(is_awaited=request.param)


Script = Callable[[Seen], Answer]


@pytest.fixture
def internet(authority: Authority) -> Callable[..., Any]:
    """Makes an internet whose servers answer by paths."""

    @contextmanager
    def make(**answers: bytes | Answer) -> Generator[Internet]:
        def script(seen: Seen) -> Answer:
            name = seen.line.split()[1].split("?")[0].strip("/").replace(".", "_") or "root"
            found = answers.get(name, reply(b"", status="404 Not Found"))
            return found if isinstance(found, Answer) else Answer((found,))

        with serving(script, context=authority.context) as secure, serving(script) as plain:
            yield Internet(secure, plain, authority.file)

    return make


def to(location: str, status: str = "302 Found") -> bytes:
    """A redirect."""
    return reply(b"", status=status, headers=f"location: {location}\r\n")


# What comes


@pytest.mark.parametrize(
    ("data", "said", "part"),
    [
        (PNG, "image/png", il.ImagePart(PNG, "image/png")),
        (PNG, "text/html", il.ImagePart(PNG, "image/png")),
        (PNG, "image/jpeg", il.ImagePart(PNG, "image/png")),
        (WAV, "application/octet-stream", il.AudioPart(WAV, "audio/wav")),
        (PDF, "application/pdf", il.DocumentPart(PDF, "application/pdf", "file.bin")),
        (b"# Title", "text/markdown; charset=utf-8", il.DocumentPart(b"# Title", "text/markdown", "file.bin")),
        (b"plain", "text/x-unknown", il.DocumentPart(b"plain", "text/plain", "file.bin")),
    ],
)
def test_content_decides_what_it_is(
    face: Face, internet: Callable[..., Any], data: bytes, said: str, part: il.Part
) -> None:
    """The first bytes say what it is, whatever the server says; only which text it is, the server tells."""
    with internet(file_bin=reply(data, headers=f"content-type: {said}\r\n")) as world:
        assert face.fetch(world, "https://cdn.example/file.bin") == part


def test_detail_and_cache_go_onto_the_part(face: Face, internet: Callable[..., Any]) -> None:
    """They are those of `il.image`."""
    with internet(a=reply(PNG)) as world:
        part = face.fetch(world, "https://cdn.example/a", detail="full", cache="5m")
    assert part == il.ImagePart(PNG, "image/png", "full", "5m")


def test_the_request_says_nothing_of_the_caller(face: Face, internet: Callable[..., Any]) -> None:
    """Method, host and three headers; no cookie, authorization or referrer, also after a redirect that sets one."""
    first = reply(b"", status="302 Found", headers="location: /b\r\nset-cookie: a=b\r\n")
    with internet(a=first, b=reply(PNG)) as world:
        face.fetch(world, "https://cdn.example/a?x=%20y#part")
        heads = [seen.head.decode().split("\r\n") for seen in world.seen]
    assert heads == [
        [line, "host: cdn.example", "accept: */*", "accept-encoding: gzip, deflate", "user-agent: interlingua"]
        for line in ("GET /a?x=%20y HTTP/1.1", "GET /b HTTP/1.1")
    ]


def test_the_address_that_was_checked_is_connected_to(face: Face, internet: Callable[..., Any]) -> None:
    """The name is looked up once, and TLS and `host` name the name."""
    with internet(a=reply(PNG)) as world:
        face.fetch(world, "https://cdn.example/a")
        assert (world.asked, world.reached) == (["cdn.example"], [f"{PUBLIC} 443"])
        assert world.seen[0].header("host") == "cdn.example"


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_compressed_body_is_inflated(face: Face, internet: Callable[..., Any], coding: str) -> None:
    """What was compressed for the way is what it was before."""
    data = gzip.compress(PNG) if coding == "gzip" else zlib.compress(PNG)
    with internet(a=reply(data, headers=f"content-encoding: {coding}\r\n")) as world:
        assert face.fetch(world, "https://cdn.example/a").data == PNG


def test_a_name_in_another_script(face: Face, internet: Callable[..., Any]) -> None:
    """An international name is looked up and named in its ASCII form; a dot at its end goes."""
    with internet(a=reply(PNG)) as world:
        world.names["xn--bcher-kva.example"] = [[PUBLIC]]
        face.fetch(world, "https://bücher.example./a")
        assert world.asked == ["xn--bcher-kva.example"]
        assert world.seen[0].header("host") == "xn--bcher-kva.example"


# URLs that are not asked at all


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://cdn.example/a", "https:// URLs, not http:; allow_http=True takes it, too"),
        ("ftp://cdn.example/a", "https:// URLs, not ftp:"),
        ("file:///etc/passwd", "https:// URLs, not file:"),
        ("data:image/png;base64,AAAA", "https:// URLs, not data:"),
        ("gopher://127.0.0.1:25/x", "https:// URLs, not gopher:"),
        ("cdn.example/a", "https:// URLs, not that"),
        ("//cdn.example/a", "https:// URLs, not that"),
        ("", "https:// URLs, not that"),
        ("https://", "not a valid name"),
        ("https:///a", "not a valid name"),
        ("https://user:pass@cdn.example/a", "holds a credential before the @"),
        ("https://token@cdn.example/a", "holds a credential before the @"),
        ("https://cdn.example\\@127.0.0.1/a", "holds a credential before the @"),
        ("https://cdn.example:8443/a", "connects to port 80 and 443, not to 8443 of cdn.example"),
        ("https://cdn.example:22/a", "connects to port 80 and 443, not to 22 of cdn.example"),
        ("https://cdn.example:0/a", "not a valid name or port"),
        ("https://cdn.example:99999/a", "not a valid name or port"),
        ("https://cdn.example/\r\nX: y", "control character"),
        ("https://cdn.example/\x00", "control character"),
        ("https://[fe80::1%25eth0]/a", "not a valid name"),
        ("https://exa mple.com/a", "not a valid name"),
        ("https://2130706433/a", "no usual spelling of an address"),
        ("https://0x7f000001/a", "no usual spelling of an address"),
        ("https://0177.0.0.1/a", "no usual spelling of an address"),
        ("https://0x7f.1/a", "no usual spelling of an address"),
        ("https://127.1/a", "no usual spelling of an address"),
        ("https://127.0.0.01/a", "no usual spelling of an address"),
        ("https://8.8.8.8.8/a", "no usual spelling of an address"),
        ("https://0x08080808/a", "no usual spelling of an address"),
        ("https://cdn.example/" + "a" * 8_200, "longer than 8,192 characters"),
        (7, "takes a URL, not int"),
        (b"https://cdn.example/a", "takes a URL, not bytes"),
    ],
)
def test_sec_02_urls_that_are_refused(face: Face, internet: Callable[..., Any], url: Any, words: str) -> None:
    """Other schemes, credentials, ports, control characters and odd spellings: nothing is looked up or connected to."""
    with internet() as world:
        with pytest.raises(il.UsageError) as caught:
            face.fetch(world, url)
        assert (world.asked, world.reached) == ([], [])
    assert words in caught.value.message


# Addresses


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/a",
        "https://127.0.0.1./a",
        "https://localhost/a",
        "https://localhost./a",
        "https://LOCALHOST/a",
        "https://0.0.0.0/a",
        "https://[::]/a",
        "https://[::1]/a",
        "https://[::ffff:127.0.0.1]/a",
        "https://[::ffff:7f00:1]/a",
        "https://[0:0:0:0:0:ffff:10.0.0.1]/a",
        "https://[64:ff9b::a00:1]/a",
        "https://[2002:7f00:1::]/a",
        "https://[fd00::1]/a",
        "https://169.254.169.254/latest/meta-data/",
        "https://10.0.0.1/a",
        "https://192.168.0.1/a",
        "https://100.64.0.1/a",
        "https://224.0.0.1/a",
        "https://255.255.255.255/a",
        "https://①②⑦.⓪.⓪.①/a",
        "https://127。0。0。1/a",
    ],
)
def test_sec_04_addresses_that_are_not_public(face: Face, internet: Callable[..., Any], url: str) -> None:
    """However loopback, private, link-local and other special addresses are written, nothing is connected to."""
    with internet() as world:
        with pytest.raises(il.UsageError, match="does not lead to the public internet"):
            face.fetch(world, url)
        assert world.reached == []


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["0.0.0.0"], ["169.254.169.254"], ["::1"], ["::ffff:10.0.0.1"], ["fe80::1%eth0"], []],
)
def test_sec_02_names_that_lead_inside(face: Face, internet: Callable[..., Any], addresses: list[str]) -> None:
    """A name is what its addresses are; the error does not say which these are."""
    with internet() as world:
        world.names["inside.example"] = [addresses]
        with pytest.raises(il.UsageError) as caught:
            face.fetch(world, "https://inside.example/a?token=abc")
        assert world.reached == []
    assert caught.value.message == (
        "inside.example does not lead to the public internet, so nothing is fetched from it; "
        "allow_private=True lets il.fetch reach your own network"
    )


def test_sec_02_one_address_inside_is_enough(face: Face, internet: Callable[..., Any]) -> None:
    """A name with a public and a private address is refused whole: that is how rebinding begins."""
    with internet(a=reply(PNG)) as world:
        world.names["mixed.example"] = [[PUBLIC, "10.0.0.1"]]
        with pytest.raises(il.UsageError, match="public internet"):
            face.fetch(world, "https://mixed.example/a")
        assert world.reached == []


@pytest.mark.parametrize("closes", [False, True])
def test_sec_03_a_name_that_changes_its_mind(face: Face, internet: Callable[..., Any], closes: bool) -> None:
    """Rebinding: what a second look-up would answer changes nothing, and a second connection is checked anew."""
    with internet(a=Answer((to("https://cdn.example/b"),), close=closes), b=reply(PNG)) as world:
        world.names["cdn.example"] = [[PUBLIC], ["127.0.0.1"]]
        if closes:
            with pytest.raises(il.UsageError, match="public internet"):
                face.fetch(world, "https://cdn.example/a")
        else:
            assert face.fetch(world, "https://cdn.example/a").data == PNG
        assert (world.reached, len(world.asked)) == ([f"{PUBLIC} 443"], 2 if closes else 1)


# Redirects


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_redirects_are_followed(face: Face, internet: Callable[..., Any], status: str) -> None:
    """To another name, or to a path, which is looked up and checked like the first one."""
    with internet(a=to("https://other.example/dir/b", status), dir_b=b"", c=reply(PNG)) as world:
        world.names["other.example"] = [[PUBLIC_V6]]
        with pytest.raises(il.UsageError, match="answered 404"):
            face.fetch(world, "https://cdn.example/a")
        assert world.reached == [f"{PUBLIC} 443", f"{PUBLIC_V6} 443"]
        assert [seen.header("host") for seen in world.seen] == ["cdn.example", "other.example"]
    with internet(a=to("c?x=1", status), c=reply(PNG)) as world:
        assert face.fetch(world, "https://cdn.example/a").data == PNG
        assert [seen.line for seen in world.seen] == ["GET /a HTTP/1.1", "GET /c?x=1 HTTP/1.1"]


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("https://127.0.0.1/x", "127.0.0.1 does not lead to the public internet"),
        ("https://[::ffff:169.254.169.254]/x", "does not lead to the public internet"),
        ("https://inside.example/x", "inside.example does not lead to the public internet"),
        ("//inside.example/x", "inside.example does not lead to the public internet"),
        ("http://other.example/x", "redirects to what may not be fetched: il.fetch takes https:// URLs, not http:"),
        ("file:///etc/passwd", "redirects to what may not be fetched: il.fetch takes https:// URLs, not file:"),
        ("https://other.example:6379/x", "connects to port 80 and 443, not to 6379"),
        ("https://user:pw@other.example/x", "holds a credential before the @"),
        ("https://0x7f.1/x", "no usual spelling"),
        ("https://[::1", "that is no URL"),
    ],
)
def test_sec_03_redirects_that_lead_inside(face: Face, internet: Callable[..., Any], location: str, words: str) -> None:
    """A redirect is a new URL: scheme, port, credential and address are checked anew."""
    with internet(a=to(location)) as world:
        world.names["inside.example"] = [["10.0.0.1"]]
        with pytest.raises(il.UsageError) as caught:
            face.fetch(world, "https://cdn.example/a")
        assert world.reached == [f"{PUBLIC} 443"]
    assert words in caught.value.message


def test_redirects_are_bounded(face: Face, internet: Callable[..., Any]) -> None:
    """Five are followed; a circle ends with the sixth."""
    hops = {f"h{n}": to(f"/h{n + 1}", "307 Temporary") for n in range(5)}
    with internet(**hops, h5=reply(PNG)) as world:
        assert face.fetch(world, "https://cdn.example/h0").data == PNG
    with internet(a=to("/a", "308 Permanent")) as world:
        with pytest.raises(il.UsageError, match="more than 5 redirects"):
            face.fetch(world, "https://cdn.example/a")
        assert len(world.seen) == 6


# Bounds


def test_a_body_that_says_that_it_is_too_large_is_not_read(face: Face, internet: Callable[..., Any]) -> None:
    """The length alone is enough."""
    huge = b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n"
    with internet(a=Answer((huge, Hold()))) as world, pytest.raises(il.LimitExceededError) as caught:
        face.fetch(world, "https://cdn.example/a")
    assert caught.value.message == "what https://cdn.example sends is larger than 20,971,520 bytes (max_bytes)"


@pytest.mark.parametrize("headers", ["", "content-type: text/event-stream\r\n"])
def test_a_body_that_grows_is_cut_at_the_bound(face: Face, internet: Callable[..., Any], headers: str) -> None:
    """Without a length, in chunks, of any kind: reading ends with the first byte too many."""
    head = f"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n{headers}\r\n".encode()
    exact = chunked(PNG, b"x" * (1_000 - len(PNG)))
    with internet(a=head + exact, b=head + chunked(PNG, b"x" * 1_000)) as world:
        assert len(face.fetch(world, "https://cdn.example/a", max_bytes=1_000).data) == 1_000
        with pytest.raises(il.LimitExceededError, match=r"larger than 1,000 bytes"):
            face.fetch(world, "https://cdn.example/b", max_bytes=1_000)


def test_sec_07_a_bomb_is_cut_while_it_is_inflated(
    face: Face, internet: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """60 KB of gzip that would be 60 MB end at the bound, without the rest being inflated."""
    inflated: list[int] = []

    def read(inflater: Inflater, limit_bytes: int) -> bytes:
        data = whole_read(inflater, limit_bytes)
        inflated.append(len(data))
        return data

    whole_read = Inflater.read
    monkeypatch.setattr(Inflater, "read", read)
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join([packer.compress(b"\0" * 1_000_000) for _ in range(60)]) + packer.flush()
    with (
        internet(a=reply(bomb, headers="content-encoding: gzip\r\n")) as world,
        pytest.raises(il.LimitExceededError),
    ):
        face.fetch(world, "https://cdn.example/a", max_bytes=2_000_000)
    assert len(bomb) < 75_000
    assert 2_000_000 <= sum(inflated) < 2_200_000


def test_a_slow_body_ends_with_the_time(face: Face, internet: Callable[..., Any]) -> None:
    """One deadline for all of it: a byte now and then does not help."""
    slow = Answer(
        (reply(b"", headers="content-length: 1000\r\n", length=False), *[Pause(0.1), b"x"] * 900)
    )  # one and a half minutes
    with internet(a=slow) as world, pytest.raises(il.APITimeoutError) as caught:
        face.fetch(world, "https://cdn.example/a?token=abc", timeout_s=0.4)
    assert caught.value.message == "https://cdn.example sent nothing whole within 0.4 s (timeout_s)"


def test_slow_redirects_share_the_time(face: Face, internet: Callable[..., Any]) -> None:
    """The deadline runs through all hops."""
    with internet(a=Answer((Pause(0.15), to("/a")))) as world:
        with pytest.raises(il.APITimeoutError):
            face.fetch(world, "https://cdn.example/a", timeout_s=0.4)
        assert len(world.seen) < 5


# Answers without what was asked for


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (reply(b"", status="404 Not Found"), "https://cdn.example answered 404: is the URL right?"),
        (reply(b"", status="403 Forbidden"), "answered 403: il.fetch sends no credentials"),
        (reply(b"", status="204 No Content", length=False), "answered 204: there is nothing to fetch"),
        (reply(PNG[:4], status="206 Partial Content"), "answered 206"),
        (reply(b"", status="304 Not Modified", length=False), "answered 304"),
        (reply(b"", status="302 Found"), "answered 302"),
        (reply(b""), "sent nothing"),
        (reply(b"\x00\x01\x02\x03"), "sent no image, audio, PDF or text that is known here"),
        (
            reply(b"<html>Log in</html>", headers="content-type: image/png\r\n"),
            "says image/png and sent a text: is it an error page?",
        ),
        (reply(b"<html></html>", headers="content-type: application/pdf\r\n"), "says application/pdf and sent a text"),
    ],
)
def test_answers_without_content(face: Face, internet: Callable[..., Any], answer: bytes, words: str) -> None:
    """Every other status, nothing, what is unknown, and an error page in place of a picture."""
    with internet(a=answer) as world, pytest.raises(il.UsageError) as caught:
        face.fetch(world, "https://cdn.example/a?token=abc")
    assert words in caught.value.message
    assert "abc" not in caught.value.message


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_fails(face: Face, internet: Callable[..., Any], status: int) -> None:
    """That may pass: it is an UpstreamError, and retryable."""
    with internet(a=reply(b"", status=f"{status} No")) as world, pytest.raises(il.UpstreamError) as caught:
        face.fetch(world, "https://cdn.example/a")
    assert (caught.value.status, caught.value.retryable) == (status, True)


def test_connections_that_fail(face: Face, internet: Callable[..., Any]) -> None:
    """No such name, no trust, and a cut answer are connection errors that name the host alone."""
    cut = Answer((b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nhalf",), close=True)
    with internet(a=cut) as world:
        world.names["unknown.test"] = [[PUBLIC]]
        for url in ("https://nowhere.example/a", "https://unknown.test/a", "https://cdn.example/a"):
            with pytest.raises(il.APIConnectionError) as caught:
                face.fetch(world, f"{url}?token=abc")
            assert url.split("/")[2] in caught.value.message
            assert "abc" not in caught.value.message


# What may be allowed


def test_http_and_ports_have_to_be_allowed(face: Face, internet: Callable[..., Any]) -> None:
    """`allow_http` takes http, `allow_ports` a port; addresses stay guarded."""
    with internet(a=reply(PNG)) as world:
        assert face.fetch(world, "http://cdn.example/a", allow_http=True).data == PNG
        assert face.fetch(world, "https://cdn.example:8443/a", allow_ports=[8443]).data == PNG
        assert world.reached == [f"{PUBLIC} 80", f"{PUBLIC} 8443"]
        with pytest.raises(il.UsageError, match="public internet"):
            face.fetch(world, "http://127.0.0.1:8080/a", allow_http=True, allow_ports=[8080])


@pytest.mark.parametrize("awaits", [False, True], ids=["blocking", "awaited"])
def test_the_public_function_reaches_what_it_is_allowed_to(awaits: bool) -> None:
    """`il.fetch` and its twin, with real look-ups and sockets on loopback."""

    def fetch(url: str, **terms: Any) -> Any:
        return asyncio.run(aio.fetch(url, **terms)) if awaits else il.fetch(url, **terms)

    with serving(Answer((reply(PNG),))) as server:
        with pytest.raises(il.UsageError, match="public internet"):
            fetch(server.url("/a"), allow_http=True, allow_ports=[server.port])
        assert server.connections == 0
        part = fetch(server.url("/a"), allow_http=True, allow_ports=[server.port], allow_private=True, detail="low")
    assert part == il.ImagePart(PNG, "image/png", "low")


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy would look the name up by itself: the way is direct, whatever the environment says."""
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    with serving(Answer((reply(PNG),))) as server:
        il.fetch(server.url("/a"), allow_http=True, allow_ports=[server.port], allow_private=True)
        assert server.seen[0].line == "GET /a HTTP/1.1"


def test_builders_send_people_to_it() -> None:
    """`il.image` and the others fetch nothing, and say who does."""
    for build in (il.image, il.audio, il.document, il.file):
        with pytest.raises(il.UsageError, match=r"il\.fetch\(url\)"):
            build("https://cdn.example/a.png")


# Whatever is asked


@given(st.text(max_size=60), st.sampled_from(["https://", "http://", "", "https://cdn.example", "https://user@"]))
def test_any_url_is_a_part_or_an_error_of_ours(text: str, prefix: str) -> None:
    """No URL leads anywhere but to the one public address that there is, or raises anything else."""
    reached: list[str] = []

    def route(address: Address) -> Address:
        reached.append(str(address[1][0]))
        return (socket.AF_INET, ("127.0.0.1", 9))

    def resolve(host: str, port: int) -> Sequence[Found]:
        del host
        return [_found("10.0.0.1", port)]

    terms = Terms(allow_http=True, timeout_s=1.0)
    way = Way(Network(resolve=resolve, route=route))
    with pytest.raises(il.Error):
        blocking.carry_out(blocking.steps(prefix + text, terms), terms, way)
    assert reached == []


def test_the_file_of_an_authority_is_there(authority: Authority) -> None:
    """The tests above are about names and not about trust: the authority is a file of its own."""
    assert Path(authority.file).is_file()
