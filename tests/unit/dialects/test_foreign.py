"""What an answer says beside its content, told in another dialect: an entry only for what somebody could miss."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, EncodeOptions, ServerContext, Target
from interlingua.dialects._foreign import adopt_answer, note_foreign
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.stream.unfold import unfold
from interlingua.types.change import Change, Changes
from interlingua.types.content import TextPart
from interlingua.types.message import user
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply
from tests.support.cells import cells

RESPONSES: dict[str, Any] = {
    "id": "r1",
    "object": "response",
    "created_at": 1,
    "completed_at": 2,
    "model": "gpt-6",
    "status": "completed",
    "instructions": "Be brief.",
    "temperature": 1.0,
    "top_p": 1.0,
    "truncation": "disabled",
    "service_tier": "default",
    "text": {"format": {"type": "text"}},
    "reasoning": {"effort": "low", "summary": None},
    "output": [
        {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]},
    ],
}
CHAT: dict[str, Any] = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-6",
    "service_tier": "default",
    "system_fingerprint": "fp_1",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
}


REPEATED = (
    "background", "billing", "completed_at", "created_at", "frequency_penalty", "input", "instructions", "item",
    "max_output_tokens", "max_tool_calls", "metadata", "object", "parallel_tool_calls", "presence_penalty",
    "previous_response_id", "prompt", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention",
    "reasoning", "safety_identifier", "store", "system_fingerprint", "temperature", "text", "tool_choice",
    "tool_usage", "tools", "top_logprobs", "top_p", "total_tokens", "truncation", "user",
)  # fmt: skip
"""Members of an answer of Responses that repeat its request, or say when and where it was served."""


def codes(source: str, body: dict[str, Any], target: str) -> list[str]:
    """The entries for members that telling an answer in another dialect left out."""
    reply = HttpReply(status=200, body=json.dumps(body).encode())
    response = get_dialect(source).decode_response(reply, DecodeContext())
    changes: list[Change] = []
    get_dialect(target).encode_response(response, ServerContext(source=source, changes=changes))
    return [f"{change.code} {change.path}" for change in changes if change.code == "extra_foreign"]


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "google", "ollama", "cohere"])
def test_an_answer_of_responses_brings_no_entry_for_what_repeats_the_request(target: str) -> None:
    """Every real answer repeats its request."""
    assert codes("openai-responses", RESPONSES, target) == []


@cells("name", REPEATED)
def test_no_member_that_repeats_the_request_brings_an_entry(name: str) -> None:
    """Each by itself, in the answer as it is read; one that is not among them has its entry."""
    for extra, found in (({name: "x"}, []), ({name: "x", f"{name}_2": "x"}, ["extra_foreign"])):
        response = Response[Any](parts=(TextPart("Hi"),), finish_reason="stop", extra={"openai-responses": extra})
        changes = Changes("openai-chat", "encode_response")
        adopt_answer(response, changes)
        assert [change.code for change in changes.entries] == found


@pytest.mark.parametrize("target", ["openai-responses", "anthropic", "google", "ollama", "cohere"])
def test_an_answer_of_chat_brings_no_entry_for_its_time_and_build(target: str) -> None:
    """They say nothing about the answer."""
    assert codes("openai-chat", CHAT, target) == []


def test_what_somebody_could_miss_has_its_entry() -> None:
    """The conversation that goes on at the provider, and the timings of a local server."""
    kept = {**RESPONSES, "conversation": {"id": "conv_1"}}
    assert codes("openai-responses", kept, "openai-chat") == ["extra_foreign /extra/openai-responses"]
    timed = {**CHAT, "timings": {"prompt_ms": 1}}
    assert codes("openai-chat", timed, "ollama") == ["extra_foreign /extra/openai-chat"]


GOOGLE: dict[str, Any] = {
    "candidates": [
        {
            "content": {"role": "model", "parts": [{"text": "Hi"}]},
            "finishReason": "STOP",
            "index": 0,
            "avgLogprobs": -0.1,
            "safetyRatings": [],
        }
    ],
    "createTime": "2025-12-19T23:45:36.565494Z",
    "modelVersion": "gemini-3",
}
OLLAMA: dict[str, Any] = {
    "model": "qwen3",
    "created_at": "2026-08-07T06:08:14.73237Z",
    "message": {"role": "assistant", "content": "Hi"},
    "done": True,
    "done_reason": "stop",
    "total_duration": 3,
    "load_duration": 1,
    "prompt_eval_count": 5,
    "prompt_eval_duration": 1,
    "eval_count": 2,
    "eval_duration": 1,
}
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}, "caller": {"type": "direct"}}],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "context_management": {"applied_edits": []},
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
ROUTED: dict[str, Any] = {
    **CHAT,
    "provider": "OpenAI",
    "usage_breakdown": None,
    "x_groq": {"id": "req_1"},
    "choices": [{**CHAT["choices"][0], "native_finish_reason": "completed", "logprobs": None}],
}
ANSWERS = {"google": GOOGLE, "ollama": OLLAMA, "anthropic": MESSAGE, "openai-chat": ROUTED}
"""Dialect -> an answer with the members that its servers add to every one."""


@cells("source", ANSWERS)
@cells("target", ["openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "unified"])
def test_what_every_answer_has_brings_no_entry(source: str, target: str) -> None:
    """Times, names of servers, empty lists and calls that the model made itself: nobody misses them."""
    assert source == target or codes(source, ANSWERS[source], target) == []


@pytest.mark.parametrize(
    ("source", "members"),
    [
        (
            "google",
            {"candidates": [{**GOOGLE["candidates"][0], "safetyRatings": [{"category": "C", "blocked": True}]}]},
        ),
        ("ollama", {"context": [1, 2]}),
        ("anthropic", {"context_management": {"applied_edits": [{"type": "clear_thinking_20251015"}]}}),
        ("openai-chat", {"citations": ["https://a.example"]}),
    ],
)
def test_what_could_be_missed_has_an_entry(source: str, members: dict[str, Any]) -> None:
    """Beside members that nobody misses, too."""
    target = "ollama" if source == "openai-chat" else "openai-chat"
    assert codes(source, {**ANSWERS[source], **members}, target) == [f"extra_foreign /extra/{source}"]


USAGES: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12, "prompt_cache_hit_tokens": 4,
        "prompt_cache_miss_tokens": 5, "queue_time": 0.1, "total_time": 0.2, "cost": 0.01, "is_byok": False,
        "cost_details": {"upstream_inference_cost": 0.01}, "server_tool_use_details": {"web_search_requests": 0},
        "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": 0, "text_tokens": 9},
        "completion_tokens_details": {"accepted_prediction_tokens": 0, "audio_tokens": 0, "reasoning_tokens": 1},
    },
    "anthropic": {
        "input_tokens": 9, "output_tokens": 3, "service_tier": "standard", "inference_geo": "global",
        "cache_creation_input_tokens": 4, "cache_creation": {"ephemeral_5m_input_tokens": 4},
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
    },
    "google": {
        "promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 14, "toolUsePromptTokenCount": 2,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 9}], "trafficType": "ON_DEMAND",
        "candidatesTokensDetails": [{"modality": "TEXT", "tokenCount": 3}], "serviceTier": "standard",
    },
    "cohere": {
        "billed_units": {"input_tokens": 9, "output_tokens": 3}, "tokens": {"input_tokens": 9, "output_tokens": 3},
    },
    "bedrock": {
        "inputTokens": 9, "outputTokens": 3, "totalTokens": 16, "cacheReadInputTokens": 4,
        "cacheReadInputTokenCount": 4, "cacheDetails": [{"ttl": "5m", "inputTokens": 4}],
    },
    "openai-responses": {
        "input_tokens": 9, "output_tokens": 3, "total_tokens": 12, "num_sources_used": 0, "cost_in_usd_ticks": 7,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
    },
}  # fmt: skip
"""Dialect -> the counts of an ordinary answer, with the members that servers of it add to them."""
COUNTED: dict[str, dict[str, Any]] = {
    "openai-chat": CHAT,
    "anthropic": MESSAGE,
    "google": GOOGLE,
    "cohere": {
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]},
        "finish_reason": "COMPLETE",
    },
    "bedrock": {"output": {"message": {"role": "assistant", "content": [{"text": "Hi"}]}}, "stopReason": "end_turn"},
    "openai-responses": RESPONSES,
}
TARGETS = ("openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere", "bedrock", "unified")


def counted(source: str, **members: Any) -> dict[str, Any]:
    """An answer with its counts, and further members beside them."""
    return {**COUNTED[source], "usageMetadata" if source == "google" else "usage": {**USAGES[source], **members}}


@cells("source", USAGES)
@cells("target", TARGETS)
def test_counts_that_every_answer_has_bring_no_entry(source: str, target: str) -> None:
    """Shares of other counts, times, prices, zeros, and the tier that everybody gets: nobody misses them."""
    assert source == target or codes(source, counted(source), target) == []


@cells(
    ("source", "members", "detail"),
    [
        ("openai-chat", {"prompt_tokens_details": {"audio_tokens": 7}}, "prompt_tokens_details.audio_tokens"),
        ("openai-chat", {"num_search_queries": 2}, "num_search_queries"),
        ("openai-chat", {"service_tier": "flex"}, "service_tier"),
        ("openai-responses", {"num_server_side_tools_used": 1}, "num_server_side_tools_used"),
        ("anthropic", {"server_tool_use": {"web_search_requests": 3}}, "server_tool_use.web_search_requests"),
        ("anthropic", {"service_tier": "priority"}, "service_tier"),
        ("anthropic", {"iterations": [{"input_tokens": 9}]}, "iterations"),
        ("google", {"trafficType": "ON_DEMAND_FLEX"}, "trafficType"),
        ("google", {"serviceTier": "flex", "x_odd": 1}, "serviceTier, x_odd"),
        ("cohere", {"x_odd": 1}, "x_odd"),
        ("bedrock", {"x_odd": {"a": {"b": 1}}}, "x_odd.a"),
    ],
)
@cells("target", TARGETS)
def test_counts_that_could_be_missed_have_an_entry(
    source: str, members: dict[str, Any], detail: str, target: str
) -> None:
    """Uses of the provider's tools, sound and another tier have a price: the entry names them, whole and streamed."""
    if target in (source, "unified"):
        return
    body = json.dumps(counted(source, **members)).encode()
    response = get_dialect(source).decode_response(HttpReply(status=200, body=body), DecodeContext())
    changes: list[Change] = []
    context = ServerContext(source=source, changes=changes)
    get_dialect(target).encode_response(response, context)
    encoder = get_dialect(target).stream_encoder(context)
    for event in unfold(response):
        encoder.encode(event)
    noted = [(change.path, change.detail) for change in changes if change.code == "extra_foreign"]
    assert noted == [(f"/usage/extra/{source}", detail)] * 2


@cells(
    ("source", "member", "usual"),
    [
        ("openai-chat", {"service_tier": "priority"}, {"service_tier": "auto"}),
        ("openai-responses", {"service_tier": "flex"}, {"service_tier": "default"}),
        ("bedrock", {"serviceTier": {"type": "flex"}}, {"serviceTier": {"type": "default"}}),
    ],
)
@cells("target", TARGETS)
def test_the_tier_of_an_answer_has_an_entry_where_it_is_not_the_usual_one(
    source: str, member: dict[str, Any], usual: dict[str, Any], target: str
) -> None:
    """What was asked for may not be what was got."""
    if target in (source, "unified"):
        return
    assert codes(source, {**COUNTED[source], **member}, target) == [f"extra_foreign /extra/{source}"]
    assert codes(source, {**COUNTED[source], **usual}, target) == []


@cells("name", sorted({"choice", "candidate", "message"}))
def test_a_member_with_the_name_of_one_that_holds_others_is_noted_whatever_it_holds(name: str) -> None:
    """A text under it broke the writers of all other dialects."""
    for value in ("end_turn", 5, ["x"]):
        answer = Response(parts=(TextPart("Hi"),), finish_reason="stop", extra={"anthropic": {name: value}})
        for dialect in sorted(DIALECTS.keys() - {"anthropic", "unified"}):
            changes = Changes(dialect, "encode_response")
            adopt_answer(answer, changes)
            assert [(entry.code, entry.path) for entry in changes.entries] == [("extra_foreign", "/extra/anthropic")]


@pytest.mark.parametrize("target", ["openai-responses", "anthropic", "google", "ollama", "cohere", "bedrock"])
def test_the_entry_of_a_request_names_the_members_that_are_left_out(target: str) -> None:
    """It named the dialect alone: nobody could tell which of their members the model never saw."""
    request = Request(messages=(user("Hi"),), extra={"openai-chat": {"prediction": {}, "modalities": ["audio"]}})
    encoded = get_dialect(target).encode_request(request, EncodeOptions(target=Target(model="m")))
    details = [change.detail for change in encoded.changes if change.code == "extra_foreign"]
    assert details == ["prediction, modalities"]


def test_the_entry_of_an_answer_names_the_members_that_could_be_missed() -> None:
    """Not those beside them that nobody misses; of a candidate's with where they stand."""
    candidate = {**GOOGLE["candidates"][0], "safetyRatings": [{"category": "C"}], "urlContextMetadata": {"a": 1}}
    body = {**GOOGLE, "candidates": [candidate], "promptFeedback": {"a": 1}}
    response = get_dialect("google").decode_response(
        HttpReply(status=200, body=json.dumps(body).encode()), DecodeContext()
    )
    changes: list[Change] = []
    get_dialect("anthropic").encode_response(response, ServerContext(source="google", changes=changes))
    (detail,) = [change.detail for change in changes if change.code == "extra_foreign"]
    assert sorted(detail.split(", ")) == ["candidate.safetyRatings", "candidate.urlContextMetadata", "promptFeedback"]


def test_of_many_members_the_first_are_named_and_the_others_counted() -> None:
    """However long a client makes them."""
    changes = Changes("anthropic", "encode_request")
    note_foreign(changes, {"google": {f"{'n' * 99}{number}": 1 for number in range(20)}}, "/tools/0")
    (entry,) = changes.entries
    assert entry.detail.endswith(", 12 more")
    assert len(entry.detail) < 600


def test_log_probabilities_that_have_a_place_hide_no_other_member() -> None:
    """Of a text of Responses told in Chat they are moved and not missed; what stands beside them is."""
    tokens = [{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}]
    for extra, details in (
        ({"openai-responses": {"logprobs": tokens}}, []),
        ({"openai-responses": {"logprobs": tokens, "phase": "x"}}, ["phase"]),
        ({"openai-responses": {"logprobs": tokens}, "anthropic": {"y": 2}}, ["y"]),
    ):
        changes = Changes("openai-chat", "encode_response")
        note_foreign(changes, extra, "/parts/0")
        assert [change.detail for change in changes.entries] == details
