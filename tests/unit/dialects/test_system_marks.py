"""Marks for the prompt cache on system text, where a server knows none."""

from __future__ import annotations

import pytest

from interlingua.dialects._contract import EncodeOptions, Quirks, Target
from interlingua.dialects.table import get_dialect
from interlingua.types.content import TextPart
from interlingua.types.message import Message
from interlingua.types.request import Request


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "google", "ollama", "cohere"])
@pytest.mark.parametrize("texts", [1, 2])
def test_a_mark_on_system_text_is_told_in_one_place(dialect: str, texts: int) -> None:
    """Where the canonical request has it, whatever message it becomes."""
    system = tuple([TextPart("Long.", cache="5m")] * texts)
    target = Target(model="m", quirks=Quirks(cache_marks="none"))
    asked = Request(system=system, messages=(Message("user", (TextPart("Hi"),)),))
    encoded = get_dialect(dialect).encode_request(asked, EncodeOptions(target=target))
    assert [(one.code, one.path) for one in encoded.changes] == [
        ("cache_unsupported", f"/system/{place}/cache") for place in range(texts)
    ]
