"""Thinking, effort and budgets, in requests and answers: each test feeds what broke somebody."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, ServerContext, Target
from interlingua.dialects.anthropic.thinking import DEFAULT_MAX_TOKENS
from interlingua.stream.unfold import unfold
from interlingua.types.content import Sealed, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.usage import Usage
from tests.support.messages import (
    NAME,
    START,
    block,
    codes,
    decode,
    encode,
    encode_reply,
    encode_stream,
    ended,
    known,
    parts,
    reply,
    streamed,
    wire,
)

HI = (user("Hi"),)
FROM = DecodeContext(target=Target(model="claude-x", provider="anthropic"))
SIGNED = Sealed(NAME, {"signature": "sig"}, "anthropic", "claude-x")
REDACTED = Sealed(NAME, {"data": "ZW5j"}, "anthropic", "claude-x")
THINKING = '{"type":"thinking","thinking":"Hm.","signature":"sig"}'
SECRET = '{"type":"redacted_thinking","data":"ZW5j"}'
CALL = ToolCall("a", "f", "{}")
RESULT = Message("tool", (ToolResult("a", "f", "4"),))
TARGET = Target(model="claude-x", provider="anthropic")


def replayed(*said: Any, target: Target | None = None) -> Any:
    """The blocks of an assistant turn that called a tool, and the codes of its changes."""
    encoded = encode(Request(messages=(user("Hi"), assistant(*said), RESULT), max_tokens=9), target or TARGET)
    return json.loads(encoded.body)["messages"][1]["content"], codes(encoded.changes)


def asked(target: Target | None = None, **fields: Any) -> tuple[Any, list[str]]:
    """The body of a request without a conversation to speak of, and the codes of its changes."""
    given: dict[str, Any] = {"max_tokens": 9_000, **fields}
    encoded = encode(Request(messages=HI, **given), target)
    return json.loads(encoded.body), codes(encoded.changes)


def test_thk_01_thinking_goes_back_first_and_unchanged() -> None:
    """The very blocks, in their order, before the call."""
    said = reply(
        f'[{THINKING},{SECRET},{{"type":"tool_use","id":"a","name":"f","input":{{}}}}]', "tool_use", context=FROM
    )
    assert said.parts == (ThinkingPart("Hm.", SIGNED), ThinkingPart("", REDACTED), CALL)
    blocks, changed = replayed(*said.parts)
    assert blocks[:2] == [json.loads(THINKING), json.loads(SECRET)]
    assert changed == []


def test_thk_01_lost_thinking_turns_thinking_off_and_says_so() -> None:
    """The service refuses a call without its thinking while it thinks with a budget."""
    encoded = encode(Request(messages=(user("Hi"), assistant(CALL), RESULT), max_tokens=9_000, thinking_budget=2_000))
    assert "thinking" not in json.loads(encoded.body)
    assert codes(encoded.changes) == ["dropped parameter_unsupported /thinking_budget"]
    kept = Request(
        messages=(user("Hi"), assistant(ThinkingPart("Hm.", SIGNED), CALL), RESULT),
        max_tokens=9_000,
        thinking_budget=2_000,
    )
    assert wire(kept, TARGET)["thinking"] == {"type": "enabled", "budget_tokens": 2_000}


def test_thk_02_a_streamed_signature_is_kept_and_told_before_the_stop() -> None:
    """The last one counts; the block equals the whole one (THK-05)."""
    raw = START + block(
        0,
        '{"type":"thinking","thinking":"","signature":""}',
        '{"type":"thinking_delta","thinking":"H"}',
        '{"type":"thinking_delta","thinking":"m."}',
        '{"type":"signature_delta","signature":"old"}',
        '{"type":"signature_delta","signature":"sig"}',
    )
    said = streamed(raw + ended(), FROM)
    assert said.parts == (ThinkingPart("Hm.", SIGNED),) == reply(f"[{THINKING}]", context=FROM).parts
    types = [body.get("delta", body).get("type", "") for body in encode_stream(list(unfold(said)))]
    assert types[2:6] == ["content_block_start", "thinking_delta", "signature_delta", "content_block_stop"]


def test_thk_03_thinking_without_text_but_signed_is_kept() -> None:
    """`display: omitted` gives such blocks; they must go back."""
    hidden = '{"type":"thinking","thinking":"","signature":"sig"}'
    said = reply(f"[{hidden}]", context=FROM).parts
    assert said == (ThinkingPart("", SIGNED),)
    assert replayed(*said, CALL)[0][0] == json.loads(hidden)
    deltas = ('{"type":"signature_delta","signature":"sig"}',)
    assert (
        streamed(START + block(0, '{"type":"thinking","thinking":"","signature":""}', *deltas) + ended(), FROM).parts
        == said
    )


def test_thk_04_redacted_thinking_survives_every_trip() -> None:
    """Whole, streamed, to a client, and back."""
    said = streamed(START + block(0, SECRET) + ended(), FROM)
    assert said.parts == (ThinkingPart("", REDACTED),) == reply(f"[{SECRET}]", context=FROM).parts
    assert encode_reply(said)["content"] == [json.loads(SECRET)]
    starts = [body for body in encode_stream(list(unfold(said))) if body["type"] == "content_block_start"]
    assert [body["content_block"] for body in starts] == [json.loads(SECRET)]
    client = decode(
        {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": [json.loads(SECRET)]}]}
    )
    assert wire(client.request)["messages"][1]["content"] == [json.loads(SECRET)]


def test_thk_06_a_seal_is_byte_exact() -> None:
    """Whatever the bytes look like."""
    odd = '{"type":"thinking","thinking":"a\\u2028b\\t","signature":"a+/=\\u00e9"}'
    said = reply(f"[{odd}]", context=FROM).parts
    assert replayed(*said, CALL)[0][0] == json.loads(odd)


@pytest.mark.parametrize(
    "seal",
    [
        Sealed("google", {"thoughtSignature": "x"}),
        Sealed(NAME, {"signature": "sig"}, "other"),
        Sealed(NAME, {"signature": "sig"}, "anthropic", "claude-y"),
    ],
)
def test_r22_a_seal_goes_to_its_issuer_alone(seal: Sealed) -> None:
    """Another dialect's, provider's or model's is dropped, its text with it, and both are said."""
    blocks, changed = replayed(ThinkingPart("Hm.", seal), CALL)
    assert [block["type"] for block in blocks] == ["tool_use"]
    assert changed == [
        "dropped seal_foreign /messages/1/parts/0/sealed",
        "dropped thinking_unsupported /messages/1/parts/0",
    ]


def test_r22_a_seal_of_an_unknown_issuer_goes_back() -> None:
    """A client's body does not say who issued it."""
    assert replayed(ThinkingPart("Hm.", Sealed(NAME, {"signature": "sig"})), CALL)[0][0] == json.loads(THINKING)
    carried = known(seals_carry_over=True)
    seal = Sealed(NAME, {"signature": "sig"}, "anthropic", "claude-y")
    assert replayed(ThinkingPart("Hm.", seal), CALL, target=carried)[0][0] == json.loads(THINKING)


def test_seals_of_text_and_calls_are_foreign() -> None:
    """The wire has no place for them."""
    seal = Sealed("google", {"thoughtSignature": "x"})
    _, changed = replayed(TextPart("x", sealed=seal), ToolCall("a", "f", "{}", sealed=seal))
    assert changed == [
        "dropped seal_foreign /messages/1/parts/0/sealed",
        "dropped seal_foreign /messages/1/parts/1/sealed",
    ]


def test_thk_13_thinking_that_comes_again_with_its_signature_is_said_once() -> None:
    """Only the signature is new."""
    said = parts(
        block(
            0,
            '{"type":"thinking","thinking":"","signature":""}',
            '{"type":"thinking_delta","thinking":"Hm."}',
            '{"type":"thinking_delta","thinking":"Hm.","signature":"sig"}',
        )
    )
    assert said == (ThinkingPart("Hm.", Sealed(NAME, {"signature": "sig"})),)


def test_thk_14_thinking_of_others_is_shown_to_a_client_unsigned() -> None:
    """A client may see it; its empty signature is never sent to a service."""
    seal = Sealed("openai-responses", {"encrypted_content": "x"})
    entries: list[Any] = []
    shown = (ThinkingPart("Hm.", seal), ThinkingPart("", seal), TextPart("x"))
    said = Response(parts=shown, finish_reason="stop", usage=Usage(input_tokens=1, output_tokens=1))
    content = encode_reply(said, ServerContext(changes=entries))["content"]
    assert content[0] == {"type": "thinking", "thinking": "Hm.", "signature": ""}
    assert [block["type"] for block in content] == ["thinking", "text"]
    assert codes(entries) == ["dropped seal_foreign /parts/0/sealed", "dropped seal_foreign /parts/1/sealed"]
    back = decode({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": content}]}).request
    assert back.messages[1].parts == (ThinkingPart("Hm."), TextPart("x"))
    encoded = encode(back)
    assert [block["type"] for block in json.loads(encoded.body)["messages"][1]["content"]] == ["text"]
    assert codes(encoded.changes) == ["dropped thinking_unsupported /messages/1/parts/0"]


# What a request asks for


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ({"thinking": {"type": "enabled", "budget_tokens": 2048}}, {"thinking_budget": 2048}),
        ({"thinking": {"type": "adaptive"}}, {"thinking": True}),
        ({"thinking": {"type": "disabled"}}, {"thinking": False}),
        ({"thinking": {"type": "adaptive", "display": "summarized"}}, {"thinking": True, "thinking_summary": "auto"}),
        ({"thinking": {"type": "adaptive", "display": "omitted"}}, {"thinking": True, "thinking_summary": "none"}),
        ({"output_config": {"effort": "xhigh"}}, {"effort": "xhigh"}),
        ({"output_config": {"effort": "turbo"}}, {"extra": {NAME: {"output_config": {"effort": "turbo"}}}}),
        ({"output_config": {"budget": {"total": 1}}}, {"extra": {NAME: {"output_config": {"budget": {"total": 1}}}}}),
        ({"thinking": {"type": "between_tools"}}, {"extra": {NAME: {"thinking": {"type": "between_tools"}}}}),
        ({"thinking": {"type": "adaptive", "new": 1}}, {"thinking": True, "extra": {NAME: {"thinking": {"new": 1}}}}),
    ],
)  # fmt: skip
def test_every_form_of_thinking_is_read_and_written(given: Any, fields: Any) -> None:
    """Into its own fields, and back into the same members."""
    body = {"max_tokens": 4096, "messages": [{"role": "user", "content": "Hi"}], **given}
    found = decode(body).request
    assert found == Request(messages=HI, max_tokens=4096, **fields)
    assert {name: member for name, member in wire(found).items() if name in given} == given


def test_par_04_max_tokens_is_what_the_model_writes_at_most() -> None:
    """From the facts; without any, a documented default."""
    assert asked(known(max_output_tokens=64_000), max_tokens=None)[0]["max_tokens"] == 64_000
    body, changed = asked(max_tokens=None)
    assert body["max_tokens"] == DEFAULT_MAX_TOKENS
    assert changed == ["approximated parameter_added /max_tokens"]


def test_par_04_more_than_the_model_writes_is_cut() -> None:
    """The service would refuse it."""
    body, changed = asked(known(max_output_tokens=4_096), max_tokens=8_192)
    assert body["max_tokens"] == 4_096
    assert changed == ["approximated parameter_adjusted /max_tokens"]


@pytest.mark.parametrize(
    ("budget", "max_tokens", "sent"),
    [(100, 4_096, 1_024), (5_000, 4_096, 4_095), (2_048, 4_096, 2_048), (1_024, 1_025, 1_024)],
)
def test_par_05_a_budget_is_fitted(budget: int, max_tokens: int, sent: int) -> None:
    """At least 1,024 and less than `max_tokens`; the caller's own `max_tokens` stands (PAR-06)."""
    body, changed = asked(thinking_budget=budget, max_tokens=max_tokens)
    assert body["thinking"] == {"type": "enabled", "budget_tokens": sent}
    assert body["max_tokens"] == max_tokens
    assert changed == ([] if sent == budget else ["approximated parameter_adjusted /thinking_budget"])


def test_par_05_no_room_for_thinking_is_no_thinking() -> None:
    """1,024 tokens do not fit under 1,024."""
    body, changed = asked(thinking_budget=2_000, max_tokens=1_024)
    assert "thinking" not in body
    assert changed == ["dropped parameter_unsupported /thinking_budget"]


def test_par_07_budget_and_answer_stay_under_the_models_ceiling() -> None:
    """Nothing is added on top of it."""
    body, _ = asked(
        known(max_output_tokens=32_000, thinking=frozenset({"enabled"})), thinking_budget=32_000, max_tokens=None
    )
    assert body["max_tokens"] == 32_000
    assert body["thinking"]["budget_tokens"] == 31_999


ADJUSTED, DROPPED = "approximated parameter_adjusted", "dropped parameter_unsupported"
ADAPTIVE = {"type": "adaptive"}
ALWAYS, MANUAL = {"thinking": frozenset({"adaptive"})}, {"thinking": frozenset({"enabled"})}
MANUAL_ALONE: dict[str, Any] = {**MANUAL, "efforts": frozenset()}
THOUGHTLESS: dict[str, Any] = {"thinking": frozenset(), "efforts": frozenset()}


def budget(tokens: int) -> Any:
    """Thinking with a budget."""
    return {"type": "enabled", "budget_tokens": tokens}


@pytest.mark.parametrize(
    ("facts", "fields", "thinking", "effort", "changed"),
    [
        ({}, {"effort": "high"}, None, "high", ""),
        ({}, {"effort": "minimal"}, None, "low", f"{ADJUSTED} /effort"),
        ({}, {"effort": "none"}, {"type": "disabled"}, None, ""),
        ({}, {"thinking_budget": 0}, {"type": "disabled"}, None, ""),
        ({}, {"thinking_budget": -1}, ADAPTIVE, None, f"{ADJUSTED} /thinking_budget"),
        ({"efforts": frozenset({"low", "high"})}, {"effort": "max"}, None, "high", f"{ADJUSTED} /effort"),
        (ALWAYS, {"effort": "low"}, ADAPTIVE, "low", ""),
        (ALWAYS, {"thinking": False}, None, "low", f"{ADJUSTED} /thinking"),
        (ALWAYS, {"effort": "none"}, None, "low", f"{ADJUSTED} /effort"),
        (ALWAYS, {"thinking_budget": 2_000}, ADAPTIVE, None, f"{ADJUSTED} /thinking_budget"),
        (MANUAL_ALONE, {"effort": "low"}, budget(2_048), None, f"{ADJUSTED} /effort"),
        (MANUAL, {"thinking": True}, budget(8_192), None, f"{ADJUSTED} /thinking"),
        (THOUGHTLESS, {"effort": "low"}, None, None, f"{DROPPED} /effort"),
        (THOUGHTLESS, {"thinking": True}, None, None, f"{DROPPED} /thinking"),
        (THOUGHTLESS, {"thinking_budget": 2_000}, None, None, f"{DROPPED} /thinking_budget"),
        ({}, {"thinking_summary": "auto"}, None, None, f"{DROPPED} /thinking_summary"),
        ({}, {"thinking_summary": "none"}, None, None, ""),
    ],
)
def test_a_form_that_the_model_lacks_is_its_nearest_one(
    facts: Any, fields: Any, thinking: Any, effort: Any, changed: str
) -> None:
    """By the facts of its family, each with its entry."""
    body, found = asked(known(**facts), **fields)
    assert body.get("thinking") == thinking
    assert body.get("output_config", {}).get("effort") == effort
    assert found == ([changed] if changed else [])


def test_without_thinking_the_newest_models_take_no_effort_above_high() -> None:
    """Those without budgets; the effort gives way, since the caller switched thinking off."""
    newest = known(thinking=frozenset({"adaptive", "disabled"}))
    body, changed = asked(newest, thinking=False, effort="max")
    assert (body["thinking"], body["output_config"]) == ({"type": "disabled"}, {"effort": "high"})
    assert changed == [f"{ADJUSTED} /effort"]
    assert asked(newest, thinking=False, effort="medium")[1] == []
    older = known(thinking=frozenset({"adaptive", "enabled", "disabled"}))
    assert asked(older, thinking=False, effort="max")[0]["output_config"] == {"effort": "max"}


def test_interleaved_thinking_may_have_more_than_one_answer_has() -> None:
    """Its budget is that of the whole turn; the beta feature is the caller's own word."""
    extra = {NAME: {"betas": ["interleaved-thinking-2025-05-14"]}}
    body, changed = asked(thinking_budget=30_000, max_tokens=4_096, extra=extra)
    assert (body["max_tokens"], body["thinking"]) == (4_096, budget(30_000))
    assert changed == []
    assert asked(thinking_budget=9, max_tokens=500, extra=extra)[0]["thinking"] == budget(1_024)


def test_a_summary_is_shown_or_not() -> None:
    """The wire has two words for it."""
    assert asked(thinking=True, thinking_summary="auto")[0]["thinking"] == {**ADAPTIVE, "display": "summarized"}
    assert asked(thinking=True, thinking_summary="none")[0]["thinking"] == {**ADAPTIVE, "display": "omitted"}
    assert asked(thinking=True, thinking_summary="detailed")[1] == [f"{ADJUSTED} /thinking_summary"]


def test_sampling_is_clamped_and_gives_way_to_thinking() -> None:
    """1 is the highest; while thinking has a budget the service samples by itself."""
    assert asked(temperature=1.5) == (
        {"model": "claude-x", "max_tokens": 9_000, "temperature": 1.0,
         "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]},
        ["approximated parameter_adjusted /temperature"],
    )  # fmt: skip
    body, changed = asked(temperature=0.2, top_k=4, top_p=0.99, thinking_budget=2_000)
    assert body.keys() & {"temperature", "top_k", "top_p"} == {"top_p"}
    assert changed == ["dropped parameter_unsupported /temperature", "dropped parameter_unsupported /top_k"]


@pytest.mark.parametrize(
    ("facts", "left"),
    [({"sampling": False}, set[str]()), ({"sampling_pair": False}, {"temperature"}), ({}, {"temperature", "top_p"})],
)
def test_sampling_that_the_model_refuses_is_dropped(facts: Any, left: set[str]) -> None:
    """All of it, or one of two that exclude each other."""
    assert asked(known(**facts), temperature=0.5, top_p=0.5)[0].keys() & {"temperature", "top_p"} == left


def test_knobs_that_the_wire_does_not_know_are_dropped_by_name() -> None:
    """Each with its entry."""
    knobs: dict[str, Any] = {
        "schema_description": "d", "min_p": 0.1, "seed": 1, "presence_penalty": 0.1, "frequency_penalty": 0.1,
        "logit_bias": {"1": 1.0},
        "logprobs": 1, "verbosity": "low", "metadata": {"a": "b"}, "store": False, "cache_key": "k",
    }  # fmt: skip
    body, changed = asked(**knobs, stop=("\n\nQ:",), user="u", service_tier="auto")
    assert changed == [f"dropped parameter_unsupported /{name}" for name in knobs]
    assert body["stop_sequences"] == ["\n\nQ:"]
    assert body["metadata"] == {"user_id": "u"}
    assert body["service_tier"] == "auto"
    assert asked(service_tier="flex")[1] == ["dropped parameter_unsupported /service_tier"]
