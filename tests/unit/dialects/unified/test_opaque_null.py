"""Opaque values that a client of our own format invented."""

from __future__ import annotations

import pytest

from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import get_dialect
from interlingua.errors import UsageError
from interlingua.wire.http import HttpRequest

DIALECTS = ("openai-chat", "openai-responses", "anthropic", "ollama", "cohere")


@pytest.mark.parametrize("name", DIALECTS)
def test_an_opaque_tool_that_is_no_object_is_the_askers_fault(name: str) -> None:
    """In the dialect that it claims to be from, by a sentence and no crash."""
    tool = f'{{"type":"opaque_tool","dialect":"{name}","kind":"A","raw":null}}'
    body = f'{{"model":"m","tools":[{tool}],"messages":[{{"role":"user","content":"Hi"}}]}}'.encode()
    http = HttpRequest(url="http://test/unified/v1/generate", body=body)
    request = get_dialect("unified").decode_request(http, DecodeOptions()).request
    with pytest.raises(UsageError, match="an opaque value is written as an object, and this one is NoneType"):
        get_dialect(name).encode_request(request, EncodeOptions(target=Target(model="m")))
