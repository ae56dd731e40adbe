"""The rules of an operator, `[policy]` of the file: which models, which knobs, which words, how much.

Rules
- A name is put under another one (`rewrite`) before anything else looks it up; clients see the name that they used. The
  longest pattern that fits counts, an exact name before all.
- `models` holds for every surface and every key, beside what the key itself may ask for.
- The rest is a hook on conversations: what a request does not say is filled in, what is too much or denied is refused
  with its place, and the word itself is not repeated.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from interlingua.client.hooks.hook import Hook
from interlingua.errors import BadRequestError, ContentPolicyViolationError
from interlingua.types.content import AudioPart, DocumentPart, ImagePart, Json, TextPart, ToolResult
from interlingua.types.request import Request
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlingua.client.hooks.hook import HookContext
    from interlingua.types.content import Part

__all__ = ["Policy", "PolicySettings", "best_pattern", "renamed"]

_NOTHING = Request()
_MEDIA = (ImagePart, AudioPart, DocumentPart)


class PolicySettings(msgspec.Struct, frozen=True, kw_only=True):
    """What `[policy]` says."""

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


def best_pattern(patterns: dict[str, Any], name: str) -> str | None:
    """The pattern that fits a name best: the name itself, else the longest that it begins with; None for none."""
    if name in patterns:
        return name
    fitting = [pattern for pattern in patterns if pattern.endswith("*") and name.startswith(pattern[:-1])]
    return max(fitting, key=len, default=None)


def renamed(rewrite: dict[str, str], model: str) -> str:
    """The name, or chain of names, under which a client's model is looked up; each is put under another one once."""
    return ",".join([_renamed(rewrite, name.strip()) for name in model.split(",")]) if rewrite else model


def _renamed(rewrite: dict[str, str], name: str) -> str:
    pattern = best_pattern(rewrite, name)
    if pattern is None:
        return name
    told = rewrite[pattern]
    return told[:-1] + name[len(pattern) - 1 :] if told.endswith("*") and pattern.endswith("*") else told


class Policy(Hook):
    """Fills in, bounds and refuses."""

    def __init__(self, settings: PolicySettings) -> None:
        """By what a file says."""
        self._settings = settings
        words = "|".join([re.escape(word) for word in settings.denied_words])
        self._denied = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) if words else None

    @property
    def name(self) -> str:
        """`[policy]`, as the file has it."""
        return "[policy]"

    def before(self, request: Request, context: HookContext) -> Request:
        """The request with the defaults of its model.

        Raises: BadRequestError for what is too much; ContentPolicyViolationError for a denied word.
        """
        self._weigh(request)
        if self._denied is not None:
            self._look(request, self._denied)
        changed = self._defaults(request, context)
        most = self._settings.max_tokens
        if most is not None and (changed.max_tokens is None or changed.max_tokens > most):
            changed = replace(changed, max_tokens=most)
        return changed

    def _defaults(self, request: Request, context: HookContext) -> Request:
        pattern = best_pattern(self._settings.defaults, context.model)
        if pattern is None:
            return request
        told = self._settings.defaults[pattern]
        lacking = {name: value for name, value in told.items() if getattr(request, name) == getattr(_NOTHING, name)}
        return replace(request, **lacking) if lacking else request

    def _weigh(self, request: Request) -> None:
        settings = self._settings
        parts = [part for message in request.messages for part in _all_parts(message.parts)]
        self._bound("messages", len(request.messages), settings.max_messages)
        self._bound("tools", len(request.tools), settings.max_tools)
        if settings.max_media is not None:
            self._bound("media parts", sum([isinstance(part, _MEDIA) for part in parts]), settings.max_media)
        if settings.max_text_characters is not None:
            count = sum([len(text) for _, text in _texts(request)])
            self._bound("characters of text", count, settings.max_text_characters)

    def _bound(self, what: str, count: int, most: int | None) -> None:
        if most is not None and count > most:
            raise BadRequestError(
                f"the request has {count:,} {what}, and {most:,} are the most by the policy of this gateway",
                status=400,
                code="policy_exceeded",
            )

    def _look(self, request: Request, denied: re.Pattern[str]) -> None:
        for path, text in _texts(request):
            if denied.search(text):
                raise ContentPolicyViolationError(
                    f"{path} holds a word that the policy of this gateway denies", status=400, code="policy_denied"
                )


def _all_parts(parts: tuple[Part, ...]) -> Iterator[object]:
    """Parts, and those in results of tools."""
    for part in parts:
        yield part
        if isinstance(part, ToolResult) and isinstance(part.content, tuple):
            yield from part.content


def _texts(request: Request) -> Iterator[tuple[str, str]]:
    """Every text of a request that somebody wrote, with its place."""
    for place, part in enumerate(request.system):
        yield f"/system/{place}", part.text
    for number, message in enumerate(request.messages):
        for place, part in enumerate(message.parts):
            path = f"/messages/{number}/parts/{place}"
            match part:
                case TextPart(text=text):
                    yield path, text
                case ToolResult(content=str() as text):
                    yield f"{path}/content", text
                case ToolResult(content=Json(value=value)):
                    yield f"{path}/content", encode(value).decode()
                case ToolResult(content=tuple() as inner):
                    yield from [
                        (f"{path}/content/{index}", one.text)
                        for index, one in enumerate(inner)
                        if isinstance(one, TextPart)
                    ]
                case _:
                    pass
