"""boto3's own `bedrock-runtime` client at an `il serve` process in front of strict services of other vendors."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from base64 import b64decode
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from interlingua.testing.conformance.question import PNG
from interlingua.testing.upstream import Upstream
from interlingua.testing.upstream.refusals import error_reply
from interlingua.transport.replay import Line
from interlingua.wire.http import HttpRequest
from tests.support.converse import botocore
from tests.support.gateway import provider
from tests.support.tls import Authority, relay

boto3: Any = pytest.importorskip("boto3")

KEY = "a-key-of-a-client"
MODELS = {
    "anthropic": "anthropic-up/claude-opus-4-5",
    "openai-chat": "chat-up/gpt-4.1",
    "google": "google-up/gemini-2.5-pro",
}
"""Dialect of the service -> the model that the client names."""
BASES = {"anthropic": "/v1", "openai-chat": "/v1", "google": "/v1beta"}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = {"tools": [{"toolSpec": {"name": "get_weather", "description": "Weather.", "inputSchema": {"json": SCHEMA}}}]}
WEATHER: list[Any] = [{"role": "user", "content": [{"text": "Call get_weather for Oslo."}]}]
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"


class Failing(Upstream):
    """A service of Chat that fails with the status that is set."""

    status: int = 500

    def answer(self, request: HttpRequest) -> Line:
        """The error of that status."""
        reply = error_reply("openai-chat", self.status)
        return Line(pieces=(reply.body,), status=reply.status, headers=reply.headers)


class Stage(NamedTuple):
    """A gateway in a process, and the services behind it."""

    url: str
    tls_url: str
    authority: str
    upstreams: dict[str, Upstream]
    failing: Failing


@contextmanager
def _process(environ: dict[str, str]) -> Generator[int]:
    """The port of an `il serve` process that wants a key."""
    command = [sys.executable, "-m", "interlingua", "serve", "--port", "0", "--key-env", "GATE"]
    environ = {**os.environ, "GATE": KEY, **environ}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environ) as process:
        lines: list[str] = []
        try:
            assert process.stderr is not None
            for line in process.stderr:
                lines.append(line)
                if "OLLAMA_HOST" in line:
                    break
            match = re.search(r"serving on http://127\.0\.0\.1:(\d+)", "".join(lines))
            assert match, lines
            yield int(match[1])
        finally:
            process.kill()


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stage]:
    """One process for all tests of this file."""
    folder: Path = tmp_path_factory.mktemp("authority")
    authority = Authority(folder)
    upstreams = {dialect: Upstream(dialect) for dialect in MODELS}
    failing = Failing("openai-chat")
    with ExitStack() as stack:
        environ = {
            f"LLM_{model.partition('/')[0].replace('-', '_').upper()}": provider(
                dialect, stack.enter_context(upstreams[dialect].serving()) + BASES[dialect]
            )
            for dialect, model in MODELS.items()
        }
        environ["LLM_FAILING"] = provider("openai-chat", f"{stack.enter_context(failing.serving())}/v1")
        port = stack.enter_context(_process(environ))
        secure = stack.enter_context(relay(port, authority.context("localhost")))
        yield Stage(f"http://127.0.0.1:{port}", f"https://localhost:{secure.port}", authority.file, upstreams, failing)


@pytest.fixture(autouse=True)
def _no_metadata_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials come from the environment alone."""
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def bedrock(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Generator[Any]:
    """A client with the key of the gateway as a Bedrock API key, as the vendor's guide sets it."""
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    config = botocore("config").Config(retries={"total_max_attempts": 1})
    client = boto3.session.Session().client(
        "bedrock-runtime", region_name="us-east-1", endpoint_url=stage.tls_url, verify=stage.authority, config=config
    )
    yield client
    client.close()


every_service = pytest.mark.parametrize("dialect", MODELS)


def _refused(stage: Stage, dialect: str) -> list[str]:
    verdicts = stage.upstreams[dialect].verdicts
    lines = [str(verdict) for verdict in verdicts if not verdict.ok]
    verdicts.clear()
    return lines


@every_service
def test_a_tool_loop_whole(stage: Stage, bedrock: Any, dialect: str) -> None:
    """A call, its result, and the answer; each request is one that the service takes."""
    model = MODELS[dialect]
    first = bedrock.converse(modelId=model, messages=WEATHER, toolConfig=TOOLS)
    assert first["stopReason"] == "tool_use"
    message = first["output"]["message"]
    [call] = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    assert (call["name"], list(call["input"])) == ("get_weather", ["city"])
    result = {"toolResult": {"toolUseId": call["toolUseId"], "content": [{"json": {"celsius": 4}}]}}
    history = [*WEATHER, message, {"role": "user", "content": [result]}]
    second = bedrock.converse(modelId=model, messages=history, toolConfig=TOOLS)
    assert second["stopReason"] == "end_turn"
    assert "celsius" in second["output"]["message"]["content"][0]["text"]
    assert second["usage"] == {"inputTokens": 20, "outputTokens": 10, "totalTokens": 30, **_cached(second["usage"])}
    assert _refused(stage, dialect) == []


def _cached(usage: dict[str, int]) -> dict[str, int]:
    """The counts of a cache, which some services tell."""
    return {name: 0 for name in usage if name.startswith("cache")}


@every_service
def test_a_tool_loop_streamed(stage: Stage, bedrock: Any, dialect: str) -> None:
    """The pieces of the input add up to an object; the counts come last."""
    model = MODELS[dialect]
    events = list(bedrock.converse_stream(modelId=model, messages=WEATHER, toolConfig=TOOLS)["stream"])
    names = [next(iter(event)) for event in events]
    assert (names[0], names[-2:]) == ("messageStart", ["messageStop", "metadata"])
    starts = [event["contentBlockStart"]["start"]["toolUse"] for event in events if "contentBlockStart" in event]
    assert [start["name"] for start in starts] == ["get_weather"]
    deltas = [event["contentBlockDelta"]["delta"] for event in events if "contentBlockDelta" in event]
    assert "".join([delta["toolUse"]["input"] for delta in deltas if "toolUse" in delta]).startswith('{"city":')
    assert events[-2]["messageStop"]["stopReason"] == "tool_use"
    assert events[-1]["metadata"]["usage"]["totalTokens"] == 30
    assert _refused(stage, dialect) == []


@every_service
def test_an_image_and_a_document(stage: Stage, bedrock: Any, dialect: str) -> None:
    """Bytes of both arrive; the Chat service takes a document as a file."""
    content = [
        {"text": "What is this?"},
        {"image": {"format": "png", "source": {"bytes": b64decode(PNG)}}},
        {"document": {"format": "pdf", "name": "report", "source": {"bytes": PDF}}},
    ]
    reply = bedrock.converse(modelId=MODELS[dialect], messages=[{"role": "user", "content": content}])
    assert reply["output"]["message"]["content"][0]["text"]
    assert _refused(stage, dialect) == []


@every_service
def test_a_stream_of_text_is_the_whole_answer(bedrock: Any, dialect: str) -> None:
    """Both ways give the same words."""
    asked: dict[str, Any] = {
        "modelId": MODELS[dialect],
        "messages": [{"role": "user", "content": [{"text": "Hi"}]}],
        "system": [{"text": "Be brief."}],
        "inferenceConfig": {"maxTokens": 100, "temperature": 0.5},
    }
    whole = bedrock.converse(**asked)["output"]["message"]["content"]
    events = bedrock.converse_stream(**asked)["stream"]
    deltas = [event["contentBlockDelta"]["delta"] for event in events if "contentBlockDelta" in event]
    assert "".join([delta["text"] for delta in deltas]) == whole[0]["text"] == "Hello from the strict upstream."


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (400, "ValidationException"),
        (401, "AccessDeniedException"),
        (403, "AccessDeniedException"),
        (404, "ResourceNotFoundException"),
        (429, "ThrottlingException"),
        (500, "InternalServerException"),
        (503, "ServiceUnavailableException"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
def test_boto3_raises_its_own_classes(stage: Stage, bedrock: Any, status: int, name: str, streamed: bool) -> None:
    """What a service of another vendor answers is the exception that boto3's users catch, before a stream begins."""
    stage.failing.status = status
    ask = bedrock.converse_stream if streamed else bedrock.converse
    with pytest.raises(getattr(bedrock.exceptions, name)) as caught:
        ask(modelId="failing/gpt-4.1", messages=WEATHER)
    told: Any = caught.value
    assert told.response["Error"]["Code"] == name
    assert told.response["Error"]["Message"]
    assert told.response["ResponseMetadata"]["RequestId"]


def test_a_bad_request_names_its_place(bedrock: Any) -> None:
    """boto3 checks less than the service does: a result without its call."""
    bad = [{"role": "user", "content": [{"image": {"format": "png", "source": {"s3Location": {"uri": "s3://abc/k"}}}}]}]
    with pytest.raises(bedrock.exceptions.ValidationException, match="/messages/0/"):
        bedrock.converse(modelId=MODELS["openai-chat"], messages=bad)


def test_a_signature_is_no_key(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway with keys has no secret to check a signature with: it says which headers hold a key."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    config = botocore("config").Config(retries={"total_max_attempts": 1})
    client = boto3.session.Session().client(
        "bedrock-runtime", region_name="us-east-1", endpoint_url=stage.url, config=config
    )
    with pytest.raises(client.exceptions.AccessDeniedException, match="Authorization: Bearer"):
        client.converse(modelId=MODELS["anthropic"], messages=WEATHER)
    client.close()


def test_over_plain_http_a_key_goes_in_a_header_of_its_own(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """boto3 sends bearer keys by TLS alone; beside a signature `x-api-key` opens the gateway."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
    client = boto3.session.Session().client("bedrock-runtime", region_name="us-east-1", endpoint_url=stage.url)

    def add_key(request: Any, **_: Any) -> None:
        request.headers["x-api-key"] = KEY

    client.meta.events.register("before-sign.bedrock-runtime.*", add_key)
    reply = client.converse(modelId=MODELS["anthropic"], messages=[{"role": "user", "content": [{"text": "Hi"}]}])
    assert reply["output"]["message"]["content"][0]["text"] == "Hello from the strict upstream."
    client.close()
