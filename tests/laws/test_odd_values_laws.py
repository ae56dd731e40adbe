"""Law of odd values: whatever stands in the place of a value of a body, it is read as canonical values or is our error.

Canonical is what canonical JSON takes back. What was read can be told to other dialects, or is refused in a sentence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import Error
from interlingua.types.dump import dump, load
from interlingua.wire.http import HttpReply, HttpRequest

TESTS = Path(__file__).parent.parent
URL = "http://law/v1beta/models/m:generateContent"
ODD: tuple[Any, ...] = (None, 5, "x", [], [5], [{"type": "x"}], {"a": 1})
"""What stands in the place of each value in turn."""


@cache
def bodies(name: str, kind: str, given: str) -> tuple[Any, ...]:
    """Every body of a kind that the golden files and the matrix hold for a dialect."""
    files = [
        *(TESTS / "golden" / name).glob(f"*/{kind}.json"),
        *(TESTS / "matrix" / "given" / name / given).glob("*.json"),
    ]
    found = [json.loads(text) for file in sorted(files) if (text := file.read_text().strip()).startswith("{")]
    return tuple([body.get("body", body) for body in found])


def places(value: Any, path: tuple[str | int, ...] = (), kind: str = "") -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The paths of all values below a value, each with what is the same for all places of its kind."""
    if isinstance(value, dict):
        below = cast("dict[str | int, Any]", value)
        kind += f"<{below.get('type')}>"
    else:
        below = dict(enumerate(cast("list[Any]", value))) if isinstance(value, list) else {}
    for key, inner in below.items():
        here = f"{kind}/{key}" if isinstance(key, str) else kind
        yield (*path, key), here
        yield from places(inner, (*path, key), here)


def changed(name: str, kind: str, given: str) -> Iterator[bytes]:
    """Bodies with one odd value, in each kind of place once."""
    seen: set[str] = set()
    for body in bodies(name, kind, given):
        for path, place in places(body):
            for odd in () if place in seen else ODD:
                yield json.dumps(_put(body, path, odd)).encode()
            seen.add(place)


def _put(value: Any, path: tuple[str | int, ...], odd: object) -> Any:
    if not path:
        return odd
    copied = value.copy()
    copied[path[0]] = _put(value[path[0]], path[1:], odd)
    return copied


@pytest.mark.parametrize("name", DIALECTS)
def test_requests_with_odd_values(name: str) -> None:
    """Read, stored, loaded, and told to somebody."""
    tell = [get_dialect(other).encode_request for other in DIALECTS]
    options = EncodeOptions(target=Target(model="m"), history="mend")
    for place, body in enumerate(changed(name, "request", "requests")):
        try:
            decoded = get_dialect(name).decode_request(HttpRequest(url=URL, body=body), DecodeOptions(history="mend"))
        except Error:
            continue
        assert load(dump(decoded.request)) == decoded.request
        with suppress(Error):
            tell[place % len(tell)](decoded.request, options)


@pytest.mark.parametrize("name", DIALECTS)
def test_answers_with_odd_values(name: str) -> None:
    """Read, stored, loaded, and told to somebody."""
    tell = [get_dialect(other).encode_response for other in DIALECTS]
    for place, body in enumerate(changed(name, "response", "answers")):
        try:
            response = get_dialect(name).decode_response(HttpReply(status=200, body=body), DecodeContext())
        except Error:
            continue
        assert load(dump(response)) == response
        with suppress(Error):
            tell[place % len(tell)](response, ServerContext())
