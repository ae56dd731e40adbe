"""Members of a body that can have another model asked than the one it names: checked against what a key may ask for.

Some services let a request name models beside `model`: to fall back to, to route to, to run a tool with. A key that may
ask for some models only must reach no other one that way.

Rules
- Only where the key or the policy has a list of models; for others such members are as any that is not known.
- A list of models, or a deployment, is passed on if the key may ask for each; else it is taken out, with an entry. What
  chooses a model or a provider by other means than a name, such as its address, cannot be checked, and is taken out.
- A model anywhere else, as in a tool that the provider runs (also one that the conversation brings, and its settings),
  in how Google routes, or in what our own format writes over a request, is refused (403) if the key may not ask for
  it: to take it out would have another one run. What is said in a conversation is not looked at.

Source: OpenRouter "Model Routing", "Provider Routing", "Transforms", "Server Tools"; LiteLLM "Fallbacks"; OpenAI "Image
generation", "Tool search"; Vertex "RoutingConfig"; LiteLLM "Clientside LLM Credentials".
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import is_list, is_object
from interlingua.dialects.table import DIALECTS, get_service
from interlingua.errors import DecodeError, PermissionDeniedError
from interlingua.types.change import Changes
from interlingua.wire.body import folded, objects_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from interlingua.dialects._service import Override, Service
    from interlingua.types.change import Change
    from interlingua.wire.body import Body, BodyRules

__all__ = ["check_overrides", "other_models", "overrides"]

LISTS = ("models", "fallbacks")
"""Members that list models, by name or as objects with `model`."""
CHOOSERS = frozenset({"route", "provider", "transforms", "preset", "router", "apibase", "baseurl"})
"""Members that choose who answers by other means, whatever their case and underscores."""
CONVERSATIONS = frozenset({"messages", "input", "contents", "system", "instructions", "prompt"})
"""Members that hold what is said; a model that is named there is a word, except in a tool that stands there."""
_NAMES = frozenset({"modelname", "modelid", "fallbackmodels"})
"""Further members that name models, whatever their case and underscores."""
_AT_TOP = frozenset({*LISTS, *_NAMES, "engine", "deployment", "deploymentid", "modellist"})
"""Members that name models at the top of a body, in the same way; a tool's engine is none."""
_INSIDE = frozenset({"model", *LISTS, *_NAMES, "routingconfig", "modelconfig", "modelselectionconfig"})
"""Members that name or choose a model below the top, in the same way."""
_OFFERED = frozenset({"function", "custom", "tool"})
"""Tools whose parameters are a schema; those of a tool that a provider runs are its settings."""


def other_models(body: Body, rules: BodyRules, dialect: str, may_use: Callable[[str], bool]) -> tuple[Change, ...]:
    """The members to be taken out of a body, one entry each, whose path ends in the name of the member.

    Raises: PermissionDeniedError for a model in another place that may not be asked for.
    """
    changes, service = Changes(dialect, "decode_request"), get_service(dialect)
    data = rules.data - {"extra", "additionalModelRequestFields"}  # they are written over a request
    for name in body.members:
        if name in body.shaped:
            continue  # a usual form has no room for a model
        is_list_of_models = folded(name) in _AT_TOP
        if _chooses(name, service) or (is_list_of_models and _names_other(name, body.get(name), may_use)):
            changes.add("parameter_unsupported", f"/extra/{dialect}/{name}", "this key may not choose other models")
        elif name not in data and not is_list_of_models and isinstance(body.get(name), dict | list):
            is_gathered = body.rules is rules and data == rules.data and name in body.objects
            nodes = body.objects[name] if is_gathered else objects_in(body.get(name), data)
            for each in _tools_in(nodes, data) if name in CONVERSATIONS else (nodes,):
                _check(each, name, data, may_use)
    for place, _, members, _ in overrides(body, service):
        if any([_chooses(name, service) or _names_other(name, value, may_use) for name, value in members.items()]):
            raise PermissionDeniedError(f"{place}: this key may not choose other models", status=403)
    return changes.done()


def _chooses(name: str, service: Service) -> bool:
    """Whether a member chooses a model by other means than a list."""
    return folded(name) in CHOOSERS or name in service.choosers


def _names_other(name: str, value: object, may_use: Callable[[str], bool]) -> bool:
    """Whether a member at the top of a body names a model that may not be asked for."""
    return folded(name) in _AT_TOP and not _may_all(value, may_use)


def _may_all(models: object, may_use: Callable[[str], bool]) -> bool:
    """Whether a name, or a list of names, is of models that may be asked for, and of nothing else."""
    listed = models if is_list(models) else [] if models is None else [models]
    names = [model.get("model") if is_object(model) and len(model) == 1 else model for model in listed]
    return all([isinstance(name, str) and may_use(name) for name in names])


def _tools_in(nodes: list[dict[str, Any]], data: frozenset[str]) -> list[list[dict[str, Any]]]:
    """The objects of the tools that are offered in the middle of a conversation."""
    return [objects_in(node["tools"], data) for node in nodes if is_list(node.get("tools"))]


def _check(nodes: list[dict[str, Any]], member: str, data: frozenset[str], may_use: Callable[[str], bool]) -> None:
    for node in nodes:
        for name, value in node.items():
            if folded(name) in _INSIDE and not _may_all(value, may_use):
                raise PermissionDeniedError(
                    f"/{member}: this key may not ask for the {name} that is named there: {str(value)[:100]!r}",
                    status=403,
                )
        kind = node.get("type")
        if isinstance(kind, str) and kind not in _OFFERED:
            _check(objects_in(node.get("parameters"), data), member, data, may_use)


# Members that are written over a request in one dialect
#
# Keys, limits and budgets are checked by what a request says in its own words. A model, a limit, a number of answers, a
# stream or a tier of service in one of these members is refused (400), however it is spelled: a target would obey it.


_DECIDED = frozenset({"model", "stream", "servicetier"})
"""Members of every dialect that decide on the model, the stream and the price."""
_NESTED = frozenset({"extra", "continues"})
"""Members that our own format would write over a request in its turn."""
_NOTHING: frozenset[str] = frozenset()


def overrides(body: Body, service: Service) -> Iterator[Override]:
    """The members of a body that are written over its request in another dialect."""
    return iter(()) if service.overrides is None else service.overrides(body)


def check_overrides(body: Body, service: Service) -> None:
    """Raises: DecodeError with the status 400 for a member that says again what the request says itself."""
    for place, dialect, members, refused in overrides(body, service):
        top, holders, limits = _decided_in(dialect) if dialect in DIALECTS else (_DECIDED, _NOTHING, _NOTHING)
        for name, value in members.items():
            if folded(name) in top or folded(name) in refused:
                raise _decided(f"{place}/{name}")
            for inner in value if folded(name) in holders and is_object(value) else ():
                if folded(inner) in limits:
                    raise _decided(f"{place}/{name}/{inner}")


@cache
def _decided_in(dialect: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The names at the top of a body, the objects that hold limits, and the names in these, as they read folded."""
    service = get_service(dialect)
    fields = service.limits
    limits = frozenset([folded(name) for name in (*fields.names, *fields.choices)])
    own = _DECIDED if service.overrides is None else _DECIDED | _NESTED
    return own | limits, frozenset([folded(name) for name in fields.holders]), limits


def _decided(path: str) -> DecodeError:
    reason = "the model, `stream`, `service_tier`, `n`, the limit and the messages are said by the request itself"
    return DecodeError(f"{path}: {reason}", path=path, status=400)
