"""Results, order and history: each test feeds what broke somebody."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeOptions
from interlingua.errors import DecodeError, HistoryError, UnsupportedError
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    DocumentPart,
    ImagePart,
    Json,
    OpaquePart,
    TextPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.tool import OpaqueTool
from tests.support.chat import codes, decode, encode, quirky, reply, request, wire

PNG = b"\x89PNG"
PNG_URL = "data:image/png;base64," + base64.b64encode(PNG).decode()
CALL = ToolCall("a", "f", "{}")
MEND = DecodeOptions(history="mend")


def told(*parts: Any, **options: Any) -> Any:
    """The messages after the call of a conversation whose tool message has these parts."""
    asked = Request(messages=(user("Hi"), assistant(CALL), Message("tool", parts)))
    return wire(asked, **options)["messages"][2:]


def result(content: Any, **members: Any) -> ToolResult:
    """A result of the call."""
    return ToolResult("a", "f", content, **members)


def test_res_02_results_come_first_then_the_text_beside_them() -> None:
    """A message with text and a result, in the wrong order: the tool message right after its call."""
    assert told(TextPart("And now?"), result("ok")) == [
        {"role": "tool", "tool_call_id": "a", "content": "ok"},
        {"role": "user", "content": "And now?"},
    ]


def test_res_03_media_beside_a_result_follow_in_a_user_message() -> None:
    """Images and documents are not dropped."""
    document = DocumentPart(b"%PDF", "application/pdf", "a.pdf")
    assert told(result("ok"), ImagePart(PNG, "image/png"), document) == [
        {"role": "tool", "tool_call_id": "a", "content": "ok"},
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": PNG_URL}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERg=="}},
            ],
        },
    ]


def test_res_04_an_image_in_a_result_moves_where_the_server_takes_text_alone() -> None:
    """A note in the tool message, the image in the user message after it, and an entry; else it stays."""
    image = result((TextPart("The plot:"), ImagePart(PNG, "image/png")))
    asked = Request(messages=(user("Hi"), assistant(CALL), Message("tool", (image,))))
    target = quirky(result_media=False)
    assert wire(asked, target)["messages"][2:] == [
        {"role": "tool", "tool_call_id": "a", "content": "The plot:"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Media of the result of f:"},
                {"type": "image_url", "image_url": {"url": PNG_URL}},
            ],
        },
    ]
    assert codes(encode(asked, target).changes) == ["result_media_moved /messages/2/parts/0/content"]
    assert told(image) == [
        {
            "role": "tool",
            "tool_call_id": "a",
            "content": [
                {"type": "text", "text": "The plot:"},
                {"type": "image_url", "image_url": {"url": PNG_URL}},
            ],
        }
    ]


def test_res_04_an_image_without_text_leaves_a_note() -> None:
    """Never base64 as text."""
    asked = Request(messages=(user("Hi"), assistant(CALL), Message("tool", (result((ImagePart(PNG, "image/png"),)),))))
    sent = wire(asked, quirky(result_media=False))["messages"][2]
    assert sent["content"] == "[1 media part(s) of this result follow in the next user message]"


ORPHAN = (
    '[{"role":"user","content":"Hi"},{"role":"tool","tool_call_id":"gone","name":"f","content":"4"},'
    '{"role":"user","content":"Go on"}]'
)


def test_res_06_a_result_without_its_call() -> None:
    """`refuse` names it, `mend` tells it as text."""
    with pytest.raises(HistoryError, match=r"^messages\[1\]: a tool result names the call 'gone', which is not in"):
        request(ORPHAN)
    repaired = decode(ORPHAN, MEND)
    assert repaired.request.messages == (user("Hi"), user("Result of the tool f: 4"), user("Go on"))
    assert codes(repaired.changes) == ["result_orphan /messages/1"]


MISSING = (
    '[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function",'
    '"function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},'
    '{"role":"tool","tool_call_id":"b","content":"4"},{"role":"user","content":"Stop"}]'
)


def test_res_07_a_call_without_result() -> None:
    """`refuse` names it, `mend` puts an error result in its place, beside those that are there."""
    with pytest.raises(HistoryError, match=r"the call 'a' of messages\[1\] \(tool f\) has no result"):
        request(MISSING)
    repaired = decode(MISSING, MEND)
    lost = "This call has no result: it was cancelled or its result was lost."
    assert repaired.request.messages[2] == Message(
        "tool", (ToolResult("b", "f", "4"), ToolResult("a", "f", lost, is_error=True))
    )
    assert codes(repaired.changes) == ["result_missing /messages/3"]


def test_res_07_a_call_at_the_very_end_has_no_result_either() -> None:
    """A tool message is made where there was none."""
    body = MISSING[: MISSING.index(',{"role":"tool"')] + "]"
    with pytest.raises(HistoryError, match=r"\(and 1 more\)"):
        request(body)
    repaired = request(body, MEND)
    assert [part.call_id for part in repaired.messages[2].tool_results] == ["a", "b"]


def test_res_08_two_results_of_one_call() -> None:
    """The first wins."""
    body = MISSING.replace(
        '{"role":"tool","tool_call_id":"b","content":"4"}',
        '{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"2"},'
        '{"role":"tool","tool_call_id":"a","content":"3"}',
    )
    with pytest.raises(HistoryError, match=r"a second result for the call 'a' \(tool f\)"):
        request(body)
    repaired = decode(body, MEND)
    assert [part.content for part in repaired.request.messages[2].tool_results] == ["1", "2"]
    assert codes(repaired.changes) == ["result_duplicate /messages/2"]


def test_sec_09_two_calls_of_one_id() -> None:
    """`refuse`: an error; `mend`: re-keyed, each result to its own call, in order."""
    body = (
        '[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function",'
        '"function":{"name":"read","arguments":"{}"}},{"id":"x","type":"function",'
        '"function":{"name":"wipe","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":"of read"},'
        '{"role":"tool","tool_call_id":"x","content":"of wipe"}]'
    )
    with pytest.raises(HistoryError, match=r"two calls have the id 'x' \(tool wipe\)"):
        request(body)
    repaired = request(body, MEND)
    assert [(call.id, call.name) for call in repaired.messages[1].tool_calls] == [("x", "read"), ("call_1", "wipe")]
    assert [(part.call_id, part.name, part.content) for part in repaired.messages[2].tool_results] == [
        ("x", "read", "of read"),
        ("call_1", "wipe", "of wipe"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        '[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}]',
        '[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"4"}]}]',
        '[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"","media_type":"image/png"}}]}]',
        '[{"role":"user","content":[{"type":"input_text","text":"Hi"}]}]',
    ],
)
def test_res_09_parts_of_another_dialect_are_refused_by_name(body: str) -> None:
    """Neither stripped nor passed on: a clear error with the place."""
    with pytest.raises(DecodeError, match="belongs to another dialect") as found:
        request(body)
    assert found.value.path == "/messages/0/content/0"


def test_res_10_text_after_a_call_is_told_before_it() -> None:
    """Legal elsewhere; the lost order is an entry, never a refusal."""
    asked = Request(messages=(user("Hi"), assistant("One. ", CALL, "Two."), Message("tool", (result("ok"),))))
    sent = wire(asked)["messages"][1]
    assert sent["content"] == [{"type": "text", "text": "One. "}, {"type": "text", "text": "Two."}]
    assert len(sent["tool_calls"]) == 1
    assert codes(encode(asked).changes) == ["order_changed /messages/1/parts/2"]


@pytest.mark.parametrize("content", ['"content":""', '"content":null', '"content":[]', '"x":1'])
def test_res_14_an_empty_result_is_a_result(content: str) -> None:
    """Empty, null, no parts, missing: accepted, paired, and sent as empty text."""
    body = MISSING.replace('"content":"4"}', f'{content}}},{{"role":"tool","tool_call_id":"a","content":""}}')
    asked = request(body)
    assert [part.content for part in asked.messages[2].tool_results] == ["", ""]
    assert wire(asked)["messages"][2]["content"] == ""


@pytest.mark.parametrize(
    ("content", "sent"),
    [
        ("disk full", "ERROR: disk full"),
        ("ERROR: disk full", "ERROR: disk full"),
        ("", "ERROR: "),
        (Json({"code": 5}), 'ERROR: {"code":5}'),
        (
            (TextPart("disk "), TextPart("full")),
            [{"type": "text", "text": "ERROR: disk "}, {"type": "text", "text": "full"}],
        ),
        (
            (ImagePart(PNG, "image/png"),),
            [{"type": "text", "text": "ERROR:"}, {"type": "image_url", "image_url": {"url": PNG_URL}}],
        ),
    ],
)
def test_res_16_a_failed_tool_is_marked_by_one_prefix(content: Any, sent: Any) -> None:
    """Never doubled, and read back as the flag."""
    assert told(result(content, is_error=True)) == [{"role": "tool", "tool_call_id": "a", "content": sent}]


def test_res_16_the_prefix_is_the_flag() -> None:
    """Read: text without prefix, flag set; a plain result that reads like an error is an entry."""
    body = MISSING.replace(
        '"content":"4"}', '"content":"ERROR: no"},{"role":"tool","tool_call_id":"a","content":"ERROR"}'
    )
    assert request(body).messages[2].tool_results == (
        ToolResult("b", "f", "no", is_error=True),
        ToolResult("a", "f", "ERROR"),
    )
    plain = Request(messages=(user("Hi"), assistant(CALL), Message("tool", (result("ERROR: sic"),))))
    assert codes(encode(plain).changes) == ["error_prefix_ambiguous /messages/2/parts/0/is_error"]


@pytest.mark.parametrize("content", ['""', "null", '[{"type":"text","text":""}]', "[]"])
def test_res_17_empty_text_beside_calls_is_no_part(content: str) -> None:
    """Read as nothing, in a history and in an answer."""
    call = '"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]'
    body = f'[{{"role":"user","content":"Hi"}},{{"role":"assistant","content":{content},{call}}},{{"role":"tool","tool_call_id":"a","content":"x"}}]'  # noqa: E501 - one body
    assert request(body).messages[1].parts == (CALL,)
    assert reply(f'{{"content":{content},{call}}}', "tool_calls").parts == (CALL,)


@pytest.mark.parametrize(("rule", "members"), [("null", {"content": None}), ("empty", {"content": ""}), ("omit", {})])
def test_res_18_a_message_that_only_calls_follows_the_targets_rule(rule: str, members: dict[str, Any]) -> None:
    """Null, empty or nothing, by a quirk."""
    asked = Request(messages=(user("Hi"), assistant(CALL), Message("tool", (result("x"),))))
    sent = wire(asked, quirky(tool_only_content=rule))["messages"][1]
    del sent["tool_calls"]
    assert sent == {"role": "assistant", **members}


@pytest.mark.parametrize("content", ['"content":null,', '"content":"",', ""])
def test_res_19_calls_are_read_whatever_the_content(content: str) -> None:
    """Null content hides no call."""
    message = f'{{{content}"tool_calls":[{{"id":"a","type":"function","function":{{"name":"f","arguments":"{{}}"}}}}]}}'
    assert reply(message, "tool_calls").parts == (CALL,)


def test_res_20_a_system_message_in_the_middle_stays_there() -> None:
    """The first is the system text, the second a message; both go out where they were."""
    body = (
        '[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"},{"role":"assistant","content":"Yes?"},'
        '{"role":"system","content":"Now be long."},{"role":"user","content":"Go"}]'
    )
    asked = request(body)
    assert asked.system == (TextPart("Be brief."),)
    assert [message.role for message in asked.messages] == ["user", "assistant", "system", "user"]
    assert [message["role"] for message in wire(asked)["messages"]] == ["system", "user", "assistant", "system", "user"]


def test_res_28_a_result_of_unknown_parts_is_one_tool_message() -> None:
    """In this dialect verbatim; of another dialect refused, and left out when that is allowed."""
    own = OpaquePart("openai-chat", "tool_reference", {"type": "tool_reference", "tool_name": "x"})
    assert told(result((own,))) == [
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "tool_reference", "tool_name": "x"}]}
    ]
    foreign = result((OpaquePart("anthropic", "media_ref", {"type": "image"}),))
    with pytest.raises(UnsupportedError) as found:
        told(foreign)
    assert codes(found.value.changes) == ["media_refs /messages/2/parts/0/content/0"]
    assert told(foreign, allow=frozenset({"media_refs"})) == [{"role": "tool", "tool_call_id": "a", "content": ""}]


def test_res_31_a_hosted_tool_of_another_dialect_is_named() -> None:
    """Not omitted in silence; one of this dialect goes as it is."""
    hosted = OpaqueTool("anthropic", "web_search_20250305", {"type": "web_search_20250305", "name": "web_search"})
    with pytest.raises(UnsupportedError, match="web_search_20250305 of anthropic") as found:
        encode(Request(messages=(user("Hi"),), tools=(hosted,)))
    assert codes(found.value.changes) == ["server_tools /tools/0"]
    own = OpaqueTool("openai-chat", "web_search", {"type": "web_search", "size": 1})
    assert wire(Request(messages=(user("Hi"),), tools=(own,)))["tools"] == [{"type": "web_search", "size": 1}]


def test_res_33_one_image_and_two_take_one_path() -> None:
    """Always a list of parts, never a bare URL."""
    one, two = ImagePart(PNG, "image/png"), ImagePart(b"\xff\xd8", "image/jpeg")
    (single,) = told(result((one,)))
    (double,) = told(result((one, two)))
    assert single["content"] == double["content"][:1] == [{"type": "image_url", "image_url": {"url": PNG_URL}}]


def test_r32_a_broken_call_and_its_result_are_a_pair() -> None:
    """Both become text on the way out; the results of other calls stay results."""
    broken = BrokenToolCall("b", "g", "{", "malformed")
    results = Message("tool", (result("ok"), ToolResult("b", "g", "bad JSON", is_error=True)))
    asked = Request(messages=(user("Hi"), assistant(CALL, broken), results))
    assert wire(asked)["messages"][1:] == [
        {
            "role": "assistant",
            "content": "g({)",
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "ok"},
        {"role": "user", "content": "g: bad JSON"},
    ]


def test_audio_in_a_result_and_in_a_prompt() -> None:
    """Both are `input_audio` parts."""
    audio = AudioPart(b"RIFF", "audio/wav")
    part = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    assert told(result((audio,)))[0]["content"] == [part]
    assert wire(Request(messages=(user("Hi", audio),)))["messages"][0]["content"] == [
        {"type": "text", "text": "Hi"},
        part,
    ]


def test_res_16_a_failed_result_of_media_alone_is_read_back() -> None:
    """The mark stands in a text part of its own, and is no part of the content."""
    failed = result((ImagePart(PNG, "image/png"),), is_error=True)
    asked = Request(messages=(user("Hi"), assistant(CALL), Message("tool", (failed,))))
    body = json.dumps(wire(asked)["messages"])
    assert request(body).messages[2].parts == (failed,)
