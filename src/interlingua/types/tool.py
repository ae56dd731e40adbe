"""Tools as the model sees them, and how it may choose among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec.structs import asdict

from interlingua.types._base import Canonical
from interlingua.types.content import Cache

__all__ = ["AllowedTools", "Freeform", "NamedTool", "OpaqueTool", "Tool", "ToolChoice", "empty_parameters"]

EMPTY_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}
"""The schema of a tool without parameters."""


def empty_parameters() -> dict[str, Any]:
    """A new schema of a tool without parameters: its owner may change anything in it."""
    return {"type": "object", "properties": {}}


class Freeform(msgspec.Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True):
    """The input of a freeform tool: plain text, perhaps bound by a grammar."""

    syntax: str = "text"
    """`text`, `lark` or `regex`."""
    definition: str | None = None
    """The grammar."""


class Tool(Canonical, frozen=True, kw_only=True):
    """A function that the model may call."""

    name: str
    """Its name."""
    description: str | None = None
    """The purpose of the tool, for the model."""
    parameters: dict[str, Any] = msgspec.field(default_factory=empty_parameters)
    """JSON Schema of the arguments; the caller's own, unless the target cannot take it."""
    handler: Callable[..., Any] | None = None
    """The function that runs it; never sent, and no part of canonical JSON."""
    strict: bool | None = None
    """Whether the provider must hold the model to the schema; None is not said."""
    cache: Cache | None = None
    """A cache mark after this tool."""
    freeform: Freeform | None = None
    """Set for a tool that takes plain text instead of arguments."""
    metadata: dict[str, Any] = {}
    """The caller's own notes; never sent."""
    extra: dict[str, dict[str, Any]] = {}
    """Wire members without a canonical field, by dialect."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Tool:
        """A copy with the same handler, as functions are copied."""
        from copy import deepcopy

        members = asdict(self)
        handler = members.pop("handler")
        return Tool(**deepcopy(members, memo), handler=handler)

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], Tool], tuple[dict[str, Any]]]:
        """Pickled without a handler that pickle cannot take, so that what holds tools always gets through."""
        from pickle import dumps

        handler = self.handler
        try:
            dumps(handler)
        except Exception:  # noqa: BLE001 - pickle calls what the handler holds, which may raise anything
            handler = None  # a lambda, an inner function or a connection: no other process can have it
        return _made_again, ({**asdict(self), "handler": handler},)


def _made_again(members: dict[str, Any]) -> Tool:
    """The tool that was pickled."""
    return Tool(**members)


class OpaqueTool(Canonical, frozen=True):
    """A provider-run tool, or one of a kind that only its own dialect knows."""

    dialect: str
    """The dialect it belongs to."""
    kind: str
    """Its wire type, such as `web_search`."""
    raw: Any
    """The wire value, verbatim."""


class NamedTool(Canonical, frozen=True):
    """The model must call this tool."""

    name: str
    """The tool's name."""


class AllowedTools(Canonical, frozen=True):
    """The model may, or must, call one of these tools."""

    names: tuple[str, ...]
    """The tools it may call."""
    mode: Literal["auto", "required"] = "auto"
    """Whether it may also answer without a call."""


ToolChoice: TypeAlias = Literal["auto", "none", "required"] | NamedTool | AllowedTools
"""As the model likes, no call, at least one call, this very tool, or one of a subset."""
