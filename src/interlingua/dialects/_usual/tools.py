"""Usual tools: a name, a description, a schema and nothing else, read and written in one go.

Each dialect has in `tools_usual.py` the exact shapes of its usual tools, what makes tools of a whole list of them, and
what makes such a list of tools. Anything else is left to the general reader or writer: what is here only ever says the
same, sooner. Laws hold it to that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeVar

from msgspec import Meta

from interlingua.wire._depth import is_deeper
from interlingua.wire.json import MAX_DEPTH, exact_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    import msgspec

    from interlingua.dialects._contract import Target
    from interlingua.dialects._schemas import PlainTools
    from interlingua.types.tool import Tool

    ReadUsualTools: TypeAlias = Callable[[bytes], tuple[Tool, ...] | None]
    WriteUsualTools: TypeAlias = Callable[[PlainTools, Target], Sequence[msgspec.Struct] | None]

__all__ = ["ToolName", "usual_reader"]

W = TypeVar("W")
ToolName = Annotated[str, Meta(min_length=1)]
"""The name of a tool, which must have one."""


def usual_reader(kind: type[W], make: Callable[[list[W]], list[Tool]]) -> ReadUsualTools:
    """Reads the JSON array of a list of usual tools, each of which is exactly of a kind; None for any other."""
    parse = exact_reader(list[kind])

    def read(text: bytes) -> tuple[Tool, ...] | None:
        wires = None if is_deeper(text, MAX_DEPTH - 1) else parse(text)  # it stands in an object
        return None if wires is None else tuple(make(wires))

    return read
