"""Schemas that a loose subset takes as they are, told by one compiled look.

A loose subset takes every keyword, known or not. The walk of `fit` rewrites little for it: a root that is no plain
object, items in order, and what some languages write for empty members. Most schemas have none of that.

Rules
- A schema that is told here is one for which `fit` gives nothing; a law holds it to that.
- A keyword that holds schemas and is rare, or that a loose subset may not take, is for the walk.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from interlingua.schema.usual import MAX_USUAL_BYTES, MAX_USUAL_DEPTH
from interlingua.wire._depth import is_deeper
from interlingua.wire.json import exact_reader

__all__ = ["are_untouched"]

_Form: TypeAlias = "_Schema | bool | UnsetType"
_Forms: TypeAlias = "list[_Schema | bool] | UnsetType"
_Named: TypeAlias = "dict[str, _Schema | bool] | UnsetType"
_Rare: TypeAlias = UnsetType


class _Schema(msgspec.Struct, gc=False, kw_only=True, rename="camel"):
    """The members of a schema that the walk looks at; all others are passed over."""

    type: object = UNSET
    ref: object = msgspec.field(name="$ref", default=UNSET)
    items: _Form = UNSET
    properties: _Named = UNSET
    required: list[str] | UnsetType = UNSET
    additional_properties: _Form = UNSET
    any_of: _Forms = UNSET
    one_of: _Forms = UNSET
    all_of: _Forms = UNSET
    defs: _Named = msgspec.field(name="$defs", default=UNSET)
    definitions: _Named = UNSET
    nullable: _Rare = UNSET
    prefix_items: _Rare = UNSET
    additional_items: _Rare = UNSET
    unevaluated_items: _Rare = UNSET
    contains: _Rare = UNSET
    pattern_properties: _Rare = UNSET
    property_names: _Rare = UNSET
    unevaluated_properties: _Rare = UNSET
    dependencies: _Rare = UNSET
    dependent_schemas: _Rare = UNSET
    content_schema: _Rare = UNSET
    negated: _Rare = msgspec.field(name="not", default=UNSET)
    condition: _Rare = msgspec.field(name="if", default=UNSET)
    consequence: _Rare = msgspec.field(name="then", default=UNSET)
    alternative: _Rare = msgspec.field(name="else", default=UNSET)

    def is_plain_root(self) -> bool:
        """Whether the schema is an object with properties and nothing that leads elsewhere."""
        is_object = self.type == "object" and self.properties is not UNSET
        return is_object and self.ref is self.any_of is self.one_of is self.all_of is UNSET


_read = exact_reader(list[_Schema])
_read_texts = exact_reader(list[Raw])


def are_untouched(text: bytes) -> bool:
    """Whether a loose subset takes all schemas of a JSON array as they are; False where only the walk can tell."""
    if len(text) > MAX_USUAL_BYTES:
        texts = _read_texts(text)
        if texts is None or any([memoryview(one).nbytes > MAX_USUAL_BYTES for one in texts]):
            return False
    if is_deeper(text, MAX_USUAL_DEPTH + 1):
        return False
    schemas = _read(text)
    return schemas is not None and all([schema.is_plain_root() for schema in schemas])
