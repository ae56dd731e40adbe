"""llm-rosetta: no client, but the same translations, from bytes to bytes with the standard library's JSON."""

from __future__ import annotations

import json

import llm_rosetta

from bench.canned import answers, request_body
from bench.peers.libraries import Calls

ASKED = json.dumps(request_body("some-model")).encode()
TOLD = answers()["/v1/messages"][0]


def calls(port: int) -> Calls:  # noqa: ARG001 - it asks nobody
    """Its translations."""
    asked = json.loads(ASKED)

    def request() -> bytes:
        return json.dumps(llm_rosetta.convert(json.loads(ASKED), "anthropic", "openai_chat")).encode()

    def reply() -> bytes:
        told = llm_rosetta.convert_response(json.loads(TOLD), asked, "openai_chat", "anthropic")
        return json.dumps(told).encode()

    return Calls(request=request, reply=reply)
