"""The capabilities of a model as a value: each known to be there, known not to be, or unknown, with its origin.

Rules
- True is known yes, False is known no, None is unknown. Unknown never blocks a call.
- `origins` names for each known field who says so.

This module is not responsible for finding out: that is `client.capabilities`.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

__all__ = ["FEATURES", "Capabilities", "Feature"]

Feature: TypeAlias = Literal[
    "text",
    "images",
    "audio",
    "documents",
    "tools",
    "parallel_tool_calls",
    "forced_choice",
    "output_schema",
    "thinking",
    "n",
    "logprobs",
]
"""Features that a request can ask of a model; `require=` takes these words."""
FEATURES: tuple[Feature, ...] = get_args(Feature)
"""Every feature."""


class Capabilities(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The capabilities of a model, as far as they are known."""

    model: str = ""
    """The target, `provider/model`; empty where several are meant."""
    text: bool | None = None
    """Whether it takes text."""
    images: bool | None = None
    """Whether it takes images."""
    audio: bool | None = None
    """Whether it takes sound."""
    documents: bool | None = None
    """Whether it takes documents, such as PDF."""
    tools: bool | None = None
    """Whether it takes tools."""
    parallel_tool_calls: bool | None = None
    """Whether one of its turns can hold several calls."""
    forced_choice: bool | None = None
    """Whether it can be made to call a tool."""
    output_schema: bool | None = None
    """Whether its answer can be bound to a JSON Schema."""
    thinking: bool | None = None
    """Whether it can be asked to think."""
    n: bool | None = None
    """Whether it gives several choices for one request."""
    logprobs: bool | None = None
    """Whether it gives log probabilities."""
    image_types: frozenset[str] | None = None
    """MIME types of the images that are sent as they are; others are converted."""
    max_images: int | None = None
    """The most images in one request."""
    max_image_bytes: int | None = None
    """The largest image, as a file."""
    max_side_px: int | None = None
    """The longest side of an image."""
    audio_types: frozenset[str] | None = None
    """MIME types of the sound that it takes."""
    document_types: frozenset[str] | None = None
    """MIME types of the documents that it takes, beside text."""
    max_document_bytes: int | None = None
    """The largest document, as a file."""
    context_tokens: int | None = None
    """The most tokens of one exchange."""
    max_output_tokens: int | None = None
    """The most tokens of one answer."""
    origins: dict[str, str] = {}
    """Field -> who says so."""

    def over(self, other: Capabilities, origin: str = "") -> Capabilities:
        """These capabilities, and for what is unknown of them those of `other`; `origin` says whose these are."""
        own = {name: origin or self.origins.get(name, "") for name in self.known()}
        fields = {name: getattr(other if name not in own else self, name) for name in (*own, *other.known())}
        return replace(other, model=self.model or other.model, origins={**other.origins, **own}, **fields)

    def known(self) -> tuple[str, ...]:
        """The names of the fields of which something is known."""
        return tuple([name for name in _FACTS if getattr(self, name) is not None])

    def lacks(self) -> frozenset[str]:
        """The features that are known not to be there."""
        return frozenset([name for name in FEATURES if getattr(self, name) is False])


_FACTS = tuple([name for name in Capabilities.__struct_fields__ if name not in ("model", "origins")])
"""Every field that says something of the model."""
