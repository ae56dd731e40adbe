"""The parts of a message: a sealed union in the order in which they were said.

Rules
- Parts are ordered: thinking, text and calls interleave, and providers insist on the order.
- Media parts hold bytes, never a URL; a reference in a client's body is an `OpaquePart` of kind `media_ref`. The
  bytes may stand in base64 until somebody reads them: `MediaPart`.
- A tool that the provider runs leaves `ServerToolPart`s: readable everywhere, and verbatim in the dialect they came in.
- `sealed` is opaque reasoning state, byte-exact, that goes back only to its issuer.
- `extra[dialect]` keeps wire members that have no canonical field; it is sent to that dialect only.
- Nothing in a part leads back to it, so the garbage collector passes parts by, as it does messages.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from interlingua.types._base import Canonical
from interlingua.wire.arguments import parse_arguments
from interlingua.wire.media import Base64

__all__ = [
    "AudioPart",
    "BrokenReason",
    "BrokenToolCall",
    "Cache",
    "Citation",
    "DocumentPart",
    "ImagePart",
    "Json",
    "MediaPart",
    "OpaquePart",
    "Part",
    "RefusalPart",
    "Sealed",
    "ServerToolPart",
    "ServerToolStatus",
    "Source",
    "TextPart",
    "ThinkingPart",
    "ToolCall",
    "ToolResult",
    "stored_data",
    "with_bytes",
]

Cache: TypeAlias = Literal["auto", "5m", "1h"]
"""A prompt-cache mark: up to here the prompt is worth caching, for the provider's own time, 5 minutes or an hour."""
BrokenReason: TypeAlias = Literal["malformed", "not_object", "duplicate_key", "non_finite", "cut_off"]
"""No JSON, JSON but no object, a key twice, a number that JSON has not, or ended by the length limit."""
ServerToolStatus: TypeAlias = Literal["running", "completed", "failed"]
"""No result yet; the tool has answered; it could not."""


class Sealed(msgspec.Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True):
    """Opaque reasoning state and who issued it; never shown, changed or sent to anybody else."""

    dialect: str
    """The dialect whose members `data` are."""
    data: dict[str, Any]
    """The wire members, verbatim: `{"signature": …}`, `{"encrypted_content": …}`, `{"reasoning_details": […]}`."""
    provider: str | None = None
    """The provider that issued it; None when a client's body did not say."""
    model: str | None = None
    """The provider's own model id; None when unknown."""


class Citation(msgspec.Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True):
    """A source of a text, or another annotation: what it cites in fields of its own, and the wire value it came in."""

    dialect: str
    """The dialect whose value `raw` is."""
    raw: dict[str, Any] = {}
    """The wire value, verbatim; empty where an earlier citation of the same text has the value that holds this one, and
    for a citation that no wire has said."""
    url: str | None = None
    """Address of the source."""
    title: str | None = None
    """Title of the source, or the name of the file."""
    file: str | None = None
    """The provider's id of the source, where that is a file."""
    quote: str | None = None
    """The words of the source that are cited."""
    start: int | None = None
    """Where in the text what rests on the source begins, in characters; None for the beginning of the text."""
    end: int | None = None
    """Where it ends; None for the end of the text."""


class TextPart(Canonical, frozen=True, gc=False):
    """Text."""

    text: str
    """The text; empty only where sealed state or a mark came without any."""
    annotations: tuple[Citation, ...] = ()
    """Citations and other annotations."""
    cache: Cache | None = None
    """A cache mark after this part."""
    sealed: Sealed | None = None
    """Sealed state that came with the text (thought signatures, item ids and phases)."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members without a canonical field, by dialect."""


class MediaPart(Canonical, frozen=True, gc=False):
    """The bytes of a file and their type.

    Base64 that a body brought is checked and stays text in the field; `data` decodes it anew at each access. Writers
    copy the text, so that a picture that only passes through is never decoded. Both forms of the same bytes are equal,
    and alike in `repr`, in pickles and in JSON.
    """

    data: bytes
    """The file's bytes."""
    media_type: str
    """MIME type, such as `image/png`, `audio/wav` or `application/pdf`."""

    @property
    def base64(self) -> str:
        """The file in padded standard base64."""
        stored = stored_data(self)
        return str(stored) if isinstance(stored, Base64) else b2a_base64(stored, newline=False).decode("ascii")

    @property
    def size_bytes(self) -> int:
        """The size of the file."""
        stored = stored_data(self)
        return len(stored) * 3 // 4 - stored.count("=", -2) if isinstance(stored, Base64) else len(stored)

    def __eq__(self, other: object) -> bool:
        """Whether the other part is of the same class, with the same bytes and the same other fields."""
        if type(other) is not type(self):
            return NotImplemented
        mine, its = stored_data(self), stored_data(other)
        alike = mine == its if type(mine) is type(its) else self.data == other.data
        return alike and all([getattr(self, name) == getattr(other, name) for name in self.__struct_fields__[1:]])

    def __hash__(self) -> int:
        """A TypeError, as `extra` is a dict."""
        return hash(tuple([getattr(self, name) for name in self.__struct_fields__]))

    def __repr__(self) -> str:
        """The fields, `data` as bytes."""
        return super(MediaPart, _with_bytes(self)).__repr__()

    def __reduce__(self) -> Any:
        """The fields, `data` as bytes."""
        return super(MediaPart, _with_bytes(self)).__reduce__()


stored_data: Callable[[MediaPart], bytes | Base64] = MediaPart.__dict__["data"].__get__
"""The value in the field `data`: bytes, or their base64."""


def _data(part: MediaPart) -> bytes:
    """The file's bytes."""
    stored = stored_data(part)
    return a2b_base64(stored) if isinstance(stored, Base64) else stored


type.__setattr__(MediaPart, "data", property(_data))


class ImagePart(MediaPart, frozen=True, gc=False):
    """An image, as bytes."""

    detail: str | None = None
    """How closely to look: `auto`, `low`, `high`, `original` or a provider's own word; `full` also keeps the image from
    being scaled down to what the target looks at."""
    cache: Cache | None = None
    """A cache mark after this part."""
    sealed: Sealed | None = None
    """Sealed state that came with a generated image."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members without a canonical field, by dialect."""


class AudioPart(MediaPart, frozen=True, gc=False):
    """Audio, as bytes."""

    transcript: str | None = None
    """The words of the sound, when the provider wrote them down."""
    cache: Cache | None = None
    """A cache mark after this part."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members without a canonical field, by dialect."""


class DocumentPart(MediaPart, frozen=True, gc=False):
    """A document, as bytes: a PDF, a text, or any other file that is neither image nor audio, such as a video."""

    name: str | None = None
    """Its file name or title."""
    cache: Cache | None = None
    """A cache mark after this part."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members without a canonical field, by dialect."""


class ThinkingPart(Canonical, frozen=True, gc=False):
    """Reasoning: the readable text, the sealed state, or both."""

    text: str = ""
    """Readable reasoning or its summary; empty for a redacted or omitted block."""
    sealed: Sealed | None = None
    """Signatures and sealed state that must go back to the issuer with the next request."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members without a canonical field, by dialect."""


class RefusalPart(Canonical, frozen=True, gc=False):
    """The model's own words of refusal."""

    text: str
    """The words of the refusal."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members without a canonical field, by dialect."""


class ToolCall(Canonical, frozen=True, gc=False):
    """A call that the model makes: whole, checked, executable."""

    id: str
    """Pairs the call with its result."""
    name: str
    """The tool's name as the request declared it."""
    arguments_json: str
    """The exact JSON text of one object, duplicate keys and non-finite numbers excluded."""
    freeform: bool = False
    """A freeform tool's call: the arguments are `{"input": text}`."""
    sealed: Sealed | None = None
    """Sealed state that came with the call (thought signatures, item ids)."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members without a canonical field, by dialect."""

    if not TYPE_CHECKING:  # type checkers are to know what there is alone

        def __getattr__(self, name: str) -> Any:
            """Nothing: the error says what there is instead of another library's word."""
            from interlingua.types.words import no_attribute  # only who errs needs it

            no_attribute(self, name)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments, parsed anew on each access; integers are exact."""
        return parse_arguments(self.arguments_json)


class BrokenToolCall(Canonical, frozen=True, gc=False):
    """A call whose arguments are not one JSON object: never executed, never replayed as a call."""

    id: str
    """Pairs the call with its error result."""
    name: str
    """The tool's name."""
    raw_arguments: str
    """The exact text that came."""
    reason: BrokenReason
    """Why it is broken; `cut_off` when the length limit ended it."""
    freeform: bool = False
    """A freeform tool's call."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members without a canonical field, by dialect."""


class Json(msgspec.Struct, frozen=True, tag_field="type", tag="json"):
    """Any JSON value as the content of a tool result."""

    value: Any
    """The value."""


class OpaquePart(Canonical, frozen=True, gc=False):
    """A part that only its own dialect understands: verbatim there, never passed to another in silence."""

    dialect: str
    """The dialect it belongs to."""
    kind: str
    """The kind of content; `media_ref` for a URL or file id."""
    raw: Any
    """The wire value, verbatim."""
    cache: Cache | None = None
    """A cache mark after this part."""


class Source(msgspec.Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True):
    """A page or a file that a tool of the provider found or read."""

    url: str | None = None
    """Its address."""
    title: str | None = None
    """Its title, or the name of the file."""
    file: str | None = None
    """The provider's id of the file."""


class ServerToolPart(Canonical, frozen=True, gc=False):
    """A step of a tool that the provider runs itself: a call, what came of it, or both, as the wire tells it.

    It goes back verbatim to the dialect that it came in. Elsewhere it is told in words, in its place.
    """

    dialect: str
    """The dialect it came in."""
    kind: str
    """Its wire type there, such as `web_search_call` or `server_tool_use`."""
    raw: Any
    """The wire value, verbatim."""
    name: str = ""
    """The tool's own name, such as `web_search`; of a tool of an MCP server, `server/tool`."""
    call_id: str | None = None
    """Pairs a call with a result that is a part of its own."""
    input: Any = None
    """The input of the call, any JSON value; None for a result that is a part of its own."""
    output: str | None = None
    """The output, in words; None for a call whose result is a part of its own, or not known."""
    sources: tuple[Source, ...] = ()
    """The pages and files that it found or read."""
    status: ServerToolStatus = "completed"
    """How far it got."""
    provider: str | None = None
    """The provider that ran it; None when a client's body did not say."""
    cache: Cache | None = None
    """A cache mark after this part."""


class ToolResult(Canonical, frozen=True, gc=False):
    """The answer of a tool to a call."""

    call_id: str
    """The id of the call it answers."""
    name: str
    """The tool's name; empty only when a client's body does not say and its call is not in the history."""
    content: str | Json | tuple[TextPart | ImagePart | AudioPart | DocumentPart | OpaquePart | Json, ...] = ""
    """Text, any JSON value, or parts."""
    is_error: bool = False
    """Whether the tool failed."""
    cache: Cache | None = None
    """A cache mark after this result."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members without a canonical field, by dialect."""


Part: TypeAlias = (
    TextPart
    | ImagePart
    | AudioPart
    | DocumentPart
    | ThinkingPart
    | RefusalPart
    | ToolCall
    | BrokenToolCall
    | ToolResult
    | ServerToolPart
    | OpaquePart
)
"""Everything that a message can hold."""


def with_bytes(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Parts with the data of media as bytes, also inside of results, for formats that keep bytes and texts apart."""
    return tuple([_with_bytes(part) if isinstance(part, MediaPart | ToolResult) else part for part in parts])


def _with_bytes(part: MediaPart | ToolResult) -> Any:
    if isinstance(part, MediaPart):
        return replace(part, data=part.data) if isinstance(stored_data(part), Base64) else part
    if not isinstance(part.content, tuple):
        return part
    return replace(
        part, content=tuple([_with_bytes(one) if isinstance(one, MediaPart) else one for one in part.content])
    )
