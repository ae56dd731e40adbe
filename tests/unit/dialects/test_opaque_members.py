"""Members that somebody gives for a dialect: what is no object there is told, and nothing else is raised."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects._contract import EncodeOptions, ServerContext, Target
from interlingua.dialects.table import get_dialect
from interlingua.errors import UsageError
from interlingua.stream.unfold import unfold
from interlingua.types.content import TextPart
from interlingua.types.message import user
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.usage import Usage


def answered(name: str, **members: Any) -> Response[Any]:
    """An answer with such members of a dialect."""
    return Response(parts=(TextPart("Hi"),), finish_reason="stop", finish_reason_raw="stop", extra={name: members})


@pytest.mark.parametrize("value", [True, 7, "x", [1]])
@pytest.mark.parametrize(
    ("name", "member"),
    [
        *(("openai-chat", member) for member in ("top", "choice", "message")),
        *(("google", member) for member in ("top", "candidate", "content")),
    ],
)
def test_members_of_an_answer_that_are_no_object(name: str, member: str, value: object) -> None:
    """Whole and streamed alike; nothing at all is an object without members."""
    dialect = get_dialect(name)
    with pytest.raises(UsageError, match="is written as an object"):
        dialect.encode_response(answered(name, **{member: value}), ServerContext())
    encoder = dialect.stream_encoder(ServerContext())
    with pytest.raises(UsageError, match="is written as an object"):
        [encoder.encode(event) for event in unfold(answered(name, **{member: value}))]
    whole = dialect.encode_response(answered(name, **{member: None}), ServerContext())
    assert whole.body == dialect.encode_response(answered(name), ServerContext()).body


def test_counts_and_lists_that_are_none_are_left_to_who_gets_them() -> None:
    """A count of tools that is no number takes nothing off, and an `include` that is no list goes out as it is."""
    counted = Usage(input_tokens=3, output_tokens=2, extra={"google": {"toolUsePromptTokenCount": {"a": 1}}})
    response = Response(parts=(TextPart("Hi"),), finish_reason="stop", finish_reason_raw="stop", usage=counted)
    assert b'"promptTokenCount":3' in get_dialect("google").encode_response(response, ServerContext()).body
    request = Request(messages=(user("Hi"),), extra={"openai-responses": {"include": 1.5}})
    written = get_dialect("openai-responses").encode_request(request, EncodeOptions(target=Target(model="m")))
    assert b'"include":1.5' in written.body
