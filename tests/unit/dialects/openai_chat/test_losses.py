"""What a request loses on its way to a server that lacks something: an entry each, never silence."""

from __future__ import annotations

import pytest

from interlingua.dialects._contract import DecodeOptions, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError, UsageError
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
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.tool import Tool
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


def test_under_mend_broken_calls_and_those_without_results_are_mended_together() -> None:
    """A broken call without a result is text; nothing is made up for it but the text."""
    body = (
        '[{"role":"user","content":"Hi"},{"role":"assistant","content":"x","tool_calls":[{"id":"a","type":"function",'
        '"function":{"name":"f","arguments":"{"}}]},{"role":"user","content":"Go"}]'
    )
    mended = decode(body, DecodeOptions(history="mend"))
    assert codes(mended.changes) == ["result_missing /messages/2", "arguments_broken /messages/1/parts/1"]
    assert not any(message.tool_calls or message.tool_results for message in mended.request.messages)


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
