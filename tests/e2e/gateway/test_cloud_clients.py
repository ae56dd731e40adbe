"""Official clients of clouds in front of one `il serve` process: each whole, streamed and with a tool."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any

import pytest

anthropic: Any = pytest.importorskip("anthropic")
cohere: Any = pytest.importorskip("cohere")
genai: Any = pytest.importorskip("google.genai")
openai: Any = pytest.importorskip("openai")
pytest.importorskip("botocore")

import httpx  # noqa: E402
from google.oauth2.credentials import Credentials  # noqa: E402

from interlingua.testing.upstream import Call, Say, Upstream  # noqa: E402
from tests.support.gateway import provider, serving  # noqa: E402
from tests.support.heavy import served  # noqa: E402

KEY = "a-key-of-the-clients"
MODEL = "claude-sonnet-4@20250514"
HI: list[Any] = [{"role": "user", "content": "Hi"}]
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
FUNCTION = {"name": "look_up", "description": "Looks up.", "parameters": SCHEMA}
ANSWERS = (Say(text="Hello there."), Say(text="Hello there."), Say(calls=(Call("look_up", {"q": "Oslo"}),)))
Told = tuple[str, str, tuple[str, Any]]


def _azure(url: str, **options: Any) -> Told:
    return _chat(openai.AzureOpenAI(azure_endpoint=url, api_version="2024-10-21", max_retries=0, **options))


def _chat(client: Any) -> Told:
    create = client.chat.completions.create
    with client:
        whole = create(model=MODEL, messages=HI).choices[0].message.content
        pieces = [chunk.choices[0].delta.content or "" for chunk in create(model=MODEL, messages=HI, stream=True)
                  if chunk.choices]  # fmt: skip
        asked = create(model=MODEL, messages=HI, tools=[{"type": "function", "function": FUNCTION}])
    [call] = asked.choices[0].message.tool_calls
    return whole, "".join(pieces), (call.function.name, json.loads(call.function.arguments))


def _messages(client: Any) -> Told:
    tool = {"name": "look_up", "description": "Looks up.", "input_schema": SCHEMA}
    with client:
        whole = client.messages.create(model=MODEL, max_tokens=99, messages=HI).content[0].text
        with client.messages.stream(model=MODEL, max_tokens=99, messages=HI) as stream:
            text = stream.get_final_text()
        [block] = client.messages.create(model=MODEL, max_tokens=99, messages=HI, tools=[tool]).content
    return whole, text, (block.name, block.input)


def _vertex(url: str) -> Any:
    held: Any = Credentials
    options = genai.types.HttpOptions(base_url=url, api_version="v1")
    return genai.Client(vertexai=True, project="p", location="eu", credentials=held(KEY), http_options=options)


def _generate(url: str) -> Told:
    declared = genai.types.FunctionDeclaration(name="look_up", description="Looks up.", parameters_json_schema=SCHEMA)
    config = genai.types.GenerateContentConfig(tools=[genai.types.Tool(function_declarations=[declared])])
    with closing(_vertex(url)) as client:
        whole = client.models.generate_content(model="gemini-x", contents="Hi").text
        pieces = [one.text or "" for one in client.models.generate_content_stream(model="gemini-x", contents="Hi")]
        [call] = client.models.generate_content(model="gemini-x", contents="Hi", config=config).function_calls
    return whole, "".join(pieces), (call.name, call.args)


def _command(url: str) -> Told:
    with httpx.Client() as carrier:
        client = cohere.ClientV2(api_key=KEY, base_url=url, httpx_client=carrier)
        whole = client.chat(model=MODEL, messages=HI).message.content[0].text
        pieces = [event.delta.message.content.text for event in client.chat_stream(model=MODEL, messages=HI)
                  if event.type == "content-delta"]  # fmt: skip
        asked = client.chat(model=MODEL, messages=HI, tools=[{"type": "function", "function": FUNCTION}])
    [call] = asked.message.tool_calls
    return whole, "".join(pieces), (call.function.name, json.loads(call.function.arguments))


CLIENTS: dict[str, Callable[[str], Told]] = {
    "AzureOpenAI, deployments": lambda url: _azure(url, api_key=KEY),
    "AzureOpenAI, a token of Entra": lambda url: _azure(url, azure_ad_token=KEY),
    "Azure v1": lambda url: _chat(openai.OpenAI(base_url=f"{url}/openai/v1", api_key=KEY, max_retries=0)),
    "AnthropicVertex": lambda url: _messages(anthropic.AnthropicVertex(
        region="eu", project_id="p", access_token=KEY, base_url=f"{url}/v1", max_retries=0)),
    "AnthropicBedrock": lambda url: _messages(anthropic.AnthropicBedrock(
        api_key=KEY, aws_region="eu-west-1", base_url=url, max_retries=0)),
    "AnthropicFoundry": lambda url: _messages(anthropic.AnthropicFoundry(
        api_key=KEY, base_url=url, max_retries=0)),
    "google-genai on Vertex": _generate,
    "cohere ClientV2": _command,
}  # fmt: skip


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """A gateway process with a key, in front of a strict service of Chat."""
    config = tmp_path_factory.mktemp("clouds") / "gateway.toml"
    config.write_text(f'[aliases]\n"{MODEL}" = "up/gpt-4.1"\n"gemini-x" = "up/gpt-4.1"\n', encoding="utf-8")
    with Upstream("openai-chat", *ANSWERS * len(CLIENTS)).serving() as upstream:
        variables = {"LLM_UP": provider("openai-chat", f"{upstream}/v1"), "CLIENTS_KEY": KEY}
        with served("--config", str(config), "--key-env", "CLIENTS_KEY", **variables) as process:
            yield f"http://127.0.0.1:{process.port}"


@pytest.mark.parametrize("client", CLIENTS)
def test_an_official_client_of_a_cloud_is_served(url: str, client: str) -> None:
    """Text, the same text streamed, and a call, by the client's own classes and paths."""
    assert CLIENTS[client](url) == ("Hello there.", "Hello there.", ("look_up", {"q": "Oslo"}))


def test_clients_of_clouds_need_the_key_of_the_gateway(url: str) -> None:
    """A wrong one is the SDK's own error for that, before anything is read."""
    with (
        anthropic.AnthropicBedrock(api_key="x", aws_region="eu-west-1", base_url=url, max_retries=0) as client,
        pytest.raises(anthropic.PermissionDeniedError),
    ):
        client.messages.create(model=MODEL, max_tokens=9, messages=HI)


# Claude's clients on clouds, in the process


def test_what_a_cloud_has_elsewhere_goes_to_its_place() -> None:
    """Version and beta features leave the body; the rest of it is passed on, with the model of the path."""
    with (
        Upstream("anthropic", "Hi.", "Hi.").standing() as upstream,
        serving(aliases={"c": "anthropic/claude-x"}) as url,
    ):
        client = anthropic.AnthropicBedrock(api_key=KEY, aws_region="eu-west-1", base_url=url, max_retries=0)
        with client:
            made = client.beta.messages.create(model="c", max_tokens=9, messages=HI, betas=["a-1", "b-2"])
    assert made.content[0].text == "Hi."
    (request,) = upstream.requests
    assert json.loads(request.body) == {"max_tokens": 9, "messages": HI, "model": "claude-x"}
    assert dict(request.headers)["anthropic-beta"] == "a-1,b-2"


def test_tokens_are_counted_for_clients_of_vertex() -> None:
    """`count-tokens` stands for the model in the path, and the body names the model."""
    with serving(aliases={"c": "openai-chat/gpt-4.1"}) as url:
        base = f"{url}/v1"
        with anthropic.AnthropicVertex(region="eu", project_id="p", access_token=KEY, base_url=base) as client:
            assert client.messages.count_tokens(model="c", messages=HI).input_tokens > 0


def test_an_error_in_a_stream_of_bedrock_is_raised() -> None:
    """It is an exception frame, which the SDK tells as an error with the sentence."""
    from interlingua.testing.upstream import Fail

    with (
        Upstream("anthropic", Fail(500, late=True)).standing(),
        serving(aliases={"c": "anthropic/claude-x"}) as url,
        anthropic.AnthropicBedrock(api_key=KEY, aws_region="eu-west-1", base_url=url, max_retries=0) as client,
        pytest.raises(anthropic.APIError) as caught,
        client.messages.stream(model="c", max_tokens=9, messages=HI) as stream,
    ):
        stream.get_final_text()
    assert "internal server error" in str(caught.value).lower()


PLACE = "/v1/projects/p/locations/l/publishers"
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("/model/c/invoke", {"inputText": "x"}, "/anthropic_version: it is missing"),
    ("/model/c/invoke", {"anthropic_version": "b", "model": "d"}, "/model: the path names 'c'"),
    (
        "/model/c/invoke",
        {"anthropic_version": "b", "anthropic_beta": ["a\nb"]},
        "/anthropic_beta: it is a list of names",
    ),
    (f"{PLACE}/anthropic/models/c:rawPredict", {"messages": HI}, "/anthropic_version: it is missing"),
    (
        f"{PLACE}/google/models/c:predict",
        {"instances": [{"prompt": "x"}]},
        "/instances/0/prompt: only texts with a task",
    ),
    (f"{PLACE}/google/models/c:predict", {"instances": []}, "/instances: a list of texts is missing"),
]


@pytest.mark.parametrize(("path", "body", "sentence"), REFUSED)
def test_bodies_of_other_models_are_refused_and_never_passed_on(path: str, body: dict[str, Any], sentence: str) -> None:
    """With the place, in the form of the client; nothing reaches a provider."""
    with Upstream("anthropic", "Hi.").standing() as upstream, serving(aliases={"c": "anthropic/claude-x"}) as url:
        reply = httpx.post(f"{url}{path}", json=body)
    assert (reply.status_code, upstream.requests) == (400, [])
    assert sentence in reply.text


def test_vectors_for_clients_of_vertex_that_predict() -> None:
    """The SDK's `embed_content` asks `:predict` for the older models, and has a vector for each text."""
    config = genai.types.EmbedContentConfig(task_type="RETRIEVAL_QUERY", output_dimensionality=8)
    with serving(aliases={"text-embedding-004": "fake/embed"}) as url, closing(_vertex(url)) as client:
        made = client.models.embed_content(model="text-embedding-004", contents=["a", "b"], config=config)
    assert [len(one.values) for one in made.embeddings] == [8, 8]
