"""Cassettes of the gateway: what is in one, what never is, bounds, and the same request again."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from interlingua.errors import ConfigError
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.records.cassettes import Cassettes, read_cassette
from interlingua.gateway.records.observing import Observing
from interlingua.gateway.records.record import Content, Record
from interlingua.gateway.records.replay import meaning_of, replayed
from interlingua.gateway.settings import GatewaySettings
from interlingua.testing.upstream import Upstream
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport
from interlingua.types.response import Response
from tests.support.gateway import MODELS, asking, body_of, gateway

DIALECTS = tuple(MODELS)
SSE = (("content-type", "text/event-stream"),)


async def recorded(
    directory: Path, client: str, upstream: str, *, stream: bool, lines: tuple[Line, ...] = (), **members: Any
) -> tuple[Path, GatewayReply, bytes]:
    """The cassette of one request, and what its client got."""
    made = gateway(observing=Observing(record=str(directory)))
    scripted = AsyncReplayTransport(*lines)
    standing = (
        overriding(Override(lambda _: ReplayTransport(), lambda _: scripted, answers=True))
        if lines
        else Upstream(upstream).standing()
    )
    with standing:
        reply = await made(asking(client, MODELS[upstream], stream=stream, **members))
        body = await body_of(reply)
    await made.close()
    (path,) = _files(directory)
    return path, reply, body


def _files(directory: Path) -> list[Path]:
    return sorted(directory.iterdir())


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("upstream", ["openai-chat", "anthropic", "google"])
@pytest.mark.parametrize("client", ["openai-chat", "anthropic", "openai-responses"])
async def test_a_cassette_replays_what_the_client_got(tmp_path: Path, client: str, upstream: str, stream: bool) -> None:
    """Without a network: the same upstream requests, the same bytes of the upstream, the same answer."""
    path, reply, body = await recorded(tmp_path, client, upstream, stream=stream)
    played = read_cassette(path)
    assert played.content.reply_body == body
    again = await replayed(played, client)
    assert again.status == reply.status
    assert [request.body for request in again.requests] == [passage.request_body for passage in played.content.passages]
    before = meaning_of(client, reply.status, reply.headers, body)
    now = meaning_of(client, again.status, again.headers, again.body)
    assert isinstance(before, Response)
    assert isinstance(now, Response)
    assert (now.text, now.finish_reason, now.usage) == (before.text, before.finish_reason, before.usage)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_cassette_replays_in_every_dialect(tmp_path: Path, dialect: str, stream: bool) -> None:
    """Recorded from a client of Chat with an upstream of Anthropic; the same text for each."""
    path, _, body = await recorded(tmp_path, "openai-chat", "anthropic", stream=stream)
    played = read_cassette(path)
    before = meaning_of("openai-chat", 200, played.content.reply_headers, body)
    again = await replayed(played, dialect)
    assert again.status == 200
    now = meaning_of(dialect, 200, again.headers, again.body)
    assert isinstance(before, Response)
    assert isinstance(now, Response)
    assert now.text == before.text != ""
    assert dict(again.headers)["x-interlingua-target"] == MODELS["anthropic"]


async def test_a_refusal_is_recorded_and_replayed(tmp_path: Path) -> None:
    """An upstream's error comes again, with its status."""
    line = Line(status=400, pieces=(b'{"error":{"message":"no such thing","type":"invalid_request_error"}}',))
    path, reply, _ = await recorded(tmp_path, "anthropic", "openai-chat", stream=False, lines=(line,))
    played = read_cassette(path)
    again = await replayed(played, "anthropic")
    assert (reply.status, again.status) == (400, 400)
    assert b"no such thing" in again.body


async def test_a_cut_stream_is_cut_again(tmp_path: Path) -> None:
    """What came is shown, and then that it broke off."""
    hello = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n'
    path, _, _ = await recorded(
        tmp_path, "anthropic", "openai-chat", stream=True, lines=(Line(pieces=(hello,), headers=SSE),)
    )
    again = await replayed(read_cassette(path), "anthropic")
    assert b"Hel" in again.body
    assert b"event: error" in again.body


async def test_the_form_of_a_cassette(tmp_path: Path) -> None:
    """Both sides of the gateway as text, and only its owner may read it."""
    path, _, body = await recorded(tmp_path, "openai-chat", "anthropic", stream=False)
    document = json.loads(path.read_text())
    assert list(document) == [
        "interlingua", "kind", "id", "at", "client", "model", "stream", "error", "aborted", "request", "upstream",
        "reply", "is_whole",
    ]  # fmt: skip
    assert document["request"]["path"] == "/v1/chat/completions"
    assert document["request"]["headers"] == ["host: localhost", "content-type: application/json"]
    assert document["reply"]["body"] == body.decode()
    assert [one["target"] for one in document["upstream"]] == [MODELS["anthropic"]]
    assert path.stat().st_mode & 0o777 == 0o600
    assert tmp_path.joinpath(path.name).match("20*T*-req_il*.json")


def record(number: int, body: bytes = b"x") -> Record:
    """A record with content."""
    content = Content(method="POST", path="/", query="", headers=(), body=body)
    return Record(id=f"req-{number:03}/../a", at=float(number), model="m", status=200, content=content)


def test_a_directory_is_bounded(tmp_path: Path) -> None:
    """The oldest make room, also for a gateway that begins later; nothing is written outside of it."""
    cassettes = Cassettes(tmp_path, max_bytes=5_000, max_files=4)
    cassettes.write([record(number) for number in range(10)])
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"19700101T00000{number}-req-00{number}_.._a.json" for number in (6, 7, 8, 9)]
    Cassettes(tmp_path, max_bytes=5_000, max_files=4).write([record(10, b"y" * 3_500)])
    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert sum(sizes) <= 5_000
    assert len(sizes) < 4


def test_requests_with_one_id_are_a_file_each(tmp_path: Path) -> None:
    """Clients give one id to all that they ask for the same purpose, and ask it in the same second."""
    cassettes = Cassettes(tmp_path)
    cassettes.write([record(1, body) for body in (b"one", b"two", b"three")])
    places = [tmp_path / f"19700101T000001-req-001_.._a{number}.json" for number in ("", "-2", "-3")]
    assert [read_cassette(place).content.body for place in places] == [b"one", b"two", b"three"]
    assert sorted(tmp_path.iterdir()) == sorted(places)


def test_what_is_no_text_is_kept(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 come back as they were."""
    Cassettes(tmp_path).write([record(1, b"\xff\x00")])
    (path,) = tmp_path.iterdir()
    assert read_cassette(path).content.body == b"\xff\x00"


def test_what_asks_no_model_is_not_recorded(tmp_path: Path) -> None:
    """Health, lists and pages."""
    Cassettes(tmp_path).write([Record(id="x", at=0.0), Record(id="y", at=0.0, model="m")])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"kind": "cassette"}', '{"kind": "gateway-cassette"}'])
def test_what_is_no_cassette_is_refused(tmp_path: Path, text: str) -> None:
    """With the file's name, and no traceback."""
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"x\.json is no cassette of a gateway"):
        read_cassette(path)
    with pytest.raises(ConfigError, match=r"missing\.json"):
        read_cassette(tmp_path / "missing.json")


def test_what_a_full_disk_did_not_take_is_left_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No part of a cassette stays beside the whole ones."""
    made = Cassettes(str(tmp_path))

    def fill(path: Path, data: bytes) -> int:
        del path, data
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fill)
    with pytest.raises(OSError, match="No space left on device"):
        made.write([record(1, b"x")])
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_was_cleared_away_is_made_again(tmp_path: Path) -> None:
    """By whoever tidies up: what comes after that is recorded."""
    made = Cassettes(tmp_path / "records")
    made.write([record(1, b"x")])
    rmtree(tmp_path / "records")
    made.write([record(2, b"x")])
    assert len(list((tmp_path / "records").iterdir())) == 1


def test_a_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    """When the gateway begins, not when something is to be written."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"x: nothing can be recorded there: Not a directory$"):
        gateway(observing=Observing(record=str(tmp_path / "file" / "x")))
    assert GatewaySettings().observing.record == ""
