"""The events of a stream.

```
stream := StreamStart (block | ToolCallReady | UsageUpdate | Extra)* (StreamEnd | StreamError)     blocks may interleave
block  := BlockStart delta* BlockEnd
delta  := TextDelta | ThinkingDelta | ToolCallDelta | RefusalDelta | DataDelta | Annotation | Seal
```

Rules
- `index` is dense per choice: the block's final place in the parts; a block opens before it grows and closes once.
- `ToolCallReady` follows the `BlockEnd` of a whole call; a broken call has none.
- `UsageUpdate` is cumulative and replaces field by field.
- There is exactly one terminal event, and nothing after it.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from interlingua.types._base import Canonical
from interlingua.types.content import Citation, Part, Sealed, ToolCall
from interlingua.types.response import Response
from interlingua.types.usage import Usage

__all__ = [
    "Annotation",
    "BlockEnd",
    "BlockKind",
    "BlockStart",
    "DataDelta",
    "Delta",
    "Event",
    "Extra",
    "RefusalDelta",
    "Seal",
    "StreamEnd",
    "StreamError",
    "StreamStart",
    "TextDelta",
    "ThinkingDelta",
    "ToolCallDelta",
    "ToolCallReady",
    "UsageUpdate",
]

BlockKind: TypeAlias = Literal[
    "text", "thinking", "refusal", "tool_call", "server_tool", "audio", "image", "document", "opaque"
]
"""The kind of part that a block becomes; `tool_call` covers calls that turn out broken."""


class StreamStart(Canonical, frozen=True):
    """The first upstream content is here."""

    model: str = ""
    """As `Response.model`."""
    wire_model: str | None = None
    """The provider's own model id."""
    id: str | None = None
    """The provider's id of the answer."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members of the answer known at its start, by dialect."""


class BlockStart(Canonical, frozen=True):
    """A block opens."""

    index: int
    """Its place in the parts of its choice."""
    block: BlockKind
    """The kind of part that it becomes."""
    id: str | None = None
    """Call id, of a tool call."""
    name: str | None = None
    """Tool name, of a tool call."""
    choice: int = 0
    """Which choice it belongs to."""
    freeform: bool = False
    """A freeform tool's call."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members of the block known at its start, by dialect."""


class TextDelta(Canonical, frozen=True, gc=False):
    """More text."""

    index: int
    """The block."""
    text: str
    """The added text, never empty."""
    choice: int = 0
    """Which choice it belongs to."""


class ThinkingDelta(Canonical, frozen=True, gc=False):
    """More readable thinking."""

    index: int
    """The block."""
    text: str
    """The added text, never empty."""
    choice: int = 0
    """Which choice it belongs to."""


class ToolCallDelta(Canonical, frozen=True, gc=False):
    """More of the arguments' text; not parseable before the block ends."""

    index: int
    """The block."""
    arguments: str
    """The added text, never empty."""
    choice: int = 0
    """Which choice it belongs to."""


class RefusalDelta(Canonical, frozen=True, gc=False):
    """More of a refusal."""

    index: int
    """The block."""
    text: str
    """The added text, never empty."""
    choice: int = 0
    """Which choice it belongs to."""


class DataDelta(Canonical, frozen=True, gc=False):
    """More bytes of a media block, and what is said in them."""

    index: int
    """The block."""
    data: bytes = b""
    """Bytes that were added."""
    transcript: str = ""
    """Transcript that was added."""
    choice: int = 0
    """Which choice it belongs to."""


class Annotation(Canonical, frozen=True):
    """A citation or another annotation of a text block."""

    index: int
    """The block."""
    annotation: Citation
    """The annotation."""
    choice: int = 0
    """Which choice it belongs to."""


class Seal(Canonical, frozen=True):
    """Sealed state of a block; a later seal of the same block replaces it."""

    index: int
    """The block."""
    sealed: Sealed
    """The state so far."""
    choice: int = 0
    """Which choice it belongs to."""


class BlockEnd(Canonical, frozen=True):
    """A block is whole."""

    index: int
    """The block."""
    part: Part
    """The part it became: what the deltas add up to."""
    choice: int = 0
    """Which choice it belongs to."""


class ToolCallReady(Canonical, frozen=True):
    """A call is whole, checked and executable."""

    index: int
    """The block."""
    call: ToolCall
    """The call."""
    choice: int = 0
    """Which choice it belongs to."""


class UsageUpdate(Canonical, frozen=True):
    """Token counts so far."""

    usage: Usage
    """Cumulative counts: each known field replaces the one before."""


class Extra(Canonical, frozen=True):
    """An upstream event that has no canonical form."""

    dialect: str
    """The dialect it belongs to."""
    raw: Any
    """The wire value, verbatim."""


class StreamEnd(Canonical, frozen=True):
    """The stream came to its proper end."""

    response: Response[Any]
    """The whole response: what all events add up to."""


class StreamError(Canonical, frozen=True):
    """The stream failed: an error event, a cut, a malformed piece."""

    error: str
    """Class name of the error in `interlingua.errors`."""
    message: str
    """Its sentence."""
    status: int | None = None
    """HTTP status that the upstream named, when it did."""
    code: str | None = None
    """The upstream's structured code or type."""
    retry_after_s: float | None = None
    """Seconds that the upstream asked us to wait."""
    request_id: str | None = None
    """The provider's id of the request."""
    partial: Response[Any] | None = None
    """The response up to the error."""


Delta: TypeAlias = TextDelta | ThinkingDelta | ToolCallDelta | RefusalDelta | DataDelta | Annotation | Seal
Event: TypeAlias = (
    StreamStart | BlockStart | Delta | BlockEnd | ToolCallReady | UsageUpdate | Extra | StreamEnd | StreamError
)
