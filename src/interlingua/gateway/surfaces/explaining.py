"""The plan of a request: which targets it would reach, what would be sent, what would be changed. Nothing is sent.

Shape: any request of a client, in its own dialect, with `/explain` before its path; or `POST /explain` with
`{"dialect": …, "request": …}`, and `model` beside it where the dialect names that in the path. The answer is one JSON
object: `dialect`, `model`, `targets`, `request` (canonical), `http` (what the chosen target would get), `changes`,
`input_tokens` (estimated), and `cost_usd`, the most that it may cost, where the price is known.

Rules
- No key is shown, and of the headers only those that belong to the body. Where a provider is (`base_url`, and the
  beginning of `url`) is shown to an operator alone: an address may be a secret itself.
- A key that may not ask for a model may not have it explained. Ids are shown as the client knows them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, urlsplit

import msgspec

from interlingua.client.plan import make_plan
from interlingua.dialects.table import DIALECTS, SPELLINGS, get_service, services
from interlingua.errors import DecodeError, NotFoundError
from interlingua.gateway.calls.exchange import call_of
from interlingua.gateway.calls.reading import read_object
from interlingua.gateway.calls.sending import outgoing
from interlingua.gateway.http import GatewayReply
from interlingua.routing.estimate import estimate_tokens
from interlingua.types.dump import dump
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from interlingua.gateway.calls.exchange import Conversations
    from interlingua.gateway.console.access import Access
    from interlingua.gateway.http import GatewayRequest

__all__ = ["ANY_NULLS", "Explaining", "path_of", "request_in"]

_SHOWN_HEADERS = (
    "content-type",
    "accept",
    *[name for service in services().values() for name in service.passed_headers],
)
ANY_NULLS = 1 << 30
"""For `encode`: whatever a client wrote may hold as many nulls as it likes."""


class Explaining(msgspec.Struct, frozen=True, kw_only=True):
    """Plans of requests."""

    conversations: Conversations
    """Conversations, whose requests are explained."""
    access: Access
    """The rights of operators."""

    async def explain_path(self, request: GatewayRequest) -> GatewayReply:
        """The plan of the request that stands behind `/explain`.

        Raises: NotFoundError for a path that asks no model; as the request itself would, before anything is sent.
        """
        from interlingua.gateway.routes import find_route  # the table holds this room, too

        inner = msgspec.structs.replace(request, path=request.path.removeprefix("/explain"))
        route = find_route("POST", inner.path)
        if route is None or route.kind not in ("conversation", "load"):
            raise NotFoundError(f"{inner.path[:100]} asks no model, so that there is nothing to explain", status=404)
        return await self._explained(inner, route.dialect)

    async def explain(self, request: GatewayRequest) -> GatewayReply:
        """The plan of the request that the body holds, in the dialect that it names.

        Raises: DecodeError for a body without either; as the request itself would, before anything is sent.
        """
        members = read_object(request.body)
        dialect, body = request_in(members)
        path = path_of(dialect, str(members.get("model") or ""))
        return await self._explained(msgspec.structs.replace(request, path=path, body=body), dialect)

    async def _explained(self, request: GatewayRequest, dialect: str) -> GatewayReply:
        exchange = await self.conversations.read_exchange(request, dialect)
        call = await call_of(exchange)
        whole = exchange.decoded.request if exchange.restored is None else exchange.restored.request
        call = msgspec.structs.replace(call, request=whole)
        plan = make_plan(call)
        shows_all = self.access.sees_all(self.conversations.guard.name_of(request))
        relayed = {target.endpoint.spec for target in exchange.relayed}
        chosen = next((target.spec for target in plan.targets if target.chosen), "")
        base_url = "" if shows_all else next((target.base_url for target in plan.targets if target.chosen), "")
        targets: list[dict[str, Any]] = []
        for entry in plan.targets:
            shown = {**msgspec.to_builtins(entry), "relayed": entry.spec in relayed}
            if not shows_all:
                del shown["base_url"]
            targets.append(shown)
        http = None
        if plan.http is not None:
            target = next(target for target in call.targets if target.endpoint.spec == chosen)
            is_relayed = target in exchange.relayed
            sent = outgoing(exchange, target, strict=False).body if is_relayed else plan.http.body
            # Of the address only the part behind the base URL, where that is not shown.
            url = plan.http.url.removeprefix(base_url.rstrip("/")) if base_url else plan.http.url
            if base_url and not url.startswith("/"):
                url = urlsplit(url).path.rpartition("/")[2]
            headers = {name: value for name, value in plan.http.headers if name.startswith(_SHOWN_HEADERS)}
            http = {"method": plan.http.method, "url": url, "headers": headers, "body": msgspec.Raw(sent)}
        content: dict[str, Any] = {
            "dialect": dialect,
            "model": exchange.head.model,
            "targets": targets,
            "request": msgspec.Raw(dump(whole).encode()),
            "http": http,
            "changes": [*exchange.read_changes, *plan.changes],
            "input_tokens": estimate_tokens(whole, chosen),
        }
        cost = plan.cost_usd
        if cost is not None:
            content["cost_usd"] = cost
        body = encode(content, nulls=ANY_NULLS)
        if request.signed_ids:
            body = self.conversations.ids.sign_text(body.decode(), request).encode()
        return GatewayReply(headers=(("content-type", "application/json"),), body=body)


def path_of(dialect: str, model: str) -> str:
    """Where a client of a dialect asks a model."""
    return get_service(dialect).asked_at.format(model=quote(model, safe="/@-._~"))


def request_in(members: dict[str, Any]) -> tuple[str, bytes]:
    """The dialect that an object names, and the body of the request that it holds.

    Raises: DecodeError for one without either.
    """
    name = members.get("dialect")
    dialect = SPELLINGS.get(name, name) if isinstance(name, str) else ""
    if dialect not in DIALECTS:
        raise DecodeError(f"/dialect: name one of {', '.join(DIALECTS)}", path="/dialect", status=400)
    inner = members.get("request")
    if not isinstance(inner, dict):
        raise DecodeError("/request: it is missing; give the body of a request", path="/request", status=400)
    return dialect, encode(cast("object", inner), nulls=ANY_NULLS)
