"""Reasoning and sealed state: each test feeds what broke somebody."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, Facts, ServerContext, Target
from interlingua.stream.unfold import unfold
from interlingua.types.content import Sealed, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from tests.support.chat import (
    DONE,
    answer,
    chunk,
    codes,
    encode,
    encode_reply,
    encode_stream,
    events,
    parts,
    quirky,
    reply,
    request,
    stream,
    streamed,
    wire,
)

DETAILS = [
    {"type": "reasoning.text", "text": "Hm.", "signature": "c2ln", "format": "x", "index": 0},
    {"type": "reasoning.encrypted", "data": "ZW5j", "id": "rs_1", "format": "x", "index": 1},
]
FROM = DecodeContext(target=Target(model="some/model", provider="openrouter"))


def replayed(*said: Any, target: Target | None = None) -> Any:
    """The assistant message of a conversation with one tool turn."""
    result = Message("tool", (ToolResult("a", "f", "4"),))
    return wire(Request(messages=(user("Hi"), assistant(*said), result)), target)["messages"][1]


CALL = ToolCall("a", "f", "{}")


def test_thk_05_streamed_thinking_is_one_block_like_the_whole_one() -> None:
    """Three deltas are one part."""
    raw = stream('{"reasoning":"a"}', '{"reasoning":"b"}', '{"reasoning":"c"}', '{"content":"x"}', finish="stop")
    assert (
        parts(raw)
        == reply('{"reasoning":"abc","content":"x"}').parts
        == (
            ThinkingPart("abc", extra={"openai-chat": {"field": "reasoning"}}),
            TextPart("x"),
        )
    )


def test_thk_06_sealed_details_go_back_byte_for_byte() -> None:
    """With their issuer's name, and to nobody else."""
    said = f'{{"content":"x","reasoning":"Hm.","reasoning_details":{json.dumps(DETAILS)}}}'
    response = reply(said, context=FROM)
    assert response.parts[0] == ThinkingPart(
        "Hm.",
        Sealed("openai-chat", {"reasoning_details": DETAILS}, "openrouter", "some/model"),
        {"openai-chat": {"field": "reasoning"}},
    )
    sent = replayed(*response.parts, CALL, target=Target(model="some/model", provider="openrouter"))
    assert sent["reasoning_details"] == DETAILS
    assert sent["reasoning"] == "Hm."
    for target in (Target(model="m", provider="groq"), Target(model="other/model", provider="openrouter")):
        assert "reasoning_details" not in replayed(*response.parts, CALL, target=target)
    carried = Target(model="other/model", provider="openrouter", facts=Facts(seals_carry_over=True))
    assert replayed(*response.parts, CALL, target=carried)["reasoning_details"] == DETAILS


def test_thk_07_a_thought_signature_beside_a_call_survives_the_turn() -> None:
    """`extra_content` whole, streamed, replayed, and to a client."""
    content = {"google": {"thought_signature": "c2ln"}}
    call = (
        '{"index":0,"id":"a","type":"function","extra_content":{"google":{"thought_signature":"c2ln"}},'
        '"function":{"name":"f","arguments":"{}"}}'
    )
    sealed = ToolCall("a", "f", "{}", sealed=Sealed("openai-chat", {"extra_content": content}))
    whole = reply(f'{{"content":null,"tool_calls":[{call}]}}', "tool_calls")
    raw = stream(f'{{"tool_calls":[{call}]}}')
    assert whole.parts == parts(raw) == (sealed,)
    assert replayed(sealed)["tool_calls"][0]["extra_content"] == content
    assert encode_reply(whole)["choices"][0]["message"]["tool_calls"][0]["extra_content"] == content
    sent = [data["choices"][0]["delta"].get("tool_calls", [{}])[0] for data in encode_stream(events(raw))[:-1]]
    assert [call["extra_content"] for call in sent if "extra_content" in call] == [content]


def test_thk_07_a_client_brings_the_signature_back() -> None:
    """Read from a history: sealed by an issuer that the body does not say."""
    body = (
        '[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function",'
        '"extra_content":{"google":{"thought_signature":"c2ln"}},"function":{"name":"f","arguments":"{}"}}]},'
        '{"role":"tool","tool_call_id":"a","content":"4"}]'
    )
    (call,) = request(body).messages[1].tool_calls
    assert call.sealed == Sealed("openai-chat", {"extra_content": {"google": {"thought_signature": "c2ln"}}})


def test_thk_08_unknown_members_of_a_call_survive_aggregation() -> None:
    """Said in one delta, kept through the others, and sent on."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"a","vendor":{"sig":"s"},"function":{"name":"f","arguments":"{"}}]}',
        '{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}',
    )
    assert parts(raw) == (ToolCall("a", "f", "{}", extra={"openai-chat": {"vendor": {"sig": "s"}}}),)
    sent = [data["choices"][0]["delta"].get("tool_calls", [{}])[0] for data in encode_stream(events(raw))[:-1]]
    assert [call["vendor"] for call in sent if "vendor" in call] == [{"sig": "s"}]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thk_10_reasoning_of_a_tool_turn_goes_back_where_it_was_read(field: str) -> None:
    """Under the name that was read, or under the one that the server insists on."""
    call = '"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]'
    response = reply(f'{{"content":null,"{field}":"Hm.",{call}}}', "tool_calls")
    assert replayed(*response.parts)[field] == "Hm."
    target = quirky(reasoning_field="reasoning_content", reasoning_echo="always")
    assert replayed(*response.parts, target=target)["reasoning_content"] == "Hm."
    assert replayed(CALL, target=target)["reasoning_content"] == ""
    assert "reasoning" not in str(replayed(*response.parts, target=quirky(reasoning_echo="never")))


def test_thk_10_a_server_that_takes_an_empty_reasoning_for_a_missing_one_gets_a_blank() -> None:
    """Kimi wants it in turns with calls; where it was lost a blank is taken, and an answer without calls needs none."""
    target = quirky(reasoning_field="reasoning_content", reasoning_echo="calls")
    assert replayed(CALL, target=target)["reasoning_content"] == " "
    assert replayed(ThinkingPart("Hm."), CALL, target=target)["reasoning_content"] == "Hm."
    [_, answer] = wire(Request(messages=(user("Hi"), assistant(TextPart("Hi.")))), target)["messages"]
    assert answer == {"role": "assistant", "content": "Hi."}


def test_thk_10_thinking_that_a_server_has_no_member_for_is_an_entry() -> None:
    """Dropped, and said so."""
    asked = Request(messages=(user("Hi"), assistant(ThinkingPart("Hm."), "Yes."), user("Go")))
    assert codes(encode(asked, quirky(reasoning_field="none")).changes) == ["thinking_unsupported /messages/1/parts/0"]


@pytest.mark.parametrize(
    ("delta", "part"),
    [
        ('{"reasoning_content":"Hm."}', ThinkingPart("Hm.")),
        ('{"reasoning":"Hm."}', ThinkingPart("Hm.", extra={"openai-chat": {"field": "reasoning"}})),
        (
            '{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]}]}',
            ThinkingPart("Hm.", extra={"openai-chat": {"field": "thinking_chunks"}}),
        ),
        (
            '{"reasoning_details":[{"type":"reasoning.summary","summary":"Hm.","index":0}]}',
            ThinkingPart(
                "Hm.",
                Sealed(
                    "openai-chat", {"reasoning_details": [{"type": "reasoning.summary", "summary": "Hm.", "index": 0}]}
                ),
                {"openai-chat": {"field": "reasoning_details"}},
            ),
        ),
    ],
)
def test_thk_15_reasoning_is_read_under_every_known_name(delta: str, part: ThinkingPart) -> None:
    """A turn of reasoning alone is legal, streamed and whole, and its encoding reads the same."""
    raw = chunk(delta) + chunk("{}", "stop") + DONE
    assert parts(raw) == (part,)
    assert reply(delta).parts == (part,)
    again = encode_reply(answer(part, finish="stop"), ServerContext(source="openai-chat"))
    assert reply(json.dumps(again["choices"][0]["message"])).parts == (part,)


@pytest.mark.parametrize("field", ["reasoning", "thinking_chunks"])
def test_thk_15_reasoning_of_elsewhere_is_told_as_reasoning_content(field: str) -> None:
    """A client that knows nothing of the server behind finds it where most look, and the content stays text."""
    said = answer(ThinkingPart("Hm.", extra={"openai-chat": {"field": field}}), TextPart("Hi"), finish="stop")
    message = encode_reply(said)["choices"][0]["message"]
    assert (message["reasoning_content"], message["content"]) == ("Hm.", "Hi")
    deltas = [told["choices"][0]["delta"] for told in encode_stream(list(unfold(said)))[:-1]]
    assert deltas[1:3] == [{"reasoning_content": "Hm."}, {"content": "Hi"}]


def test_thk_16_sealed_details_are_the_same_whole_and_streamed() -> None:
    """Joined over the chunks by their index."""
    raw = stream(
        '{"reasoning":"Hm","reasoning_details":[{"type":"reasoning.text","text":"Hm","index":0}]}',
        '{"reasoning":".","reasoning_details":[{"type":"reasoning.text","text":".","signature":"c2ln","format":"x","index":0}]}',
        '{"reasoning_details":[{"type":"reasoning.encrypted","data":"ZW5j","id":"rs_1","format":"x","index":1}]}',
        '{"content":"x"}',
        finish="stop",
    )
    whole = reply(f'{{"content":"x","reasoning":"Hm.","reasoning_details":{json.dumps(DETAILS)}}}', context=FROM)
    assert streamed(raw, FROM).parts == whole.parts


def test_thk_16_details_that_come_after_the_text_seal_a_block_of_their_own() -> None:
    """Nothing is lost when a server sends the seal late."""
    late = '{"reasoning_details":[{"type":"reasoning.encrypted","data":"ZW5j","index":0}]}'
    response = streamed(stream('{"content":"x"}', late, finish="stop"))
    assert response.parts == (
        TextPart("x"),
        ThinkingPart(
            "",
            Sealed("openai-chat", {"reasoning_details": [{"type": "reasoning.encrypted", "data": "ZW5j", "index": 0}]}),
            {"openai-chat": {"field": "reasoning_details"}},
        ),
    )


def test_thk_03_a_block_with_a_seal_alone_is_kept() -> None:
    """No readable text, only encrypted data: a part, replayed."""
    encrypted = [DETAILS[1]]
    response = reply(f'{{"content":"x","reasoning_details":{json.dumps(encrypted)}}}')
    assert response.parts[0] == ThinkingPart(
        "", Sealed("openai-chat", {"reasoning_details": encrypted}), {"openai-chat": {"field": "reasoning_details"}}
    )
    assert replayed(*response.parts, CALL)["reasoning_details"] == encrypted


def test_a_server_without_reasoning_gets_neither_text_nor_seal() -> None:
    """OpenAI refuses `reasoning_details` as an unknown member; both losses are said."""
    said = (
        '{"role":"assistant","content":"Hi","reasoning":"Hm.","reasoning_details":'
        '[{"type":"reasoning.text","text":"Hm.","signature":"c2ln"}]}'
    )
    asked = request(f'[{{"role":"user","content":"?"}},{said},{{"role":"user","content":"Go"}}]')
    target = quirky(reasoning_field="none")
    assert wire(asked, target)["messages"][1] == {"role": "assistant", "content": "Hi"}
    assert codes(encode(asked, target).changes) == [
        "thinking_unsupported /messages/1/parts/0",
        "seal_foreign /messages/1/parts/0/sealed",
    ]


def test_reasoning_as_an_object_is_said_as_the_server_knows_it() -> None:
    """Effort and summary in an object are canonical; who knows no such object gets the effort alone."""
    said = b'"reasoning":{"effort":"low","summary":"auto"}'
    read = request(b'{"model":"m","messages":[{"role":"user","content":"Hi"}],%b}' % said)
    assert (read.effort, read.thinking_summary) == ("low", "auto")
    assert wire(read)["reasoning"] == {"effort": "low", "summary": "auto"}
    told = wire(read, quirky(effort_field="reasoning_effort"))
    assert (told.get("reasoning_effort"), "reasoning" in told) == ("low", False)
