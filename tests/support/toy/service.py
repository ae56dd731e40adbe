"""What a server and a caller of the toy dialect must know beside its bodies."""

from __future__ import annotations

from interlingua.dialects._service import MESSAGE_LIST, LimitFields, Service, ServicePath

__all__ = ["SERVICE"]

SERVICE = Service(
    paths=(ServicePath("conversation", "/toy/v1/say"),),
    prefixes=("/toy/",),
    header="x-toy",
    needs={"lines": MESSAGE_LIST},
    message_members=("lines",),
    limits=LimitFields(("most",)),
    id_prefix="toy-",
    limit_header="toy-{word}-{what}",
    path="/say",
    headers=frozenset({"toy-version"}),
    default_headers=(("toy-version", "1"),),
)
"""The toy dialect beside its bodies."""
