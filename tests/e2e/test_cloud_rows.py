"""Rows of clouds send what the vendors' own SDKs send: method, path, headers and members of the body.

Each SDK and our model ask a server on loopback the same; what arrived is compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import closing
from typing import Any, NamedTuple

import anthropic
import cohere
import httpx
import openai
import pytest
from anthropic.lib.bedrock import AnthropicBedrockMantle
from anthropic.lib.foundry import AnthropicFoundry
from anthropic.lib.vertex import AnthropicVertex
from google import genai

import interlingua as il
from interlingua.dialects._contract import Encoded
from interlingua.registry.resolve import Registry
from tests.support.gateway import serving as gateway_serving
from tests.support.server import Answer, Seen, reply, serving

botocore_session: Any = pytest.importorskip("botocore.session")
botocore_config: Any = pytest.importorskip("botocore.config")
TOKEN = "tok-cloud-0123456789"
OURS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "host", "user-agent", "x-goog-api-client"}
)
"""Headers that each client sets for itself."""
SDKS = ("x-stainless-", "x-fern-", "amz-sdk-", "x-amz-date", "x-amz-content-sha256")
"""How headers begin that an SDK sends of itself, and times of a signature."""


class Cloud(NamedTuple):
    """A row, and how its SDK asks."""

    spec: str
    """A model of the row."""
    dsn: str
    """The row at a server on loopback, with a key."""
    sdk: Callable[[str, bool], object]
    """Asks a server at a base URL for an answer, whole or in pieces, by the official SDK."""
    only_sdk: frozenset[str] = frozenset()
    """Headers that the SDK alone sends: a second name of the key."""
    version: tuple[str, str] | None = None
    """Where the version of the API stands, and the one of the wire format that we read and write."""


def _ask(client: Any, *, stream: bool, model: str = "claude-opus-4-1@20250805") -> None:
    with client:
        made = client.messages.create(
            model=model, max_tokens=9, messages=[{"role": "user", "content": "Hi"}], stream=stream
        )
        if stream:
            list(made)


def _vertex_anthropic(url: str, stream: bool) -> None:
    base = f"{url}/v1"
    client = AnthropicVertex(region="eu", project_id="p", access_token=TOKEN, base_url=base, max_retries=0)
    _ask(client, stream=stream)


def _foundry(url: str, stream: bool) -> None:
    _ask(AnthropicFoundry(api_key=TOKEN, base_url=f"{url}/anthropic", max_retries=0), stream=stream)


def _mantle(url: str, stream: bool) -> None:
    base = f"{url}/anthropic"
    client = AnthropicBedrockMantle(api_key=TOKEN, aws_region="eu-west-1", base_url=base, max_retries=0)
    _ask(client, stream=stream, model="anthropic.claude-opus-4-1")


def _vertex(url: str, stream: bool) -> None:
    from google.oauth2.credentials import Credentials

    held: Any = Credentials
    limit = genai.types.GenerateContentConfig(max_output_tokens=9)
    client = genai.Client(
        vertexai=True,
        project="p",
        location="europe-west1",
        credentials=held(TOKEN),
        http_options=genai.types.HttpOptions(base_url=url, api_version="v1"),
    )
    with closing(client):
        if stream:
            list(client.models.generate_content_stream(model="gemini-2.5-pro", contents="Hi", config=limit))
        else:
            client.models.generate_content(model="gemini-2.5-pro", contents="Hi", config=limit)


def _azure(url: str, stream: bool) -> None:
    client = openai.AzureOpenAI(azure_endpoint=url, api_key=TOKEN, api_version="2024-10-21", max_retries=0)
    with client:
        made = client.chat.completions.create(
            model="my deployment",
            messages=[{"role": "user", "content": "Hi"}],
            max_completion_tokens=9,
            stream=stream,
            stream_options={"include_usage": True} if stream else openai.omit,
        )
        if stream:
            list(made)


def _cohere(url: str, stream: bool) -> None:
    with httpx.Client() as carrier:
        client: Any = cohere.ClientV2(api_key=TOKEN, base_url=url, httpx_client=carrier, max_retries=0)
        asked: dict[str, Any] = {"model": "command-a-03-2025", "messages": [{"role": "user", "content": "Hi"}]}
        if stream:
            list(client.chat_stream(**asked, max_tokens=9))
        else:
            client.chat(**asked, max_tokens=9)


def _converse(url: str, stream: bool) -> None:
    session: Any = botocore_session.Session()
    config: Any = botocore_config.Config(retries={"total_max_attempts": 1})
    client = session.create_client(
        "bedrock-runtime", region_name="eu-west-1", endpoint_url=url, config=config,
        aws_access_key_id="AKIDCLOUD", aws_secret_access_key=TOKEN,
    )  # fmt: skip
    messages = [{"role": "user", "content": [{"text": "Hi"}]}]
    with closing(client):
        (client.converse_stream if stream else client.converse)(
            modelId="us.amazon.nova-pro-v1:0", messages=messages, inferenceConfig={"maxTokens": 9}
        )


CLOUDS = {
    "cohere": Cloud("cohere/command-a-03-2025", "/v2?key_env=CLOUD_TOKEN", _cohere),
    "bedrock": Cloud("bedrock/us.amazon.nova-pro-v1:0", "?region=eu-west-1&login=aws", _converse),
    "vertex-anthropic": Cloud(
        "vertex-anthropic/claude-opus-4-1@20250805",
        "?project=p&location=eu&key_env=CLOUD_TOKEN",
        _vertex_anthropic,
        version=("anthropic_version", "vertex-2023-10-16"),
    ),
    "azure-anthropic": Cloud(
        "azure-anthropic/claude-opus-4-1@20250805",
        "?key_env=CLOUD_TOKEN",
        _foundry,
        only_sdk=frozenset({"api-key"}),
        version=("anthropic-version", "2023-06-01"),
    ),
    "bedrock-anthropic": Cloud(
        "bedrock-anthropic/anthropic.claude-opus-4-1",
        "?region=eu-west-1&key_env=CLOUD_TOKEN",
        _mantle,
        version=("anthropic-version", "2023-06-01"),
    ),
    "vertex": Cloud("vertex/gemini-2.5-pro", "?project=p&location=europe-west1&key_env=CLOUD_TOKEN", _vertex),
    "azure": Cloud("azure/my deployment", "?api_version=2024-10-21&key_env=CLOUD_TOKEN", _azure),
}


def _headers(seen: Seen) -> dict[str, str]:
    lines = [line.decode().partition(": ") for line in seen.head.split(b"\r\n")[1:]]
    named = {name.lower(): value for name, _, value in lines}
    if named.get("authorization", "").startswith("AWS4"):  # who signs for what; a time is in the rest of it
        named["authorization"] = re.sub(r"/\d{8}/|,.*", " ", named["authorization"])
    return {name: value for name, value in named.items() if name not in OURS and not name.startswith(SDKS)}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("name", CLOUDS)
def test_a_row_sends_what_its_sdk_sends(name: str, stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Request line, headers and members are those of the official SDK."""
    cloud = CLOUDS[name]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDCLOUD")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", TOKEN)
    with serving(
        Answer((reply(b"{}", status="400 Bad Request", headers="content-type: application/json\r\n"),))
    ) as server:
        with pytest.raises(Exception):  # noqa: B017, PT011 - each SDK has its own, and the answer says nothing
            cloud.sdk(server.url(""), stream)
        dsn = f"{name}://127.0.0.1:{server.port}{cloud.dsn}&tls=0"
        registry = Registry({f"LLM_{name.upper().replace('-', '_')}": dsn, "CLOUD_TOKEN": TOKEN})
        model = il.model(cloud.spec, registry=registry, max_tokens=9)
        with pytest.raises(il.BadRequestError):
            list(model.stream("Hi")) if stream else model.generate("Hi")
        theirs, ours = server.seen[0], server.seen[-1]
    assert ours.line == theirs.line
    headers, body = _headers(theirs), _members(theirs)
    assert {headers.pop(header) for header in cloud.only_sdk} <= {TOKEN}
    if cloud.version is not None:
        member, version = cloud.version
        (body if member in body else headers)[member] = version
    assert _headers(ours) == headers
    assert _members(ours) == body


def _members(seen: Seen) -> dict[str, Any]:
    """The body, with texts as parts where the SDK leaves them as they are, and without what is absent by default."""
    body: dict[str, Any] = json.loads(seen.body)
    if body.get("stream") is False:
        del body["stream"]
    if "max_tokens" in body:
        (message,) = body["messages"]
        if isinstance(message["content"], str):
            message["content"] = [{"type": "text", "text": message["content"]}]
    return body


@pytest.mark.parametrize(
    ("spec", "environ", "base_url"),
    [
        ("vertex/m", {"GOOGLE_CLOUD_PROJECT": "p"}, "https://aiplatform.googleapis.com/v1/projects/p/locations/global"),
        (
            "vertex/m",
            {"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "europe-west4"},
            "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4",
        ),
        (
            "vertex-anthropic/m",
            {"ANTHROPIC_VERTEX_PROJECT_ID": "q", "GOOGLE_CLOUD_PROJECT": "p", "CLOUD_ML_REGION": "us"},
            "https://aiplatform.us.rep.googleapis.com/v1/projects/q/locations/us",
        ),
        (
            "vertex/m",
            {"LLM_VERTEX": "vertex://?project=r&location=eu", "GOOGLE_CLOUD_PROJECT": "p"},
            "https://aiplatform.eu.rep.googleapis.com/v1/projects/r/locations/eu",
        ),
        ("bedrock-anthropic/m", {"AWS_REGION": "eu-west-1"}, "https://bedrock-mantle.eu-west-1.api.aws/anthropic/v1"),
        (
            "azure-anthropic/m",
            {"ANTHROPIC_FOUNDRY_RESOURCE": "res", "ANTHROPIC_FOUNDRY_API_KEY": "k"},
            "https://res.services.ai.azure.com/anthropic/v1",
        ),
    ],
)
def test_variables_make_the_address(spec: str, environ: dict[str, str], base_url: str) -> None:
    """Project, location, region and resource come from the variables of the SDKs, or from the DSN."""
    (endpoint,) = Registry(environ).resolve(spec)
    assert endpoint.base_url.removesuffix("/publishers/google").removesuffix("/publishers/anthropic") == base_url


def test_a_region_in_the_host_is_what_is_signed_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole address says its region, also to the signature; a region that nobody says is named."""
    registry = Registry({"LLM_BEDROCK_ANTHROPIC": "bedrock-anthropic://bedrock-mantle.us-west-2.api.aws?login=aws"})
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    (endpoint,) = registry.resolve("bedrock-anthropic/m")
    assert endpoint.base_url == "https://bedrock-mantle.us-west-2.api.aws/anthropic/v1"
    assert endpoint.login is not None
    pairs = dict(endpoint.login.headers(endpoint.http_request(Encoded(path="/messages", body=b"{}")), 5))
    assert "/us-west-2/bedrock-mantle/aws4_request" in pairs["authorization"]
    with pytest.raises(il.ConfigError, match="bedrock-anthropic: no region; set AWS_REGION or AWS_DEFAULT_REGION or"):
        Registry({}).resolve("bedrock-anthropic/m")


def test_only_a_date_asks_azure_for_its_older_api() -> None:
    """`preview` is a version of the v1 API; a path of one's own stays as it is."""
    dsns = ("azure://k@h", "azure://k@h?api_version=preview", "azure://k@h?api_version=2024-10-21",
            "azure://k@h/openai/deployments/d?api_version=2024-10-21")  # fmt: skip
    made = [Registry({"LLM_AZURE": dsn}).resolve("azure/m")[0] for dsn in dsns]
    assert [endpoint.http_request(Encoded(path="/chat/completions", body=b"{}")).url for endpoint in made] == [
        "https://h/openai/v1/chat/completions",
        "https://h/openai/v1/chat/completions?api-version=preview",
        "https://h/openai/deployments/m/chat/completions?api-version=2024-10-21",
        "https://h/openai/deployments/d/chat/completions?api-version=2024-10-21",
    ]


@pytest.mark.parametrize(
    ("spec", "environ", "key"),
    [
        ("vertex/m", {"GOOGLE_CLOUD_PROJECT": "p"}, "login google"),
        ("vertex/m", {"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_OAUTH_ACCESS_TOKEN": "t"}, "set"),
        ("bedrock-anthropic/m", {"AWS_REGION": "eu-west-1"}, "login aws"),
        ("bedrock-anthropic/m", {"AWS_REGION": "eu-west-1", "AWS_BEARER_TOKEN_BEDROCK": "t"}, "set"),
        ("azure/m", {"AZURE_OPENAI_ENDPOINT": "https://h"}, "missing"),
        ("azure/m", {"LLM_AZURE": "azure://h?login=azure"}, "login azure"),
        ("vertex/m", {"LLM_VERTEX": "vertex://h.example?project=p"}, "not needed"),
    ],
)
def test_a_login_stands_in_for_a_key_at_home(spec: str, environ: dict[str, str], key: str) -> None:
    """Where no key is set, a row's own login counts, at the row's own address alone; `il providers` says which."""
    registry = Registry(environ)
    (row,) = [row for row in registry.providers() if row.name == spec.partition("/")[0]]
    (endpoint,) = registry.resolve(spec)
    assert row.key == key
    assert (endpoint.login is not None) == key.startswith("login")


MESSAGE = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-4-1", "stop_reason": "end_turn",
    "stop_sequence": None, "content": [{"type": "text", "text": "Here."}],
    "usage": {"input_tokens": 3, "output_tokens": 2},
}  # fmt: skip
EVENTS = [
    {"type": "message_start", "message": {**MESSAGE, "content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Here."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
]  # fmt: skip


def _claude_on_vertex(seen: Seen) -> Answer:
    """An answer to Messages as Vertex AI gives it."""
    path = seen.line.split(" ")[1]
    if path.endswith("/count-tokens:rawPredict"):
        body, kind = json.dumps({"input_tokens": 7}), "application/json"
    elif path.endswith(":streamRawPredict"):
        events = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in EVENTS]
        body, kind = "".join(events), "text/event-stream"
    else:
        body, kind = json.dumps(MESSAGE), "application/json"
    return Answer((reply(body.encode(), headers=f"content-type: {kind}\r\n"),))


def test_the_gateway_passes_messages_on_to_vertex() -> None:
    """A client of Anthropic's own API: whole, in pieces and counting, each at the path and with the body of Vertex."""
    with serving(_claude_on_vertex) as server:
        dsn = f"vertex-anthropic://{TOKEN}@127.0.0.1:{server.port}?tls=0&project=p&location=eu"
        with (
            gateway_serving(providers={"claude": dsn}) as url,
            anthropic.Anthropic(base_url=url, api_key="of-the-gateway") as client,
        ):
            told: Any = {"model": "claude/claude-opus-4-1", "messages": [{"role": "user", "content": "Hi"}]}
            asked: Any = client.messages
            whole = asked.create(**told, max_tokens=9)
            with client.messages.stream(**told, max_tokens=9) as stream:
                text = stream.get_final_text()
            counted = client.messages.count_tokens(**told)
    assert (whole.content[0].type, text, counted.input_tokens) == ("text", "Here.", 7)
    before = "/v1/projects/p/locations/eu/publishers/anthropic/models"
    assert [seen.line.split(" ")[1] for seen in server.seen] == [
        f"{before}/claude-opus-4-1:rawPredict",
        f"{before}/claude-opus-4-1:streamRawPredict",
        f"{before}/count-tokens:rawPredict",
    ]
    bodies: list[dict[str, Any]] = [json.loads(seen.body) for seen in server.seen]
    assert [body.get("model") for body in bodies] == [None, None, "claude-opus-4-1"]
    assert [body["anthropic_version"] for body in bodies] == ["vertex-2023-10-16"] * 3
    assert [seen.header("anthropic-version") for seen in server.seen] == [None, None, None]
    assert {seen.header("authorization") for seen in server.seen} == {f"Bearer {TOKEN}"}
