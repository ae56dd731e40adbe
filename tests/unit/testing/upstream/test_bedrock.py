"""The strict Bedrock refuses what the service refuses, and botocore reads what it answers."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.testing.upstream import Call, Issued, Say, Upstream, judge, judge_body
from interlingua.testing.upstream.judge import law_of
from interlingua.wire.eventstream import EventStreamDecoder
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import decode_any, encode
from tests.support.cells import cells
from tests.support.converse import converse_problems
from tests.support.upstream_requests import PNG, changed, whole_request

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
DOCUMENT = {"document": {"name": "a", "format": "txt", "source": {"text": "x"}}}
MARK: dict[str, Any] = {"cachePoint": {"type": "default"}}
S3 = {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://bucket/key"}}}}
SIGNED = (
    "AWS4-HMAC-SHA256 Credential=AKID/20261128/us-east-1/bedrock/aws4_request, "
    f"SignedHeaders=content-type;host;x-amz-date, Signature={'a' * 64}"
)
ROWS: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({"foo": 1}, "unknown_member", "/foo"),
    ({"messages.0.content.0.text": 1}, "wrong_type", "/messages/0/content/0/text"),
    ({"messages.0.content.0.image": whole_request("bedrock")["messages"][0]["content"][1]["image"]}, "bad_union",
     "/messages/0/content/0"),
    ({"messages.0.content.0": {"film": {}}}, "unknown_member", "/messages/0/content/0/film"),
    ({"messages.0.content.1.image.source.bytes": "?"}, "bad_base64", "/messages/0/content/1/image/source/bytes"),
    ({"messages.0.content.1.image.source.bytes": ""}, "images", "/messages/0/content/1/image/source/bytes"),
    ({"messages.0.content.1.image.format": "bmp"}, "unknown_value", "/messages/0/content/1/image/format"),
    ({"messages.0.content.1": {"image": {"format": "png", "source": {"bytes": "A" * 5_000_004}}}}, "images",
     "/messages/0/content/1/image/source/bytes"),
    ({"messages.0.content": [{"image": {"format": "png", "source": {"bytes": PNG}}}] * 21}, "images", "/messages"),
    ({"messages.0.content": []}, "empty_message", "/messages/0/content"),
    ({"messages.0.content.0.text": " "}, "empty_text", "/messages/0/content/0/text"),
    ({"messages.1.content.1.toolUse.input": "{}"}, "not_an_object", "/messages/1/content/1/toolUse/input"),
    ({"messages.1.content.1.toolUse.name": "a.b"}, "bad_pattern", "/messages/1/content/1/toolUse/name"),
    ({"messages.1.content.2.toolUse.toolUseId": "tooluse_1"}, "repeated_call_id",
     "/messages/1/content/2/toolUse/toolUseId"),
    ({"messages.2.content.0.toolResult.content.0.json": [4]}, "not_an_object",
     "/messages/2/content/0/toolResult/content/0/json"),
    ({"messages.2.content.0": {"text": "x"}}, "bad_pairing", "/messages/2"),
    ({"messages.2.content.0.toolResult.toolUseId": "tooluse_9"}, "bad_pairing",
     "/messages/2/content/0/toolResult/toolUseId"),
    ({"messages.2.content.1.toolResult.toolUseId": "tooluse_1"}, "bad_pairing",
     "/messages/2/content/1/toolResult/toolUseId"),
    ({"messages.2": ...}, "bad_pairing", "/messages"),
    ({"messages.0.content.+": {"toolUse": {"toolUseId": "x", "name": "time", "input": {}}}}, "block_in_wrong_role",
     "/messages/0/content/2"),
    ({"messages.1.content.+": DOCUMENT}, "block_in_wrong_role", "/messages/1/content/3"),
    ({"messages.0.content": [DOCUMENT]}, "documents", "/messages/0"),
    ({"messages.0.content.+": {"document": {**DOCUMENT["document"], "name": "a.txt"}}}, "documents",
     "/messages/0/content/2/document/name"),
    ({"messages.0.content": [{"text": "x"}, DOCUMENT, DOCUMENT]}, "documents", "/messages/0/content/2/document/name"),
    ({"messages.0.content": [{"text": "x"}, MARK, MARK, MARK, MARK]}, "cache_marks", "/messages/0/content/4"),
    ({"messages.0.content": [{"text": "x"}, MARK, {"cachePoint": {"type": "default", "ttl": "1h"}}]}, "cache_marks",
     "/messages/0/content/2/cachePoint/ttl"),
    ({"toolConfig": ...}, "tools", "/toolConfig"),
    ({"toolConfig.toolChoice": {"tool": {"name": "no"}}}, "tools", "/toolConfig/toolChoice/tool/name"),
    ({"toolConfig.tools.1.toolSpec.name": "weather"}, "tools", "/toolConfig/tools/1/toolSpec/name"),
    ({"toolConfig.tools.1.toolSpec.description": ""}, "bad_length", "/toolConfig/tools/1/toolSpec/description"),
    ({"toolConfig.toolChoice": {"none": {}}}, "unknown_member", "/toolConfig/toolChoice/none"),
    ({"toolConfig.tools.1.toolSpec.inputSchema.json": {"type": "string"}}, "schema",
     "/toolConfig/tools/1/toolSpec/inputSchema/json/type"),
    ({"outputConfig.textFormat.structure.jsonSchema.schema": "{"}, "schema",
     "/outputConfig/textFormat/structure/jsonSchema/schema"),
    ({"outputConfig.textFormat.structure.jsonSchema.schema": {}}, "wrong_type",
     "/outputConfig/textFormat/structure/jsonSchema/schema"),
    ({"inferenceConfig.temperature": 1.5}, "out_of_range", "/inferenceConfig/temperature"),
    ({"guardrailConfig": {"guardrailIdentifier": "5zwrmdlsra2e"}}, "guardrail", "/guardrailConfig"),
    ({"guardrailConfig": {"guardrailIdentifier": "g", "guardrailVersion": "1", "streamProcessingMode": "sync"}},
     "guardrail", "/guardrailConfig/streamProcessingMode"),
    ({"requestMetadata": {"é": "x"}}, "metadata", "/requestMetadata"),
    ({"messages.0.content.+": S3}, "unsupported_by_model", "/messages/0/content/2/image/source"),
    ({"additionalModelRequestFields": {"thinking": {"type": "adaptive"}}}, "unsupported_by_model", "/thinking/type"),
    ({"messages.1.content.0.reasoningContent.reasoningText": {"text": "Two."}}, "changed_seal",
     "/messages/1/content/0/reasoningContent"),
)  # fmt: skip


@cells(("changes", "rule", "pointer"), ROWS, ids=[f"{row[1]}-{row[2]}" for row in ROWS])
def test_one_change_breaks_one_rule(changes: dict[str, Any], rule: str, pointer: str) -> None:
    """The rule is named with its place, and the refusal is a ValidationException."""
    body = whole_request("bedrock")
    for place, value in changes.items():
        changed(body, place, value)
    verdict = judge_body("bedrock", body, model=CLAUDE)
    assert (rule, pointer) in [(problem.rule, problem.pointer) for problem in verdict.problems]
    assert verdict.reply is not None
    assert (verdict.reply.status, list(decode_any(verdict.reply.body))) == (400, ["message"])
    assert ("x-amzn-errortype", "ValidationException") in verdict.reply.headers


def test_a_good_request_is_taken() -> None:
    """By both judges: the imitation and botocore's service model."""
    verdict = judge_body("bedrock", whole_request("bedrock"), model=CLAUDE)
    assert verdict.ok, str(verdict)
    pytest.importorskip("botocore")
    assert converse_problems("ConverseRequest", {"modelId": CLAUDE, **whole_request("bedrock")}) == []


def test_every_rule_has_a_row() -> None:
    """No rule stands unproven, but those of the credential and the path."""
    rules = {rule.name for rule in law_of("bedrock").rules}
    assert rules - {rule for _, rule, _ in ROWS} == {"bad_signature", "bad_model"}


@pytest.mark.parametrize(
    ("headers", "rules", "status"),
    [
        ({}, ("no_credential",), 403),
        ({"authorization": "Bearer key"}, (), 200),
        ({"authorization": SIGNED, "x-amz-date": "20261128T120000Z"}, (), 200),
        ({"authorization": SIGNED}, ("bad_signature",), 403),
        ({"authorization": SIGNED.replace("/bedrock/", "/s3/"), "x-amz-date": "x"}, ("bad_signature",), 403),
    ],
)
def test_a_key_or_a_signature_opens_the_door(headers: dict[str, str], rules: tuple[str, ...], status: int) -> None:
    """A bearer key, or a signature for the service with the date that it was made for."""
    url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.x/converse"
    every = (("content-type", "application/json"), *headers.items())
    body = encode({"messages": [{"role": "user", "content": [{"text": "Hi"}]}]})
    verdict = judge("bedrock", HttpRequest(url=url, headers=every, body=body))
    assert (verdict.rules, verdict.reply.status if verdict.reply else 200) == (rules, status)


def test_only_its_own_signatures_are_taken() -> None:
    """A thought goes back with the signature that it came with."""
    issued = Issued(seals={"c2ln": "Two lookups."})
    assert judge_body("bedrock", whole_request("bedrock"), model=CLAUDE, issued=issued).ok
    issued.seals["c2ln"] = "Another thought."
    assert judge_body("bedrock", whole_request("bedrock"), model=CLAUDE, issued=issued).rules == ("changed_seal",)


@pytest.mark.parametrize("model", ["some/model", "", "arn:aws:bedrock:us-east-1:1:inference-profile/us.x"])
def test_a_path_names_a_model(model: str) -> None:
    """Neither an id nor an ARN: a name that is refused."""
    body = {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
    path = f"/model/{model.replace('/', '%2F').replace(':', '%3A') or '%20'}/converse"
    assert judge_body("bedrock", body, path=path).rules == ("bad_model",)


def test_botocore_knows_what_is_answered() -> None:
    """Whole answers and the payload of every frame have the shapes of the service model."""
    pytest.importorskip("botocore")
    say = Say(thinking="Hm.", text="Looking.", calls=(Call("look", {"x": 1}),))
    upstream = Upstream("bedrock", say, say)
    headers = (("content-type", "application/json"), ("authorization", "Bearer key"))
    body = encode({
        "messages": [{"role": "user", "content": [{"text": "Hi"}]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}]},
    })  # fmt: skip
    url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.x/converse"
    whole = upstream.answer(HttpRequest(url=url, headers=headers, body=body))
    assert converse_problems("ConverseResponse", decode_any(b"".join(whole.pieces))) == []
    streamed = upstream.answer(HttpRequest(url=f"{url}-stream", headers=headers, body=body))
    for frame in EventStreamDecoder().feed(b"".join(streamed.pieces)):
        payload = decode_any(frame.payload)
        del payload["p"]
        assert converse_problems("ConverseStreamOutput", {frame.headers[":event-type"]: payload}) == []
