"""Another provider takes over in the middle of a tool loop, with thinking on: every pair of dialects, over sockets.

The first model thinks, seals its thought and calls twice; the second gets the results, thinks and calls once more; the
first answers. Every request on the way is one that the real service takes: the strict upstream judges each of them.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from itertools import permutations
from typing import Any, NamedTuple

import pytest

import interlingua as il
from interlingua.dialects._contract import DecodeContext, DecodedRequest, Target
from interlingua.dialects.table import get_dialect
from interlingua.testing.upstream import Call, Issued, Problem, Say, Upstream, judge
from interlingua.testing.upstream.door import DOORS
from interlingua.wire.http import HttpReply, HttpRequest
from interlingua.wire.json import encode
from tests.support.chat_server import KEY, ChatServer, chat_serving
from tests.support.imitated import IMITATED
from tests.support.server import Seen

THOUGHT = "Both are needed."


class Side(NamedTuple):
    """One provider: its row, a model of its, and how it seals a thought or a call."""

    provider: str
    model: str
    thought: dict[str, Any] | None = None
    call: dict[str, Any] | None = None

    @property
    def seals(self) -> bool:
        """Whether it seals anything."""
        return self.thought is not None or self.call is not None


def _seal(provider: str) -> str:
    """The sealed state of a provider, as it stands on the wire: base64."""
    return b64encode(f"sealed by {provider}".encode()).decode()


def _details(provider: str) -> dict[str, Any]:
    detail = {"type": "reasoning.text", "text": THOUGHT, "signature": _seal(provider), "index": 0}
    return {"reasoning_details": [detail]}


def _item(provider: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": THOUGHT}]
    return {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": _seal(provider)}


SIDES: dict[str, Side] = {
    "openai-chat": Side("openrouter", "anthropic/claude-opus-5", _details("openrouter")),
    "openai-responses": Side("openai", "gpt-6-astra", _item("openai")),
    "anthropic": Side("anthropic", "claude-opus-5", {"signature": _seal("anthropic")}),
    "google": Side("google", "gemini-3-pro", None, {"thoughtSignature": _seal("google")}),
    "ollama": Side("ollama", "qwen3-vl"),
    "cohere": Side("cohere", "command-a-reasoning-08-2025"),
    "unified": Side("interlingua", "smart"),
    "bedrock": Side("bedrock", "us.anthropic.claude-opus-5", {"signature": _seal("bedrock")}),
}
"""Dialect -> a provider that speaks it; in Chat that is OpenRouter, since OpenAI shows reasoning in Responses only."""
PAIRS = list(permutations(SIDES, 2))
RELAYS = ("unified",)
"""Dialects that carry everybody's sealed state: behind them may be its issuer."""
OPENROUTER = re.compile(r"(/messages/\d+)?/(reasoning|reasoning_details)")
"""Members of OpenRouter, which the strict upstream, being OpenAI, does not know."""


def get_weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: City name.
    """
    return f"4 degrees in {city}"


TOOLS = il.Toolbox([get_weather])
ANSWER = "4 degrees in Oslo; 4 degrees in Bergen; 4 degrees in Narvik"


def _call(dialect: str, place: int, city: str) -> il.ToolCall:
    """A call; where the dialect seals calls, the first of a step carries the seal."""
    side = SIDES[dialect]
    sealed = il.Sealed(dialect, side.call) if side.call is not None and place == 0 else None
    return il.ToolCall(f"call_{city.lower()}", "get_weather", f'{{"city":"{city}"}}', sealed=sealed)


def _thinker(dialect: str) -> Callable[[DecodedRequest], il.Response[Any]]:
    """A model that asks for two cities, then for a third, then says what it was told."""
    thought = SIDES[dialect].thought
    thinking = il.ThinkingPart(THOUGHT, None if thought is None else il.Sealed(dialect, thought))

    def answer(asked: DecodedRequest) -> il.Response[Any]:
        results = [str(one.content) for message in asked.request.messages for one in message.tool_results]
        cities = {0: ("Oslo", "Bergen"), 2: ("Narvik",)}.get(len(results), ())
        if not cities:
            return il.Response(parts=(il.TextPart("; ".join(results)),), finish_reason="stop")
        calls = [_call(dialect, place, city) for place, city in enumerate(cities)]
        return il.Response(parts=(thinking, *calls), finish_reason="tool_calls")

    return answer


def _thinking(dialect: str) -> dict[str, Any]:
    """What asks for hard thinking; Cohere has a budget instead of efforts."""
    return {"thinking_budget": 2000} if dialect == "cohere" else {"effort": "high"}


def _model(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> il.Model:
    """A model of the provider's own row, whose address is the server."""
    side = SIDES[chat.dialect]
    scheme = side.provider if chat.dialect != "openai-responses" else "openai-responses"
    address = f"{scheme}://{KEY}@127.0.0.1:{chat.server.port}?tls=0"
    monkeypatch.setenv(f"LLM_{side.provider.upper()}", address)
    return il.model(f"{side.provider}/{side.model}", tools=TOOLS, max_tokens=4000, **_thinking(chat.dialect))


def _request(chat: ChatServer, seen: Seen) -> HttpRequest:
    """What arrived, as a value."""
    method, path, _ = seen.line.split(" ")
    lines = [line.partition(":") for line in seen.head.decode("latin-1").split("\r\n")[1:]]
    headers = tuple((name.lower(), value.strip()) for name, _, value in lines)
    return HttpRequest(method=method, url=chat.server.url(path), headers=headers, body=seen.body)


def _refusals(chat: ChatServer) -> list[Problem]:
    """Why the real service would refuse what the server was asked, its memory of its own seals included."""
    if chat.dialect not in DOORS:
        return []
    issued = Issued(seals={_seal(SIDES[chat.dialect].provider): THOUGHT})
    verdicts = [judge(chat.dialect, _request(chat, seen), issued=issued) for seen in chat.server.seen]
    found = [problem for verdict in verdicts for problem in verdict.problems]
    of_chat = chat.dialect == "openai-chat"
    return [problem for problem in found if not (of_chat and OPENROUTER.fullmatch(problem.pointer))]


def _holding(chat: ChatServer, dialect: str) -> list[bool]:
    """Whether each request to a server holds the seal of a dialect."""
    seal = _seal(SIDES[dialect].provider).encode()
    return [seal in seen.body for seen in chat.server.seen]


def test_every_dialect_switches() -> None:
    """No dialect whose service is imitated is left out."""
    assert set(SIDES) == set(SPECS) == set(IMITATED)


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("first", "second"), PAIRS, ids=["->".join(pair) for pair in PAIRS])
def test_r22_a_switch_and_back_inside_a_thinking_tool_loop(
    first: str, second: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R22: both services take every request, a seal goes to its issuer alone, and the answer has all results."""

    def ask(model: il.Model, prompt: Any, **options: Any) -> il.Response[Any]:
        return model.stream(prompt, **options).finish() if streamed else model.generate(prompt, **options)

    with (
        chat_serving(_thinker(first), dialect=first) as one,
        chat_serving(_thinker(second), dialect=second) as other,
    ):
        issuer, heir = _model(one, monkeypatch), _model(other, monkeypatch)
        begun = ask(issuer, "How warm is it in Oslo, in Bergen and in Narvik?")
        taken = ask(heir, TOOLS.execute(begun.tool_calls), history=begun)
        answer = ask(issuer, TOOLS.execute(taken.tool_calls), history=taken)
    assert [call.arguments["city"] for call in (*begun.tool_calls, *taken.tool_calls)] == ["Oslo", "Bergen", "Narvik"]
    assert (begun.thinking, taken.thinking) == (THOUGHT, THOUGHT)
    asked = [_thinking(first), _thinking(first), _thinking(second)]
    for request, wish in zip((*one.requests, *other.requests), asked, strict=True):
        assert {name: getattr(request.request, name) for name in wish} == wish
    assert answer.text == ANSWER
    assert _refusals(one) == []
    assert _refusals(other) == []
    # The issuer gets its own seal back byte for byte, and never that of the other; a relay carries both.
    sealed, also_sealed = SIDES[first].seals, SIDES[second].seals
    assert _holding(one, first) == [False, sealed]
    assert _holding(other, first) == [sealed and second in RELAYS]
    assert _holding(one, second) == [False, also_sealed and first in RELAYS]
    assert ("seal_foreign" in [change.code for change in taken.changes]) is (sealed and second not in RELAYS)


SPECS = {
    "openai-chat": "openai-chat/gpt-6-astra",
    "openai-responses": "openai/gpt-6-astra",
    "anthropic": "anthropic/claude-opus-5",
    "google": "google/gemini-3-pro",
    "ollama": "ollama/qwen3-vl",
    "cohere": "cohere/command-a-reasoning-08-2025",
    "unified": "interlingua/smart",
    "bedrock": "bedrock/us.anthropic.claude-opus-5-v1:0",
}
"""Dialect -> a model of the service that the strict upstream imitates."""
STRICT = list(permutations(SPECS, 2))
ADDRESSES = {"openai-responses": "openai-responses"}
"""The scheme of a provider's address, where it is not the provider's name."""
OPTIONS = {"openai-chat": "&reasoning_field=none&max_tokens_field=max_completion_tokens"}
"""What has to be said of OpenAI's Chat at another address than its own: it knows no reasoning."""


def _strict_model(dialect: str, base_url: str, monkeypatch: pytest.MonkeyPatch) -> il.Model:
    """A model of the service, whose address is the imitation's."""
    provider = SPECS[dialect].partition("/")[0]
    host = base_url.partition("//")[2].partition("/")[0]
    address = f"{ADDRESSES.get(dialect, provider)}://{KEY}@{host}?tls=0{OPTIONS.get(dialect, '')}"
    monkeypatch.setenv(f"LLM_{provider.replace('-', '_').upper()}", address)
    return il.model(SPECS[dialect], tools=TOOLS, max_tokens=4000, **_thinking(dialect))


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("first", "second"), STRICT, ids=["->".join(pair) for pair in STRICT])
def test_r22_a_switch_between_services_that_know_their_seals(
    first: str, second: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R22: services that share no code with ours, and that refuse seals they did not give out, take every request."""

    def ask(model: il.Model, prompt: Any, **options: Any) -> il.Response[Any]:
        return model.stream(prompt, **options).finish() if streamed else model.generate(prompt, **options)

    two = (Call("get_weather", {"city": "Oslo"}), Call("get_weather", {"city": "Bergen"}))
    one = Upstream(first, Say(thinking=THOUGHT, calls=two), Say(text="In Bergen."))
    other = Upstream(second, Say(thinking=THOUGHT, calls=(Call("get_weather", {"city": "Narvik"}),)))
    with one.serving() as one_url, other.serving() as other_url:
        issuer, heir = _strict_model(first, one_url, monkeypatch), _strict_model(second, other_url, monkeypatch)
        begun = ask(issuer, "Where is it warmest: in Oslo, in Bergen or in Narvik?")
        taken = ask(heir, TOOLS.execute(begun.tool_calls), history=begun)
        answer = ask(issuer, TOOLS.execute(taken.tool_calls), history=taken)
    assert [str(verdict) for verdict in (*one.verdicts, *other.verdicts)] == ["taken"] * 3
    assert [call.arguments["city"] for call in (*begun.tool_calls, *taken.tool_calls)] == ["Oslo", "Bergen", "Narvik"]
    assert (answer.text, answer.finish_reason) == ("In Bergen.", "stop")
    seals = [seal.encode() for seal in one.issued.seals]
    assert [[seal in request.body for seal in seals] for request in one.requests] == [
        [False] * len(seals),
        [True] * len(seals),
    ]
    assert [seal in other.requests[0].body for seal in seals] == [second in RELAYS] * len(seals)


SEARCHED: dict[str, dict[str, Any]] = {
    "anthropic": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5", "stop_reason": "end_turn",
        "content": [
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Oslo"}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "srvtoolu_1",
                "content": [
                    {
                        "type": "web_search_result", "url": "https://a.test/oslo", "title": "Oslo",
                        "encrypted_content": "c2VhbGVk", "page_age": None,
                    }
                ],
            },
            {
                "type": "text",
                "text": "4 degrees.",
                "citations": [
                    {
                        "type": "web_search_result_location", "url": "https://a.test/oslo", "title": "Oslo",
                        "cited_text": "It is 4.", "encrypted_index": "c2VhbGVk",
                    }
                ],
            },
        ],
        "usage": {"input_tokens": 9, "output_tokens": 9},
    },
    "openai-responses": {
        "id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-6-astra", "status": "completed",
        "output": [
            {
                "type": "web_search_call", "id": "ws_1", "status": "completed",
                "action": {
                    "type": "search", "query": "Oslo", "sources": [{"type": "url", "url": "https://a.test/oslo"}],
                },
            },
            {
                "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [
                    {
                        "type": "output_text",
                        "text": "4 degrees.",
                        "annotations": [
                            {
                                "type": "url_citation", "start_index": 0, "end_index": 10, "title": "Oslo",
                                "url": "https://a.test/oslo",
                            }
                        ],
                    }
                ],
            },
        ],
    },
    "google": {
        "candidates": [
            {
                "finishReason": "STOP",
                "content": {
                    "role": "model",
                    "parts": [
                        {"executableCode": {"language": "PYTHON", "code": "search('Oslo')"}},
                        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "https://a.test/oslo"}},
                        {"text": "4 degrees."},
                    ],
                },
            }
        ],
    },
}  # fmt: skip
"""Dialect -> an answer for which the provider ran a tool of its own."""
SEARCHERS = [(first, second) for first, second in STRICT if first in SEARCHED]


@pytest.mark.parametrize(("first", "second"), SEARCHERS, ids=["->".join(pair) for pair in SEARCHERS])
def test_r63_a_switch_and_back_after_a_search(first: str, second: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """R63: the second service reads in words what was found, and the first gets its own steps back as they were."""
    provider = SPECS[first].partition("/")[0]
    context = DecodeContext(target=Target(provider=provider, model=SPECS[first].partition("/")[2]))
    reply = HttpReply(status=200, body=encode(SEARCHED[first]))
    begun = get_dialect(first).decode_response(reply, context)
    one, other = Upstream(first, Say(text="Bring a coat.")), Upstream(second, Say(text="Cold."))
    with one.serving() as one_url, other.serving() as other_url:
        issuer, heir = _strict_model(first, one_url, monkeypatch), _strict_model(second, other_url, monkeypatch)
        turn = heir.generate("Is that cold?", history=[il.user("How warm is it in Oslo?"), begun.message])
        last = issuer.generate("So what do I need?", history=turn)
    assert [str(verdict) for verdict in (*one.verdicts, *other.verdicts)] == ["taken"] * 2
    assert (turn.text, last.text) == ("Cold.", "Bring a coat.")
    sent, back = other.requests[0].body, one.requests[0].body
    assert b"https://a.test/oslo" in sent
    assert (b"c2VhbGVk" in sent) is (second in RELAYS and first == "anthropic")
    steps = [part for part in begun.parts if isinstance(part, il.ServerToolPart)]
    assert steps
    assert all(encode(step.raw) in back for step in steps)
    retold = [change.path for change in turn.changes if change.code == "server_tool_as_text"]
    assert len(retold) == (0 if second in RELAYS else len(steps))
    assert "server_tool_as_text" not in [change.code for change in last.changes]
