"""Answers that are the value of an enum: bare for a client that asked for `text/x.enum`, whoever answers."""

from __future__ import annotations

import json
from typing import Any

from interlingua.codec.exchange import Bridge, bridge
from interlingua.dialects._contract import ServerContext
from interlingua.dialects.google.enums import EnumTexts, enum_parts
from interlingua.errors import RateLimitError
from interlingua.stream.build import stream_error
from interlingua.types.content import Citation, TextPart
from interlingua.types.event import BlockEnd, BlockStart, StreamStart, TextDelta
from tests.support.google import DIALECT

CONFIG = {"responseMimeType": "text/x.enum", "responseSchema": {"type": "STRING", "enum": ["red", "blue"]}}


def asked(target: str, config: dict[str, Any] = CONFIG, path: str = "") -> tuple[Bridge, Any]:
    """A bridge that has sent a request for a colour, and its body."""
    made = bridge("google", target, model="m")
    contents = [{"role": "user", "parts": [{"text": "Pick."}]}]
    return made, made.request({"contents": contents, "generationConfig": config}, path=path)


def claude_says(text: str) -> dict[str, Any]:
    """An answer of Claude."""
    content, usage = [{"type": "text", "text": text}], {"input_tokens": 1, "output_tokens": 1}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude"}
    return {**head, "content": content, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}


def claude_streams(*texts: str) -> list[bytes]:
    """A stream of Claude."""
    begun: dict[str, Any] = {**claude_says(""), "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *[{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}} for text in texts],
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n".encode() for one in events]


def texts_of(data: bytes) -> list[str]:
    """The texts of the frames that a client of Google gets."""
    frames = [json.loads(line[6:]) for line in data.decode().splitlines() if line.startswith("data: ")]
    contents = [one["content"] for frame in frames for one in frame.get("candidates", [])]
    return [part["text"] for content in contents for part in content.get("parts", [])]


def said(*texts: str, config: dict[str, Any] = CONFIG) -> str:
    """The text that a client of Google gets of a stream of Claude."""
    made, _ = asked("anthropic", config, "/v1beta/models/m:streamGenerateContent?alt=sse")
    return "".join(texts_of(b"".join(made.stream(claude_streams(*texts)))))


def test_the_reply_is_the_bare_value() -> None:
    """Claude, which was asked for JSON, says `"red"`; the client gets `red`, and nothing was lost on the way."""
    made, body = asked("anthropic")
    assert body["output_config"]["format"]["schema"] == {"type": "string", "enum": ["red", "blue"]}
    reply: Any = made.response(claude_says('"red"'))
    assert reply["candidates"][0]["content"]["parts"] == [{"text": "red"}]
    assert [change.code for change in made.changes] == ["parameter_added"]


def test_a_value_under_a_member_is_bare_too() -> None:
    """OpenAI takes no string as the root of a schema, so that the value comes as the member of an object."""
    made, body = asked("openai-chat")
    assert list(body["response_format"]["json_schema"]["schema"]["properties"]) == ["value"]
    message = {"role": "assistant", "content": '{"value":"blue"}'}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    reply: Any = made.response({**head, "choices": [choice]})
    assert reply["candidates"][0]["content"]["parts"] == [{"text": "blue"}]


def test_other_answers_stay_as_they_are() -> None:
    """What is no JSON string, a client that asked for JSON, and Google's own answer, which is bare already."""
    for text in ("red", '"red" is best', "5", '{"value": "red"}', '"red'):
        made, _ = asked("anthropic")
        reply: Any = made.response(claude_says(text))
        assert reply["candidates"][0]["content"]["parts"] == [{"text": text}]
        assert said(*text) == text
    as_json = {**CONFIG, "responseMimeType": "application/json"}
    made, _ = asked("anthropic", as_json)
    reply = made.response(claude_says('"red"'))
    assert reply["candidates"][0]["content"]["parts"] == [{"text": '"red"'}]
    assert said('"red"', config=as_json) == '"red"'
    made, body = asked("google")
    assert body["generationConfig"] == CONFIG
    own: Any = {"candidates": [{"content": {"parts": [{"text": '"red"'}], "role": "model"}, "finishReason": "STOP"}]}
    reply = made.response(own)
    assert reply["candidates"][0]["content"]["parts"] == [{"text": '"red"'}]


def test_a_stream_is_bare_however_it_is_cut() -> None:
    """The quotes may come alone, beside blanks, or around an escape that is cut in two."""
    assert said('"red"') == "red"
    assert said('"', "re", "d", '"') == "red"
    assert said(" \n", ' "blue', '" \n') == "blue"
    assert said('"a\\', 'u0062"') == "ab"
    assert said('""') == ""
    assert said("It ", 'is "red"') == 'It is "red"'
    assert said("\n", " ") == "\n "


def test_a_stream_that_fails_still_says_what_it_held() -> None:
    """The beginning of a value is given out before the error."""
    encoder = DIALECT.stream_encoder(ServerContext(enum_text=True, source="anthropic"))
    events = [StreamStart(), BlockStart(0, "text"), TextDelta(0, '"re'), stream_error(RateLimitError("slow"), None)]
    assert texts_of(b"".join(map(encoder.encode, events))) == ['"r', "e"]


def test_a_text_with_citations_stays_as_it_is() -> None:
    """Its citations point into the text, quotes counted."""
    cited = TextPart('"red"', (Citation(dialect="anthropic", start=1, end=4, raw={}),))
    assert enum_parts([cited, TextPart('"red"')]) == (cited, TextPart("red"))
    stage = EnumTexts()
    delta, end = TextDelta(0, '"red"'), BlockEnd(0, cited)
    assert stage.take(delta) == []
    assert stage.take(end) == [delta, end]


def test_another_media_type_has_an_entry() -> None:
    """A type that nobody knows stays a member, and an enum without a schema does as well."""
    for config in ({"responseMimeType": "text/x.enum"}, {**CONFIG, "responseMimeType": "text/x.other"}):
        made, _ = asked("anthropic", config)
        assert "extra_foreign" in [change.code for change in made.changes]
