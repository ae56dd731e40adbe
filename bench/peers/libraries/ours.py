"""Interlingua, in each dialect that a peer speaks."""

from __future__ import annotations

import interlingua as il
from bench import canned
from bench.canned import MAX_TOKENS, TEXT, TURNS, answers, request_body, tool_name
from bench.peers.libraries import Calls, key, url
from interlingua import aio
from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects.table import get_dialect
from interlingua.registry.resolve import default_registry
from interlingua.types.event import TextDelta
from interlingua.types.tool import Tool
from interlingua.wire.http import HttpReply, HttpRequest
from interlingua.wire.json import encode_wire

BASES = {"openai-chat": "/v1", "anthropic": "/v1", "google": "/v1beta", "ollama": ""}
TOOLS = tuple(
    Tool(name=tool_name(number), description=canned.DESCRIPTION, parameters=canned.PARAMETERS)
    for number in range(canned.TOOLS)
)
MESSAGES = [il.user(TEXT) if number % 2 == 0 else il.assistant(TEXT) for number in range(TURNS)]


def calls(port: int, dialect: str) -> Calls:
    """Our calls in one dialect."""
    row = il.Provider(name="bench", base_url=url(port, BASES[dialect]), dialects=(dialect,))
    default_registry().register_provider(row, key=key)
    model, awaiting = il.model("bench/some-model", system=TEXT), aio.model("bench/some-model", system=TEXT)

    def whole() -> int:
        return len(model.generate(MESSAGES, tools=TOOLS, max_tokens=MAX_TOKENS).message.tool_calls)

    def streamed() -> int:
        with model.stream(MESSAGES, tools=TOOLS, max_tokens=MAX_TOKENS) as stream:
            return sum(len(event.text) for event in stream if isinstance(event, TextDelta))

    async def awaited() -> int:
        return len((await awaiting.generate(MESSAGES, tools=TOOLS, max_tokens=MAX_TOKENS)).message.tool_calls)

    return Calls(whole, streamed, awaited, translated_request, translated_reply)


CHAT, CLAUDE = get_dialect("openai-chat"), get_dialect("anthropic")
ASKED = HttpRequest(url="https://bench.example/v1/chat/completions", body=encode_wire(request_body("some-model")))
TOLD = HttpReply(status=200, body=answers()["/v1/messages"][0])
SERVED = ServerContext(model="some-model", created=1_795_000_000, make_id=lambda: "answer-1")
OPTIONS = EncodeOptions(target=Target(model="some-model"))


def translated_request() -> bytes:
    """A Chat request told to Claude."""
    return CLAUDE.encode_request(CHAT.decode_request(ASKED, DecodeOptions()).request, OPTIONS).body


def translated_reply() -> bytes:
    """Claude's answer told to a Chat client."""
    return CHAT.encode_response(CLAUDE.decode_response(TOLD, DecodeContext()), SERVED).body
