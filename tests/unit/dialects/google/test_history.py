"""The history, both ways: ids, results, signatures, roles; each test feeds the bytes that broke somebody."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import Facts, Quirks, Target
from interlingua.errors import DecodeError, HistoryError, UnsupportedError
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    Sealed,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message, assistant, system, user
from interlingua.types.request import Request, ServerState
from tests.support.google import codes, decode, encode, sent, turn

PNG = "iVBORw0KGgo="
CALL = {"functionCall": {"id": "fc-1", "name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"}
BARE = {"functionCall": {"name": "f", "args": {"a": 1}}}


def result(response: Any, **members: Any) -> dict[str, Any]:
    """One result."""
    return {"functionResponse": {"name": "f", "response": response, **members}}


def history(response: Any, **members: Any) -> ToolResult:
    """The result that a client's body holds for one call."""
    body = {"contents": [turn({"text": "q"}), turn(BARE, role="model"), turn(result(response, **members))]}
    found = decode(body).request.messages[-1].parts[0]
    assert isinstance(found, ToolResult)
    return found


def told(content: Any, *, is_error: bool = False, target: Target | None = None) -> Any:
    """The parts of the content in which a result of ours is sent."""
    call, answer = ToolCall("id-1", "f", "{}"), ToolResult("id-1", "f", content, is_error)
    body = sent(user("q"), assistant(call), Message("tool", (answer,)), target=target)
    return body["contents"][2]["parts"]


# Ids


def test_id_08_an_id_goes_back_as_it_came_and_none_where_none_was() -> None:
    """A given id is echoed on call and result; a call without one is paired by name and sent without."""
    contents = [
        turn({"text": "q"}),
        turn(CALL, role="model"),
        turn(result({"output": "x"}, id="fc-1")),
        turn(BARE, role="model"),
        turn(result({"output": "y"})),
    ]
    decoded = decode({"contents": contents})
    calls = [part for message in decoded.request.messages for part in message.tool_calls]
    assert [call.id for call in calls] == ["fc-1", "call_1"]
    assert codes(decoded.changes) == ["call_id_made"]
    assert sent(*decoded.request.messages)["contents"] == contents


def test_id_08_vertex_gets_no_ids_back() -> None:
    """The quirk leaves the id out of the call and of its result."""
    target = Target(model="gemini-3-pro", quirks=Quirks(call_ids_back=False))
    body = sent(
        user("q"),
        assistant(ToolCall("fc-1", "f", "{}")),
        Message("tool", (ToolResult("fc-1", "f", "x"),)),
        target=target,
    )
    assert body["contents"][1]["parts"] == [{"functionCall": {"name": "f", "args": {}}}]
    assert body["contents"][2]["parts"] == [{"functionResponse": {"name": "f", "response": {"output": "x"}}}]


def test_id_08_an_id_that_looks_like_ours_survives() -> None:
    """`call_7` said by the client itself goes back."""
    contents = [
        turn({"text": "q"}),
        turn({"functionCall": {"id": "call_7", "name": "f", "args": {}}}, role="model"),
        turn(result({"output": "x"}, id="call_7")),
    ]
    assert sent(*decode({"contents": contents}).request.messages)["contents"] == contents


def test_id_14_a_result_is_named_by_its_call() -> None:
    """A result that brings only an id gets the name of the call, not the id."""
    part = told("x")[0]
    body = sent(user("q"), assistant(ToolCall("id-1", "f", "{}")), Message("tool", (ToolResult("id-1", "", "x"),)))
    assert body["contents"][2]["parts"][0] == part


def test_two_calls_of_one_name_without_ids_pair_by_order() -> None:
    """The first result answers the first call."""
    body = {
        "contents": [
            turn({"text": "q"}),
            turn(BARE, {"functionCall": {"name": "g"}}, BARE, role="model"),
            turn(
                result("1"), {"functionResponse": {"name": "g", "response": {"output": "2"}}}, result({"output": "3"})
            ),
        ]
    }
    message = decode(body).request.messages[-1]
    assert [(part.call_id, part.content) for part in message.tool_results] == [
        ("call_0", "1"),
        ("call_1", "2"),
        ("call_2", "3"),
    ]


# Results


@pytest.mark.parametrize(
    ("content", "response"),
    [
        ("text", {"output": "text"}),
        (Json(5), {"output": 5}),
        (Json([1, 2]), {"output": [1, 2]}),
        (Json(None), {"output": None}),
        (Json({"temp": 4}), {"temp": 4}),
        (Json({}), {}),
        (Json({"output": 1}), {"output": {"output": 1}}),
        (Json({"output": 1, "more": 2}), {"output": 1, "more": 2}),
        (Json({"error": None, "data": 1}), {"error": None, "data": 1}),
        (Json({"error": "no", "data": 1}), {"output": {"error": "no", "data": 1}}),
    ],
)
def test_res_12_only_what_is_no_object_is_wrapped_and_once(content: Any, response: Any) -> None:
    """Objects go as they are, unless that would say something else; and each comes back as it was."""
    assert told(content)[0]["functionResponse"]["response"] == response
    assert history(response).content == content
    assert history(response).is_error is False


@pytest.mark.parametrize(
    ("content", "response"),
    [
        ("no", {"error": "no"}),
        (Json({"code": 3}), {"error": {"code": 3}}),
        (Json({"error": "no", "code": 3}), {"error": "no", "code": 3}),
    ],
)
def test_res_16_an_error_is_the_error_key(content: Any, response: Any) -> None:
    """Both ways."""
    assert told(content, is_error=True)[0]["functionResponse"]["response"] == response
    assert history(response).content == content
    assert history(response).is_error is True


def test_res_12_a_result_without_a_response_is_empty() -> None:
    """Absent is the empty text; a bare string or list is read all the same."""
    assert history(None).content == ""
    assert history("text").content == "text"
    assert history([1]).content == Json([1])


def test_res_13_an_object_with_a_reference_is_sent_as_text() -> None:
    """`$ref` anywhere in it would be taken for a part; the change says so."""
    schema = {"schema": {"items": [{"$ref": "#/$defs/A"}]}}
    call, answer = ToolCall("id-1", "f", "{}"), ToolResult("id-1", "f", Json(schema))
    encoded = encode(Request(messages=(user("q"), assistant(call), Message("tool", (answer,)))))
    assert b'"response":{"output":"{\\"schema\\":{\\"items\\":[{\\"$ref\\":\\"#/$defs/A\\"}]}}"}' in encoded.body
    assert [(change.code, change.path) for change in encoded.changes] == [
        ("result_as_text", "/messages/2/parts/0/content")
    ]


def test_res_28_a_result_of_unknown_parts_is_one_result() -> None:
    """A result that holds nothing but what nobody knows still answers its call; the refusal names the part."""
    call = ToolCall("id-1", "f", "{}")
    part = OpaquePart("anthropic", "tool_reference", {"type": "tool_reference"})
    messages = (user("q"), assistant(call), Message("tool", (ToolResult("id-1", "f", (part,)),)))
    with pytest.raises(UnsupportedError) as caught:
        encode(Request(messages=messages))
    assert [change.path for change in caught.value.changes] == ["/messages/2/parts/0/content/0"]


def test_res_29_the_system_text_stays_apart_from_the_user_s() -> None:
    """`systemInstruction` with a leading user text, and `parametersJsonSchema`."""
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": False}
    body = {
        "system_instruction": {"parts": [{"text": "Be brief."}], "role": "user"},
        "contents": [{"parts": [{"text": "Hi"}]}],
        "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": schema}]}],
    }
    request = decode(body).request
    assert request.system == (TextPart("Be brief."),)
    assert request.messages == (user("Hi"),)
    assert request.tools[0].parameters == schema  # type: ignore[union-attr] - a function, as declared


def test_res_32_an_image_in_a_result_is_sent_inside_it() -> None:
    """In `parts` of the result; on older models beside it, with an entry."""
    image = ImagePart(b"\x89PNG\r\n\x1a\n", "image/png")
    blob = {"inlineData": {"mimeType": "image/png", "data": PNG}}
    assert told((TextPart("see"), image))[0]["functionResponse"] == {
        "id": "id-1",
        "name": "f",
        "response": {"output": "see"},
        "parts": [blob],
    }
    old = Target(model="gemini-2.5-pro", quirks=Quirks(result_media=False))
    assert told((image,), target=old) == [
        {"functionResponse": {"id": "id-1", "name": "f", "response": {"output": ""}}},
        blob,
    ]


def test_results_with_parts_come_back_as_they_were() -> None:
    """Bytes and references, with and without a response."""
    blob = {"inlineData": {"mimeType": "application/pdf", "data": PNG}}
    reference = {"fileData": {"fileUri": "files/1", "mimeType": "image/png"}}
    contents = [
        turn({"text": "q"}),
        turn(BARE, role="model"),
        turn(result({"pages": 1}, parts=[blob, reference])),
    ]
    messages = decode({"contents": contents}).request.messages
    assert messages[2].tool_results[0].content == (
        Json({"pages": 1}),
        DocumentPart(b"\x89PNG\r\n\x1a\n", "application/pdf"),
        OpaquePart("google", "media_ref", reference),
    )
    assert sent(*messages)["contents"] == contents


def test_res_35_a_call_follows_the_user_or_results() -> None:
    """Neighbouring turns of the model are one; a call with nothing before it follows a turn of the user, with words."""
    call, answer = ToolCall("id-1", "f", "{}"), Message("tool", (ToolResult("id-1", "f", "x"),))
    encoded = encode(Request(messages=(user("q"), assistant("Let me see."), assistant(call), answer)))
    assert codes(encoded.changes) == ["messages_merged"]
    roles = [content["role"] for content in sent(user("q"), assistant("Hm."), assistant(call), answer)["contents"]]
    assert roles == ["user", "model", "user"]
    first = sent(assistant(call), answer)["contents"]
    assert first[0] == {"role": "user", "parts": [{"text": "Go on."}]}


VERTEX = Target(model="gemini-3-pro", quirks=Quirks(call_ids_back=False))


@pytest.mark.parametrize(("ids", "target"), [(("call_0", "call_1", "call_2"), Target()), (("a", "b", "c"), VERTEX)])
@pytest.mark.parametrize("signed", [False, True])
def test_r11_results_without_ids_stand_in_the_order_of_their_calls(
    ids: tuple[str, str, str], target: Target, signed: bool
) -> None:
    """Two calls of one tool whose results came the other way round: without ids the first would get the second's."""
    first, other, second = ids
    seal = Sealed("google", {"thoughtSignature": "c2ln"}) if signed else None
    calls = assistant(
        ToolCall(first, "f", '{"n":1}', sealed=seal), ToolCall(other, "g", "{}"), ToolCall(second, "f", '{"n":2}')
    )
    came = [ToolResult(second, "f", "two"), ToolResult(other, "g", "three"), ToolResult(first, "f", "one")]
    encoded = encode(Request(messages=(user("q"), calls, Message("tool", tuple(came)))), target=target)
    answers = json.loads(encoded.body)["contents"][2]["parts"]
    assert [part["functionResponse"] for part in answers] == [
        {"name": "f", "response": {"output": "one"}},
        {"name": "g", "response": {"output": "three"}},
        {"name": "f", "response": {"output": "two"}},
    ]
    assert [(change.code, change.path) for change in encoded.changes if change.code != "seal_foreign"] == [
        ("order_changed", "/messages/2")
    ]
    apart = encode(Request(messages=(user("q"), calls, *[Message("tool", (one,)) for one in came])), target=target)
    assert json.loads(apart.body)["contents"][2]["parts"] == answers
    assert "order_changed" in codes(apart.changes)
    in_order = encode(Request(messages=(user("q"), calls, Message("tool", tuple(came[::-1])))), target=target)
    assert json.loads(in_order.body)["contents"][2]["parts"] == answers
    assert "order_changed" not in codes(in_order.changes)


def test_very_many_results_are_put_in_order_in_one_pass() -> None:
    """Each result in a message of its own, the last call's first: what takes a pass for each message takes minutes."""
    ids = [f"call_{number}" for number in range(4_000)]
    calls = assistant(*[ToolCall(call_id, "look", "{}") for call_id in ids])
    results = [Message("tool", (ToolResult(call_id, "look", call_id),)) for call_id in reversed(ids)]
    encoded = encode(Request(messages=(user("Hi"), calls, *results)))
    answers = json.loads(encoded.body)["contents"][-1]["parts"]
    assert [answer["functionResponse"]["response"]["output"] for answer in answers] == ids
    assert [(change.code, change.path) for change in encoded.changes] == [("order_changed", "/messages/4001")]


def test_results_with_ids_stay_where_they_are() -> None:
    """The service pairs them by their ids."""
    calls = assistant(ToolCall("a", "f", "{}"), ToolCall("b", "f", "{}"))
    answers = Message("tool", (ToolResult("b", "f", "2"), ToolResult("a", "f", "1")))
    parts = sent(user("q"), calls, answers)["contents"][2]["parts"]
    assert [part["functionResponse"]["id"] for part in parts] == ["b", "a"]


def test_res_07_a_call_without_a_result_is_an_error_or_repaired() -> None:
    """Never sent unpaired."""
    messages = (user("q"), assistant(ToolCall("id-1", "f", "{}")))
    with pytest.raises(HistoryError):
        encode(Request(messages=messages))
    body = encode(Request(messages=messages), history="mend").body
    assert b'"functionResponse":{"id":"id-1","name":"f","response":{"error":"' in body


def test_a_cached_content_may_hold_the_calls() -> None:
    """A request that goes on with one may answer calls that it does not contain; another dialect's state is refused."""
    body = {"cachedContent": "cachedContents/1", "contents": [turn(result({"output": "x"}, id="fc-9"))]}
    request = decode(body).request
    assert request.continues == ServerState("google", {"cachedContent": "cachedContents/1"})
    assert sent(*request.messages, continues=request.continues)["cachedContent"] == "cachedContents/1"
    with pytest.raises(UnsupportedError) as caught:
        encode(Request(messages=(user("q"),), continues=ServerState("openai-responses", {"conversation": "c"})))
    assert codes(caught.value.changes) == ["server_state"]


# Signatures


def test_thk_07_a_signature_goes_back_on_its_own_part() -> None:
    """On calls, texts and thoughts alike; an empty text that only carries one is kept."""
    contents = [
        turn({"text": "q"}),
        turn(
            {"text": "hm", "thought": True, "thoughtSignature": "YQ=="},
            {"text": "Hi", "thoughtSignature": "Yg=="},
            {"text": "", "thoughtSignature": "Yw=="},
            role="model",
        ),
        turn({"text": "more"}),
    ]
    messages = decode({"contents": contents}).request.messages
    assert messages[1].parts == (
        ThinkingPart("hm", Sealed("google", {"thoughtSignature": "YQ=="})),
        TextPart("Hi", sealed=Sealed("google", {"thoughtSignature": "Yg=="})),
        TextPart("", sealed=Sealed("google", {"thoughtSignature": "Yw=="})),
    )
    assert sent(*messages)["contents"] == contents


def test_thk_09_a_foreign_call_gets_the_documented_filler() -> None:
    """The first call of a step alone, where the model insists or the seal was another's; else nothing is added."""
    calls = (ToolCall("a", "f", "{}"), ToolCall("b", "f", "{}"))
    answers = Message("tool", (ToolResult("a", "f", "x"), ToolResult("b", "f", "y")))
    strict = Target(model="gemini-3-pro", facts=Facts(call_seals=True))
    encoded = encode(Request(messages=(user("q"), assistant(*calls), answers)), target=strict)
    assert encoded.body.count(b"skip_thought_signature_validator") == 1
    assert [(change.code, change.path) for change in encoded.changes] == [("seal_filler", "/messages/1/parts/0")]
    assert "thoughtSignature" not in str(sent(user("q"), assistant(*calls), answers))


def test_thk_09_a_seal_of_another_issuer_is_replaced() -> None:
    """Another dialect's state, or another model's, is dropped with an entry and the filler takes its place."""
    foreign = ToolCall("a", "f", "{}", sealed=Sealed("openai-chat", {"extra_content": {}}))
    other = ToolCall("a", "f", "{}", sealed=Sealed("google", {"thoughtSignature": "YQ=="}, "google", "gemini-2.5-pro"))
    for call in (foreign, other):
        messages = (user("q"), assistant(call), Message("tool", (ToolResult("a", "f", "x"),)))
        encoded = encode(Request(messages=messages))
        assert codes(encoded.changes) == ["seal_foreign", "seal_filler"]
        assert b'"thoughtSignature":"skip_thought_signature_validator"' in encoded.body


def test_thinking_without_a_fitting_seal_is_a_thought() -> None:
    """Whoever thought it; a sealed block without text is dropped."""
    parts = (ThinkingPart("hm", Sealed("anthropic", {"signature": "x"})), ThinkingPart("", Sealed("anthropic", {})))
    encoded = encode(Request(messages=(user("q"), assistant(*parts, "Hi"), user("more"))))
    assert codes(encoded.changes) == ["seal_foreign", "seal_foreign"]
    assert b'"parts":[{"text":"hm","thought":true},{"text":"Hi"}]' in encoded.body


# Roles, media and the rest


def test_old_roles_are_the_user_s_and_unknown_ones_survive() -> None:
    """`function` is read as `user`; a role that nobody knows goes back."""
    body = {"contents": [turn({"text": "a"}), turn(BARE, role="model"), turn(result({"output": "x"}), role="function")]}
    assert [message.role for message in decode(body).request.messages] == ["user", "assistant", "tool"]
    odd = decode({"contents": [turn({"text": "a"}, role="invalid_role")]}).request.messages
    assert sent(*odd)["contents"] == [{"role": "invalid_role", "parts": [{"text": "a"}]}]


def test_a_system_message_on_the_way_is_told_in_its_place() -> None:
    """So what was sent before stays as it was; leading ones are the instruction."""
    encoded = encode(Request(messages=(system("A"), user("q"), system("B"), user("r"))))
    assert codes(encoded.changes) == ["system_moved"]
    body = sent(system("A"), user("q"), system("B"), user("r"))
    assert body["systemInstruction"] == {"parts": [{"text": "A"}]}
    assert [content["role"] for content in body["contents"]] == ["user", "user", "user"]


def test_the_encoding_of_a_prefix_is_a_prefix() -> None:
    """Adding a turn changes no byte of the turns before it."""
    call, answer = ToolCall("a", "f", '{"x":1}'), Message("tool", (ToolResult("a", "f", "x"),))
    whole = (system("S"), user("q"), assistant(call), answer, assistant("Hi"), system("later"), user("r"))
    last = b""
    for count in (2, 4, 5, 6, 7):
        body = encode(Request(messages=whole[:count])).body
        assert body.startswith(last.removesuffix(b"]}"))
        last = body


def test_media_go_by_their_type() -> None:
    """Images, audio, documents and references, each back as it came."""
    contents = [
        turn(
            {
                "inlineData": {"mimeType": "image/png", "data": PNG},
                "mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"},
            },
            {"inlineData": {"mimeType": "audio/wav", "data": PNG}},
            {"inlineData": {"mimeType": "application/pdf", "data": PNG, "displayName": "a.pdf"}},
            {"inlineData": {"mimeType": "video/mp4", "data": PNG}, "videoMetadata": {"fps": 2}},
            {"fileData": {"fileUri": "gs://b/a.png", "mimeType": "image/png"}},
        )
    ]
    messages = decode({"contents": contents}).request.messages
    kinds = [type(part) for part in messages[0].parts]
    assert kinds == [ImagePart, AudioPart, DocumentPart, DocumentPart, OpaquePart]
    assert messages[0].parts[0].detail == "low"  # type: ignore[union-attr] - an image, as told above
    assert sent(*messages)["contents"] == contents


def test_a_reference_of_another_dialect_is_refused() -> None:
    """By name, with the path."""
    with pytest.raises(UnsupportedError) as caught:
        encode(Request(messages=(user(OpaquePart("openai-chat", "media_ref", {"image_url": {"url": "https://a"}})),)))
    assert [(change.code, change.path) for change in caught.value.changes] == [("media_refs", "/messages/0/parts/0")]


def test_parts_that_only_the_service_knows_go_back_verbatim() -> None:
    """Code, its result and server calls are steps, what is not known is opaque; signatures are inside."""
    parts = [
        {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "YQ=="},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "t"}},
        {"somethingNew": {"a": 1}},
    ]
    contents = [turn({"text": "q"}), turn(*parts, role="model"), turn({"text": "r"})]
    messages = decode({"contents": contents}).request.messages
    assert messages[1].parts == (
        ServerToolPart(
            "google", "executableCode", parts[0], "code_execution", None, {"language": "PYTHON", "code": "1"}
        ),
        ServerToolPart("google", "codeExecutionResult", parts[1], "code_execution", output="1"),
        ServerToolPart("google", "toolCall", parts[2], "google_search_web", "t", {}),
        OpaquePart("google", "somethingNew", parts[3]),
    )
    assert sent(*messages)["contents"] == contents


def test_an_empty_content_stays_a_content() -> None:
    """An empty text of a user is kept as a turn without parts, and sent as an empty text."""
    messages = decode({"contents": [turn({"text": ""})]}).request.messages
    assert messages == (Message("user"),)
    assert sent(*messages)["contents"] == [turn({"text": ""})]


def test_broken_arguments_in_a_history_are_an_error() -> None:
    """Under `refuse`; sent as text under `mend`."""
    broken = (
        b'{"contents":[{"parts":[{"text":"q"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":[1]}}]},'
    )
    body = broken + b'{"parts":[{"functionResponse":{"name":"f","response":{"error":"no"}}}]}]}'
    with pytest.raises(HistoryError, match="not_object"):
        decode(body)
    assert "arguments_broken" in codes(decode(body, history="mend").changes)


def test_a_call_without_a_name_is_an_error() -> None:
    """With its place."""
    with pytest.raises(DecodeError) as caught:
        decode({"contents": [turn({"text": "q"}), turn({"functionCall": {"args": {}}}, role="model")]})
    assert caught.value.path == "/contents/1/parts/0/functionCall/name"
    assert caught.value.status == 400


def test_a_broken_call_and_its_result_are_told_as_text() -> None:
    """Before they are sent."""
    broken = BrokenToolCall("a", "f", '{"x', "malformed")
    messages = (user("q"), assistant(broken), Message("tool", (ToolResult("a", "f", "no", is_error=True),)))
    assert codes(encode(Request(messages=messages)).changes) == ["broken_call_as_text"]
