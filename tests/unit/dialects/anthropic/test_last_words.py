"""Turns that say nothing but white space, and turns that the model is to finish: what Claude takes of them."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.dialects._contract import DecodeOptions, Encoded, EncodeOptions, Facts, ServerContext, Target
from interlingua.dialects.table import get_dialect
from interlingua.errors import UnsupportedError
from interlingua.providers.limits import facts_for
from interlingua.testing.upstream import judge_body
from interlingua.types.capability import Capability
from interlingua.types.content import OpaquePart, Part, TextPart, ThinkingPart, ToolCall, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any, encode

NAME = "anthropic"
HI = user("Hi")
MODELS = (
    "claude-opus-5-5",
    "claude-fable-5",
    "claude-haiku-5-5",
    "claude-sonnet-5",
    "claude-opus-4-8",
    "claude-sonnet-4-6",
)


def sent(*messages: Message, model: str = "", allow: frozenset[Capability] = frozenset(), **knobs: Any) -> Encoded:
    """The request on the wire."""
    target = Target(model=model, provider=NAME, facts=facts_for(NAME, NAME, model))
    asked = Request(messages=messages, max_tokens=9, **knobs)
    return get_dialect(NAME).encode_request(asked, EncodeOptions(target=target, allow=allow))


def told(encoded: Encoded) -> list[str]:
    """What was changed."""
    return [f"{one.action} {one.code} {one.path} {one.detail}" for one in encoded.changes]


def messages_of(encoded: Encoded) -> Any:
    """The messages on the wire, as role and texts."""
    body: Any = decode_any(encoded.body)
    return [(one["role"], [block["text"] for block in one["content"]]) for one in body["messages"]]


BLANK = "dropped empty_part {} the service takes no text of white space alone"


def test_a_turn_of_white_space_alone_is_left_out_and_told() -> None:
    """The service refuses it, whoever says it; what its neighbours say is one message then."""
    encoded = sent(HI, assistant(" \n"), user("Still there?"), assistant("Yes."), user("\t"), user("Good."))
    assert messages_of(encoded) == [("user", ["Hi", "Still there?"]), ("assistant", ["Yes."]), ("user", ["Good."])]
    assert told(encoded) == [
        BLANK.format("/messages/1/parts/0"),
        "approximated messages_merged /messages/2 ",
        BLANK.format("/messages/4/parts/0"),
    ]


def test_a_block_of_white_space_alone_is_left_out_of_what_the_user_says() -> None:
    """The rest of the message stays as it is, and so does the system text."""
    mixed = Message("user", (TextPart("  "), TextPart(" x "), TextPart("\n", cache="5m")))
    encoded = sent(mixed, system=(TextPart("Be kind."), TextPart("\n\n")))
    assert messages_of(encoded) == [("user", [" x "])]
    body: Any = decode_any(encoded.body)
    assert body["system"] == "Be kind."
    assert told(encoded) == [BLANK.format(f"/{at}") for at in ("system/1", "messages/0/parts/0", "messages/0/parts/2")]


def test_white_space_with_nothing_before_it_is_sent_as_it_came() -> None:
    """There would be no message without it, or the next turn would change the bytes of this one."""
    encoded = sent(user(" "), assistant("Yes?"), user(" "), system=(TextPart("Be kind."),))
    assert messages_of(encoded) == [("user", [" "]), ("assistant", ["Yes?"])]
    assert told(encoded) == [BLANK.format("/messages/2/parts/0")]


def test_system_text_of_white_space_alone_is_no_message() -> None:
    """Nothing is left of it, and nobody said anything else."""
    body: Any = decode_any(sent(system=(TextPart(" "),)).body)
    assert body.keys() == {"max_tokens"}


def test_white_space_beside_a_call_is_sent_as_it_came() -> None:
    """The service was seen to give it, and to take it back."""
    called = Message("assistant", (TextPart(" "), ToolCall("a", "f", "{}")))
    answered = Message("tool", (ToolResult("a", "f", "4"),))
    encoded = sent(HI, called, answered)
    body: Any = decode_any(encoded.body)
    assert body["messages"][1]["content"][0] == {"type": "text", "text": " "}
    assert encoded.changes == ()


def test_white_space_in_an_answer_reaches_the_client() -> None:
    """It is what the model said."""
    reply = get_dialect(NAME).encode_response(Response(parts=(TextPart("\n"),), finish_reason="stop"), ServerContext())
    body: Any = decode_any(reply.body)
    assert body["content"] == [{"type": "text", "text": "\n"}]


@pytest.mark.parametrize("model", MODELS)
def test_a_turn_to_be_finished_is_refused_where_the_model_finishes_none(model: str) -> None:
    """Claude from 4.6 on: the message is named, and its provider would refuse it."""
    with pytest.raises(UnsupportedError) as refused:
        sent(HI, assistant("So:"), model=model)
    why = f"{model} finishes no turn that was begun for it"
    assert str(refused.value) == f"anthropic/{model} cannot take /messages/1 ({why})"
    body: Any = {"model": model, "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    begun = {**body, "messages": [*body["messages"], {"role": "assistant", "content": "So:"}]}
    headers = (("anthropic-version", "2023-06-01"),)
    found = [judge_body(NAME, encode(one), model=model, path="/v1/messages", headers=headers) for one in (body, begun)]
    assert [len(verdict.problems) for verdict in found] == [0, 1]


def test_a_turn_after_which_nothing_is_left_is_refused_there_too() -> None:
    """A recorded one: the user's last message is a reference that only its own service knows, and was let go."""
    model = MODELS[0]
    gone = Message("user", (OpaquePart("openai-chat", "media_ref", {"type": "document_url", "document_url": "x"}),))
    with pytest.raises(UnsupportedError) as refused:
        sent(HI, assistant("OK"), gone, model=model, allow=frozenset({"media_refs"}))
    why = f"{model} finishes no turn that was begun for it"
    assert str(refused.value) == f"anthropic/{model} cannot take /messages/1 ({why})"


@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-opus-4-1", "claude-3-5-haiku-20241022", "m"])
def test_other_models_finish_a_turn(model: str) -> None:
    """Older ones do, and nothing is known of others."""
    assert messages_of(sent(HI, assistant("So:"), model=model))[1] == ("assistant", ["So:"])


@pytest.mark.parametrize("part", [TextPart(" "), ThinkingPart("Hm.")])
def test_a_last_turn_of_which_nothing_is_left_is_no_such_turn(part: Part) -> None:
    """The conversation ends with the user then."""
    assert messages_of(sent(HI, Message("assistant", (part,)), model=MODELS[0])) == [("user", ["Hi"])]


def test_a_turn_that_paused_is_gone_on_with() -> None:
    """A tool that the provider runs may need more time than one answer has."""
    raw = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    paused = Message("assistant", (TextPart("Let me see."), OpaquePart(NAME, "server_tool_use", raw)))
    body: Any = decode_any(sent(HI, paused, model=MODELS[0]).body)
    assert body["messages"][1]["content"][1] == raw


def test_a_known_conversation_is_refused_each_time() -> None:
    """However often the same bytes come, and with what stands around them known."""
    first = {"role": "user", "content": "Hi"}
    for last in [None, {"role": "assistant", "content": "So:"}] * 4:
        told_so = {"model": "m", "messages": [first, *([last] if last else [])]}
        http = HttpRequest(method="POST", url="/v1/chat/completions", body=encode(told_so))
        asked = get_dialect("openai-chat").decode_request(http, DecodeOptions()).request
        options = EncodeOptions(target=Target(model="claude-opus-5", facts=facts_for(NAME, NAME, "claude-opus-5")))
        if last is None:
            get_dialect(NAME).encode_request(asked, options)
            continue
        with pytest.raises(UnsupportedError, match="/messages/1"):
            get_dialect(NAME).encode_request(asked, options)


@pytest.mark.parametrize("forms", [frozenset[str](), frozenset({"enabled"})])
@pytest.mark.parametrize("knobs", [{"thinking": False}, {"effort": "none"}, {"thinking_budget": 0}])
def test_a_model_that_thinks_only_where_it_is_asked_to_is_not_told_to_stop(forms: Any, knobs: Any) -> None:
    """There is nothing to switch off, and no effort stands for it."""
    options = EncodeOptions(target=Target(model="m", facts=Facts(thinking=forms, efforts=frozenset())))
    encoded = get_dialect(NAME).encode_request(Request(messages=(HI,), max_tokens=9, **knobs), options)
    assert decode_any(encoded.body) == decode_any(sent(HI, model="m").body)
    assert encoded.changes == ()


@pytest.mark.parametrize(("choice", "said"), [("required", ["/tool_choice"]), ("auto", []), ("none", [])])
def test_gemini_is_not_made_to_call_what_is_not_there(choice: Any, said: list[str]) -> None:
    """Its service refuses that; a free choice it takes."""
    encoded = get_dialect("google").encode_request(Request(messages=(HI,), tool_choice=choice), EncodeOptions())
    body: Any = decode_any(encoded.body)
    assert [one.path for one in encoded.changes] == said
    assert ("toolConfig" in body) is not bool(said)
