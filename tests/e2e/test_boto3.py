"""boto3's own bedrock-runtime client against the gateway in front of the fake model, and our client's streams."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

import interlingua as il
from interlingua.dialects._contract import ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.stream.unfold import unfold
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport
from interlingua.wire.eventstream import AMAZON_STREAM
from tests.support.converse import botocore
from tests.support.gateway import serving

boto3: Any = pytest.importorskip("boto3")
TOOL = {
    "toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object", "properties": {"x": {"type": "integer"}}}}}
}
ASK = [{"role": "user", "content": [{"text": "Hi"}]}]


def _client(url: str) -> Any:
    config = botocore("config").Config(retries={"total_max_attempts": 1})
    return boto3.session.Session().client("bedrock-runtime", region_name="us-east-1", endpoint_url=url, config=config)


@pytest.fixture
def bedrock(monkeypatch: pytest.MonkeyPatch) -> Generator[Any]:
    """boto3's client of a gateway on loopback that wants no key; its requests are signed."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")  # a bearer key goes over https alone
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with serving() as url:
        client = _client(url)
        yield client
        client.close()


def test_boto3_converses_with_any_provider(bedrock: Any) -> None:
    """A whole answer, with its counts and its reason."""
    reply = bedrock.converse(modelId="fake/echo", messages=ASK, inferenceConfig={"maxTokens": 50})
    assert reply["output"]["message"]["role"] == "assistant"
    assert reply["output"]["message"]["content"][0]["text"]
    assert reply["stopReason"] == "end_turn"
    assert reply["usage"]["totalTokens"] == reply["usage"]["inputTokens"] + reply["usage"]["outputTokens"]


def test_boto3_reads_a_stream(bedrock: Any) -> None:
    """The pieces add up to the whole answer; the counts come last."""
    whole = bedrock.converse(modelId="fake/echo", messages=ASK)
    events = list(bedrock.converse_stream(modelId="fake/echo", messages=ASK)["stream"])
    text = "".join([event["contentBlockDelta"]["delta"]["text"] for event in events if "contentBlockDelta" in event])
    assert text == whole["output"]["message"]["content"][0]["text"]
    assert next(iter(events[0])) == "messageStart"
    assert [next(iter(event)) for event in events[-2:]] == ["messageStop", "metadata"]


def test_boto3_gets_calls(bedrock: Any) -> None:
    """A call's input is a value, not its text."""
    reply = bedrock.converse(modelId="fake/echo", messages=ASK, toolConfig={"tools": [TOOL], "toolChoice": {"any": {}}})
    [call] = [block["toolUse"] for block in reply["output"]["message"]["content"] if "toolUse" in block]
    assert (call["name"], type(call["input"])) == ("look", dict)
    assert reply["stopReason"] == "tool_use"


@pytest.mark.parametrize("model", ["no-such/model", "arn:aws:bedrock:us-east-1:1:inference-profile/us.x"])
def test_boto3_raises_its_own_class(bedrock: Any, model: str) -> None:
    """A model that nobody has is what boto3 calls it, also where an ARN stands in the path."""
    with pytest.raises(bedrock.exceptions.ResourceNotFoundException):
        bedrock.converse(modelId=model, messages=ASK)


def test_our_client_reads_a_stream_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """Binary frames to text, counts and finish."""
    dialect = get_dialect("bedrock")
    answer: Any = il.Response(parts=(il.TextPart("Hello"),), finish_reason="stop")
    encoder = dialect.stream_encoder(ServerContext())
    body = b"".join([encoder.encode(event) for event in unfold(answer)])
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "key")
    line = Line(pieces=(body[:20], body[20:]), headers=(("content-type", AMAZON_STREAM),), times=None)
    script = ReplayTransport(line)
    override = Override(lambda _: script, lambda _: AsyncReplayTransport(), answers=True)
    with overriding(override), il.model("bedrock/us.x").stream("Hi") as events:
        reply = events.finish()
    assert (reply.text, reply.finish_reason) == ("Hello", "stop")
