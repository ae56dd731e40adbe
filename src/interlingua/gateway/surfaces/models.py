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

import msgspec

from interlingua.dialects._service import ListedModel
from interlingua.dialects.table import DEFAULT_DIALECT, get_service
from interlingua.errors import DecodeError, NotFoundError, UsageError
from interlingua.gateway.calls.reading import checked_model, read_object
from interlingua.gateway.http import GatewayReply, dialect_by_headers
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from interlingua.dialects._service import ModelForm
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.keys.auth import Guard
    from interlingua.registry.endpoint import Endpoint
    from interlingua.registry.resolve import Registry

__all__ = ["Listed", "ModelLists", "greet", "ps", "version"]

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


class ModelLists(msgspec.Struct, frozen=True):
    """The models of a gateway, as far as a key may ask for them."""

    guard: Guard
    """The guard that knows what a key may ask for."""
    registry: Registry
    """Where names come from."""

    def listed(self, request: GatewayRequest) -> list[Listed]:
        """Every model that a key may ask for: aliases first, then targets, each once."""
        aliases = [name for name in self.registry.aliases() if not name.endswith("*")]
        aliased = [model for name in sorted(aliases) if (model := _resolved(self.registry, name)) is not None]
        specs = {endpoint.spec: Listed(endpoint.spec, (endpoint,)) for model in aliased for endpoint in model.endpoints}
        names = {model.id for model in aliased}
        rest = [specs[name] for name in sorted(specs) if name not in names]
        return [model for model in (*aliased, *rest) if self.guard.may_use(request, model.id)]

    def find(self, request: GatewayRequest, name: str) -> Listed:
        """The model of that name.

        Raises: NotFoundError where it leads nowhere, or the key may not ask for it; DecodeError for one that is too
        long.
        """
        model = _resolved(self.registry, name) if self.guard.may_use(request, checked_model(name)) else None
        if model is None:
            raise NotFoundError(f"there is no model {name[:100]!r}; GET /v1/models lists those there are", status=404)
        return model

    # OpenAI's, Anthropic's and Google's lists

    async def listing(self, dialect: str, request: GatewayRequest) -> GatewayReply:
        """The models in the form of a dialect; where that is empty, in that of the client's."""
        form = _form(dialect, request)
        models = [form.one(_listed(model)) for model in self.listed(request)]
        return _json_reply(form.whole(models, dict(parse_qsl(request.query))))

    async def single(self, dialect: str, request: GatewayRequest, before: str) -> GatewayReply:
        """One model in the same forms; `before` is what stands before its name in the path."""
        model = self.find(request, request.path.removeprefix(before))
        return _json_reply(_form(dialect, request).one(_listed(model)))

    # What clients of a server with models of its own ask

    async def tags(self, request: GatewayRequest) -> GatewayReply:
        """The models, in Ollama's form."""
        undated = {"modified_at": EPOCH, "size": 0, "digest": ""}
        models = [
            {"name": model.id, "model": model.id, **undated, "details": _details(model)}
            for model in self.listed(request)
        ]
        return _json_reply({"models": models})

    async def show(self, request: GatewayRequest) -> GatewayReply:
        """One model, with what it can do as far as that is known."""
        members = read_object(request.body)
        name = members.get("model") or members.get("name")
        if not isinstance(name, str):
            raise DecodeError("/model: it is missing; name the model", path="/model", status=400)
        model = self.find(request, name)
        shown = {"modelfile": "", "parameters": "", "template": "", "details": _details(model), "modified_at": EPOCH}
        facts = model.endpoints[0].target.facts
        claims = {"tools": facts.tools, "vision": facts.images, "thinking": facts.thinking != frozenset()}
        abilities = ["completion", *[ability for ability, claim in claims.items() if claim is not False]]
        return _json_reply({**shown, "model_info": {"general.architecture": model.owner}, "capabilities": abilities})


def _resolved(registry: Registry, name: str) -> Listed | None:
    """A model by its name; None where the name leads nowhere."""
    try:
        endpoints = registry.resolve(name)
    except UsageError:
        return None
    return Listed(name, endpoints) if endpoints else None


def _form(dialect: str, request: GatewayRequest) -> ModelForm:
    form = get_service(dialect or dialect_by_headers(request)).models or get_service(DEFAULT_DIALECT).models
    assert form is not None  # noqa: S101 - the default has one
    return form


def _listed(model: Listed) -> ListedModel:
    most = model.endpoints[0].target.facts.max_output_tokens
    return ListedModel(model.id, model.title, model.owner, most)


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


async def version(dialect: str) -> GatewayReply:
    """The version of the vendor's server that is imitated."""
    return _json_reply({"version": get_service(dialect).version})


async def ps() -> GatewayReply:
    """The models that are loaded: none, since nothing here has weights."""
    return _json_reply({"models": []})


async def greet(request: GatewayRequest) -> GatewayReply:
    """A sign of life, for clients that ask the root for one before they ask anything."""
    body = b"" if request.method == "HEAD" else b"interlingua is running\n"
    return GatewayReply(headers=(("content-type", "text/plain; charset=utf-8"),), body=body)


def _json_reply(value: Shown) -> GatewayReply:
    return GatewayReply(headers=JSON, body=encode(value, nulls=2))
