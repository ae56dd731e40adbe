"""A client of Google that wants the bare value of an enum gets it from a provider that answers in JSON."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from interlingua.gateway.http import GatewayRequest
from interlingua.testing.upstream import Upstream
from interlingua.types.event import TextDelta
from tests.support.gateway import answer_of, asking, events_of, gateway, header_of

CONFIG: dict[str, Any] = {
    "responseMimeType": "text/x.enum",
    "responseSchema": {"type": "STRING", "enum": ["red", "blue"]},
}


def _asking(*, stream: bool = False) -> GatewayRequest:
    request = asking("google", "anthropic/claude-opus-4-5", stream=stream)
    return replace(request, body=json.dumps({**json.loads(request.body), "generationConfig": CONFIG}).encode())


async def test_an_enum_is_answered_without_quotes() -> None:
    """Whole and streamed, and no entry says that the media type was left out."""
    made = gateway()
    with Upstream("anthropic", '"red"', '"red"').standing():
        whole = await made(_asking())
        events = await events_of("google", await made(_asking(stream=True)))
    assert (await answer_of("google", whole)).text == "red"
    assert "".join([event.text for event in events if isinstance(event, TextDelta)]) == "red"
    assert "extra_foreign" not in (header_of(whole, "x-interlingua-changes") or "")
