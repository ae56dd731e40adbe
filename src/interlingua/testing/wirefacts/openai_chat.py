"""Facts of Chat Completions bodies, compatible servers included.

Rules
- `developer` counts as `system`; `max_tokens` and the like are no facts.
- The deprecated `functions` and `function_call` are tools and calls without ids.
- Reasoning is read under every name that servers use: `reasoning_content`, `reasoning`, `reasoning_details`,
  thinking chunks. Where text and details say the same, the text counts once.
- Calls decide over the finish reason: `stop` with calls is `tool_calls`.

Source: wire/openai-chat.md §1-§5, wire/mistral.md §1-§5, wire/compat-quirks.md §2-§10.
"""

from __future__ import annotations

from typing import Any

from interlingua.testing.wirefacts.errors import error_class, failed_base, is_bare, named_status
from interlingua.testing.wirefacts.values import (
    NO_PARAMETERS,
    Conversation,
    Facts,
    allowed_choice,
    arguments_value,
    audio_digest,
    counted,
    data_url,
    digest,
    items,
    joined,
    members,
    objects,
    word,
)
from interlingua.wire.finish_words import finish_words

__all__ = [
    "NO_CHOICE",
    "answer_error",
    "calls_of",
    "error_facts",
    "request_facts",
    "request_faults",
    "response_facts",
    "thinking_of",
    "usage_facts",
]

AUDIO_TYPES = {"wav": "audio/wav", "mp3": "audio/mpeg"}
FINISH_REASONS = {**finish_words("openai-chat"), "refusal": "content_filter"}
"""A refusal is told by a refusal part alone; without one it is a filter's to every reader."""
CACHE_READ = (
    ("prompt_tokens_details", "cached_tokens"),
    ("prompt_token_details", "cached_tokens"),
    ("num_cached_tokens",),
    ("cached_tokens",),
    ("prompt_cache_hit_tokens",),
)
"""Where servers put the cached tokens, the usual place first."""


def request_facts(body: Any, model: str | None = None) -> Facts:
    """The facts of a request body."""
    conversation = _conversation(body)
    tools = [_tool(tool) for tool in _tools(body)]
    return {
        "model": body.get("model") or model,
        **conversation.facts(),
        "tools": [tool for tool in tools if tool is not None],
        "server_tools": [tool for tool in _tools(body) if _tool(tool) is None],
        "tool_choice": _choice(body) if _tools(body) else None,
        "output_schema": _output_schema(body.get("response_format")),
    }


def request_faults(body: Any) -> list[str]:
    """The faults of the calls and results of the history."""
    return _conversation(body).pairing_faults()


# Requests


def _conversation(body: Any) -> Conversation:
    conversation = Conversation()
    for message in objects(body.get("messages")):
        role = word(message.get("role"))
        if role in ("tool", "function"):
            _result(conversation, message)
        else:
            _message(conversation, "system" if role == "developer" else role, message)
    return conversation


def _result(conversation: Conversation, message: Any) -> None:
    content = message.get("content")
    key = message.get("tool_call_id") or message.get("name")
    conversation.result(key, joined(content))
    for part in objects(content):
        _media(conversation, part)


def _message(conversation: Conversation, role: str, message: Any) -> None:
    content = message.get("content")
    conversation.text(role, joined(content))
    for part in [*objects(content), *objects(message.get("images"))]:
        _media(conversation, part)
    thinking, seals = thinking_of(message)
    conversation.thinking.extend([thinking] if thinking else [])
    conversation.seals.extend(seals)
    if refusal := word(message.get("refusal")) or joined(items(content), "refusal"):
        conversation.refusals.append(refusal)
    audio = members(message.get("audio"))
    if data := word(audio.get("data")):
        conversation.media.append(audio_digest(data))
    elif audio:
        conversation.references.append({"audio": audio.get("id")})
    for call_id, name, arguments in calls_of(message):
        conversation.call(call_id, name, arguments)


def _media(conversation: Conversation, part: Any) -> None:
    """The media of a content part: a digest where it holds the bytes, the reference where it names them."""
    kind = part.get("type")
    if kind in ("image_url", "document_url", "video_url", "audio_url"):
        value = part.get(kind)
        _url(conversation, word(kind), word(value) or word(members(value).get("url")))
    elif kind == "input_audio":
        audio = members(part.get("input_audio"))
        form = word(audio.get("format"))
        conversation.media.append(digest(AUDIO_TYPES.get(form, f"audio/{form}"), word(audio.get("data"))))
    elif kind == "file":
        _file(conversation, members(part.get("file")))


def _file(conversation: Conversation, file: Any) -> None:
    data = file.get("file_data")
    if data is None:
        conversation.references.append({"file": file.get("file_id")})
    elif data.startswith(("data:", "http:", "https:")):
        _url(conversation, "file", data)
    else:
        conversation.media.append(digest("application/pdf", data))


def _url(conversation: Conversation, kind: str, url: str) -> None:
    media = data_url(url)
    if media is None:
        conversation.references.append({kind: url})
    else:
        conversation.media.append(media)


def _tools(body: Any) -> list[dict[str, Any]]:
    legacy = [{"type": "function", "function": function} for function in objects(body.get("functions"))]
    return [*objects(body.get("tools")), *legacy]


def _tool(tool: Any) -> Facts | None:
    """Name, description and schema; None for a tool that the provider runs."""
    if tool.get("type") == "custom":
        custom = members(tool.get("custom"))
        return {"name": custom.get("name"), "description": custom.get("description") or None, "schema": "freeform"}
    function = tool.get("function")
    if function is None:
        return None
    return {
        "name": function.get("name"),
        "description": function.get("description") or None,
        "schema": function.get("parameters") or NO_PARAMETERS,
    }


def _choice(body: Any) -> Any:
    """The tool choice; None is `auto`, said or not."""
    choice = body.get("tool_choice", body.get("function_call")) or "auto"
    if isinstance(choice, str):
        return {"auto": None, "any": "required"}.get(choice, choice)
    allowed = choice.get("allowed_tools")
    if allowed:
        names = [_named(tool) for tool in objects(allowed.get("tools"))]
        return allowed_choice(names, allowed.get("mode", "auto"))
    return {"name": _named(choice)}


def _named(choice: Any) -> Any:
    kind = choice.get("type", "function")
    return (choice.get(kind) or choice).get("name")


def _output_schema(response_format: Any) -> Any:
    """The schema of the answer, or `json` for JSON mode; None for plain text."""
    kind = members(response_format).get("type", "text")
    if kind == "json_schema":
        return response_format.get("json_schema", {}).get("schema")
    if kind == "json_object":
        return response_format.get("schema") or "json"
    return None


# Answers


def response_facts(body: Any) -> Facts:
    """The facts of a whole answer."""
    return {
        "model": word(body.get("model")),
        "choices": [_answer(choice) for choice in objects(body.get("choices"))],
        "usage": usage_facts(body.get("usage") or members(body.get("x_groq")).get("usage")),
    }


def _answer(choice: Any) -> Facts:
    message = members(choice.get("message") or choice.get("delta"))
    thinking, seals = thinking_of(message)
    calls = [{"name": name, "arguments": arguments_value(arguments)} for _, name, arguments in calls_of(message)]
    refusal = message.get("refusal") or None
    text, media = joined(message.get("content")), _answer_media(message)
    finish = word(choice.get("finish_reason"))
    holds = any([text, thinking, seals, calls, refusal, media])
    reason = FINISH_REASONS.get(finish, "other") if finish else "stop" if holds else "error"
    return {
        "text": text,
        "thinking": thinking,
        "seals": seals,
        "calls": calls,
        "refusal": refusal,
        "finish_reason": _settled(reason, calls=bool(calls), refused=refusal is not None),
        "media": media,
    }


def _settled(reason: str, *, calls: bool, refused: bool) -> str:
    if calls and reason in ("stop", "other"):
        return "tool_calls"
    if not calls and reason == "tool_calls":
        reason = "stop"
    return "refusal" if refused and reason == "stop" else reason


def _answer_media(message: Any) -> list[list[str]]:
    """Images and audio of an answer; what the audio is shows in its first bytes alone."""
    urls = [word(members(image.get("image_url")).get("url")) for image in objects(message.get("images"))]
    result = [media for url in urls if (media := data_url(url)) is not None]
    data = word(members(message.get("audio")).get("data"))
    return [*result, *([audio_digest(data)] if data else [])]


def usage_facts(usage: Any) -> Facts | None:
    """Token counts: input with cached, output with reasoning."""
    usage = members(usage)
    cached = [_at(usage, path) for path in CACHE_READ]
    return counted(
        {
            "input": usage.get("prompt_tokens"),
            "output": usage.get("completion_tokens"),
            "cache_read": next((count for count in cached if count is not None), None),
            "cache_write": _at(usage, ("prompt_tokens_details", "cache_write_tokens")),
            "reasoning": _at(usage, ("completion_tokens_details", "reasoning_tokens")),
        }
    )


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = members(value).get(name)
    return value


def calls_of(message: Any) -> list[tuple[str | None, str, Any]]:
    """The calls of an assistant message as (id, name, arguments), the deprecated form included."""
    result: list[tuple[str | None, str, Any]] = []
    for call in objects(message.get("tool_calls")):
        custom = members(call.get("custom")) if call.get("type") == "custom" else None
        if call.get("type") not in (None, "", "function", "custom") and not (call.get("function") or call.get("name")):
            continue  # the server has run it
        if custom:
            result.append((call.get("id"), word(custom.get("name")), {"input": custom.get("input")}))
        else:
            function = members(call.get("function")) or call
            result.append((call.get("id"), word(function.get("name")), function.get("arguments")))
    legacy = members(message.get("function_call"))
    if legacy.get("name"):
        result.append((None, word(legacy.get("name")), legacy.get("arguments")))
    return result


def thinking_of(message: Any) -> tuple[str, list[str]]:
    """Readable reasoning and sealed state of a message."""
    details = objects(message.get("reasoning_details"))
    chunks = [part for part in objects(message.get("content")) if part.get("type") == "thinking"]
    text = (
        word(message.get("reasoning_content"))
        or word(message.get("reasoning"))
        or "".join([word(detail.get("text") or detail.get("summary")) for detail in details])
        or "".join([joined(chunk.get("thinking")) for chunk in chunks])
    )
    seals = [detail.get("signature") or detail.get("data") for detail in details]
    seals += [chunk.get("signature") for chunk in chunks]
    seals += [
        _at(call, ("extra_content", "google", "thought_signature")) for call in objects(message.get("tool_calls"))
    ]
    return text, [seal for seal in seals if seal]


# Errors

NO_CHOICE: Facts = {"status": None, "class": "InternalServerError"}
"""The facts of an answer without a choice: nothing in it says how it ended."""


def error_facts(status: int, body: Any) -> Facts | None:
    """Class and status of an error answer; None for a body that is none."""
    error = _error_object(members(body))
    if status < 400 and error is None:
        return None
    effective = status if status >= 400 else named_status(error or {})
    return {"status": effective, "class": error_class(effective, body)}


def answer_error(status: int, body: Any) -> Facts | None:
    """Class and status of a whole answer that is an error: one without a choice has failed, too."""
    silent = status < 400 and not members(body).get("choices")
    return error_facts(status, body) or (dict(NO_CHOICE) if silent else None)


def _error_object(body: dict[str, Any]) -> dict[str, Any] | None:
    """The error of a body: under `error`, or the body itself where it is flat."""
    if error := body.get("error"):
        return members(error) or {"message": str(error)}
    complains = not body.get("choices") and "id" not in body and is_bare(body)
    is_flat = body.get("object") == "error" or bool(failed_base(body)) or complains
    return body if is_flat else None
