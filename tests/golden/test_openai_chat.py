"""Chat Completions, byte for byte: what each body means, and what it is written as again.

A case is a folder in `openai-chat/`. Its given files are `request.json`, `response.json` and `stream.raw`, each where
the case has one; `META.toml` says where they come from. The rest is made by us, and `make golden-update` writes it:
`canonical.json` (requests, responses and errors), `events.jsonl`, and `….again` for a body that is written in another
way than it was given.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects.openai_chat import DIALECT
from interlingua.errors import Error
from interlingua.stream.check import check
from interlingua.types.dump import dump
from interlingua.types.event import Event, StreamEnd, StreamError
from interlingua.wire.http import HttpReply, HttpRequest
from tests.support.chat import events

FOLDER = Path(__file__).parent / "openai-chat"
CASES = sorted(path.name for path in FOLDER.iterdir())
SERVER = ServerContext(source=DIALECT.name)
GIVEN = {"META.toml", "request.json", "response.json", "stream.raw"}


def readable(body: bytes) -> str:
    """A body with one member a line; its members keep their order."""
    assert json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":")).encode() == body
    return json.dumps(json.loads(body), ensure_ascii=False, indent=1) + "\n"


def changes(found: Any) -> list[str]:
    """Each change in one line."""
    return [f"{change.action} {change.code} {change.path}" for change in found]


def plain(value: Any) -> Any:
    """The canonical JSON of a value, without the head that says the version."""
    document = json.loads(dump(value))
    return {name: member for name, member in document.items() if name not in ("interlingua", "kind")}


def outcome(last: Event) -> Any:
    """What a stream came to, repairs aside."""
    if isinstance(last, StreamError):
        return last.error, last.message, last.partial
    assert isinstance(last, StreamEnd)
    return last.response


class Case:
    """What we make of the given files of one case."""

    def __init__(self, name: str) -> None:
        self.folder = FOLDER / name
        self.meta: dict[str, Any] = tomllib.loads((self.folder / "META.toml").read_text(encoding="utf-8"))
        target = Target(model=self.meta.get("model", "m"), provider=self.meta.get("provider", ""))
        self.context = DecodeContext(target=target)
        self.made: dict[str, str] = {}
        self.canonical: dict[str, Any] = {}
        for file, read in (
            ("request.json", self._request),
            ("response.json", self._response),
            ("stream.raw", self._stream),
        ):
            if (self.folder / file).exists():
                read((self.folder / file).read_bytes())
        self.made["canonical.json"] = json.dumps(self.canonical, ensure_ascii=False, indent=1) + "\n"

    def _request(self, body: bytes) -> None:
        decoded = DIALECT.decode_request(HttpRequest(url="http://test/", body=body), DecodeOptions())
        self.canonical["request"] = {
            "model": decoded.model,
            "stream": decoded.stream,
            "changes": changes(decoded.changes),
            "request": plain(decoded.request),
        }
        options = EncodeOptions(target=Target(model=decoded.model), stream=decoded.stream)
        encoded = DIALECT.encode_request(decoded.request, options)
        self.canonical["request"]["encoding"] = changes(encoded.changes)
        self._again("request.json", readable(encoded.body))

    def _response(self, body: bytes) -> None:
        status = self.meta.get("status", 200)
        headers = tuple((name, value) for name, value in self.meta.get("headers", {}).items())
        reply = HttpReply(status=status, headers=headers, body=body)
        if status >= 400:
            self._error(DIALECT.decode_error(reply, self.context))
            return
        response = DIALECT.decode_response(reply, self.context)
        self.canonical["response"] = plain(response)
        self._again("response.json", readable(DIALECT.encode_response(response, SERVER).body))

    def _error(self, error: Error) -> None:
        facts = ("message", "retryable", "retry_after_s", "status", "code", "request_id")
        self.canonical["error"] = {"class": type(error).__name__} | {name: getattr(error, name) for name in facts}
        sent = DIALECT.encode_error(error, SERVER)
        self.canonical["error"]["sent_as"] = sent.status
        self._again("response.json", readable(sent.body))

    def _stream(self, raw: bytes) -> None:
        found = events(raw, self.context)
        lines = [json.dumps(event, ensure_ascii=False) for event in plain(found)["events"]]
        self.made["events.jsonl"] = "\n".join(lines) + "\n"
        encoder = DIALECT.stream_encoder(SERVER)
        again = b"".join(map(encoder.encode, found))
        self._again("stream.raw", again.decode())
        decoder = DIALECT.stream_decoder(self.context)
        replayed = [*decoder.feed(again), *decoder.close()]
        assert check(replayed) == ()
        assert outcome(replayed[-1]) == outcome(found[-1])

    def _again(self, file: str, text: str) -> None:
        if text != (self.folder / file).read_text(encoding="utf-8"):
            self.made[f"{file}.again"] = text


@pytest.mark.parametrize("name", CASES)
def test_each_body_means_and_is_written_as_the_case_says(name: str, golden_update: bool) -> None:
    """Decoded exactly, encoded exactly, in both roles; the encoding of a stream ends as the stream did."""
    case = Case(name)
    if golden_update:
        for old in case.folder.iterdir():
            if old.name not in GIVEN:
                old.unlink()
        for file, text in case.made.items():
            (case.folder / file).write_text(text, encoding="utf-8")
    stored = {path.name: path.read_text(encoding="utf-8") for path in case.folder.iterdir() if path.name not in GIVEN}
    assert stored == case.made


@pytest.mark.parametrize("name", CASES)
def test_each_case_says_where_it_comes_from(name: str) -> None:
    """Source and date, and what it shows."""
    meta = tomllib.loads((FOLDER / name / "META.toml").read_text(encoding="utf-8"))
    assert meta["source"] == "invented"
    assert meta["date"]
    assert meta["shows"]
