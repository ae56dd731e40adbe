"""Rules of Cohere beyond the shape of a request."""

from __future__ import annotations

from collections.abc import Iterator

from interlingua.testing.upstream.rules.common import OPENAI_IMAGES, data_url_fault, repeated
from interlingua.testing.upstream.verdict import Asked, Finding, Rule
from interlingua.testing.wirefacts.values import members, objects, word
from interlingua.wire.model_table import model_row

__all__ = ["COHERE_RULES"]


def _pairing(request: Asked) -> Iterator[Finding]:
    """Every result answers an open call of the turn before it, and every call is answered."""
    waiting: list[str] = []
    last = 0
    for place, message in enumerate(objects(request.body.get("messages"))):
        if message.get("role") == "tool":
            call = word(message.get("tool_call_id"))
            if call in waiting:
                waiting.remove(call)
            else:
                yield ("messages", place, "tool_call_id"), f"invalid request: tool call id {call!r} not found"
            continue
        if waiting:
            yield ("messages", last), f"invalid request: tool calls {', '.join(waiting)} have no results"
        waiting, last = [word(call.get("id")) for call in objects(message.get("tool_calls"))], place
    if waiting:
        yield ("messages", last), f"invalid request: tool calls {', '.join(waiting)} have no results"


def _repeated_calls(request: Asked) -> Iterator[Finding]:
    for place, message in enumerate(objects(request.body.get("messages"))):
        calls = enumerate(objects(message.get("tool_calls")))
        named = ((("messages", place, "tool_calls", at, "id"), word(call.get("id"))) for at, call in calls)
        yield from repeated(named, "call id")


def _choice(request: Asked) -> Iterator[Finding]:
    if request.body.get("tool_choice") == "REQUIRED" and not request.body.get("tools"):
        yield ("tool_choice",), "invalid request: tool_choice REQUIRED needs tools"


def _schema_beside(request: Asked) -> Iterator[Finding]:
    if members(request.body.get("response_format")).get("type") != "json_object":
        return
    for name in ("tools", "documents"):
        if request.body.get(name):
            yield ("response_format",), f"invalid request: response_format is not supported with {name}"


def _images(request: Asked) -> Iterator[Finding]:
    for place, message in enumerate(objects(request.body.get("messages"))):
        blocks = message.get("content")
        for at, block in enumerate(objects(blocks)):
            url = members(block.get("image_url")).get("url")
            fault = data_url_fault(url, OPENAI_IMAGES) if isinstance(url, str) else None
            if fault:
                yield ("messages", place, "content", at, "image_url", "url"), fault


def _model(request: Asked) -> Iterator[Finding]:
    """Refusals of single families: thinking where there is none, and a choice of tools."""
    row = model_row("cohere", request.model)
    if row is None:
        return
    form = members(request.body.get("thinking")).get("type")
    if form == "enabled" and row.thinking == frozenset():
        yield ("thinking",), f"invalid request: thinking is not supported by {request.model}"
    if request.body.get("tool_choice") is not None and row.forced_choice is False:
        yield ("tool_choice",), f"invalid request: tool_choice is not supported by {request.model}"


COHERE_RULES: tuple[Rule, ...] = (
    Rule("bad_pairing", _pairing, "Cohere, Field facts, results; Errors"),
    Rule("repeated_call_id", _repeated_calls, "Cohere, Field facts, id"),
    Rule("choice_without_tools", _choice, "request types: tool_choice"),
    Rule("schema_beside_tools", _schema_beside, "Cohere, Pitfalls"),
    Rule("bad_image", _images, "Cohere, Field facts, images"),
    Rule("unsupported_by_model", _model, "Cohere, Field facts, reasoning in; cohere-python, tool_choice"),
)
"""The rules of Cohere."""
