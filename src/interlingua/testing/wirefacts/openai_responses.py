"""Facts of Responses bodies: items, not messages.

Rules
- `instructions` come first, as system text; `developer` counts as `system`.
- Calls pair with results by `call_id`; the `id` of an item is no fact.
- A choice of a tool that the provider runs is among the server tools, since no other format can say it.
- Calls that the client must answer decide over the finish reason of a completed answer, then a refusal.

Source: wire/openai-responses.md §1-§6.
"""

from __future__ import annotations

from typing import Any

from interlingua.testing.wirefacts.openai_chat import error_facts as chat_error
from interlingua.testing.wirefacts.values import (
    NO_PARAMETERS,
    Conversation,
    Facts,
    allowed_choice,
    arguments_value,
    counted,
    data_url,
    digest,
    items,
    joined,
    members,
    objects,
    word,
)

__all__ = ["error_facts", "request_facts", "request_faults", "response_facts"]

CALLS = ("function_call", "custom_tool_call")
RESULTS = ("function_call_output", "custom_tool_call_output")
AUDIO_TYPES = {"wav": "audio/wav", "mp3": "audio/mpeg"}
CLASSES = {
    "invalid_prompt": "BadRequestError",
    "data_residency_mismatch": "BadRequestError",
    "vector_store_timeout": "APITimeoutError",
    "bio_policy": "ContentPolicyViolationError",
    "misalignment_policy_violation": "ContentPolicyViolationError",
    "image_content_policy_violation": "ContentPolicyViolationError",
    "overloaded": "OverloadedError",
    "timeout": "APITimeoutError",
    "permission_denied": "PermissionDeniedError",
    "request_too_large": "RequestTooLargeError",
}
"""Codes that only this format has, where no status decides; every code about an image is the request's fault."""


def request_facts(body: Any, model: str | None = None) -> Facts:
    """The facts of a request body."""
    tools = objects(body.get("tools"))
    choice = _choice(body.get("tool_choice")) if tools else None
    hosted = [body["tool_choice"]] if choice == "hosted" else []
    return {
        "model": body.get("model") or model,
        **_conversation(body).facts(),
        "tools": [tool for entry in tools if (tool := _tool(entry)) is not None],
        "server_tools": [*(entry for entry in tools if _tool(entry) is None), *hosted],
        "tool_choice": None if choice == "hosted" else choice,
        "output_schema": _output_schema(members(body.get("text")).get("format")),
    }


def request_faults(body: Any) -> list[str]:
    """The faults of the calls and results of the history."""
    return _conversation(body).pairing_faults()


# Requests


def _conversation(body: Any) -> Conversation:
    conversation = Conversation()
    conversation.text("system", word(body.get("instructions")))
    raw = body.get("input")
    if isinstance(raw, str):
        conversation.text("user", raw)
    for item in objects(raw):
        _item(conversation, item)
    return conversation


def _item(conversation: Conversation, item: Any) -> None:
    kind = item.get("type") or "message"
    if kind in CALLS:
        conversation.call(item.get("call_id"), word(item.get("name")), _arguments(item))
    elif kind in RESULTS:
        output = item.get("output")
        conversation.result(item.get("call_id"), output if isinstance(output, str) else _joined_parts(output))
        _media(conversation, output)
    elif kind == "reasoning":
        _reasoning(conversation, item)
    elif kind == "image_generation_call" and item.get("result"):
        conversation.media.append(digest(f"image/{item.get('output_format') or 'png'}", word(item["result"])))
    elif kind == "message":
        _message(conversation, item)


def _arguments(item: Any) -> Any:
    return {"input": item.get("input")} if item.get("type") == "custom_tool_call" else item.get("arguments")


def _message(conversation: Conversation, item: Any) -> None:
    role, content = word(item.get("role")), item.get("content")
    conversation.text("system" if role == "developer" else role, _joined_parts(content))
    refusal = joined(items(content), "refusal")
    conversation.refusals.extend([refusal] if refusal else [])
    _media(conversation, content)


def _joined_parts(content: Any) -> str:
    """The text of a content: its string, or its text parts of either side."""
    if isinstance(content, str):
        return content
    kinds = ("input_text", "output_text", "text")
    return "".join([word(part.get("text")) for part in objects(content) if part.get("type") in kinds])


def _reasoning(conversation: Conversation, item: Any) -> None:
    text = _thinking_text(item)
    conversation.thinking.extend([text] if text else [])
    conversation.seals.extend([item["encrypted_content"]] if item.get("encrypted_content") else [])


def _thinking_text(item: Any) -> str:
    """The readable text of a reasoning item: its summaries, or else its content."""
    summaries = [word(part.get("text")) for part in objects(item.get("summary"))]
    contents = [word(part.get("text")) for part in objects(item.get("content"))]
    return "\n\n".join(summaries or contents)


def _media(conversation: Conversation, content: Any) -> None:
    for part in objects(content):
        kind = part.get("type")
        if kind == "input_image":
            _reference(conversation, part, "image_url")
        elif kind == "input_file":
            _reference(conversation, part, "file_data")
        elif kind == "input_audio":
            audio = members(part.get("input_audio"))
            form = word(audio.get("format"))
            conversation.media.append(digest(AUDIO_TYPES.get(form, f"audio/{form}"), word(audio.get("data"))))


def _reference(conversation: Conversation, part: Any, member: str) -> None:
    """A digest where the part holds the bytes, what it refers to where it does not."""
    media = data_url(word(part.get(member)))
    if media is not None:
        conversation.media.append(media)
    else:
        names = ("image_url", "file_data", "file_id", "file_url")
        conversation.references.append({name: part[name] for name in names if part.get(name) is not None})


def _tool(tool: Any) -> Facts | None:
    """Name, description and schema; None for a tool that the provider runs."""
    kind = tool.get("type")
    if kind not in ("function", "custom"):
        return None
    nested = members(tool.get("function"))
    function = nested or tool
    schema = "freeform" if kind == "custom" else function.get("parameters") or NO_PARAMETERS
    return {"name": function.get("name"), "description": function.get("description") or None, "schema": schema}


def _choice(choice: Any) -> Any:
    """The tool choice; None is `auto`, said or not; `hosted` is a tool that the provider runs."""
    if choice is None or isinstance(choice, str):
        return None if choice in (None, "auto") else choice
    tools = objects(choice.get("tools"))
    entries = tools if choice.get("type") == "allowed_tools" else [choice]
    if any(entry.get("type") not in ("function", "custom") for entry in entries):
        return "hosted"
    names = [entry.get("name") or members(entry.get("function")).get("name") for entry in entries]
    return allowed_choice(names, choice.get("mode", "auto")) if entries is tools else {"name": names[0]}


def _output_schema(raw: Any) -> Any:
    """The schema of the answer, or `json` for JSON mode; None for plain text."""
    kind = members(raw).get("type", "text")
    if kind == "json_schema":
        return raw.get("schema")
    return "json" if kind == "json_object" else None


# Answers


def response_facts(body: Any) -> Facts:
    """The facts of a whole answer."""
    return {"model": word(body.get("model")), "choices": [_answer(body)], "usage": _usage_facts(body.get("usage"))}


def _answer(body: Any) -> Facts:
    output = objects(body.get("output"))
    messages = [item for item in output if item.get("type") == "message"]
    reasoning = [item for item in output if item.get("type") == "reasoning"]
    calls = [
        {"name": word(item.get("name")), "arguments": arguments_value(_arguments(item))}
        for item in output
        if item.get("type") in CALLS
    ]
    refusal = "".join([joined(items(item.get("content")), "refusal") for item in messages]) or None
    return {
        "text": "".join([_joined_parts(item.get("content")) for item in messages]),
        "thinking": "\n\n".join([text for item in reasoning if (text := _thinking_text(item))]),
        "seals": [item["encrypted_content"] for item in reasoning if item.get("encrypted_content")],
        "calls": calls,
        "refusal": refusal,
        "finish_reason": _finish(body, called=bool(calls), refused=refusal is not None),
        "media": [media for item in output if (media := _picture(item)) is not None],
    }


def _finish(body: Any, *, called: bool, refused: bool) -> str:
    status = body.get("status")
    reason = members(body.get("incomplete_details")).get("reason")
    if status == "incomplete" and reason in ("max_output_tokens", "content_filter"):
        return "length" if reason == "max_output_tokens" else "content_filter"
    if status in ("failed", "cancelled") or (
        status in ("queued", "in_progress") and body.get("background") is not True
    ):
        return "error"
    if called:
        return "tool_calls"
    if status not in ("completed", "complete", None):
        return "other"
    return "refusal" if refused else "stop"


def _picture(item: Any) -> list[str] | None:
    if item.get("type") != "image_generation_call" or not item.get("result"):
        return None
    return digest(f"image/{item.get('output_format') or 'png'}", word(item["result"]))


def _usage_facts(usage: Any) -> Facts | None:
    """Token counts: input with cached, output with reasoning."""
    usage = members(usage)
    read = members(usage.get("input_tokens_details"))
    written = members(usage.get("output_tokens_details"))
    return counted(
        {
            "input": usage.get("input_tokens"),
            "output": usage.get("output_tokens"),
            "cache_read": read.get("cached_tokens"),
            "cache_write": read.get("cache_write_tokens"),
            "reasoning": written.get("reasoning_tokens"),
        }
    )


# Errors


def error_facts(status: int, body: Any) -> Facts | None:
    """Class and status of an error answer, an event or a failed answer; None for a body that is none."""
    body = members(body)
    if body.get("type") == "error" and not isinstance(body.get("error"), dict):
        body = {"error": {"message": body.get("message"), "code": body.get("code")}}
    elif body.get("type") == "response.failed" or body.get("status") == "failed":
        inner = members(body.get("response")) or body
        body = {"error": inner.get("error") or {"message": "failed", "code": "server_error"}}
    facts = chat_error(status, body)
    if facts is None or status >= 400:
        return facts
    code = word(members(body.get("error")).get("code"))
    named = CLASSES.get(code) or ("BadRequestError" if "image" in code else None)
    return {**facts, "class": named} if named and facts["status"] is None else facts
