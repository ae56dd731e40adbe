"""Answers of Ollama's servers, whole and streamed, in both directions and both forms."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, ServerContext, Undo
from interlingua.dialects.ollama import DIALECT
from interlingua.errors import (
    APIConnectionError,
    DecodeError,
    InternalServerError,
    OverloadedError,
    UnsupportedError,
    UpstreamError,
)
from interlingua.stream.unfold import unfold
from interlingua.types.content import (
    AudioPart,
    BrokenToolCall,
    Citation,
    ImagePart,
    OpaquePart,
    RefusalPart,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
)
from interlingua.types.event import StreamEnd, StreamError, StreamStart, TextDelta, ThinkingDelta, UsageUpdate
from interlingua.types.request import Request, ServerState
from interlingua.types.response import Alternative, Response
from interlingua.types.usage import Usage
from tests.support.ollama import (
    GENERATE,
    answer,
    codes,
    decode,
    encode,
    encode_reply,
    encode_stream,
    events,
    line,
    streamed,
)

TIME = "2026-11-21T10:00:00.000Z"
OWN = ServerContext(source="ollama")
WHOLE: dict[str, Any] = {
    "model": "qwen3-vl",
    "created_at": TIME,
    "message": {
        "role": "assistant",
        "content": "Checking.",
        "thinking": "Need both.",
        "tool_calls": [
            {"id": "call_k2j3h4g5", "function": {"index": 0, "name": "get_weather", "arguments": {"city": "Oslo"}}},
            {"id": "call_z9y8x7w6", "function": {"index": 1, "name": "get_time", "arguments": {"tz": "Europe/Oslo"}}},
        ],
    },
    "done": True,
    "done_reason": "stop",
    "total_duration": 900000000,
    "prompt_eval_count": 210,
    "eval_count": 60,
}


def test_a_whole_answer_is_understood_and_told_again() -> None:
    """Every member; the same body comes out."""
    response = answer(WHOLE)
    assert response == Response(
        parts=(
            ThinkingPart("Need both."),
            TextPart("Checking."),
            ToolCall("call_k2j3h4g5", "get_weather", '{"city": "Oslo"}'),
            ToolCall("call_z9y8x7w6", "get_time", '{"tz": "Europe/Oslo"}'),
        ),
        finish_reason="tool_calls",
        finish_reason_raw="stop",
        usage=Usage(input_tokens=210, output_tokens=60),
        model="qwen3-vl",
        wire_model="qwen3-vl",
        extra={"ollama": {"created_at": TIME, "total_duration": 900000000}},
    )
    assert response.changes == ()
    assert encode_reply(response, OWN) == (WHOLE, [])


def test_one_object_alone_is_a_whole_stream() -> None:
    """A server that buffers its answer is understood all the same."""
    assert streamed(json.dumps(WHOLE).encode()) == answer(WHOLE)


def test_unknown_members_come_back() -> None:
    """Of the answer, its message and its calls."""
    call: Any = {"id": "a", "type": "custom", "function": {"index": 0, "name": "go", "arguments": {}, "y": 1}, "x": 2}
    message: Any = {"role": "assistant", "content": "Hi", "tool_calls": [call], "z": 3}
    body: Any = {
        "model": "m",
        "message": message,
        "done": True,
        "done_reason": "stop",
        "remote_model": "big",
        "logprobs": [],
    }
    assert encode_reply(answer(body), OWN) == (body, [])
    raw = line("Hi", message={"z": 3}, remote_model="big") + line(done=True, done_reason="stop")
    assert streamed(raw).extra["ollama"] == {
        "created_at": "2026-11-21T10:00:00Z",
        "message": {"z": 3},
        "remote_model": "big",
    }


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ({"done_reason": "stop"}, "stop"),
        ({"done_reason": "length"}, "length"),
        ({"done_reason": "load"}, "stop"),
        ({"done_reason": "unload"}, "stop"),
        ({"done_reason": ""}, "error"),
        ({}, "error"),
        ({"done_reason": "new"}, "other"),
    ],
)
def test_the_reason_of_the_end(word: dict[str, str], finish: str) -> None:
    """Nothing there on `done` means that the runner broke off; the word comes back."""
    body: Any = {"model": "m", "message": {"role": "assistant", "content": "Hi"}, "done": True, **word}
    response = answer(body)
    assert (response.finish_reason, response.finish_reason_raw) == (finish, word.get("done_reason"))
    assert encode_reply(response, OWN) == (body, [])
    assert streamed(line("Hi") + line(done=True, **word)).finish_reason == finish


@pytest.mark.parametrize("reason", ["content_filter", "refusal", "pause", "other"])
def test_reasons_that_the_wire_has_no_word_for_are_stop(reason: Any) -> None:
    """With an entry."""
    body, entries = encode_reply(Response(parts=(TextPart("Hi"),), finish_reason=reason, model="m"))
    assert body["done_reason"] == "stop"
    assert entries == ["finish_reason_approximated /finish_reason"]


def test_what_an_answer_cannot_say_is_recorded() -> None:
    """Seals, citations, counts, further choices, other dialects' members, parts without a place."""
    response = Response[Any](
        parts=(
            ThinkingPart("Hm", Sealed("anthropic", {"signature": "s"})),
            TextPart("A", (Citation("google", {}),)),
            RefusalPart("No"),
            AudioPart(b"RIFF", "audio/wav"),
            OpaquePart("anthropic", "server_tool_use", {}),
        ),
        finish_reason="stop",
        model="m",
        usage=Usage(input_tokens=5, output_tokens=2, cache_read_tokens=0, reasoning_tokens=1),
        alternatives=(Alternative(parts=(TextPart("B"),)),),
        extra={"openai-chat": {"timings": {"prompt_ms": 1}}},
    )
    body, entries = encode_reply(response)
    message: Any = {"role": "assistant", "content": "ANo", "thinking": "Hm"}
    counts = {"prompt_eval_count": 5, "eval_count": 2}
    assert body == {"model": "m", "message": message, "done": True, "done_reason": "stop", **counts}
    assert sorted(entries) == sorted(
        [
            "alternatives_unsupported /alternatives",
            "seal_foreign /parts/0/sealed",
            "annotation_unsupported /parts/1/annotations",
            "refusal_as_text /parts/2",
            "audio /parts/3",
            "opaque_part /parts/4",
            "extra_foreign /extra/openai-chat",
            "parameter_unsupported /usage/cache_read_tokens",
            "parameter_unsupported /usage/reasoning_tokens",
        ]
    )
    changes: list[Any] = []
    lines = encode_stream(unfold(response), ServerContext(changes=changes))
    assert [text["message"] for text in lines] == [
        {"role": "assistant", "content": "", "thinking": "Hm"},
        {"role": "assistant", "content": "A"},
        {"role": "assistant", "content": "No"},
        {"role": "assistant", "content": ""},
    ]
    assert sorted(codes(changes)) == sorted(entries)


def test_a_client_sees_the_model_it_asked_for_and_the_time() -> None:
    """Both as the context says, whole and streamed."""
    response = Response[Any](parts=(TextPart("Hi"),), finish_reason="stop", model="openai/gpt", wire_model="gpt")
    context = ServerContext(model="llama", created=1_795_255_200)
    said = {"model": "llama", "created_at": "2026-11-21T10:00:00Z"}
    body, _ = encode_reply(response, context)
    assert {name: body[name] for name in said} == said
    assert all({name: text[name] for name in said} == said for text in encode_stream(unfold(response), context))


def test_a_freeform_tool_is_called_with_its_text() -> None:
    """The request said that it is one."""
    context = DecodeContext(undo=Undo(freeform=frozenset({"run"})))
    call: Any = {"id": "a", "function": {"name": "run", "arguments": {"input": "x"}}}
    body: Any = {"model": "m", "message": {"tool_calls": [call]}, "done": True, "done_reason": "stop"}
    expected = (ToolCall("a", "run", '{"input": "x"}', freeform=True),)
    assert answer(body, context).parts == expected
    assert streamed(json.dumps(body).encode(), context).parts == expected


def test_own_ids_take_the_place_of_the_servers() -> None:
    """Where the context makes them."""
    assert [call.id for call in answer(WHOLE, DecodeContext(make_id=iter(["x", "y"]).__next__)).tool_calls] == [
        "x",
        "y",
    ]


def test_images_of_an_answer_are_parts() -> None:
    """Whole and streamed, there and back."""
    image = ImagePart(b"\x89PNG", "image/png")
    message: Any = {"role": "assistant", "content": "", "images": ["iVBORw=="]}
    body: Any = {"model": "m", "message": message, "done": True, "done_reason": "stop"}
    response = answer(body)
    assert response.parts == (image,)
    assert encode_reply(response, OWN) == (body, [])
    assert streamed(line(message={"images": ["iVBORw=="]}) + line(done=True, done_reason="stop")).parts == (image,)
    assert encode_stream(unfold(response))[0]["message"] == message


NO_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"model": "m"}, "/message"),
    ({"model": "m", "message": {"content": "Hi"}, "done": False}, "/done"),
    ({"message": {"tool_calls": [{"function": {}}]}, "done": True}, "/message/tool_calls/0/function/name"),
]


@pytest.mark.parametrize(("body", "path"), NO_ANSWERS)
def test_an_answer_that_is_none_is_an_error_with_its_place(body: dict[str, Any], path: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(DecodeError) as caught:
        answer(body)
    assert caught.value.path == path


def test_an_error_under_200_is_raised() -> None:
    """As the upstream's failure."""
    with pytest.raises(InternalServerError, match="out of memory"):
        answer({"error": "out of memory"})


def test_a_lone_surrogate_is_repaired() -> None:
    """With an entry, whole and streamed."""
    text = '{"model":"m","message":{"content":"a\\ud800b"},"done":true,"done_reason":"stop"}'
    for response in (answer(text), streamed(text.encode() + b"\n")):
        assert response.text == "a\ufffdb"
        assert codes(response.changes) == ["lone_surrogate "]


# Streams


def test_a_stream_is_told_as_it_comes() -> None:
    """Thinking first, then text; time and model with the start; counts at the end."""
    raw = (
        line(message={"thinking": "Ne"})
        + line(message={"thinking": "ed"})
        + line("Hel")
        + line("lo")
        + line(done=True, done_reason="stop", prompt_eval_count=3, eval_count=4, total_duration=9)
    )
    found = events(raw)
    start = {"ollama": {"created_at": "2026-11-21T10:00:00Z"}}
    assert found[0] == StreamStart("m", "m", None, start)
    said = [event for event in found if isinstance(event, TextDelta | ThinkingDelta)]
    assert said == [ThinkingDelta(0, "Ne"), ThinkingDelta(0, "ed"), TextDelta(1, "Hel"), TextDelta(1, "lo")]
    assert UsageUpdate(Usage(input_tokens=3, output_tokens=4)) in found
    end = found[-1]
    assert isinstance(end, StreamEnd)
    assert end.response.extra == {"ollama": {"created_at": "2026-11-21T10:00:00Z", "total_duration": 9}}
    again = encode_stream(found, OWN)
    assert again == [json.loads(text) for text in raw.splitlines()]


def test_lines_are_read_the_same_with_and_without_a_template() -> None:
    """Whatever text and time they hold, and whatever stands between them."""
    texts = ["a", 'quote " and \\ back', "née \u2028", "a", "", "\\u003c", "{}", "x" * 9, "last"]
    lines = [
        line(text).replace(b"10:00:00Z", b"10:00:%02d.5Z" % number).replace(b"<", b"\\u003c")
        for number, text in enumerate(texts)
    ]
    odd = [line("odd", created_at="soon"), line("more", x_new=1), b'{"message":{"content":"bare"}}\n', line("tail")]
    raw = b"".join([*lines, *odd, *lines[:2]]) + line(done=True, done_reason="stop")
    assert streamed(raw).text == "".join([*texts, "odd", "more", "bare", "tail", *texts[:2]])
    assert streamed(raw.replace(b'"content":', b'"content": ')).text == streamed(raw).text


def test_the_time_is_that_of_the_last_line() -> None:
    """Also when that line was read by its template, and the last line of all says none."""
    raw = line("a") + line("b").replace(b"10:00:00Z", b"10:00:07Z") + b'{"done":true,"done_reason":"stop"}'
    assert streamed(raw).extra == {"ollama": {"created_at": "2026-11-21T10:00:07Z"}}


def test_log_probabilities_of_lines_are_joined() -> None:
    """One list in the end."""
    raw = (
        line("a", logprobs=[{"token": "a"}])
        + line("b", logprobs=[{"token": "b"}])
        + line(done=True, done_reason="stop")
    )
    assert streamed(raw).extra["ollama"]["logprobs"] == [{"token": "a"}, {"token": "b"}]
    odd = line("a", logprobs=[1]) + line("b", logprobs="none") + line(done=True, done_reason="stop")
    assert streamed(odd).extra["ollama"]["logprobs"] == "none"
    merged = line("a", message={"x": 1}) + line("b", message={"y": 2}) + line(done=True, done_reason="stop")
    assert streamed(merged).extra["ollama"]["message"] == {"x": 1, "y": 2}


def test_a_stream_cut_short_is_an_error_with_what_came() -> None:
    """Without a line that says `done`."""
    for raw in (line("Hel"), line("Hel") + line("lo", done=True)[:-9], b""):
        last = events(raw)[-1]
        assert isinstance(last, StreamError)
        assert last.error == "IncompleteStreamError"
        assert last.partial is not None
        assert last.partial.text == ("Hel" if raw else "")


def test_nothing_follows_the_end() -> None:
    """Neither events nor errors."""
    raw = line("Hi", done=True, done_reason="stop")
    assert events(raw + b"<html>") == events(raw)
    decoder = DIALECT.stream_decoder(DecodeContext())
    assert isinstance(decoder.feed(raw)[-1], StreamEnd)
    assert decoder.terminal
    assert decoder.ended
    assert decoder.feed(line("more")) == decoder.close() == decoder.fail(APIConnectionError("gone")) == []


def test_the_transports_failure_is_the_streams() -> None:
    """With what came, open or not."""
    decoder = DIALECT.stream_decoder(DecodeContext())
    decoder.feed(line("Hel") + line("lo"))
    last = decoder.fail(APIConnectionError("gone"))[-1]
    assert isinstance(last, StreamError)
    assert (last.error, last.message) == ("APIConnectionError", "gone")
    assert last.partial is not None
    assert (last.partial.text, last.partial.extra) == ("Hello", {"ollama": {"created_at": "2026-11-21T10:00:00Z"}})


@pytest.mark.parametrize(
    ("raw", "error", "status"),
    [
        (b'{"error":"model runner has unexpectedly stopped"}\n', "InternalServerError", None),
        (b'{"error":"server busy","status":503}\n', "OverloadedError", 503),
        (b"<html>Bad gateway</html>\n", "DecodeError", None),
        (b'{"model":"m"}\n', "DecodeError", None),
        (b'{"message":{"tool_calls":[{"function":{}}]}}\n', "DecodeError", None),
    ],
)
def test_errors_in_a_stream_end_it(raw: bytes, error: str, status: int | None) -> None:
    """With class, status and what came before."""
    last = events(line("Hel") + raw)[-1]
    assert isinstance(last, StreamError)
    assert (last.error, last.status) == (error, status)
    assert last.partial is not None
    assert last.partial.text == "Hel"


def test_an_error_is_the_last_line_of_a_stream() -> None:
    """Sentence and status; it reads as the same class."""
    error = StreamError("OverloadedError", "server busy", 503)
    (told,) = encode_stream([error])
    assert told == {"error": "server busy", "status": 503}
    last = events(json.dumps(told).encode())[-1]
    assert isinstance(last, StreamError)
    assert (last.error, last.message, last.status) == ("OverloadedError", "server busy", 503)


def test_a_call_that_is_cut_off_is_told_as_text_in_a_stream() -> None:
    """With an entry."""
    changes: list[Any] = []
    response = Response[Any](parts=(BrokenToolCall("a", "go", '{"x', "cut_off"),), finish_reason="length", model="m")
    lines = encode_stream(unfold(response), ServerContext(changes=changes))
    assert lines[0]["message"] == {"role": "assistant", "content": 'go({"x)'}
    assert codes(changes) == ["broken_call_as_text /parts/0"]


# The older form


def test_generate_is_one_prompt() -> None:
    """Read by its path, and sent in the same form."""
    body: Any = {
        "prompt": "Hi",
        "system": "Help.",
        "images": ["iVBORw=="],
        "suffix": "!",
        "raw": True,
        "context": [1, 2],
        "options": {"num_predict": 5},
    }
    decoded = decode(body, GENERATE)
    request = decoded.request
    assert request.system == (TextPart("Help."),)
    assert request.messages[0].parts == (TextPart("Hi"), ImagePart(b"\x89PNG", "image/png"))
    assert request.continues == ServerState("ollama", {"context": [1, 2]})
    assert request.extra == {"ollama": {"field": "prompt", "suffix": "!", "raw": True}}
    encoded = encode(request)
    assert encoded.path == "/api/generate"
    assert json.loads(encoded.body) == {"model": "m", **body, "stream": False}
    assert encoded.changes == ()


def test_generate_is_known_by_its_body_where_the_path_is_silent() -> None:
    """A prompt and no messages."""
    assert decode({"prompt": "Hi"}, "http://recorded.invalid/").request.extra == {"ollama": {"field": "prompt"}}
    assert decode({"messages": []}, "http://recorded.invalid/").request == Request()
    assert decode({}, GENERATE).request == Request(extra={"ollama": {"field": "prompt"}})


def test_generate_that_no_longer_fits_into_a_prompt_becomes_a_chat() -> None:
    """A further turn, or tools."""
    request = decode({"prompt": "Hi"}, GENERATE).request
    longer = Request(messages=request.messages * 2, extra=request.extra)
    assert encode(longer).path == "/api/chat"
    assert encode(Request(messages=request.messages)).path == "/api/chat"


def test_members_of_the_other_form_come_back() -> None:
    """Unread, since the server does not read them either."""
    chat = {"messages": [{"role": "user", "content": "Hi"}], "prompt": "Ho"}
    assert json.loads(encode(decode(chat).request).body) == {"model": "m", **chat, "stream": False}
    prompt = {"prompt": "Hi", "messages": [{"role": "user", "content": "Ho"}]}
    assert json.loads(encode(decode(prompt, GENERATE).request).body) == {"model": "m", **prompt, "stream": False}


def test_state_of_another_provider_is_refused() -> None:
    """It cannot be resolved here."""
    with pytest.raises(UnsupportedError, match="kept by openai-responses"):
        encode(Request(continues=ServerState("openai-responses", {"previous_response_id": "r"})))


def test_an_answer_to_generate_is_told_in_its_form() -> None:
    """Because it came so, or because the client asked there."""
    body: Any = {
        "model": "m",
        "response": "Hi",
        "thinking": "Hm",
        "done": True,
        "done_reason": "stop",
        "context": [1],
        "eval_count": 2,
    }
    response = answer(body)
    assert response.parts == (ThinkingPart("Hm"), TextPart("Hi"))
    assert encode_reply(response, OWN) == (body, [])
    chat = Response[Any](parts=(TextPart("Hi"),), finish_reason="stop", model="m")
    told, _ = encode_reply(chat, ServerContext(path="/api/generate"))
    assert told == {"model": "m", "response": "Hi", "done": True, "done_reason": "stop"}
    asked, _ = encode_reply(response, ServerContext(source="ollama", path="/api/chat"))
    assert asked["message"] == {"role": "assistant", "content": "Hi", "thinking": "Hm"}


def test_a_stream_of_generate_is_told_in_its_form() -> None:
    """Line by line."""
    lines = [
        {"model": "m", "created_at": TIME, "response": "", "thinking": "Hm", "done": False},
        {"model": "m", "created_at": TIME, "response": "Hel", "done": False},
        {"model": "m", "created_at": TIME, "response": "lo", "done": False},
        {"model": "m", "created_at": TIME, "response": "", "done": True, "done_reason": "stop", "context": [1]},
    ]
    raw = b"".join([json.dumps(text, separators=(",", ":")).encode() + b"\n" for text in lines])
    found = events(raw)
    assert encode_stream(found, OWN) == lines
    call = Response[Any](parts=(ToolCall("a", "go", "{}"),), finish_reason="tool_calls", model="m")
    told = encode_stream(unfold(call), ServerContext(path="/api/generate"))
    calls: Any = [{"id": "a", "function": {"index": 0, "name": "go", "arguments": {}}}]
    assert told[0] == {"model": "m", "response": "", "tool_calls": calls, "done": False}


# Errors


@pytest.mark.parametrize("kind", [OverloadedError, UpstreamError])
def test_a_class_that_the_status_does_not_say_has_a_code(kind: type[UpstreamError]) -> None:
    """The sentence stays what clients read."""
    reply = DIALECT.encode_error(kind("busy", status=500), ServerContext())
    assert reply.status == 500
    assert json.loads(reply.body)["error"] == "busy"
    assert type(DIALECT.decode_error(reply, DecodeContext())) is kind
