"""Requests that say less than their vendor wants, or say it as other servers' clients do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua import codec
from interlingua.dialects._contract import DecodedRequest, DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError
from interlingua.providers.rows import ROWS
from interlingua.types.content import ImagePart, OpaquePart, TextPart, ThinkingPart, ToolResult
from interlingua.types.tool import Tool
from interlingua.wire.http import HttpRequest

JsonObject = dict[str, Any]
PATHS = {
    "openai-chat": "/chat/completions",
    "openai-responses": "/responses",
    "anthropic": "/messages",
    "google": "/v1beta/models/m:generateContent",
    "ollama": "/api/chat",
    "cohere": "/v2/chat",
    "unified": "/generate",
}
USER = [{"role": "user", "content": "Hi"}]
PNG = b"\x89PNG\r\n\x1a\n"
BASE64, URL = "iVBORw0KGgo=", "data:image/png;base64,iVBORw0KGgo="


def decoded(dialect: str, body: JsonObject) -> DecodedRequest:
    """What a client asks."""
    http = HttpRequest(url=f"http://localhost{PATHS[dialect]}", body=json.dumps({"model": "m", **body}).encode())
    return get_dialect(dialect).decode_request(http, DecodeOptions())


@pytest.mark.parametrize(
    ("dialect", "body", "path"),
    [
        ("openai-chat", {}, "/messages"),
        ("openai-chat", {"messages": []}, "/messages"),
        ("openai-responses", {}, "/input"),
        ("openai-responses", {"input": []}, "/input"),
        ("openai-responses", {"input": None}, "/input"),
        ("anthropic", {"max_tokens": 5}, "/messages"),
        ("anthropic", {"max_tokens": 5, "messages": []}, "/messages"),
        ("google", {}, "/contents"),
        ("google", {"contents": []}, "/contents"),
        ("cohere", {}, "/messages"),
        ("cohere", {"messages": []}, "/messages"),
        ("unified", {"messages": []}, "/messages"),
    ],
)
def test_a_body_without_any_content_is_an_error(dialect: str, body: JsonObject, path: str) -> None:
    """The client's own, with the member that is missing."""
    with pytest.raises(DecodeError, match="says nothing") as caught:
        decoded(dialect, body)
    assert (caught.value.path, caught.value.status) == (path, 400)


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("openai-responses", {"previous_response_id": "resp_1"}),
        ("openai-responses", {"conversation": "conv_1"}),
        ("openai-responses", {"prompt": {"id": "pmpt_1"}}),
        ("openai-chat", {"messages": [{"role": "system", "content": "Greet."}]}),
        ("ollama", {"messages": []}),
        ("ollama", {}),
    ],
)
def test_a_body_that_says_something_elsewhere_is_a_request(dialect: str, body: JsonObject) -> None:
    """State at the server, a stored prompt, system text, and the wish of Ollama's clients that a model be loaded."""
    assert decoded(dialect, body).request.messages == ()


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere"])
def test_definitions_of_tools_are_still_read(dialect: str) -> None:
    """They have no conversation around them."""
    (entry,) = codec.encode_definitions(
        [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}], dialect
    )
    assert [tool.name for tool in codec.decode_definitions([entry], dialect) if isinstance(tool, Tool)] == ["f"]


@pytest.mark.parametrize("image", [BASE64, URL, {"type": "image_url", "image_url": {"url": URL}}])
def test_images_beside_the_content_of_a_chat_message_are_images(image: object) -> None:
    """As clients of Ollama write them: bare base64, a URL with data, or a part; an entry says so."""
    request = decoded("openai-chat", {"messages": [{"role": "user", "content": "What?", "images": [image]}]})
    assert request.request.messages[0].parts == (TextPart("What?"), ImagePart(PNG, "image/png"))
    assert [(one.code, one.path) for one in request.changes] == [("foreign_shape", "/messages/0")]


def test_an_image_beside_the_content_may_be_a_reference() -> None:
    """It is refused where only its own dialect can follow it, as in the content."""
    request = decoded(
        "openai-chat", {"messages": [{"role": "user", "content": "What?", "images": ["https://x/a.png"]}]}
    )
    raw = {"type": "image_url", "image_url": {"url": "https://x/a.png"}}
    assert request.request.messages[0].parts[1] == OpaquePart("openai-chat", "media_ref", raw)


def test_images_of_a_result_and_of_an_answer() -> None:
    """Beside the text of a tool, and in the assistant's turn, where a router puts pictures."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    history = [
        {"role": "user", "content": "Draw."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "Done.", "images": [BASE64]},
        {"role": "assistant", "content": "Here.", "images": [URL]},
        {"role": "user", "content": "Thanks."},
    ]
    messages = decoded("openai-chat", {"messages": history}).request.messages
    picture = ImagePart(PNG, "image/png")
    assert messages[2].parts == (ToolResult("c", "f", (TextPart("Done."), picture)),)
    assert messages[3].parts == (TextPart("Here."), picture)


def test_broken_base64_beside_the_content_names_its_place() -> None:
    """The client's own fault."""
    with pytest.raises(DecodeError) as caught:
        decoded("openai-chat", {"messages": [{"role": "user", "content": "What?", "images": ["a"]}]})
    assert caught.value.path == "/messages/0/images/0"


@pytest.mark.parametrize("name", [{}, {"name": None}, {"name": ""}])
def test_a_schema_without_a_name_gets_one(name: JsonObject) -> None:
    """OpenAI wants one in both of its formats."""
    schema: JsonObject = {"type": "object", "properties": {}, "additionalProperties": False}
    body: JsonObject = {
        "messages": USER,
        "response_format": {"type": "json_schema", "json_schema": {**name, "schema": schema}},
    }
    request = decoded("openai-chat", body).request
    for dialect, provider in (("openai-chat", "openai-chat"), ("openai-responses", "openai")):
        target = Target(model="gpt-6-astra", provider=provider, quirks=ROWS[provider].quirks)
        sent = json.loads(get_dialect(dialect).encode_request(request, EncodeOptions(target=target)).body)
        given = sent["response_format"]["json_schema"] if dialect == "openai-chat" else sent["text"]["format"]
        assert (given["name"], given["schema"]) == ("response", schema)


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "google", "ollama", "cohere"])
def test_a_text_of_one_space_is_sent_where_the_provider_takes_it(dialect: str) -> None:
    """A prompt and a turn of the model; only Claude refuses them."""
    history = [
        {"role": "user", "content": " "},
        {"role": "assistant", "content": " "},
        {"role": "user", "content": "Go"},
    ]
    request = decoded("openai-chat", {"messages": history}).request
    encoded = get_dialect(dialect).encode_request(request, EncodeOptions())
    assert encoded.changes == ()
    assert encoded.body.count(b'" "') == 2


def test_a_knob_that_is_not_set_is_not_sent() -> None:
    """`top_p: -1` is how some clients say so; a limit of -1 is none, with an entry where it is not sent."""
    request = decoded("openai-chat", {"messages": USER, "top_p": -1, "max_tokens": -1}).request
    assert request.top_p is None
    target = Target(model="claude-sonnet-4-5", provider="anthropic", quirks=ROWS["anthropic"].quirks)
    encoded = get_dialect("anthropic").encode_request(request, EncodeOptions(target=target))
    sent = json.loads(encoded.body)
    assert ("top_p" in sent, sent["max_tokens"]) == (False, 8192)
    assert "parameter_unsupported" in [one.code for one in encoded.changes]


@pytest.mark.parametrize("dialect", ["openai-chat", "ollama"])
@pytest.mark.parametrize("shown", ["<think>Hm.</think>Hi", "<think>\nHm.\n</think>\n\nHi"])
def test_thinking_that_a_client_tells_twice_goes_out_once(dialect: str, shown: str) -> None:
    """In its own member, and again as `<think>` text; other thinking in the text is text."""
    member = "thinking" if dialect == "ollama" else "reasoning_content"

    def turn(text: str) -> DecodedRequest:
        said = {"role": "assistant", "content": text, member: "Hm."}
        return decoded(dialect, {"messages": [*USER, said, *USER]})

    once = turn(shown)
    assert once.request.messages[1].parts == (ThinkingPart("Hm."), TextPart("Hi"))
    assert [(one.code, one.path) for one in once.changes] == [("thinking_repeated", "/messages/1/parts/1")]
    other = turn("<think>Else.</think>Hi")
    assert other.request.messages[1].parts == (ThinkingPart("Hm."), TextPart("<think>Else.</think>Hi"))
    assert turn("<think>Hm.</think>").request.messages[1].parts == (ThinkingPart("Hm."),)
