"""Responses answers: one object, or typed events with counted numbers.

Source: OpenAI Responses, sections 2, 3 and 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlingua.testing.upstream.answers.say import CREATED, Ids, Say, halves, words
from interlingua.testing.upstream.refusals import error_body
from interlingua.testing.upstream.verdict import Asked, Issued
from interlingua.testing.wirefacts.values import items, members
from interlingua.wire.json import encode
from interlingua.wire.sse import encode_event

__all__ = ["compacted", "fail_responses", "stream_responses", "whole_responses"]

Item = dict[str, Any]


def whole_responses(say: Say, request: Asked, ids: Ids, issued: Issued) -> dict[str, Any]:
    """The whole answer."""
    items = _items(say, ids, issued)
    response = _response(say, request, ids, items)
    issued.items.add(response["id"])
    return response


def compacted(request: Asked, ids: Ids, issued: Issued) -> dict[str, Any]:
    """A conversation in short: what the user said, and one sealed item that stands for everything else.

    Source: the answer types of the official client, openai 3.54.
    """
    raw = request.body.get("input")
    listed = [{"role": "user", "content": raw}] if isinstance(raw, str) else items(raw)
    seal = ids.next("gAAAAABcompact")
    issued.seals[seal] = ""
    summary = {"id": ids.next("cmp_"), "type": "compaction", "encrypted_content": seal}
    return {
        "id": ids.next("resp_"),
        "object": "response.compaction",
        "created_at": CREATED,
        "output": [*[_user_message(item, ids) for item in listed if members(item).get("role") == "user"], summary],
        "usage": _usage(Say(text="one two")),
    }


def _user_message(item: Any, ids: Ids) -> Item:
    content = members(item).get("content")
    parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
    return {"type": "message", "id": ids.next("msg_"), "role": "user", "status": "completed", "content": parts}


def stream_responses(say: Say, request: Asked, ids: Ids, issued: Issued) -> Iterator[bytes]:
    """The events of the streamed answer."""
    events = _Events()
    items = _items(say, ids, issued)
    whole = _response(say, request, ids, items)
    issued.items.add(whole["id"])
    begun: Item = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    begun["completed_at"] = None
    yield events.frame("response.created", response=begun)
    yield events.frame("response.in_progress", response=begun)
    for place, item in enumerate(items):
        yield from _WRITERS[item["type"]](events, place, item)
    ending = "response.incomplete" if whole["status"] == "incomplete" else "response.completed"
    yield events.frame(ending, response=whole)


def fail_responses(status: int, message: str | None) -> bytes:
    """The event of an error in a stream."""
    error = error_body("openai-responses", status, message)["error"]
    event = {"code": error["code"] or "server_error", "message": error["message"], "param": None}
    return _Events(number=2).frame("error", **event)


class _Events:
    """Numbers the events of one stream."""

    def __init__(self, number: int = 0) -> None:
        self._number = number

    def frame(self, kind: str, **more: Any) -> bytes:
        """One event."""
        body = {"type": kind, "sequence_number": self._number, **more}
        self._number += 1
        return encode_event(encode(body, nulls=40), event=kind)


def _items(say: Say, ids: Ids, issued: Issued) -> list[Item]:
    items: list[Item] = []
    if say.thinking:
        seal = ids.next("gAAAAABseal")
        summary = [{"type": "summary_text", "text": say.thinking}]
        items.append({"type": "reasoning", "id": ids.next("rs_"), "summary": summary, "encrypted_content": seal})
        issued.seals[seal] = say.thinking
    if say.text or say.refusal:
        items.append(_message(say, ids))
    items += [
        {
            "type": "function_call",
            "id": ids.next("fc_"),
            "call_id": ids.next("call_"),
            "name": call.name,
            "arguments": call.json,
            "status": "completed",
        }
        for call in say.calls
    ]
    if say.thinking and len(items) > 1:
        issued.reasons[items[1]["id"]] = items[0]["id"]
    issued.items.update(item["id"] for item in items)
    return items


def _message(say: Say, ids: Ids) -> Item:
    part: Item = {"type": "output_text", "text": say.text, "annotations": [], "logprobs": []}
    content: list[Item] = [part] if not say.refusal else [{"type": "refusal", "refusal": say.refusal}]
    status = "incomplete" if say.finish else "completed"
    return {"type": "message", "id": ids.next("msg_"), "role": "assistant", "status": status, "content": content}


def _response(say: Say, request: Asked, ids: Ids, output: list[Item]) -> dict[str, Any]:
    reason = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(say.finish)
    echoed = {name: _echo(request, name, otherwise) for name, otherwise in _ECHOED.items()}
    return {
        "id": ids.next("resp_"),
        "object": "response",
        "created_at": CREATED,
        "completed_at": CREATED + 1,
        "status": "incomplete" if reason else "completed",
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        **echoed,
        "model": request.model,
        "output": output,
        "parallel_tool_calls": request.body.get("parallel_tool_calls") is not False,
        "tool_choice": request.body.get("tool_choice") or "auto",
        "tools": [_whole_tool(tool) for tool in items(request.body.get("tools"))],
        "metadata": members(request.body.get("metadata")),
        "usage": _usage(say),
    }


def _echo(request: Asked, name: str, otherwise: Any) -> Any:
    value = request.body.get(name)
    if value is None:
        return otherwise
    return {**members(otherwise), **members(value)} if isinstance(otherwise, dict) else value


_ECHOED: dict[str, Any] = {
    "instructions": None,
    "temperature": 1.0,
    "top_p": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "top_logprobs": 0,
    "truncation": "disabled",
    "text": {"format": {"type": "text"}, "verbosity": "medium"},
    "reasoning": {"effort": None, "summary": None},
    "max_output_tokens": None,
    "max_tool_calls": None,
    "store": True,
    "background": False,
    "service_tier": "default",
    "safety_identifier": None,
    "prompt_cache_key": None,
    "previous_response_id": None,
}
"""Members of an answer that repeat the request, and what they say where it said nothing."""


def _whole_tool(tool: Item) -> Item:
    return {"description": None, "parameters": None, "strict": True, **tool} if tool.get("type") == "function" else tool


def _usage(say: Say) -> dict[str, Any]:
    return {
        "input_tokens": say.input_tokens,
        "input_tokens_details": {"cached_tokens": say.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": say.output_tokens,
        "output_tokens_details": {"reasoning_tokens": say.reasoning_tokens},
        "total_tokens": say.input_tokens + say.output_tokens,
    }


def _stream_reasoning(events: _Events, place: int, item: Item) -> Iterator[bytes]:
    where = {"item_id": item["id"], "output_index": place, "summary_index": 0}
    text = item["summary"][0]["text"]
    bare: Item = {"type": "reasoning", "id": item["id"], "summary": []}
    empty, full = {"type": "summary_text", "text": ""}, {"type": "summary_text", "text": text}
    yield events.frame("response.output_item.added", output_index=place, item=bare)
    yield events.frame("response.reasoning_summary_part.added", **where, part=empty)
    for piece in words(text):
        yield events.frame("response.reasoning_summary_text.delta", **where, delta=piece)
    yield events.frame("response.reasoning_summary_text.done", **where, text=text)
    yield events.frame("response.reasoning_summary_part.done", **where, part=full)
    yield events.frame("response.output_item.done", output_index=place, item=item)


def _stream_message(events: _Events, place: int, item: Item) -> Iterator[bytes]:
    where = {"item_id": item["id"], "output_index": place, "content_index": 0}
    part = item["content"][0]
    name = "text" if part["type"] == "output_text" else "refusal"
    kind = f"response.{part['type']}"
    more: Item = {"logprobs": []} if name == "text" else {}
    yield events.frame(
        "response.output_item.added", output_index=place, item={**item, "status": "in_progress", "content": []}
    )
    yield events.frame("response.content_part.added", **where, part={**part, name: ""})
    for piece in words(part[name]):
        yield events.frame(f"{kind}.delta", **where, delta=piece, **more)
    yield events.frame(f"{kind}.done", **where, **{name: part[name]}, **more)
    yield events.frame("response.content_part.done", **where, part=part)
    yield events.frame("response.output_item.done", output_index=place, item=item)


def _stream_call(events: _Events, place: int, item: Item) -> Iterator[bytes]:
    where = {"item_id": item["id"], "output_index": place}
    begun = {**item, "arguments": "", "status": "in_progress"}
    yield events.frame("response.output_item.added", output_index=place, item=begun)
    for piece in halves(item["arguments"]):
        yield events.frame("response.function_call_arguments.delta", **where, delta=piece)
    yield events.frame("response.function_call_arguments.done", **where, arguments=item["arguments"])
    yield events.frame("response.output_item.done", output_index=place, item=item)


_WRITERS = {"reasoning": _stream_reasoning, "message": _stream_message, "function_call": _stream_call}
