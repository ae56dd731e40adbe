"""Every class of error in every dialect, byte for byte: how it is told to a client, and as what it is read again.

A line of `errors/<dialect>.jsonl` is one error: what it is, the answer that tells it, the class of what is read from
that answer, and the same in a stream. The file is made by us, and `make golden-update` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlingua import errors
from interlingua.dialects._contract import DecodeContext, Dialect, ServerContext
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import Error
from interlingua.stream.fold import error_of
from interlingua.testing.framed import stream_text
from interlingua.types.event import StreamError

FOLDER = Path(__file__).parent / "errors"
CLASSES = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Error)]
STATUSES = (400, 401, 402, 403, 404, 408, 409, 413, 418, 422, 429, 499, 500, 502, 503, 504, 529)


def cases() -> Iterator[tuple[str, Error]]:
    """Each class alone, with an upstream's facts, and an upstream's error by each status."""
    for kind in CLASSES:
        yield kind.__name__, kind("It failed.")
        yield f"{kind.__name__} with facts", kind("It failed.", status=451, code="its_own_code", request_id="req_1")
    for status in STATUSES:
        yield f"UpstreamError {status}", errors.UpstreamError("It failed.", status=status)
    yield "RateLimitError and when", errors.RateLimitError("It failed.", status=429, retry_after_s=1.5)
    yield "DecodeError of a client", errors.DecodeError("It is bad.", path="/messages/0/content", status=400)
    yield "DecodeError of an upstream", errors.DecodeError("It is bad.", path="/choices", status=502)
    yield "LimitExceededError of a client", errors.LimitExceededError("It is long.", status=413)


def in_a_stream(dialect: Dialect, error: Error) -> dict[str, Any]:
    """The error as all that a stream says, and as what it is read again."""
    facts = (error.message, error.status, error.code, error.retry_after_s, error.request_id)
    stream = dialect.stream_encoder(ServerContext()).encode(StreamError(type(error).__name__, *facts))
    decoder = dialect.stream_decoder(DecodeContext())
    last = [*decoder.feed(stream), *decoder.close()][-1]
    assert isinstance(last, StreamError)
    again = error_of(last)
    read = [type(again).__name__, again.message, again.status, again.code, again.retryable, again.retry_after_s]
    return {"stream": stream_text(dialect.name, stream), "read from the stream": read}


def told(name: str) -> str:
    """All cases in one dialect, one a line."""
    dialect = get_dialect(name)
    lines: list[str] = []
    for case, error in cases():
        reply = dialect.encode_error(error, ServerContext())
        again = dialect.decode_error(reply, DecodeContext())
        line = {
            "error": case,
            "status": reply.status,
            "headers": dict(reply.headers),
            "body": json.loads(reply.body),
            "read": type(again).__name__,
            "message": again.message,
            "code": again.code,
            "retryable": again.retryable,
            "retry_after_s": again.retry_after_s,
            "request_id": again.request_id,
            **in_a_stream(dialect, error),
        }
        lines.append(json.dumps({key: value for key, value in line.items() if value is not None}) + "\n")
    return "".join(lines)


@pytest.mark.parametrize("name", DIALECTS)
def test_each_error_is_told_and_read_as_it_was(name: str, golden_update: bool) -> None:
    """Status, headers, body, and the class that a client of the dialect sees."""
    path = FOLDER / f"{name}.jsonl"
    if golden_update:
        path.write_text(told(name), encoding="utf-8")
    assert told(name).splitlines() == path.read_text(encoding="utf-8").splitlines()
