"""What media targets take, as far as somebody says so, and what is assumed where nobody does."""

from __future__ import annotations

import pytest

from interlingua.providers.media_limits import EVERYWHERE, ROWS, UNKNOWN, MediaLimits, media_limits
from interlingua.providers.rows import ROWS as PROVIDERS


def test_every_row_is_one_of_a_provider() -> None:
    """No limit is for somebody who is not there."""
    assert {name for row in ROWS for name in row.providers} <= set(PROVIDERS)


def test_every_limit_says_who_says_so() -> None:
    """A target without a source is one of which nothing is known."""
    assert all(row.limits.source for row in ROWS)
    assert MediaLimits() == UNKNOWN


@pytest.mark.parametrize("family", ["", "together", "cerebras", "somebody"])
def test_unknown_stays_unknown(family: str) -> None:
    """The formats that everybody takes, a cautious size, and no limit."""
    assert media_limits(family, "any") is UNKNOWN
    assert (UNKNOWN.image_types, UNKNOWN.max_images, UNKNOWN.max_side_px) == (EVERYWHERE, None, None)
    assert UNKNOWN.useful_side_px == 2_048


@pytest.mark.parametrize(
    ("model", "useful", "images"),
    [
        ("claude-3-5-sonnet-20241022", 1_568, 100),
        ("claude-opus-4-1", 1_568, 100),
        ("claude-sonnet-4-20250514", 1_568, 100),
        ("claude-opus-4-5-20251101", 1_568, 100),
        ("claude-haiku-4-5", 1_568, 100),
        ("claude-opus-4-6", 2_576, 600),
        ("claude-opus-4-7", 2_576, 600),
        ("claude-opus-5", 2_576, 600),
        ("claude-fable-5-1", 2_576, 600),
    ],
)
def test_claude_looks_at_more_pixels_since_it_remembers_more(model: str, useful: int, images: int) -> None:
    """Limits by the generation; those of a side, a file and a request are the same for all."""
    limits = media_limits("anthropic", model)
    assert (limits.useful_side_px, limits.max_images) == (useful, images)
    assert (limits.max_side_px, limits.crowd, limits.max_request_bytes) == (8_000, (20, 2_000), 32_000_000)
    assert limits.max_image_bytes == 3_932_160


@pytest.mark.parametrize("family", ["openai", "openai-chat", "openai-responses", "azure"])
def test_openai_takes_no_moving_pictures(family: str) -> None:
    """Four formats, GIF without animation."""
    limits = media_limits(family, "gpt-5.5")
    assert (limits.image_types, limits.animated, limits.max_images) == (EVERYWHERE, False, 500)


@pytest.mark.parametrize(
    ("family", "taken", "not_taken"),
    [
        ("google", "image/heic", "image/gif"),
        ("gemini-compat", "image/webp", "image/heic"),
        ("xai", "image/png", "image/webp"),
        ("llamacpp", "image/bmp", "image/webp"),
        ("fireworks", "image/tiff", "image/webp"),
        ("ollama-compat", "image/webp", "image/gif"),
        ("foreman", "image/webp", "image/gif"),
    ],
)
def test_formats_differ(family: str, taken: str, not_taken: str) -> None:
    """By the provider's own page, or by what its server reads."""
    types = media_limits(family, "any").image_types
    assert (taken in types, not_taken in types) == (True, False)


def test_another_one_of_ours_fits_media_itself() -> None:
    """It knows its targets; here everything that has a known format passes in its full size."""
    limits = media_limits("interlingua", "any")
    assert (limits.animated, limits.useful_side_px, len(limits.image_types)) == (True, None, 9)


def test_five_images_of_groq_fit_into_one_request() -> None:
    """Whatever they are, each has its share of the request."""
    limits = media_limits("groq", "llama-4-scout")
    assert limits.max_images is not None
    assert limits.max_image_bytes is not None
    assert limits.max_request_bytes is not None
    assert limits.max_images * limits.max_image_bytes * 4 // 3 < limits.max_request_bytes
