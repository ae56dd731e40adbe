"""Members in snake case and numbers that JSON does not have."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects.google.spelling import bare_numbers, camel_members, read_answer, read_request
from interlingua.dialects.google.wire import RequestWire, ResponseWire
from interlingua.errors import DecodeError
from tests.support.cells import cells

MEMBERS = (
    "systemInstruction", "toolConfig", "generationConfig", "safetySettings", "cachedContent", "functionDeclarations",
    "parametersJsonSchema", "responseJsonSchema", "responseSchema", "responseMimeType", "functionCallingConfig",
    "allowedFunctionNames", "maxOutputTokens", "topP", "topK", "candidateCount", "stopSequences", "presencePenalty",
    "frequencyPenalty", "responseLogprobs", "thinkingConfig", "thinkingLevel", "thinkingBudget", "includeThoughts",
    "responseModalities", "functionCall", "functionResponse", "inlineData", "fileData", "mimeType", "fileUri",
    "displayName", "thoughtSignature", "mediaResolution", "videoMetadata", "executableCode", "codeExecutionResult",
    "toolCall", "toolResponse", "toolType", "googleSearch", "codeExecution", "urlContext", "fileSearch",
    "googleMaps", "googleSearchRetrieval", "includeServerSideToolInvocations", "speechConfig", "modelArmorConfig",
    "startOffset", "endOffset", "finishReason", "finishMessage", "usageMetadata", "modelVersion", "responseId",
    "promptFeedback", "blockReason", "createTime", "avgLogprobs", "logprobsResult", "safetyRatings",
    "citationMetadata", "groundingMetadata", "urlContextMetadata", "tokenCount", "promptTokenCount",
    "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount", "toolUsePromptTokenCount",
    "totalTokenCount", "promptTokensDetails", "candidatesTokensDetails", "cacheTokensDetails",
    "toolUsePromptTokensDetails", "serviceTier", "trafficType", "partialArgs", "willContinue", "jsonPath",
    "stringValue", "numberValue", "boolValue",
)  # fmt: skip


def snake(name: str) -> str:
    """A name as proto JSON may spell it, too."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


@cells("name", MEMBERS)
def test_each_member_is_known_in_snake_case(name: str) -> None:
    """One such member is enough for a request and an answer to be read so; it may stand anywhere."""
    assert camel_members([{snake(name): 1}]) == [{name: 1}]
    request = read_request(
        json.dumps({"contents": [], "theirs": {snake(name): 1}, "top_p": 1}).encode(), RequestWire, []
    )
    assert request.extra == {"theirs": {snake(name): 1}, "topP": 1}
    answer = read_answer(json.dumps({"candidates": [{"theirs": {}, snake(name): None}]}).encode(), ResponseWire, [])
    assert answer.candidates is not None
    assert snake(name) not in (answer.candidates[0].extra or {})


@pytest.mark.parametrize(
    "name", ["args", "response", "parameters", "parametersJsonSchema", "responseSchema", "responseJsonSchema", "labels"]
)
def test_what_is_somebody_elses_is_left_alone(name: str) -> None:
    """Arguments, results, schemas and labels keep their names."""
    assert camel_members({name: {"top_p": 1}}) == {name: {"top_p": 1}}
    assert camel_members({"generation_config": {name: {"top_p": 1}, "top_p": 1}}) == {
        "generationConfig": {name: {"top_p": 1}, "topP": 1}
    }


def test_members_of_unknown_members_are_left_alone() -> None:
    """Only what is entered is renamed."""
    assert camel_members({"new": {"top_p": 1}, "contents": {"top_p": 1}}) == {
        "new": {"top_p": 1},
        "contents": {"topP": 1},
    }


def arguments(body: str) -> str:
    """The text of the one call's arguments."""
    whole = f'{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"name":"f","args":{body}}}}}]}}}}]}}'
    answer = read_answer(whole.encode(), ResponseWire, [])
    content: Any = answer.candidates and answer.candidates[0].content
    return bare_numbers(bytes(content.parts[0].functionCall.args).decode())


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_have_are_kept_in_arguments(number: str) -> None:
    """The call is broken for its true reason; texts that say the same are left alone."""
    assert arguments(f'{{"x":{number},"y":"NaN \\"Infinity"}}') == f'{{"x":{number},"y":"NaN \\"Infinity"}}'


def test_what_is_broken_otherwise_stays_broken() -> None:
    """The first fault is told."""
    with pytest.raises(DecodeError):
        read_answer(b'{"candidates":[}', ResponseWire, [])
