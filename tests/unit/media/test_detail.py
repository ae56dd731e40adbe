"""`detail="full"` is our own word: every dialect says it in its own way, or has nothing to say."""

from __future__ import annotations

import json

import pytest

import interlingua as il
from interlingua.dialects._contract import EncodeOptions
from interlingua.dialects.table import get_dialect
from interlingua.types.request import Request
from interlingua.wire.media import told_detail

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(
    ("dialect", "said"),
    [
        ("openai-chat", '"detail": "high"'),
        ("openai-responses", '"detail": "high"'),
        ("google", '"level": "MEDIA_RESOLUTION_HIGH"'),
        ("anthropic", None),
        ("ollama", None),
        ("cohere", '"detail": "high"'),
        ("unified", '"detail": "full"'),
    ],
)
def test_the_full_image_is_told_in_the_words_of_the_dialect(dialect: str, said: str | None) -> None:
    """Where a dialect knows details it is `high`; where it knows none nothing is lost, so there is no entry."""
    request = Request(messages=(il.user("Look.", il.ImagePart(PNG, "image/png", "full")),))
    encoded = get_dialect(dialect).encode_request(request, EncodeOptions())
    body = json.dumps(json.loads(encoded.body))
    assert "detail_unsupported" not in [change.code for change in encoded.changes]
    assert (said in body) if said else ("full" not in body and "high" not in body)


@pytest.mark.parametrize("detail", [None, "auto", "low", "high", "original"])
def test_other_details_stay_what_they_are(detail: str | None) -> None:
    """Only our own word is translated."""
    assert told_detail(detail) == detail
