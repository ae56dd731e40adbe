"""Usual answers of each dialect as their vendors send them, and what makes them unusual."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from copy import deepcopy
from importlib import import_module
from importlib.util import find_spec
from itertools import count, cycle
from typing import Any, TypeVar, cast

from interlingua.dialects._contract import DecodeContext, ServerContext, Target, Undo
from interlingua.dialects.table import DIALECTS
from interlingua.errors import Error
from interlingua.types.change import Change
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply
from tests.support.exactly import exactly
from tests.support.roads import places

__all__ = ["ANSWERS", "SHORT", "Usual", "contexts", "disturbed", "server_contexts"]

C = TypeVar("C")
ARGUMENTS: dict[str, Any] = {
    "city": "Oslo, \u201cold town\u201d",
    "at": "12:30",
    "filter": {"days": 3, "hourly": None, "k": [1.5, {}]},
}
LOOK = frozenset({"look"})
CALL_IDS = ("call_1", "call_2")
CHAT_USAGE = {
    "prompt_tokens": 9,
    "completion_tokens": 12,
    "total_tokens": 21,
    "prompt_tokens_details": {"cached_tokens": 3, "audio_tokens": 0},
    "completion_tokens_details": {
        "reasoning_tokens": 2,
        "audio_tokens": 0,
        "accepted_prediction_tokens": 0,
        "rejected_prediction_tokens": 0,
    },
}


def _chat(message: dict[str, Any], finish: str) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": None, **message, "refusal": None, "annotations": []}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_795_000_000,
        "model": "model-1",
        "choices": [{"index": 0, "message": said, "logprobs": None, "finish_reason": finish}],
        "usage": CHAT_USAGE,
        "service_tier": "default",
        "system_fingerprint": "fp_1",
    }


def _chat_calls() -> list[dict[str, Any]]:
    function = {"name": "look", "arguments": json.dumps(ARGUMENTS)}
    return [{"id": name, "type": "function", "function": function} for name in CALL_IDS]


def _messages(content: list[dict[str, Any]], reason: str, sequence: str | None = None) -> dict[str, Any]:
    usage = {
        "input_tokens": 9,
        "cache_creation_input_tokens": 2,
        "cache_read_input_tokens": 3,
        "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 0},
        "output_tokens": 12,
        "service_tier": "standard",
        "inference_geo": "global",
    }
    return {
        "model": "model-1",
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": reason,
        "stop_sequence": sequence,
        "stop_details": None,
        "usage": usage,
    }


def _tool_uses() -> list[dict[str, Any]]:
    use: dict[str, Any] = {"type": "tool_use", "name": "look", "input": ARGUMENTS}
    return [{**use, "id": name} for name in CALL_IDS]


def _candidate(parts: list[dict[str, Any]], reason: str) -> dict[str, Any]:
    usage = {
        "promptTokenCount": 9,
        "candidatesTokenCount": 10,
        "thoughtsTokenCount": 2,
        "totalTokenCount": 21,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 9}],
        "serviceTier": "standard",
        "trafficType": "ON_DEMAND",
    }
    content = {"parts": parts, "role": "model"}
    return {
        "candidates": [{"content": content, "finishReason": reason, "index": 0, "avgLogprobs": -0.25}],
        "usageMetadata": usage,
        "modelVersion": "model-1",
        "createTime": "2026-11-22T08:00:00Z",
        "responseId": "r1",
    }


def _function_calls() -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = [{"id": name, "name": "look", "args": ARGUMENTS} for name in ("fc-1", "call_2")]
    return [{"functionCall": call, "thoughtSignature": "c2ln"} for call in calls]


def _cohere(message: dict[str, Any], reason: str) -> dict[str, Any]:
    tokens = {"input_tokens": 9, "output_tokens": 12}
    return {
        "id": "c-1",
        "message": {"role": "assistant", **message},
        "finish_reason": reason,
        "usage": {"billed_units": tokens, "tokens": tokens, "cached_tokens": 2},
    }


def _line(message: dict[str, Any], reason: str) -> dict[str, Any]:
    counts = {"prompt_eval_count": 9, "prompt_eval_duration": 4, "eval_count": 12, "eval_duration": 5}
    return {
        "model": "model-1",
        "created_at": "2026-11-22T08:00:00Z",
        "message": {"role": "assistant", **message},
        "done": True,
        "done_reason": reason,
        "total_duration": 9,
        "load_duration": 1,
        **counts,
    }


def _line_calls() -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = [{"index": place, "name": "look", "arguments": ARGUMENTS} for place in range(2)]
    return [{"id": CALL_IDS[place], "function": call} for place, call in enumerate(calls)]


def _responses(*items: dict[str, Any]) -> dict[str, Any]:
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 0},
        "output_tokens": 12,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 21,
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_795_000_000,
        "status": "completed",
        "background": False,
        "billing": {"payer": "developer"},
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": 100,
        "model": "model-1",
        "output": list(items),
        "parallel_tool_calls": True,
        "reasoning": {"effort": "low", "summary": None},
        "service_tier": "default",
        "store": False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 0.98,
        "usage": usage,
        "metadata": {},
    }


def _said(text: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}


def _items() -> list[dict[str, Any]]:
    call = {"type": "function_call", "status": "completed", "name": "look", "arguments": json.dumps(ARGUMENTS)}
    return [{**call, "id": f"fc_{name}", "call_id": name} for name in CALL_IDS]


def _unified(parts: list[dict[str, Any]], reason: str, views: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    counts = {"input_tokens": 9, "output_tokens": 12, "cache_read_tokens": 3, "extra": {"x": {"y": 1}}}
    change: dict[str, Any] = {"action": "dropped", "code": "seal_foreign", "path": "/parts/0/sealed"}
    return {
        "id": "r1",
        "model": "model-1",
        "wire_model": "gpt-1",
        "text": "It is",
        "tool_calls": views,
        "parts": parts,
        "finish_reason": reason,
        "finish_reason_raw": "end",
        "usage": counts,
        "changes": [change],
        "attempts": [{"model": "p/m", "outcome": "served", "duration_s": 0.5}],
        "cost_usd": 0.25,
        "extra": {"openai-chat": {"service_tier": "default"}},
    }


def _views() -> list[dict[str, Any]]:
    return [{"id": name, "name": "look", "arguments": ARGUMENTS} for name in CALL_IDS]


def _parts() -> list[dict[str, Any]]:
    return [{"type": "tool_call", **view} for view in _views()]


ANSWERS: dict[str, tuple[dict[str, Any], ...]] = {
    "openai-chat": (
        _chat({"content": "It is mild \U0001f326."}, "stop"),
        _chat({"content": "It is", "reasoning_content": "Hm."}, "length"),
        _chat({"content": "Looking.", "tool_calls": _chat_calls()}, "tool_calls"),
    ),
    "anthropic": (
        _messages([{"type": "text", "text": "It is mild \U0001f326."}], "end_turn"),
        _messages([{"type": "text", "text": "It is"}], "stop_sequence", "mild"),
        _messages(
            [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, {"type": "text", "text": "Looking."}],
            "max_tokens",
        ),
        _messages([{"type": "text", "text": "Looking."}, *_tool_uses()], "tool_use"),
    ),
    "google": (
        _candidate([{"text": "It is mild \U0001f326."}], "STOP"),
        _candidate([{"text": "Hm.", "thought": True}, {"text": "It is", "thoughtSignature": "c2ln"}], "MAX_TOKENS"),
        _candidate([{"text": "Looking."}, *_function_calls()], "STOP"),
    ),
    "ollama": (
        _line({"content": "It is mild \U0001f326."}, "stop"),
        _line({"content": "It is", "thinking": "Hm."}, "length"),
        _line({"content": "", "tool_calls": _line_calls()}, "stop"),
    ),
    "cohere": (
        _cohere({"content": [{"type": "text", "text": "It is mild \U0001f326."}]}, "COMPLETE"),
        _cohere(
            {"content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "It is"}]}, "MAX_TOKENS"
        ),
        _cohere({"tool_plan": "Looking.", "tool_calls": _chat_calls()}, "TOOL_CALL"),
    ),
    "openai-responses": (
        _responses(_said("It is mild \U0001f326.")),
        _responses(
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"},
            {"type": "reasoning", "id": "rs_2", "summary": [{"type": "summary_text", "text": "Hm."}], "status": None},
            _said("It is"),
        ),
        _responses(_said("Looking."), *_items()),
    ),
    "unified": (
        _unified([{"type": "text", "text": "It is mild \U0001f326."}], "stop"),
        _unified([{"type": "thinking", "text": "Hm."}, {"type": "text", "text": "It is"}], "length"),
        _unified([{"type": "text", "text": "Looking."}, *_parts()], "tool_calls", _views()),
    ),
}
"""Bodies of usual answers, by dialect."""

SHORT = [name for name in ANSWERS if find_spec(f"{DIALECTS[name]}.client_usual")]
"""The dialects that read and write usual answers apart."""

REPLACEMENTS: tuple[Any, ...] = (
    None, True, 0, -1, 7, 1.5, "", " ", "x", "null", "length", "stop", [], {}, [1], {"x": 1}, [[]], "{}", "[]",
    '{"a":1,"a":2}', '{"a":', '{"a":":"}', '{"a":"\\u003a","a":1}', "<|x|>", "parallel",
)  # fmt: skip
"""What stands in the place of each member in turn."""
TEXTS = (
    b'"\xff"',
    b'"\\ud800"',
    b"NaN",
    b"1e999",
    b"9" * 30,
    b"[" * 200 + b"]" * 200,
    b'{"a":1,"a":2}',
    b"01",
    b"\xef\xbb\xbf1",
)
"""The same, of what no JSON writer writes."""


def disturbed(body: dict[str, Any]) -> Iterator[bytes]:
    """A body as it is, and with one place in it changed, in every way and at every place."""
    yield json.dumps(body, ensure_ascii=False).encode()
    yield b"\xef\xbb\xbf" + json.dumps(body).encode()
    yield json.dumps(body).encode() + b" \n"
    yield json.dumps(body).encode() + b"x"
    yield json.dumps(body).encode()[:-1]
    for path in list(places(body)):
        yield from _at(body, path)


def _at(body: dict[str, Any], path: tuple[Any, ...]) -> Iterator[bytes]:
    *above, last = path
    marked = deepcopy(body)
    holder: Any = marked
    for step in above:
        holder = holder[step]
    value = holder[last]
    for other in REPLACEMENTS:
        holder[last] = other
        yield json.dumps(marked, ensure_ascii=False).encode()
    holder[last] = "\0"
    text = json.dumps(marked, ensure_ascii=False).encode()
    for raw in TEXTS:
        yield text.replace(b'"\\u0000"', raw)
    if isinstance(holder, dict):
        holder[last] = value
        holder["x_new"] = 1
        yield json.dumps(marked).encode()
        del holder["x_new"]
        again = json.dumps(marked)
        name = json.dumps(last)
        yield again.replace(f"{name}: ", f"{name}: null, {name}: ").encode()
    del holder[last]
    yield json.dumps(marked).encode()
    if isinstance(holder, list):
        cast("list[Any]", holder).extend([value, value])
        yield json.dumps(marked).encode()


def contexts() -> Iterator[DecodeContext]:
    """What the decoder of an answer may be told; each with ids of its own."""
    undos = (
        Undo(),
        Undo(
            tool_names=frozenset({"look"}), freeform=frozenset({"look"}), taken_ids=frozenset({"call_9"}), first_index=1
        ),
        Undo(tool_names=LOOK, taken_ids=frozenset({"call_1", "own_0"}), first_index=2),
        Undo(tool_names=frozenset({"mine"}), names={"look": "mine"}),
        Undo(tool_names=frozenset({"other"})),
    )
    for undo in undos:
        for own in (False, True):
            numbers = count()
            yield DecodeContext(
                target=Target(model="m", provider="p"),
                undo=undo,
                make_id=(lambda numbers=numbers: f"own_{next(numbers)}") if own else None,
                provider_ids={} if own else None,
            )


def server_contexts(dialect: str) -> Iterator[ServerContext]:
    """What the encoder of an answer may be told; each with a list of changes of its own."""
    for source, request in ((None, None), (dialect, None), ("x", None), ("x", Request()), (dialect, Request())):
        for model, created in (("", 0), ("shown", 1_795_000_000)):
            numbers = count()
            yield ServerContext(
                model=model,
                created=created,
                make_id=(lambda numbers=numbers: f"answer_{next(numbers)}") if created else None,
                source=source,
                request=request,
                changes=[] if created else None,
            )


class Usual:
    """Both roads of one dialect, each way."""

    def __init__(self, dialect: str) -> None:
        """The roads of that dialect."""
        module = DIALECTS[dialect]
        self.name = dialect
        self._turns = cycle(range(10))
        self.read = import_module(f"{module}.client_usual").read_usual
        self.read_any = import_module(f"{module}.client").decode_any_response
        self.write = import_module(f"{module}.server_usual").write_usual
        self.write_any = import_module(f"{module}.server").encode_any_response

    def check_reading(self, body: bytes, *, every: bool = True) -> Response[Any] | None:
        """The response of a body; the usual road says the same as the general one, or nothing.

        Told by `every` context, or by the first and another one each time.
        """
        found = None
        chosen = None if every else (0, next(self._turns))
        for one, other in _some(contexts(), contexts(), chosen):
            usual = self.read(body, one)
            if usual is None:
                assert not one.provider_ids
                continue
            general = self.read_any(HttpReply(status=200, body=body), other)
            assert exactly(usual) == exactly(general), body
            assert one.provider_ids == other.provider_ids
            found = found or usual
        return found

    def check_writing(self, response: Response[Any], *, every: bool = True) -> int:
        """How often the usual road writes a response; it writes the same bytes, and notes the same changes."""
        written = 0
        chosen = None if every else (next(self._turns),)
        for one, other in _some(server_contexts(self.name), server_contexts(self.name), chosen):
            usual = self.write(response, one)
            if usual is None:
                assert not one.changes
                continue
            general = self.write_any(response, other)
            assert usual == general
            assert told(one) == told(other)
            written += 1
        return written


def _some(ones: Iterable[C], others: Iterable[C], chosen: tuple[int, ...] | None) -> Iterator[tuple[C, C]]:
    """The pairs at some places, or all of them."""
    pairs = enumerate(zip(ones, others, strict=True))
    return (pair for place, pair in pairs if chosen is None or place in chosen)


def told(context: ServerContext) -> list[Change]:
    """The changes that an encoder noted."""
    return context.changes or []


def general(usual: Usual, body: bytes) -> Response[Any] | None:
    """The response of a body by the general road; None where it is refused."""
    try:
        return usual.read_any(HttpReply(status=200, body=body), DecodeContext())
    except Error:
        return None
