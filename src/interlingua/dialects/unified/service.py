"""The facts of our own format beside its bodies, for a server and a caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._late import late_pair
from interlingua.dialects._members import is_object
from interlingua.dialects._service import IdPlaces, LimitFields, Override, Pauses, Service, ServicePath

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SERVICE"]

_CONTAINERS = "interlingua.dialects._containers"


def _overrides(body: Any) -> Iterator[Override]:
    """The members that `extra` and the state that a request continues have written into the body for a target."""
    extra, state = body.get("extra"), body.get("continues")
    for dialect, members in extra.items() if is_object(extra) else ():
        if is_object(members):
            yield Override(f"/extra/{dialect}", dialect, members)
    if is_object(state) and is_object(members := state.get("raw")):
        yield Override("/continues/raw", str(state.get("dialect")), members)


SERVICE = Service(
    paths=(ServicePath("conversation", "/unified/v1/generate"),),
    prefixes=("/unified/",),
    history="refuse",
    data=("input_schema", "output_schema", "extra"),
    limits=LimitFields(("max_tokens",), choices=("n",), thinking=(("thinking_budget",),)),
    overrides=_overrides,
    id_places=IdPlaces(names=("uri",), maps=("variables",), inside=("raw", "extra")),
    keeps_broken=True,
    pauses=Pauses(late_pair(_CONTAINERS, "in_container"), late_pair(_CONTAINERS, "with_container")),
    passes=False,
    embeds="openai-chat",
    reranks="openai-chat",
    vector_root="/v1",
    scheme="interlingua",
)
"""Our own format beside its bodies."""
