"""Facts of Messages bodies.

Rules
- Neighbours of one role are one message, and in it the results of tools come before everything else.
- `any` is a required choice; a tool without a type, or of type `custom`, is the caller's own, any other the provider's.
- The input of an answer counts what was read from the cache and written to it.
- A refusal is a filtered answer: the model gives no words of its own for it.
- Calls decide over the stop reason: `end_turn` with calls is `tool_calls`.

Source: wire/anthropic.md §1-§5.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from interlingua.testing.wirefacts.errors import error_class, is_bare, named_status
from interlingua.testing.wirefacts.values import (
    NO_PARAMETERS,
    Conversation,
    Facts,
    arguments_value,
    counted,
    digest,
    joined,
    members,
    objects,
    word,
)
from interlingua.wire.finish_words import finish_words

__all__ = ["error_facts", "request_facts", "request_faults", "response_facts", "usage_facts"]

STOP_REASONS = {**finish_words("anthropic"), "refusal": "content_filter"}
"""A refusal is told in words of the model by a refusal part alone; without one it is a filter's to every reader."""


def request_facts(body: Any, model: str | None = None) -> Facts:
    """The facts of a request body."""
    own = [tool for tool in objects(body.get("tools")) if _is_own(tool)]
    ran = [tool for tool in objects(body.get("tools")) if not _is_own(tool)]
    return {
        "model": body.get("model") or model,
        **_conversation(body).facts(),
        "tools": [_tool(tool) for tool in own],
        "server_tools": [_unmarked(tool) for tool in (*ran, *objects(body.get("mcp_servers")))],
        "tool_choice": _choice(members(body.get("tool_choice"))) if body.get("tools") else None,
        "output_schema": _output_schema(body),
    }


def request_faults(body: Any) -> list[str]:
    """The faults of the calls and results of the history."""
    return _conversation(body).pairing_faults()


# Requests


def _conversation(body: Any) -> Conversation:
    conversation = Conversation()
    conversation.text("system", joined(body.get("system")))
    for role, messages in groupby(objects(body.get("messages")), lambda message: word(message.get("role"))):
        blocks = [block for message in messages for block in _blocks(message.get("content"))]
        _message(conversation, role, blocks)
    return conversation


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


def _message(conversation: Conversation, role: str, blocks: list[dict[str, Any]]) -> None:
    for block in sorted(blocks, key=lambda block: block.get("type") != "tool_result"):
        _block(conversation, role, block)
    thinking, seals = _thinking(blocks)
    conversation.thinking.extend([thinking] if thinking else [])
    conversation.seals.extend(seals)


def _block(conversation: Conversation, role: str, block: dict[str, Any]) -> None:
    match block.get("type"):
        case "text":
            conversation.text(role, word(block.get("text")))
        case "tool_use":
            conversation.call(block.get("id"), word(block.get("name")), block.get("input"))
        case "tool_result":
            _result(conversation, block)
        case "thinking" | "redacted_thinking":
            pass
        case kind if role == "assistant" and _is_step(word(kind)):
            pass
        case _:
            _media(conversation, block)


def _is_step(kind: str) -> bool:
    """Whether a block is about a tool that the provider runs; `steps` reads those."""
    return kind in ("server_tool_use", "mcp_tool_use", "compaction") or kind.endswith("_tool_result")


def _result(conversation: Conversation, block: dict[str, Any]) -> None:
    content = block.get("content")
    text = "".join([word(part.get("text") or part.get("tool_name")) for part in _blocks(content)])
    conversation.result(block.get("tool_use_id"), text, is_error=bool(block.get("is_error")))
    for part in objects(content):
        if part.get("type") not in ("text", "tool_reference"):
            _media(conversation, part)


def _media(conversation: Conversation, block: dict[str, Any]) -> None:
    """The media of a block: a digest where it holds the bytes, else whatever it refers to."""
    source = members(block.get("source"))
    data, media_type = word(source.get("data")), word(source.get("media_type"))
    match block.get("type"), source.get("type"):
        case "image" | "document", "base64":
            conversation.media.append(digest(media_type, data))
        case "document", "text":
            conversation.media.append(digest(media_type or "text/plain", data.encode()))
        case _:
            conversation.references.append(_unmarked(block))


def _unmarked(value: dict[str, Any]) -> dict[str, Any]:
    """An object without its cache mark and without what is null."""
    return {name: member for name, member in value.items() if name != "cache_control" and member is not None}


def _thinking(blocks: list[dict[str, Any]]) -> tuple[str, list[str]]:
    """Readable thinking and sealed state of a message."""
    thought = [block for block in blocks if block.get("type") in ("thinking", "redacted_thinking")]
    texts = [text for block in thought if (text := word(block.get("thinking")))]
    seals = [word(block.get("signature") or block.get("data")) for block in thought]
    return "\n\n".join(texts), [seal for seal in seals if seal]


def _is_own(tool: dict[str, Any]) -> bool:
    return tool.get("type") in (None, "", "custom")


def _tool(tool: dict[str, Any]) -> Facts:
    return {
        "name": tool.get("name"),
        "description": tool.get("description") or None,
        "schema": tool.get("input_schema") or NO_PARAMETERS,
    }


def _choice(choice: dict[str, Any]) -> Any:
    """The tool choice; None is `auto`, said or not."""
    match choice.get("type"):
        case "any":
            return "required"
        case "tool":
            return {"name": choice.get("name")}
        case "none":
            return "none"
        case _:
            return None


def _output_schema(body: Any) -> Any:
    raw = members(members(body.get("output_config")).get("format")) or members(body.get("output_format"))
    return raw.get("schema") if raw.get("type") == "json_schema" else None


# Answers


def response_facts(body: Any) -> Facts:
    """The facts of a whole answer."""
    return {"model": word(body.get("model")), "choices": [_answer(body)], "usage": usage_facts(body.get("usage"))}


def _answer(body: Any) -> Facts:
    blocks = objects(body.get("content"))
    thinking, seals = _thinking(blocks)
    calls = [
        {"name": word(block.get("name")), "arguments": arguments_value(block.get("input"))}
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    return {
        "text": joined(blocks),
        "thinking": thinking,
        "seals": seals,
        "calls": calls,
        "refusal": None,
        "finish_reason": _settled(STOP_REASONS.get(word(body.get("stop_reason")), "other"), calls=bool(calls)),
        "media": [],
    }


def _settled(reason: str, *, calls: bool) -> str:
    if calls and reason in ("stop", "other"):
        return "tool_calls"
    return "stop" if reason == "tool_calls" and not calls else reason


def usage_facts(usage: Any) -> Facts | None:
    """Token counts: input with cached, output with reasoning."""
    usage = members(usage)
    read, written = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    fresh = usage.get("input_tokens")
    return counted(
        {
            "input": None if fresh is None else fresh + (read or 0) + (written or 0),
            "output": usage.get("output_tokens"),
            "cache_read": read,
            "cache_write": written,
            "reasoning": members(usage.get("output_tokens_details")).get("thinking_tokens"),
        }
    )


# Errors


def error_facts(status: int, body: Any) -> Facts | None:
    """Class and status of an error answer; None for a body that is none."""
    content = members(body)
    if status < 400 and not (content.get("error") or ("type" not in content and is_bare(content))):
        return None
    effective = status if status >= 400 else named_status(content)
    return {"status": effective, "class": error_class(effective, body)}
