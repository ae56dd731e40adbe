"""Which models there are, told in the form of whoever asks: OpenAI's, Anthropic's, Google's or Ollama's list.

Rules
- A list holds the aliases, and the targets that they lead to; not what begins like `prefix*`, which is no name.
- Nobody sees what their key may not ask for, and no provider is asked: what a model's limits are, only facts may tell.
- A model that is in no list but resolves can be asked about by its name, since it can be used.
- `/v1/models` speaks Anthropic to who sends `anthropic-version`, Google to who sends `x-goog-api-key`, else OpenAI.

Source: official clients, types of their lists (openai `Model`, anthropic `ModelInfo`, google `Model`, ollama
`ListResponse`, `ShowResponse`, `ProcessResponse`), read 2026-11-22.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import parse_qsl

from interlingua.errors import DecodeError, NotFoundError, UsageError
from interlingua.gateway.calls.reading import checked_model, read_object
from interlingua.gateway.http import GatewayReply, dialect_by_headers
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.gateway.core import Gateway
    from interlingua.gateway.http import GatewayRequest
    from interlingua.registry.endpoint import Endpoint

__all__ = [
    "OLLAMA_VERSION",
    "Listed",
    "find_model",
    "greet",
    "known_models",
    "list_google",
    "list_models",
    "one_google",
    "one_model",
    "ps",
    "show",
    "tags",
    "version",
]

JSON = (("content-type", "application/json"),)
OLLAMA_VERSION = "0.13.0"
"""The version of Ollama's server whose interface is imitated; clients compare it with the least one that they need."""
EPOCH = "1970-01-01T00:00:00Z"
"""When a model was made, of which nobody knows; the official type says that an unknown date is this one."""
Shown: TypeAlias = "dict[str, Any]"


class Listed(NamedTuple):
    """One model of a list."""

    id: str
    """The name to ask for it by."""
    endpoints: tuple[Endpoint, ...]
    """What it stands for, first the one that is asked first."""

    @property
    def owner(self) -> str:
        """The provider that is asked first."""
        return self.endpoints[0].provider

    @property
    def title(self) -> str:
        """What people are shown: an alias with what it leads to."""
        first = self.endpoints[0].spec
        return self.id if self.id == first else f"{self.id} ({first})"


def known_models(gateway: Gateway, request: GatewayRequest) -> list[Listed]:
    """Every model that a key may ask for: aliases first, then targets, each once."""
    aliases = [name for name in gateway.registry.aliases() if not name.endswith("*")]
    found = [model for name in sorted(aliases) if (model := _resolved(gateway, name)) is not None]
    targets = {endpoint.spec: Listed(endpoint.spec, (endpoint,)) for model in found for endpoint in model.endpoints}
    names = {model.id for model in found}
    rest = [targets[name] for name in sorted(targets) if name not in names]
    return [model for model in (*found, *rest) if gateway.may_use(request, model.id)]


def _resolved(gateway: Gateway, name: str) -> Listed | None:
    """A model by its name; None where the name leads nowhere."""
    try:
        endpoints = gateway.registry.resolve(name)
    except UsageError:
        return None
    return Listed(name, endpoints) if endpoints else None


def find_model(gateway: Gateway, request: GatewayRequest, name: str) -> Listed:
    """The model of that name.

    Raises: NotFoundError where it leads nowhere, or the key may not ask for it; DecodeError for one that is too long.
    """
    found = _resolved(gateway, name) if gateway.may_use(request, checked_model(name)) else None
    if found is None:
        raise NotFoundError(f"there is no model {name[:100]!r}; GET /v1/models lists those there are", status=404)
    return found


# OpenAI's, Anthropic's and Google's lists


async def list_models(gateway: Gateway, request: GatewayRequest) -> GatewayReply:
    """The models, in the form of the client's dialect."""
    form = _FORMS[dialect_by_headers(request)]
    return _told(form.whole([form.one(model) for model in known_models(gateway, request)], _query(request)))


async def one_model(gateway: Gateway, request: GatewayRequest) -> GatewayReply:
    """One model, in the form of the client's dialect."""
    name = request.path.removeprefix("/v1/models/")
    return _told(_FORMS[dialect_by_headers(request)].one(find_model(gateway, request, name)))


async def list_google(gateway: Gateway, request: GatewayRequest) -> GatewayReply:
    """The models, in Google's form."""
    found = known_models(gateway, request)
    return _told(_google_list([_google(model) for model in found], _query(request)))


async def one_google(gateway: Gateway, request: GatewayRequest) -> GatewayReply:
    """One model, in Google's form."""
    return _told(_google(find_model(gateway, request, request.path.removeprefix("/v1beta/models/"))))


def _openai(model: Listed) -> Shown:
    return {"id": model.id, "object": "model", "created": 0, "owned_by": model.owner}


def _openai_list(models: list[Shown], query: dict[str, str]) -> Shown:
    del query  # the list has no pages
    return {"object": "list", "data": models}


def _anthropic(model: Listed) -> Shown:
    shown: Shown = {
        "type": "model",
        "id": model.id,
        "display_name": model.title,
        "created_at": EPOCH,
        "lifecycle": "active",
    }
    most = model.endpoints[0].target.facts.max_output_tokens
    return shown if most is None else {**shown, "max_tokens": most}


def _anthropic_list(models: list[Shown], query: dict[str, str]) -> Shown:
    names = [model["id"] for model in models]
    first, last = 0, len(models)
    limit = _number(query, "limit", 20, most=1_000)
    if query.get("before_id") in names:
        last = names.index(query["before_id"])
        first = max(0, last - limit)
    elif query.get("after_id") in names:
        first = names.index(query["after_id"]) + 1
    shown = models[first:last][:limit]
    ends = (shown[0]["id"], shown[-1]["id"]) if shown else (None, None)
    more = first > 0 if "before_id" in query else first + len(shown) < len(models)
    return {"data": shown, "has_more": more, "first_id": ends[0], "last_id": ends[1]}


def _google(model: Listed) -> Shown:
    shown: Shown = {
        "name": f"models/{model.id}",
        "version": "1",
        "displayName": model.title,
        "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
    }
    most = model.endpoints[0].target.facts.max_output_tokens
    return shown if most is None else {**shown, "outputTokenLimit": most}


def _google_list(models: list[Shown], query: dict[str, str]) -> Shown:
    size = _number(query, "pageSize", 50, most=1_000)
    first = _number(query, "pageToken", 0, least=0)
    shown: Shown = {"models": models[first : first + size]}
    return shown if first + size >= len(models) else {**shown, "nextPageToken": str(first + size)}


class _Form(NamedTuple):
    one: Callable[[Listed], Shown]
    whole: Callable[[list[Shown], dict[str, str]], Shown]


_FORMS: dict[str, _Form] = {
    "openai-chat": _Form(_openai, _openai_list),
    "anthropic": _Form(_anthropic, _anthropic_list),
    "google": _Form(_google, _google_list),
}


# Ollama's small routes


async def tags(gateway: Gateway, request: GatewayRequest) -> GatewayReply:
    """The models, in Ollama's form."""
    return _told({"models": [_tag(model) for model in known_models(gateway, request)]})


def _tag(model: Listed) -> Shown:
    named = {"name": model.id, "model": model.id, "modified_at": EPOCH, "size": 0, "digest": ""}
    return {**named, "details": _details(model)}


def _details(model: Listed) -> Shown:
    family = model.owner
    return {
        "parent_model": "",
        "format": "",
        "family": family,
        "families": [family],
        "parameter_size": "",
        "quantization_level": "",
    }


async def show(gateway: Gateway, request: GatewayRequest) -> GatewayReply:
    """One model, with what it can do as far as that is known."""
    members = read_object(request.body)
    name = members.get("model") or members.get("name")
    if not isinstance(name, str):
        raise DecodeError("/model: it is missing; name the model", path="/model", status=400)
    model = find_model(gateway, request, name)
    shown = {"modelfile": "", "parameters": "", "template": "", "details": _details(model), "modified_at": EPOCH}
    return _told({**shown, "model_info": {"general.architecture": model.owner}, "capabilities": _abilities(model)})


def _abilities(model: Listed) -> list[str]:
    """What a model can do: everything of which nobody says that it cannot."""
    facts = model.endpoints[0].target.facts
    said = {"tools": facts.tools, "vision": facts.images, "thinking": facts.thinking != frozenset()}
    return ["completion", *[ability for ability, known in said.items() if known is not False]]


async def version(gateway: Gateway, request: GatewayRequest) -> GatewayReply:  # noqa: ARG001 - the form of a handler
    """The version of Ollama's server that is imitated."""
    return _told({"version": OLLAMA_VERSION})


async def ps(gateway: Gateway, request: GatewayRequest) -> GatewayReply:  # noqa: ARG001 - the form of a handler
    """The models that are loaded: none, since nothing here has weights."""
    return _told({"models": []})


async def greet(gateway: Gateway, request: GatewayRequest) -> GatewayReply:  # noqa: ARG001 - the form of a handler
    """A sign of life, for clients that ask the root for one before they ask anything."""
    body = b"" if request.method == "HEAD" else b"interlingua is running\n"
    return GatewayReply(headers=(("content-type", "text/plain; charset=utf-8"),), body=body)


def _told(value: Shown) -> GatewayReply:
    return GatewayReply(headers=JSON, body=encode(value, nulls=2))


def _query(request: GatewayRequest) -> dict[str, str]:
    return dict(parse_qsl(request.query))


def _number(query: dict[str, str], name: str, default: int, *, least: int = 1, most: int = 1_000_000) -> int:
    text = query.get(name, "")
    return max(least, min(most, int(text))) if text.isascii() and text.isdigit() and len(text) < 9 else default
