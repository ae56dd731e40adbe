"""The class of service: Gemini's `serviceTier`, which its SDK sends, was a member that nobody else understood."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua import codec

ASKED: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
CHAT: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
PATH = "/v1beta/models/m:generateContent"


@pytest.mark.parametrize(
    ("word", "sent"), [("flex", "flex"), ("FLEX", "flex"), ("priority", "priority"), ("standard", "default")]
)
def test_a_tier_of_gemini_is_openais(word: str, sent: str) -> None:
    """In whatever case, as the SDK reads it; without an entry."""
    bridge = codec.bridge("google", "openai-chat", provider="openai-chat", model="gpt-4.1")
    assert bridge.request({**ASKED, "serviceTier": word}, path=PATH)["service_tier"] == sent
    assert not bridge.changes


def test_a_tier_that_says_nothing_is_none() -> None:
    """Nor is it a loss."""
    bridge = codec.bridge("google", "anthropic", model="claude-opus-5")
    sent = bridge.request(
        {**ASKED, "serviceTier": "unspecified", "generationConfig": {"maxOutputTokens": 9}}, path=PATH
    )
    assert "service_tier" not in sent
    assert not bridge.changes


def test_a_tier_that_nobody_knows_is_named() -> None:
    """It may mean something to Google."""
    bridge = codec.bridge("google", "openai-chat", model="m")
    bridge.request({**ASKED, "service_tier": "turbo"}, path=PATH)
    assert [(change.path, change.detail) for change in bridge.changes] == [("/extra/google", "serviceTier")]


@pytest.mark.parametrize(
    ("tier", "sent", "code"),
    [
        ("flex", "flex", None),
        ("default", "standard", None),
        ("auto", None, "parameter_adjusted"),
        ("performance", "priority", "parameter_adjusted"),
        ("scale", None, "parameter_unsupported"),
    ],
)
def test_a_tier_of_openai_is_geminis(tier: str, sent: str | None, code: str | None) -> None:
    """It was left out, as if Gemini had none."""
    bridge = codec.bridge("openai-chat", "google", model="gemini-3-pro")
    assert bridge.request({**CHAT, "service_tier": tier}).get("serviceTier") == sent
    assert [(change.code, change.path) for change in bridge.changes] == ([(code, "/service_tier")] if code else [])
