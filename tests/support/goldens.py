"""Golden cases of a dialect: folders with given bodies, and what we make of them.

The given files of a case are `request.json`, `response.json` and `stream.raw`, each where the case has one.
`META.toml` says where they come from, and may name `model`, `provider`, `status`, `headers`, the `url` that was asked
and whether the stream is a `json_array`. The rest is made by us: `canonical.json` (requests, responses and errors),
`events.jsonl`, and `….again` for a body that is written in another way than it was given.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from interlingua.dialects._contract import DecodeContext, DecodeOptions, Dialect, EncodeOptions, ServerContext, Target
from interlingua.errors import Error
from interlingua.stream.check import check
from interlingua.testing.framed import stream_bytes, stream_text
from interlingua.types.change import Change
from interlingua.types.dump import dump
from interlingua.types.event import Event, StreamEnd, StreamError
from interlingua.wire.http import HttpReply, HttpRequest

__all__ = ["GoldenCase", "compare"]

GIVEN = frozenset({"META.toml", "request.json", "response.json", "stream.raw"})


class GoldenCase:
    """What a dialect makes of the given files of one case, by file name, in `made`."""

    def __init__(self, folder: Path, dialect: Dialect) -> None:
        """The case in `folder`."""
        self.folder = folder
        self.dialect = dialect
        self.meta: dict[str, Any] = tomllib.loads((folder / "META.toml").read_text(encoding="utf-8"))
        target = Target(model=self.meta.get("model", "m"), provider=self.meta.get("provider", ""))
        self.context = DecodeContext(target=target)
        self.server = ServerContext(source=dialect.name, json_array=self.meta.get("json_array", False))
        self.made: dict[str, str] = {}
        self.canonical: dict[str, Any] = {}
        for file, read in (
            ("request.json", self._request),
            ("response.json", self._response),
            ("stream.raw", self._stream),
        ):
            if (folder / file).exists():
                read((folder / file).read_bytes())
        if self.canonical:
            self.made["canonical.json"] = json.dumps(self.canonical, ensure_ascii=False, indent=1) + "\n"

    def stored(self) -> dict[str, str]:
        """The files that were made when the case was written."""
        return {path.name: path.read_bytes().decode() for path in self.folder.iterdir() if path.name not in GIVEN}

    def write(self) -> None:
        """Put what is made now in the place of what was made then."""
        for old in self.stored():
            (self.folder / old).unlink()
        for file, text in self.made.items():
            (self.folder / file).write_bytes(text.encode())

    def _request(self, body: bytes) -> None:
        http = HttpRequest(url=self.meta.get("url", "http://test/"), body=body)
        try:
            decoded = self.dialect.decode_request(http, DecodeOptions())
        except Error as error:
            facts = {"message": error.message, "status": error.status, "code": error.code}
            self.canonical["request"] = {"class": type(error).__name__, **facts, "path": getattr(error, "path", None)}
            return
        options = EncodeOptions(target=Target(model=decoded.model), stream=decoded.stream)
        encoded = self.dialect.encode_request(decoded.request, options)
        self.canonical["request"] = {
            "model": decoded.model,
            "stream": decoded.stream,
            "changes": _lines(decoded.changes),
            "request": _plain(decoded.request),
            "path": encoded.path,
            "encoding": _lines(encoded.changes),
        }
        self._again("request.json", _readable(encoded.body))

    def _response(self, body: bytes) -> None:
        status = self.meta.get("status", 200)
        headers = tuple((name, value) for name, value in self.meta.get("headers", {}).items())
        reply = HttpReply(status=status, headers=headers, body=body)
        if status >= 400:
            self._error(self.dialect.decode_error(reply, self.context))
            return
        try:
            response = self.dialect.decode_response(reply, self.context)
        except Error as error:  # a failure under 200
            self._error(error)
            return
        self.canonical["response"] = _plain(response)
        self._again("response.json", _readable(self.dialect.encode_response(response, self.server).body))

    def _error(self, error: Error) -> None:
        facts = ("message", "retryable", "retry_after_s", "status", "code", "request_id")
        sent = self.dialect.encode_error(error, self.server)
        found = {name: getattr(error, name) for name in facts}
        self.canonical["error"] = {"class": type(error).__name__, **found, "sent_as": sent.status}
        self._again("response.json", _readable(sent.body))

    def _stream(self, raw: bytes) -> None:
        found = self._events(stream_bytes(self.dialect.name, raw.decode()))
        lines = [json.dumps(event, ensure_ascii=False) for event in _plain(found)["events"]]
        self.made["events.jsonl"] = "\n".join(lines) + "\n"
        encoder = self.dialect.stream_encoder(self.server)
        again = b"".join(map(encoder.encode, found))
        self._again("stream.raw", stream_text(self.dialect.name, again))
        assert _outcome(self._events(again)[-1]) == _outcome(found[-1])

    def _events(self, raw: bytes) -> list[Event]:
        decoder = self.dialect.stream_decoder(self.context)
        found = [*decoder.feed(raw), *decoder.close()]
        assert check(found) == ()
        return found

    def _again(self, file: str, text: str) -> None:
        if text.encode() != (self.folder / file).read_bytes():
            self.made[f"{file}.again"] = text


def compare(case: GoldenCase, *, update: bool) -> None:
    """Nothing; what is made now is what was made then, or takes its place.

    Raises: AssertionError where it differs.
    """
    if update:
        case.write()
    assert case.stored() == case.made


def _readable(body: bytes) -> str:
    """A body with one member a line; its members keep their order."""
    return json.dumps(json.loads(body), ensure_ascii=False, indent=1) + "\n"


def _lines(found: Iterable[Change]) -> list[str]:
    """Each change in one line."""
    return [f"{change.action} {change.code} {change.path}" for change in found]


def _plain(value: Any) -> Any:
    """The canonical JSON of a value, without the head that says the version."""
    document = json.loads(dump(value))
    return {name: member for name, member in document.items() if name not in ("interlingua", "kind")}


def _outcome(last: Event) -> Any:
    """What a stream came to, repairs aside."""
    if isinstance(last, StreamError):
        return last.error, last.message, last.partial and last.partial.parts
    assert isinstance(last, StreamEnd)
    return last.response
