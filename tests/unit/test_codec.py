"""Only the translation: definitions, calls and results on plain dicts, and bridges between every two dialects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, cast

import pytest

import interlingua as il
from interlingua import codec
from interlingua.dialects._contract import DecodeContext, DecodeOptions, EncodeOptions, ServerContext, Target
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.stream.unfold import unfold
from interlingua.wire.http import HttpReply, HttpRequest
from interlingua.wire.json import decode_any, encode

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Its name."}},
    "required": ["city"],
}
PLAIN: dict[str, Any] = {"name": "get_weather", "description": "Weather of a city.", "parameters": PARAMETERS}
FLAT = {"type": "function", **PLAIN}
DECLARED = {"name": "get_weather", "description": "Weather of a city.", "parametersJsonSchema": PARAMETERS}

TOOLS: dict[str, list[dict[str, Any]]] = {
    "openai-chat": [{"type": "function", "function": PLAIN}],
    "openai-responses": [{**FLAT, "strict": False}],
    "anthropic": [{"name": "get_weather", "description": "Weather of a city.", "input_schema": PARAMETERS}],
    "google": [{"functionDeclarations": [DECLARED]}],
    "ollama": [{"type": "function", "function": PLAIN}],
    "cohere": [{"type": "function", "function": PLAIN}],
    "unified": [PLAIN],
    "bedrock": [
        {
            "toolSpec": {
                "name": "get_weather",
                "description": "Weather of a city.",
                "inputSchema": {"json": PARAMETERS},
            }
        }
    ],
}
"""The one tool, as each dialect's `tools` member says it."""

ANSWERS: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"a":1}'}}
                    ],
                },
                "finish_reason": "stop",
            }
        ]
    },
    "openai-responses": {
        "output": [{"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"a":1}'}],
        "status": "completed",
    },
    "anthropic": {
        "content": [{"type": "tool_use", "id": "c1", "name": "get_weather", "input": {"a": 1}}],
        "stop_reason": "end_turn",
    },
    "google": {
        "candidates": [
            {
                "content": {"parts": [{"functionCall": {"id": "c1", "name": "get_weather", "args": {"a": 1}}}]},
                "finishReason": "STOP",
            }
        ]
    },
    "ollama": {
        "message": {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "function": {"name": "get_weather", "arguments": {"a": 1}}}],
        },
        "done": True,
        "done_reason": "stop",
    },
    "cohere": {
        "message": {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"a":1}'}}
            ],
        },
        "finish_reason": "COMPLETE",
    },
    "bedrock": {
        "output": {
            "message": {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": "c1", "name": "get_weather", "input": {"a": 1}}}],
            }
        },
        "stopReason": "end_turn",
    },
    "unified": {
        "model": "m",
        "parts": [{"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": {"a": 1}}],
        "finish_reason": "stop",
    },
}
"""An answer with one call, whose finish reason does not speak of calls."""

RESULTS = (il.ToolResult("c1", "get_weather", "4 °C"), il.ToolResult("c2", "get_weather", "no such city", True))

MESSAGES: dict[str, list[dict[str, Any]]] = {
    "openai-chat": [
        {"role": "tool", "content": "4 °C", "tool_call_id": "c1"},
        {"role": "tool", "content": "ERROR: no such city", "tool_call_id": "c2"},
    ],
    "openai-responses": [
        {"type": "function_call_output", "call_id": "c1", "output": "4 °C"},
        {"type": "function_call_output", "call_id": "c2", "output": "ERROR: no such city"},
    ],
    "anthropic": [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "4 °C"},
                {"type": "tool_result", "tool_use_id": "c2", "content": "no such city", "is_error": True},
            ],
        }
    ],
    "google": [
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "get_weather", "response": {"output": "4 °C"}}},
                {"functionResponse": {"id": "c2", "name": "get_weather", "response": {"error": "no such city"}}},
            ],
        }
    ],
    "ollama": [
        {"role": "tool", "content": "4 °C", "tool_name": "get_weather", "tool_call_id": "c1"},
        {"role": "tool", "content": "ERROR: no such city", "tool_name": "get_weather", "tool_call_id": "c2"},
    ],
    "cohere": [
        {"role": "tool", "content": "4 °C", "tool_call_id": "c1"},
        {"role": "tool", "content": "ERROR: no such city", "tool_call_id": "c2"},
    ],
    "bedrock": [
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "c1", "content": [{"text": "4 °C"}]}},
                {"toolResult": {"toolUseId": "c2", "content": [{"text": "no such city"}], "status": "error"}},
            ],
        }
    ],
    "unified": [
        {
            "role": "tool",
            "parts": [
                {"type": "tool_result", "tool_call_id": "c1", "content": "4 °C"},
                {"type": "tool_result", "tool_call_id": "c2", "content": "no such city", "is_error": True},
            ],
        }
    ],
}
"""The two results, as each dialect's messages say them."""

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)
every_pair = pytest.mark.parametrize(("source", "target"), list(product(DIALECTS, DIALECTS)))


# Definitions


def _silent(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in tool.items() if name != "strict"} for tool in tools]


@every_dialect
def test_a_definition_is_the_tools_member(dialect: str) -> None:
    """A tool of ours and a plain dict give exactly what each dialect writes."""
    assert codec.encode_definitions([il.Tool(**PLAIN)], dialect) == TOOLS[dialect]
    assert codec.encode_definitions([PLAIN], dialect) == TOOLS[dialect]


@every_pair
def test_a_definition_in_any_shape_is_understood(source: str, target: str) -> None:
    """What one dialect writes is a definition for every other; what Responses says of strictness goes along."""
    told = encode(codec.encode_definitions(TOOLS[source], target))
    assert told.count(b'"strict":false') == int("openai-responses" in (source, target) and b'"strict"' in told)
    assert decode_any(told.replace(b',"strict":false', b"")) == _silent(TOOLS[target])


def test_a_bare_declaration_and_a_bare_function_are_understood() -> None:
    """Google's declaration alone, and the flat shape of Responses with its own silence about strictness."""
    assert codec.encode_definitions([DECLARED], "anthropic") == TOOLS["anthropic"]
    assert codec.encode_definitions([FLAT], "openai-responses") == [FLAT]


@every_dialect
def test_r25_no_definitions_give_an_empty_list(dialect: str) -> None:
    """Nothing in, nothing out: the member is left out by whoever writes the body."""
    assert codec.encode_definitions([], dialect) == []


MALFORMED: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "definitions[1]/name: a tool must have a name"),
    ({"description": "x"}, "definitions[1]/name: a tool must have a name"),
    ({"type": "function", "function": {}}, "definitions[1]/function/name: a tool must have a name"),
    ({"input_schema": {}}, "definitions[1]/name: a tool must have a name"),
    ({"functionDeclarations": [{}]}, "definitions[1]/functionDeclarations/0/name: a tool must have a name"),
    ({"functionDeclarations": []}, "definitions[1]: no tool is defined"),
    ({"name": "a", "parameters": 5}, "definitions[1]/parameters: expected `object | null`, got `int`"),
]
"""Entries, and what is said of each."""


@every_dialect
@pytest.mark.parametrize(("entry", "sentence"), MALFORMED)
def test_r25_a_malformed_definition_is_named(dialect: str, entry: dict[str, Any], sentence: str) -> None:
    """The error names the entry and the place in it, in whatever shape it came."""
    with pytest.raises(il.DecodeError) as caught:
        codec.encode_definitions([PLAIN, entry], dialect)
    assert str(caught.value) == sentence
    assert caught.value.path.startswith("/1")


@every_dialect
def test_r25_a_schema_that_is_none_is_named(dialect: str) -> None:
    """Parameters must be JSON Schema, and a tool of ours must have a name."""
    with pytest.raises(il.SchemaError, match=r"^definitions\[0\] \(tool a\): no valid JSON Schema: at type: 7 "):
        codec.encode_definitions([{"name": "a", "parameters": {"type": 7}}], dialect)
    with pytest.raises(il.SchemaError, match=r"^definitions\[0\]: a tool must have a name$"):
        codec.encode_definitions([il.Tool(name="")], dialect)


def test_r25_what_is_no_definition_is_named() -> None:
    """Neither a tool nor a dict, and a dict that JSON cannot say."""
    with pytest.raises(il.SchemaError, match=r"^definitions\[0\]: the number at .*/parameters/default is not finite"):
        codec.encode_definitions([{"name": "a", "parameters": {"default": float("nan")}}], "anthropic")
    entry: Any = 7
    with pytest.raises(il.DecodeError, match=r"^definitions\[0\]: a definition is a tool or a dict, not int$"):
        codec.encode_definitions([entry], "anthropic")


def test_a_tool_that_the_provider_runs_goes_to_its_own_dialect_alone() -> None:
    """It stands beside functions as it is, and another dialect refuses it."""
    search = {"type": "web_search_20250305", "name": "web_search"}
    assert codec.encode_definitions([PLAIN, search], "anthropic") == [*TOOLS["anthropic"], search]
    with pytest.raises(il.UnsupportedError):
        codec.encode_definitions([il.OpaqueTool("anthropic", "web_search_20250305", search)], "google")


def test_openai_is_a_spelling_of_chat_here() -> None:
    """The codec alone takes the provider's bare name, and an unknown name is an error."""
    assert codec.encode_definitions([PLAIN], "openai") == TOOLS["openai-chat"]
    assert codec.encode_result(RESULTS[0], "openai") == MESSAGES["openai-chat"][:1]
    with pytest.raises(il.ConfigError):
        codec.bridge("openai", "esperanto")


# Calls


@every_dialect
def test_calls_are_kept_whatever_the_finish_reason(dialect: str) -> None:
    """A finish reason that does not speak of calls takes none away."""
    (call,) = codec.decode_tool_calls(ANSWERS[dialect], dialect)
    assert isinstance(call, il.ToolCall)
    assert (call.id, call.name, call.arguments) == ("c1", "get_weather", {"a": 1})


@every_dialect
def test_an_answer_without_calls_has_none(dialect: str) -> None:
    """Text alone gives an empty tuple."""
    text = il.Response(parts=(il.TextPart("Hello"),), finish_reason="stop")
    body = decode_any(get_dialect(dialect).encode_response(text, ServerContext()).body)
    assert codec.decode_tool_calls(body, dialect) == ()


NAMELESS: list[tuple[str, dict[str, Any]]] = [
    ("openai-chat", {"choices": [{"message": {"tool_calls": [{"id": "c", "function": {"arguments": "{}"}}]}}]}),
    ("openai-responses", {"output": [{"type": "function_call", "call_id": "c", "arguments": "{}"}]}),
    ("anthropic", {"content": [{"type": "tool_use", "id": "c", "input": {}}]}),
    ("google", {"candidates": [{"content": {"parts": [{"functionCall": {"args": {}}}]}}]}),
    ("ollama", {"message": {"tool_calls": [{"function": {"arguments": {}}}]}, "done": True}),
    (
        "cohere",
        {"message": {"tool_calls": [{"id": "c", "function": {"arguments": "{}"}}]}, "finish_reason": "COMPLETE"},
    ),
    (
        "unified",
        {
            "model": "m",
            "parts": [{"type": "tool_call", "id": "c", "name": "", "arguments": {}}],
            "finish_reason": "tool_calls",
        },
    ),
]
"""Answers with a call without a name."""


@pytest.mark.parametrize(("dialect", "body"), NAMELESS)
def test_r25_a_call_without_a_name_is_an_error(dialect: str, body: dict[str, Any]) -> None:
    """No call is ever named in its stead."""
    with pytest.raises(il.DecodeError, match=r"a (tool|function) call must have a name"):
        codec.decode_tool_calls(body, dialect)


def test_a_broken_call_is_kept_as_one() -> None:
    """Arguments that are no JSON object are a broken call with the raw text."""
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":'}}
    body = {"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    assert codec.decode_tool_calls(body, "openai-chat") == (il.BrokenToolCall("c1", "f", '{"a":', "malformed"),)


def test_made_ids_count_on_from_the_history() -> None:
    """A call without an id is numbered from `first_index`."""
    call: dict[str, Any] = {"function": {"name": "f", "arguments": {}}}
    body: dict[str, Any] = {"message": {"tool_calls": [call]}, "done": True}
    first = codec.decode_tool_calls(body, "ollama")
    later = codec.decode_tool_calls(body, "ollama", first_index=3)
    assert ([call.id for call in first], [call.id for call in later]) == (["call_0"], ["call_3"])


@pytest.mark.parametrize("dialect", ["anthropic", "google"])
def test_mapped_names_come_back(dialect: str) -> None:
    """A name that the dialect does not take is mapped, and the call has the caller's own again."""
    tool = {**PLAIN, "name": "get weather!"}
    (entry,) = codec.encode_definitions([tool], dialect)
    name = entry.get("name") or entry["functionDeclarations"][0]["name"]
    assert name != "get weather!"
    body = decode_any(encode(ANSWERS[dialect]).replace(b"get_weather", name.encode()))
    (call,) = codec.decode_tool_calls(body, dialect, definitions=[tool])
    assert call.name == "get weather!"


# Results


@every_dialect
def test_results_are_the_messages_of_the_dialect(dialect: str) -> None:
    """Anthropic, Google and our own format get one message, the others one entry for each result."""
    assert codec.encode_result(RESULTS, dialect) == MESSAGES[dialect]
    assert codec.encode_result(iter(RESULTS), dialect) == MESSAGES[dialect]


@every_dialect
def test_one_result_and_none(dialect: str) -> None:
    """A single result needs no list, and no result is no message."""
    assert len(codec.encode_result(RESULTS[1], dialect)) == 1
    assert codec.encode_result([], dialect) == []


@every_dialect
def test_two_results_of_one_call_are_refused(dialect: str) -> None:
    """Which of them counts is not for a codec to say."""
    with pytest.raises(il.HistoryError):
        codec.encode_result([RESULTS[0], RESULTS[0]], dialect)


def test_the_result_of_a_freeform_tool_has_its_own_form() -> None:
    """With the calls at hand, Responses gets a custom tool's output; a broken call is answered like any other."""
    calls = [il.ToolCall("c1", "get_weather", '{"input":"x"}', True), il.BrokenToolCall("c2", "f", "{", "malformed")]
    custom = {"type": "custom_tool_call_output", "call_id": "c1", "output": "4 °C"}
    assert codec.encode_result(RESULTS, "openai-responses", calls=calls) == [custom, MESSAGES["openai-responses"][1]]


# Bridges


def _client_body(source: str, request: il.Request, *, stream: bool = False) -> tuple[dict[str, Any], str]:
    """What a client of the dialect sends, and the path that it asks."""
    options = EncodeOptions(target=Target(model="mine"), stream=stream, stream_usage=True)
    encoded = get_dialect(source).encode_request(request, options)
    return decode_any(encoded.body), encoded.path


def _asked(target: str, body: dict[str, Any], path: str) -> il.Request:
    """What a service of the dialect reads."""
    http = HttpRequest(url=f"https://localhost{path}", body=encode(body))
    return get_dialect(target).decode_request(http, DecodeOptions()).request


def _answer(dialect: str, *parts: il.Part) -> il.Response[Any]:
    calls = any(isinstance(part, il.ToolCall) for part in parts)
    return il.Response(
        parts=parts,
        finish_reason="tool_calls" if calls else "stop",
        usage=il.Usage(input_tokens=5, output_tokens=7),
        model="theirs",
        wire_model="theirs",
        id=f"{dialect}-1",
    )


def _calls(message: il.Message) -> list[tuple[str, str, dict[str, Any]]]:
    return [(call.id, call.name, call.arguments) for call in message.tool_calls]


def _results(request: il.Request) -> list[tuple[str, object, bool]]:
    return [(one.call_id, one.content, one.is_error) for message in request.messages for one in message.tool_results]


@every_pair
def test_a_tool_loop_over_a_bridge(source: str, target: str) -> None:
    """Question, call, result, answer: names and ids are the client's again, whatever the service was shown."""
    bridge = codec.bridge(source, target, model="theirs")
    tool = il.Tool(name="get_weather", description="Weather.", parameters=PARAMETERS)
    first = il.Request(messages=(il.user("Oslo?"),), tools=(tool,), max_tokens=100)
    body, path = _client_body(source, first)
    seen = _asked(target, bridge.request(body, path=path), bridge.path)
    assert [(one.role, one.text) for one in seen.messages] == [("user", "Oslo?")]
    assert [(one.name, one.parameters) for one in seen.tools if isinstance(one, il.Tool)] == [
        ("get_weather", PARAMETERS)
    ]
    call = il.ToolCall("toolu_01", "get_weather", '{"city":"Oslo"}')
    reply = _replied(bridge, source, target, _answer(target, call))
    assert [(one.name, one.arguments) for one in reply.tool_calls] == [("get_weather", {"city": "Oslo"})]
    result = il.ToolResult(reply.tool_calls[0].id, "get_weather", "4 °C")
    second = il.Request(
        messages=(*first.messages, reply.message, il.Message("tool", (result,))), tools=(tool,), max_tokens=100
    )
    body, path = _client_body(source, second)
    seen = _asked(target, bridge.request(body, path=path), bridge.path)
    (again,) = [call for message in seen.messages for call in _calls(message)]
    assert again[1:] == ("get_weather", {"city": "Oslo"})
    assert _results(seen) == [(again[0], "4 °C", False)]
    assert _replied(bridge, source, target, _answer(target, il.TextPart("Cold."))).text == "Cold."


def _replied(bridge: codec.Bridge, source: str, target: str, answer: il.Response[Any]) -> il.Response[Any]:
    """What the client reads of the service's answer."""
    body = decode_any(get_dialect(target).encode_response(answer, ServerContext()).body)
    told = encode(bridge.response(body))
    return get_dialect(source).decode_response(HttpReply(status=200, body=told), DecodeContext())


@every_pair
def test_a_stream_over_a_bridge(source: str, target: str) -> None:
    """The client's stream holds the text, the call and the token counts, however the service's bytes are cut."""
    bridge = codec.bridge(source, target, model="theirs")
    body, path = _client_body(source, il.Request(messages=(il.user("Oslo?"),), max_tokens=100), stream=True)
    bridge.request(body, path=path)
    call = il.ToolCall("toolu_01", "get_weather", '{"city":"Oslo"}')
    encoder = get_dialect(target).stream_encoder(ServerContext())
    data = b"".join(encoder.encode(event) for event in unfold(_answer(target, il.TextPart("Well."), call)))
    told = b"".join(bridge.stream(data[place : place + 7] for place in range(0, len(data), 7)))
    decoder = get_dialect(source).stream_decoder(DecodeContext())
    end = [*decoder.feed(told), *decoder.close()][-1]
    assert isinstance(end, il.StreamEnd)
    assert end.response.text == "Well."
    assert [(one.name, one.arguments) for one in end.response.tool_calls] == [("get_weather", {"city": "Oslo"})]
    assert end.response.usage is not None
    assert (end.response.usage.input_tokens, end.response.usage.output_tokens) == (5, 7)


def test_a_bridge_in_exact_words() -> None:
    """From Chat to Anthropic and back, a name and an id that Anthropic does not take among them."""
    bridge = codec.bridge("openai-chat", "anthropic", model="claude-opus-5")
    call = {"id": "call 1", "type": "function", "function": {"name": "get weather", "arguments": '{"city":"Oslo"}'}}
    body = bridge.request(
        {
            "model": "gpt-5.6",
            "max_tokens": 50,
            "messages": [
                {"role": "user", "content": "Oslo?"},
                {"role": "assistant", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "call 1", "content": "4 °C"},
            ],
            "tools": [{"type": "function", "function": {"name": "get weather", "parameters": PARAMETERS}}],
        }
    )
    name, call_id = body["tools"][0]["name"], body["messages"][1]["content"][0]["id"]
    assert name.startswith("get_weather_")
    assert call_id.startswith("call_1_")
    assert bridge.path == "/messages"
    assert body == {
        "model": "claude-opus-5",
        "max_tokens": 50,
        "tools": [{"name": name, "input_schema": PARAMETERS}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Oslo?"}]},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": call_id, "name": name, "input": {"city": "Oslo"}}],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": "4 °C"}]},
        ],
    }
    told = bridge.response(
        {
            "id": "msg_1",
            "model": "claude-opus-5",
            "role": "assistant",
            "type": "message",
            "content": [{"type": "tool_use", "id": "toolu_2", "name": name, "input": {"city": "Bergen"}}],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 5, "output_tokens": 7},
        }
    )
    (choice,) = told["choices"]
    assert (told["model"], told["id"], choice["finish_reason"]) == ("gpt-5.6", "msg_1", "tool_calls")
    assert choice["message"]["tool_calls"] == [
        {"id": "toolu_2", "type": "function", "function": {"name": "get weather", "arguments": '{"city":"Bergen"}'}}
    ]
    assert {(change.code, change.stage) for change in bridge.changes} == {
        ("name_mapped", "encode_request"),
        ("id_mapped", "encode_request"),
    }


def test_changes_are_those_of_the_exchange_at_hand() -> None:
    """The next request begins anew."""
    bridge = codec.bridge("openai-chat", "anthropic", model="claude-opus-5")
    body: dict[str, Any] = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}]}
    bridge.request({**body, "seed": 7})
    assert [change.code for change in bridge.changes] == ["parameter_unsupported"]
    bridge.request(body)
    assert bridge.changes == ()


def test_what_the_service_cannot_take_is_refused_or_let_go() -> None:
    """A refusal names what it is; `allow` lets it go with an entry."""
    audio = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    text = {"type": "text", "text": "Hi"}
    body = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": [text, audio]}]}
    with pytest.raises(il.UnsupportedError):
        codec.bridge("openai-chat", "anthropic").request(body)
    bridge = codec.bridge("openai-chat", "anthropic", allow=["audio"])
    assert bridge.request(body)["messages"] == [{"role": "user", "content": [text]}]
    assert [(change.code, change.action) for change in bridge.changes] == [("audio", "dropped")]


def test_a_history_that_does_not_pair_is_refused_or_repaired() -> None:
    """As everywhere, `history` decides."""
    orphan = {"role": "tool", "tool_call_id": "c", "content": "4 °C"}
    body = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}, orphan]}
    with pytest.raises(il.HistoryError):
        codec.bridge("openai-chat", "anthropic").request(body)
    bridge = codec.bridge("openai-chat", "anthropic", history="mend")
    bridge.request(body)
    assert "result_orphan" in {change.code for change in bridge.changes}


def test_a_google_client_is_understood_without_its_path() -> None:
    """The model is the bridge's; with the path it is the client's, and so is the wish for a stream."""
    body = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
    told = codec.bridge("google", "openai-chat", model="gpt-5.6").request(body)
    assert (told["model"], told.get("stream")) == ("gpt-5.6", None)
    told = codec.bridge("google", "openai-chat").request(body, path="/models/g:streamGenerateContent?alt=sse")
    assert (told["model"], told["stream"]) == ("g", True)


def test_an_answer_without_an_id_gets_one() -> None:
    """`make_id` names what the service did not."""
    bridge = codec.bridge("openai-chat", "ollama", make_id=lambda: "answer-1")
    bridge.request({"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
    message = {"role": "assistant", "content": "Hi"}
    answer = bridge.response({"model": "m", "message": message, "done": True, "done_reason": "stop"})
    assert answer["id"] == "answer-1"


CHAT_STREAM = (
    b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n',
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    b"data: [DONE]\n\n",
)


def _anthropic_stream(chunks: Iterable[bytes]) -> bytes:
    bridge = codec.bridge("anthropic", "openai-chat")
    bridge.request({"model": "m", "max_tokens": 5, "stream": True, "messages": [{"role": "user", "content": "Hi"}]})
    return b"".join(bridge.stream(chunks))


def test_text_goes_on_as_it_comes() -> None:
    """Bytes for the client are there before the service's next bytes are asked for."""
    bridge = codec.bridge("anthropic", "openai-chat")
    bridge.request({"model": "m", "max_tokens": 5, "stream": True, "messages": [{"role": "user", "content": "Hi"}]})
    taken: list[int] = []

    def chunks() -> Iterator[bytes]:
        for place, chunk in enumerate(CHAT_STREAM):
            taken.append(place)
            yield chunk

    pieces = bridge.stream(chunks())
    while b'"Hi"' not in next(pieces):
        assert taken == [0]
    assert taken == [0]
    assert b"message_stop" in b"".join(pieces)


def test_a_stream_that_breaks_off_ends_with_an_error() -> None:
    """The client is told in its own dialect; there is no clean end."""
    told = _anthropic_stream(CHAT_STREAM[:1])
    assert b"event: error" in told
    assert b"message_stop" not in told


def test_a_stream_belongs_to_the_request_before_it() -> None:
    """What is asked later changes nothing of a stream that is read later still."""
    bridge = codec.bridge("anthropic", "openai-chat")
    body = {"model": "first", "max_tokens": 5, "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    bridge.request(body)
    pieces = bridge.stream(CHAT_STREAM)
    bridge.request({**body, "model": "second"})
    assert b'"model":"first"' in b"".join(pieces)


def test_token_counts_of_a_stream_are_given_only_to_who_asks() -> None:
    """A Chat client that does not ask for them gets the stream that it expects."""
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    encoder = get_dialect("anthropic").stream_encoder(ServerContext())
    data = b"".join(encoder.encode(event) for event in unfold(_answer("anthropic", il.TextPart("Hi"))))
    bridge = codec.bridge("openai-chat", "anthropic")
    bridge.request(body)
    assert b'"prompt_tokens"' not in b"".join(bridge.stream([data]))
    bridge.request({**body, "stream_options": {"include_usage": True}})
    assert b'"prompt_tokens":5' in b"".join(bridge.stream([data]))


@pytest.mark.parametrize("given", [None, 5, "abc", {"name": "f"}], ids=repr)
def test_definitions_that_are_no_list(given: Any) -> None:
    """One alone is what people write most."""
    with pytest.raises(il.UsageError, match=r"definitions are a list, not (None|an int|a str|a dict); one alone is \["):
        codec.encode_definitions(given, "anthropic")


def test_r33_two_definitions_of_one_name_are_refused() -> None:
    """A call could be of either."""
    entry = {"name": "f", "parameters": {"type": "object"}}
    with pytest.raises(il.SchemaError, match="two tools are called f; give one of them another name"):
        codec.encode_definitions([entry, entry], "openai-chat")


@pytest.mark.parametrize("given", [5, [5], {"call_id": "c"}], ids=repr)
def test_results_that_are_none(given: Any) -> None:
    """Named by their place and kind."""
    with pytest.raises(il.UsageError, match=r"results\[0\] is (an int|a dict), not an il\.ToolResult\("):
        codec.encode_result(given, "ollama")


@pytest.mark.parametrize("chunks", [["data: {}\n\n"], b"data: {}\n\n"], ids=["text", "one piece"])
def test_streams_that_are_no_pieces_of_bytes(chunks: Any) -> None:
    """Text, and bytes that do not stand in a list."""
    with pytest.raises(il.UsageError, match="a stream comes in pieces of bytes, and this one is a"):
        list(codec.bridge("openai-chat", "anthropic").stream(chunks))


@pytest.mark.parametrize("option", [{"allow": ["imges"]}, {"history": "forgive"}, {"call_ids": "mine"}], ids=repr)
def test_words_that_a_bridge_does_not_know(option: dict[str, Any]) -> None:
    """With those that it knows; one kind alone may stand without a list."""
    with pytest.raises(il.UsageError, match=r"(allow|history|call_ids) takes .*, not '(imges|forgive|mine)'"):
        codec.bridge("openai-chat", "anthropic", **option)
    bridge = codec.bridge("openai-chat", "openai-responses", allow=cast("Any", "audio"))
    sound = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    bridge.request({"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}, sound]}]})
    assert [change.code for change in bridge.changes] == ["audio"]


@pytest.mark.parametrize("target", ["anthropic", "bedrock", "openai-responses"])
def test_a_conversation_of_which_nothing_is_left_is_refused(target: str) -> None:
    """The service would refuse a body without messages in words of its own."""
    silent = {"role": "assistant" if target == "openai-responses" else "user", "content": ""}
    bridge = codec.bridge("openai-chat", target, model="m")
    with pytest.raises(il.UnsupportedError) as caught:
        bridge.request({"model": "m", "messages": [silent]})
    assert ("messages_empty", "/messages") in [(change.code, change.path) for change in caught.value.changes]


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
def test_a_root_that_is_no_object_is_put_into_one_for_openai(target: str) -> None:
    """Strict or not; the answer comes back without it."""
    bridge = codec.bridge("google", target, model="gpt-5.6")
    schema = {"type": "ARRAY", "items": {"type": "STRING"}}
    config = {"responseMimeType": "application/json", "responseSchema": schema}
    sent = bridge.request(
        {"contents": [{"parts": [{"text": "x"}]}], "generationConfig": config}, path="/v1beta/models/x:generateContent"
    )
    told = sent["response_format"]["json_schema"] if target == "openai-chat" else sent["text"]["format"]
    items = {"type": "array", "items": {"type": "string"}}
    assert told["schema"] == {"type": "object", "properties": {"value": items}, "required": ["value"]}
    assert [(change.code, change.path) for change in bridge.changes] == [("schema_rewritten", "/output_schema")]
    if target == "openai-chat":
        message = {"role": "assistant", "content": '{"value":["a"]}'}
        answer = bridge.response({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
        assert answer["candidates"][0]["content"]["parts"] == [{"text": '["a"]'}]
