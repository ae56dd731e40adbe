"""The strict upstream refuses what the real services refuse: one row for each rule, one change to a good request."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.testing.upstream import Issued, judge, judge_body
from interlingua.testing.upstream.judge import law_of
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any, encode
from tests.support.cells import cells
from tests.support.upstream_requests import LOOSE, PNG, changed, whole_request

DIALECTS = ("openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere")
ERRORS = {"cohere": "message"}
"""The member of a refusal that says what is wrong, where it is not `error`."""
MODELS = {"google": "gemini-3-pro"}

GIF = f"data:image/bmp;base64,{PNG}"
USER = {"role": "user", "content": "Go on."}
MARK = {"type": "ephemeral"}

Row = tuple[str, dict[str, Any], str, str]
ROWS: tuple[Row, ...] = (
    # Chat
    ("openai-chat", {"foo": 1}, "unknown_member", "/foo"),
    ("openai-chat", {"messages.0.reasoning": "x"}, "unknown_member", "/messages/0/reasoning"),
    ("openai-chat", {"messages.0.role": "boss"}, "unknown_value", "/messages/0/role"),
    ("openai-chat", {"messages": ...}, "missing_member", "/messages"),
    ("openai-chat", {"tools": []}, "bad_length", "/tools"),
    ("openai-chat", {"messages.2.tool_calls.0.id": "x" * 41, "messages.3.tool_call_id": "x" * 41}, "bad_length",
     "/messages/2/tool_calls/0/id"),
    ("openai-chat", {"messages.2.tool_calls.0.function.arguments": {}}, "wrong_type",
     "/messages/2/tool_calls/0/function/arguments"),
    ("openai-chat", {"tools.0.function.name": "a.b"}, "bad_pattern", "/tools/0/function/name"),
    ("openai-chat", {"temperature": 2.1}, "out_of_range", "/temperature"),
    ("openai-chat", {"messages.3.content": [{"type": "image_url", "image_url": {"url": "http://x/"}}]}, "unknown_value",
     "/messages/3/content/0/type"),
    ("openai-chat", {"messages.4": ...}, "unanswered_calls", "/messages/2"),
    ("openai-chat", {"messages.3": USER}, "unanswered_calls", "/messages/2"),
    ("openai-chat", {"messages.+": {"role": "tool", "tool_call_id": "call_9", "content": "x"}}, "orphan_result",
     "/messages/6/tool_call_id"),
    ("openai-chat", {"messages.4.tool_call_id": "call_1"}, "orphan_result", "/messages/4/tool_call_id"),
    ("openai-chat", {"messages.2.tool_calls.1.id": "call_1"}, "repeated_call_id", "/messages/2/tool_calls/1/id"),
    ("openai-chat", {"messages.+": {"role": "assistant", "content": None}}, "empty_message", "/messages/6/content"),
    ("openai-chat", {"tools": ...}, "choice_without_tools", "/tool_choice"),
    ("openai-chat", {"tool_choice": {"type": "function", "function": {"name": "no"}}}, "unknown_choice",
     "/tool_choice"),
    ("openai-chat", {"tools.0.function.parameters.required": []}, "schema", "/tools/0/function/parameters"),
    ("openai-chat", {"tools.1.function.parameters": {}}, "schema", "/tools/1/function/parameters"),
    ("openai-chat", {"tools.1.function.parameters": {"type": "object"}}, "schema", "/tools/1/function/parameters"),
    ("openai-chat", {"tools.1.function.parameters.anyOf": [{}]}, "schema", "/tools/1/function/parameters"),
    ("openai-chat", {"response_format.json_schema.schema.additionalProperties": True}, "schema",
     "/response_format/json_schema/schema"),
    ("openai-chat", {"response_format": {"type": "json_object"}}, "json_unsaid", "/messages"),
    ("openai-chat", {"max_tokens": 5}, "two_limits", "/max_tokens"),
    ("openai-chat", {"stream_options": {"include_usage": True}}, "dependent_member", "/stream_options"),
    ("openai-chat", {"messages.1.content.1.image_url.url": GIF}, "bad_image", "/messages/1/content/1/image_url/url"),
    ("openai-chat", {"messages.1.content.+": {"type": "file", "file": {"file_data": "raw"}}}, "bad_file",
     "/messages/1/content/2/file/file_data"),
    ("openai-chat", {"model": "gpt-6-astra", "temperature": 0.5}, "unsupported_by_model", "/temperature"),
    ("openai-chat", {"model": "gpt-5", "stop": "x"}, "unsupported_by_model", "/stop"),
    ("openai-chat", {"model": "gpt-5.6-sol"}, "unsupported_by_model", "/tools"),
    ("openai-chat", {"model": "o3", "max_tokens": 5, "max_completion_tokens": None}, "unsupported_by_model",
     "/max_tokens"),
    # Responses
    ("openai-responses", {"input.4.output.0.type": "text"}, "unknown_value", "/input/4/output/0/type"),
    ("openai-responses", {"tools.0.function": {}}, "unknown_member", "/tools/0/function"),
    ("openai-responses", {"input": ...}, "nothing_asked", "/input"),
    ("openai-responses", {"input.5": ...}, "unanswered_calls", "/input/3"),
    ("openai-responses", {"input.4.call_id": "fc_1"}, "orphan_result", "/input/4"),
    ("openai-responses", {"input.5.call_id": "call_1"}, "repeated_id", "/input/5/call_id"),
    ("openai-responses", {"input.4.call_id": None}, "missing_call_id", "/input/4/call_id"),
    ("openai-responses", {"input.2.id": "call_1"}, "bad_item_id", "/input/2/id"),
    ("openai-responses", {"input.1": ...}, "reasoning_taken_away", "/input/1"),
    ("openai-responses", {"input.+": {"type": "reasoning", "id": "rs_2", "summary": []}}, "reasoning_alone",
     "/input/6"),
    ("openai-responses", {"input.1.summary": ...}, "missing_member", "/input/1/summary"),
    ("openai-responses", {"input.+": {"type": "item_reference", "id": "rs_9"}}, "unknown_item", "/input/6/id"),
    ("openai-responses", {"input.1.encrypted_content": "forged"}, "changed_seal", "/input/1/encrypted_content"),
    ("openai-responses", {"previous_response_id": "resp_1", "conversation": "c"}, "two_states",
     "/previous_response_id"),
    ("openai-responses", {"tool_choice.tools.0.name": "no"}, "unknown_choice", "/tool_choice/tools/0"),
    ("openai-responses", {"tools": [], "tool_choice": "required"}, "choice_without_tools", "/tool_choice"),
    ("openai-responses", {"text.format.schema": LOOSE}, "schema", "/text/format/schema"),
    ("openai-responses", {"text.format": {"type": "json_object"}}, "json_unsaid", "/input"),
    ("openai-responses", {"stream_options": {}}, "dependent_member", "/stream_options"),
    ("openai-responses", {"input.0.content.1.image_url": GIF}, "bad_image", "/input/0/content/1"),
    ("openai-responses", {"input.0.content.+": {"type": "input_file", "file_data": "data:audio/mp3;base64,aGk="}},
     "bad_file", "/input/0/content/2/file_data"),
    ("openai-responses", {"temperature": 0.5}, "unsupported_by_model", "/temperature"),
    ("openai-responses", {"prompt_cache_retention": "24h"}, "unsupported_by_model", "/prompt_cache_retention"),
    ("openai-responses", {"model": "o3", "reasoning.effort": "minimal"}, "unsupported_by_model", "/reasoning/effort"),
    # Anthropic
    ("anthropic", {"max_tokens": ...}, "missing_member", "/max_tokens"),
    ("anthropic", {"context_management": {}}, "unknown_member", "/context_management"),
    ("anthropic", {"messages.1.content.0.cache_control": MARK}, "unknown_member",
     "/messages/1/content/0/cache_control"),
    ("anthropic", {"tool_choice": {"type": {"type": "auto"}}}, "unknown_value", "/tool_choice/type"),
    ("anthropic", {"messages.1.content.1.input": "{}"}, "wrong_type", "/messages/1/content/1/input"),
    ("anthropic", {"messages.1.content.1.id": "a:b", "messages.2.content.0.tool_use_id": "a:b"}, "bad_pattern",
     "/messages/1/content/1/id"),
    ("anthropic", {"temperature": 1.5, "thinking": {"type": "disabled"}, "model": "claude-opus-4-6"}, "out_of_range",
     "/temperature"),
    ("anthropic", {"messages.0.content.0.source.media_type": "image/bmp"}, "unknown_value",
     "/messages/0/content/0/source/media_type"),
    ("anthropic", {"messages.0.content.0.source.data": "data:x"}, "bad_base64", "/messages/0/content/0/source/data"),
    ("anthropic", {"messages.2.content.1": ...}, "unanswered_calls", "/messages/1"),
    ("anthropic", {"messages.2.content.1.tool_use_id": "toolu_1"}, "orphan_result", "/messages/2/content/1"),
    ("anthropic", {"messages.2.content.1.tool_use_id": "toolu_9"}, "orphan_result", "/messages/2/content/1"),
    ("anthropic", {"messages.0.content.+": {"type": "tool_result", "tool_use_id": "x"}}, "orphan_result",
     "/messages/0/content/2"),
    ("anthropic", {"messages.0.content.+": {"type": "tool_result", "tool_use_id": "x"}}, "results_first",
     "/messages/0/content/2"),
    ("anthropic", {"messages.1.content.2.id": "toolu_1"}, "repeated_call_id", "/messages/1/content/2/id"),
    ("anthropic", {"messages.0.content.+": {"type": "thinking", "thinking": "x", "signature": "y"}},
     "block_in_wrong_role", "/messages/0/content/2"),
    ("anthropic", {"messages.0.content.1.text": ""}, "empty_text", "/messages/0/content/1/text"),
    ("anthropic", {"messages.0.content": ""}, "empty_message", "/messages/0"),
    ("anthropic", {"messages.+": {"role": "assistant", "content": "Well, "}}, "trailing_space", "/messages/3/content"),
    ("anthropic", {"stop_sequences": ["END", "\n"]}, "blank_stop", "/stop_sequences/1"),
    ("anthropic", {"messages.2.content.1.content": ""}, "empty_error", "/messages/2/content/1/content"),
    ("anthropic", {"cache_control": MARK, "tools.0.cache_control": MARK, "tools.1.cache_control": MARK,
                   "messages.0.content.0.cache_control": MARK}, "cache_marks", ""),
    ("anthropic", {"messages.1.content.0": ...}, "thought_first", "/messages/1/content/0/type"),
    ("anthropic", {"messages.1.content.0.thinking": "Three."}, "changed_seal", "/messages/1/content/0"),
    ("anthropic", {"messages.1.content.0.signature": "forged"}, "changed_seal", "/messages/1/content/0"),
    ("anthropic", {"max_tokens": 1024}, "budget", "/max_tokens"),
    ("anthropic", {"thinking.budget_tokens": 1000}, "out_of_range", "/thinking/budget_tokens"),
    ("anthropic", {"tool_choice": {"type": "any"}}, "knob_with_thinking", "/tool_choice"),
    ("anthropic", {"tools.1.name": "weather"}, "tool_names", "/tools/1/name"),
    ("anthropic", {"tool_choice": {"type": "tool", "name": "no"}}, "unknown_choice", "/tool_choice/name"),
    ("anthropic", {"tools.1.input_schema.anyOf": []}, "schema", "/tools/1/input_schema/anyOf"),
    ("anthropic", {"tools.0.input_schema.properties.city.maxLength": 3}, "schema",
     "/tools/0/input_schema/properties/city"),
    ("anthropic", {"output_config.format.schema.additionalProperties": True}, "schema", "/output_config/format/schema"),
    ("anthropic", {"messages.0.content": [{"type": "image", "source": {"type": "url", "url": "https://x"}}] * 601},
     "too_many_images", "/messages"),
    ("anthropic", {"model": "claude-opus-5"}, "unsupported_by_model", "/thinking/type"),
    ("anthropic", {"model": "claude-fable-5-2", "thinking": ..., "tool_choice": {"type": "any"}},
     "unsupported_by_model", "/tool_choice/type"),
    ("anthropic", {"top_k": 5, "thinking": ...}, "unsupported_by_model", "/top_k"),
    ("anthropic", {"model": "claude-opus-4-1", "max_tokens": 48000}, "unsupported_by_model", "/max_tokens"),
    # Google
    ("google", {"generation_config": {"nope": 1}, "generationConfig": ...}, "unknown_member",
     "/generation_config/nope"),
    ("google", {"temperature": 1}, "unknown_member", "/temperature"),
    ("google", {"contents.2.parts.0.functionResponse.response": "4"}, "wrong_type",
     "/contents/2/parts/0/functionResponse/response"),
    ("google", {"tools.0.functionDeclarations.0.name": "9"}, "bad_pattern", "/tools/0/functionDeclarations/0/name"),
    ("google", {"tools.0.functionDeclarations.1.parameters.properties.tz.const": "x"}, "unknown_member",
     "/tools/0/functionDeclarations/1/parameters/properties/tz/const"),
    ("google", {"contents.0.role": "assistant"}, "bad_role", "/contents/0/role"),
    ("google", {"contents.0.parts": []}, "empty_content", "/contents/0/parts"),
    ("google", {"contents.0.parts.+": {}}, "empty_content", "/contents/0/parts/2"),
    ("google", {"contents.0": ...}, "call_turn", "/contents/0"),
    ("google", {"contents.2.parts.1": ...}, "results", "/contents/1"),
    ("google", {"contents.2.parts": [{"functionResponse": {"id": "a", "name": "weather", "response": {}}}],
                "contents.+": {"role": "user", "parts": [{"functionResponse": {"id": "b", "name": "time",
                                                                               "response": {}}}]}},
     "split_results", "/contents/3"),
    ("google", {"contents.2.parts.1.functionResponse.id": ...}, "result_name", "/contents/2/parts/1/functionResponse"),
    ("google", {"contents.2.parts.1.functionResponse.name": "no"}, "result_name",
     "/contents/2/parts/1/functionResponse"),
    ("google", {"contents.2.parts.1.functionResponse.name": ""}, "call_name",
     "/contents/2/parts/1/functionResponse/name"),
    ("google", {"contents.2.parts.1.functionResponse.response": {"$ref": "#/x"}}, "result_reference",
     "/contents/2/parts/1/functionResponse/response"),
    ("google", {"contents.1.parts.1.thoughtSignature": ...}, "missing_signature", "/contents/1/parts/1"),
    ("google", {"contents.1.parts.1.thoughtSignature": "Zm9yZ2Vk"}, "changed_seal",
     "/contents/1/parts/1/thoughtSignature"),
    ("google", {"generationConfig.thinkingConfig.thinkingBudget": 1}, "thinking", "/generationConfig/thinkingConfig"),
    ("google", {"tools.0.functionDeclarations.1.name": "weather"}, "declarations",
     "/tools/0/functionDeclarations/1/name"),
    ("google", {"tools.0.functionDeclarations.1.parametersJsonSchema": {}}, "declarations",
     "/tools/0/functionDeclarations/1"),
    ("google", {"tools.0.functionDeclarations.1.parameters.properties.tz": {"type": "INTEGER", "enum": ["1"]}},
     "schema", "/tools/0/functionDeclarations/1/parameters/properties/tz"),
    ("google", {"generationConfig.responseJsonSchema.properties.city": {"$ref": "#", "type": "object"}}, "schema",
     "/generationConfig/responseJsonSchema/properties/city"),
    ("google", {"toolConfig.functionCallingConfig.allowedFunctionNames": ["time"]}, "unknown_choice",
     "/toolConfig/functionCallingConfig/allowedFunctionNames"),
    ("google", {"generationConfig.responseMimeType": ...}, "structured", "/generationConfig/responseMimeType"),
    ("google", {"toolConfig.functionCallingConfig.mode": "ANY"}, "structured", "/toolConfig"),
    ("google", {"tools.+": {"googleSearch": {}}}, "hosted_with_functions", "/toolConfig"),
    ("google", {"contents.0.parts.0.inlineData.mimeType": "image/gif"}, "bad_media",
     "/contents/0/parts/0/inlineData/mimeType"),
    # Ollama
    ("ollama", {"model": ...}, "missing_member", "/model"),
    ("ollama", {"messages.1.images.0": f"data:image/png;base64,{PNG}"}, "bad_base64", "/messages/1/images/0"),
    ("ollama", {"messages.2.tool_calls.0.function.arguments": "{}"}, "wrong_type",
     "/messages/2/tool_calls/0/function/arguments"),
    ("ollama", {"messages.3.content": [{"type": "text", "text": "x"}]}, "wrong_type", "/messages/3/content"),
    ("ollama", {"tools.0.function.parameters.properties": []}, "wrong_type", "/tools/0/function/parameters/properties"),
    ("ollama", {"think": "very"}, "bad_think", "/think"),
    ("ollama", {"messages.0.role": "developer"}, "bad_role", "/messages/0/role"),
    ("ollama", {"tools.0.function.parameters": ...}, "missing_parameters", "/tools/0/function/parameters"),
    # Cohere
    ("cohere", {"messages.3.tool_call_id": "other"}, "bad_pairing", "/messages/3/tool_call_id"),
    ("cohere", {"messages.2.tool_calls.+": {"id": "time_a", "function": {"name": "time", "arguments": "{}"}}},
     "repeated_call_id", "/messages/2/tool_calls/1/id"),
    ("cohere", {"tools": ..., "tool_choice": "REQUIRED"}, "choice_without_tools", "/tool_choice"),
    ("cohere", {"response_format": {"type": "json_object"}}, "schema_beside_tools", "/response_format"),
    ("cohere", {"messages.1.content.1.image_url.url": GIF}, "bad_image", "/messages/1/content/1/image_url/url"),
    ("cohere", {"model": "command-a-03-2025", "thinking": {"type": "enabled"}}, "unsupported_by_model", "/thinking"),
)  # fmt: skip
"""Dialect, changes to a good request, the rule that refuses it, the place it names."""

ISSUED = {
    "openai-responses": Issued(seals={"seal": ""}, items={"rs_1", "fc_1", "fc_2"}, reasons={"fc_1": "rs_1"}),
    "anthropic": Issued(seals={"seal": "Two."}),
    "google": Issued(seals={"c2VhbA==": ""}),
}


def _judged(dialect: str, body: dict[str, Any]) -> Any:
    return judge_body(dialect, body, model=MODELS.get(dialect, "m"), issued=ISSUED.get(dialect))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_request_with_everything_is_taken(dialect: str) -> None:
    """The examples of the wire pages break no rule."""
    verdict = _judged(dialect, whole_request(dialect))
    assert verdict.ok, str(verdict)
    assert verdict.reply is None


@cells(("dialect", "changes", "rule", "pointer"), ROWS, ids=[f"{r[0]}-{r[2]}-{r[3]}" for r in ROWS])
def test_one_change_breaks_one_rule(dialect: str, changes: dict[str, Any], rule: str, pointer: str) -> None:
    """The rule is named with its place and its source, and the refusal has the service's status and form."""
    body = whole_request(dialect)
    for place, value in changes.items():
        changed(body, place, value)
    verdict = _judged(dialect, body)
    found = [(problem.rule, problem.pointer) for problem in verdict.problems]
    assert (rule, pointer) in found
    assert all(problem.source for problem in verdict.problems)
    assert verdict.reply is not None
    assert verdict.reply.status == 400
    assert ERRORS.get(dialect, "error") in decode_any(verdict.reply.body)


def test_every_rule_has_a_row() -> None:
    """No rule stands unproven, but the ones that need another address or another family."""
    elsewhere = {("google", "vertex_ids"), ("google", "unsupported_by_model")}
    rules = {(dialect, rule.name) for dialect in DIALECTS for rule in law_of(dialect).rules}
    assert rules - {(dialect, rule) for dialect, _, rule, _ in ROWS} == elsewhere


def test_ids_are_refused_at_vertex() -> None:
    """The same service at another host takes no call ids."""
    body = whole_request("google")
    url = "https://aiplatform.googleapis.com/v1/projects/p/models/gemini-3-pro:generateContent"
    headers = (("content-type", "application/json"), ("authorization", "Bearer x"))
    verdict = judge("google", HttpRequest(url=url, headers=headers, body=encode(body)))
    assert verdict.rules == ("vertex_ids",)


@pytest.mark.parametrize(
    ("config", "refused", "taken"),
    [
        ({"presencePenalty": 1}, {"gemini-2.5-pro": "unsupported_by_model"}, "gemini-3-pro"),
        ({"thinkingConfig": {"thinkingLevel": "LOW"}}, {"gemini-2.5-flash": "thinking"}, "gemini-3-pro"),
        ({"thinkingConfig": {"thinkingLevel": "MINIMAL"}}, {"gemini-3-pro": "thinking"}, "gemini-3-flash"),
        (
            {"thinkingConfig": {"thinkingBudget": 0}},
            {"gemini-2.5-pro": "thinking", "gemini-2.0-flash": "thinking"},
            "gemini-2.5-flash",
        ),
        ({"thinkingConfig": {"thinkingBudget": 100}}, {"gemini-2.5-flash-lite": "thinking"}, "gemini-2.5-flash"),
        ({"thinkingConfig": {"thinkingBudget": 99_999}}, {"gemini-2.5-flash": "thinking"}, "gemini-3-flash"),
    ],
)
def test_settings_are_refused_by_families_of_gemini(config: Any, refused: dict[str, str], taken: str) -> None:
    """At the developer's address, by the row of the model."""
    body = {"contents": [{"parts": [{"text": "x"}]}], "generationConfig": config}
    assert {model: judge_body("google", body, model=model).rules for model in refused} == {
        model: (rule,) for model, rule in refused.items()
    }
    assert judge_body("google", body, model=taken).ok


def test_media_in_a_result_is_refused_by_older_families() -> None:
    """Gemini 3 takes a picture inside of a function response, 2.5 does not."""
    body = whole_request("google")
    picture = [{"inlineData": {"mimeType": "image/png", "data": PNG}}]
    changed(body, "contents.2.parts.0.functionResponse.parts", picture)
    assert "unsupported_by_model" in judge_body("google", body, model="gemini-2.5-pro").rules
    assert judge_body("google", body, model="gemini-3-flash").ok


@pytest.mark.parametrize("place", ["input.2.async", "tools.0.async", "user", "input.0.mood"])
def test_a_null_member_is_an_absent_one(place: str) -> None:
    """Where a member may be absent it may be null; one that nobody knows or that is required may not."""
    body = whole_request("openai-responses")
    changed(body, place, None)
    assert ("unknown_member" in _judged("openai-responses", body).rules) is (place == "input.0.mood")
    changed(body, "input.4.call_id", None)
    assert "missing_call_id" in _judged("openai-responses", body).rules


@pytest.mark.parametrize(
    ("kind", "rules"), [("OBJECT", ()), ("object", ()), (6, ()), (1, ("schema",)), ("STRING", ("schema",))]
)
def test_the_root_of_a_schema_is_an_object_by_word_or_number(kind: object, rules: tuple[str, ...]) -> None:
    """Clients send the number of the type, and the service took it in recorded traffic."""
    parameters = {"type": kind, "properties": {"city": {"type": 1}}}
    tools = [{"functionDeclarations": [{"name": "weather", "description": "Weather.", "parameters": parameters}]}]
    body = {"contents": [{"role": "user", "parts": [{"text": "x"}]}], "tools": tools}
    assert judge_body("google", body, model="gemini-3-pro").rules == rules


GOOD = {"content-type": "application/json", "authorization": "Bearer x", "anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    ("dialect", "path", "headers", "body", "rules", "status"),
    [
        ("openai-chat", "/v1/chat/completion", GOOD, b"{", ("unknown_path", "invalid_json"), 404),
        ("openai-chat", "/v1/chat/completions", GOOD, b"[]", ("invalid_json",), 400),
        ("openai-responses", "/v1/responses", GOOD | {"authorization": "x"}, b"",
         ("no_credential", "invalid_json"), 401),
        ("anthropic", "/v1/messages", GOOD | {"anthropic-version": "1"}, b"", ("bad_header", "invalid_json"), 400),
        ("anthropic", "/v1/messages", GOOD, b" " * (32 * 1024 * 1024 + 1), ("too_large", "invalid_json"), 413),
        ("google", "/v1beta/models/m:generateContent", GOOD | {"authorization": ""}, b"x",
         ("no_credential", "invalid_json"), 403),
        ("google", "/v1beta/models/m:generate", GOOD, b"x", ("unknown_path", "invalid_json"), 404),
        ("ollama", "/api/chats", {}, b"x", ("unknown_path", "invalid_json"), 404),
    ],
)  # fmt: skip
def test_the_door(
    dialect: str, path: str, headers: dict[str, str], body: bytes, rules: tuple[str, ...], status: int
) -> None:
    """Path, credential, headers, size and JSON are looked at before the body, each with its own status."""
    verdict = judge(dialect, HttpRequest(url=f"http://x{path}", headers=tuple(headers.items()), body=body))
    assert verdict.rules == rules
    assert verdict.reply is not None
    assert verdict.reply.status == status


def test_par_02_a_beta_member_needs_its_header() -> None:
    """Header and field travel together, or both fall."""
    body: dict[str, Any] = whole_request("anthropic") | {"context_management": {}}
    assert judge_body("anthropic", body).rules == ("unknown_member",)
    headers = (("anthropic-version", "2023-06-01"), ("anthropic-beta", "context-management-2025-06-27"))
    assert judge_body("anthropic", body, headers=headers).ok
