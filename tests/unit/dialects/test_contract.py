"""What is taken where a caller says nothing: the defaults of the values that go into dialects and come out of them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from interlingua.dialects._contract import (
    DecodeContext,
    DecodedRequest,
    DecodeOptions,
    Encoded,
    EncodeOptions,
    Facts,
    Quirks,
    ServerContext,
    Target,
    Undo,
)
from interlingua.types.request import Request


def said(value: msgspec.Struct) -> dict[str, Any]:
    """The members that are not empty."""
    held = {name: getattr(value, name) for name in value.__struct_fields__}
    return {name: member for name, member in held.items() if member not in (None, "", 0, (), {}, frozenset())}


@pytest.mark.parametrize(
    ("value", "members"),
    [
        (Facts(), {}),
        (Target(), {"quirks": Quirks(), "facts": Facts(), "takes_seals": True}),
        (EncodeOptions(), {"target": Target(), "history": "refuse"}),
        (Undo(), {}),
        (Encoded(path="/a", body=b"b"), {"path": "/a", "body": b"b", "undo": Undo()}),
        (DecodeContext(), {"target": Target(), "undo": Undo()}),
        (DecodeOptions(), {"history": "refuse"}),
        (DecodedRequest(model="m", request=Request()), {"model": "m", "request": Request()}),
        (ServerContext(), {"stream_usage": True}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_nobody_said(value: msgspec.Struct, members: dict[str, Any]) -> None:
    """A pure codec: nothing is known, nothing is repaired, counts are told."""
    assert said(value) == members
