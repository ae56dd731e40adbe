"""The base of every canonical struct: frozen, tagged by `type`, None and empty members omitted."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import msgspec

__all__ = ["Canonical", "JsonObject", "JsonValue", "snake_tag"]

JsonValue: TypeAlias = Any
"""Any JSON value: None, bool, int (exact), float (finite), str, list, dict with str keys."""
JsonObject: TypeAlias = dict[str, Any]
"""A JSON object."""


def snake_tag(name: str) -> str:
    """The canonical JSON tag of a class: snake_case, without `Part`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removesuffix("Part")).lower()


class Canonical(
    msgspec.Struct, frozen=True, omit_defaults=True, repr_omit_defaults=True, tag_field="type", tag=snake_tag
):
    """The base of canonical structs that stand in unions."""
