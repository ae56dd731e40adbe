"""Capabilities over real connections: chains of library and gateway pass over what cannot take a request."""

from __future__ import annotations

import base64
import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from urllib.request import Request, urlopen

import pytest

import interlingua as il
from interlingua.client.state import forget_state
from interlingua.testing.upstream.service import Upstream
from tests.support.gateway import provider, serving
from tests.support.server import Answer, Seen, Server, reply
from tests.support.server import serving as scripted_server
from tests.support.tiny import PNG

TOOL = il.Tool(name="look_up", description="Looks up.", parameters={"type": "object", "properties": {}})
NO_TOOLS = reply(
    b'{"error":"registry.ollama.ai/library/gemma3:4b does not support tools"}',
    status="400 Bad Request",
    headers="content-type: application/json\r\n",
)
CHAT_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}},
}


@pytest.fixture(autouse=True)
def _anew() -> Generator[None]:
    """What is learned of targets ends with the test."""
    forget_state()
    yield
    forget_state()


@contextmanager
def _refusing() -> Generator[Server]:
    """A server of the Ollama family that refuses tools, as the real one does."""
    with scripted_server(lambda seen: Answer((NO_TOOLS,))) as server:
        yield server


def _post(url: str, body: Any) -> tuple[int, Any, Any]:
    sent = Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    try:
        with urlopen(sent, timeout=60) as answer:
            return answer.status, json.loads(answer.read()), answer.headers
    except OSError as error:
        problem: Any = error
        return problem.code, json.loads(problem.read()), problem.headers


def test_cap_01_a_picture_goes_to_the_second_target_in_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """`local/tiny` takes text alone: it is passed over without weights, and the second target is asked."""
    with Upstream("openai-chat", "A dot.").serving() as url:
        monkeypatch.setenv("LLM_UP", provider("openai-chat", url))
        answer = il.model("local/tiny,up/gpt-4o").generate(["What is it?", il.image(PNG)])
    assert (answer.text, answer.model) == ("A dot.", "up/gpt-4o")
    assert [(attempt.model, attempt.outcome) for attempt in answer.attempts] == [
        ("local/tiny", "skipped"),
        ("up/gpt-4o", "served"),
    ]
    assert il.health.snapshot() == {}


def test_cap_01_a_picture_goes_to_the_second_target_in_the_gateway() -> None:
    """The gateway's chain does likewise, and `/explain` says so before."""
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(PNG).decode()}"}}
    content = [{"type": "text", "text": "What is it?"}, image]
    body = {"model": "local/tiny,up/gpt-4o", "messages": [{"role": "user", "content": content}]}
    with (
        Upstream("openai-chat", "A dot.").serving() as upstream,
        serving(providers={"up": provider("openai-chat", upstream)}) as url,
    ):
        status, plan, _ = _post(f"{url}/explain/v1/chat/completions", body)
        assert status == 200
        assert [(target["spec"], target["chosen"]) for target in plan["targets"]] == [
            ("local/tiny", False),
            ("up/gpt-4o", True),
        ]
        assert plan["targets"][0]["reason"] == "local/tiny does not take images (the row of local)"
        status, told, _ = _post(f"{url}/v1/chat/completions", body)
    assert (status, told["choices"][0]["message"]["content"]) == (200, "A dot.")


def test_cap_01_nobody_takes_it_in_the_gateway() -> None:
    """A 400 in the client's dialect names each target and what it lacks."""
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(PNG).decode()}"}}
    with serving(providers={"work": "openai://127.0.0.1:9/v1?tls=0&images=0"}) as url:
        body = {"model": "local/tiny,work/m", "messages": [{"role": "user", "content": [image]}]}
        status, told, _ = _post(f"{url}/v1/chat/completions", body)
    assert status == 400
    assert "local/tiny does not take images (the row of local); work/m does not take images (LLM_WORK)" in str(told)


def test_cap_01_a_refusal_of_tools_is_kept_in_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first call goes on after the 400, the second one asks the other target at once."""
    with _refusing() as server, Upstream("openai-chat", "One.", "Two.").serving() as url:
        monkeypatch.setenv("LLM_SMALL", f"ollama://127.0.0.1:{server.port}")
        monkeypatch.setenv("LLM_UP", provider("openai-chat", url))
        model = il.model("small/gemma3:4b,up/gpt-4o", tools=[TOOL])
        assert [model.generate("Hi").text, model.generate("Hi").text] == ["One.", "Two."]
        assert [seen.line for seen in server.seen] == ["POST /api/chat HTTP/1.1"]
        assert model.explain("Hi").targets[0].reason == (
            "small/gemma3:4b does not take tools (the target refused it lately)"
        )
    assert il.health.snapshot()["small/gemma3:4b"].lacks == ("tools",)
    il.health.resume("small/gemma3:4b")
    assert il.health.snapshot() == {}


@pytest.mark.parametrize("dialect", ["ollama", "openai-chat"])
def test_cap_01_a_refusal_of_tools_is_kept_in_the_gateway(dialect: str) -> None:
    """Passed as it came or translated: the target that refused is asked once."""
    path = {"ollama": "/api/chat", "openai-chat": "/v1/chat/completions"}[dialect]
    body: dict[str, Any] = {
        "model": "small/gemma3:4b,up/gpt-4o", "messages": [{"role": "user", "content": "Hi"}], "tools": [CHAT_TOOL],
        "stream": False,
    }  # fmt: skip
    with (
        _refusing() as server,
        Upstream("openai-chat", "One.", "Two.").serving() as upstream,
        serving(
            providers={"small": f"ollama://127.0.0.1:{server.port}", "up": provider("openai-chat", upstream)}
        ) as url,
    ):
        answers = [_post(f"{url}{path}", body) for _ in range(2)]
        assert [status for status, _, _ in answers] == [200, 200]
        assert ["One." in str(answers[0][1]), "Two." in str(answers[1][1])] == [True, True]
        assert len(server.seen) == 1
        alone = {**body, "model": "small/gemma3:4b"}
        status, told, _ = _post(f"{url}{path}", alone)
        assert (status, "does not take tools" in str(told)) == (400, True)
        assert len(server.seen) == 1
        assert _post(f"{url}{path}", {**alone, "tools": []})[0] == 400
        assert len(server.seen) == 2


def _routed(seen: Seen) -> Answer:
    """OpenRouter: the model takes pictures, but for the one provider that a request may choose."""
    if b'"only"' in seen.body:
        refusal = b'{"error":{"message":"No endpoints found that support image input","code":404}}'
        return Answer((reply(refusal, status="404 Not Found", headers="content-type: application/json\r\n"),))
    choice = b'{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"A dot."}}'
    told = b'{"id":"a","object":"chat.completion","created":1,"model":"a/b","choices":[%b]}' % choice
    return Answer((reply(told, headers="content-type: application/json\r\n"),))


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/unified/v1/generate"])
def test_cap_01_no_client_has_a_target_passed_over_for_others(path: str) -> None:
    """A refusal of what a request itself has chosen behind the target is its own: the next picture is asked there."""
    url_of = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    content = [{"type": "text", "text": "?"}, {"type": "image_url", "image_url": {"url": url_of}}]
    body = {"model": "router/a/b", "messages": [{"role": "user", "content": content}]}
    choice: dict[str, Any] = {"provider": {"only": ["blind"]}}
    poison = {**body, **choice}
    if path.startswith("/unified"):
        parts = [
            {"type": "text", "text": "?"},
            {"type": "image", "data": url_of.partition(",")[2], "media_type": "image/png"},
        ]
        messages = [{"role": "user", "parts": parts}]
        poison = {"model": "router/a/b", "messages": messages, "extra": {"openai-chat": choice}}
    with (
        scripted_server(_routed) as server,
        serving(providers={"router": f"openrouter://key@127.0.0.1:{server.port}/api/v1?tls=0"}) as url,
    ):
        assert _post(f"{url}{path}", poison)[0] == 404
        status, told, _ = _post(f"{url}/v1/chat/completions", body)
        assert (status, "A dot." in str(told)) == (200, True)
        assert len(server.seen) == 2


def test_an_alias_requires_what_its_targets_must_take(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """`require` in the file: the target that is known not to take pictures is passed over, also by a text."""
    config = tmp_path / "gateway.toml"
    config.write_text(
        '[aliases]\nseeing = { targets = ["local/tiny", "up/gpt-4o"], require = ["images"] }\n', encoding="utf-8"
    )
    with Upstream("openai-chat", "Text.").serving() as url:
        monkeypatch.setenv("LLM_UP", provider("openai-chat", url))
        try:
            il.load_config(config)
            answer = il.model("seeing").generate("Hi")
        finally:
            config.write_text("", encoding="utf-8")
            il.load_config(config)
    assert (answer.text, answer.attempts[0].error) == (
        "Text.", "UnsupportedError: local/tiny does not take images (the row of local)",
    )  # fmt: skip


OLLAMA_CARD = (
    b'{"capabilities": ["completion", "vision"], "model_info": {"general.architecture": "gemma3", '
    b'"gemma3.context_length": 131072}}'
)
LLAMACPP_CARD = (
    b'{"modalities": {"vision": false, "audio": false}, "default_generation_settings": {"n_ctx": 8192}, '
    b'"chat_template_caps": {"supports_tools": true}}'
)
GOOGLE_CARD = (
    b'{"name": "models/gemini-9", "inputTokenLimit": 1048576, "outputTokenLimit": 65536, "thinking": true, '
    b'"supportedGenerationMethods": ["generateContent"]}'
)
OPENROUTER_CARD = (
    b'{"data": [{"id": "x/y"}, {"id": "a/b", "context_length": 32768, "architecture": {"input_modalities": ["text"]}, '
    b'"supported_parameters": ["tools", "tool_choice", "reasoning"], "top_provider": {"max_completion_tokens": 4096}}]}'
)
CARDS: dict[str, tuple[str, str, str, bytes, dict[str, Any]]] = {
    "ollama": (
        "ollama://127.0.0.1:{port}", "gemma3:4b", "POST /api/show HTTP/1.1", OLLAMA_CARD,
        {"images": True, "tools": False, "thinking": False, "context_tokens": 131072},
    ),
    "llamacpp": (
        "llamacpp://127.0.0.1:{port}?tls=0", "any", "GET /props HTTP/1.1", LLAMACPP_CARD,
        {"images": False, "audio": False, "tools": True, "context_tokens": 8192},
    ),
    "google": (
        "google://key@127.0.0.1:{port}/v1beta?tls=0", "gemini-9", "GET /v1beta/models/gemini-9 HTTP/1.1", GOOGLE_CARD,
        {"thinking": True, "context_tokens": 1048576, "max_output_tokens": 65536},
    ),
    "openrouter": (
        "openrouter://key@127.0.0.1:{port}/api/v1?tls=0", "a/b", "GET /api/v1/models HTTP/1.1", OPENROUTER_CARD,
        {
            "images": False, "documents": False, "tools": True, "forced_choice": True, "logprobs": False,
            "thinking": True, "context_tokens": 32768, "max_output_tokens": 4096,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", CARDS)
def test_a_server_is_asked_for_its_card_only_on_demand(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One request for `ask=True`, none without it; what it says is known then, with its origin."""
    dsn, model, line, body, expected = CARDS[form]
    with scripted_server(Answer((reply(body, headers="content-type: application/json\r\n"),))) as server:
        monkeypatch.setenv("LLM_UP", dsn.format(port=server.port))
        il.capabilities(f"up/{model}")
        assert server.seen == []
        told = il.capabilities(f"up/{model}", ask=True)
        assert il.capabilities(f"up/{model}", ask=True) == told
        assert [seen.line for seen in server.seen] == [line]
        assert il.capabilities(f"up/{model}") == told
    assert {name: getattr(told, name) for name in expected} == expected
    assert {told.origins[name] for name in expected} <= {"the server's own answer", "the target refused it lately"}


async def test_the_card_is_asked_for_awaited_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin gives the same value, and what the server denies keeps calls away."""
    dsn, model, line, body, _ = CARDS["llamacpp"]
    with scripted_server(Answer((reply(body, headers="content-type: application/json\r\n"),))) as server:
        monkeypatch.setenv("LLM_UP", dsn.format(port=server.port))
        told = await il.aio.capabilities(f"up/{model}", ask=True)
        assert (told.images, [seen.line for seen in server.seen]) == (False, [line])
        with pytest.raises(il.UnsupportedError, match="does not take images"):
            await il.aio.model(f"up/{model}").generate(["?", il.image(PNG)])
        assert len(server.seen) == 1


def test_a_bad_card_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no JSON, no object or a status of its own: typed, and nothing is learned."""
    script: list[Answer] = [
        Answer((reply(b"<html>", headers="content-type: application/json\r\n"),)),
        Answer((reply(b"[]", headers="content-type: application/json\r\n"),)),
        Answer((reply(b'{"error": "model not found"}', status="404 Not Found"),)),
    ]

    def answer(seen: Seen) -> Answer:
        del seen
        return script.pop(0)

    with scripted_server(answer) as server:
        monkeypatch.setenv("LLM_UP", f"ollama://127.0.0.1:{server.port}")
        for kind in (il.DecodeError, il.DecodeError, il.NotFoundError):
            with pytest.raises(kind):
                il.capabilities("up/bad", ask=True)
    assert il.health.snapshot() == {}
