"""What translation costs from every dialect to every other: the same load in each dialect's own words.

The load of `bench.rows.codec` is told in each dialect by the library, so that all pairs carry the same content. Each
pair is measured against the standard library's loads and dumps of the very bytes that came in.

A stream of binary frames (Bedrock's) is read and written by the baseline, too: with `struct`, and both checksums.

Never-seen bytes: a number in every message, argument, result and description is another one in each body, so that
nothing that was remembered helps. The bodies are made before the clock runs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import count, islice
from typing import NamedTuple

from bench.frames import read_frames, write_frame
from bench.measure import Batches, batch_ratios
from bench.rows import Row
from bench.rows.codec import chunk_bodies, reply_body, request_body
from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects.table import DIALECTS, get_dialect, get_service
from interlingua.types.request import Request
from interlingua.wire.eventstream import AMAZON_STREAM
from interlingua.wire.http import HttpReply, HttpRequest

MARK = b"7654321"
"""The number that is another one in each body."""
MODEL = "model-x"
EVENTS = 220
BODIES = 40
"""How many bodies one turn of a measurement takes."""
STREAMS = 8
"""How many streams one takes."""
HEADERS = {":event-type": "contentBlockDelta", ":content-type": "application/json", ":message-type": "event"}
"""The headers of a binary frame that the baseline makes of an event in text."""
_NUMBERS = count(1_000_000)
_SERVED = ServerContext(model=MODEL, created=1_795_000_000, make_id=lambda: "answer-1")
_PAYLOAD = re.compile(rb"^(?:data: )?(\{.*\})\r?$", re.MULTILINE)
_CHAT = get_dialect("openai-chat")


class Load(NamedTuple):
    """What one dialect is asked and answers."""

    url: str
    """Where a request goes."""
    request: bytes
    """The body of a request, with the mark in every message and tool."""
    reply: bytes
    """The body of an answer, with the mark in everything that it says."""
    frames: tuple[bytes, ...]
    """The pieces of a streamed answer."""


def _marked(text: str) -> str:
    """The load's body with the mark in each message, argument, result and description."""
    mark = MARK.decode()
    text = text.replace("Be brief.", f"Be brief ({mark}).").replace("I wear there?", f"I wear there ({mark})?")
    text = text.replace(r"\"days\":3", rf"\"days\":{mark}").replace(r"\"wind\":", rf"\"number\":{mark},\"wind\":")
    text = text.replace("City name,", f"City name ({mark}),")
    return text.replace("for a city,", f"for a city ({mark}),").replace("both cities", f"both cities ({mark})")


def _asked(body: bytes) -> Request:
    url = "https://bench.example/v1/chat/completions"
    return _CHAT.decode_request(HttpRequest(url=url, body=body), DecodeOptions()).request


@cache
def load(name: str) -> Load:
    """The load in the words of one dialect."""
    dialect = get_dialect(name)
    marked = _marked(request_body().decode()).encode()
    options = EncodeOptions(target=Target(model=MODEL))
    asked = dialect.encode_request(_asked(marked), options)
    told = _CHAT.decode_response(HttpReply(status=200, body=_marked(reply_body().decode()).encode()), DecodeContext())
    decoder, encoder = _CHAT.stream_decoder(DecodeContext()), dialect.stream_encoder(_SERVED)
    ends = b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    said = [*(b"data: " + body + b"\n\n" for body in chunk_bodies(EVENTS)), ends]
    frames = [encoder.encode(event) for piece in said for event in decoder.feed(piece)]
    frames += [encoder.encode(event) for event in decoder.close()]
    return Load(
        url=f"https://bench.example/v1{asked.path}",
        request=asked.body,
        reply=dialect.encode_response(told, _SERVED).body,
        frames=tuple(frame for frame in frames if frame),
    )


def bodies(body: bytes, *, fresh: bool) -> list[bytes]:
    """Bodies for one turn, each another one if they are to be fresh."""
    if not fresh:
        return [bytes(bytearray(body)) for _ in range(BODIES)]
    return [body.replace(MARK, b"%d" % number) for number in islice(_NUMBERS, BODIES)]


def standard(payloads: list[bytes]) -> object:
    """What the standard library does with the same bytes."""
    return [json.dumps(json.loads(payload)) for payload in payloads]


def _requests(source: str, target: str, *, fresh: bool) -> Batches:
    given, translate = load(source), _translation(source, target)
    return Batches(lambda: bodies(given.request, fresh=fresh), translate, standard)


def _translation(source: str, target: str) -> Callable[[list[bytes]], object]:
    url, read, write = load(source).url, get_dialect(source).decode_request, get_dialect(target).encode_request
    options = EncodeOptions(target=Target(model=MODEL))
    return lambda asked: [
        write(read(HttpRequest(url=url, body=body), DecodeOptions()).request, options) for body in asked
    ]


def _replies(source: str, target: str) -> Batches:
    body, read, write = load(source).reply, get_dialect(source).decode_response, get_dialect(target).encode_response

    def translate(told: list[bytes]) -> object:
        return [write(read(HttpReply(status=200, body=one), DecodeContext()), _SERVED) for one in told]

    return Batches(lambda: bodies(body, fresh=True), translate, standard)


def _events(source: str, target: str) -> Batches:
    """Some streams, one after the other: a turn with one alone is over in a quarter of a millisecond."""
    frames = load(source).frames
    make_decoder, make_encoder = get_dialect(source).stream_decoder, get_dialect(target).stream_encoder
    standard_stream = _standard_stream(source, target)

    def translate(streams: list[Sequence[bytes]]) -> None:
        for stream in streams:
            decoder, encoder = make_decoder(DecodeContext()), make_encoder(_SERVED)
            told = [encoder.encode(event) for frame in stream for event in decoder.feed(frame)]
            told += [encoder.encode(event) for event in decoder.close()]

    def compare(streams: list[Sequence[bytes]]) -> None:
        for _ in streams:
            standard_stream()

    return Batches(lambda: [frames] * STREAMS, translate, compare)


def _standard_stream(source: str, target: str) -> Callable[[], object]:
    """The standard library's reading of the payloads of one stream, and its writing of them for the target.

    Payloads in text are cut out before the clock runs, those in binary frames while it runs: they cannot be told
    from their frames by a line's beginning.
    """
    frames = load(source).frames
    payloads = [payload for frame in frames for payload in _PAYLOAD.findall(frame)]

    match _is_binary(source), _is_binary(target):
        case True, True:
            return lambda: [write_frame(*framed) for frame in frames for framed in read_frames(frame)]
        case True, False:
            return lambda: [json.dumps(framed.value) for frame in frames for framed in read_frames(frame)]
        case False, True:
            return lambda: [write_frame(HEADERS, json.loads(payload)) for payload in payloads]
        case _:
            return lambda: standard(payloads)


def _is_binary(name: str) -> bool:
    return get_service(name).stream_type == AMAZON_STREAM


def pairs() -> Iterator[tuple[str, str]]:
    """Every ordered pair of different dialects."""
    return ((source, target) for source in DIALECTS for target in DIALECTS if source != target)


def _table(batches: Callable[[str, str], Batches]) -> dict[str, float]:
    return batch_ratios({f"{source} -> {target}": batches(source, target) for source, target in pairs()})


def _own(batches: Callable[[str, str], Batches]) -> dict[str, float]:
    """The same from each dialect to itself."""
    return batch_ratios({name: batches(name, name) for name in DIALECTS})


_REQUEST = "requests of 10 messages and 10 tools, decoded and encoded to another dialect, against stdlib json"

ROWS = (
    Row(
        "codec/pairs-request",
        f"{_REQUEST}: bytes that came before",
        None,
        "x",
        partial(_table, partial(_requests, fresh=False)),
    ),
    Row(
        "codec/pairs-reply",
        "replies with 2 calls, decoded and encoded to another dialect, against stdlib json: never seen",
        1.0,
        "x",
        partial(_table, _replies),
    ),
    Row(
        "codec/pairs-event",
        "stream events, decoded and encoded to another dialect, against stdlib json (and struct for binary frames)",
        0.33,
        "x",
        partial(_table, _events),
    ),
    Row(
        "codec/own-request", f"{_REQUEST.replace('another', 'the same')}: every message and tool never seen", None, "x",
        partial(_own, partial(_requests, fresh=True)),
    ),
    Row(
        "codec/own-reply", "replies with 2 calls, decoded and encoded in one dialect, against stdlib json", None, "x",
        partial(_own, _replies),
    ),
    Row(
        "codec/own-event", "stream events, decoded and encoded in one dialect, against stdlib json", None, "x",
        partial(_own, _events),
    ),
)  # fmt: skip
