"""`explain` and the call agree: who is named as asked is asked and takes the request, who is not gets nothing.

Each target is its dialect's strict imitation, which refuses what the vendor refuses, and the embedded engine as it
is with weights. In a chain of two the second target takes everything.
"""

from __future__ import annotations

import base64
from typing import Any

import pytest

import interlingua as il
from interlingua.client.options import Settings, settle
from interlingua.dialects._contract import DecodeOptions
from interlingua.dialects.table import get_dialect
from interlingua.errors import Error, UnsupportedError
from interlingua.gateway.core import Gateway
from interlingua.gateway.settings import GatewaySettings
from interlingua.local.chat import ChatError
from interlingua.local.chat import plan as local_plan
from interlingua.providers.rows import ROWS
from interlingua.registry.resolve import Registry
from interlingua.testing.upstream.judge import judge
from interlingua.transport.override import Override, overriding
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport, Script
from interlingua.types.request import Request
from interlingua.wire.http import HttpReply, HttpRequest
from interlingua.wire.json import encode
from tests.support.cells import cells
from tests.support.client import chat
from tests.support.tiny import PNG
from tests.unit.gateway.asking import ask, told

MODELS = {
    "openai": "gpt-5-mini",
    "openai-chat": "gpt-4o",
    "openai-responses": "gpt-5-mini",
    "azure": "gpt-4o",
    "anthropic": "claude-opus-4-5",
    "google": "gemini-2.5-flash",
    "vertex": "gemini-2.5-flash",
}
ENVIRONMENT = {
    **{row.key_env[0]: "key-of-the-row" for row in ROWS.values() if row.key_env},
    **{variable.env[0]: "somewhere" for row in ROWS.values() for variable in row.variables},
    **{
        f"LLM_{name.replace('-', '_').upper()}": f"{name}://token@host.example"
        for name, row in ROWS.items()
        if row.needs_host
    },
    "LLM_BLIND": "openai://token@blind.example/v1?images=0&audio=0&documents=0&tools=0",
    "LLM_PLAIN": "ollama://127.0.0.1:9?tools=0&thinking=0",
}
TARGETS = [*[f"{name}/{MODELS.get(name, 'some-model')}" for name in ROWS], "anthropic/claude-3-haiku-20240307",
           "local/tiny", "blind/m", "plain/m"]  # fmt: skip
LAST = "fake/takes-all"
PDF, WAV = b"%PDF-1.4\n%%EOF\n", b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00"
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "look_up", "description": "Looks up.",
        "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    },
}  # fmt: skip


def _data(media_type: str, data: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def _said(part: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, part]}]}


HI: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}]}
FEATURES: dict[str, dict[str, Any]] = {
    "text": HI,
    "images": _said({"type": "image_url", "image_url": {"url": _data("image/png", PNG)}}),
    "audio": _said({"type": "input_audio", "input_audio": {"data": base64.b64encode(WAV).decode(), "format": "wav"}}),
    "documents": _said({"type": "file", "file": {"filename": "a.pdf", "file_data": _data("application/pdf", PDF)}}),
    "tools": {**HI, "tools": [TOOL]},
    "parallel_tool_calls": {**HI, "tools": [TOOL], "parallel_tool_calls": True},
    "forced_choice": {
        **HI, "tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "look_up"}},
    },
    "output_schema": {
        **HI, "response_format": {"type": "json_schema", "json_schema": {
            "name": "word", "schema": {**TOOL["function"]["parameters"], "additionalProperties": False},
        }},
    },
    "thinking": {**HI, "reasoning_effort": "low"},
    "n": {**HI, "n": 2},
    "logprobs": {**HI, "logprobs": True},
}  # fmt: skip


OWN_REFUSALS = {("openai/gpt-5-mini", "logprobs")}
"""Knobs that a model refuses in the body of its vendor's own client, which goes out as it came: its 400 comes back."""


class _Everybody(Script):
    """Every target in one transport: each judges what it gets as its service would, and answers with a Chat reply."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: list[str] = []

    def answer(self, request: HttpRequest) -> Line:
        """A refusal of a strict service, or a reply; which one is noted."""
        self.requests.append(request)
        reply = self._refusal(request)
        if reply is not None:
            self.refused.append(f"{request.target}: {reply.body.decode()[:200]}")
        reply = reply or chat()
        return Line(status=reply.status, headers=reply.headers, pieces=(reply.body,))

    def _refusal(self, request: HttpRequest) -> HttpReply | None:
        provider = (request.target or "").partition("/")[0]
        if provider == "local":
            try:
                local_plan(request.body)
            except ChatError as error:
                return HttpReply(status=400, body=encode({"error": {"message": error.message, "code": error.code}}))
        if provider in {"openai", "openai-chat", "openai-responses", "anthropic", "google"}:
            return judge(request.dialect or "", request, keyless=True).reply
        return None


def _request(body: dict[str, Any]) -> Request:
    sent = HttpRequest(url="http://h/v1/chat/completions", body=encode({"model": "m", **body}))
    return get_dialect("openai-chat").decode_request(sent, DecodeOptions()).request


def _in_place(script: Script) -> Override:
    blocking, awaited = ReplayTransport(script=script), AsyncReplayTransport(script=script)
    return Override(lambda _: blocking, lambda _: awaited, answers=False)


@pytest.mark.parametrize("target", TARGETS)
@cells("feature", FEATURES)
def test_explain_never_names_a_target_that_the_library_refuses(target: str, feature: str) -> None:
    """Alone and before another target: the plan's first target gets the request and takes it; nobody else is asked."""
    request, registry = _request(FEATURES[feature]), Registry(ENVIRONMENT)
    options: dict[str, Any] = {
        name: getattr(request, name) for name in ("tools", "tool_choice", "output_schema", "effort", "n", "logprobs")
        if getattr(request, name) != getattr(Request(), name)
    }  # fmt: skip
    for spec in (target, f"{target},{LAST}"):
        model, script = _model(spec, registry), _Everybody()
        with overriding(_in_place(script)):
            plan = model.explain(list(request.messages[0].parts), **options)
            assert script.requests == []
            refused = _outcome(model, list(request.messages[0].parts), options)
        chosen = [entry.spec for entry in plan.targets if entry.chosen]
        assert [sent.target for sent in script.requests[:1]] == chosen, refused
        assert script.refused == []
        assert isinstance(refused, UnsupportedError) is not bool(chosen)


def _model(spec: str, registry: Registry) -> il.Model:
    return il.Model(spec, settle(Settings(warns=False), {"retries": 0}), registry=registry)


def _outcome(model: il.Model, prompt: Any, options: dict[str, Any]) -> Error | None:
    try:
        model.generate(prompt, **options)
    except Error as error:  # the Chat reply is no answer of another dialect; that it was sent is what counts
        return error
    return None


@pytest.mark.parametrize("target", TARGETS)
@cells("feature", FEATURES)
def test_explain_never_names_a_target_that_the_gateway_refuses(
    target: str, feature: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`/explain` of a body: the target that it names gets the request, knobs and all, and takes it."""
    monkeypatch.setattr("interlingua.client.call.chain._random", lambda: 0.0)  # no pause before it is asked again
    gateway = Gateway(GatewaySettings(), registry=Registry(ENVIRONMENT))
    for spec in (target, f"{target},{LAST}"):
        body, script = {"model": spec, **FEATURES[feature]}, _Everybody()
        with overriding(_in_place(script)):
            plan = told(ask(gateway, "/explain/v1/chat/completions", body))
            assert script.requests == []
            reply = ask(gateway, "/v1/chat/completions", body)
        chosen = [entry["spec"] for entry in plan["targets"] if entry["chosen"]]
        assert [sent.target for sent in script.requests[:1]] == chosen, reply.body
        if (spec.partition(",")[0], feature) in OWN_REFUSALS:
            assert plan["targets"][0]["relayed"]
            assert (reply.status, len(script.requests), len(script.refused)) == (400, 1, 1)
        else:
            assert script.refused == []
        if not chosen:
            assert reply.status == 400
