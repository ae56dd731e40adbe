"""Answers of upstreams that are wrong in a way that somebody has seen: the bytes, by dialect and by row of failure.

`STREAMS` and `WHOLES` hold one entry for each: its name begins with the ids of the rows. The frames of a stream come in
one read each; what is in normal form stands here too, so that it is seen to pass.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from interlingua.wire.json import encode
from tests.support import wrong_converse

__all__ = ["SDK_FRAMES", "STREAMS", "TWICE", "WHOLES", "Frames"]

Frames = tuple[bytes, ...]


def _data(body: object) -> bytes:
    return b"data: " + encode(body, nulls=100) + b"\n\n"


def _named(body: dict[str, Any]) -> bytes:
    return b"event: " + str(body["type"]).encode() + b"\n" + _data(body)


# Chat


def chunk(delta: dict[str, Any] | None, finish: str | None = None, index: Any = 0, **members: Any) -> bytes:
    """A chunk of Chat."""
    choices = [] if delta is None else [{"index": index, "delta": delta, "finish_reason": finish}]
    head = {"id": "chatcmpl-7", "object": "chat.completion.chunk", "created": 1795, "model": "gpt-4.1-2025"}
    return _data({**head, "choices": choices, **members})


def call(name: str | None = None, arguments: Any = None, **members: Any) -> dict[str, Any]:
    """A call, or a piece of one, of Chat."""
    function = {"name": name, "arguments": arguments}
    said = {member: value for member, value in function.items() if value is not None}
    return {**({"type": "function"} if name else {}), **members, "function": said}


def calls(*given: dict[str, Any], **members: Any) -> bytes:
    """A chunk with calls."""
    return chunk({"tool_calls": list(given), **members})


OSLO, ROME = '{"city":"Oslo"}', '{"city":"Rome"}'
ROLE = chunk({"role": "assistant", "content": ""})
HELLO = chunk({"role": "assistant", "content": "Hello"})
MORE = chunk({"content": " there."})
USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
COUNTS = chunk(None, usage=USAGE)
STOP, CALLED, LENGTH = chunk({}, "stop"), chunk({}, "tool_calls"), chunk({}, "length")
DONE = b"data: [DONE]\n\n"
TEXT_END = (STOP, COUNTS, DONE)
CALLS_END = (CALLED, COUNTS, DONE)
ERROR = _data({"error": {"message": "gone", "type": "invalid_request_error", "code": None}})


def _two(first: dict[str, Any], second: dict[str, Any]) -> Frames:
    """Two calls in a chunk each, behind a text."""
    return (HELLO, calls(first), calls(second), *CALLS_END)


def _one(*pieces: dict[str, Any]) -> Frames:
    """One call in a chunk for each piece, behind a text."""
    return (HELLO, *[calls(piece) for piece in pieces], *CALLS_END)


_OPEN = call("f", "", index=0, id="call_a")

CHAT: dict[str, Frames] = {
    "normal text": (HELLO, MORE, *TEXT_END),
    "normal calls": _one(_OPEN, call(None, OSLO[:5], index=0), call(None, OSLO[5:], index=0)),
    "STR-01 no index, whole calls": _two(call("f", OSLO, id="call_a"), call("f", ROME, id="call_b")),
    "STR-03 no index, pieces": _one(call("f", "", id="call_a"), call(None, OSLO[:5]), call(None, OSLO[5:])),
    "STR-02 STR-05 all index 0": _two(call("f", OSLO, index=0, id="call_a"), call("f", ROME, index=0, id="call_b")),
    "STR-02 all index 0, pieces": _one(
        _OPEN, call(None, OSLO, index=0), call("g", "", index=0, id="call_b"), call(None, ROME, index=0)
    ),
    "STR-04 one index twice in a chunk": (HELLO, calls(_OPEN, call(None, OSLO, index=0)), *CALLS_END),
    "STR-06 index as text": _one(call("f", "", index="0", id="call_a"), call(None, OSLO, index=0)),
    "STR-07 index null": _one(call("f", "", index=None, id="call_a"), call(None, OSLO, index=None)),
    "STR-07 index negative": _one(call("f", "", index=-1, id="call_a"), call(None, OSLO, index=-1)),
    "STR-07 index a float": _one(call("f", "", index=0.5, id="call_a"), call(None, OSLO, index=0.5)),
    "STR-08 arguments under another index": _one(_OPEN, call(None, OSLO, index=1)),
    "STR-09 sparse index": _one(call("f", OSLO, index=1, id="call_a")),
    "STR-13 ID-03 no id": _one(call("f", "", index=0), call(None, OSLO, index=0)),
    "STR-14 name comes last": _one(
        {"index": 0, "id": "call_a", "type": "function", "function": {"arguments": OSLO}}, call("f", "", index=0)
    ),
    "STR-15 empty name first": _one(call("", "", index=0, id="call_a"), call("f", OSLO, index=0)),
    "STR-16 name null in pieces": _one(_OPEN, {"index": 0, "function": {"name": None, "arguments": OSLO}}),
    "STR-17 name repeated": _one(_OPEN, call("f", OSLO[:5], index=0), call("f", OSLO[5:], index=0)),
    "ID-03 id repeated": _one(_OPEN, call(None, OSLO[:5], index=0, id="call_a"), call(None, OSLO[5:], index=0)),
    "STR-19 pieces interleave": (
        HELLO, calls(_OPEN), calls(call("g", "", index=1, id="call_b")), calls(call(None, OSLO[:5], index=0)),
        calls(call(None, ROME[:5], index=1)), calls(call(None, OSLO[5:], index=0)),
        calls(call(None, ROME[5:], index=1)), *CALLS_END,
    ),
    "STR-24 text and call in one chunk": (ROLE, calls(call("f", OSLO, index=0, id="call_a"), content="Hi"), *CALLS_END),
    "STR-26 empty content between": (
        HELLO, calls(_OPEN), chunk({"content": ""}), calls(call(None, OSLO, index=0)), chunk({"content": ""}),
        *CALLS_END,
    ),
    "STR-27 ARG-01 no arguments": _one(_OPEN),
    "STR-28 arguments null": _one(_OPEN, {"index": 0, "function": {"arguments": None}}, call(None, OSLO, index=0)),
    "STR-36 id in the function": _one(
        {"index": 0, "type": "function", "function": {"id": "call_a", "name": "f", "arguments": OSLO}}
    ),
    "STR-37 no content": (chunk({"role": "assistant"}), chunk({"content": "Hi"}), *TEXT_END),
    "STR-41 arguments repeated": _one(_OPEN, call(None, OSLO, index=0), call(None, OSLO, index=0)),
    "SSE-02 data on the next line": (HELLO, MORE.replace(b"data: ", b"data:\n"), *TEXT_END),
    "SSE-05 SSE-06 comments": (b": PROCESSING\n\n", HELLO, b": PROCESSING\n\n", MORE, *TEXT_END),
    "SSE-08 an event without data": (HELLO, b"event: keepalive\n\n", MORE, *TEXT_END),
    "SSE-08 an event with empty data": (HELLO, b"data: \n\n", MORE, *TEXT_END),
    "SSE-09 SSE-12 no marker": (HELLO, STOP, COUNTS),
    "SSE-12 marker alone": (HELLO, DONE),
    "SSE-13 END-01 an error": (HELLO, ERROR, MORE, *TEXT_END),
    "SSE-13 an error beside choices": (HELLO, chunk({"content": "x"}, error={"message": "gone"}), *TEXT_END),
    "SSE-10 cut": (HELLO, MORE),
    "SSE-10 cut in a call": (HELLO, calls(_OPEN), calls(call(None, OSLO[:5], index=0))),
    "SSE-18 counts without choices": (HELLO, STOP, COUNTS.replace(b'"choices":[],', b""), DONE),
    "SSE-20 SSE-27 text beside the finish": (HELLO, chunk({"content": "!"}, "stop", usage=USAGE), DONE),
    "SSE-22 a whole answer": (),
    "broken JSON": (HELLO, b'data: {"choices":[{\n\n', *TEXT_END),
    "wrong type of content": (HELLO, chunk({"content": [{"type": "text", "text": "!"}]}), *TEXT_END),
    "an empty object without choices": (
        _data({"id": "", "object": "", "created": 0, "model": "", "choices": []}), HELLO, MORE, *TEXT_END,
    ),
    "another object": (HELLO.replace(b".chunk", b""), MORE, *TEXT_END),
    "an empty object": (HELLO.replace(b"chat.completion.chunk", b""), MORE, *TEXT_END),
    "no index of a choice": (HELLO, MORE.replace(b'"index":0,', b""), *TEXT_END),
    "deprecated call": (HELLO, chunk({"function_call": {"name": "f", "arguments": OSLO}}), *CALLS_END),
    "frames behind the marker": (HELLO, *TEXT_END, MORE, *TEXT_END),
    "text behind the finish": (HELLO, STOP, MORE, COUNTS, DONE),
    "ARG-02 arguments an object": _one(call("f", {"city": "Oslo"}, index=0, id="call_a")),
    "ARG-04 arguments encoded twice": _one(call("f", encode(OSLO).decode(), index=0, id="call_a")),
    "ARG-04 arguments encoded twice, pieces": _one(
        _OPEN, *[call(None, piece, index=0) for piece in (encode(OSLO).decode()[:9], encode(OSLO).decode()[9:])]
    ),
    "ARG-08 a great number": _one(call("f", '{"n":9007199254740993}', index=0, id="call_a")),
    "ARG-09 a key twice": _one(call("f", '{"a":1,"a":2}', index=0, id="call_a")),
    "ARG-10 not finite": _one(call("f", '{"a":NaN}', index=0, id="call_a")),
    "ARG-11 malformed": _one(call("f", '{"a":', index=0, id="call_a")),
    "ARG-11 malformed, pieces": _one(_OPEN, call(None, '{"a"', index=0), call(None, ":}", index=0)),
    "ARG-11 a list": _one(call("f", "[1]", index=0, id="call_a")),
    "ARG-17 a control character": _one(call("f", '{"a":"x\ny"}', index=0, id="call_a")),
    "ID-10 one id twice": _two(call("f", OSLO, index=0, id="call_a"), call("f", ROME, index=1, id="call_a")),
    "USE-01 counts in every chunk": (
        chunk({"role": "assistant", "content": "Hi"}, usage={**USAGE, "completion_tokens": 1, "total_tokens": 10}),
        chunk({"content": "!"}, usage={**USAGE, "completion_tokens": 2, "total_tokens": 11}), STOP, COUNTS, DONE,
    ),
    "USE-06 counts in x_groq": (HELLO, chunk({}, "stop", x_groq={"id": "r", "usage": USAGE}), DONE),
    "USE-08 another finish": (HELLO, chunk({}, "eos"), COUNTS, DONE),
    "USE-08 an empty finish": (HELLO, chunk({}, ""), COUNTS, DONE),
    "USE-10 stop beside calls": (*_one(call("f", OSLO, index=0, id="call_a"))[:2], *TEXT_END),
    "USE-12 calls announced, none there": (HELLO, *CALLS_END),
    "USE-13 length beside calls": (*_one(call("f", OSLO, index=0, id="call_a"))[:2], LENGTH, COUNTS, DONE),
    "USE-15 an error, choices null": (HELLO, _data({"choices": None, "error": {"message": "gone"}}), *TEXT_END),
    "usage of another type": (HELLO, STOP, chunk(None, usage={**USAGE, "prompt_tokens": "9"}), DONE),
}  # fmt: skip


# Messages


def _message(**members: Any) -> bytes:
    usage = {"input_tokens": 9, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "msg_7", "type": "message", "role": "assistant", "model": "claude-x", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage, **members,
    }  # fmt: skip
    return _named({"type": "message_start", "message": message})


def _begin(index: int, block: dict[str, Any]) -> bytes:
    return _named({"type": "content_block_start", "index": index, "content_block": block})


def _delta(index: int, kind: str, **members: Any) -> bytes:
    return _named({"type": "content_block_delta", "index": index, "delta": {"type": kind, **members}})


def _stop(index: int) -> bytes:
    return _named({"type": "content_block_stop", "index": index})


def _finish(reason: str, **members: Any) -> bytes:
    return _named({
        "type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 4}, **members,
    })  # fmt: skip


_TEXT = {"type": "text", "text": ""}
_TOOL: dict[str, Any] = {"type": "tool_use", "id": "toolu_a", "name": "f", "input": {}}
_HELLO = (_message(), _begin(0, _TEXT), _delta(0, "text_delta", text="Hello"))
_LAST = _named({"type": "message_stop"})
_TEXT_END = (_stop(0), _finish("end_turn"), _LAST)


def _using(*frames: bytes, reason: str = "tool_use") -> Frames:
    """A text, and behind it what calls."""
    return (*_HELLO, _stop(0), *frames, _finish(reason), _LAST)


MESSAGES: dict[str, Frames] = {
    "normal text": (*_HELLO, _delta(0, "text_delta", text=" there."), *_TEXT_END),
    "normal call": _using(_begin(1, _TOOL), _delta(1, "input_json_delta", partial_json=OSLO), _stop(1)),
    "STR-27 no input": _using(_begin(1, _TOOL), _stop(1)),
    "STR-21 STR-40 input in the start": _using(_begin(1, {**_TOOL, "input": {"city": "Oslo"}}), _stop(1)),
    "ARG-04 input encoded twice": _using(
        _begin(1, _TOOL), _delta(1, "input_json_delta", partial_json=encode(OSLO).decode()), _stop(1)
    ),
    "ARG-11 malformed": _using(_begin(1, _TOOL), _delta(1, "input_json_delta", partial_json='{"a":'), _stop(1)),
    "ARG-09 a key twice": _using(
        _begin(1, _TOOL), _delta(1, "input_json_delta", partial_json='{"a":1,"a":2}'), _stop(1)
    ),
    "STR-13 no id": _using(
        _begin(1, {**_TOOL, "id": ""}), _delta(1, "input_json_delta", partial_json=OSLO), _stop(1)
    ),
    "ID-10 one id twice": _using(
        _begin(1, _TOOL), _delta(1, "input_json_delta", partial_json=OSLO), _stop(1),
        _begin(2, _TOOL), _delta(2, "input_json_delta", partial_json=ROME), _stop(2),
    ),
    "STR-15 no name": _using(_begin(1, {**_TOOL, "name": ""}), _stop(1)),
    "OUT-12 sparse index": _using(_begin(3, _TOOL), _delta(3, "input_json_delta", partial_json=OSLO), _stop(3)),
    "STR-09 index from 1": (
        _message(), _begin(1, _TEXT), _delta(1, "text_delta", text="Hello"), _stop(1), _finish("end_turn"), _LAST,
    ),
    "STR-19 blocks interleave": _using(
        _begin(1, _TOOL), _begin(2, {**_TOOL, "id": "toolu_b"}),
        _delta(1, "input_json_delta", partial_json=OSLO), _delta(2, "input_json_delta", partial_json=ROME),
        _stop(1), _stop(2),
    ),
    "OUT-15 a delta of no block": (*_HELLO, _delta(4, "text_delta", text="!"), *_TEXT_END),
    "OUT-04 behind the stop": (*_HELLO, *_TEXT_END, _begin(1, _TEXT), _delta(1, "text_delta", text="!")),
    "SSE-13 an error": (
        *_HELLO, _named({"type": "error", "error": {"type": "api_error", "message": "gone"}}), *_TEXT_END,
    ),
    "SSE-13 a bare error": (*_HELLO, _data({"error": {"type": "api_error", "message": "gone"}}), *_TEXT_END),
    "SSE-10 cut": _HELLO,
    "broken JSON": (*_HELLO, b'event: content_block_delta\ndata: {"type":\n\n', *_TEXT_END),
    "events without names": tuple([frame.partition(b"\n")[2] for frame in (*_HELLO, *_TEXT_END)]),
    "USE-07 no counts": (
        _named({"type": "message_start", "message": {
            "id": "m", "type": "message", "role": "assistant", "model": "claude-x", "content": [],
        }}),
        *_HELLO[1:], _stop(0), _named({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}), _LAST,
    ),
    "USE-02 counts in both": (
        *_HELLO, _stop(0), _finish("end_turn", usage={"input_tokens": 9, "output_tokens": 4}), _LAST,
    ),
    "USE-10 the turn ends beside calls": _using(
        _begin(1, _TOOL), _delta(1, "input_json_delta", partial_json=OSLO), _stop(1), reason="end_turn"
    ),
    "USE-12 calls announced, none there": (*_HELLO, _stop(0), _finish("tool_use"), _LAST),
    "USE-14 length": (*_HELLO, _stop(0), _finish("max_tokens"), _LAST),
    "a call begun twice": _using(
        _begin(1, _TOOL), _begin(1, _TOOL), _delta(1, "input_json_delta", partial_json=OSLO), _stop(1)
    ),
    "STR-08 arguments for the text": (
        *_HELLO, _begin(1, _TOOL), _delta(0, "input_json_delta", partial_json=OSLO), _stop(1), _stop(0),
        _finish("tool_use"), _LAST,
    ),
    "no beginning": (*_HELLO[1:], *_TEXT_END),
    "no beginning, an error": (
        *_HELLO[1:], _named({"type": "error", "error": {"type": "api_error", "message": "gone"}}),
    ),
    "begun twice": (_HELLO[0], *_HELLO, *_TEXT_END),
    "a block without its text": (_HELLO[0], _begin(0, {"type": "text"}), _HELLO[2], *_TEXT_END),
    "a block with null for its text": (_HELLO[0], _begin(0, {"type": "text", "text": None}), _HELLO[2], *_TEXT_END),
    "stopped before the reason": (*_HELLO, _stop(0), _LAST, _finish("end_turn")),
    "no reason": (*_HELLO, _stop(0), _LAST),
    "ping": (_HELLO[0], _named({"type": "ping"}), *_HELLO[1:], _named({"type": "ping"}), *_TEXT_END),
}  # fmt: skip


# Responses


def _events(*bodies: dict[str, Any]) -> Frames:
    return tuple([_named({**body, "sequence_number": place}) for place, body in enumerate(bodies)])


def _answer(status: str, output: Sequence[dict[str, Any]], **members: Any) -> dict[str, Any]:
    counts = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": "resp_7", "object": "response", "created_at": 1795, "status": status, "model": "gpt-x",
        "output": list(output), "error": None, "incomplete_details": None, "instructions": None, "metadata": {},
        "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        **({"usage": {**counts, **details}} if status == "completed" else {}), **members,
    }  # fmt: skip


def _saying(text: str = "Hello", index: int = 0, content_index: int = 0) -> tuple[dict[str, Any], ...]:
    """The events of one message."""
    names = {"item_id": "msg_a", "output_index": index, "content_index": content_index}
    empty: dict[str, Any] = {"type": "output_text", "text": "", "annotations": []}
    opened: dict[str, Any] = {
        "id": "msg_a",
        "type": "message",
        "role": "assistant",
        "status": "in_progress",
        "content": [],
    }
    return (
        {"type": "response.output_item.added", "output_index": index, "item": opened},
        {"type": "response.content_part.added", **names, "part": empty},
        {"type": "response.output_text.delta", **names, "delta": text, "logprobs": []},
        {"type": "response.output_text.done", **names, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **names, "part": {**empty, "text": text}},
        {"type": "response.output_item.done", "output_index": index, "item": _said(text)},
    )


def _said(text: str = "Hello") -> dict[str, Any]:
    part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
    return {"id": "msg_a", "type": "message", "role": "assistant", "status": "completed", "content": [part]}


def _function(arguments: Any = OSLO, **members: Any) -> dict[str, Any]:
    head = {"id": "fc_a", "type": "function_call", "call_id": "call_a", "name": "f"}
    return {**head, "arguments": arguments, "status": "completed", **members}


def _calling(*pieces: str, index: int = 1, **members: Any) -> tuple[dict[str, Any], ...]:
    """The events of one call."""
    text = "".join(pieces)
    item = _function("", status="in_progress", **members)
    names = {"item_id": item["id"], "output_index": index}
    deltas = [{"type": "response.function_call_arguments.delta", **names, "delta": piece} for piece in pieces]
    return (
        {"type": "response.output_item.added", "output_index": index, "item": item},
        *deltas,
        {"type": "response.function_call_arguments.done", **names, "arguments": text},
        {"type": "response.output_item.done", "output_index": index, "item": _function(text, **members)},
    )


_CREATED: dict[str, Any] = {"type": "response.created", "response": _answer("in_progress", [])}


def _completed(*items: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": _answer("completed", items, **members)}


def _without(name: str, *bodies: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    return tuple([{member: value for member, value in body.items() if member != name} for body in bodies])


_TEXT_FRAMES = _events(_CREATED, *_saying(), _completed(_said()))
_FAILED = _answer("failed", [_said()], error={"code": "server_error", "message": "gone"})

RESPONSES: dict[str, Frames] = {
    "normal text": _TEXT_FRAMES,
    "normal call": _events(
        _CREATED, *_saying(), *_calling(OSLO[:5], OSLO[5:]), _completed(_said(), _function())
    ),
    "STR-22 arguments only at the end": _events(
        _CREATED, *_saying(), _calling()[0], _calling()[0] | _calling(OSLO)[-1], _completed(_said(), _function())
    ),
    "STR-11 all output_index 0": _events(
        _CREATED, *_calling(OSLO, index=0), *_calling(ROME, index=0, id="fc_b", call_id="call_b"),
        _completed(_function(), _function(ROME, id="fc_b", call_id="call_b")),
    ),
    "ID-11 items without ids": _events(
        _CREATED, *_without("item_id", *_saying()), _completed(_said())
    ),
    "ARG-04 arguments encoded twice": _events(
        _CREATED, *_calling(encode(OSLO).decode(), index=0), _completed(_function(encode(OSLO).decode()))
    ),
    "ARG-02 arguments an object at the end": _events(
        _CREATED, _calling(index=0)[0], {**_calling(index=0)[-1], "item": _function({"city": "Oslo"})},
        _completed(_function({"city": "Oslo"})),
    ),
    "ARG-11 malformed": _events(_CREATED, *_calling('{"a":', index=0), _completed(_function('{"a":'))),
    "ARG-01 no arguments": _events(_CREATED, *_calling(index=0), _completed(_function(""))),
    "ID-10 one id twice": _events(
        _CREATED, *_calling(OSLO, index=0), *_calling(ROME, index=1, id="fc_b"),
        _completed(_function(), _function(ROME, id="fc_b")),
    ),
    "no beginning": _events(*_saying(), _completed(_said())),
    "no beginning, an error": (_TEXT_FRAMES[1], _named({"type": "error", "code": "x", "message": "gone"})),
    "a part that is not there": _events(
        _CREATED, _saying()[0], {**_saying()[1], "part": None}, *_saying()[2:], _completed(_said())
    ),
    "OUT-06 no life cycle": _events(_CREATED, _saying()[2], _completed(_said())),
    "OUT-07 no numbers": tuple([_named(body) for body in (_CREATED, *_saying(), _completed(_said()))]),
    "OUT-08 completed without output": _events(_CREATED, *_saying(), _completed()),
    "TOL-01 content_index from 1": _events(_CREATED, *_saying(content_index=1), _completed(_said())),
    "sparse output_index": _events(_CREATED, *_saying(index=3), _completed(_said())),
    "SSE-13 an error": (
        *_TEXT_FRAMES[:4], _named({"type": "error", "code": "x", "message": "gone"}), *_TEXT_FRAMES[4:],
    ),
    "SSE-13 a bare error": (*_TEXT_FRAMES[:4], _data({"error": {"message": "gone"}}), *_TEXT_FRAMES[4:]),
    "SSE-13 failed": (*_TEXT_FRAMES[:4], _named({"type": "response.failed", "response": _FAILED}), *_TEXT_FRAMES[4:]),
    "SSE-10 cut": _TEXT_FRAMES[:4],
    "broken JSON": (*_TEXT_FRAMES[:4], b'event: response.output_text.delta\ndata: {"type"\n\n', *_TEXT_FRAMES[4:]),
    "USE-14 incomplete": _events(_CREATED, *_saying(), {
        "type": "response.incomplete", "response": _answer(
            "incomplete", [_said()], incomplete_details={"reason": "max_output_tokens"},
            usage={"input_tokens": 9, "output_tokens": 4, "total_tokens": 13},
        ),
    }),
}  # fmt: skip


# Google


def _frame(parts: object, finish: object = None, **members: Any) -> bytes:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 4, "totalTokenCount": 13}
    body = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-x", "responseId": "r7"}
    return b"data: " + encode({**body, **members}) + b"\r\n\r\n"


def _calls(args: Any = None, **members: Any) -> list[dict[str, Any]]:
    said = {"args": {"city": "Oslo"}} if args is None else {"args": args}
    return [{"functionCall": {"name": "f", **said, **members}}]


_NOTHING: dict[str, Any] = {"args": {}}
_HI, _BYE = _frame([{"text": "Hello"}]), _frame([{"text": " there."}], "STOP")

GOOGLE: dict[str, Frames] = {
    "normal text": (_HI, _BYE),
    "normal calls": (_HI, _frame([*_calls(), *_calls({"city": "Rome"})], "STOP")),
    "STR-31 a call in each frame": (_HI, _frame(_calls()), _frame(_calls({"city": "Rome"})), _frame([], "STOP")),
    "SSE-19 a reason in every frame": (_frame([{"text": "Hello"}], "STOP"), _frame(_calls(), "STOP"), _BYE),
    "snake case": (_HI, _frame([{"function_call": {"name": "f", "args": {"city": "Oslo"}}}], "STOP")),
    "ARG-04 arguments as text": (_HI, _frame(_calls(OSLO), "STOP")),
    "ARG-01 no arguments": (_HI, _frame([{"functionCall": {"name": "f"}}], "STOP")),
    "ARG-18 not finite": (
        _HI, _frame(_calls({"a": "XX"}), "STOP").replace(b'"XX"', b"Infinity"),
    ),
    "STR-15 no name": (_HI, _frame([{"functionCall": _NOTHING}], "STOP")),
    "ID-10 one id twice": (_HI, _frame([*_calls(id="c"), *_calls({"city": "Rome"}, id="c")], "STOP")),
    "a part in place of a list": (_HI, _frame({"text": "!"}, "STOP")),
    "a reason as a number": (_HI, _frame([{"text": "!"}], 1)),
    "SSE-05 comments": (b": PROCESSING\r\n\r\n", _HI, b": PROCESSING\r\n\r\n", _BYE),
    "SSE-13 an error": (_HI, _data({"error": {"code": 500, "message": "gone", "status": "INTERNAL"}}), _BYE),
    "SSE-10 cut": (_HI,),
    "broken JSON": (_HI, b'data: {"candidates":\r\n\r\n', _BYE),
    "a marker": (_HI, _BYE, b"data: [DONE]\r\n\r\n"),
    "USE-14 length": (_HI, _frame([{"text": "!"}], "MAX_TOKENS")),
}  # fmt: skip


# Ollama


def _line(message: dict[str, Any] | None, done: bool = False, **members: Any) -> bytes:
    head = {"model": "qwen3", "created_at": "2026-11-27T22:00:00Z"}
    told = {} if message is None else {"message": {"role": "assistant", "content": "", **message}}
    return encode({**head, **told, "done": done, **members}) + b"\n"


def _tool(arguments: Any, name: str = "f") -> dict[str, Any]:
    return {"tool_calls": [{"function": {"name": name, "arguments": arguments}}]}


_GREETING = _line({"content": "Hello"})
_OVER = _line({}, True, done_reason="stop", prompt_eval_count=9, eval_count=4)

OLLAMA: dict[str, Frames] = {
    "normal text": (_GREETING, _line({"content": " there."}), _OVER),
    "STR-44 a call before the end": (_GREETING, _line(_tool({"city": "Oslo"})), _OVER),
    "ARG-14 arguments as text": (_GREETING, _line(_tool(OSLO)), _OVER),
    "ARG-11 malformed": (_GREETING, _line(_tool('{"a":')), _OVER),
    "ARG-01 no arguments": (_GREETING, _line({"tool_calls": [{"function": {"name": "f"}}]}), _OVER),
    "STR-15 no name": (_GREETING, _line(_tool({}, "")), _OVER),
    "no time": (_GREETING.replace(b'"created_at":"2026-11-27T22:00:00Z",', b""), _OVER),
    "no role": (_GREETING.replace(b'"role":"assistant",', b""), _OVER),
    "blank lines": (_GREETING, b"\n", _OVER),
    "SSE-13 an error": (_GREETING, b'{"error":"gone"}\n', _OVER),
    "SSE-10 cut": (_GREETING,),
    "broken JSON": (_GREETING, b'{"model":\n', _OVER),
    "behind the end": (_GREETING, _OVER, _line({"content": "!"})),
    "USE-14 length": (_GREETING, _line({}, True, done_reason="length", prompt_eval_count=9, eval_count=4)),
    "counts of another type": (_GREETING, _line({}, True, done_reason="stop", prompt_eval_count=9.0, eval_count="4")),
}


# Cohere

_BILL = {"tokens": {"input_tokens": 9, "output_tokens": 4}}


def _started(**message: Any) -> dict[str, Any]:
    said: dict[str, Any] = {
        "role": "assistant",
        "content": [],
        "tool_plan": "",
        "tool_calls": [],
        "citations": [],
        **message,
    }
    return {"id": "r7", "type": "message-start", "delta": {"message": said}}


def _adding(kind: str, index: int, **message: Any) -> dict[str, Any]:
    return {"type": kind, "index": index, "delta": {"message": message}}


def _writing(*texts: Any, index: int = 0) -> list[dict[str, Any]]:
    deltas = [_adding("content-delta", index, content=text if isinstance(text, list) else {"text": text})
              for text in texts]  # fmt: skip
    start = _adding("content-start", index, content={"type": "text", "text": ""})
    return [start, *deltas, {"type": "content-end", "index": index}]


def _asking(arguments: Any = OSLO, index: int = 0, name: str | None = "f", **members: Any) -> list[dict[str, Any]]:
    function = {"arguments": ""} if name is None else {"name": name, "arguments": ""}
    call = {"id": f"c{index}", "type": "function", "function": function, **members}
    return [
        _adding("tool-call-start", index, tool_calls=call),
        _adding("tool-call-delta", index, tool_calls={"function": {"arguments": arguments}}),
        {"type": "tool-call-end", "index": index},
    ]


def _ended(word: str | None = "COMPLETE", **members: Any) -> dict[str, Any]:
    said = {} if word is None else {"finish_reason": word}
    return {"type": "message-end", "delta": {**said, "usage": _BILL, **members}}


_SAID, _USED = _ended(), _ended("TOOL_CALL")


def _told(*bodies: dict[str, Any]) -> Frames:
    return tuple([_named(body) for body in bodies])


COHERE: dict[str, Frames] = {
    "normal text": _told(_started(), *_writing("Hello", " there."), _SAID),
    "normal calls": _told(_started(), *_writing("Hello"), *_asking(), *_asking(ROME, 1), _USED),
    "normal, a marker": (*_told(_started(), *_writing("Hello"), _SAID), DONE),
    "ID-10 one id twice": _told(_started(), *_asking(), *_asking(ROME, 1, id="c0"), _USED),
    "ARG-02 arguments an object": _told(_started(), *_asking({"city": "Oslo"}), _USED),
    "ARG-11 malformed": _told(_started(), *_asking('{"a":'), _USED),
    "ARG-01 no arguments": _told(_started(), *_asking(""), _USED),
    "STR-13 no id": _told(_started(), *_asking(id=None), _USED),
    "STR-15 no name": _told(_started(), *_asking(name=None), _USED),
    "USE-10 complete beside calls": _told(_started(), *_asking(), _SAID),
    "USE-12 calls announced, none there": _told(_started(), *_writing("Hello"), _USED),
    "USE-07 no counts": _told(_started(), *_writing("Hello"), _ended(usage=None)),
    "USE-14 length": _told(_started(), *_writing("Hello"), _ended("MAX_TOKENS")),
    "no beginning": _told(*_writing("Hello", " there."), _SAID),
    "a list in a delta": _told(_started(), *_writing([{"type": "text", "text": "Hello"}, {"text": "!"}]), _SAID),
    "content in the beginning": _told(_started(content=[{"type": "text", "text": "Hello"}]), _SAID),
    "calls in the beginning": _told(
        _started(tool_calls=[{"id": "c", "type": "function", "function": {"name": "f", "arguments": OSLO}}]), _USED
    ),
    "SSE-13 an error": _told(_started(), *_writing("Hello"), _ended("ERROR", error="gone")),
    "SSE-13 a bare error": (*_told(_started(), *_writing("Hello")), _data({"message": "gone"})),
    "SSE-10 cut": _told(_started(), *_writing("Hello")),
    "broken JSON": (*_told(_started(), *_writing("Hello")), b'event: message-end\ndata: {"type"\n\n'),
    "no names": tuple([_data(event) for event in (_started(), *_writing("Hello"), _SAID)]),
}


# Whole answers


def _reply(finish: str | None = "COMPLETE", text: str | None = "Hello", calls: Any = None, **members: Any) -> bytes:
    message = {"role": "assistant", **({"content": [{"type": "text", "text": text}]} if text is not None else {})}
    if calls is not None:
        message["tool_calls"] = calls
    said = {} if finish is None else {"finish_reason": finish}
    return encode({"id": "r7", "message": message, **said, "usage": _BILL, **members}, nulls=9)


def _use(arguments: Any = OSLO, **members: Any) -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}, **members}


def _completion(message: dict[str, Any], finish: str | None = "stop", **members: Any) -> bytes:
    head = {"id": "chatcmpl-7", "object": "chat.completion", "created": 1795, "model": "gpt-4.1-2025", "usage": USAGE}
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": finish}
    return encode({**head, "choices": [choice], **members}, nulls=100)


def _with(*given: dict[str, Any], finish: str = "tool_calls") -> bytes:
    return _completion({"tool_calls": list(given)}, finish)


def _whole_message(content: object, reason: str = "end_turn", **members: Any) -> bytes:
    head = {"id": "msg_7", "type": "message", "role": "assistant", "model": "claude-x"}
    usage = {"input_tokens": 9, "output_tokens": 4}
    return encode(
        {**head, "content": content, "stop_reason": reason, "stop_sequence": None, "usage": usage, **members}, nulls=9
    )


def _whole_frame(parts: object, finish: object = "STOP") -> bytes:
    return _frame(parts, finish).removeprefix(b"data: ").strip()


CHAT["SSE-22 a whole answer"] = (_completion({"content": "Hello"}),)

STREAMS: dict[str, dict[str, Frames]] = {
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "anthropic": MESSAGES,
    "google": GOOGLE,
    "ollama": OLLAMA,
    "cohere": COHERE,
    "bedrock": wrong_converse.STREAMS,
}
WHOLES: dict[str, dict[str, bytes]] = {
    "openai-chat": {
        "normal text": _completion({"content": "Hello"}),
        "normal call": _with(call("f", OSLO, id="call_a")),
        "ARG-02 arguments an object": _with(call("f", {"city": "Oslo"}, id="call_a")),
        "ARG-04 arguments encoded twice": _with(call("f", encode(OSLO).decode(), id="call_a")),
        "ARG-01 no arguments": _with(call("f", "", id="call_a")),
        "ARG-11 malformed": _with(call("f", '{"a":', id="call_a")),
        "STR-13 no id": _with(call("f", OSLO)),
        "ID-10 one id twice": _with(call("f", OSLO, id="call_a"), call("f", ROME, id="call_a")),
        "STR-36 id in the function": _with(
            {"type": "function", "function": {"id": "c", "name": "f", "arguments": OSLO}}
        ),
        "no type": _with({"id": "call_a", "function": {"name": "f", "arguments": OSLO}}),
        "deprecated call": _completion({"function_call": {"name": "f", "arguments": OSLO}}, "function_call"),
        "content as a list": _completion({"content": [{"type": "text", "text": "Hello"}]}),
        "USE-08 another finish": _completion({"content": "Hello"}, "eos"),
        "USE-08 no finish": _completion({"content": "Hello"}, None),
        "USE-10 stop beside calls": _with(call("f", OSLO, id="call_a"), finish="stop"),
        "USE-12 calls announced, none there": _completion({"content": "Hello"}, "tool_calls"),
        "USE-15 an error": encode(
            {"error": {"message": "gone", "type": "invalid_request_error"}, "choices": None}, nulls=1
        ),
        "counts of another type": _completion({"content": "Hello"}, usage={**USAGE, "prompt_tokens": 9.0}),
        "a delta in place of a message": _completion({}).replace(
            b'"message":{"role":"assistant","content":null}', b'"delta":{"content":"Hello"}'
        ),
    },
    "openai-responses": {
        "normal": encode(_answer("completed", [_said(), _function()]), nulls=9),
        "ARG-02 arguments an object": encode(_answer("completed", [_function({"city": "Oslo"})]), nulls=9),
        "ARG-04 arguments encoded twice": encode(_answer("completed", [_function(encode(OSLO).decode())]), nulls=9),
        "ARG-11 malformed": encode(_answer("completed", [_function('{"a":')]), nulls=9),
        "ID-10 one id twice": encode(_answer("completed", [_function(), _function(ROME, id="fc_b")]), nulls=9),
        "no call id": encode(_answer("completed", [_function(call_id="")]), nulls=9),
        "failed": encode(_FAILED, nulls=9),
    },
    "anthropic": {
        "normal": _whole_message([{"type": "text", "text": "Hello"}]),
        "normal call": _whole_message([{**_TOOL, "input": {"city": "Oslo"}}], "tool_use"),
        "ARG-04 input as text": _whole_message([{**_TOOL, "input": OSLO}], "tool_use"),
        "ID-10 one id twice": _whole_message([{**_TOOL, "input": {"a": 1}}, {**_TOOL, "input": {"a": 2}}], "tool_use"),
        "STR-13 no id": _whole_message([{**_TOOL, "id": "", "input": {"a": 1}}], "tool_use"),
        "USE-10 the turn ends beside calls": _whole_message([{**_TOOL, "input": {"a": 1}}]),
        "USE-12 calls announced, none there": _whole_message([{"type": "text", "text": "Hello"}], "tool_use"),
        "USE-07 no counts": _whole_message([{"type": "text", "text": "Hello"}], usage=None),
        "an error": encode({"type": "error", "error": {"type": "invalid_request_error", "message": "gone"}}),
    },
    "google": {
        "normal": _whole_frame([{"text": "Hello"}, *_calls()]),
        "snake case": _whole_frame([{"function_call": {"name": "f", "args": {"city": "Oslo"}}}]),
        "ARG-04 arguments as text": _whole_frame(_calls(OSLO)),
        "ARG-01 no arguments": _whole_frame([{"functionCall": {"name": "f"}}]),
        "a reason as a number": _whole_frame([{"text": "Hello"}], 1),
        "a part in place of a list": _whole_frame({"text": "Hello"}),
    },
    "ollama": {
        "normal": _line({"content": "Hello", **_tool({"city": "Oslo"})}, True, done_reason="stop", eval_count=4),
        "ARG-14 arguments as text": _line(_tool(OSLO), True, done_reason="stop", eval_count=4),
        "ARG-11 malformed": _line(_tool('{"a":'), True, done_reason="stop", eval_count=4),
        "no role": _line({"content": "Hello"}, True, done_reason="stop").replace(b'"role":"assistant",', b""),
    },
    "cohere": {
        "normal": _reply(),
        "normal call": _reply("TOOL_CALL", None, [_use()]),
        "ARG-02 arguments an object": _reply("TOOL_CALL", None, [_use({"city": "Oslo"})]),
        "ARG-04 arguments encoded twice": _reply("TOOL_CALL", None, [_use(encode(OSLO).decode())]),
        "ARG-11 malformed": _reply("TOOL_CALL", None, [_use('{"a":')]),
        "STR-13 no id": _reply("TOOL_CALL", None, [_use(id="")]),
        "ID-10 one id twice": _reply("TOOL_CALL", None, [_use(), _use(ROME)]),
        "USE-08 another finish": _reply("NEW_WORD"),
        "USE-10 complete beside calls": _reply("COMPLETE", None, [_use()]),
        "USE-12 calls announced, none there": _reply("TOOL_CALL"),
        "USE-07 no counts": _reply(usage=None),
        "an error": encode({"message": "gone"}),
    },
    "bedrock": wrong_converse.WHOLES,
}

SDK_FRAMES: dict[str, Frames] = {
    "openai-chat": (HELLO, MORE, calls(_OPEN), calls(call(None, OSLO, index=0)), CALLED, COUNTS, DONE),
    "openai-responses": _events(
        _CREATED, *_saying("Hello there."), *_calling(OSLO), _completed(_said("Hello there."), _function())
    ),
    "anthropic": _using(_begin(1, _TOOL), _delta(1, "input_json_delta", partial_json=OSLO), _stop(1)),
    "google": (_HI, _frame([{"text": " there."}]), _frame(_calls()), _frame([], "STOP")),
    "ollama": (_GREETING, _line({"content": " there."}), _line(_tool({"city": "Oslo"})), _OVER),
    "cohere": _told(_started(), *_writing("Hello", " there."), *_asking(), _USED),
    "bedrock": wrong_converse.FRAMES,
}
"""A text, a call and an end, in normal form."""

TWICE: dict[str, bytes] = {
    "PASS-01 a member twice": rb'"\1":"Bye","\1":"Hello"',
    "PASS-01 a member twice, escaped": rb'"\\u00\g<hex>\g<rest>":"Bye","\1":"Hello"',
    "PASS-01 a member of somebody else twice": rb'"\1":"Hello","zz":{"a":1,"a":2}',
}
"""A member that stands twice in its object, beside a text that says `Hello`."""


def twice(name: str, data: bytes) -> bytes:
    """The data with a member of `TWICE` in the place of its first text."""
    found = re.search(rb'"((.)(\w+))":"Hello"', data)
    assert found is not None
    text = TWICE[name].replace(rb"\g<hex>", b"%02x" % ord(found[2])).replace(rb"\g<rest>", found[3])
    made = data[: found.start()] + found.expand(text) + data[found.end() :]
    return wrong_converse.checked(made) if b":event-type" in data else made


for _dialect, _cases in STREAMS.items():
    _frames = _cases["normal text"]
    _first = next(place for place, frame in enumerate(_frames) if b'"Hello"' in frame)
    for _name in TWICE:
        if _dialect == "bedrock" and "somebody" in _name:  # a block has one member, and its SDK reads no other
            continue
        _cases[_name] = (*_frames[:_first], twice(_name, _frames[_first]), *_frames[_first + 1 :])
        WHOLES[_dialect][_name] = twice(_name, next(iter(WHOLES[_dialect].values())))
