"""Endings, comments, in-band errors and crowded chunks: each test feeds the bytes that broke somebody."""

from __future__ import annotations

import json

import pytest

from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.errors import IncompleteStreamError, InternalServerError, OverloadedError, RateLimitError
from interlingua.stream.build import stream_error
from interlingua.types.content import BrokenToolCall, TextPart, ToolCall
from interlingua.types.event import BlockStart, StreamEnd, StreamError, StreamStart, TextDelta, UsageUpdate
from interlingua.types.usage import Usage
from tests.support.chat import (
    DIALECT,
    DONE,
    answer,
    chunk,
    encode_reply,
    encode_stream,
    events,
    failure,
    parts,
    reply,
    stream,
    streamed,
)

HEAD = b'{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m",'


def test_sse_02_json_on_the_line_after_data() -> None:
    """`data:` alone, the object on the next line."""
    raw = chunk('{"content":"Hi"}').replace(b"data: ", b"data:\n") + chunk("{}", "stop") + DONE
    assert parts(raw) == (TextPart("Hi"),)


def test_sse_04_every_cut_of_cjk_and_emoji_gives_whole_characters() -> None:
    """Text and arguments of two, three and four bytes a character, byte by byte."""
    raw = stream(
        '{"content":"né 日本 😀"}',
        '{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\\"x\\":\\"日😀\\"}"}}]}',
    )
    assert parts(raw) == (TextPart("né 日本 😀"), ToolCall("a", "f", '{"x":"日😀"}'))


def test_sse_05_comments_are_ignored() -> None:
    """Before, between and after chunks, and glued to one."""
    raw = (
        b": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n"
        + chunk('{"content":"H"}')
        + b": ping\n"
        + chunk('{"content":"i"}')
        + b":\n\n"
        + chunk("{}", "stop")
        + DONE
    )
    assert parts(raw) == (TextPart("Hi"),)


def test_sse_06_comments_are_not_sent_on_as_data() -> None:
    """What the encoder makes of a stream with comments holds none."""
    raw = b": OPENROUTER PROCESSING\n\n" + chunk('{"content":"Hi"}') + chunk("{}", "stop") + DONE
    sent = b"".join(map(DIALECT.stream_encoder(ServerContext()).encode, events(raw)))
    assert b"OPENROUTER" not in sent
    assert all(line.startswith(b"data: ") for line in sent.split(b"\n") if line)


def test_sse_08_a_keep_alive_without_data_is_nothing() -> None:
    """`event: keepalive` alone, with empty data, and with data of a space."""
    raw = (
        b"event: keepalive\n\nevent: ping\ndata:\n\nevent: ping\ndata: \n\n" + chunk('{"content":"Hi"}', "stop") + DONE
    )
    assert parts(raw) == (TextPart("Hi"),)


def test_sse_09_a_finish_reason_is_a_terminal_signal() -> None:
    """No `[DONE]` and the socket open: the decoder says that only the drain time is still waited."""
    decoder = DIALECT.stream_decoder(DecodeContext())
    decoder.feed(chunk('{"content":"Hi"}'))
    assert not decoder.terminal
    decoder.feed(chunk("{}", "stop"))
    assert decoder.terminal
    assert not decoder.ended
    last = decoder.close()[-1]
    assert isinstance(last, StreamEnd)
    assert last.response.text == "Hi"
    assert decoder.ended


def test_sse_09_our_stream_ends_with_done() -> None:
    """Always, and last."""
    assert encode_stream(events(chunk('{"content":"Hi"}', "stop")))[-1] == "[DONE]"


@pytest.mark.parametrize(
    ("delta", "part"),
    [
        ('{"content":"Hi"}', TextPart("Hi")),
        (
            '{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\\"x\\":1}"}}]}',
            BrokenToolCall("a", "f", '{"x":1}', "cut_off"),
        ),
    ],
)
def test_sse_10_a_clean_close_without_an_end_is_incomplete(delta: str, part: object) -> None:
    """Neither finish reason nor `[DONE]`: an error with what came, and no call that could run."""
    error = failure(chunk(delta))
    assert error.error == "IncompleteStreamError"
    assert error.partial is not None
    assert error.partial.parts == (part,)
    assert error.partial.tool_calls == ()


def test_sse_10_no_bytes_at_all_are_incomplete() -> None:
    """An empty body is not an empty answer."""
    assert failure(b"").error == "IncompleteStreamError"


def test_sse_10_a_cut_last_event_is_incomplete() -> None:
    """Half of the finish chunk says nothing."""
    error = failure(chunk('{"content":"Hi"}') + chunk("{}", "stop")[:-20])
    assert error.error == "IncompleteStreamError"
    assert error.partial is not None
    assert error.partial.text == "Hi"


def test_sse_12_either_terminal_signal_suffices() -> None:
    """A finish reason without `[DONE]`, and `[DONE]` without a finish reason."""
    finished = streamed(chunk('{"content":"Hi"}') + chunk("{}", "stop"))
    done = streamed(chunk('{"content":"Hi"}') + DONE)
    assert (finished.text, finished.finish_reason) == ("Hi", "stop")
    assert (done.text, done.finish_reason, done.finish_reason_raw) == ("Hi", "stop", None)


@pytest.mark.parametrize(
    ("event", "error", "code"),
    [
        (
            b'data: {"error":{"message":"Slow down","type":"rate_limit_error","code":"rate_limit_exceeded"}}\n\n',
            "RateLimitError",
            "rate_limit_exceeded",
        ),
        (b'event: error\ndata: {"error":{"message":"Slow down","code":429}}\n\n', "RateLimitError", "429"),
        (b'data: {"object":"error","message":"Slow down","code":503}\n\n', "OverloadedError", "503"),
        (b'data: {"error":"Slow down"}\n\n', "InternalServerError", None),
        (b'{"error":{"message":"Slow down","type":"overloaded_error"}}\n\n', "OverloadedError", "overloaded_error"),
        (
            b"data: " + HEAD + b'"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],'
            b'"error":{"code":502,"message":"Slow down"}}\n\n',
            "InternalServerError",
            "502",
        ),
    ],
)
def test_sse_13_an_error_inside_a_stream_is_that_error(event: bytes, error: str, code: str | None) -> None:
    """Its class, its words and its code, with what came before it; never a short answer."""
    found = failure(chunk('{"content":"Hi"}') + event + DONE)
    assert (found.error, found.message, found.code) == (error, "Slow down", code)
    assert found.partial is not None
    assert found.partial.text == "Hi"
    assert found.partial.finish_reason == "error"


def test_sse_15_an_upstream_that_dies_ends_in_an_error_object() -> None:
    """No finish reason is made up and no `[DONE]` follows."""
    found = events(chunk('{"content":"Hi"}'))
    sent = encode_stream(found)
    assert [data["choices"][0]["delta"] for data in sent[:-1]] == [
        {"role": "assistant", "content": ""},
        {"content": "Hi"},
    ]
    assert sent[-1] == {
        "error": {
            "message": "the stream ended without a finish reason and without [DONE]",
            "type": "server_error",
            "param": None,
            "code": "incomplete_stream",
        }
    }


@pytest.mark.parametrize("error", [RateLimitError("a"), OverloadedError("b"), InternalServerError("c")])
def test_sse_15_the_error_object_means_the_same_to_a_client(error: RateLimitError) -> None:
    """Class and words survive the way through a stream."""
    raw = b"".join(
        map(DIALECT.stream_encoder(ServerContext()).encode, [StreamStart("m"), stream_error(error, answer())])
    )
    found = failure(raw)
    assert (found.error, found.message) == (type(error).__name__, error.message)


@pytest.mark.parametrize(
    ("start", "context", "head"),
    [
        (StreamStart("m"), ServerContext(), b'{"object":"chat.completion.chunk","model":"m"'),
        (
            StreamStart("m", id=""),
            ServerContext(created=7),
            b'{"id":"","object":"chat.completion.chunk","created":7,"model":"m"',
        ),
        (
            StreamStart("m", "w", "c", {"openai-chat": {"created": 0}}),
            ServerContext(created=7, model='"x"'),
            b'{"id":"c","object":"chat.completion.chunk","created":0,"model":"\\"x\\""',
        ),
        (
            StreamStart("m", "w", "c", {"openai-chat": {"created": None}}),
            ServerContext(created=7),
            b'{"id":"c","object":"chat.completion.chunk","model":"w"',
        ),
        (
            StreamStart(),
            ServerContext(created=7, make_id=lambda: "made"),
            b'{"id":"made","object":"chat.completion.chunk","created":7',
        ),
    ],
)
def test_chunks_begin_with_what_is_known(start: StreamStart, context: ServerContext, head: bytes) -> None:
    """Id, time and model, each where somebody says it; the answer's own time counts."""
    encoder = DIALECT.stream_encoder(context)
    told = [encoder.encode(event) for event in (start, BlockStart(1, "text", choice=1), TextDelta(1, "hi", 1))]
    assert told == [
        b"",
        b'data: %b,"choices":[{"index":1,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n' % head,
        b'data: %b,"choices":[{"index":1,"delta":{"content":"hi"},"finish_reason":null}]}\n\n' % head,
    ]


def test_sse_16_after_an_error_the_decoder_has_ended() -> None:
    """Nothing after the terminal error is read."""
    decoder = DIALECT.stream_decoder(DecodeContext())
    decoder.feed(b'data: {"error":{"message":"boom"}}\n\n')
    assert decoder.ended
    assert decoder.feed(chunk('{"content":"Hi"}', "stop") + DONE) == []
    assert decoder.close() == []


@pytest.mark.parametrize("choices", ['"choices":[],', '"choices":null,', ""])
def test_sse_17_a_usage_chunk_has_no_choice(choices: str) -> None:
    """Empty, null or missing `choices`: the counts are read."""
    raw = (
        chunk('{"content":"Hi"}', "stop")
        + b"data: "
        + HEAD
        + choices.encode()
        + b'"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}\n\n'
        + DONE
    )
    assert streamed(raw).usage == Usage(input_tokens=3, output_tokens=1)


def test_sse_18_our_usage_chunk_has_empty_choices() -> None:
    """After the finish, before `[DONE]`, and only where the client asked for it."""
    found = events(
        stream('{"content":"Hi"}', finish="stop")[: -len(DONE)]
        + b"data: "
        + HEAD
        + b'"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}\n\n'
        + DONE
    )
    assert encode_stream(found)[-2:] == [
        {
            "id": "c1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
        },
        "[DONE]",
    ]
    unasked = encode_stream(found, ServerContext(stream_usage=False))
    assert all("usage" not in data for data in unasked)


def test_sse_19_a_finish_reason_in_every_chunk_ends_nothing() -> None:
    """Text and calls after the first `stop` are all there; the last word counts."""
    raw = (
        chunk('{"content":"Look"}', "stop")
        + chunk('{"content":"ing."}', "stop")
        + chunk('{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}', "stop")
        + chunk("{}", "length")
        + DONE
    )
    response = streamed(raw)
    assert response.parts == (TextPart("Looking."), ToolCall("a", "f", "{}"))
    assert (response.finish_reason, response.finish_reason_raw) == ("length", "length")


def test_sse_20_content_finish_and_usage_of_one_chunk_count_once_each() -> None:
    """The last token shares its chunk with everything else."""
    raw = (
        chunk('{"content":"H"}')
        + chunk('{"content":"i"}', "stop", rest=',"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}')
        + DONE
    )
    found = events(raw)
    assert [event for event in found if isinstance(event, TextDelta | UsageUpdate)] == [
        TextDelta(0, "H"),
        TextDelta(0, "i"),
        UsageUpdate(Usage(input_tokens=3, output_tokens=2)),
    ]
    response = streamed(raw)
    assert (response.text, response.finish_reason) == ("Hi", "stop")


def test_sse_21_the_end_comes_without_usage() -> None:
    """A finish reason and the end of the bytes: closing events, usage unknown."""
    response = streamed(chunk('{"content":"Hi"}', "stop"))
    assert response.usage is None
    assert encode_stream(events(chunk('{"content":"Hi"}', "stop")))[-2:] == [
        {
            "id": "c1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
        },
        "[DONE]",
    ]


@pytest.mark.parametrize("body", [b"<html><body>502 Bad Gateway</body></html>", b"upstream connect error", b"\n\n"])
def test_sse_22_a_body_that_is_no_stream_is_never_an_empty_answer(body: bytes) -> None:
    """Text of something in between ends in an error."""
    assert failure(body).error == "IncompleteStreamError"


def test_sse_22_a_whole_answer_in_place_of_a_stream_is_read() -> None:
    """JSON with `message` where chunks were asked for: its content is the answer."""
    body = (
        b'{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,'
        b'"message":{"role":"assistant","content":"Hi","tool_calls":[{"id":"a","type":"function",'
        b'"function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}'
    )
    assert parts(body) == (TextPart("Hi"), ToolCall("a", "f", "{}"))


def test_sse_24_one_line_in_two_reads_is_one_event() -> None:
    """The cut lies inside a JSON string."""
    raw = chunk('{"content":"Hello"}') + chunk("{}", "stop") + DONE
    at = raw.index(b"Hello") + 2
    decoder = DIALECT.stream_decoder(DecodeContext())
    assert decoder.feed(raw[:at]) == []
    assert TextDelta(0, "Hello") in decoder.feed(raw[at:])


def test_sse_27_text_beside_the_finish_reason() -> None:
    """Read: the delta before the finish. Written: the finish in a chunk of its own with an empty delta."""
    raw = chunk('{"role":"assistant","content":"Hi"}', "stop")
    assert streamed(raw).text == "Hi"
    assert [data["choices"][0] for data in encode_stream(events(raw))[:-1]] == [
        {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None},
        {"index": 0, "delta": {"content": "Hi"}, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": "stop"},
    ]


def test_a_chunk_that_is_not_json_ends_the_stream() -> None:
    """With our own error and what came."""
    found = failure(chunk('{"content":"Hi"}') + b"data: {nope\n\n" + DONE)
    assert found.error == "DecodeError"
    assert found.partial is not None
    assert found.partial.text == "Hi"


def test_nothing_but_done_is_no_answer() -> None:
    """The terminal signal came, and nothing before it: as little an answer as a whole one without a choice."""
    [found] = events(DONE)
    assert isinstance(found, StreamError)
    assert (found.error, found.message) == ("InternalServerError", "the answer has no choice, and does not say why")


def test_incomplete_is_retryable() -> None:
    """The class says so, wherever it was raised."""
    assert IncompleteStreamError("x").retryable


def test_nothing_after_the_end_is_read() -> None:
    """Text like the text before it, after `[DONE]` and after an error."""
    for end in (DONE, b'data: {"error":{"message":"boom"}}\n\n'):
        decoder = DIALECT.stream_decoder(DecodeContext())
        decoder.feed(chunk('{"content":"Hi"}') + end)
        assert decoder.ended
        assert decoder.feed(chunk('{"content":"Ho"}')) == []
        found = failure if end != DONE else streamed
        assert found(chunk('{"content":"Hi"}') + end + chunk('{"content":"Ho"}')) is not None


def test_a_choice_need_not_begin_with_0() -> None:
    """The only choice that speaks is number 1."""
    raw = chunk('{"content":"Hi"}', choice=1) + chunk('{"content":"!"}', "stop", choice=1) + DONE
    response = streamed(raw)
    assert response.parts == ()
    assert [other.parts for other in response.alternatives] == [(TextPart("Hi!"),)]


def test_choices_are_bounded() -> None:
    """Number 127 is read, 128 is beyond the bound: nobody makes us build a million of them."""
    assert streamed(chunk('{"content":"Hi"}', "stop", choice=127)).alternatives[126].parts == (TextPart("Hi"),)
    assert failure(chunk('{"content":"Hi"}', "stop", choice=128)).error == "LimitExceededError"


@pytest.mark.parametrize("member", ['"choice":[1]', '"message":"x"', '"top":2', '"choice":{"a":1},"message":{"b":2}'])
def test_members_named_like_ours_stay_where_they_were(member: str) -> None:
    """A top-level `choice` or `message` is not the choice's own."""
    response = streamed(chunk('{"content":"Hi"}', "stop", rest=f",{member}") + DONE)
    sent = encode_reply(response, ServerContext(source="openai-chat"))
    assert {name: sent[name] for name in json.loads(f"{{{member}}}")} == json.loads(f"{{{member}}}")
    assert reply('{"content":"Hi"}', rest=f",{member}").extra["openai-chat"]["top"] == json.loads(f"{{{member}}}")
    assert sent["choices"][0]["message"]["content"] == "Hi"
