"""Cassettes of the gateway: one file for each request, with both sides of it, ready to be replayed by `il replay`.

Shape: `{"interlingua": 1, "kind": "gateway-cassette", "id", "at", "client", "model", "stream", "error", "aborted",
"request": {"method", "path", "query", "headers", "body"}, "upstream": [{"target", "dialect", "method", "url",
"request": {"headers", "body"}, "status", "headers", "body", "is_whole"}], "reply": {"status", "headers", "body"},
"is_whole"}`, indented. A header is `name: value`; a body is text, or
`{"base64": …}` where it is no UTF-8.

Rules
- No credential is in it: headers that carry one are left out, and what was sent in one is cut out of everything.
- A directory is bounded: the oldest cassettes make room. Only their owner may read them.
- Requests that ask no model (health, metrics, lists) are not recorded.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from itertools import chain, count
from pathlib import Path
from time import gmtime, strftime
from typing import TYPE_CHECKING, Any

from interlingua.errors import ConfigError, reason_of
from interlingua.gateway.records.record import Content, Passage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlingua.gateway.records.record import Record
    from interlingua.wire.http import Headers

__all__ = ["MAX_FILES", "Cassettes", "Played", "read_cassette"]

MAX_FILES = 10_000
"""How many cassettes a directory may hold."""
_NAME = re.compile(r"\d{8}T\d{6}-[\w.-]{1,100}\.json")
_UNSAFE = re.compile(r"[^\w.-]")


class Cassettes:
    """A directory that requests are recorded in."""

    def __init__(
        self, directory: str | Path, *, max_bytes: int = 256 * 1024 * 1024, max_files: int = MAX_FILES
    ) -> None:
        """The directory, made where it is not there.

        Raises: ConfigError where it cannot be made.
        """
        self._directory = Path(directory).expanduser()
        self._max_bytes = max_bytes
        self._max_files = max_files
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            files = [
                (path.name, path.stat().st_size) for path in self._directory.iterdir() if _NAME.fullmatch(path.name)
            ]
        except OSError as error:
            raise ConfigError(f"{directory}: nothing can be recorded there: {reason_of(error)}") from None
        self._files: dict[str, int] = dict(sorted(files))
        self._size = sum(self._files.values())

    def write(self, records: list[Record]) -> None:
        """Write requests that asked a model."""
        for record in records:
            content = record.content
            if not record.model or content is None:
                continue
            text = json.dumps(_cassette(record, content), ensure_ascii=False, indent=2) + "\n"
            data = text.encode(errors="replace")
            while self._files and (self._size + len(data) > self._max_bytes or len(self._files) >= self._max_files):
                oldest = next(iter(self._files))
                (self._directory / oldest).unlink(missing_ok=True)
                self._size -= self._files.pop(oldest)
            stem = f"{strftime('%Y%m%dT%H%M%S', gmtime(record.at))}-{_UNSAFE.sub('_', record.id)[:80]}"
            names = chain([stem], (f"{stem}-{number}" for number in count(2)))  # one id may come twice in a second
            place = next(path for name in names if not (path := self._directory / f"{name}.json").exists())
            draft = place.with_suffix(".draft")
            try:
                self._directory.mkdir(mode=0o700, exist_ok=True)  # somebody may have cleared it away
                draft.touch(0o600)
                draft.write_bytes(data)
                draft.replace(place)
            except OSError:
                draft.unlink(missing_ok=True)  # of a full disk: nobody would read it, and it is counted nowhere
                raise
            self._size += len(data)
            self._files[place.name] = len(data)


def _cassette(record: Record, content: Content) -> dict[str, Any]:
    return {
        "interlingua": 1,
        "kind": "gateway-cassette",
        "id": record.id,
        "at": record.at,
        "client": record.client,
        "model": record.model,
        "stream": record.stream,
        "error": record.error,
        "aborted": record.aborted,
        "request": {
            "method": content.method,
            "path": content.path,
            "query": content.query,
            "headers": _lines(content.headers),
            "body": _text(content.body),
        },
        "upstream": [
            {
                "target": passage.target,
                "dialect": passage.dialect,
                "method": passage.method,
                "url": passage.url,
                "request": {"headers": _lines(passage.request_headers), "body": _text(passage.request_body)},
                "status": passage.status,
                "headers": _lines(passage.headers),
                "body": _text(passage.body),
                "is_whole": passage.is_whole,
            }
            for passage in content.passages
        ],
        "reply": {
            "status": record.status,
            "headers": _lines(content.reply_headers),
            "body": _text(content.reply_body),
        },
        "is_whole": content.is_whole,
    }


def _lines(headers: Headers) -> list[str]:
    return [f"{name}: {value}" for name, value in headers]


def _text(body: bytes) -> str | dict[str, str]:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(body).decode()}


# Reading


class Played:
    """A cassette that was read."""

    def __init__(self, document: dict[str, Any]) -> None:
        """The content of a file."""
        request, reply = document["request"], document["reply"]
        self.client: str = document["client"]
        """The dialect of the client."""
        self.model: str = document["model"]
        """The model as it was asked for."""
        self.stream: bool = document["stream"]
        """Whether a stream was asked for."""
        self.status: int = reply["status"]
        """The status that the client got."""
        self.content: Content = Content(
            method=request["method"],
            path=request["path"],
            query=request["query"],
            headers=_headers(request["headers"]),
            body=_bytes(request["body"]),
            passages=tuple([_played(one) for one in document["upstream"]]),
            reply_headers=_headers(reply["headers"]),
            reply_body=_bytes(reply["body"]),
            is_whole=document["is_whole"],
        )
        """Both sides of it."""


def read_cassette(path: str | Path) -> Played:
    """A cassette of a gateway.

    Raises: ConfigError for a file that is not there or is none.
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        if document["kind"] != "gateway-cassette":
            raise ConfigError(f"{path} is no cassette of a gateway, but a {document['kind']!s:.40}")
        return Played(document)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigError(f"{path} is no cassette of a gateway: {type(error).__name__} {error}") from None


def _played(one: dict[str, Any]) -> Passage:
    return Passage(
        target=one["target"],
        dialect=one["dialect"],
        method=one["method"],
        url=one["url"],
        request_headers=_headers(one["request"]["headers"]),
        request_body=_bytes(one["request"]["body"]),
        status=one["status"],
        headers=_headers(one["headers"]),
        body=_bytes(one["body"]),
        is_whole=one["is_whole"],
    )


def _headers(lines: Iterable[str]) -> Headers:
    return tuple([(name, value) for name, _, value in [line.partition(": ") for line in lines]])


def _bytes(body: str | dict[str, str]) -> bytes:
    return b64decode(body["base64"]) if isinstance(body, dict) else body.encode()
