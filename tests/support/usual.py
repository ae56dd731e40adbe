"""Usual answers of each dialect as their vendors send them."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["ANSWERS"]

ARGUMENTS: dict[str, Any] = {
    "city": "Oslo, \u201cold town\u201d",
    "at": "12:30",
    "filter": {"days": 3, "hourly": None, "k": [1.5, {}]},
}
CALL_IDS = ("call_1", "call_2")
CHAT_USAGE = {
    "prompt_tokens": 9,
    "completion_tokens": 12,
    "total_tokens": 21,
    "prompt_tokens_details": {"cached_tokens": 3, "audio_tokens": 0},
    "completion_tokens_details": {
        "reasoning_tokens": 2,
        "audio_tokens": 0,
        "accepted_prediction_tokens": 0,
        "rejected_prediction_tokens": 0,
    },
}


def _chat(message: dict[str, Any], finish: str) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": None, **message, "refusal": None, "annotations": []}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_795_000_000,
        "model": "model-1",
        "choices": [{"index": 0, "message": said, "logprobs": None, "finish_reason": finish}],
        "usage": CHAT_USAGE,
        "service_tier": "default",
        "system_fingerprint": "fp_1",
    }


def _chat_calls() -> list[dict[str, Any]]:
    function = {"name": "look", "arguments": json.dumps(ARGUMENTS)}
    return [{"id": name, "type": "function", "function": function} for name in CALL_IDS]


def _messages(content: list[dict[str, Any]], reason: str, sequence: str | None = None) -> dict[str, Any]:
    usage = {
        "input_tokens": 9,
        "cache_creation_input_tokens": 2,
        "cache_read_input_tokens": 3,
        "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 0},
        "output_tokens": 12,
        "service_tier": "standard",
        "inference_geo": "global",
    }
    return {
        "model": "model-1",
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": reason,
        "stop_sequence": sequence,
        "stop_details": None,
        "usage": usage,
    }


def _tool_uses() -> list[dict[str, Any]]:
    use: dict[str, Any] = {"type": "tool_use", "name": "look", "input": ARGUMENTS}
    return [{**use, "id": name} for name in CALL_IDS]


def _converse_calls() -> list[dict[str, Any]]:
    return [{"toolUse": {"toolUseId": name, "name": "look", "input": ARGUMENTS}} for name in CALL_IDS]


def _candidate(parts: list[dict[str, Any]], reason: str) -> dict[str, Any]:
    usage = {
        "promptTokenCount": 9,
        "candidatesTokenCount": 10,
        "thoughtsTokenCount": 2,
        "totalTokenCount": 21,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 9}],
        "serviceTier": "standard",
        "trafficType": "ON_DEMAND",
    }
    content = {"parts": parts, "role": "model"}
    return {
        "candidates": [{"content": content, "finishReason": reason, "index": 0, "avgLogprobs": -0.25}],
        "usageMetadata": usage,
        "modelVersion": "model-1",
        "createTime": "2026-11-22T08:00:00Z",
        "responseId": "r1",
    }


def _function_calls() -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = [{"id": name, "name": "look", "args": ARGUMENTS} for name in ("fc-1", "call_2")]
    return [{"functionCall": call, "thoughtSignature": "c2ln"} for call in calls]


def _converse(content: list[dict[str, Any]], reason: str) -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": reason,
        "usage": {"inputTokens": 7, "outputTokens": 12, "totalTokens": 21, "cacheReadInputTokens": 2},
        "metrics": {"latencyMs": 900},
    }


def _cohere(message: dict[str, Any], reason: str) -> dict[str, Any]:
    tokens = {"input_tokens": 9, "output_tokens": 12}
    return {
        "id": "c-1",
        "message": {"role": "assistant", **message},
        "finish_reason": reason,
        "usage": {"billed_units": tokens, "tokens": tokens, "cached_tokens": 2},
    }


def _line(message: dict[str, Any], reason: str) -> dict[str, Any]:
    counts = {"prompt_eval_count": 9, "prompt_eval_duration": 4, "eval_count": 12, "eval_duration": 5}
    return {
        "model": "model-1",
        "created_at": "2026-11-22T08:00:00Z",
        "message": {"role": "assistant", **message},
        "done": True,
        "done_reason": reason,
        "total_duration": 9,
        "load_duration": 1,
        **counts,
    }


def _line_calls() -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = [{"index": place, "name": "look", "arguments": ARGUMENTS} for place in range(2)]
    return [{"id": CALL_IDS[place], "function": call} for place, call in enumerate(calls)]


def _responses(*items: dict[str, Any]) -> dict[str, Any]:
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 0},
        "output_tokens": 12,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 21,
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_795_000_000,
        "status": "completed",
        "background": False,
        "billing": {"payer": "developer"},
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": 100,
        "model": "model-1",
        "output": list(items),
        "parallel_tool_calls": True,
        "reasoning": {"effort": "low", "summary": None},
        "service_tier": "default",
        "store": False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 0.98,
        "usage": usage,
        "metadata": {},
    }


def _said(text: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}


def _items() -> list[dict[str, Any]]:
    call = {"type": "function_call", "status": "completed", "name": "look", "arguments": json.dumps(ARGUMENTS)}
    return [{**call, "id": f"fc_{name}", "call_id": name} for name in CALL_IDS]


def _unified(parts: list[dict[str, Any]], reason: str, views: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    counts = {"input_tokens": 9, "output_tokens": 12, "cache_read_tokens": 3, "extra": {"x": {"y": 1}}}
    change: dict[str, Any] = {"action": "dropped", "code": "seal_foreign", "path": "/parts/0/sealed"}
    return {
        "id": "r1",
        "model": "model-1",
        "wire_model": "gpt-1",
        "text": "It is",
        "tool_calls": views,
        "parts": parts,
        "finish_reason": reason,
        "finish_reason_raw": "end",
        "usage": counts,
        "changes": [change],
        "attempts": [{"model": "p/m", "outcome": "served", "duration_s": 0.5}],
        "cost_usd": 0.25,
        "extra": {"openai-chat": {"service_tier": "default"}},
    }


def _views() -> list[dict[str, Any]]:
    return [{"id": name, "name": "look", "arguments": ARGUMENTS} for name in CALL_IDS]


def _parts() -> list[dict[str, Any]]:
    return [{"type": "tool_call", **view} for view in _views()]


ANSWERS: dict[str, tuple[dict[str, Any], ...]] = {
    "openai-chat": (
        _chat({"content": "It is mild \U0001f326."}, "stop"),
        _chat({"content": "It is", "reasoning_content": "Hm."}, "length"),
        _chat({"content": "Looking.", "tool_calls": _chat_calls()}, "tool_calls"),
    ),
    "anthropic": (
        _messages([{"type": "text", "text": "It is mild \U0001f326."}], "end_turn"),
        _messages([{"type": "text", "text": "It is"}], "stop_sequence", "mild"),
        _messages(
            [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, {"type": "text", "text": "Looking."}],
            "max_tokens",
        ),
        _messages([{"type": "text", "text": "Looking."}, *_tool_uses()], "tool_use"),
    ),
    "google": (
        _candidate([{"text": "It is mild \U0001f326."}], "STOP"),
        _candidate([{"text": "Hm.", "thought": True}, {"text": "It is", "thoughtSignature": "c2ln"}], "MAX_TOKENS"),
        _candidate([{"text": "Looking."}, *_function_calls()], "STOP"),
    ),
    "ollama": (
        _line({"content": "It is mild \U0001f326."}, "stop"),
        _line({"content": "It is", "thinking": "Hm."}, "length"),
        _line({"content": "", "tool_calls": _line_calls()}, "stop"),
    ),
    "cohere": (
        _cohere({"content": [{"type": "text", "text": "It is mild \U0001f326."}]}, "COMPLETE"),
        _cohere(
            {"content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "It is"}]}, "MAX_TOKENS"
        ),
        _cohere({"tool_plan": "Looking.", "tool_calls": _chat_calls()}, "TOOL_CALL"),
    ),
    "bedrock": (
        _converse([{"text": "It is mild \U0001f326."}], "end_turn"),
        _converse(
            [{"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}}, {"text": "It is"}],
            "max_tokens",
        ),
        _converse([{"text": "Looking."}, *_converse_calls()], "tool_use"),
    ),
    "openai-responses": (
        _responses(_said("It is mild \U0001f326.")),
        _responses(
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"},
            {"type": "reasoning", "id": "rs_2", "summary": [{"type": "summary_text", "text": "Hm."}], "status": None},
            _said("It is"),
        ),
        _responses(_said("Looking."), *_items()),
    ),
    "unified": (
        _unified([{"type": "text", "text": "It is mild \U0001f326."}], "stop"),
        _unified([{"type": "thinking", "text": "Hm."}, {"type": "text", "text": "It is"}], "length"),
        _unified([{"type": "text", "text": "Looking."}, *_parts()], "tool_calls", _views()),
    ),
}
"""Bodies of usual answers, by dialect."""
