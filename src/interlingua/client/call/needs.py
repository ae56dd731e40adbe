"""The needs of a request, and whether a target is known to lack one of them.

Rules
- Only what is known not to be taken keeps a request away from a target: by its facts, by what the target has said
  itself, or by the caller's `require`. Unknown never does.
- A request needs what would change its meaning if it were lost: media and tools. Knobs are dropped with an entry by the
  dialect; `require` makes a need of them as well.
- What `allow` lets go keeps nothing away: the dialect leaves it out.

Not responsible for: what a dialect refuses besides (`dialects`), which is found when the request is encoded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.dialects._members import is_object
from interlingua.errors import UnsupportedError
from interlingua.media.fit import has_media
from interlingua.types.capabilities import FEATURES, Capabilities, Feature
from interlingua.types.change import CODES, Change
from interlingua.types.content import AudioPart, DocumentPart, ImagePart, ThinkingPart, ToolResult
from interlingua.types.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from interlingua.client.call.values import Call, CallTarget
    from interlingua.types.request import Request

__all__ = ["has_need", "is_required", "may_unseal", "narrowed", "needs_of", "shortfall", "unsealed"]

_MEDIA: dict[type, Feature] = {ImagePart: "images", AudioPart: "audio", DocumentPart: "documents"}
_NEEDED: tuple[Feature, ...] = ("images", "audio", "documents", "tools")
"""Features that a request can need, so that a target without them is passed over."""
_CHOICES = frozenset({"provider", "models", "route", "plugins", "preset", "transforms"})
"""Members by which a request chooses who answers behind a target. Source: OpenRouter "Provider Routing"."""


def needs_of(request: Request) -> dict[Feature, str]:
    """The features that a request needs, each with the first place that needs it, as a JSON pointer."""
    needs: dict[Feature, str] = {}
    if has_media(request.messages):
        for place, message in enumerate(request.messages):
            for feature, path in _media_of(message.parts, f"/messages/{place}/parts"):
                needs.setdefault(feature, path)
    own = next((place for place, tool in enumerate(request.tools) if isinstance(tool, Tool)), None)
    if own is not None:
        needs["tools"] = f"/tools/{own}"
    if request.thinking or request.thinking_budget or request.effort not in (None, "none"):
        needs["thinking"] = "/effort" if request.effort else "/thinking"
    return needs


def _media_of(parts: Sequence[object], path: str) -> Iterator[tuple[Feature, str]]:
    for place, part in enumerate(parts):
        feature = _MEDIA.get(type(part))
        if feature is not None:
            yield feature, f"{path}/{place}"
        elif isinstance(part, ToolResult) and isinstance(part.content, tuple):
            yield from _media_of(part.content, f"{path}/{place}/content")


def is_required(call: Call) -> bool:
    """Whether the caller or an alias requires something of the targets."""
    return bool(call.settings.require) or (call.ranking is not None and call.ranking.has_requirements)


def shortfall(call: Call, target: CallTarget, denied: Collection[str] = ()) -> UnsupportedError | None:
    """Why a target is passed over before anything is sent: it is known not to take what the call needs; else None.

    `said` are the features that the target itself has said that it lacks.
    """
    facts, declared = target.endpoint.target.facts, target.endpoint.capabilities
    denied = [feature for feature in denied if getattr(declared, feature) is not True]
    lacking = [feature for feature in _NEEDED if feature in denied or getattr(declared, feature) is False]
    lacking += [feature for feature in _MEDIA.values() if getattr(facts, feature) is False]
    required, ranking = call.settings.require, call.ranking
    if ranking is not None and ranking.has_requirements:
        required |= ranking.required().get(target.endpoint.spec, frozenset())
    if not lacking and not required:
        return None
    needs, allowed = needs_of(call.request), call.settings.allow
    missing = {feature for feature in lacking if feature in needs and feature not in allowed}
    missing |= required.intersection(denied)
    if not (missing or required):
        return None
    from interlingua.client.capabilities import known_capabilities  # only who is refused or requires something needs it

    capabilities = known_capabilities(target.endpoint, target.dialect, denied)
    missing |= required & capabilities.lacks()
    if not missing:
        return None
    reasons: dict[Feature, str] = {
        feature: capabilities.origins.get(feature, "") for feature in FEATURES if feature in missing
    }
    listing = ", ".join([f"{name} ({origin})" if origin else name for name, origin in reasons.items()])
    changes: list[Change] = []
    for name, origin in reasons.items():
        code = name if name in CODES else "feature_missing"
        changes.append(
            Change("refused", code, needs.get(name, ""), target.dialect.name, "routing", f"{name}: {origin}")
        )
    return UnsupportedError(f"{target.endpoint.spec} does not take {listing}", changes=tuple(changes))


def has_need(request: Request, feature: Feature, *, typed: bool = False) -> bool:
    """Whether a request needs a feature, so that a target may have refused it for that; a `typed` answer may be a tool.

    One that chooses who answers behind the target (OpenRouter's `provider`) was refused by its own choice: that says
    nothing of the target to anybody else.
    """
    chosen = [name for members in request.extra.values() for name in members if name in _CHOICES]
    return not chosen and (feature in needs_of(request) or (typed and feature == "tools"))


def narrowed(target: CallTarget, denied: Collection[str]) -> CallTarget:
    """The target as its dialect has to see it: without what it has said that it lacks."""
    declared = target.endpoint.capabilities
    members: Any = {feature: False for feature in denied if getattr(declared, feature) is not True}
    if not members:
        return target
    from interlingua.providers.declared import told_target  # only a target that has refused something needs it

    endpoint = replace(target.endpoint, target=told_target(target.endpoint.target, Capabilities(**members)))
    return replace(target, endpoint=endpoint)


def unsealed(target: CallTarget) -> CallTarget:
    """The target as its dialect has to see it after it has refused thinking as bound to another conversation."""
    endpoint = target.endpoint
    return replace(target, endpoint=replace(endpoint, target=replace(endpoint.target, takes_seals=False)))


def may_unseal(request: Request) -> bool:
    """Whether a request has sealed thinking, and does not want to be refused if what stands before that has changed."""
    thinking = [members["thinking"] for members in request.extra.values() if is_object(members.get("thinking"))]
    bindings = [settings["block_binding"] for settings in thinking if is_object(settings.get("block_binding"))]
    if any([binding.get("prefix_mismatch_behavior") == "error" for binding in bindings]):
        return False
    parts = [part for message in request.messages for part in message.parts]
    return any([isinstance(part, ThinkingPart) and part.sealed is not None for part in parts])
