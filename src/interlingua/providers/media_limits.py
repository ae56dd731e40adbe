"""The media that a target takes: one table, first match counts, unknown stays unknown.

Rules
- A limit is here when a source says so; None means that nobody said. Where the formats are unknown they are those that
  every service takes, and the size is a cautious one, which is a wish and no limit.
- `max_…` are limits: beyond them a request is refused. `useful_side_px` is the size to which the service itself brings
  what is larger, so that more pixels cost time and bytes alone.

Source: our notes on each wire format, rows on images [wire]; the vendors' public pages [vendor] and errors that
services answered [field], found 2026-11.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from interlingua.wire.cache import ByteCache, weight_of

__all__ = ["ROWS", "MediaLimits", "MediaRow", "media_limits"]

PNG, JPEG, WEBP, GIF = "image/png", "image/jpeg", "image/webp", "image/gif"
BMP, TIFF, HEIC, HEIF, AVIF = "image/bmp", "image/tiff", "image/heic", "image/heif", "image/avif"
EVERYWHERE = frozenset({PNG, JPEG, WEBP, GIF})
"""The formats that all services of today take."""
PDF = "application/pdf"
TEXTUAL = frozenset({"application/json", "application/xml", "application/yaml", "application/javascript"})
"""Documents that the Messages dialect tells as text itself."""
CAUTIOUS_SIDE_PX = 2_048
"""The longest side that a service is thought to look at where nobody says."""
MEBIBYTE = 1024 * 1024


class MediaLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The media that one target takes."""

    image_types: frozenset[str] = EVERYWHERE
    """MIME types of the images it takes."""
    animated: bool | None = None
    """Whether it takes images with more than one frame."""
    max_side_px: int | None = None
    """The longest side of an image."""
    max_pixels: int | None = None
    """The most pixels of an image."""
    useful_side_px: int | None = CAUTIOUS_SIDE_PX
    """The longest side that it looks at; what is larger it scales down itself."""
    max_image_bytes: int | None = None
    """The largest image, as a file."""
    max_images: int | None = None
    """The most images in one request."""
    crowd: tuple[int, int] | None = None
    """Beyond so many images in one request, the longest side is shorter: count, pixels."""
    max_request_bytes: int | None = None
    """The largest request body, in which media stand in base64."""
    audio_types: frozenset[str] | None = None
    """MIME types of the audio it takes."""
    document_types: frozenset[str] | None = None
    """MIME types of the documents it takes, beside text."""
    max_document_bytes: int | None = None
    """The largest document, as a file."""
    source: str = ""
    """The source."""


class MediaRow(NamedTuple):
    """One line of the table."""

    providers: frozenset[str]
    """Names of the rows of the providers."""
    models: str
    """A regular expression of the whole model id."""
    limits: MediaLimits
    """The limits."""


UNKNOWN = MediaLimits()
"""A target of which nothing is known."""

# The cap of 5 MiB is counted in base64 [field], three quarters of which is the file.
ANTHROPIC = MediaLimits(
    max_side_px=8_000,
    crowd=(20, 2_000),
    useful_side_px=2_576,
    max_image_bytes=5 * MEBIBYTE * 3 // 4,
    max_images=600,
    max_request_bytes=32_000_000,
    audio_types=frozenset(),
    document_types=frozenset({PDF, *TEXTUAL}),
    source='wire anthropic, "image limits"; vendor "Vision"; field',
)
ANTHROPIC_200K = msgspec.structs.replace(ANTHROPIC, useful_side_px=1_568, max_images=100)
"""Claude with a context of 200,000 tokens, up to 4.5."""

OPENAI = MediaLimits(
    animated=False,
    useful_side_px=2_048,
    max_image_bytes=20_000_000,
    max_images=500,
    max_request_bytes=50_000_000,
    audio_types=frozenset({"audio/wav", "audio/mpeg"}),
    max_document_bytes=50_000_000,
    source='wire openai-chat, "images in", "audio in"; vendor "Images and vision"',
)
GOOGLE = MediaLimits(
    image_types=frozenset({PNG, JPEG, WEBP, HEIC, HEIF}),
    animated=False,
    useful_side_px=3_072,
    max_images=3_000,
    max_request_bytes=100_000_000,
    audio_types=frozenset({
        "audio/wav", "audio/mpeg", "audio/mp4", "audio/aac", "audio/aiff", "audio/flac", "audio/ogg", "audio/opus",
        "audio/pcm", "audio/webm", "audio/l16",
    }),
    document_types=frozenset({
        PDF, "video/mp4", "video/mpeg", "video/quicktime", "video/x-msvideo", "video/x-flv", "video/webm",
        "video/x-ms-wmv", "video/3gpp", "application/x-javascript", "application/x-python",
    }),
    max_document_bytes=50_000_000,
    source='wire google, "images"; vendor "File input methods", "Image understanding", "Audio understanding", "Video '
    'understanding", "Document processing"; Firebase AI Logic, "Input file requirements"',
)  # fmt: skip
OLLAMA = MediaLimits(
    image_types=frozenset({PNG, JPEG, WEBP}),
    animated=False,
    source='wire ollama, "images"; wire compat-quirks, "Images"',
)
OURS = MediaLimits(
    image_types=frozenset({PNG, JPEG, WEBP, GIF, BMP, TIFF, HEIC, HEIF, AVIF}),
    animated=True,
    useful_side_px=None,
    source="our own format: the other side knows its targets",
)


def _row(limits: MediaLimits, *providers: str) -> MediaRow:
    return MediaRow(frozenset(providers), ".*", limits)


ROWS: tuple[MediaRow, ...] = (
    MediaRow(
        frozenset({"anthropic"}),
        r"claude-(3-.*|(opus|sonnet|haiku)-4(-[015])?(-2025.*)?|(opus|sonnet|haiku)-4-5.*|2.*|instant.*)",
        ANTHROPIC_200K,
    ),
    _row(ANTHROPIC, "anthropic"),
    _row(OPENAI, "openai", "openai-chat", "openai-responses", "azure"),
    _row(GOOGLE, "google"),
    _row(msgspec.structs.replace(GOOGLE, max_image_bytes=7_000_000, max_request_bytes=20_000_000), "vertex"),
    _row(
        msgspec.structs.replace(GOOGLE, image_types=frozenset({PNG, JPEG, WEBP}), max_document_bytes=None),
        "gemini-compat",
    ),
    _row(OURS, "interlingua"),
    _row(OLLAMA, "ollama", "ollama-cloud", "foreman", "ollama-compat"),
    # The whole request counts; a fifth of it is what each of the five images may have.
    _row(
        MediaLimits(
            max_pixels=33_177_600,
            max_image_bytes=570_000,
            max_images=5,
            max_request_bytes=4_000_000,
            source='vendor "Images and Vision"',
        ),
        "groq",
    ),
    _row(
        MediaLimits(
            animated=False,
            max_image_bytes=10_000_000,
            max_images=8,
            source='wire mistral, "images"',
        ),
        "mistral",
    ),
    # 20 megabytes of images in all; documents go beside the messages, as text.
    _row(
        MediaLimits(
            animated=False,
            max_images=20,
            max_image_bytes=20_000_000,
            audio_types=frozenset(),
            document_types=frozenset(),
            source='wire cohere, "images"; vendor "Image Inputs", "Command A Vision"',
        ),
        "cohere",
    ),
    _row(
        MediaLimits(
            image_types=frozenset({PNG, JPEG}),
            animated=False,
            max_image_bytes=20 * MEBIBYTE,
            source='vendor "Image understanding"',
        ),
        "xai",
    ),
    _row(
        MediaLimits(
            image_types=frozenset({PNG, JPEG, GIF, BMP, TIFF}),
            max_images=30,
            max_request_bytes=10_000_000,
            source='vendor "Vision models"',
        ),
        "fireworks",
    ),
    # No WebP: another server that stands in front of this one turns it into PNG for that reason [field].
    _row(
        MediaLimits(image_types=frozenset({PNG, JPEG, BMP}), animated=False, source="field"),
        "llamacpp",
    ),
    _row(
        MediaLimits(
            image_types=frozenset({PNG, JPEG, WEBP}),
            animated=False,
            source='vendor "Image input"',
        ),
        "lmstudio",
    ),
)
"""Every target there is something to say of."""


def media_limits(provider: str, model: str) -> MediaLimits:
    """The media that `model` takes at the row `provider`; cautious guesses when no row fits."""
    return _limits[provider, model]


def _look_up(key: tuple[str, str]) -> MediaLimits:
    provider, model = key
    for row in ROWS:
        if provider in row.providers and re.fullmatch(row.models, model):
            return row.limits
    return UNKNOWN


_limits = ByteCache(500_000, _look_up, weigh=lambda key, _: weight_of(key))  # those of a row are shared
