"""Facts of Ollama's bodies, read from the wire alone: samples of the wire notes, oddities of the recordings."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from interlingua.testing.facts import error_facts, request_facts, request_faults, response_facts, stream_facts

OLLAMA = "ollama"
PNG = "iVBORw0KGgo="
PNG_DIGEST = hashlib.sha256(b"\x89PNG\r\n\x1a\n").hexdigest()
CITY: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def _call(name: str, arguments: Any = None, **members: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments or {}}, **members}


def _asked(*messages: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages)}


def test_a_whole_request() -> None:
    """Every fact of it."""
    body = {
        "model": "qwen3-vl",
        "messages": [
            {"role": "system", "content": "Help."},
            {"role": "user", "content": "Weather?", "images": [PNG]},
            {
                "role": "assistant",
                "content": "",
                "thinking": "Two lookups.",
                "tool_calls": [_call("get_weather", {"city": "Oslo"}, id="a"), _call("get_time", id="b")],
            },
            {"role": "tool", "tool_name": "get_weather", "tool_call_id": "a", "content": '{"temp_c":4}'},
            {"role": "tool", "tool_name": "get_time", "tool_call_id": "b", "content": "ERROR: no clock"},
            {"role": "user", "content": "Again."},
        ],
        "tools": [
            {"type": "function", "function": {"name": "get_weather", "description": "", "parameters": CITY}},
            {"type": "function", "function": {"name": "get_time"}},
            {"type": "builtin"},
        ],
        "format": CITY,
    }
    assert request_facts(OLLAMA, body) == {
        "model": "qwen3-vl",
        "messages": [["system", "Help."], ["user", "Weather?"], ["user", "Again."]],
        "tools": [
            {"name": "get_weather", "description": None, "schema": CITY},
            {"name": "get_time", "description": None, "schema": {"type": "object", "properties": {}}},
        ],
        "server_tools": [{"type": "builtin"}],
        "tool_choice": None,
        "output_schema": CITY,
        "calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name": "get_time", "arguments": {}}],
        "results": [
            {"call": 0, "content": {"temp_c": 4}, "is_error": False},
            {"call": 1, "content": "no clock", "is_error": True},
        ],
        "media": [["image/png", PNG_DIGEST]],
        "references": [],
        "thinking": ["Two lookups."],
        "seals": [],
        "refusals": [],
    }
    assert request_faults(OLLAMA, body) == []


def test_the_older_form_is_one_prompt() -> None:
    """A system message and a user message; an empty format is none."""
    found = request_facts(OLLAMA, {"model": "m", "prompt": "Hi", "system": "Help.", "images": ["!"], "format": ""})
    assert found["messages"] == [["system", "Help."], ["user", "Hi"]]
    assert found["media"] == [["image/png", hashlib.sha256(b"").hexdigest()]]
    assert found["output_schema"] is None


NAMINGS: list[tuple[list[dict[str, str]], list[int]]] = [
    ([{}, {}], [0, 1]),
    ([{"tool_name": "b"}, {"tool_name": "a"}], [1, 0]),
    ([{"name": "b"}, {}], [1, 0]),
    ([{"tool_call_id": "unknown"}, {"tool_name": "b"}], [0, 1]),
]


@pytest.mark.parametrize(("naming", "calls"), NAMINGS)
def test_results_name_their_calls_in_many_ways(naming: list[dict[str, str]], calls: list[int]) -> None:
    """By name, else by order, where the calls have no ids."""
    called = {"role": "assistant", "tool_calls": [_call("a"), _call("b")]}
    body = _asked(called, *[{"role": "tool", "content": "x", **members} for members in naming])
    assert [result["call"] for result in request_facts(OLLAMA, body)["results"]] == calls
    assert request_faults(OLLAMA, body) == []


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([{"role": "tool", "content": "x"}], "result 0: no open call has its id"),
        ([{"role": "assistant", "tool_calls": [_call("a")]}], "call 0: no result answers it"),
        (
            [
                {"role": "assistant", "tool_calls": [_call("a", id="1")]},
                {"role": "tool", "tool_call_id": "2", "content": "x"},
            ],
            "result 0: no open call has its id",
        ),
    ],
)
def test_faults_of_a_history(messages: list[Any], fault: str) -> None:
    """Named by their place."""
    assert request_faults(OLLAMA, _asked(*messages))[0] == fault


def test_an_answer_with_everything() -> None:
    """Of both forms."""
    message = {"role": "assistant", "content": "Hi", "thinking": "Hm", "tool_calls": [_call("a")], "images": [PNG]}
    body = {"model": "m", "message": message, "done": True, "done_reason": "stop", "eval_count": 2}
    choice: dict[str, Any] = {
        "text": "Hi",
        "thinking": "Hm",
        "seals": [],
        "calls": [{"name": "a", "arguments": {}}],
        "refusal": None,
        "finish_reason": "tool_calls",
        "media": [["image/png", PNG_DIGEST]],
    }
    usage = {"input": None, "output": 2, "cache_read": None, "cache_write": None, "reasoning": None}
    assert response_facts(OLLAMA, body) == {"model": "m", "choices": [choice], "usage": usage}
    older = response_facts(OLLAMA, {"model": "m", "response": "Hi", "thinking": "Hm", "done": True})
    expected: dict[str, Any] = {**choice, "calls": [], "media": [], "finish_reason": "error"}
    assert older == {"model": "m", "choices": [expected], "usage": None}


def _line(content: str, **members: Any) -> str:
    return json.dumps({"model": "m", "message": {"content": content}, "done": False, **members})


def test_a_stream_has_the_facts_of_its_sum() -> None:
    """Calls of any line, counts of the last."""
    last = _line("", done=True, done_reason="stop", eval_count=3)
    call = json.dumps({"message": {"content": "", "tool_calls": [_call("a")]}, "done": False})
    facts, end, error, _ = stream_facts(OLLAMA, f"{_line('Hel')}\n\n{_line('lo')}\n{call}\n{last}\nignored")
    assert (facts["choices"][0]["text"], facts["choices"][0]["finish_reason"]) == ("Hello", "tool_calls")
    assert (facts["usage"]["output"], end, error) == (3, "done", None)


def test_a_stream_without_an_end_was_cut() -> None:
    """With what came."""
    facts, end, *_ = stream_facts(OLLAMA, _line("Hel"))
    assert (facts["choices"][0]["text"], end) == ("Hel", "cut")


def test_an_error_line_ends_a_stream() -> None:
    """With its class, after what came; without a status the runner failed."""
    facts, end, error, _ = stream_facts(OLLAMA, _line("Hel") + '\n{"error":"busy","status":503}\n')
    assert (facts["choices"][0]["text"], end) == ("Hel", "error")
    assert error == {"status": 503, "class": "OverloadedError"}
    assert stream_facts(OLLAMA, '{"error":"x"}').error == {"status": None, "class": "InternalServerError"}


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "BadRequestError"), (404, "NotFoundError"), (429, "RateLimitError"), (502, "InternalServerError")],
)
def test_error_classes(status: int, kind: str) -> None:
    """The status says all."""
    assert error_facts(OLLAMA, status, {"error": "x"}) == {"status": status, "class": kind}
    assert error_facts(OLLAMA, 200, {"done": True}) is None
