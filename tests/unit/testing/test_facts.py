"""Facts of Chat bodies, read from the wire alone: the samples of the wire notes and the oddities of the recordings."""

from __future__ import annotations

import ast
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import interlingua.testing.facts as facts_module
from interlingua.errors import ConfigError
from interlingua.testing.facts import (
    differences,
    error_facts,
    first_difference,
    paths,
    request_facts,
    request_faults,
    response_facts,
    stream_facts,
)

CHAT = "openai-chat"
PNG = "iVBORw0KGgo="
PNG_DIGEST = hashlib.sha256(b"\x89PNG\r\n\x1a\n").hexdigest()
NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


def _call(call_id: str, name: str, arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _request(*messages: Any, **members: Any) -> dict[str, Any]:
    return request_facts(CHAT, {"model": "m", "messages": list(messages), **members})


def _answer(message: dict[str, Any], reason: str | None = "stop") -> dict[str, Any]:
    body = {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}
    return response_facts(CHAT, body)["choices"][0]


def _frames(*choices: dict[str, Any], tail: str = "data: [DONE]\n\n", **members: Any) -> str:
    chunks = [{"model": "m", "choices": [{"index": 0, **choice}], **members} for choice in choices]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + tail


def _streamed(*calls: dict[str, Any]) -> list[Any]:
    """The calls that deltas, one in each frame, add up to."""
    text = _frames(*({"delta": {"tool_calls": [call]}} for call in calls), {"delta": {}, "finish_reason": "stop"})
    return stream_facts(CHAT, text).facts["choices"][0]["calls"]


def test_readers_share_nothing_with_the_dialects() -> None:
    """No module that reads facts imports anything of `interlingua.dialects`."""
    home = Path(facts_module.__file__).parent
    for path in (home / "facts.py", *(home / "wirefacts").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not [name for name in names if "dialects" in name], path


def test_a_dialect_without_readers_is_said() -> None:
    """An unknown dialect is a ConfigError with those that there are."""
    with pytest.raises(ConfigError, match=r"no fact reader for dialect 'morse'; there are: .*openai-chat"):
        request_facts("morse", {})


# Requests


def test_a_whole_request() -> None:
    """Roles and texts, tools, choice, schema, calls with their results, media, references, in order."""
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    found = _request(
        {"role": "developer", "content": "Be terse."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Weather "},
                {"type": "text", "text": "here?"},
                {"type": "image_url", "image_url": {"url": f"data:image/jpg;base64,{PNG}"}},
                {"type": "image_url", "image_url": "https://example.com/a.png"},
                {"type": "input_audio", "input_audio": {"data": PNG, "format": "mp3"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PNG}"}},
                {"type": "file", "file": {"file_data": PNG}},
                {"type": "file", "file": {"file_id": "file-1"}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [_call("a", "weather", '{"city": "Oslo"}'), _call("b", "time")],
        },
        {"role": "tool", "tool_call_id": "b", "content": "ERROR: no clock"},
        {"role": "tool", "tool_call_id": "a", "content": '{"celsius": 4}'},
        {"role": "user", "content": "And?"},
        tools=[
            {"type": "function", "function": {"name": "weather", "description": "W", "parameters": schema}},
            {"function": {"name": "time", "description": ""}},
            {"type": "custom", "custom": {"name": "sql"}},
            {"type": "web_search"},
        ],
        tool_choice={"type": "function", "function": {"name": "time"}},
        response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
    )
    assert found == {
        "model": "m",
        "messages": [["system", "Be terse."], ["user", "Weather here?"], ["user", "And?"]],
        "calls": [{"name": "weather", "arguments": {"city": "Oslo"}}, {"name": "time", "arguments": {}}],
        "results": [
            {"call": 1, "content": "no clock", "is_error": True},
            {"call": 0, "content": {"celsius": 4}, "is_error": False},
        ],
        "media": [
            ["image/jpeg", PNG_DIGEST],
            ["audio/mpeg", PNG_DIGEST],
            ["application/pdf", PNG_DIGEST],
            ["application/pdf", PNG_DIGEST],
        ],
        "references": [{"image_url": "https://example.com/a.png"}, {"file": "file-1"}],
        "thinking": [],
        "seals": [],
        "refusals": [],
        "tools": [
            {"name": "weather", "description": "W", "schema": schema},
            {"name": "time", "description": None, "schema": NO_PARAMETERS},
            {"name": "sql", "description": None, "schema": "freeform"},
        ],
        "server_tools": [{"type": "web_search"}],
        "tool_choice": {"name": "time"},
        "output_schema": schema,
    }


def test_results_part_the_texts_of_a_role() -> None:
    """Neighbouring texts of a role are one; a result between them keeps them apart."""
    assistant = {"role": "assistant", "content": "Looking.", "tool_calls": [_call("a", "t")]}
    result = {"role": "tool", "tool_call_id": "a", "content": "x"}
    found = _request({"role": "user", "content": "a"}, {"role": "user", "content": "b"}, assistant, result, assistant)
    assert found["messages"] == [["user", "ab"], ["assistant", "Looking."], ["assistant", "Looking."]]


def test_the_deprecated_functions_are_tools() -> None:
    """`functions`, `function_call` and the function role say the same as tools, calls and results."""
    old = _request(
        {"role": "assistant", "content": None, "function_call": {"name": "t", "arguments": "{}"}},
        {"role": "function", "name": "t", "content": "x"},
        functions=[{"name": "t", "parameters": NO_PARAMETERS}],
        function_call={"name": "t"},
    )
    new = _request(
        {"role": "assistant", "content": None, "tool_calls": [_call("a", "t")]},
        {"role": "tool", "tool_call_id": "a", "content": "x"},
        tools=[{"type": "function", "function": {"name": "t"}}],
        tool_choice={"type": "function", "function": {"name": "t"}},
    )
    assert old == new


@pytest.mark.parametrize(
    ("members", "choice"),
    [
        ({}, None),
        ({"tool_choice": None}, None),
        ({"tool_choice": "auto"}, None),
        ({"tool_choice": "none"}, "none"),
        ({"tool_choice": "any"}, "required"),
        (
            {
                "tool_choice": {
                    "type": "allowed_tools",
                    "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "t"}}]},
                }
            },
            {"name": "t"},
        ),
    ],
)
def test_tool_choices(members: dict[str, Any], choice: Any) -> None:
    """Not said, null and `auto` are the same; `any` is `required`; a subset names its tools."""
    tools = [{"type": "function", "function": {"name": "t"}}]
    assert _request(tools=tools, **members)["tool_choice"] == choice


@pytest.mark.parametrize(
    ("response_format", "schema"),
    [(None, None), ({"type": "text"}, None), ({"type": "json_object"}, "json")],
)
def test_output_schemas(response_format: Any, schema: Any) -> None:
    """Plain text is no schema, JSON mode is one of its own."""
    assert _request(response_format=response_format)["output_schema"] == schema


def test_reasoning_of_a_history() -> None:
    """Reasoning under each of its names, and sealed state wherever it stands."""
    found = _request(
        {"role": "assistant", "content": "a", "reasoning_content": "one"},
        {
            "role": "assistant",
            "content": "b",
            "reasoning": "two",
            "reasoning_details": [{"text": "two", "signature": "s2"}],
        },
        {"role": "assistant", "content": "c", "reasoning_details": [{"summary": "three"}, {"data": "s3"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "four"}], "signature": "s4"},
                {"type": "text", "text": "d"},
            ],
        },
        {
            "role": "assistant",
            "tool_calls": [{**_call("x", "t"), "extra_content": {"google": {"thought_signature": "s5"}}}],
        },
    )
    assert found["thinking"] == ["one", "two", "three", "four"]
    assert found["seals"] == ["s2", "s3", "s4", "s5"]
    assert found["messages"] == [["assistant", "abcd"]]


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([{"role": "assistant", "tool_calls": [_call("a", "t")]}], "call 0: no result answers it"),
        ([{"role": "tool", "tool_call_id": "a", "content": "x"}], "result 0: no open call has its id"),
        (
            [{"role": "assistant", "tool_calls": [_call("a", "t", "{")]}],
            "call 0: the arguments are not one JSON object",
        ),
        (
            [{"role": "assistant", "tool_calls": [_call("a", "t"), _call("a", "u")]}],
            "call 1: its id repeats another call's",
        ),
    ],
)
def test_faults_of_a_history(messages: list[Any], fault: str) -> None:
    """Missing and orphaned results, broken arguments and repeated ids are named."""
    assert request_faults(CHAT, {"messages": messages})[0] == fault


@pytest.mark.parametrize("text", ["[1]", '{"a": 1, "a": 2}', '{"a": NaN}', "{", '"x"', '"[1]"'])
def test_broken_arguments_are_kept_as_text(text: str) -> None:
    """What is not one JSON object with unique keys and finite numbers is broken, not guessed at."""
    assert _answer({"tool_calls": [_call("a", "t", text)]})["calls"] == [{"name": "t", "arguments": {"broken": text}}]


@pytest.mark.parametrize(("text", "value"), [('"{}"', {}), ('"{\\"a\\":1}"', {"a": 1}), ('""', {})])
def test_arguments_that_were_encoded_twice_are_read_twice(text: str, value: Any) -> None:
    """As the notes on compatible servers say; the text of anything else stays broken."""
    assert _answer({"tool_calls": [_call("a", "t", text)]})["calls"] == [{"name": "t", "arguments": value}]


# Answers


def test_an_answer_with_everything() -> None:
    """Text, refusal, calls of both kinds, images and audio of an answer."""
    found = _answer(
        {
            "content": "Here.",
            "refusal": "",
            "images": [{"image_url": {"url": f"data:image/png;base64,{PNG}"}}],
            "audio": {"id": "x", "data": PNG, "transcript": "hm"},
            "tool_calls": [_call("a", "t", ""), {"id": "b", "type": "custom", "custom": {"name": "sql", "input": "1"}}],
        }
    )
    assert found == {
        "text": "Here.",
        "thinking": "",
        "seals": [],
        "calls": [{"name": "t", "arguments": {}}, {"name": "sql", "arguments": {"input": "1"}}],
        "refusal": None,
        "finish_reason": "tool_calls",
        "media": [["image/png", PNG_DIGEST], ["audio/pcm", PNG_DIGEST]],
    }


@pytest.mark.parametrize(
    ("message", "wire", "reason"),
    [
        ({"content": "x"}, "stop", "stop"),
        ({"content": "x"}, "eos", "stop"),
        ({"content": "x"}, "tool_calls", "stop"),
        ({"content": "x"}, None, "stop"),
        ({"content": ""}, None, "error"),
        ({"content": "x"}, "model_length", "length"),
        ({"content": "x"}, "insufficient_system_resource", "error"),
        ({"refusal": "No."}, "stop", "refusal"),
        ({"refusal": "No."}, "content_filter", "content_filter"),
        ({"function_call": {"name": "t", "arguments": "{}"}}, "function_call", "tool_calls"),
        ({"content": "x", "function_call": {"name": "", "arguments": ""}}, "", "stop"),
        ({"tool_calls": [_call("a", "t")]}, "length", "length"),
    ],
)
def test_finish_reasons(message: dict[str, Any], wire: str | None, reason: str) -> None:
    """Calls and refusals decide over `stop`, never over `length` or the filter."""
    assert _answer(message, wire)["finish_reason"] == reason


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens_details": {"cached_tokens": 2}},
        {"prompt_token_details": {"cached_tokens": 2}},
        {"num_cached_tokens": 2},
        {"cached_tokens": 2},
        {"prompt_cache_hit_tokens": 2},
    ],
)
def test_cached_tokens_have_many_names(usage: dict[str, Any]) -> None:
    """Cached tokens are found under every name, and an absent count is None."""
    found = response_facts(CHAT, {"usage": {"prompt_tokens": 5, "completion_tokens": 3, **usage}})["usage"]
    assert found == {"input": 5, "output": 3, "cache_read": 2, "cache_write": None, "reasoning": None}


# Errors


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"error": {"code": "invalid_api_key"}}, "AuthenticationError"),
        (402, {"error": {"code": 402}}, "BillingError"),
        (429, {"error": {"code": "insufficient_quota"}}, "BillingError"),
        (429, {"error": {"code": "rate_limit_exceeded"}}, "RateLimitError"),
        (400, {"error": {"code": "context_length_exceeded"}}, "ContextWindowExceededError"),
        (400, {"object": "error", "type": "invalid_model", "code": "1500"}, "NotFoundError"),
        (422, {"detail": [{"msg": "Field required"}]}, "BadRequestError"),
        (500, None, "InternalServerError"),
        (503, {"error": "loading"}, "OverloadedError"),
        (200, {"error": {"code": 502, "message": "gone"}}, "InternalServerError"),
        (200, {"error": {"type": "server_error", "code": None}}, "InternalServerError"),
        (200, {"error": {"message": "who knows"}}, "InternalServerError"),
    ],
)
def test_error_classes(status: int, body: Any, kind: str) -> None:
    """The class follows from status and code, under whichever status and in whichever shape the error comes."""
    found = error_facts(CHAT, status, body)
    assert found is not None
    assert found["class"] == kind


def test_an_answer_is_no_error() -> None:
    """A body with choices has no error facts; one without any has failed."""
    assert error_facts(CHAT, 200, {"choices": [{"index": 0}], "error": None}) is None
    assert error_facts(CHAT, 200, {"choices": [], "error": None}) == {"status": None, "class": "InternalServerError"}


# Streams


def test_a_stream_has_the_facts_of_its_sum() -> None:
    """Text, thinking, refusal, usage and the finish reason add up over the frames."""
    text = ": comment\r\n\r\n" + _frames(
        {"delta": {"role": "assistant", "content": "Hel", "reasoning": "th", "reasoning_details": [{"text": "th"}]}},
        {"delta": {"content": [{"type": "text", "text": "lo"}], "reasoning_details": [{"signature": "s"}]}},
        {"delta": {"content": None, "refusal": "No."}, "finish_reason": "stop"},
        usage={"prompt_tokens": 1, "completion_tokens": 2},
    )
    found = stream_facts(CHAT, text)
    assert (found.end, found.error) == ("done", None)
    [choice] = found.facts["choices"]
    assert (choice["text"], choice["thinking"], choice["seals"]) == ("Hello", "th", ["s"])
    assert (choice["refusal"], choice["finish_reason"]) == ("No.", "refusal")
    assert found.facts["usage"]["output"] == 2


def test_a_stream_without_an_end_was_cut() -> None:
    """Neither finish reason nor `[DONE]`: cut; one of them: done."""
    assert stream_facts(CHAT, _frames({"delta": {"content": "x"}}, tail="")).end == "cut"
    assert stream_facts(CHAT, _frames({"delta": {"content": "x"}})).end == "done"
    assert stream_facts(CHAT, _frames({"delta": {}, "finish_reason": "stop"}, tail="")).end == "done"


def test_an_error_frame_ends_a_stream() -> None:
    """An error inside a 200 stream has its class, and what came before stays."""
    text = _frames({"delta": {"content": "x"}}, tail='event: error\ndata: {"error":{"status_code":400}}\n\n')
    found = stream_facts(CHAT, text)
    assert (found.end, found.error) == ("error", {"status": 400, "class": "BadRequestError"})
    assert found.facts["choices"][0]["text"] == "x"


def test_choices_are_kept_apart() -> None:
    """Deltas of two choices interleave and add up separately."""
    text = _frames(
        {"index": 1, "delta": {"content": "b"}}, {"delta": {"content": "a"}}, {"index": 1, "delta": {"content": "c"}}
    )
    assert [choice["text"] for choice in stream_facts(CHAT, text).facts["choices"]] == ["a", "bc"]


NOTHING: list[dict[str, Any]] = [{"name": "t", "arguments": {}}]
A = {"name": "a", "arguments": {"x": 1}}
B = {"name": "b", "arguments": {"y": 2}}


def _delta(
    index: object = 0, call_id: str | None = None, name: str | None = None, arguments: object = ""
) -> dict[str, Any]:
    return {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        pytest.param([_delta(0, "1", "a", '{"x":'), _delta(0, None, None, "1}")], [A], id="by index"),
        pytest.param([_delta("0", "1", "a", '{"x":'), _delta(0, None, "", "1}")], [A], id="index as text"),
        pytest.param([_delta(0, "1", "a", '{"x":1}'), _delta(0, "2", "b", '{"y":2}')], [A, B], id="all index 0"),
        pytest.param([_delta(None, "1", "a", '{"x":1}'), _delta(None, "2", "b", '{"y":2}')], [A, B], id="no index"),
        pytest.param([_delta(None, "", "a", '{"x":1}'), _delta(None, "", "b", '{"y":2}')], [A, B], id="no ids"),
        pytest.param([_delta(0, "", "a", '{"x":1}'), _delta(0, "", "b", '{"y":2}')], [A, B], id="index 0, no ids"),
        pytest.param([_delta(0, "1", "a", '{"x":'), _delta(0, "1", "a", "1}")], [A], id="id and name repeated"),
        pytest.param([_delta(0, "1", None, '{"x":'), _delta(0, None, "a", "1}")], [A], id="name late"),
        pytest.param([_delta(0, "1", "a", '{"x":1}'), _delta(0, None, None, '{"x":1}')], [A], id="arguments twice"),
        pytest.param([_delta(0, "1", "a", {"x": 1})], [A], id="arguments as object"),
        pytest.param([_delta(0, "1", "a"), _delta(3, None, None, '{"x":1}')], [A], id="unknown index goes on"),
        pytest.param([_delta(None, "1", "a", '{"x":'), _delta(None, "1", None, "1}")], [A], id="by id"),
        pytest.param([_delta(None, "1", "a", '{"x":'), _delta(-1, None, None, "1}")], [A], id="unusable index"),
        pytest.param(
            [
                _delta(0, "1", "a", '{"x":'),
                _delta(1, "2", "b", '{"y":'),
                _delta(0, arguments="1}"),
                _delta(1, arguments="2}"),
            ],
            [A, B],
            id="interleaved",
        ),
        pytest.param([_delta(0, "1", "t")], NOTHING, id="no arguments"),
    ],
)
def test_calls_are_assembled(deltas: list[dict[str, Any]], calls: list[Any]) -> None:
    """Deltas of calls find their call by the rules for servers of every kind."""
    assert _streamed(*deltas) == calls


# Differences


def test_differences_are_found_in_order() -> None:
    """The first differing path is named with both values; all of them can be had."""
    one = {"a": [1, {"b/c": 2}], "d": True, "e": 1}
    other = {"a": [1, {"b/c": 3}], "d": 1, "e": 1.0, "f": None}
    found = differences(one, other)
    assert [difference.path for difference in found] == ["/a/1/b~1c", "/d", "/f"]
    assert first_difference(one, other) == "/a/1/b~1c: 2 != 3"
    assert found[2] == "/f: (absent) != None"
    assert first_difference(one, one) is None
    assert first_difference([], {}) == "/: [] != {}"


def test_long_values_are_shown_briefly() -> None:
    """A difference stays one readable line."""
    assert len(first_difference("x" * 1000, "y") or "") < 150


def test_paths_of_a_value() -> None:
    """Every place of a value has its pointer."""
    assert paths({"a": [1]}) == {"", "/a", "/a/0"}
