"""The container in which a provider's tools have run: named again when a paused answer is gone on with.

Only Anthropic has it; our own format shows Anthropic's members as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.dialects._members import is_object

if TYPE_CHECKING:
    from interlingua.types.request import Request
    from interlingua.types.response import Response

__all__ = ["in_container", "with_container"]

_DIALECT = "anthropic"


def in_container(request: Request, response: Response[Any]) -> Request:
    """The request in the container in which the tools of the provider have run, where the answer names one."""
    container = response.extra.get(_DIALECT, {}).get("container")
    if not is_object(container) or type(container.get("id")) is not str:
        return request
    members = request.extra.get(_DIALECT, {})
    before = members.get("container")
    reference = {**before, "id": container["id"]} if is_object(before) else container["id"]
    return replace(request, extra={**request.extra, _DIALECT: {**members, "container": reference}})


def with_container(first: Response[Any], second: Response[Any]) -> Response[Any]:
    """The second of two answers, with the container of the first where it names none itself."""
    begun, own = first.extra.get(_DIALECT, {}), second.extra.get(_DIALECT, {})
    if begun.get("container") is None or own.get("container") is not None:
        return second
    return replace(second, extra={**second.extra, _DIALECT: {**own, "container": begun["container"]}})
