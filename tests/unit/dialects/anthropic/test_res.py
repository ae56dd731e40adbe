"""Results of tools, and the shape of the history: each test feeds what broke somebody."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from interlingua.errors import DecodeError, HistoryError, UnsupportedError
from interlingua.types.content import (
    AudioPart,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    RefusalPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message, assistant, system, user
from interlingua.types.request import Request
from tests.support.messages import NAME, codes, decode, encode, known, request, wire

PNG = b"\x89PNG"
CALL = ToolCall("a", "f", "{}")
ASKED = (user("Hi"), assistant(CALL))
USE: dict[str, Any] = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}
HELLO = {"role": "user", "content": "Hi"}


def image(**source: Any) -> Any:
    """An image block."""
    return {"type": "image", "source": source}


def answered(result: ToolResult, *rest: Message) -> Any:
    """The wire message that answers the call."""
    return wire(Request(messages=(*ASKED, Message("tool", (result,)), *rest)))["messages"][2]


def test_res_01_all_results_are_one_user_message() -> None:
    """Three results of a step, and what the user says after them: one message, results first."""
    calls = tuple(ToolCall(name, "f", "{}") for name in "abc")
    results = Message("tool", tuple(ToolResult(name, "f", name) for name in "abc"))
    messages = wire(Request(messages=(user("Hi"), assistant(*calls), results, user("Go on."))))["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert [block["type"] for block in messages[2]["content"]] == ["tool_result"] * 3 + ["text"]


def test_res_01_separate_user_messages_are_read_as_one_step() -> None:
    """One message per result is what some clients send; it is one canonical message."""
    calls: Any = {"role": "assistant", "content": [{**USE["content"][0], "id": name} for name in "ab"]}
    results = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": name}]} for name in "ab"]
    found = request(HELLO, calls, *results)
    assert found.messages[2] == Message("tool", (ToolResult("a", "f"), ToolResult("b", "f")))


def test_res_02_text_beside_a_result_is_a_user_message_after_it() -> None:
    """Results are a message of their own, so that other dialects can keep them next to the call."""
    content = [{"type": "tool_result", "tool_use_id": "a", "content": "4"}, {"type": "text", "text": "And?"}]
    found = request(HELLO, USE, {"role": "user", "content": content})
    assert found.messages[2:] == (Message("tool", (ToolResult("a", "f", "4"),)), user("And?"))


def test_res_02_a_result_after_text_goes_first() -> None:
    """The service wants results first; the other order is sent as it must be, and that is said."""
    content = [{"type": "text", "text": "And?"}, {"type": "tool_result", "tool_use_id": "a", "content": "4"}]
    found = decode({"messages": [HELLO, USE, {"role": "user", "content": content}]})
    assert [message.role for message in found.request.messages] == ["user", "assistant", "tool", "user"]
    assert codes(found.changes) == ["approximated order_changed /messages/2"]


def test_res_03_an_image_beside_a_result_is_kept() -> None:
    """It stands in the user message after the results, and in the same wire message again."""
    picture = image(type="base64", media_type="image/png", data=base64.b64encode(PNG).decode())
    content = [{"type": "tool_result", "tool_use_id": "a", "content": "4"}, picture]
    asked = request(HELLO, USE, {"role": "user", "content": content})
    assert asked.messages[3] == user(ImagePart(PNG, "image/png"))
    assert wire(asked)["messages"][2]["content"] == content


def test_res_34_images_and_documents_stand_inside_a_result() -> None:
    """One image or two: a list of blocks, never a bare URL (RES-33)."""
    pictures = (ImagePart(PNG, "image/png"), ImagePart(PNG, "image/gif"))
    for said in (pictures[:1], pictures, (TextPart("See"), DocumentPart(b"%PDF", "application/pdf", "a.pdf"))):
        block = answered(ToolResult("a", "f", said))["content"][0]
        assert [part["type"] for part in block["content"]] == [
            {ImagePart: "image", TextPart: "text", DocumentPart: "document"}[type(part)] for part in said
        ]


@pytest.mark.parametrize("content", ["", None, []])
def test_res_14_an_empty_result_is_accepted_and_has_no_content(content: Any) -> None:
    """Empty text, null and an empty list are the same empty result."""
    block = {"type": "tool_result", "tool_use_id": "a", "content": content}
    asked = request(HELLO, USE, {"role": "user", "content": [block]})
    result = asked.messages[2].tool_results[0]
    assert result.content in ("", ())
    assert wire(asked)["messages"][2]["content"] == [{"type": "tool_result", "tool_use_id": "a"}]


def test_res_15_an_error_without_a_word_says_something() -> None:
    """The service refuses an empty error."""
    result = Message("tool", (ToolResult("a", "f", "", is_error=True),))
    encoded = encode(Request(messages=(*ASKED, result), max_tokens=1))
    block = json.loads(encoded.body)["messages"][2]["content"][0]
    assert block["is_error"] is True
    assert block["content"]
    assert codes(encoded.changes) == ["approximated parameter_added /messages/2/parts/0/content"]


def test_res_16_an_error_is_a_flag() -> None:
    """No prefix is added, and `is_error: false` is nothing."""
    assert answered(ToolResult("a", "f", "ERROR: no", is_error=True))["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": "ERROR: no", "is_error": True}
    ]
    assert "is_error" not in answered(ToolResult("a", "f", "fine"))["content"][0]


def test_r14_json_is_told_as_text() -> None:
    """A JSON value alone, or among parts, is compact text (ARG-07: not escaped)."""
    assert answered(ToolResult("a", "f", Json({"grad": "4°"})))["content"][0]["content"] == '{"grad":"4°"}'
    parts = answered(ToolResult("a", "f", (Json([1]), TextPart("x"))))["content"][0]["content"]
    assert parts == [{"type": "text", "text": "[1]"}, {"type": "text", "text": "x"}]


def test_res_06_an_orphan_result_is_refused_or_told_as_text() -> None:
    """By policy, with the id in the sentence."""
    said = {"role": "assistant", "content": "Yes?"}
    orphan = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "4"}]}
    with pytest.raises(HistoryError, match="'x'"):
        request(HELLO, said, orphan)
    repaired = decode({"messages": [HELLO, said, orphan]}, history="mend")
    assert codes(repaired.changes) == ["repaired result_orphan /messages/2"]
    assert repaired.request.messages[-1].text == "Result of the tool x: 4"


def test_res_07_a_call_without_a_result_is_refused_or_gets_an_error_result() -> None:
    """By policy; the made result says that there was none."""
    body: Any = {"messages": [HELLO, USE, HELLO]}
    with pytest.raises(HistoryError, match="'a'"):
        decode(body)
    repaired = decode(body, history="mend").request
    assert repaired.messages[2].tool_results[0].is_error


def test_res_08_a_second_result_is_refused_or_left_out() -> None:
    """By policy the first one wins."""
    results = [{"type": "tool_result", "tool_use_id": "a", "content": text} for text in "12"]
    body: Any = {"messages": [HELLO, USE, {"role": "user", "content": results}]}
    with pytest.raises(HistoryError, match="second result"):
        decode(body)
    assert decode(body, history="mend").request.messages[2].tool_results[0].content == "1"


def test_id_09_a_repeated_id_is_refused_or_renamed_with_its_result() -> None:
    """The first occurrence stays as it is."""
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "4"}]}
    body: Any = {"messages": [HELLO, USE, result, USE, result]}
    with pytest.raises(HistoryError, match="two calls"):
        decode(body)
    repaired = decode(body, history="mend").request.messages
    assert repaired[1].tool_calls[0].id == "a" == repaired[2].tool_results[0].call_id
    assert repaired[3].tool_calls[0].id == repaired[4].tool_results[0].call_id != "a"


def test_res_10_text_after_a_call_keeps_its_place() -> None:
    """Legal here: order is kept both ways."""
    turn: Any = {"role": "assistant", "content": [*USE["content"], {"type": "text", "text": "Wait."}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "4"}]}
    asked = request(HELLO, turn, result)
    assert asked.messages[1].parts == (CALL, TextPart("Wait."))
    assert wire(asked)["messages"][1] == turn


def test_res_17_empty_text_is_left_out_and_said() -> None:
    """The service refuses an empty block; an assistant that says nothing has no message."""
    said = (Message("user", (TextPart("Hi"), TextPart(""))), assistant(), user("Hello?"))
    encoded = encode(Request(messages=said, max_tokens=1))
    assert json.loads(encoded.body)["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "Hello?"}]}
    ]
    assert codes(encoded.changes) == [
        "dropped empty_part /messages/0/parts/1",
        "dropped empty_part /messages/1",
        "approximated messages_merged /messages/2",
    ]


def test_res_20_a_later_system_message_keeps_its_place() -> None:
    """As a message of its own; where the model takes none, as marked user text in the same place."""
    asked = Request(messages=(user("Hi"), assistant("Yes?"), system("Be brief."), user("Go.")), max_tokens=1)
    assert [message["role"] for message in wire(asked)["messages"]] == ["user", "assistant", "system", "user"]
    told = encode(asked, known(system_messages=False))
    messages = json.loads(told.body)["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert [block["text"] for block in messages[2]["content"]] == ["<system>\nBe brief.\n</system>", "Go."]
    assert codes(told.changes) == ["approximated system_moved /messages/2"]


def test_res_20_system_text_before_all_messages_is_the_system_text() -> None:
    """Wherever it was said."""
    asked = Request(system=(TextPart("One."),), messages=(system("Two."), user("Hi")))
    body = wire(asked)
    assert [block["text"] for block in body["system"]] == ["One.", "Two."]
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert request({"role": "system", "content": "One."}, HELLO).system == (TextPart("One."),)


def test_res_21_neighbours_of_one_role_are_one_message() -> None:
    """As the service does by itself; what is ours is said."""
    asked = Request(messages=(user("a"), user("b"), assistant("c"), assistant("d")), max_tokens=1)
    encoded = encode(asked)
    assert [len(message["content"]) for message in json.loads(encoded.body)["messages"]] == [2, 2]
    assert codes(encoded.changes) == [
        "approximated messages_merged /messages/1",
        "approximated messages_merged /messages/3",
    ]
    assert request({"role": "user", "content": "a"}, {"role": "user", "content": "b"}).messages == (user("a", "b"),)


def test_res_27_there_are_never_more_than_four_marks() -> None:
    """Counted over tools, system text and messages; the first ones stay."""
    mark = {"cache_control": {"type": "ephemeral"}}
    body = {
        "tools": [{"name": "f", "input_schema": {"type": "object"}, **mark}],
        "system": [{"type": "text", "text": "s", **mark}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": text, **mark} for text in "abc"]}],
    }
    encoded = encode(decode(body).request)
    said = json.loads(encoded.body)
    assert [("cache_control" in block) for block in said["messages"][0]["content"]] == [True, True, False]
    assert codes(encoded.changes) == ["dropped cache_unsupported /messages/0/parts/2/cache"]


def test_par_08_marks_on_three_results_are_counted() -> None:
    """System, tools and three parallel results are five marks; four stay."""
    calls = tuple(ToolCall(name, "f", "{}") for name in "abc")
    results = Message("tool", tuple(ToolResult(name, "f", "x", cache="5m") for name in "abc"))
    asked = Request(
        system=(TextPart("s", cache="1h"),), messages=(user(TextPart("Hi", cache="auto")), assistant(*calls), results)
    )
    body = wire(asked)
    assert json.dumps(body).count("cache_control") == 4
    assert body["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


def test_par_09_the_mark_at_the_top_counts() -> None:
    """PAR-09: with it, three blocks may be marked."""
    parts = tuple(TextPart(text, cache="5m") for text in "abcd")
    body = wire(Request(messages=(Message("user", parts),), cache="5m"))
    assert body["cache_control"] == {"type": "ephemeral"}
    assert [("cache_control" in block) for block in body["messages"][0]["content"]] == [True, True, True, False]


def test_thk_17_a_mark_on_thinking_is_taken_off() -> None:
    """The service refuses it there, and only there."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "sig", "cache_control": {"type": "ephemeral"}}
    found = decode({"messages": [HELLO, {"role": "assistant", "content": [thought]}]})
    del thought["cache_control"]
    assert wire(found.request)["messages"][1]["content"] == [thought]
    assert codes(found.changes) == ["dropped cache_unsupported /messages/1/parts/0"]


def test_res_28_a_result_of_unknown_blocks_is_one_result() -> None:
    """The names of the tools are its text; here they go back as references."""
    nested = [{"type": "tool_reference", "tool_name": "g"}]
    answer = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": nested}]}
    asked = request(HELLO, USE, answer)
    assert asked.messages[2].parts == (ToolResult("a", "f", (TextPart("g", extra={NAME: nested[0]}),)),)
    assert wire(asked)["messages"][2] == answer


def test_r04_a_reference_to_media_is_opaque() -> None:
    """A URL or a file id goes back as it came; one of another dialect is refused."""
    blocks = [
        image(type="url", url="https://example.org/a.png"),
        {"type": "document", "source": {"type": "file", "file_id": "f1"}},
    ]
    asked = request({"role": "user", "content": blocks})
    assert asked.messages[0].parts == tuple(OpaquePart(NAME, "media_ref", raw) for raw in blocks)
    assert wire(asked)["messages"][0]["content"] == blocks
    with pytest.raises(UnsupportedError, match="media_ref of openai-chat"):
        wire(Request(messages=(user(OpaquePart("openai-chat", "media_ref", {})),)))


def test_r10_documents_are_a_pdf_or_text() -> None:
    """Text goes as it is; other text is sent as plain text; anything else is refused."""
    parts = (
        DocumentPart(b"%PDF", "application/pdf", "a.pdf"),
        DocumentPart("4°".encode(), "text/plain"),
        DocumentPart(b"a,b", "text/csv"),
    )
    encoded = encode(Request(messages=(user(*parts),), max_tokens=1))
    sources = [block["source"] for block in json.loads(encoded.body)["messages"][0]["content"]]
    assert sources == [
        {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
        {"type": "text", "media_type": "text/plain", "data": "4°"},
        {"type": "text", "media_type": "text/plain", "data": "a,b"},
    ]
    assert codes(encoded.changes) == ["approximated media_as_text /messages/0/parts/2"]
    for bad in (DocumentPart(b"PK", "application/zip"), DocumentPart(b"\xff", "text/plain")):
        with pytest.raises(UnsupportedError) as caught:
            wire(Request(messages=(user(bad),)))
        assert codes(caught.value.changes) == ["refused documents /messages/0/parts/0"]


def test_r10_a_document_keeps_its_title_context_and_citations() -> None:
    """Title is the name, the rest comes back."""
    block = {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "x"},
        "title": "T",
        "context": "C",
        "citations": {"enabled": True},
        "cache_control": {"type": "ephemeral", "ttl": "1h"},
    }
    asked = request({"role": "user", "content": [block]})
    extra = {NAME: {"context": "C", "citations": {"enabled": True}}}
    assert asked.messages[0].parts == (DocumentPart(b"x", "text/plain", "T", "1h", extra),)
    assert wire(asked)["messages"][0]["content"] == [block]


@pytest.mark.parametrize(
    ("part", "code"),
    [
        (AudioPart(b"RIFF", "audio/wav"), "audio"),
        (ImagePart(b"x", "image/heic"), "images"),
        (OpaquePart("google", "executableCode", {}), "opaque_part"),
    ],
)
def test_r03_what_the_wire_cannot_say_is_refused_or_let_go(part: Any, code: str) -> None:
    """With an entry that names the part."""
    asked = Request(messages=(user("Hi", part),), max_tokens=1)
    with pytest.raises(UnsupportedError) as caught:
        wire(asked)
    assert codes(caught.value.changes) == [f"refused {code} /messages/0/parts/1"]
    if code != "opaque_part":
        assert codes(encode(asked, allow=frozenset({code})).changes) == [f"dropped {code} /messages/0/parts/1"]


def test_r44_what_the_model_does_not_take_is_refused() -> None:
    """By the facts of its family."""
    asked = Request(messages=(user(ImagePart(PNG, "image/png"), DocumentPart(b"%PDF", "application/pdf")),))
    with pytest.raises(UnsupportedError) as caught:
        wire(asked, known(images=False, documents=False))
    assert codes(caught.value.changes) == [
        "refused images /messages/0/parts/0",
        "refused documents /messages/0/parts/1",
    ]


def test_a_refusal_in_the_history_is_text() -> None:
    """The wire has no part for it."""
    encoded = encode(Request(messages=(user("Hi"), assistant(RefusalPart("No."))), max_tokens=1))
    assert json.loads(encoded.body)["messages"][1]["content"] == [{"type": "text", "text": "No."}]
    assert codes(encoded.changes) == ["approximated refusal_as_text /messages/1/parts/0"]


def said(role: Any, content: Any) -> Any:
    """A body whose last message, after a call, is this one."""
    return {"messages": [HELLO, USE, {"role": role, "content": content}]}


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (said("owner", "x"), "/messages/2/role"),
        (said("user", [image(type="base64", media_type="image/png", data="!")]), "/messages/2/content/0/source/data"),
        (said("assistant", [{"type": "tool_use", "id": "a", "input": {}}]), "/messages/2/content/0/name"),
        (said("user", [{"type": "tool_result", "tool_use_id": "a", "content": 5}]), "/messages/2/content/0/content"),
        ({"system": [image(type="url", url="x")]}, "/system/0"),
        ({"model": 7}, "/model"),
    ],
)
def test_a_bad_request_names_its_place(body: Any, place: str) -> None:
    """The client's fault, with the pointer to it."""
    with pytest.raises(DecodeError) as caught:
        decode(body)
    assert caught.value.path == place
    assert caught.value.status == 400


def test_arg_15_broken_arguments_in_a_history_are_refused_or_told() -> None:
    """A typed error that names the call, or text."""
    bad = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": [1]}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "4"}]}
    with pytest.raises(
        HistoryError, match=r"messages\[1\]: the arguments of call 'a' \(tool f\) are broken: not_object"
    ):
        decode({"messages": [HELLO, bad, result]})
    repaired = decode({"messages": [HELLO, bad, result]}, history="mend").request
    assert repaired.messages[1].text == "f([1])"
