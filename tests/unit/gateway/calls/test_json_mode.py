"""JSON mode towards Claude, which has none: the client gets bare JSON, whole and streamed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

import interlingua as il
from interlingua.gateway.http import GatewayRequest
from interlingua.testing.upstream import Upstream
from interlingua.types.event import TextDelta
from tests.support.gateway import answer_of, asking, events_of, gateway, header_of

FENCED = '```json\n{\n  "city": "Oslo"\n}\n```'
BARE = '{\n  "city": "Oslo"\n}'
MODES: dict[str, dict[str, Any]] = {
    "openai-chat": {"response_format": {"type": "json_object"}},
    "openai-responses": {"text": {"format": {"type": "json_object"}}},
    "google": {"generationConfig": {"responseMimeType": "application/json"}},
    "ollama": {"format": "json"},
    "cohere": {"response_format": {"type": "json_object"}},
    "unified": {"json_mode": True},
}
"""How a client of a dialect asks for JSON."""


def _asking(dialect: str, *, stream: bool = False) -> GatewayRequest:
    """What a client in JSON mode asks."""
    request = asking(dialect, "anthropic/claude-opus-4-5", stream=stream)
    return replace(request, body=json.dumps({**json.loads(request.body), **MODES[dialect]}).encode())


@pytest.mark.parametrize("dialect", MODES)
async def test_srf_03_json_mode_towards_claude_gives_bare_json(dialect: str) -> None:
    """Whole, with the entry that a fence was taken out, and streamed; without JSON mode a fence stays."""
    made = gateway()
    with Upstream("anthropic", FENCED, FENCED, FENCED).standing():
        whole = await made(_asking(dialect))
        streamed = await made(_asking(dialect, stream=True))
        events = await events_of(dialect, streamed)
        plain = await made(asking(dialect, "anthropic/claude-opus-4-5"))
    assert (await answer_of(dialect, whole)).text == BARE
    assert "".join([event.text for event in events if isinstance(event, TextDelta)]) == BARE
    assert (await answer_of(dialect, plain)).text == FENCED
    told = header_of(whole, "x-interlingua-changes") or ""
    assert "approximated output_schema_prompted /json_mode" in told
    assert "repaired fence_removed /parts/0" in told


@pytest.mark.filterwarnings("ignore:.*no JSON mode:interlingua.ChangeWarning")
def test_srf_03_the_library_gives_bare_json() -> None:
    """Whole and streamed: the same text, and the same entry."""
    model = il.model("anthropic/claude-opus-4-5").with_options(json_mode=True)
    with Upstream("anthropic", FENCED, FENCED).standing():
        whole = model.generate("Oslo?")
        with model.stream("Oslo?") as stream:
            text = "".join([event.text for event in stream if isinstance(event, TextDelta)])
    assert whole.text == text == stream.response.text == BARE
    assert whole.changes == stream.response.changes
    assert [change.code for change in whole.changes] == ["output_schema_prompted", "parameter_added", "fence_removed"]
