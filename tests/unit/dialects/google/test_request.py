"""Requests: the path, tools, choices, output, thinking, knobs, both ways, and each rule of the normal form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import Facts, Quirks, Target
from interlingua.dialects.google.normal import cases
from interlingua.errors import DecodeError, UnsupportedError, UsageError
from interlingua.providers.limits import facts_for
from interlingua.types.content import ImagePart, TextPart, ToolCall, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from interlingua.types.tool import AllowedTools, Freeform, NamedTool, OpaqueTool, Tool
from tests.support.cells import cells
from tests.support.google import DIALECT, STREAM_URL, URL, codes, decode, encode, sent, turn

BODY: dict[str, Any] = {"contents": [turn({"text": "q"})]}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
UPPER = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]}


def tools_of(*declarations: dict[str, Any]) -> Any:
    """The tools of a client's request."""
    return decode({**BODY, "tools": [{"functionDeclarations": list(declarations)}]}).request.tools


def again(body: dict[str, Any]) -> Any:
    """A client's request, sent again."""
    return json.loads(encode(decode({**BODY, **body}).request).body)


# The path


def test_model_and_stream_are_in_the_path() -> None:
    """Of the request that we send, as of the one that we read."""
    request = Request(messages=(user("q"),))
    assert encode(request).path == "/models/gemini-3-pro:generateContent"
    assert encode(request, stream=True).path == "/models/gemini-3-pro:streamGenerateContent?alt=sse"
    assert encode(request, target=Target(model="tunedModels/a b")).path == "/tunedModels/a%20b:generateContent"
    found = [decode(BODY, url=url) for url in (URL, STREAM_URL, f"{STREAM_URL}?key=x&alt=sse")]
    assert [(one.model, one.stream, one.json_array) for one in found] == [
        ("gemini-3-pro", False, False),
        ("gemini-3-pro", True, True),
        ("gemini-3-pro", True, False),
    ]


@pytest.mark.parametrize(
    ("url", "model"),
    [
        ("https://h/v1/projects/p/locations/l/publishers/google/models/gemini-2.0:generateContent", "gemini-2.0"),
        ("http://localhost/v1beta/models/openai%2Fgpt-5:generateContent", "openai/gpt-5"),
        ("http://localhost/v1beta/models/gemini%3AgenerateContent", "gemini"),
        ("http://localhost/v1beta/tunedModels/mine:generateContent", "tunedModels/mine"),
    ],
)
def test_a_model_is_read_from_any_path(url: str, model: str) -> None:
    """Vertex, an encoded slash, an encoded colon, a tuned model."""
    assert decode(BODY, url=url).model == model


def test_a_path_without_a_model_is_the_client_s_fault() -> None:
    """A 400 that says what is missing."""
    with pytest.raises(DecodeError, match="names no model") as caught:
        decode(BODY, url="https://h/v1beta/models")
    assert caught.value.status == 400


# Tools


def test_res_29_both_schema_members_are_read() -> None:
    """The OpenAPI form is sent as JSON Schema and goes back as it was; JSON Schema stays."""
    schema, openapi, plain = tools_of(
        {"name": "a", "parametersJsonSchema": CITY},
        {"name": "b", "parameters": UPPER},
        {"name": "c", "parameters": CITY},
    )
    assert schema.parameters == openapi.parameters == plain.parameters == CITY
    body = sent(user("q"), tools=(schema, openapi, plain))
    assert body["tools"] == [
        {
            "functionDeclarations": [
                {"name": "a", "parametersJsonSchema": CITY},
                {"name": "b", "parameters": UPPER},
                {"name": "c", "parameters": CITY},
            ]
        }
    ]


@pytest.mark.parametrize(
    ("openapi", "schema"),
    [
        ({"type": "STRING", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "STRING", "enum": ["a"], "nullable": True}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"anyOf": [{"type": "STRING"}], "nullable": True}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"type": "ARRAY", "items": {"type": "INTEGER"}}, {"type": "array", "items": {"type": "integer"}}),
        ({"properties": {"type": {"type": "STRING"}}}, {"properties": {"type": {"type": "string"}}}),
        ({"type": 6, "properties": {"a": {"type": 1}}}, {"type": "object", "properties": {"a": {"type": "string"}}}),
    ],
)
def test_schemas_of_the_openapi_form_there_and_back(openapi: dict[str, Any], schema: dict[str, Any]) -> None:
    """Nullable types, unions, lists, and properties that are named like members."""
    (tool,) = tools_of({"name": "f", "parameters": openapi})
    assert tool.parameters == schema
    assert sent(user("q"), tools=(tool,))["tools"][0]["functionDeclarations"][0]["parameters"] == openapi


def test_schemas_in_snake_case_and_with_counts_as_text() -> None:
    """As old clients write them."""
    (tool,) = tools_of({"name": "f", "parameters": {"type": "ARRAY", "min_items": "2", "any_of": [{"type": "STRING"}]}})
    assert tool.parameters == {"type": "array", "minItems": 2, "anyOf": [{"type": "string"}]}


def test_sch_15_a_tool_without_parameters_has_none() -> None:
    """Both ways."""
    (tool,) = tools_of({"name": "f"})
    assert tool == Tool(name="f")
    assert sent(user("q"), tools=(tool,))["tools"] == [{"functionDeclarations": [{"name": "f"}]}]


def test_srv_provider_run_tools_are_one_opaque_tool_each() -> None:
    """Beside functions in the same object; those of others are refused by name."""
    body: dict[str, Any] = {
        "tools": [{"functionDeclarations": [{"name": "f"}], "googleSearch": {}}, {"codeExecution": {}}]
    }
    request = decode({**BODY, **body}).request
    assert request.tools[1:] == (
        OpaqueTool("google", "googleSearch", {"googleSearch": {}}),
        OpaqueTool("google", "codeExecution", {"codeExecution": {}}),
    )
    assert again(body)["tools"] == [
        {"functionDeclarations": [{"name": "f"}]},
        {"googleSearch": {}},
        {"codeExecution": {}},
    ]
    with pytest.raises(UnsupportedError) as caught:
        encode(Request(messages=(user("q"),), tools=(OpaqueTool("anthropic", "web_search_1", {}),)))
    assert [(change.code, change.path) for change in caught.value.changes] == [("server_tools", "/tools/0")]


def test_id_16_names_are_mapped_and_undone() -> None:
    """A letter first, no blanks, at most 128; each own name is known to the decoder of the answer."""
    encoded = encode(Request(messages=(user("q"),), tools=(Tool(name="1 tool"), Tool(name="ok.name:x"))))
    names = [tool["name"] for tool in json.loads(encoded.body)["tools"][0]["functionDeclarations"]]
    assert names[1] == "ok.name:x"
    assert encoded.undo.names == {names[0]: "1 tool"}
    assert codes(encoded.changes) == ["name_mapped"]


def test_srv_01_a_freeform_tool_is_a_function_with_one_string() -> None:
    """And the decoder of the answer knows it."""
    tool = Tool(name="patch", freeform=Freeform())
    encoded = encode(Request(messages=(user("q"),), tools=(tool,)))
    declared = json.loads(encoded.body)["tools"][0]["functionDeclarations"][0]
    assert declared["parametersJsonSchema"]["required"] == ["input"]
    assert (codes(encoded.changes), encoded.undo.freeform) == (["freeform_as_function"], frozenset({"patch"}))


def test_a_tool_without_a_name_is_an_error() -> None:
    """With its place; and a single object stands for a list."""
    with pytest.raises(DecodeError) as caught:
        tools_of({"description": "d"})
    assert caught.value.path == "/tools/0/functionDeclarations/0/name"
    assert decode({**BODY, "tools": {"function_declarations": [{"name": "f"}]}}).request.tools == (Tool(name="f"),)


# Choices


@pytest.mark.parametrize(
    ("calling", "choice"),
    [
        ({"mode": "AUTO"}, "auto"),
        ({"mode": "NONE"}, "none"),
        ({"mode": "ANY"}, "required"),
        ({"mode": "ANY", "allowedFunctionNames": ["f"]}, NamedTool("f")),
        ({"mode": "ANY", "allowedFunctionNames": ["f", "g"]}, AllowedTools(("f", "g"), "required")),
        ({"mode": "VALIDATED", "allowedFunctionNames": ["f"]}, AllowedTools(("f",), "auto")),
        ({"mode": "VALIDATED"}, "auto"),
        ({"mode": "AUTO", "allowedFunctionNames": ["f"]}, AllowedTools(("f",), "auto")),
        ({"mode": "NONE", "allowedFunctionNames": ["f"]}, "none"),
        ({"mode": "MODE_UNSPECIFIED"}, None),
        ({"streamFunctionCallArguments": True}, None),
    ],
)
def test_cho_choices_there_and_back(calling: dict[str, Any], choice: Any) -> None:
    """Every mode, with and without names."""
    body = {
        "tools": [{"functionDeclarations": [{"name": "f"}, {"name": "g"}]}],
        "toolConfig": {"functionCallingConfig": calling},
    }
    assert decode({**BODY, **body}).request.tool_choice == choice
    assert again(body)["toolConfig"] == {"functionCallingConfig": calling}


def test_other_members_of_the_tool_configuration_survive() -> None:
    """Beside the choice."""
    config = {"includeServerSideToolInvocations": True, "functionCallingConfig": {"mode": "ANY"}}
    assert again({"tools": [{"googleSearch": {}}], "toolConfig": config})["toolConfig"] == config


def test_a_choice_of_a_tool_that_is_not_there_is_an_error() -> None:
    """Before anything is sent."""
    with pytest.raises(UsageError, match="'g'"):
        encode(Request(messages=(user("q"),), tools=(Tool(name="f"),), tool_choice=NamedTool("g")))


def test_strict_tools_are_validated() -> None:
    """All of them: the mode; some of them: an entry for each."""
    strict, loose = Tool(name="f", strict=True), Tool(name="g")
    assert sent(user("q"), tools=(strict,))["toolConfig"] == {"functionCallingConfig": {"mode": "VALIDATED"}}
    encoded = encode(Request(messages=(user("q"),), tools=(loose, strict)))
    assert [(change.code, change.path) for change in encoded.changes] == [("strict_unsupported", "/tools/1/strict")]


def test_the_validated_mode_is_read_as_strict_tools() -> None:
    """Every function is strict and the choice is free, in any case of the word; the same mode goes back."""
    declared: list[dict[str, Any]] = [{"functionDeclarations": [{"name": "f"}, {"name": "g"}]}, {"googleSearch": {}}]
    config = {"functionCallingConfig": {"mode": "validated"}}
    request = decode({**BODY, "tools": declared, "toolConfig": config}).request
    assert [tool.strict for tool in request.tools if isinstance(tool, Tool)] == [True, True]
    assert (request.tool_choice, request.extra) == ("auto", {})
    assert again({"tools": declared, "toolConfig": config})["toolConfig"] == {
        "functionCallingConfig": {"mode": "VALIDATED"}
    }
    named = {"functionCallingConfig": {"mode": "VALIDATED", "allowedFunctionNames": ["f"]}}
    subset = decode({**BODY, "tools": declared, "toolConfig": named}).request
    assert [tool.strict for tool in subset.tools if isinstance(tool, Tool)] == [None, None]
    alone = decode({**BODY, "tools": [{"googleSearch": {}}], "toolConfig": config}).request
    assert alone.extra == {"google": {"toolConfig": {"functionCallingConfig": {"mode": "validated"}}}}


# Output, thinking, knobs


def test_structured_output_there_and_back() -> None:
    """Either member, JSON mode, and another type."""
    schema = {"responseMimeType": "application/json", "responseJsonSchema": CITY}
    assert decode({**BODY, "generationConfig": schema}).request.output_schema == CITY
    assert again({"generationConfig": schema})["generationConfig"] == schema
    openapi = {"responseMimeType": "application/json", "responseSchema": UPPER}
    assert decode({**BODY, "generationConfig": openapi}).request.output_schema == CITY
    assert again({"generationConfig": openapi})["generationConfig"] == openapi
    assert decode({**BODY, "generationConfig": {"responseMimeType": "application/json"}}).request.json_mode
    other = {"responseMimeType": "text/x.enum", "responseSchema": {"type": "STRING", "enum": ["a"]}}
    assert again({"generationConfig": other})["generationConfig"] == other


def test_a_schema_where_none_goes_is_refused_or_let_go() -> None:
    """Together with tools on older models."""
    old = Target(model="gemini-2.5-pro", quirks=Quirks(output_schema_with_tools=False))
    request = Request(messages=(user("q"),), tools=(Tool(name="f"),), output_schema=CITY)
    with pytest.raises(UnsupportedError):
        encode(request, target=old)
    encoded = encode(request, target=old, allow=frozenset({"output_schema"}))
    assert codes(encoded.changes) == ["output_schema_loosened"]
    assert json.loads(encoded.body)["generationConfig"] == {"responseMimeType": "application/json"}


@pytest.mark.parametrize(
    ("thinking", "fields"),
    [
        ({"thinkingLevel": "LOW"}, {"effort": "low"}),
        ({"thinkingLevel": "low"}, {"effort": "low"}),
        ({"thinkingBudget": 6400}, {"thinking_budget": 6400}),
        ({"thinkingBudget": 0}, {"thinking": False}),
        ({"thinkingBudget": -1}, {"thinking": True}),
        ({"includeThoughts": True}, {"thinking_summary": "auto"}),
        ({"includeThoughts": False}, {"thinking_summary": "none"}),
    ],
)
def test_thinking_there_and_back(thinking: dict[str, Any], fields: dict[str, Any]) -> None:
    """Levels, budgets, switches, in camel case and in snake case."""
    request = decode({**BODY, "generationConfig": {"thinkingConfig": thinking}}).request
    assert {name: getattr(request, name) for name in fields} == fields
    config = again({"generationConfig": {"thinkingConfig": thinking}})["generationConfig"]["thinkingConfig"]
    assert config == {name: value.upper() if isinstance(value, str) else value for name, value in thinking.items()}


def test_an_unknown_level_survives() -> None:
    """As a member."""
    config = {"thinkingConfig": {"thinkingLevel": "ULTRA"}}
    assert again({"generationConfig": config})["generationConfig"] == config


@pytest.mark.parametrize(
    ("fields", "facts", "config", "told"),
    [
        ({"effort": "max"}, Facts(), {"thinkingLevel": "XHIGH"}, ["parameter_adjusted"]),
        ({"effort": "none"}, Facts(), {"thinkingBudget": 0}, []),
        ({"effort": "medium"}, Facts(efforts=frozenset()), {"thinkingBudget": 8192}, ["parameter_adjusted"]),
        ({"effort": "medium"}, Facts(efforts=frozenset({"max"})), {"thinkingBudget": 8192}, ["parameter_adjusted"]),
        (
            {"effort": "none"},
            Facts(efforts=frozenset({"max"}), thinking=frozenset({"adaptive"}), budgets=(128, 32_768)),
            {"thinkingBudget": 128},
            ["parameter_adjusted"],
        ),
        ({"effort": "low", "thinking_budget": 9}, Facts(), {"thinkingLevel": "LOW"}, ["parameter_unsupported"]),
        ({"thinking_summary": "detailed"}, Facts(), {"includeThoughts": True}, ["parameter_adjusted"]),
    ],
)
def test_thinking_that_the_wire_says_only_nearly(fields: Any, facts: Facts, config: Any, told: list[str]) -> None:
    """A level or a budget, never both."""
    encoded = encode(Request(messages=(user("q"),), **fields), target=Target(model="gemini-3-pro", facts=facts))
    assert json.loads(encoded.body)["generationConfig"]["thinkingConfig"] == config
    assert codes(encoded.changes) == told


NEAR, DROPPED = "parameter_adjusted", "parameter_unsupported"
GEMINI = {name: facts_for("google", "google", name) for name in (
    "gemini-2.0-flash", "gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-2.5-pro", "gemini-3-pro", "gemini-3-flash",
    "gemini-3.1-pro", "gemini-3.8-flash",
)}  # fmt: skip


@cells(
    ("model", "fields", "config", "told"),
    [
        ("gemini-2.5-flash", {"effort": "none"}, {"thinkingBudget": 0}, []),
        ("gemini-2.5-flash", {"effort": "max"}, {"thinkingBudget": 24_576}, [f"{NEAR} /effort"]),
        ("gemini-2.5-flash-lite", {"effort": "minimal"}, {"thinkingBudget": 512}, [f"{NEAR} /effort"]),
        ("gemini-2.5-flash-lite", {"thinking_budget": 9}, {"thinkingBudget": 512}, [f"{NEAR} /thinking_budget"]),
        ("gemini-2.5-flash", {"thinking_budget": -1}, {"thinkingBudget": -1}, []),
        ("gemini-2.5-pro", {"effort": "none"}, {"thinkingBudget": 128}, [f"{NEAR} /effort"]),
        ("gemini-2.5-pro", {"thinking": False}, {"thinkingBudget": 128}, [f"{NEAR} /thinking"]),
        ("gemini-2.5-pro", {"thinking_budget": 0}, {"thinkingBudget": 128}, [f"{NEAR} /thinking_budget"]),
        ("gemini-2.5-pro", {"thinking_budget": 99_999}, {"thinkingBudget": 32_768}, [f"{NEAR} /thinking_budget"]),
        ("gemini-2.5-pro", {"effort": "high", "thinking_budget": 200}, {"thinkingBudget": 200}, [f"{DROPPED} /effort"]),
        ("gemini-3-pro", {"effort": "high"}, {"thinkingLevel": "HIGH"}, []),
        ("gemini-3-pro", {"effort": "minimal"}, {"thinkingLevel": "LOW"}, [f"{NEAR} /effort"]),
        ("gemini-3-pro", {"effort": "low"}, {"thinkingLevel": "LOW"}, []),
        ("gemini-3-pro", {"effort": "medium"}, {"thinkingLevel": "HIGH"}, [f"{NEAR} /effort"]),
        ("gemini-3-pro", {"effort": "max"}, {"thinkingLevel": "HIGH"}, [f"{NEAR} /effort"]),
        ("gemini-3-pro", {"effort": "none"}, {"thinkingLevel": "LOW"}, [f"{NEAR} /effort"]),
        ("gemini-3-flash", {"effort": "minimal"}, {"thinkingLevel": "MINIMAL"}, []),
        ("gemini-3-flash", {"thinking": False}, {"thinkingLevel": "MINIMAL"}, [f"{NEAR} /thinking"]),
        ("gemini-3.1-pro", {"effort": "medium"}, {"thinkingLevel": "MEDIUM"}, []),
        ("gemini-3.1-pro", {"effort": "minimal"}, {"thinkingLevel": "LOW"}, [f"{NEAR} /effort"]),
        ("gemini-3.8-flash", {"effort": "minimal"}, {"thinkingLevel": "LOW"}, [f"{NEAR} /effort"]),
        ("gemini-3.1-pro", {"thinking": False}, {"thinkingLevel": "LOW"}, [f"{NEAR} /thinking"]),
        ("gemini-3-flash", {"thinking_budget": 700}, {"thinkingBudget": 700}, []),
        ("gemini-2.0-flash", {"effort": "high"}, None, [f"{DROPPED} /effort"]),
        ("gemini-2.0-flash", {"effort": "none", "thinking": False, "thinking_summary": "none"}, None, []),
        ("gemini-2.0-flash", {"thinking": True, "thinking_summary": "auto"}, None,
         [f"{DROPPED} /thinking", f"{DROPPED} /thinking_summary"]),
    ],
)  # fmt: skip
def test_each_family_thinks_in_its_own_form(model: str, fields: Any, config: Any, told: list[str]) -> None:
    """R07: levels, budgets within their bounds, the least where thinking cannot be switched off; all of it recorded."""
    encoded = encode(Request(messages=(user("q"),), **fields), target=Target(model=model, facts=GEMINI[model]))
    sent = json.loads(encoded.body).get("generationConfig", {})
    assert sent.get("thinkingConfig") == config
    assert [f"{change.code} {change.path}" for change in encoded.changes] == told


def test_older_families_take_tools_or_a_schema_and_newer_ones_no_force_beside_it() -> None:
    """What would be a 400 is refused here, or let go; a forced choice beside a schema is the model's own, and said."""
    asked: dict[str, Any] = {"messages": (user("q"),), "tools": (Tool(name="f"),), "output_schema": {"type": "object"}}
    old, new = [Target(model=name, facts=GEMINI[name]) for name in ("gemini-2.5-pro", "gemini-3-pro")]
    with pytest.raises(UnsupportedError, match="tools or a schema"):
        encode(Request(**asked), target=old)
    let_go = encode(Request(**asked), target=old, allow=frozenset({"output_schema"}))
    assert "generationConfig" not in json.loads(let_go.body)
    choices: list[Any] = [
        ("required", {"mode": "AUTO"}, ["tool_choice_approximated"]),
        (NamedTool("f"), {"mode": "AUTO"}, ["tool_choice_approximated"]),
        ("none", {"mode": "NONE"}, []),
        (None, None, []),
    ]
    for choice, calling, code in choices:
        encoded = encode(Request(**asked, tool_choice=choice), target=new)
        body = json.loads(encoded.body)
        assert body.get("toolConfig", {}).get("functionCallingConfig") == calling
        assert body["generationConfig"]["responseMimeType"] == "application/json"
        assert codes(encoded.changes) == code
    asked["tools"] = (Tool(name="f", strict=True),)
    strict = encode(Request(**asked), target=new)
    assert json.loads(strict.body)["toolConfig"] == {"functionCallingConfig": {"mode": "AUTO"}}
    assert codes(strict.changes) == ["strict_unsupported"]


def test_tools_of_both_kinds_go_by_the_family() -> None:
    """Gemini 2.5 takes one kind, which is refused or let go; Gemini 3 wants to be asked, on Vertex with less."""
    search = OpaqueTool("google", "googleSearch", {"googleSearch": {}})
    asked = Request(messages=(user("q"),), tools=(search, Tool(name="f")))
    old, new = [Target(model=name, facts=GEMINI[name]) for name in ("gemini-2.5-pro", "gemini-3-pro")]
    with pytest.raises(UnsupportedError, match="googleSearch"):
        encode(asked, target=old)
    let_go = json.loads(encode(asked, target=old, allow=frozenset({"server_tools"})).body)
    assert let_go["tools"] == [{"functionDeclarations": [{"name": "f"}]}]
    assert json.loads(encode(Request(messages=asked.messages, tools=(search,)), target=old).body)["tools"] == [
        {"googleSearch": {}}
    ]
    encoded = encode(asked, target=new)
    assert json.loads(encoded.body)["toolConfig"] == {
        "functionCallingConfig": {"mode": "VALIDATED"}, "includeServerSideToolInvocations": True,
    }  # fmt: skip
    assert codes(encoded.changes) == ["parameter_added"]
    vertex = Target(model="gemini-3-pro", facts=GEMINI["gemini-3-pro"], quirks=Quirks(server_tool_calls=False))
    assert "toolConfig" not in json.loads(encode(asked, target=vertex).body)
    assert "toolConfig" not in json.loads(encode(asked).body)


def test_json_mode_beside_tools_goes_by_the_family() -> None:
    """Gemini 2.5 refuses the member beside functions and is asked in words; Gemini 3 takes it, without force."""
    asked: dict[str, Any] = {"messages": (user("q"),), "tools": (Tool(name="f"),), "json_mode": True}
    old, new = [Target(model=name, facts=GEMINI[name]) for name in ("gemini-2.5-pro", "gemini-3-pro")]
    encoded = encode(Request(**asked, system=(TextPart("s"),)), target=old)
    body = json.loads(encoded.body)
    assert "generationConfig" not in body
    assert [part["text"] for part in body["systemInstruction"]["parts"]] == [
        "s", "Answer with one JSON object and nothing else.",
    ]  # fmt: skip
    assert codes(encoded.changes) == ["output_schema_prompted"]
    forced = encode(Request(**asked, tool_choice="required"), target=new)
    assert json.loads(forced.body)["generationConfig"] == {"responseMimeType": "application/json"}
    assert codes(forced.changes) == ["tool_choice_approximated"]


def test_system_text_alone_is_told_as_the_users() -> None:
    """Somebody must begin: the service refuses a request without contents."""
    encoded = encode(Request(system=(TextPart("Say hi."),)))
    assert json.loads(encoded.body) == {"contents": [{"parts": [{"text": "Say hi."}], "role": "user"}]}
    assert codes(encoded.changes) == ["system_moved"]


def test_penalties_and_media_of_results_go_by_the_family() -> None:
    """Gemini 2.5 takes no penalties, and media of a result beside it (RES-32)."""
    old = Target(model="gemini-2.5-flash", facts=GEMINI["gemini-2.5-flash"])
    encoded = encode(Request(messages=(user("q"),), presence_penalty=0.5, frequency_penalty=0.5, top_k=3), target=old)
    assert json.loads(encoded.body)["generationConfig"] == {"topK": 3}
    assert codes(encoded.changes) == ["parameter_unsupported", "parameter_unsupported"]
    picture = ImagePart(b"x", "image/png")
    turns = (
        user("q"),
        assistant(ToolCall("fc-1", "f", "{}")),
        Message("tool", (ToolResult("fc-1", "f", (TextPart("See"), picture)),)),
    )
    encoded = encode(Request(messages=turns), target=old)
    answer, beside = json.loads(encoded.body)["contents"][2]["parts"]
    assert answer["functionResponse"]["response"] == {"output": "See"}
    assert "parts" not in answer["functionResponse"]
    assert beside["inlineData"]["mimeType"] == "image/png"
    assert codes(encoded.changes) == ["result_media_moved"]


def test_knobs_there_and_back() -> None:
    """In `generationConfig`, what is not known beside them."""
    config = {
        "maxOutputTokens": 9,
        "temperature": 0.5,
        "topP": 0.9,
        "topK": 40,
        "candidateCount": 2,
        "stopSequences": ["x"],
        "seed": 1,
        "presencePenalty": 0.1,
        "frequencyPenalty": 0.2,
        "responseLogprobs": True,
        "logprobs": 3,
        "responseModalities": ["TEXT"],
        "mediaResolution": "MEDIA_RESOLUTION_LOW",
    }
    body = {"generationConfig": config, "labels": {"team": "a"}, "safetySettings": [{"category": "c"}], "newOne": 1}
    assert again(body) == {**BODY, **body}


def test_knobs_without_a_member_are_dropped_with_an_entry() -> None:
    """Each by its path; parallel calls cannot be switched off."""
    fields: dict[str, Any] = {
        "min_p": 0.1, "logit_bias": {"1": 1.0}, "verbosity": "low", "service_tier": "scale", "user": "u", "store": True,
        "cache_key": "k", "parallel_tool_calls": False, "cache": "5m",
    }  # fmt: skip
    encoded = encode(Request(messages=(user(TextPart("q", cache="5m")),), **fields))
    told = {change.path: change.code for change in encoded.changes}
    assert told.pop("/cache") == told.pop("/messages/0/parts/0/cache") == "cache_unsupported"
    assert set(told) == {f"/{name}" for name in fields if name != "cache"}
    assert set(told.values()) == {"parameter_unsupported"}
    assert encode(Request(messages=(user("q"),), parallel_tool_calls=True)).changes == ()


def test_sampling_is_dropped_where_the_model_takes_none() -> None:
    """With an entry that names the model."""
    target = Target(model="gemini-x", facts=Facts(sampling=False))
    encoded = encode(Request(messages=(user("q"),), temperature=1.0), target=target)
    assert [change.detail for change in encoded.changes] == ["gemini-x does not take temperature"]


def test_snake_case_is_read_everywhere_but_in_what_is_somebody_else_s() -> None:
    """Arguments, results and schemas keep their own names."""
    schema: dict[str, Any] = {"type": "object", "properties": {"top_p": {}}}
    body: dict[str, Any] = {
        "system_instruction": {"parts": [{"text": "S"}]},
        "contents": [
            turn({"text": "q"}),
            turn({"function_call": {"name": "f", "args": {"mime_type": 1}}, "thought_signature": "YQ=="}, role="model"),
            turn({"function_response": {"name": "f", "response": {"file_uri": 2}}}),
        ],
        "tools": [{"function_declarations": [{"name": "f", "parameters_json_schema": schema}]}],
        "generation_config": {"max_output_tokens": 5, "response_mime_type": "application/json"},
    }
    request = decode(body).request
    assert (request.max_tokens, request.json_mode) == (5, True)
    written = sent(*request.messages, tools=request.tools)
    assert written["contents"][1]["parts"] == [
        {"functionCall": {"name": "f", "args": {"mime_type": 1}}, "thoughtSignature": "YQ=="}
    ]
    assert written["contents"][2]["parts"][0]["functionResponse"]["response"] == {"file_uri": 2}
    assert written["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"] == schema


# The normal form


def normal(kind: str, body: Any) -> Any:
    """The normal form of a body."""
    return DIALECT.normal_form(kind, body)


REQUESTS: list[tuple[str, Any, Any]] = [
    ("absent_members", {"cachedContent": None}, {}),
    ("cases", {"safety_settings": []}, {"safetySettings": []}),
    ("path", {"model": "models/x"}, {}),
    ("instruction", {"systemInstruction": "S"}, {"systemInstruction": {"role": "user", "parts": {"text": "S"}}}),
    ("instruction", {"systemInstruction": {"parts": []}}, {}),
    ("contents", {"contents": {"parts": {"text": "a"}}}, {"contents": [turn({"text": "a"}, role="function")]}),
    (
        "contents",
        {"contents": [turn({"text": "a"}), turn({"text": "b"})]},
        {"contents": [turn({"text": "a"}, {"text": "b"})]},
    ),
    ("contents", {"contents": [turn({"text": ""})]}, {"contents": [turn()]}),
    (
        "contents",
        {"contents": [turn({"thoughtSignature": "YQ=="})]},
        {"contents": [turn({"text": "", "thoughtSignature": "YQ==", "thought": False})]},
    ),
    (
        "contents",
        {"contents": [turn({"functionCall": {"name": "f"}})]},
        {"contents": [turn({"functionCall": {"name": "f", "args": {}}})]},
    ),
    (
        "contents",
        {"contents": [turn({"functionResponse": {"name": "f", "response": {"a": 1}}})]},
        {"contents": [turn({"functionResponse": {"name": "f", "response": {"output": {"a": 1}}}})]},
    ),
    (
        "contents",
        {"contents": [turn({"inlineData": {"mimeType": "IMAGE/PNG", "data": "_-8"}})]},
        {"contents": [turn({"inlineData": {"mimeType": "image/png", "data": "/+8="}})]},
    ),
    (
        "declarations",
        {"tools": [{"functionDeclarations": [{"name": "f", "parameters": UPPER}], "googleSearch": {}}]},
        {"tools": [{"googleSearch": {}}, {"functionDeclarations": [{"name": "f", "parametersJsonSchema": CITY}]}]},
    ),
    ("tool_config", {"toolConfig": {"functionCallingConfig": {"mode": "auto"}}}, {}),
    (
        "output_schema",
        {"generationConfig": {"responseSchema": UPPER, "thinkingConfig": {"thinkingLevel": "low"}}},
        {
            "generationConfig": {
                "responseMimeType": "application/json",
                "responseJsonSchema": CITY,
                "thinkingConfig": {"thinkingLevel": "LOW"},
            }
        },
    ),
    ("defaults", {"tools": [], "generationConfig": {"stopSequences": [], "thinkingConfig": {}}}, {}),
]


@pytest.mark.parametrize(("rule", "one", "other"), REQUESTS)
def test_requests_of_one_meaning_have_one_normal_form(rule: str, one: Any, other: Any) -> None:
    """One case for each rule, named by it."""
    assert normal("request", one) == normal("request", other), rule


@pytest.mark.parametrize("name", ["responseSchema", "responseJsonSchema", "response_schema", "response_json_schema"])
def test_names_inside_of_a_schema_are_its_own(name: str) -> None:
    """Two schemas whose properties differ in their case are two; the members around them are the same in both cases."""
    snake, camel = ({"properties": {name: {"type": "STRING"}}} for name in ("a_b", "aB"))
    assert cases({"generation_config": {name: snake, "top_p": 1}})["generationConfig"] == {
        {"response_schema": "responseSchema", "response_json_schema": "responseJsonSchema"}.get(name, name): snake,
        "topP": 1,
    }
    assert normal("request", {"generationConfig": {name: snake}}) != normal(
        "request", {"generationConfig": {name: camel}}
    )


ANSWERS: list[tuple[str, Any, Any]] = [
    (
        "candidates",
        {"candidates": [{"index": 0, "content": {"role": "model"}}]},
        {"candidates": [{"content": {"parts": [{"text": ""}]}}]},
    ),
    (
        "usage",
        {"usageMetadata": {"promptTokenCount": 2, "thoughtsTokenCount": 0}},
        {"usageMetadata": {"promptTokenCount": 2, "totalTokenCount": 2}},
    ),
    ("usage", {"usageMetadata": {"promptTokenCount": 0}}, {}),
]


@pytest.mark.parametrize(("rule", "one", "other"), ANSWERS)
def test_answers_of_one_meaning_have_one_normal_form(rule: str, one: Any, other: Any) -> None:
    """One case for each rule, named by it."""
    assert normal("response", one) == normal("response", other), rule


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"contents": [turn({"text": "a"})]}, {"contents": [turn({"text": "a"}, role="model")]}),
        (
            {"contents": [turn({"functionCall": {"name": "f", "args": {"top_p": 1}}})]},
            {"contents": [turn({"functionCall": {"name": "f", "args": {"topP": 1}}})]},
        ),
        (
            {"contents": [turn({"functionResponse": {"name": "f", "response": {"error": "x"}}})]},
            {"contents": [turn({"functionResponse": {"name": "f", "response": {"output": "x"}}})]},
        ),
    ],
)
def test_bodies_of_two_meanings_have_two_normal_forms(one: Any, other: Any) -> None:
    """Roles, names of arguments, errors."""
    assert normal("request", one) != normal("request", other)
