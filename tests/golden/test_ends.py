"""How answers end: each finish reason, whole and streamed, in the library and for every client of the gateway.

The snapshot `ends/ends.txt` has a block for each end that an upstream gives. A line says who asked, whether whole or
streamed, and what came of it: the finish on the client's wire behind its text, or the error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import interlingua as il
from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import Error
from interlingua.stream.unfold import unfold
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport
from interlingua.types.event import StreamEnd, StreamError, TextDelta
from interlingua.wire.http import HttpReply, HttpRequest
from tests.support.gateway import MODELS, asking, body_of, gateway

SNAPSHOT = Path(__file__).parent / "ends" / "ends.txt"
SECOND = "ollama/qwen3"
"""The second target of the chain, which answers well."""
WELL = {
    "model": "qwen3", "created_at": "2026-11-27T00:00:00Z", "message": {"role": "assistant", "content": "Whole."},
    "done": True, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 2,
}  # fmt: skip


class End(NamedTuple):
    """One end of an answer, as an upstream says it."""

    title: str
    dialect: str
    body: dict[str, Any]


def _chat(finish: str | None, text: str = "Half", **members: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish, **members}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def _google(finish: str, *parts: dict[str, Any]) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": "Half"}, *parts]}
    return {"candidates": [{"content": content, "finishReason": finish, "index": 0}], "modelVersion": "m"}


def _messages(stop: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    content = [{"type": "text", "text": "Half"}, *blocks]
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": stop,
        "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 2},
    }  # fmt: skip


def _responses(status: str, **members: Any) -> dict[str, Any]:
    text: dict[str, Any] = {"type": "output_text", "text": "Half", "annotations": []}
    item: dict[str, Any] = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    return {"id": "resp_1", "object": "response", "model": "m", "status": status, "output": [item], **members}


def _ollama(**members: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": "Half"}
    return {"model": "m", "created_at": "2026-11-27T00:00:00Z", "message": message, "done": True, **members}


def _cohere(finish: str | None = None) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "text", "text": "Half"}]}
    said = {} if finish is None else {"finish_reason": finish}
    return {"id": "c", "message": message, **said, "usage": {"tokens": {"input_tokens": 3, "output_tokens": 2}}}


CUT_USE: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
CUT_ITEM = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": ""}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Oslo"}}
ENDS = (
    End("error: MALFORMED_FUNCTION_CALL beside a readable call", "google",
        _google("MALFORMED_FUNCTION_CALL", {"functionCall": {"id": "f1", "name": "look", "args": {"x": 1}}})),
    End("error: insufficient_system_resource", "openai-chat", _chat("insufficient_system_resource")),
    End("error: abort before any content", "openai-chat", _chat("abort", "")),
    End("error: no reason, no counts", "ollama", _ollama()),
    End("cancelled", "openai-responses", _responses("cancelled")),
    End("cancelled: queued, and nobody will come back for it", "openai-responses", _responses("queued")),
    End("other: a word that nobody knows", "openai-chat", _chat("new_word")),
    End("no reason beside a text", "openai-chat", _chat(None)),
    End("no reason beside counts", "ollama", _ollama(total_duration=9, eval_count=2)),
    End("no reason beside a text of Cohere", "cohere", _cohere()),
    End("length", "openai-chat", _chat("length")),
    End("length of Cohere", "cohere", _cohere("MAX_TOKENS")),
    End("length inside a call: no input yet", "anthropic", _messages("max_tokens", CUT_USE)),
    End("length inside a call: an incomplete item", "openai-responses",
        {**_responses("incomplete", incomplete_details={"reason": "max_output_tokens"}),
         "output": [{**CUT_ITEM, "status": "incomplete"}]}),
    End("refusal", "anthropic", _messages("refusal")),
    End("content_filter", "google", _google("SAFETY")),
    End("error: TIMEOUT", "cohere", _cohere("TIMEOUT")),
    End("pause", "anthropic", _messages("pause_turn")),
    End("pause for a tool of the provider that never ends", "anthropic", _messages("pause_turn", SEARCH)),
)  # fmt: skip
TYPES = {"ollama": (("content-type", "application/x-ndjson"),)}


def _line(dialect: str, body: dict[str, Any], *, stream: bool) -> Line:
    """The body of an upstream, whole or as its own stream."""
    whole = json.dumps(body).encode()
    if not stream:
        return Line(pieces=(whole,), times=None, when=_asks(dialect))
    spoken = get_dialect(dialect)
    encoder = spoken.stream_encoder(ServerContext(source=dialect))
    events = unfold(spoken.decode_response(HttpReply(status=200, body=whole), DecodeContext()))
    raw = b"".join([encoder.encode(event) for event in events])
    headers = TYPES.get(dialect, (("content-type", "text/event-stream"),))
    return Line(pieces=(raw,), headers=headers, times=None, when=_asks(dialect))


def _asks(dialect: str) -> Callable[[HttpRequest], bool]:
    def is_for(request: HttpRequest) -> bool:
        return ("/api/chat" in request.url) is (dialect == "ollama")

    return is_for


def _lines(end: End, *, chained: bool, stream: bool) -> list[Line]:
    lines = [_line(end.dialect, end.body, stream=stream)]
    return [*lines, _line("ollama", WELL, stream=stream)] if chained and end.dialect != "ollama" else lines


def _targets(end: End, *, chained: bool) -> str:
    model = MODELS[end.dialect]
    return f"{model},{SECOND}" if chained and end.dialect != "ollama" else model


def _library(end: End, *, chained: bool, stream: bool) -> str:
    script = ReplayTransport(*_lines(end, chained=chained, stream=stream))
    with overriding(Override(lambda _: script, lambda _: AsyncReplayTransport(), answers=True)):
        model, came = il.model(_targets(end, chained=chained)), None
        try:
            if stream:
                with model.stream("Hi") as events:
                    try:
                        answer = events.finish()
                    finally:
                        came = events.partial
            else:
                answer = model.generate("Hi")
        except Error as error:
            came = came or getattr(error, "response", None)
            return f"raises {_named(error)}, with {None if came is None else came.text!r}"
        return f"{answer.text!r} {_calls(answer)}{answer.finish_reason}"


def _calls(answer: Any) -> str:
    broken = [part for part in answer.parts if isinstance(part, il.BrokenToolCall)]
    return "".join([f"{part.name} not run: {part.reason}, " for part in broken])


def _named(error: Error) -> str:
    return f"{type(error).__name__}{' to be retried' if error.retryable else ''}"


async def _client(dialect: str, end: End, *, chained: bool, stream: bool) -> str:
    script = AsyncReplayTransport(*_lines(end, chained=chained, stream=stream))
    with overriding(Override(lambda _: ReplayTransport(), lambda _: script, answers=True)):
        made = gateway(aliases={"it": _targets(end, chained=chained)})
        reply = await made(asking(dialect, "it", stream=stream))
        body = await body_of(reply)
    spoken = get_dialect(dialect)
    whole = HttpReply(status=reply.status, headers=reply.headers, body=body)
    if reply.status >= 400:
        return f"{reply.status} {_named(spoken.decode_error(whole, DecodeContext()))}"
    if not stream:
        answer = spoken.decode_response(whole, DecodeContext())
        return f"{answer.text!r} {_tools(answer)}{answer.finish_reason_raw}"
    decoder = spoken.stream_decoder(DecodeContext())
    events = [*decoder.feed(body), *decoder.close()]
    text = "".join([event.text for event in events if isinstance(event, TextDelta)])
    match events[-1]:
        case StreamEnd(response=answer):
            return f"{text!r} {_tools(answer)}{answer.finish_reason_raw}"
        case StreamError(error=error):
            return f"{text!r} error event {error}"
        case last:
            raise AssertionError(last)


def _tools(answer: Any) -> str:
    return "".join([f"calls {call.name}({call.arguments_json}) " for call in answer.tool_calls]) + _calls(answer)


async def _told(end: End) -> list[str]:
    """The lines of one end, those alike together."""
    lines = [f"=== {end.title} ({end.dialect})"]
    for chained, place in ((False, ""), (True, " chain")):
        for stream, way in ((False, "whole"), (True, "streamed")):
            lines.append(f"library{place:6} {'':16} {way:8}  {_library(end, chained=chained, stream=stream)}")
    for chained, place in ((False, ""), (True, " chain")):
        for dialect in DIALECTS:
            for stream, way in ((False, "whole"), (True, "streamed")):
                came = await _client(dialect, end, chained=chained, stream=stream)
                lines.append(f"gateway{place:6} {dialect:16} {way:8}  {came}")
    return lines


@pytest.mark.parametrize("end", ENDS, ids=[end.title for end in ENDS])
async def test_end_02_each_end_is_told_as_it_is(end: End, request: pytest.FixtureRequest) -> None:
    """The block of the snapshot; `--golden-update` writes it anew."""
    told = await _told(end)
    blocks = dict(_blocks(SNAPSHOT.read_text(encoding="utf-8"))) if SNAPSHOT.exists() else {}
    if request.config.getoption("--golden-update"):
        blocks[told[0]] = told
        order = [f"=== {one.title} ({one.dialect})" for one in ENDS]
        text = "\n\n".join(["\n".join(blocks[title]) for title in order if title in blocks])
        SNAPSHOT.write_text(text + "\n", encoding="utf-8")
    assert told == blocks.get(told[0])


def _blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    for block in text.strip().split("\n\n"):
        lines = block.splitlines()
        yield lines[0], lines


@pytest.mark.parametrize("end", ENDS, ids=[end.title for end in ENDS])
async def test_end_03_whole_and_streamed_have_one_outcome(end: End) -> None:
    """A failure is one both ways, an end is one both ways, with the same word: in the library and for every client."""
    for stream_said, whole_said in [
        (_library(end, chained=False, stream=True), _library(end, chained=False, stream=False)),
        *[
            [await _client(dialect, end, chained=False, stream=stream) for stream in (True, False)]
            for dialect in DIALECTS
        ],
    ]:
        fails = ["Error" in said for said in (stream_said, whole_said)]
        assert fails[0] == fails[1], (stream_said, whole_said)
        assert fails[0] or stream_said == whole_said
