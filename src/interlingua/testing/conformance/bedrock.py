"""Conformance of Converse and ConverseStream."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from interlingua.errors import Error
from interlingua.testing.conformance.answers import shape_faults
from interlingua.testing.conformance.question import PNG, SCHEMA, TOOL, TOOL_SCHEMA, TOOL_TEXT, Question, Tongue
from interlingua.testing.conformance.seen import CallSeen, Finish, Seen, arguments_of, parsed
from interlingua.testing.wirefacts.values import members, objects, word
from interlingua.wire.eventstream import EventStreamDecoder
from interlingua.wire.json import encode

__all__ = ["BEDROCK_TONGUE"]

_FINISHES: dict[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "content_filtered": "refusal",
    "guardrail_intervened": "refusal",
}


def _path(question: Question, model: str) -> str:
    return f"/model/{quote(model, safe='')}/converse{'-stream' if question.stream else ''}"


def _body(question: Question, model: str) -> dict[str, Any]:
    del model  # it stands in the path
    body: dict[str, Any] = {"messages": _messages(question), "inferenceConfig": {"maxTokens": question.limit}}
    if question.tool:
        spec = {"name": TOOL, "description": TOOL_TEXT, "inputSchema": {"json": TOOL_SCHEMA}}
        body["toolConfig"] = {"tools": [{"toolSpec": spec}], **({"toolChoice": {"any": {}}} if question.forced else {})}
    if question.schema:
        structure = {"jsonSchema": {"name": "weather", "schema": encode(SCHEMA).decode()}}
        body["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": structure}}
    return body


def _messages(question: Question) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = [{"text": question.text}]
    if question.image:
        content.append({"image": {"format": "png", "source": {"bytes": PNG}}})
    results = [
        {
            "toolResult": {
                "toolUseId": result.call.id,
                "content": [{"text": result.text}],
                "status": "error" if result.is_error else "success",
            }
        }
        for result in question.results
    ]
    messages: list[dict[str, Any]] = [{"role": "user", "content": content}, *question.turn]
    return [*messages, {"role": "user", "content": results}] if results else messages


def _whole(body: dict[str, Any], faults: list[str]) -> Seen:
    blocks = objects(members(members(body.get("output")).get("message")).get("content"))
    return _answer_of(blocks, body.get("stopReason"), body.get("usage"), faults)


def _answer_of(blocks: list[dict[str, Any]], reason: object, usage: object, faults: list[str]) -> Seen:
    calls = [members(block["toolUse"]) for block in blocks if "toolUse" in block]
    return Seen(
        text="".join([word(block.get("text")) for block in blocks]),
        calls=[
            CallSeen(id=word(call.get("toolUseId")), name=word(call.get("name")), arguments=call.get("input"))
            for call in calls
        ],
        finish=_FINISHES.get(word(reason), "other" if reason else ""),
        has_usage=isinstance(usage, dict),
        turn=[{"role": "assistant", "content": blocks}],
        faults=faults,
    )


class _Stream:
    """Puts the events of a stream together."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        self.blocks: list[dict[str, Any]] = []
        self.pieces = ""
        self.is_open = False
        self.reason: object = None
        self.metadata: dict[str, Any] = {}

    def event(self, place: int, name: str, event: dict[str, Any]) -> None:
        """One event."""
        if (name == "messageStart") != (place == 0):
            self.faults.append(f"frame {place}: {name} where messageStart should be first, and once")
        if self.metadata or (self.reason and name != "metadata"):
            self.faults.append(f"frame {place}: {name} follows the end of the message")
        match name:
            case "contentBlockStart" | "contentBlockDelta" | "contentBlockStop":
                self.block(place, name, event)
            case "messageStop":
                self.reason = event.get("stopReason")
                if self.is_open:
                    self.faults.append(f"frame {place}: messageStop while a block is open")
            case "metadata":
                self.metadata = event
            case _:
                pass

    def block(self, place: int, name: str, event: dict[str, Any]) -> None:
        """An event of a block's life; text and reasoning begin with their first delta."""
        if name == "contentBlockStart" and self.is_open:
            self.faults.append(f"frame {place}: a block begins while another one is open")
        if not self.is_open:
            self.blocks.append(dict(members(event.get("start"))))
            self.is_open, self.pieces = True, ""
        if event.get("contentBlockIndex") != len(self.blocks) - 1:
            wrong = event.get("contentBlockIndex")
            self.faults.append(f"frame {place}: {name} of block {wrong} where {len(self.blocks) - 1} would be next")
        if name == "contentBlockDelta":
            self.delta(place, members(event.get("delta")))
        elif name == "contentBlockStop":
            self.close()

    def delta(self, place: int, delta: dict[str, Any]) -> None:
        """More of the block that is open."""
        block = self.blocks[-1]
        [kind, *more] = [*delta, ""]
        if len(more) != 1 or (block and kind not in block):
            self.faults.append(f"frame {place}: {kind or 'nothing'} in a block of {next(iter(block), 'nothing')}")
        elif kind == "text":
            block["text"] = word(block.get("text")) + word(delta["text"])
        elif kind == "toolUse":
            self.pieces += word(members(delta["toolUse"]).get("input"))
        elif kind == "reasoningContent":
            reasoning = members(delta[kind])
            if "redactedContent" in reasoning:
                block[kind] = reasoning
            else:
                thought = block.setdefault(kind, {"reasoningText": {"text": ""}})["reasoningText"]
                thought |= {name: word(thought.get(name)) + word(more) for name, more in reasoning.items()}

    def close(self) -> None:
        """The end of the open block."""
        self.is_open = False
        if "toolUse" in self.blocks[-1]:
            call = members(self.blocks[-1]["toolUse"])
            where = f"block {len(self.blocks) - 1}"
            self.blocks[-1] = {"toolUse": {**call, "input": arguments_of(self.pieces, where, self.faults)}}

    def answer(self) -> Seen:
        """The whole answer."""
        if not self.reason:
            self.faults.append("stream: no messageStop")
        if not self.metadata:
            self.faults.append("stream: no metadata at its end")
        return _answer_of(self.blocks, self.reason, self.metadata.get("usage"), self.faults)


def _streamed(body: bytes, faults: list[str]) -> Seen:
    stream, decoder = _Stream(faults), EventStreamDecoder()
    try:
        frames = [*decoder.feed(body), *decoder.close()]
    except Error as error:
        faults.append(f"stream: {error.message}")
        frames = []
    if frames and decoder.cut:
        faults.append("stream: it ends in the middle of a frame")
    for place, frame in enumerate(frames):
        payload = members(parsed(frame.payload, f"frame {place}", faults))
        if frame.headers.get(":message-type") != "event":
            name = frame.headers.get(":exception-type")
            faults.append(f"frame {place}: an error in the stream: {name}: {payload.get('message')}")
            continue
        faults.extend([f"frame {place} {fault}" for fault in shape_faults("bedrock", "Frame", payload)])
        stream.event(place, frame.headers.get(":event-type", ""), payload)
    return stream.answer()


BEDROCK_TONGUE = Tongue(path=_path, body=_body, whole=_whole, streamed=_streamed)
"""How Converse is spoken."""
