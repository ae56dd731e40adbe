"""The rules of an operator, `[policy]` of the file: which models, which knobs, which words, how much.

Rules
- A name is put under another one (`rewrite`) before anything else looks it up; clients see the name that they used. The
  longest pattern that fits counts, an exact name before all.
- `models` holds for every surface and every key, beside what the key itself may ask for.
- The rest is a hook on conversations: what a request does not say is filled in, what is too much or denied is refused
  with its place, and the word itself is not repeated.
- A denied word is one in whatever a model reads (calls, results, documents of text, tools, schemas, too), however its
  letters are written in Unicode, and also where it stands in two pieces.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast
from unicodedata import normalize

import msgspec
from msgspec.structs import replace

from interlingua import Hook
from interlingua.dialects._limited import limited
from interlingua.errors import BadRequestError, ContentPolicyViolationError, DecodeError, LimitExceededError
from interlingua.gateway.keys.auth import best_pattern
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    TextPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.request import Request
from interlingua.wire.json import decode_any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from interlingua import HookContext
    from interlingua.types.content import Part

__all__ = ["Policy", "PolicySettings"]

_NOTHING = Request()
_MEDIA = (ImagePart, AudioPart, DocumentPart)
_UNSAID = frozenset({
    "annotations", "cache", "call_id", "detail", "dialect", "handler", "id", "kind", "media_type", "metadata", "model",
    "provider", "reason", "sealed", "status",
})  # fmt: skip
"""Fields of parts and tools that no model reads as text."""
_GAP = "\0"
"""Between texts that stand apart: neither a blank nor part of a word."""
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U000e0000-\U000e0fff]"
)
"""Characters that are not shown, and may stand in the middle of a word."""


class PolicySettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of `[policy]`."""

    models: tuple[str, ...] = ()
    """Names that may be asked for, `*` at the end for all that begin alike; empty: any."""
    rewrite: dict[str, str] = {}
    """Name -> the name that it is put under; both may end with `*`, which stands for the same rest."""
    defaults: dict[str, dict[str, Any]] = {}
    """Pattern of names -> members of a request that are filled in where a client does not say them."""
    denied_words: tuple[str, ...] = ()
    """Words that no conversation may hold, in whatever case."""
    max_messages: int | None = None
    """The most messages of one request."""
    max_tools: int | None = None
    """The most tools."""
    max_media: int | None = None
    """The most images, sounds and documents."""
    max_text_characters: int | None = None
    """The most text in all messages together."""
    max_tokens: int | None = None
    """The most tokens of an answer; a request that wants more, or does not say, gets so many."""

    @property
    def concerns_requests(self) -> bool:
        """Whether a request has to be read for it."""
        sizes = (self.max_messages, self.max_tools, self.max_media, self.max_text_characters, self.max_tokens)
        return bool(self.defaults or self.denied_words) or any([size is not None for size in sizes])


class Policy(Hook):
    """Fills in, bounds and refuses."""

    def __init__(self, settings: PolicySettings) -> None:
        """By what a file says."""
        self._settings = settings
        words = "|".join([r"\s+".join(map(re.escape, _plain(word).split())) for word in settings.denied_words])
        self._denied = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) if words else None

    @property
    def name(self) -> str:
        """`[policy]`, as the file has it."""
        return "[policy]"

    def before(self, request: Request, context: HookContext) -> Request:
        """The request with the defaults of its model.

        Raises: BadRequestError for what is too much; ContentPolicyViolationError for a denied word.
        """
        settings = self._settings
        self._bound("messages", len(request.messages), settings.max_messages)
        self._bound("tools", len(request.tools), settings.max_tools)
        if settings.max_media is not None:
            parts = [part for message in request.messages for part in _all_parts(message.parts)]
            self._bound("media parts", sum([isinstance(part, _MEDIA) for part in parts]), settings.max_media)
        if settings.max_text_characters is not None:
            count = sum([len(text.replace(_GAP, "")) for _, text in _texts(request)])
            self._bound("characters of text", count, settings.max_text_characters)
        if self._denied is not None:
            for path, text in (*_texts(request), *_joined(request), *_offers(request)):
                if self._denied.search(_plain(text)):
                    raise ContentPolicyViolationError(
                        f"{path} holds a word that the policy of this gateway denies", status=400, code="policy_denied"
                    )
        changed, defaults = request, settings.defaults
        pattern = best_pattern(defaults, context.model)
        if pattern is not None:
            lacking = {
                name: value
                for name, value in defaults[pattern].items()
                if getattr(request, name) == getattr(_NOTHING, name)
            }
            changed = replace(request, **lacking) if lacking else request
        most, limit = settings.max_tokens, changed.max_tokens
        if most is not None:
            is_within = limit is not None and 0 < limit <= most  # some servers take 0, or less, for no limit
            changed = limited(changed, limit if is_within and limit else most)
        return changed

    def _bound(self, what: str, count: int, most: int | None) -> None:
        if most is not None and count > most:
            raise BadRequestError(
                f"the request has {count:,} {what}, and {most:,} are the most by the policy of this gateway",
                status=400,
                code="policy_exceeded",
            )


def _all_parts(parts: tuple[Part, ...]) -> Iterator[object]:
    """Parts, and those in results of tools."""
    for part in parts:
        yield part
        if isinstance(part, ToolResult) and isinstance(part.content, tuple):
            yield from part.content


def _texts(request: Request) -> Iterator[tuple[str, str]]:
    """The texts of what is said in the conversation of a request, with their places."""
    for place, part in enumerate(request.system):
        yield f"/system/{place}", part.text
    for number, message in enumerate(request.messages):
        for place, part in enumerate(message.parts):
            path = f"/messages/{number}/parts/{place}"
            yield f"{path}/content" if isinstance(part, ToolResult) else path, _GAP.join(_texts_in(part))


def _joined(request: Request) -> Iterator[tuple[str, str]]:
    """The texts of each message in one, as a model reads them that gets a word in two pieces."""
    several = [("/system", request.system)]
    several += [(f"/messages/{number}", message.parts) for number, message in enumerate(request.messages)]
    for path, parts in several:
        texts = [part.text for part in parts if isinstance(part, TextPart)]
        if len(texts) > 1:
            yield path, "".join(texts)


def _offers(request: Request) -> Iterator[tuple[str, str]]:
    """Other texts of a request that a model reads: its tools, the schema of the answer, and members of one dialect."""
    for place, tool in enumerate(request.tools):
        yield f"/tools/{place}", _GAP.join(_texts_in(tool))
    for name in ("output_schema", "schema_name", "schema_description", "extra"):
        yield f"/{name}", _GAP.join(_texts_in(_member(request, name)))


def _texts_in(value: object) -> Iterator[str]:
    """Every text in a value, names of members included, but for what only the translation reads."""
    match value:
        case str():
            yield value
        case ToolCall(name=name, arguments_json=written) | BrokenToolCall(name=name, raw_arguments=written):
            yield name
            try:
                arguments: object = decode_any(written.encode())  # no letter is escaped in a value
            except (DecodeError, LimitExceededError):
                arguments = written  # it is no JSON
            yield from _texts_in(arguments)
        case DocumentPart(data=data, media_type=kind) if kind.startswith(("text/", "application/json")):
            yield value.name or ""
            yield data.decode(errors="replace")
        case msgspec.Struct():
            for name in [name for name in value.__struct_fields__ if name not in _UNSAID]:
                yield from _texts_in(_member(value, name))
        case dict():
            members = cast("dict[str, object]", value)
            yield from _texts_in([*members, *members.values()])
        case list() | tuple():
            for inner in cast("Sequence[object]", value):
                yield from _texts_in(inner)
        case _:
            pass


def _member(value: object, name: str) -> object:
    """A field of a part or a tool; of what single dialects know the members, without the names of the dialects."""
    member: object = getattr(value, name)
    return list(cast("dict[str, object]", member).values()) if name == "extra" else member


def _plain(text: str) -> str:
    """A text for comparison: in one form of each letter, and without characters that nobody sees."""
    return text if text.isascii() else _UNSEEN.sub("", normalize("NFKC", text))
