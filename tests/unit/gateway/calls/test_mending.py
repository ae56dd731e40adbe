"""Histories of foreign clients at the gateway: repaired and recorded on the way to another dialect, never in their own.

And what Messages clients say in headers and in the query: passed on in their own dialect, sent as dropped elsewhere.
"""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.testing.upstream import Upstream
from interlingua.wire.http import Headers
from interlingua.wire.json import decode_any, encode
from tests.support.cells import cells
from tests.support.gateway import MODELS, gateway
from tests.unit.gateway.asking import ask, header, told

USER = {"role": "user", "content": "a"}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in ("t", "u")]


def _call(name: str, call_id: str = "c1", arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _calling(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def _result(content: str, call_id: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _use(name: str, call_id: str = "c1") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}}


def _used(content: str, call_id: str = "c1") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


LOST = {**_used("This call has no result: it was cancelled or its result was lost."), "is_error": True}
CASES: dict[str, tuple[list[Any], str, list[Any]]] = {
    "orphan": (
        [USER, _result("lost", "x")],
        "repaired result_orphan /messages/1",
        [("user", [_text("a"), _text("Result of the tool x: lost")])],
    ),
    "missing": (
        [USER, _calling(_call("t")), {"role": "user", "content": "b"}],
        "repaired result_missing /messages/2",
        [("user", [_text("a")]), ("assistant", [_use("t")]), ("user", [LOST, _text("b")])],
    ),
    "duplicate result": (
        [USER, _calling(_call("t")), _result("1"), _result("2")],
        "repaired result_duplicate /messages/2",
        [("user", [_text("a")]), ("assistant", [_use("t")]), ("user", [_used("1")])],
    ),
    "duplicate id": (
        [USER, _calling(_call("t"), _call("u")), _result("1"), _result("2")],
        "repaired call_id_duplicate /messages/1",
        [
            ("user", [_text("a")]),
            ("assistant", [_use("t"), _use("u", "call_1")]),
            ("user", [_used("1"), _used("2", "call_1")]),
        ],
    ),
    "broken arguments": (
        [USER, _calling(_call("t", arguments="{")), _result("bad")],
        "repaired arguments_broken /messages/1/parts/0",
        [("user", [_text("a")]), ("assistant", [_text("t({)")]), ("user", [_text("t: bad")])],
    ),
}
"""What a Chat client sends, what the header says, what Claude gets."""


@pytest.mark.parametrize("case", CASES)
def test_r32_a_history_is_repaired_on_the_way_to_another_dialect(case: str) -> None:
    """Every call has its one result; the repair is in the header, the request is one that the provider takes."""
    messages, change, expected = CASES[case]
    with Upstream("anthropic", "x").standing() as upstream:
        body = {"model": MODELS["anthropic"], "messages": messages, "tools": TOOLS}
        reply = ask(gateway(), "/v1/chat/completions", body)
    told(reply)
    assert change in (header(reply, "x-interlingua-changes") or "").split(", ")
    sent = decode_any(upstream.requests[0].body)["messages"]
    assert [(message["role"], message["content"]) for message in sent] == expected
    assert upstream.verdicts[0].ok, str(upstream.verdicts[0])


@cells("dialect", ["google", "openai-responses", "ollama", "cohere"])
@cells("case", CASES)
def test_r32_what_is_repaired_is_taken_everywhere(case: str, dialect: str) -> None:
    """The strict upstream of every other dialect takes it, too."""
    with Upstream(dialect, "x").standing() as upstream:
        body = {"model": MODELS[dialect], "messages": CASES[case][0], "tools": TOOLS}
        told(ask(gateway(), "/v1/chat/completions", body))
    assert upstream.verdicts[0].ok, str(upstream.verdicts[0])


def test_sec_09_two_calls_of_one_id_keep_their_own_results_apart() -> None:
    """The second result never reaches the first tool."""
    messages, _, _ = CASES["duplicate id"]
    with Upstream("google", "x").standing() as upstream:
        told(ask(gateway(), "/v1/chat/completions", {"model": MODELS["google"], "messages": messages, "tools": TOOLS}))
    sent = decode_any(upstream.requests[0].body)["contents"]
    assert [part["functionCall"]["name"] for part in sent[1]["parts"]] == ["t", "u"]
    results = [part["functionResponse"] for part in sent[2]["parts"]]
    assert [(result["name"], result["response"]) for result in results] == [
        ("t", {"output": "1"}),
        ("u", {"output": "2"}),
    ]


@pytest.mark.parametrize("case", CASES)
def test_r32_in_the_clients_own_dialect_nothing_is_repaired(case: str) -> None:
    """The body goes out as it came, and what the provider says of it comes back."""
    body = encode({"model": "gpt-4.1", "messages": CASES[case][0], "tools": TOOLS}, nulls=9)
    with Upstream("openai-chat", "x").standing() as upstream:
        reply = ask(gateway(), "/v1/chat/completions", body.replace(b'"gpt-4.1"', b'"openai-chat/gpt-4.1"'))
    assert upstream.requests[0].body == body
    assert header(reply, "x-interlingua-changes") is None
    assert reply.status == (200 if upstream.verdicts[0].ok else 400)


def test_r32_the_unified_dialect_refuses_instead() -> None:
    """400, which names the call and the rule."""
    lost = {"type": "tool_result", "tool_call_id": "x", "content": "lost"}
    messages = [USER, {"role": "tool", "parts": [lost]}]
    with Upstream("anthropic", "x").standing() as upstream:
        reply = ask(gateway(), "/unified/v1/generate", {"model": MODELS["anthropic"], "messages": messages})
    error = told(reply, 400)["error"]
    assert error["code"] == "result_orphan"
    assert "'x'" in error["message"]
    assert upstream.requests == []


BETAS: Headers = (
    ("content-type", "application/json"),
    ("anthropic-version", "2023-06-01"),
    ("anthropic-beta", "claude-code-20250219,interleaved-thinking-2025-05-14"),
)


def _ask_with_betas(dialect: str) -> tuple[Any, Upstream]:
    body = {"model": MODELS[dialect], "max_tokens": 100, "messages": [USER]}
    with Upstream(dialect, "x").standing() as upstream:
        return ask(gateway(), "/v1/messages", body, BETAS, query="beta=true"), upstream


def test_par_02_beta_features_go_on_in_their_own_dialect() -> None:
    """Header and query, as they came."""
    reply, upstream = _ask_with_betas("anthropic")
    told(reply)
    sent = upstream.requests[0]
    assert sent.url == "https://api.anthropic.com/v1/messages?beta=true"
    assert dict(sent.headers)["anthropic-beta"] == "claude-code-20250219,interleaved-thinking-2025-05-14"
    assert header(reply, "x-interlingua-changes") is None


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "google", "ollama", "cohere"])
def test_par_02_elsewhere_beta_features_are_told_as_dropped(dialect: str) -> None:
    """No other provider hears of them, and the client does."""
    reply, upstream = _ask_with_betas(dialect)
    told(reply)
    assert "dropped extra_foreign /extra/anthropic" in (header(reply, "x-interlingua-changes") or "").split(", ")
    assert not [name for name, _ in upstream.requests[0].headers if name.startswith("anthropic")]
    assert "beta=true" not in upstream.requests[0].url
