"""THK-07 through a whole gateway: tool loops of clients whose dialect has no room for what the provider must get back.

Each client is played as it is in the wild: it sends back the text and the calls that it saw, in its own spelling, and
nothing else. The strict upstream knows the seals that it gave out and refuses any other, and a lost one.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect
from interlingua.gateway.core import Gateway
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.settings import GatewayKey
from interlingua.testing.upstream import Call, Say, Upstream
from interlingua.transport.replay import Line
from interlingua.types.event import StreamEnd
from interlingua.types.response import Response
from interlingua.wire.http import Headers, HttpReply, HttpRequest
from interlingua.wire.json import decode_any
from tests.support.gateway import gateway
from tests.unit.gateway.asking import ask

MODELS = {
    "google": "google/gemini-3-pro",
    "anthropic": "anthropic/claude-opus-4-5",
    "openai-responses": "openai-responses/gpt-5.6",
}
"""Upstreams that seal, and insist on their seals."""
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
TOOLS: dict[str, Any] = {
    "openai-chat": [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}],
    "ollama": [{"type": "function", "function": {"name": "get_weather", "description": "w", "parameters": SCHEMA}}],
    "openai-responses": [{"type": "function", "name": "get_weather", "parameters": SCHEMA}],
    "anthropic": [{"name": "get_weather", "input_schema": SCHEMA}],
    "google": [{"functionDeclarations": [{"name": "get_weather", "parametersJsonSchema": SCHEMA}]}],
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


class Client:
    """A client of one dialect that keeps its history in its own words."""

    def __init__(self, dialect: str, made: Gateway, model: str, *, stream: bool, headers: Headers = ()) -> None:
        self.dialect, self.made, self.model, self.stream, self.headers = dialect, made, model, stream, headers
        self.history: list[Any] = []

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
        member = {"openai-responses": "input", "google": "contents"}.get(self.dialect, "messages")
        body: dict[str, Any] = {member: self.history, "tools": TOOLS[self.dialect]}
        path = _PATHS[self.dialect]
        if self.dialect == "google":
            method = "streamGenerateContent" if self.stream else "generateContent"
            path = f"/v1beta/models/{self.model}:{method}"
        else:
            body |= {"model": self.model, "stream": self.stream}
        body |= {"openai-responses": {"store": False}, "anthropic": {"max_tokens": 8_000}}.get(self.dialect, {})
        query = "alt=sse" if self.dialect == "google" and self.stream else ""
        reply = ask(self.made, path, json.dumps(body).encode(), self.headers, query=query)
        assert isinstance(reply.body, bytes)
        assert reply.status == 200, reply.body
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


Told = list[tuple[str, str, str]]


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


_PATHS = {
    "openai-chat": "/v1/chat/completions",
    "ollama": "/api/chat",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "google": "",
}
_TURNS = {
    "openai-chat": _chat_turn,
    "ollama": _ollama_turn,
    "openai-responses": _responses_turn,
    "anthropic": _anthropic_turn,
    "google": _google_turn,
}
_RESULTS = {
    "openai-chat": _chat_results,
    "ollama": _ollama_results,
    "openai-responses": _responses_results,
    "anthropic": _anthropic_results,
    "google": _google_results,
}
PAIRS = [(client, upstream) for client in _TURNS for upstream in MODELS if client != upstream]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
def test_thk_07_a_tool_loop_brings_every_seal_back(client: str, upstream: str, stream: bool) -> None:
    """Five requests, parallel and repeated calls, a second question: each time every seal so far, byte by byte."""
    provider = Provider(upstream)
    with provider.standing():
        user = Client(client, gateway(), MODELS[upstream], stream=stream)
        first = user.say("Weather in Oslo and Bergen?")
        second = user.answer(first, ["4", "5"])
        user.answer(second, ["4"])
        fourth = user.say("And Rome?")
        user.answer(fourth, ["20"])
    assert [str(verdict) for verdict in provider.verdicts] == ["taken"] * 5
    before: list[str] = []
    for number, given in enumerate(provider.given):
        assert provider.sent_back(number) == before
        before = before + given
    assert len(before) >= 3


@pytest.mark.parametrize("client", ["openai-chat", "ollama"])
def test_thk_07_the_parts_of_a_turn_come_back_as_they_were(client: str) -> None:
    """To Gemini the turn goes back as it came: same parts, same ids, same order of arguments."""
    provider = Provider("google")
    with provider.standing():
        user = Client(client, gateway(), MODELS["google"], stream=False)
        user.answer(user.say("Weather?"), ["4", "5"])
    sent = decode_any(provider.requests[1].body)["contents"]
    assert sent[1] == decode_any(provider.answers[0])["candidates"][0]["content"]
    ids = [part["functionCall"]["id"] for part in sent[1]["parts"] if "functionCall" in part]
    assert [part["functionResponse"]["id"] for part in sent[2]["parts"]] == ids


@pytest.mark.parametrize("client", ["openai-chat", "ollama"])
def test_two_tenants_never_see_each_others_seals(client: str) -> None:
    """The same words under two keys: each gets its own seals back, and one that sends the other's turn gets none."""
    keys = tuple(GatewayKey(name=name, hash=hash_key(name)) for name in ("team-a", "team-b"))
    made = gateway(keys=keys)
    provider = Provider("google", SCRIPT[0], SCRIPT[0], SCRIPT[2], SCRIPT[2], SCRIPT[2])
    headers: tuple[Headers, ...] = ((("x-api-key", "team-a"),), (("x-api-key", "team-b"),))
    with provider.standing():
        clients = [Client(client, made, MODELS["google"], stream=False, headers=own) for own in headers]
        answers = [user.say("Weather?") for user in clients]
        for user, answer in zip(clients, answers, strict=True):
            user.answer(answer, ["4", "5"])
        thief = Client(client, made, MODELS["google"], stream=False, headers=headers[1])
        thief.history = clients[0].history[:-1]
        thief.ask()
    assert provider.sent_back(2) == provider.given[0]
    assert provider.sent_back(3) == provider.given[1]
    assert provider.given[0][0] not in provider.sent_back(4)


def test_a_vault_that_lost_everything_falls_back_to_the_documented_filler() -> None:
    """A miss is normal: Gemini gets the value that it documents for that, and the client reads it in the header."""
    provider = Provider("google")
    with provider.standing():
        user = Client("openai-chat", gateway(), MODELS["google"], stream=False)
        first = user.say("Weather?")
        user.made = gateway()
        user.answer(first, ["4", "5"])
    assert provider.sent_back(1) == ["skip_thought_signature_validator"]
    assert provider.verdicts[1].ok
