"""What every body means that we write, and every odd body that somebody else might: requests, answers, streams.

The bodies are those of `encodings/`, their streams also without an end, and the lines of
`decodings/<dialect>.given.jsonl`: a kind (`request`, `response`, `stream`) and a body, of a stream its text or the list
of what its `data:` lines say. What they mean is in `decodings/<dialect>.jsonl`, made by us: `make golden-update` writes
it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions, Dialect, Target
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import Error
from interlingua.stream.check import check
from interlingua.testing.framed import stream_bytes
from interlingua.types.change import Change
from interlingua.types.dump import dump
from interlingua.types.event import StreamEnd, StreamError
from interlingua.wire.http import HttpReply, HttpRequest

FOLDER = Path(__file__).parent
CONTEXT = DecodeContext(target=Target(model="m", provider="p"))
URLS = {"google": "http://test/v1beta/models/m:generateContent", "bedrock": "http://test/model/m/converse"}


def given(name: str) -> Iterator[tuple[str, str, Any]]:
    """Where each body comes from, its kind, and the body; each once."""
    seen: set[str] = set()
    for where, kind, body in [*_written(name), *_odd(name)]:
        text = f"{kind} {json.dumps(body)}"
        if text not in seen:
            seen.add(text)
            yield where, kind, body


def _written(name: str) -> Iterator[tuple[str, str, Any]]:
    for line in _lines(FOLDER / "encodings" / name / "requests.jsonl"):
        if "body" in line:
            yield line["case"], "request", line["body"]
    for line in _lines(FOLDER / "encodings" / name / "answers.jsonl"):
        yield line["case"], "response", line["body"]
        yield line["case"], "stream", line["stream"]
        yield f"{line['case']}, cut", "stream", line["stream"][: line["failed"][0]]


def _odd(name: str) -> Iterator[tuple[str, str, Any]]:
    for number, (kind, body) in enumerate(_lines(FOLDER / "decodings" / f"{name}.given.jsonl")):
        yield f"given {number}", kind, body


def _lines(path: Path) -> Iterator[Any]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def meaning(dialect: Dialect, kind: str, body: Any) -> dict[str, Any]:
    """What a body means, or why it means nothing."""
    data = body.encode() if isinstance(body, str) else json.dumps(body, ensure_ascii=False).encode()
    if kind == "request":
        asked = _asked(dialect, data, DecodeOptions())
        return (
            asked if "error" not in asked else {**asked, "mended": _asked(dialect, data, DecodeOptions(history="mend"))}
        )
    if kind == "stream":
        return _streamed(dialect, stream_bytes(dialect.name, body) if isinstance(body, str) else _framed(body))
    try:
        return _plain(dialect.decode_response(HttpReply(status=200, body=data), CONTEXT))
    except Error as error:
        return _failed(error)


def _asked(dialect: Dialect, data: bytes, options: DecodeOptions) -> dict[str, Any]:
    try:
        found = dialect.decode_request(HttpRequest(url=URLS.get(dialect.name, "http://test/"), body=data), options)
    except Error as error:
        return _failed(error)
    return {"stream": found.stream, "changes": _told(found.changes), **_plain(found.request)}


def _framed(frames: list[Any]) -> bytes:
    said = (frame if isinstance(frame, str) else json.dumps(frame, ensure_ascii=False) for frame in frames)
    return "".join(f"data: {frame}\n\n" for frame in said).encode()


def _streamed(dialect: Dialect, data: bytes) -> dict[str, Any]:
    decoder = dialect.stream_decoder(CONTEXT)
    events = [*decoder.feed(data), *decoder.close()]
    assert check(events) == ()
    last = events[-1]
    assert isinstance(last, StreamEnd | StreamError)
    said = " ".join(type(event).__name__ for event in events)
    if isinstance(last, StreamError):
        partial = _plain(last.partial) if last.partial is not None else None
        return {"events": said, "error": last.error, "message": last.message, "code": last.code, "partial": partial}
    return {"events": said, **_plain(last.response)}


def _failed(error: Error) -> dict[str, Any]:
    facts = {"message": error.message, "status": error.status, "code": error.code}
    return {"error": type(error).__name__, **facts, "path": getattr(error, "path", None)}


def _told(changes: Iterable[Change]) -> list[str]:
    return [f"{change.action} {change.code} {change.path} {change.detail or ''}".rstrip() for change in changes]


def _plain(value: Any) -> dict[str, Any]:
    document = json.loads(dump(value))
    return {name: member for name, member in document.items() if name not in ("interlingua", "kind")}


@pytest.mark.parametrize("name", DIALECTS)
def test_each_body_means_what_it_meant(name: str, golden_update: bool) -> None:
    """Every member, every repair, every refusal with its place."""
    path = FOLDER / "decodings" / f"{name}.jsonl"
    dialect = get_dialect(name)
    found = [(where, kind, meaning(dialect, kind, body)) for where, kind, body in given(name)]
    now = [json.dumps({"case": where, "kind": kind, **told}, ensure_ascii=False) for where, kind, told in found]
    if golden_update:
        path.write_text("".join(f"{line}\n" for line in now), encoding="utf-8")
    assert now == path.read_text(encoding="utf-8").splitlines()
