"""Tool loops through a gateway: clients that keep nothing but words, and providers that want more back.

Each client is played as it is in the wild: it sends back the text and the calls that it saw, in its own spelling, and
nothing else. The strict upstream knows the seals that it gave out and refuses any other, and a lost one.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayReply, GatewayRequest
from interlingua.testing.upstream import Call, Say, Upstream
from interlingua.testing.upstream.refusals import error_reply
from interlingua.transport.replay import Line
from interlingua.types.event import StreamEnd
from interlingua.types.response import Response
from interlingua.wire.http import Headers, HttpReply, HttpRequest
from interlingua.wire.json import decode_any, encode
from tests.support.gateway import body_of, header_of

__all__ = ["CLIENTS", "MODELS", "REASONERS", "SCRIPT", "TOOLS", "Client", "OpenReasoner", "Provider", "reasoner"]

MODELS = {
    "google": "google/gemini-3-pro",
    "anthropic": "anthropic/claude-opus-4-5",
    "openai-responses": "openai-responses/gpt-5.6",
}
"""Upstreams that seal, and insist on their seals."""
REASONERS = {"deepseek": "deepseek/deepseek-chat", "moonshot": "moonshot/kimi-k2.5"}
"""Chat upstreams that show their reasoning, and insist on getting it back."""
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
_DESCRIBED = {"city": {"type": "string", "description": "City."}, "days": {"type": "integer", "description": "Days."}}
TOOLS: dict[str, Any] = {
    "openai-chat": [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}],
    "ollama": [{"type": "function", "function": {"name": "get_weather", "description": "w", "parameters": SCHEMA}}],
    "cohere": [{"type": "function", "function": {"name": "get_weather", "description": "w", "parameters": SCHEMA}}],
    "openai-responses": [{"type": "function", "name": "get_weather", "parameters": SCHEMA}],
    "anthropic": [{"name": "get_weather", "input_schema": SCHEMA}],
    "google": [{"functionDeclarations": [{"name": "get_weather", "parametersJsonSchema": SCHEMA}]}],
    "unified": [
        {
            "name": "get_weather",
            "description": "The weather.",
            "parameters": {"type": "object", "properties": _DESCRIBED},
        }
    ],
}
SCRIPT = (
    Say(
        thinking="Two places.",
        text="Looking.",
        calls=(Call("get_weather", {"city": "Oslo", "days": 2}), Call("get_weather", {"city": "Bergen", "days": 2})),
    ),
    Say(thinking="Once more.", calls=(Call("get_weather", {"city": "Oslo", "days": 2}),)),
    Say(thinking="Done.", text="It is 4 degrees."),
    Say(thinking="Again.", calls=(Call("get_weather", {"city": "Rome"}),)),
    Say(text="And 20 in Rome."),
)
_SEAL = re.compile(r'"(?:thoughtSignature|signature|encrypted_content)": ?"([^"]+)"')
_ID = re.compile(r'"(?:id|call_id)": ?"((?:toolu|call|rs|fc|msg)_[^"]+)"')


class Provider(Upstream):
    """The strict upstream, which keeps what it answered."""

    def __init__(self, dialect: str, *says: Say) -> None:
        super().__init__(dialect, *(says or SCRIPT))
        self.given: list[list[str]] = []
        self.answers: list[bytes] = []

    def answer(self, request: HttpRequest) -> Line:
        """As the strict upstream, remembering the seals of each answer."""
        line = super().answer(request)
        self.answers.append(b"".join(line.pieces))
        self.given.append(list(dict.fromkeys(_SEAL.findall(self.answers[-1].decode()))))
        return line

    def sent_back(self, number: int) -> list[str]:
        """The seals of a request, in order."""
        return _SEAL.findall(self.requests[number].body.decode())

    def ids(self, number: int) -> list[str]:
        """The ids of calls and items in an answer, each once."""
        return list(dict.fromkeys(_ID.findall(self.answers[number].decode())))


class OpenReasoner(Provider):
    """DeepSeek or Kimi: a Chat service that shows its reasoning, and refuses a history without it.

    DeepSeek wants the member in every turn of the model and takes an empty one; Kimi wants it in turns with calls, and
    takes an empty one for a missing one.
    """

    def __init__(self, *says: Say, wants_text: bool) -> None:
        super().__init__("openai-chat", *says)
        self.bodies: list[bytes] = []
        self._wants_text = wants_text

    def answer(self, request: HttpRequest) -> Line:
        """The refusal of a turn without its reasoning, or the answer with more of it."""
        self.bodies.append(request.body)
        body: dict[str, Any] = decode_any(request.body)
        for place, message in enumerate(body["messages"]):
            reasoning = message.pop("reasoning_content", None)
            if message["role"] == "assistant" and self._misses(message, reasoning):
                self.answers.append(b"")
                refused = error_reply(self.dialect, 400, f"reasoning_content is missing in message {place}")
                return Line(pieces=(refused.body,), status=400, headers=refused.headers)
        thinking = self._answers[0].thinking if self._answers and isinstance(self._answers[0], Say) else ""
        body = {name: value for name, value in body.items() if name != "thinking"}
        line = super().answer(msgspec.structs.replace(request, body=encode(body, nulls=100)))
        pieces = tuple(_with_reasoning(line.pieces, thinking)) if thinking and line.status == 200 else line.pieces
        self.answers[-1] = b"".join(pieces)
        return msgspec.structs.replace(line, pieces=pieces)

    def reasoning(self, number: int) -> list[str]:
        """The reasoning in the turns of a request, in order."""
        messages: list[dict[str, Any]] = decode_any(self.bodies[number])["messages"]
        return [message["reasoning_content"] for message in messages if "reasoning_content" in message]

    def _misses(self, message: dict[str, Any], reasoning: str | None) -> bool:
        if self._wants_text:
            return bool(message.get("tool_calls")) and not reasoning
        return reasoning is None


def _with_reasoning(pieces: Sequence[bytes], thinking: str) -> list[bytes]:
    """The pieces of an answer with reasoning: a member of a whole one, a chunk before the others of a streamed one."""
    first = pieces[0]
    if not first.startswith(b"data: "):
        whole: dict[str, Any] = decode_any(first)
        whole["choices"][0]["message"]["reasoning_content"] = thinking
        return [encode(whole, nulls=100)]
    chunk: dict[str, Any] = decode_any(first.removeprefix(b"data: ").strip())
    chunk["choices"][0]["delta"] = {"role": "assistant", "content": None, "reasoning_content": thinking}
    return [b"data: %b\n\n" % encode(chunk, nulls=100), *pieces]


def reasoner(name: str, *says: Say) -> OpenReasoner:
    """One of `REASONERS`."""
    return OpenReasoner(*says, wants_text=name == "moonshot")


class Client:
    """A client of one dialect that keeps its history in its own words."""

    def __init__(
        self,
        dialect: str,
        made: Gateway,
        model: str,
        *,
        stream: bool,
        headers: Headers = (),
        system: str = "",
        respell: Callable[[list[Any]], list[Any]] | None = None,
    ) -> None:
        """`respell` gives the history as one request shows it, for clients that write it anew each time."""
        self.dialect, self.made, self.model, self.stream, self.headers = dialect, made, model, stream, headers
        self.system, self.respell = system, respell
        self.history: list[Any] = []
        self.changes = ""
        """What the header of the latest reply told of changes."""

    def say(self, text: str) -> Response[Any]:
        """The answer to a further message of the user."""
        content: dict[str, Any] = {"role": "user", "content": text}
        self.history.append({"role": "user", "parts": [{"text": text}]} if self.dialect == "google" else content)
        return self.ask()

    def answer(self, response: Response[Any], results: list[str]) -> Response[Any]:
        """The answer to the results of the calls of an answer."""
        told = [(call.id, call.name, result) for call, result in zip(response.tool_calls, results, strict=True)]
        self.history += _RESULTS[self.dialect](told)
        return self.ask()

    def ask(self) -> Response[Any]:
        """The answer to the history so far."""
        dialect = get_dialect(self.dialect)
        path = _PATHS[self.dialect]
        if self.dialect == "google":
            method = "streamGenerateContent" if self.stream else "generateContent"
            path = f"/v1beta/models/{self.model}:{method}"
        query = "alt=sse" if self.dialect == "google" and self.stream else ""
        request = GatewayRequest(
            path=path, query=query, headers=self.headers, body=json.dumps(self._body()).encode(), peer="127.0.0.1"
        )
        reply = asyncio.run(_whole(self.made, request))
        assert isinstance(reply.body, bytes)
        assert reply.status == 200, reply.body
        self.changes = header_of(reply, "x-interlingua-changes") or ""
        if self.stream:
            events = (decoder := dialect.stream_decoder(DecodeContext())).feed(reply.body)
            end = (events if decoder.ended else [*events, *decoder.close()])[-1]
            assert isinstance(end, StreamEnd), end
            response = end.response
        else:
            response = dialect.decode_response(
                HttpReply(status=200, headers=reply.headers, body=reply.body), DecodeContext()
            )
        self.history += _TURNS[self.dialect](response)
        return response

    def _body(self) -> dict[str, Any]:
        member = {"openai-responses": "input", "google": "contents"}.get(self.dialect, "messages")
        history = self.history if self.respell is None else self.respell(self.history)
        body: dict[str, Any] = {"tools": TOOLS[self.dialect], **_told_system(self.dialect, self.system)}
        body[member] = [*body.get(member, []), *history]
        if self.dialect != "google":
            body |= {"model": self.model, "stream": self.stream}
        return body | {"openai-responses": {"store": False}, "anthropic": {"max_tokens": 8_000}}.get(self.dialect, {})


async def _whole(made: Gateway, request: GatewayRequest) -> GatewayReply:
    reply = await made(request)
    return GatewayReply(status=reply.status, headers=reply.headers, body=await body_of(reply))


def _told_system(dialect: str, text: str) -> dict[str, Any]:
    """The members of a body that hold the system text."""
    if not text:
        return {}
    match dialect:
        case "google":
            return {"systemInstruction": {"parts": [{"text": text}]}}
        case "openai-responses":
            return {"instructions": text}
        case "anthropic":
            return {"system": [{"type": "text", "text": text}]}
        case "unified":
            return {"system": text}
        case _:
            return {"messages": [{"role": "system", "content": text}]}


def _respelt(arguments: str) -> Any:
    """Arguments as a client writes that parsed them into an object with its own order."""
    value: dict[str, Any] = decode_any(arguments)
    return dict(sorted(value.items(), reverse=True))


def _chat_turn(response: Response[Any]) -> list[Any]:
    calls: list[Any] = []
    for call in response.tool_calls:
        function = {"name": call.name, "arguments": json.dumps(_respelt(call.arguments_json))}
        calls.append({"id": call.id, "type": "function", "function": function})
    return [{"role": "assistant", "content": response.text or None, **({"tool_calls": calls} if calls else {})}]


def _ollama_turn(response: Response[Any]) -> list[Any]:
    """Its Python client drops ids."""
    told = [(call.name, _respelt(call.arguments_json)) for call in response.tool_calls]
    calls = [{"function": {"name": name, "arguments": arguments}} for name, arguments in told]
    return [{"role": "assistant", "content": response.text, **({"tool_calls": calls} if calls else {})}]


def _cohere_turn(response: Response[Any]) -> list[Any]:
    """The text of a turn with calls is its plan."""
    [message] = _chat_turn(response)
    if "tool_calls" not in message:
        return [message]
    plan = {"tool_plan": response.text} if response.text else {}
    return [{"role": "assistant", **plan, "tool_calls": message["tool_calls"]}]


def _responses_turn(response: Response[Any]) -> list[Any]:
    said: list[Any] = [{"role": "assistant", "content": response.text}] if response.text else []
    return said + [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments_json}
        for call in response.tool_calls
    ]


def _anthropic_turn(response: Response[Any]) -> list[Any]:
    blocks: list[Any] = [{"type": "text", "text": response.text}] if response.text else []
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": _respelt(call.arguments_json)}
        for call in response.tool_calls
    ]
    return [{"role": "assistant", "content": blocks}]


def _google_turn(response: Response[Any]) -> list[Any]:
    parts: list[Any] = [{"text": response.text}] if response.text else []
    parts += [
        {"functionCall": {"name": call.name, "args": _respelt(call.arguments_json)}} for call in response.tool_calls
    ]
    return [{"role": "model", "parts": parts}]


def _unified_turn(response: Response[Any]) -> list[Any]:
    parts: list[Any] = [{"type": "text", "text": response.text}] if response.text else []
    parts += [
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": _respelt(call.arguments_json)}
        for call in response.tool_calls
    ]
    return [{"role": "assistant", "parts": parts}]


Told: TypeAlias = list[tuple[str, str, str]]


def _chat_results(told: Told) -> list[Any]:
    return [{"role": "tool", "tool_call_id": call_id, "content": result} for call_id, _, result in told]


def _ollama_results(told: Told) -> list[Any]:
    return [{"role": "tool", "tool_name": name, "content": result} for _, name, result in told]


def _responses_results(told: Told) -> list[Any]:
    return [{"type": "function_call_output", "call_id": call_id, "output": result} for call_id, _, result in told]


def _anthropic_results(told: Told) -> list[Any]:
    blocks = [{"type": "tool_result", "tool_use_id": call_id, "content": result} for call_id, _, result in told]
    return [{"role": "user", "content": blocks}]


def _google_results(told: Told) -> list[Any]:
    parts = [{"functionResponse": {"name": name, "response": {"output": result}}} for _, name, result in told]
    return [{"role": "user", "parts": parts}]


def _unified_results(told: Told) -> list[Any]:
    parts = [{"type": "tool_result", "tool_call_id": call_id, "content": result} for call_id, _, result in told]
    return [{"role": "tool", "parts": parts}]


_PATHS = {
    "openai-chat": "/v1/chat/completions",
    "ollama": "/api/chat",
    "cohere": "/v2/chat",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "google": "",
    "unified": "/unified/v1/generate",
}
_TURNS = {
    "openai-chat": _chat_turn,
    "ollama": _ollama_turn,
    "cohere": _cohere_turn,
    "openai-responses": _responses_turn,
    "anthropic": _anthropic_turn,
    "google": _google_turn,
    "unified": _unified_turn,
}
_RESULTS = {
    "openai-chat": _chat_results,
    "ollama": _ollama_results,
    "cohere": _chat_results,
    "openai-responses": _responses_results,
    "anthropic": _anthropic_results,
    "google": _google_results,
    "unified": _unified_results,
}
CLIENTS = tuple(_TURNS)
"""The dialects that clients are played in."""
