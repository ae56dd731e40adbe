"""Corners that no failure report names: rare members, rare media, templates of chunks, knobs of rare servers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, DecodeOptions, Facts, ServerContext, Target
from interlingua.dialects.openai_chat import DIALECT
from interlingua.errors import DecodeError, UnsupportedError
from interlingua.types.content import (
    AudioPart,
    DocumentPart,
    ImagePart,
    OpaquePart,
    RefusalPart,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.tool import Tool
from interlingua.wire.http import HttpRequest
from tests.support.chat import (
    DONE,
    answer,
    chunk,
    codes,
    decode,
    decode_error,
    encode,
    encode_reply,
    failure,
    parts,
    quirky,
    reply,
    request,
    stream,
    streamed,
    wire,
)


@pytest.mark.parametrize(
    "content",
    [
        "a",
        "€",
        '"quoted"',
        "back\\slash",
        "line\nbreak",
        "é\u2028",
        "😀",
    ],
)
def test_chunks_that_differ_in_one_text_are_read_alike(content: str) -> None:
    """Escaped or raw, padded or not, after any number of like chunks."""
    for ascii_only in (True, False):
        text = json.dumps(content, ensure_ascii=ascii_only)
        padded = b"".join(
            chunk(f'{{"content":{text}}}', rest=f',"obfuscation":"{pad}"') for pad in ("aB3", "x", "longer0")
        )
        raw = chunk('{"content":"0"}') + chunk(f'{{"content":{text}}}') * 2 + padded + chunk("{}", "stop") + DONE
        assert parts(raw) == (TextPart("0" + content * 5),)


def test_a_chunk_that_only_looks_like_the_last_one_is_read_by_itself() -> None:
    """A string that ends elsewhere, a broken escape, a number in its place."""
    like = chunk('{"content":"a"}')
    assert parts(like + chunk('{"content":"b","refusal":"no"}') + chunk("{}", "stop") + DONE) == (
        TextPart("ab"),
        RefusalPart("no"),
    )
    assert failure(like + chunk('{"content":"\\q"}') + DONE).error == "DecodeError"
    assert parts(like + chunk('{"content":7}') + chunk("{}", "stop") + DONE) == (TextPart("a7"),)
    assert parts(like + chunk('{"content":null}') + chunk("{}", "stop") + DONE) == (TextPart("a"),)


def test_every_kind_of_part_in_a_streamed_list() -> None:
    """Text, thinking, refusal, media, and what nobody knows."""
    raw = stream(
        '{"content":[{"type":"text","text":"a"},{"type":"refusal","refusal":"no"},'
        '{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}},'
        '{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBERg=="}},{"type":"odd","x":1}],'
        '"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVA="}}]}',
        finish="stop",
    )
    assert parts(raw) == (
        TextPart("a"),
        RefusalPart("no"),
        AudioPart(b"RIFF", "audio/wav"),
        DocumentPart(b"%PDF", "application/pdf"),
        OpaquePart("openai-chat", "odd", {"type": "odd", "x": 1}),
        ImagePart(b"\x89P", "image/png"),
    )


def test_images_of_an_answer_whole() -> None:
    """Read and written in their own member."""
    said = '{"content":"x","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVA="}}]}'
    response = reply(said)
    assert response.parts == (TextPart("x"), ImagePart(b"\x89P", "image/png"))
    assert encode_reply(response)["choices"][0]["message"]["images"] == json.loads(said)["images"]


def test_audio_of_an_earlier_answer_is_told_by_its_id() -> None:
    """A reference in a history, verbatim; a part that only has such a member stays a part."""
    body = '[{"role":"user","content":"Hi"},{"role":"assistant","audio":{"id":"audio_1","new":1}},{"role":"user","content":"Go"}]'  # noqa: E501 - one body
    assert wire(request(body))["messages"][1]["audio"] == {"id": "audio_1", "new": 1}
    odd = '[{"role":"assistant","content":[{"type":"odd","audio":"x"}]}]'
    assert wire(request(odd))["messages"][0]["content"] == [{"type": "odd", "audio": "x"}]


def test_annotations_before_their_text_wait_for_it() -> None:
    """And without any text they are members of the message."""
    note = '{"annotations":[{"type":"url_citation"}]}'
    (text,) = parts(stream(note, '{"content":"x"}', finish="stop"))
    assert isinstance(text, TextPart)
    assert [annotation.raw for annotation in text.annotations] == [{"type": "url_citation"}]
    alone = streamed(stream(note, finish="stop"))
    assert alone.extra["openai-chat"]["message"] == {"annotations": [{"type": "url_citation"}]}


def test_a_call_without_any_name_is_an_error() -> None:
    """Whole and streamed: never a call named unknown."""
    assert failure(stream('{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]}')).error == "DecodeError"
    with pytest.raises(DecodeError, match="must have a name") as found:
        reply('{"tool_calls":[{"id":"a","function":{"arguments":"{}"}}]}')
    assert found.value.path.startswith("/choices/0/message/tool_calls/0")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ('[{"role":"robot","content":"x"}]', "/messages/0/role"),
        (
            '[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":1}}]}]',
            "/messages/0/content/0/input_audio",
        ),
        (
            '[{"role":"user","content":[{"type":"image_url","image_url":"data:image/png;base64,!"}]}]',
            "/messages/0/content/0/image_url",
        ),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_place(body: str, path: str) -> None:
    """From the whole body down to the member."""
    with pytest.raises(DecodeError) as found:
        request(body)
    assert found.value.path == path


@pytest.mark.parametrize(
    ("url", "model"),
    [
        ("/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21", "my gpt"),
        ("/v1/chat/completions", ""),
    ],
)
def test_a_body_without_a_model_leaves_it_to_the_path(url: str, model: str) -> None:
    """Azure's older addresses name it; a server of one model needs none, so nobody names it."""
    for given in (b"", b'"model":"",', b'"model":null,'):
        body = b'{%b"messages":[{"role":"user","content":"Hi"}]}' % given
        decoded = DIALECT.decode_request(HttpRequest(url=f"https://host.example{url}", body=body), DecodeOptions())
        assert decoded.model == model


def test_a_lone_surrogate_is_repaired_and_said() -> None:
    """In a request, an answer and a stream."""
    broken = '{"role":"user","content":"\\ud800"}'
    assert codes(decode(f"[{broken}]").changes) == ["lone_surrogate "]
    assert reply(broken).text == "\ufffd"
    response = streamed(stream(broken, finish="stop"))
    assert (response.text, codes(response.changes)) == ("\ufffd", ["lone_surrogate "])


@pytest.mark.parametrize(
    "members", ['"top_logprobs":3', '"reasoning_effort":"extreme"', '"response_format":{"type":"xml","x":1}']
)
def test_words_that_we_do_not_know_pass_through(members: str) -> None:
    """What has no canonical value goes back as it came."""
    body = f'{{"model":"m","messages":[{{"role":"user","content":"Hi"}}],{members}}}'
    assert wire(decode(body.encode()).request) == json.loads(body)


def test_media_that_the_model_is_known_not_to_take_are_refused() -> None:
    """Each by its place and kind."""
    said = (ImagePart(b"", "image/png"), AudioPart(b"", "audio/wav"), DocumentPart(b"", "application/pdf"))
    target = Target(model="m", facts=Facts(images=False, audio=False, documents=False))
    with pytest.raises(UnsupportedError) as found:
        encode(Request(messages=(user(*said),)), target)
    assert codes(found.value.changes) == [
        "images /messages/0/parts/0",
        "audio /messages/0/parts/1",
        "documents /messages/0/parts/2",
    ]


def test_quirks_of_requests() -> None:
    """Parallel calls switched on, bare image URLs, documents by URL, a role for system texts."""
    tools = (Tool(name="f"),)
    assert (
        wire(Request(messages=(user("Hi"),), tools=tools), quirky(parallel_explicit=True))["parallel_tool_calls"]
        is True
    )
    said = Request(
        system=(TextPart("s"),),
        messages=(user(ImagePart(b"", "image/png"), DocumentPart(b"", "application/pdf", "a")),),
    )
    target = quirky(image_url_string=True, document_part="document_url", system_role="developer")
    assert wire(said, target)["messages"] == [
        {"role": "developer", "content": "s"},
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": "data:image/png;base64,"},
                {"type": "document_url", "document_url": "data:application/pdf;base64,", "document_name": "a"},
            ],
        },
    ]


def test_parts_that_have_no_place_in_a_turn_are_entries() -> None:
    """A document in an answer, thinking in a prompt."""
    found: list[Any] = []
    encode_reply(answer(DocumentPart(b"", "application/pdf"), finish="stop"), ServerContext(changes=found))
    assert codes(tuple(found)) == ["opaque_part /parts/0"]
    with pytest.raises(UnsupportedError) as refused:
        encode(Request(messages=(Message("user", (ThinkingPart("x"),)),)))
    assert codes(refused.value.changes) == ["opaque_part /messages/0/parts/0"]


def test_several_refusals_are_one() -> None:
    """The wire has one place for them."""
    asked = Request(messages=(user("Hi"), assistant(RefusalPart("a"), RefusalPart("b"))))
    assert wire(asked)["messages"][1] == {"role": "assistant", "content": None, "refusal": "ab"}


def test_a_total_that_is_no_sum_is_kept() -> None:
    """So is a cached count that stands under two names."""
    rest = ',"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":9,"cached_tokens":3,"prompt_tokens_details":{"cached_tokens":3}}'  # noqa: E501 - one member
    sent = encode_reply(reply('{"content":"x"}', rest=rest))["usage"]
    assert {name: sent[name] for name in ("total_tokens", "cached_tokens")} == {"total_tokens": 9, "cached_tokens": 3}
    assert sent["prompt_tokens_details"]["cached_tokens"] == 3


def test_annotations_without_a_text_go_back_as_they_came() -> None:
    """There is no part to hang them on."""
    sent = encode_reply(reply('{"content":null,"annotations":[{"type":"x"}],"new":1}'))["choices"][0]["message"]
    assert (sent["annotations"], sent["new"]) == ([{"type": "x"}], 1)


def test_a_detail_of_the_other_count_is_kept() -> None:
    """A server may tell reasoning among the details of the prompt; what we do not count goes back where it stood."""
    usage = {
        "prompt_tokens": 5,
        "completion_tokens": 2,
        "total_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 1, "reasoning_tokens": 4, "new": 3},
        "completion_tokens_details": {"reasoning_tokens": 1, "cached_tokens": 9},
    }
    rest = f',"usage":{json.dumps(usage)}'
    assert encode_reply(reply('{"content":"x"}', rest=rest))["usage"] == usage


def test_a_fragment_for_a_whole_call_under_a_new_index_joins_it_when_it_is_alone() -> None:
    """There is nobody else whom it could mean; the arguments are broken then, and say so."""
    raw = stream(
        '{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}',
        '{"tool_calls":[{"index":3,"function":{"arguments":"{}"}}]}',
    )
    assert parts(raw) == (ToolCall("a", "f", "{}"),)


def test_members_named_like_our_own_parameters_pass_through() -> None:
    """A choice with a member `finish`, found by the fuzzer: it is a member like any other."""
    decoder = DIALECT.stream_decoder(DecodeContext())
    events = decoder.feed(b'data:{"choices":[{"":{},"finish":{},"finish_reason":"t"}]}\n\ndata: [DONE]\n\n')
    encoder = DIALECT.stream_encoder(ServerContext(source="openai-chat"))
    assert b"".join([encoder.encode(event) for event in events]) == (
        b'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""},'
        b'"finish_reason":null}]}\n\n'
        b'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"":{},"finish":{},'
        b'"finish_reason":"t"}]}\n\n'
        b"data: [DONE]\n\n"
    )


def test_a_call_without_a_function_around_its_name_is_understood() -> None:
    """Old builds of llama.cpp: name and arguments beside each other, and the finish reason `tool`."""
    flat = '{"name":"look","arguments":"{\\"x\\":1}"}'
    whole = reply(f'{{"tool_calls":[{flat}]}}', "tool")
    assert whole.parts == (ToolCall("call_0", "look", '{"x":1}'),)
    assert whole.finish_reason == "tool_calls"
    assert codes(whole.changes) == ["foreign_shape /parts/0", "call_id_made /parts/0/id"]
    told = streamed(stream(f'{{"tool_calls":[{flat}]}}', finish="tool"))
    assert (told.parts, codes(told.changes)) == (whole.parts, codes(whole.changes))
    loose = reply('{"tool_calls":[{"id":"a","name":"look","arguments":{"x":1},"more":2}]}', "tool_calls")
    assert loose.parts == (ToolCall("a", "look", '{"x":1}', extra={"openai-chat": {"more": 2}}),)
    assert codes(loose.changes) == ["foreign_shape /parts/0", "arguments_object /parts/0/arguments_json"]


@pytest.mark.parametrize(
    ("frame", "kind", "message", "status"),
    [
        ('{"object":"error","message":"slow","code":"3505"}', "RateLimitError", "slow", None),
        ('{"message":"slow","object":"error","code":429}', "RateLimitError", "slow", 429),
        ('{"error":{"message":"slow","code":"429"}}', "RateLimitError", "slow", 429),
        ('{"error":"boom"}', "InternalServerError", "boom", None),
        ('{"error":429}', "RateLimitError", "the server gave no reason", 429),
        ('{"error":[{"message":"slow","code":429}]}', "RateLimitError", "slow", 429),
        ('{"error":["boom"]}', "InternalServerError", "boom", None),
        ('{"id":"c","choices":[],"x_groq":{"error":"boom"}}', "InternalServerError", "boom", None),
        ('{"id":"c","choices":[],"x_groq":{"error":{"message":"x","type":"overloaded_error"}}}', "OverloadedError", "x",
         None),
        ('{"detail":"Unauthorized","status":401}', "AuthenticationError", "Unauthorized", 401),
        ('{"error":null,"message":"boom"}', "InternalServerError", "boom", None),
        ('{"errors":[{"message":"boom"}]}', "InternalServerError", "boom", None),
    ],
)  # fmt: skip
def test_an_error_in_a_stream_in_any_shape(frame: str, kind: str, message: str, status: int | None) -> None:
    """An object, a text, a number, a list, a frame that is nothing else, Groq's own place."""
    broken = failure(b"data: " + frame.encode() + b"\n\n")
    assert (broken.error, broken.status) == (kind, status)
    assert broken.message == message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"error":[{"message":"no"}]}', "no"),
        ('{"errors":[{"message":"no"}]}', "no"),
        ('[{"error":{"message":"no"}}]', "no"),
        ('{"error":"no"}', "no"),
        ('{"error":{"msg":"no"}}', "no"),
        ('{"message":"no"}', "no"),
        ('{"detail":"no"}', "no"),
        ('{"detail":[{"loc":["body","model"],"msg":"Field required"}]}', "body/model: Field required"),
        ('{"error":400}', "the server gave no reason"),
        ("", "an empty body"),
        ("<html><h1>Bad</h1></html>", "<html><h1>Bad</h1></html>"),
    ],
)
def test_the_body_of_an_error_in_any_shape(body: str, message: str) -> None:
    """The status decides the class, the body the sentence."""
    error = decode_error(400, body.encode())
    assert (type(error).__name__, error.status, error.message) == ("BadRequestError", 400, message)


def test_a_top_p_of_minus_one_is_not_said() -> None:
    """Some clients write so what is not set; every provider refuses the number."""
    body = b'{"model":"m","messages":[{"role":"user","content":"Hi"}],"top_p":-1}'
    request = HttpRequest(method="POST", url="/v1/chat/completions", body=body)
    assert DIALECT.decode_request(request, DecodeOptions()).request.top_p is None
