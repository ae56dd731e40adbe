"""The capabilities of a target, as far as they are known: every source in one value.

Strategy: sources are laid over each other, the first one that says something of a field counts: what somebody declares
(the configuration file, a DSN, a provider in code), what the target has refused lately, its own card where it was asked
for, the tables of models and media, and what its dialect cannot say.

Rules
- Nothing is asked of a server unless the caller says `ask=True`; then its answer also counts for calls, for an hour.
- A card is asked for again after a minute at the earliest.
- What no dialect can say is found by encoding a small request that has it: the dialect itself decides.

Not responsible for: passing over a target, which is `client.call.needs`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from interlingua.client.call.attempt import refusal
from interlingua.client.call.effect import Fetch
from interlingua.client.call.open_attempt import consulted
from interlingua.client.call.values import CallTarget
from interlingua.client.face import check_registry
from interlingua.client.state import health_store
from interlingua.dialects._contract import DecodeContext, Encoded, EncodeOptions
from interlingua.dialects.table import get_dialect
from interlingua.errors import Error, UsageError, check_text
from interlingua.providers.cards import card_request, read_card
from interlingua.providers.media_limits import media_limits
from interlingua.registry.resolve import default_registry, placeholder
from interlingua.routing.health import Learned, Look
from interlingua.transport.base import Timeouts
from interlingua.transport.override import answers_alone
from interlingua.types.capabilities import Capabilities, Feature
from interlingua.types.content import AudioPart, DocumentPart, ImagePart
from interlingua.types.message import user
from interlingua.types.request import Request
from interlingua.types.tool import NamedTool, Tool
from interlingua.wire.cache import ByteCache, weight_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from interlingua.client.call.effect import Steps
    from interlingua.dialects._contract import Dialect, Target
    from interlingua.registry.endpoint import Endpoint
    from interlingua.registry.resolve import Registry

__all__ = ["async_capabilities", "capabilities", "known_capabilities"]

CARD_S = 3_600.0
"""How long a server's own answer counts for calls."""
AGAIN_S = 60.0
"""How soon a server is asked again."""
TIMEOUT_S = 20.0
"""How long a server may take to answer."""
_LEARNED: tuple[Feature, ...] = ("images", "audio", "documents", "tools", "thinking")
"""Features that calls learn from a card."""
_SAID_ITSELF = "the target refused it lately"


class _Card(NamedTuple):
    """The card of a server."""

    at_s: float
    """When, on this process's clock."""
    capabilities: Capabilities
    """The capabilities on it."""


def _weigh_card(key: tuple[str, str], card: _Card) -> int:
    del card
    return weight_of(key) + 2_000


_cards = ByteCache[tuple[str, str], _Card](1_000_000, weigh=_weigh_card)
"""The answers of servers, by target and address."""


def capabilities(spec: str, *, ask: bool = False, registry: Registry | None = None) -> Capabilities:
    """The capabilities of a target, `provider/model` or an alias of one; with `ask` its server is asked as well.

    `registry` says what names stand for, where that is not the registry of the process.

    Raises: UnknownModelError, ConfigError for a spec that leads nowhere; UsageError for several targets, and for `ask`
        where the server tells nothing of its models; with `ask` also TransportError, UpstreamError and DecodeError.
    """
    from interlingua.client.call.pump import carried_out

    return carried_out(_capabilities_of(_endpoint(spec, registry), ask=ask))


async def async_capabilities(spec: str, *, ask: bool = False, registry: Registry | None = None) -> Capabilities:
    """The capabilities of a target, `provider/model` or an alias of one; with `ask` its server is asked as well.

    `registry` says what names stand for, where that is not the registry of the process.

    Raises: UnknownModelError, ConfigError for a spec that leads nowhere; UsageError for several targets, and for `ask`
        where the server tells nothing of its models; with `ask` also TransportError, UpstreamError and DecodeError.
    """
    from interlingua.client.aio.pump import carried_out

    return await carried_out(_capabilities_of(_endpoint(spec, registry), ask=ask))


def _endpoint(spec: str, registry: Registry | None) -> Endpoint:
    check_registry(registry)
    check_text(spec, "a model is named by a text, 'provider/model'")
    try:
        endpoints = (default_registry() if registry is None else registry).resolve(spec)
    except UsageError:
        if not answers_alone():
            raise
        endpoints = (placeholder(spec),)
    first, *others = endpoints
    if others:
        names = ", ".join([endpoint.spec for endpoint in endpoints])
        raise UsageError(f"{spec:.80} is a chain, and its targets have different capabilities; name one of {names}")
    return first


def _capabilities_of(endpoint: Endpoint, *, ask: bool) -> Steps[Capabilities]:
    dialect, store, identity = get_dialect(endpoint.dialect), health_store(), endpoint.identity()
    if ask:
        # The card of the model comes from its server, or is remembered.
        question = card_request(endpoint.card, endpoint.base_url, endpoint.model)
        if question is None:
            raise UsageError(f"{endpoint.spec}: its server does not list capabilities; use ask=False")
        key, now_s = (endpoint.spec, endpoint.base_url), time.monotonic()
        card = _cards.get(key)
        if card is None or now_s - card.at_s >= AGAIN_S:
            http = endpoint.http_request(Encoded(path="", body=question.body), with_credential=not answers_alone())
            http = replace(http, method=question.method, url=question.url)
            reply = yield Fetch(http, Timeouts(total_s=TIMEOUT_S), endpoint.carrier)
            if not 200 <= reply.status < 300:
                raise refusal(CallTarget(endpoint, dialect), reply, DecodeContext(target=endpoint.target))
            card = _Card(now_s, read_card(endpoint.card, endpoint.model, reply.body))
            _cards.put(key, card)
        answer = card.capabilities
        lacks = frozenset[Feature]([feature for feature in _LEARNED if getattr(answer, feature) is False])
        takes = frozenset[Feature]([feature for feature in _LEARNED if getattr(answer, feature)])
        if lacks or takes:
            yield from consulted(store, endpoint.spec, Learned(lacks, takes, CARD_S, identity=identity))
    circuit = yield from consulted(store, endpoint.spec, Look(identity=identity))
    return known_capabilities(endpoint, dialect, circuit.lacks)


# What is known without asking


def known_capabilities(endpoint: Endpoint, dialect: Dialect, denied: Collection[str] = ()) -> Capabilities:
    """The capabilities of a target; `said` are the features that it has refused or denied lately."""
    card = _cards.get((endpoint.spec, endpoint.base_url))
    answer = Capabilities() if card is None or time.monotonic() - card.at_s >= CARD_S else card.capabilities
    refused = [name for name in denied if getattr(answer, name) is not False]
    learned: Any = dict.fromkeys(refused, False)
    declared = endpoint.capabilities
    origins = {**dict.fromkeys(declared.known(), f"the row of {endpoint.provider}"), **declared.origins}
    capabilities = (
        replace(declared, origins=origins)
        .over(Capabilities(**learned).over(Capabilities(), _SAID_ITSELF))
        .over(answer.over(Capabilities(), "the server's own answer"))
        .over(_of_tables(endpoint))
        .over(_of_dialect(endpoint, dialect))
    )
    if capabilities.audio is False and capabilities.audio_types is not None:  # the types of a vendor's other models
        origins = {name: origin for name, origin in capabilities.origins.items() if name != "audio_types"}
        capabilities = replace(capabilities, audio_types=None, origins=origins)
    return replace(capabilities, model=endpoint.spec)


def _of_tables(endpoint: Endpoint) -> Capabilities:
    """The capabilities in the tables of model families and of media."""
    facts, limits = endpoint.target.facts, media_limits(endpoint.family, endpoint.model)
    thinking = _thinks(endpoint.target)
    family: dict[str, Any] = {
        "images": facts.images,
        "audio": facts.audio,
        "documents": facts.documents,
        "tools": facts.tools,
        "forced_choice": facts.forced_choice,
        "output_schema": facts.output_schema,
        "thinking": thinking,
        "max_output_tokens": facts.max_output_tokens,
    }
    capabilities = Capabilities(**family).over(Capabilities(), "the table of models")
    if not limits.source:
        return capabilities
    media = Capabilities(
        audio=False if limits.audio_types == frozenset() else None,
        image_types=limits.image_types,
        max_images=limits.max_images,
        max_image_bytes=limits.max_image_bytes,
        max_side_px=limits.max_side_px,
        audio_types=limits.audio_types or None,
        document_types=limits.document_types or None,
        max_document_bytes=limits.max_document_bytes,
    )
    return capabilities.over(media.over(Capabilities(), f"the media limits of {endpoint.family}"))


def _thinks(target: Target) -> bool | None:
    """Whether a family can be asked to think: by a form, by an effort, or because it always reasons."""
    facts = target.facts
    if facts.thinking or facts.efforts:
        return True
    if facts.thinking is None and facts.efforts is None:
        return True if facts.sampling is False else None
    return False


# What a dialect cannot say, as it is spoken to a server

_TOOL = Tool(name="look_up", description="Looks a word up.", parameters={
    "type": "object", "properties": {"word": {"type": "string", "description": "The word."}}, "required": ["word"],
    "additionalProperties": False,
})  # fmt: skip
_ASKED = (user("Hi"),)
_PROBES: dict[Feature, tuple[Request, ...]] = {
    "images": (Request(messages=(user("Hi", ImagePart(b"\x89PNG\r\n\x1a\n", "image/png")),)),),
    "audio": (Request(messages=(user("Hi", AudioPart(b"RIFF\x04\x00\x00\x00WAVE", "audio/wav")),)),),
    "documents": (Request(messages=(user("Hi", DocumentPart(b"%PDF-1.4", "application/pdf")),)),),
    "tools": (Request(messages=_ASKED, tools=(_TOOL,)),),
    "parallel_tool_calls": (Request(messages=_ASKED, tools=(_TOOL,), parallel_tool_calls=True),),
    "forced_choice": (Request(messages=_ASKED, tools=(_TOOL,), tool_choice=NamedTool("look_up")),),
    "output_schema": (Request(messages=_ASKED, output_schema=_TOOL.parameters, schema_name="word"),),
    "thinking": (Request(messages=_ASKED, effort="medium"), Request(messages=_ASKED, thinking=True)),
    "n": (Request(messages=_ASKED, n=2),),
    "logprobs": (Request(messages=_ASKED, logprobs=0),),
}
"""A small request for each feature; a feature is not there where each of its requests is refused or changed."""
_HARMLESS = frozenset({"parameter_added", "schema_rewritten", "description_added", "name_mapped"})
"""Codes of changes that take nothing from what was asked."""


def _of_dialect(endpoint: Endpoint, dialect: Dialect) -> Capabilities:
    key = (endpoint.dialect, endpoint.target)
    lacks = _unsaid.get(key)
    if lacks is None:
        lacks = frozenset[Feature](
            [
                feature
                for feature, requests in _PROBES.items()
                if all([_loses(dialect, request, endpoint.target) for request in requests])
            ]
        )
        _unsaid.put(key, lacks)
    features: Any = {**dict.fromkeys(lacks, False), "text": True}
    return Capabilities(**features).over(Capabilities(), f"{endpoint.dialect} as it is spoken to {endpoint.provider}")


def _loses(dialect: Dialect, request: Request, target: Target) -> bool:
    try:
        encoded = dialect.encode_request(request, EncodeOptions(target=target))
    except Error:
        return True
    return any(change.code not in _HARMLESS for change in encoded.changes)


def _weigh_unsaid(key: tuple[str, Target], lacks: frozenset[Feature]) -> int:
    del lacks
    return 2_000 + weight_of((key[1].model, key[1].provider))


_unsaid = ByteCache[tuple[str, "Target"], "frozenset[Feature]"](500_000, weigh=_weigh_unsaid)
"""The features that a dialect cannot say to a target, by both."""
