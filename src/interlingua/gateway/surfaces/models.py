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

from interlingua.dialects._service import ListedModel
from interlingua.dialects.table import DEFAULT_DIALECT, get_service
from interlingua.errors import DecodeError, NotFoundError, UsageError
from interlingua.gateway.calls.reading import checked_model, read_object
from interlingua.gateway.http import GatewayReply, dialect_by_headers
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from interlingua.dialects._service import ModelForm
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.http import GatewayRequest
    from interlingua.registry.endpoint import Endpoint
    from interlingua.registry.resolve import Registry

__all__ = [
    "Listed",
    "find_model",
    "greet",
    "known_models",
    "listing",
    "ps",
    "show",
    "showing",
    "tags",
    "version",
]

JSON = (("content-type", "application/json"),)
EPOCH = "1970-01-01T00:00:00Z"
"""When a model was made, of which nobody knows; the official type says that an unknown date is this one."""
Shown: TypeAlias = "dict[str, Any]"


class Listed(NamedTuple):
    """One model of a list."""

    id: str
    """The name to ask for it by."""
    endpoints: tuple[Endpoint, ...]
    """The targets of the name, first the one that is the first target."""

    @property
    def owner(self) -> str:
        """The provider that is the first target."""
        return self.endpoints[0].provider

    @property
    def title(self) -> str:
        """The title for people: an alias with what it leads to."""
        first = self.endpoints[0].spec
        return self.id if self.id == first else f"{self.id} ({first})"


def known_models(gateway: Gateway, request: GatewayRequest) -> list[Listed]:
    """Every model that a key may ask for: aliases first, then targets, each once."""
    aliases = [name for name in gateway.registry.aliases() if not name.endswith("*")]
    aliased = [model for name in sorted(aliases) if (model := _resolved(gateway.registry, name)) is not None]
    targets = {endpoint.spec: Listed(endpoint.spec, (endpoint,)) for model in aliased for endpoint in model.endpoints}
    names = {model.id for model in aliased}
    rest = [targets[name] for name in sorted(targets) if name not in names]
    return [model for model in (*aliased, *rest) if gateway.may_use(request, model.id)]


def _resolved(registry: Registry, name: str) -> Listed | None:
    """A model by its name; None where the name leads nowhere."""
    try:
        endpoints = registry.resolve(name)
    except UsageError:
        return None
    return Listed(name, endpoints) if endpoints else None


def find_model(gateway: Gateway, request: GatewayRequest, name: str) -> Listed:
    """The model of that name.

    Raises: NotFoundError where it leads nowhere, or the key may not ask for it; DecodeError for one that is too long.
    """
    model = _resolved(gateway.registry, name) if gateway.may_use(request, checked_model(name)) else None
    if model is None:
        raise NotFoundError(f"there is no model {name[:100]!r}; GET /v1/models lists those there are", status=404)
    return model


# OpenAI's, Anthropic's and Google's lists


def listing(dialect: str) -> Callable[[Gateway, GatewayRequest], Awaitable[GatewayReply]]:
    """The handler of lists of models in the form of a dialect; where that is empty, in that of the client's."""

    async def handler(gateway: Gateway, request: GatewayRequest) -> GatewayReply:
        form = _form(dialect, request)
        models = [form.one(_listed(model)) for model in known_models(gateway, request)]
        return _json_reply(form.whole(models, dict(parse_qsl(request.query))))

    return handler


def showing(dialect: str, before: str) -> Callable[[Gateway, GatewayRequest], Awaitable[GatewayReply]]:
    """The handler of single models in the same forms; `before` is what stands before their names in a path."""

    async def handler(gateway: Gateway, request: GatewayRequest) -> GatewayReply:
        model = find_model(gateway, request, request.path.removeprefix(before))
        return _json_reply(_form(dialect, request).one(_listed(model)))

    return handler


def _form(dialect: str, request: GatewayRequest) -> ModelForm:
    form = get_service(dialect or dialect_by_headers(request)).models or get_service(DEFAULT_DIALECT).models
    assert form is not None  # noqa: S101 - the default has one
    return form


def _listed(model: Listed) -> ListedModel:
    most = model.endpoints[0].target.facts.max_output_tokens
    return ListedModel(model.id, model.title, model.owner, most)


# What clients of a server with models of its own ask


async def tags(gateway: Gateway, request: GatewayRequest) -> GatewayReply:
    """The models, in Ollama's form."""
    undated = {"modified_at": EPOCH, "size": 0, "digest": ""}
    models = [
        {"name": model.id, "model": model.id, **undated, "details": _details(model)}
        for model in known_models(gateway, request)
    ]
    return _json_reply({"models": models})


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
    facts = model.endpoints[0].target.facts
    claims = {"tools": facts.tools, "vision": facts.images, "thinking": facts.thinking != frozenset()}
    abilities = ["completion", *[ability for ability, claim in claims.items() if claim is not False]]
    return _json_reply({**shown, "model_info": {"general.architecture": model.owner}, "capabilities": abilities})


async def version(gateway: Gateway, request: GatewayRequest) -> GatewayReply:  # noqa: ARG001 - the form of a handler
    """The version of the vendor's server that is imitated."""
    route = request.facts.route
    return _json_reply({"version": "" if route is None else get_service(route.dialect).version})


async def ps(gateway: Gateway, request: GatewayRequest) -> GatewayReply:  # noqa: ARG001 - the form of a handler
    """The models that are loaded: none, since nothing here has weights."""
    return _json_reply({"models": []})


async def greet(gateway: Gateway, request: GatewayRequest) -> GatewayReply:  # noqa: ARG001 - the form of a handler
    """A sign of life, for clients that ask the root for one before they ask anything."""
    body = b"" if request.method == "HEAD" else b"interlingua is running\n"
    return GatewayReply(headers=(("content-type", "text/plain; charset=utf-8"),), body=body)


def _json_reply(value: Shown) -> GatewayReply:
    return GatewayReply(headers=JSON, body=encode(value, nulls=2))
