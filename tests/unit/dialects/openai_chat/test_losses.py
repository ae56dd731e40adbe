"""What a request loses on its way to a server that lacks something: an entry each, never silence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions, ServerContext, Target
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError, UsageError
from interlingua.providers.rows import ROWS
from interlingua.types.content import (
    BrokenToolCall,
    Citation,
    DocumentPart,
    ImagePart,
    Sealed,
    TextPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.event import StreamEnd
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.tool import Tool
from interlingua.wire.http import HttpReply
from tests.support.chat import DIALECT, codes, decode, encode, quirky, request, wire

FOREIGN = {"anthropic": {"x": 1}}


def test_ornaments_of_a_prompt_that_have_no_place() -> None:
    """Marks, annotations, seals, details and members of other dialects."""
    text = TextPart("a", (Citation("openai-chat", {}),), cache="5m", sealed=Sealed("google", {}), extra=FOREIGN)
    image = ImagePart(b"", "image/png", detail="low")
    asked = Request(messages=(user(text, image),), tools=(Tool(name="f", cache="1h", extra=FOREIGN),))
    target = quirky(cache_marks="none", image_url_string=True)
    assert sorted(codes(encode(asked, target).changes)) == [
        "annotation_unsupported /messages/0/parts/0/annotations",
        "cache_unsupported /messages/0/parts/0/cache",
        "cache_unsupported /tools/0/cache",
        "detail_unsupported /messages/0/parts/1/detail",
        "extra_foreign /messages/0/parts/0/extra/anthropic",
        "extra_foreign /tools/0/extra/anthropic",
        "seal_foreign /messages/0/parts/0/sealed",
    ]


def test_a_mark_on_a_result_has_no_place() -> None:
    """The wire marks parts, not messages."""
    call, result = ToolCall("a", "f", "{}"), ToolResult("a", "f", "4", cache="5m")
    asked = Request(messages=(user("Hi"), assistant(call), Message("tool", (result,))))
    assert codes(encode(asked).changes) == ["cache_unsupported /messages/2/parts/0/cache"]


def test_a_document_url_is_read() -> None:
    """With the document in it as bytes, without it as a reference."""
    body = '[{"role":"user","content":[{"type":"document_url","document_url":"data:application/pdf;base64,JVBERg==","document_name":"a","new":1},{"type":"document_url","document_url":"https://h/"}]}]'
    first, second = request(body).messages[0].parts
    assert first == DocumentPart(b"%PDF", "application/pdf", "a", extra={"openai-chat": {"new": 1}})
    assert wire(request(body))["messages"][0]["content"][1] == {"type": "document_url", "document_url": "https://h/"}
    assert getattr(second, "kind", None) == "media_ref"


def test_under_mend_broken_calls_and_those_without_results_are_repaired_together() -> None:
    """A broken call without a result is text; nothing is made up for it but the text."""
    body = (
        '[{"role":"user","content":"Hi"},{"role":"assistant","content":"x","tool_calls":[{"id":"a","type":"function",'
        '"function":{"name":"f","arguments":"{"}}]},{"role":"user","content":"Go"}]'
    )
    repaired = decode(body, DecodeOptions(history="mend"))
    assert codes(repaired.changes) == ["result_missing /messages/2", "arguments_broken /messages/1/parts/1"]
    assert not any(message.tool_calls or message.tool_results for message in repaired.request.messages)


def test_a_broken_call_with_its_result_is_sent_as_text() -> None:
    """Also where it is all that the turn says."""
    broken = BrokenToolCall("b", "g", "[1]", "not_object")
    asked = Request(messages=(user("Hi"), assistant(broken), Message("tool", (ToolResult("b", "g", "bad"),))))
    assert [message["content"] for message in wire(asked)["messages"]] == ["Hi", "g([1])", "g: bad"]


def test_our_own_decode_error_names_the_member() -> None:
    """As clients of this dialect know places."""
    with pytest.raises(DecodeError) as found:
        request('[{"role":"robot"}]')
    sent = DIALECT.encode_error(found.value, ServerContext())
    assert b'"type":' in sent.body


def test_an_unknown_dialect_is_our_callers_error() -> None:
    """The table names what there is."""
    with pytest.raises(UsageError):
        get_dialect("telepathy")


def test_a_picture_of_the_assistant_goes_back_where_it_is_taken() -> None:
    """As `images` at OpenRouter; elsewhere it is left out, and that is said."""
    asked = Request(messages=(user("Draw."), assistant(ImagePart(b"png", "image/png")), user("Again.")))
    routed = encode(asked, target=Target(model="m", provider="openrouter", quirks=ROWS["openrouter"].quirks))
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}}
    assert (json.loads(routed.body)["messages"][1]["images"], codes(routed.changes)) == ([picture], [])
    plain = encode(asked, target=Target(model="m", provider="openai", quirks=ROWS["openai-chat"].quirks))
    assert json.loads(plain.body)["messages"][1] == {"role": "assistant", "content": ""}
    assert codes(plain.changes) == ["opaque_part /messages/1/parts/0"]


@pytest.mark.parametrize(
    ("transcript", "provider", "message", "told"),
    [
        ("Hi.", "openai", {"content": None, "audio": {"id": "audio_1"}}, []),
        ("Hi.", "", {"content": None, "audio": {"id": "audio_1"}}, []),
        ("Hi.", "azure", {"content": "Hi."}, ["media_as_text /messages/1/parts/0"]),
        (None, "azure", {"content": ""}, ["opaque_part /messages/1/parts/0"]),
    ],
)
def test_what_was_spoken_goes_back_by_its_id(
    transcript: str | None, provider: str, message: dict[str, Any], told: list[str]
) -> None:
    """To the provider that gave the id, whole or streamed; any other gets the transcript, and never the sound."""
    audio = {"id": "audio_1", "data": "UklGRg==", "transcript": transcript, "expires_at": 9}
    said = {name: value for name, value in audio.items() if value is not None}
    context = DecodeContext(target=Target(provider="openai"))
    whole = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "audio": said}}]}
    response = DIALECT.decode_response(HttpReply(status=200, body=json.dumps(whole).encode()), context)
    chunk = {"choices": [{"index": 0, "finish_reason": "stop", "delta": {"role": "assistant", "audio": said}}]}
    decoder = DIALECT.stream_decoder(context)
    last = [*decoder.feed(b"data: %b\n\ndata: [DONE]\n\n" % json.dumps(chunk).encode()), *decoder.close()][-1]
    assert isinstance(last, StreamEnd)
    assert last.response.parts == response.parts
    request = Request(messages=(user("Speak."), response.message, user("Again.")))
    encoded = encode(request, target=Target(model="m", provider=provider))
    assert json.loads(encoded.body)["messages"][1] == {"role": "assistant", **message}
    assert codes(encoded.changes) == told
    again = json.loads(DIALECT.encode_response(response, ServerContext(source="openai-chat")).body)
    assert again["choices"][0]["message"]["audio"] == said
