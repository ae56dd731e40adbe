"""What an answer repeats of its request: in the caller's own words, and written once where they are known."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from interlingua.dialects._contract import DecodeOptions, ServerContext
from interlingua.dialects._tool_cache import CachedTools
from interlingua.errors import UsageError
from interlingua.types.content import TextPart
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpRequest
from tests.support.responses import DIALECT

ANSWER = Response[Any](parts=(TextPart("yes"),), finish_reason="stop", model="m", id="r1")
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "name": "look",
        "description": "null",
        "parameters": {"type": "object", "enum": [None]},
        "strict": False,
    },
    {"type": "function", "name": "bare", "parameters": {"type": "object", "properties": {}}, "strict": True},
]
REPEATED: list[dict[str, Any]] = [
    TOOLS[0],
    {**TOOLS[1], "description": None},
]


def _asked(**members: Any) -> Request:
    body = {"model": "m", "input": "hi", "tools": TOOLS} | members
    http = HttpRequest(url="https://gateway.example/v1/responses", body=json.dumps(body).encode())
    return DIALECT.decode_request(http, DecodeOptions()).request


def _told(request: Request) -> bytes:
    return DIALECT.encode_response(ANSWER, ServerContext(request=request, source="x", created=5)).body


def test_known_tools_are_repeated_as_new_ones_are() -> None:
    """To the byte, in an answer to the first request as to the third, and in one to a request that has plain tools."""
    requests = [_asked() for _ in range(3)]
    plain = msgspec.structs.replace(requests[0], tools=tuple(requests[0].tools))
    assert type(requests[2].tools) is CachedTools
    answers = {_told(request) for request in (*requests, requests[2], plain)}
    assert [json.loads(answer)["tools"] for answer in answers] == [REPEATED]


def test_known_tools_are_written_once_for_all_answers() -> None:
    """The text is kept beside what requests are made of."""
    request = [_asked() for _ in range(3)][2]
    assert isinstance(request.tools, CachedTools)
    request.tools.written.clear()
    _told(request)
    (kept,) = request.tools.written.values()
    assert json.loads(kept.text) == REPEATED
    request.tools.written[next(iter(request.tools.written))] = msgspec.structs.replace(kept, text=b'["again"]')
    assert json.loads(_told(request))["tools"] == ["again"]


@pytest.mark.parametrize("members", [{}, {"reasoning": {"effort": "low"}}, {"temperature": None}])
def test_a_number_that_is_not_finite_is_refused_beside_nulls_that_are_meant(members: dict[str, Any]) -> None:
    """However many members are null."""
    request = msgspec.structs.replace(_asked(**members), top_p=float("nan"))
    with pytest.raises(UsageError, match="top_p is not finite"):
        _told(request)


def test_a_choice_is_repeated_in_its_own_words() -> None:
    """That of a freeform tool, too; `auto` where there is none."""
    custom = {"type": "custom", "name": "write"}
    chosen = [_asked(tools=[custom], tool_choice=custom), _asked(tool_choice="required"), _asked()]
    told = [json.loads(_told(request))["tool_choice"] for request in chosen]
    assert told == [custom, "required", "auto"]
