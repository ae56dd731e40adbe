"""Call ids on the way through a bridge: kept or our own, fitted to each target, and undone both ways."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua import codec
from interlingua.dialects._contract import EncodeOptions, Quirks, Target
from interlingua.dialects._members import is_object
from interlingua.dialects.table import get_dialect
from interlingua.types.content import ToolCall, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request

OWN = re.compile(r"call_[a-z0-9]{24}")
ASKED = [{"role": "user", "content": "Hi"}]
CLAUDE = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
    "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip


def claude(*calls: tuple[str, str]) -> dict[str, Any]:
    """An answer of Anthropic with these calls, each an id and a name."""
    return {**CLAUDE, "content": [{"type": "tool_use", "id": call, "name": name, "input": {}} for call, name in calls]}


def claude_stream(call: str) -> bytes:
    """The stream of an answer with one call."""
    block: dict[str, Any] = {"type": "tool_use", "id": call, "name": "f", "input": {}}
    told: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**CLAUDE, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": {}},
        {"type": "message_stop"},
    ]
    return b"".join([b"data: " + json.dumps(one).encode() + b"\n\n" for one in told])


def turn(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The history after a client has answered the calls of `message`."""
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "4"} for call in message["tool_calls"]]
    return [*ASKED, message, *results]


def pairs(body: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The ids of calls and of results in a request of Anthropic."""
    blocks: list[Any] = [block for message in body["messages"] for block in message["content"] if is_object(block)]
    return [b["id"] for b in blocks if b["type"] == "tool_use"], [
        b["tool_use_id"] for b in blocks if b["type"] == "tool_result"
    ]


def test_kept_ids_are_the_providers_own() -> None:
    """The default: `toolu_…` reaches the client and comes back."""
    road = codec.bridge("openai-chat", "anthropic", model="claude-opus-5")
    road.request({"model": "m", "messages": ASKED})
    message = road.response(claude(("toolu_1", "f"), ("toolu_2", "f")))["choices"][0]["message"]
    assert [call["id"] for call in message["tool_calls"]] == ["toolu_1", "toolu_2"]
    assert pairs(road.request({"model": "m", "messages": turn(message)})) == (["toolu_1", "toolu_2"],) * 2


def test_own_ids_are_undone_for_the_provider() -> None:
    """The client sees ids of one form; the provider gets its own back, in the call and in the result."""
    road = codec.bridge("openai-chat", "anthropic", model="claude-opus-5", call_ids="own")
    road.request({"model": "m", "messages": ASKED})
    message = road.response(claude(("toolu_1", "f"), ("toolu_2", "f")))["choices"][0]["message"]
    own = [call["id"] for call in message["tool_calls"]]
    assert len({*own}) == 2
    assert all(OWN.fullmatch(call) for call in own)
    assert pairs(road.request({"model": "m", "messages": turn(message)})) == (["toolu_1", "toolu_2"],) * 2


def test_own_ids_of_a_stream_are_undone_too() -> None:
    """The same in the events of a stream."""
    road = codec.bridge("openai-chat", "anthropic", model="claude-opus-5", call_ids="own")
    road.request({"model": "m", "messages": ASKED, "stream": True})
    told = b"".join(road.stream([claude_stream("toolu_9")]))
    chunks = [json.loads(line[6:]) for line in told.splitlines() if line.startswith(b"data: {")]
    [call] = [call for chunk in chunks for call in chunk["choices"][0]["delta"].get("tool_calls", ()) if "id" in call]
    assert OWN.fullmatch(call["id"])
    message = {"role": "assistant", "content": None, "tool_calls": [{**call, "index": 0}]}
    message["tool_calls"] = [{**call, "function": {"name": "f", "arguments": "{}"}}]
    assert pairs(road.request({"model": "m", "messages": turn(message)})) == (["toolu_9"], ["toolu_9"])


def test_a_provider_that_begins_its_ids_anew_has_different_calls_all_the_same() -> None:
    """The id of the first turn goes back as it came, the same one of the second turn as ours (ID-09)."""
    road = codec.bridge("openai-chat", "anthropic", model="claude-opus-5", call_ids="own")
    road.request({"model": "m", "messages": ASKED})
    first = turn(road.response(claude(("tool_0", "f")))["choices"][0]["message"])
    road.request({"model": "m", "messages": first})
    second = road.response(claude(("tool_0", "f")))["choices"][0]["message"]
    calls, results = pairs(road.request({"model": "m", "messages": [*first, *turn(second)[1:]]}))
    assert calls == results
    assert calls[0] == "tool_0"
    assert OWN.fullmatch(calls[1])


@pytest.mark.parametrize("policy", ["keep", "own"])
def test_ids_that_a_bridge_has_never_seen_go_through(policy: Any) -> None:
    """A client may bring a conversation along."""
    road = codec.bridge("openai-chat", "anthropic", model="claude-opus-5", call_ids=policy)
    call = {"id": "call_abc", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert pairs(road.request({"model": "m", "messages": turn(message)})) == (["call_abc"], ["call_abc"])


RULES: dict[str, tuple[str, Quirks, re.Pattern[str]]] = {
    "mistral": ("openai-chat", Quirks(call_id_rule="alnum9"), re.compile(r"[a-zA-Z0-9]{9}")),
    "openai chat": ("openai-chat", Quirks(call_id_rule="max40"), re.compile(r"(?s:.){1,40}")),
    "responses": ("openai-responses", Quirks(call_id_rule="max40"), re.compile(r"(?s:.){1,40}")),
    "anthropic": ("anthropic", Quirks(), re.compile(r"[a-zA-Z0-9_-]+")),
}
IDS = st.lists(
    st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=60).filter(str.strip)
    | st.sampled_from(["a.b", "a:b", "a_b", "call_" + "x" * 46, "toolu_01", "Qw3rTy7uI", "functions.f:0"]),
    min_size=1,
    max_size=6,
    unique=True,
)


def history(ids: list[str]) -> tuple[Message, ...]:
    """A conversation that calls with each of these ids and answers them, one turn each."""
    told: list[Message] = [user("Hi")]
    for call in ids:
        told += [assistant(ToolCall(call, "f", "{}")), Message("tool", (ToolResult(call, "f", "4"),))]
    return tuple(told)


def wire_ids(dialect: str, target: Target, messages: tuple[Message, ...]) -> tuple[list[str], list[str]]:
    """The ids of calls and results on the wire, in order."""
    encoded = get_dialect(dialect).encode_request(
        Request(messages=messages, max_tokens=9), EncodeOptions(target=target)
    )
    body = json.loads(encoded.body)
    if dialect == "anthropic":
        return pairs(body)
    if dialect == "openai-responses":
        kinds = ("function_call", "function_call_output")
        first, second = ([item["call_id"] for item in body["input"] if item.get("type") == kind] for kind in kinds)
        return first, second
    calls = [call["id"] for message in body["messages"] for call in message.get("tool_calls", ())]
    return calls, [message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"]


@pytest.mark.parametrize("rule", RULES)
@given(ids=IDS)
def test_ids_are_legal_injective_repeatable_and_paired(rule: str, ids: list[str]) -> None:
    """Whatever ids another provider made: each target gets its own form of them, two never become one."""
    dialect, quirks, legal = RULES[rule]
    target = Target(model="m", quirks=quirks)
    calls, results = wire_ids(dialect, target, history(ids))
    assert calls == results
    assert len(set(calls)) == len(ids)
    assert all(legal.fullmatch(call) for call in calls)
    assert wire_ids(dialect, target, history(ids)) == (calls, results)


@pytest.mark.parametrize("rule", RULES)
@given(ids=IDS)
def test_a_further_turn_changes_no_earlier_id(rule: str, ids: list[str]) -> None:
    """So that prompt caches hit."""
    dialect, quirks, _ = RULES[rule]
    target = Target(model="m", quirks=quirks)
    calls, _ = wire_ids(dialect, target, history(ids))
    before, _ = wire_ids(dialect, target, history(ids[:-1]))
    assert calls[: len(before)] == before
