"""Embeddings of Bedrock by `InvokeModel`: our requests beside those of boto3's own client, and their signatures."""

from __future__ import annotations

import json
from typing import Any

import pytest

import interlingua as il
from tests.support.converse import botocore
from tests.support.server import Answer, Seen, reply, serving
from tests.support.signatures import check_signature

boto3: Any = pytest.importorskip("boto3")
KEY, SECRET, SESSION = "AKIDEXAMPLE", "secret-KEY-0123456789abcdef", "session-TOKEN-0123456789"
TITAN = "amazon.titan-embed-text-v2:0"
PROFILE = "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.cohere.embed-v4:0"


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """A temporary credential, and nothing of the machine."""
    for name in ("AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION)
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


def _service(seen: Seen) -> Answer:
    """The vectors of a body in the form of its vendor; Cohere's counts stand in a header."""
    body = json.loads(seen.body)
    if "inputText" in body:
        answer: Any = {"embedding": [float(len(body["inputText"])), 0.5], "inputTextTokenCount": 3}
    else:
        answer = {"embeddings": {"float": [[float(len(text)), 0.5] for text in body["texts"]]}, "id": "x"}
    headers = "content-type: application/json\r\nx-amzn-bedrock-input-token-count: 4\r\n"
    return Answer((reply(json.dumps(answer).encode(), headers=headers),))


@pytest.mark.parametrize(
    ("model", "texts", "body", "tokens"),
    [
        (TITAN, ["Oslo"], {"inputText": "Oslo", "dimensions": 2}, 3),
        (
            PROFILE,
            ["Oslo", "Bergen"],
            {
                "texts": ["Oslo", "Bergen"],
                "input_type": "search_query",
                "embedding_types": ["float"],
                "output_dimension": 2,
            },
            4,
        ),
    ],
)
def test_r67_requests_are_those_of_boto3(model: str, texts: list[str], body: dict[str, Any], tokens: int) -> None:
    """The line, the media type and the body that boto3 sends for the same question, with a signature as of botocore."""
    with serving(_service) as server:
        registry = il.Registry({"LLM_AWS": f"bedrock://127.0.0.1:{server.port}?tls=0&login=aws&region=eu-west-1"})
        options: dict[str, Any] = {} if model == TITAN else {"input_type": "query"}
        made = il.embed(texts, model=f"aws/{model}", dimensions=2, registry=registry, **options)
        config = botocore("config").Config(retries={"total_max_attempts": 1})
        client = boto3.session.Session().client(
            "bedrock-runtime", region_name="eu-west-1", endpoint_url=server.url(""), config=config
        )
        client.invoke_model(modelId=model, body=json.dumps(body), contentType="application/json")["body"].read()
        client.close()
        ours, theirs = server.seen
        for seen in (ours, theirs):
            check_signature(seen, server, KEY, secret=SECRET, token=SESSION, scope=("bedrock", "eu-west-1"))
    assert ours.line == theirs.line
    assert json.loads(ours.body) == body
    assert ours.header("content-type") == theirs.header("content-type")
    assert made.vectors == [[float(len(text)), 0.5] for text in texts]
    assert made.usage == il.Usage(input_tokens=tokens, output_tokens=0)


def test_r67_many_texts_of_titan_are_signed_one_by_one() -> None:
    """Titan takes one text at once: each request has a signature of its own body."""
    with serving(_service) as server:
        registry = il.Registry({"LLM_AWS": f"bedrock://127.0.0.1:{server.port}?tls=0&login=aws&region=eu-west-1"})
        made = il.embed(["a", "bb", "ccc"], model=f"aws/{TITAN}", registry=registry)
        assert made.vectors == [[1.0, 0.5], [2.0, 0.5], [3.0, 0.5]]
        assert sorted(json.loads(seen.body)["inputText"] for seen in server.seen) == ["a", "bb", "ccc"]
        for seen in server.seen:
            check_signature(seen, server, KEY, secret=SECRET, token=SESSION, scope=("bedrock", "eu-west-1"))
