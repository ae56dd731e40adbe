"""The codec for a provider: what it makes is what a model of the library sends there, byte by byte, and is taken."""

from __future__ import annotations

import base64
import io
import json
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import pytest
from msgspec.structs import replace
from PIL import Image

import interlingua as il
from interlingua import codec
from interlingua.client.call.core import Outcome, call_steps, stream_steps
from interlingua.client.call.pump import Pump, carried_out
from interlingua.client.face import call_of
from interlingua.dialects._contract import DecodeOptions, Quirks
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.providers.rows import ROWS
from interlingua.testing.upstream import judge_body
from interlingua.transport.override import Override, overriding
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import encode
from tests.support.cells import cells

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.transport.base import Reply, Timeouts

pytestmark = pytest.mark.filterwarnings("ignore::interlingua.ChangeWarning")

SPOKEN = [name for name, row in ROWS.items() if set(row.dialects) & set(DIALECTS)]
LONG_ID = "call_0123456789_0123456789_0123456789_0123456789"
CITY: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Its name."}},
    "required": ["city"],
}
PLAIN: dict[str, Any] = {"name": "get.weather", "description": "Weather of a city.", "parameters": CITY}


def png(width: int, height: int) -> bytes:
    """A white picture."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), "white").save(file, "PNG")
    return file.getvalue()


SMALL, LARGE = (base64.b64encode(png(*size)).decode() for size in ((8, 8), (4_000, 9)))


def _image(data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


LOOP: dict[str, Any] = {
    "model": "m",
    "max_tokens": 500,
    "temperature": 0.5,
    "top_k": 40,
    "stop_sequences": ["a", "b", "c", "d", "e", "f"],
    "metadata": {"user_id": "u-1"},
    "tools": [{"name": "get_weather", "description": "Weather of a city.", "input_schema": CITY}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Weather?"}, _image(SMALL)]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": LONG_ID, "name": "get_weather", "input": {"city": "Oslo"}}],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": LONG_ID,
                    "content": [{"type": "text", "text": "4 °C"}, _image(LARGE)],
                }
            ],
        },
    ],
}
SCHEMA: dict[str, Any] = {
    "model": "m",
    "seed": 7,
    "stop": ["."],
    "reasoning_effort": "low",
    "messages": [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Oslo is 4 degrees."}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "place", "strict": True, "schema": CITY}},
}
FORCED: dict[str, Any] = {
    "model": "m",
    "stream": True,
    "messages": [{"role": "user", "content": "Weather?"}],
    "tools": [{"type": "function", "function": {"name": "get_weather", "strict": True, "parameters": CITY}}],
    "tool_choice": {"type": "function", "function": {"name": "get_weather"}},
    "parallel_tool_calls": False,
}
BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "loop": ("anthropic", LOOP),
    "schema": ("openai-chat", SCHEMA),
    "forced": ("openai-chat", FORCED),
}
MODELS = {"anthropic": "claude-opus-5", "google": "gemini-3-pro", "openai": "gpt-4.1", "openai-chat": "gpt-4.1",
          "openai-responses": "gpt-4.1", "azure": "gpt-4.1"}  # fmt: skip


class _Captured(Exception):  # noqa: N818 - no error: the end of a call of which only the request is wanted
    """What would have gone out."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__()
        self.request = request


class _Capturing:
    """A transport that sends nothing."""

    def open(self, request: HttpRequest, timeouts: Timeouts) -> Reply:
        """Give the request to whoever waits for it."""
        del timeouts
        raise _Captured(request)


@pytest.fixture(autouse=True)
def _addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows whose host only the user knows have one."""
    for name, row in ROWS.items():
        if row.needs_host:
            monkeypatch.setenv(f"LLM_{name.replace('-', '_').upper()}", f"{name}://KEY@host.example")
        for variable in row.variables:
            monkeypatch.setenv(variable.env[0], "somewhere")


def _sent(request: il.Request, spec: str, *, streamed: bool, **options: Any) -> HttpRequest:
    """What a model of the library sends for a request."""
    nowhere = cast("Any", _Capturing())
    with overriding(Override(lambda _: nowhere, lambda _: nowhere, answers=True)):
        call = replace(call_of(cast("Any", il.model(spec, retries=0, **options)), "?", None, {}), request=request)
        asking = Pump(stream_steps(call, Outcome())).pull if streamed else partial(carried_out, call_steps(call))
        with pytest.raises(_Captured) as captured:
            asking()
    return captured.value.request


def _model(provider: str) -> str:
    return MODELS.get(provider, "some-model")


@pytest.mark.parametrize("case", BODIES)
@cells("provider", SPOKEN)
def test_r56_a_bridge_makes_what_a_model_sends(provider: str, case: str) -> None:
    """Body, path and headers are the same bytes for every row; where the one refuses, so does the other."""
    source, body = BODIES[case]
    asked = HttpRequest(url="https://localhost/", body=encode(body))
    request = get_dialect(source).decode_request(asked, DecodeOptions()).request
    streamed = body.get("stream") is True
    bridge = codec.bridge(source, provider=provider, model=_model(provider), allow=["output_schema"])
    told, sent = _outcome(lambda: bridge.request(body)), _outcome(partial(_sent_to, provider, request, streamed))
    if isinstance(told, tuple):
        assert told == sent
        return
    assert isinstance(sent, HttpRequest)
    assert encode(told) == sent.body
    assert sent.url.partition("?")[0].endswith(bridge.path.partition("?")[0])
    assert set(bridge.headers) <= set(sent.headers)


def _sent_to(provider: str, request: il.Request, streamed: bool) -> HttpRequest:
    return _sent(request, f"{provider}/{_model(provider)}", streamed=streamed, allow=["output_schema"])


def _outcome(ask: Callable[[], Any]) -> Any:
    """What comes of it, or the changes of its refusal."""
    try:
        return ask()
    except il.UnsupportedError as refusal:
        return refusal.changes


OFFICIAL = ("openai", "openai-chat", "openai-responses", "azure", "anthropic", "google", "ollama", "cohere")


@cells("case", BODIES)
@cells("provider", OFFICIAL)
def test_r56_what_a_bridge_makes_is_taken(provider: str, case: str) -> None:
    """The strict upstream finds nothing: no media in results, no knob, no count and no id that it would refuse."""
    source, body = BODIES[case]
    bridge = codec.bridge(source, provider=provider, model=_model(provider), allow=["output_schema"])
    told = bridge.request(body)
    dialect = ROWS[provider].dialects[0]
    base = {"google": "/v1beta", "ollama": "", "cohere": "/v2"}.get(dialect, "/v1")
    headers = (("anthropic-version", "2023-06-01"), *bridge.headers)
    path = (base + bridge.path).partition("?")[0]
    verdict = judge_body(dialect, encode(told), model=_model(provider), path=path, headers=headers)
    assert verdict.ok, str(verdict)


@cells("provider", SPOKEN)
def test_r56_definitions_are_the_tools_that_a_model_sends(provider: str) -> None:
    """A dict with notes of its caller, and a name that few take, are the `tools` member of the request."""
    noted = {**PLAIN, "metadata": {"owner": "team-a"}}
    model = _model(provider)
    [tool] = codec.decode_definitions([noted])
    assert isinstance(tool, il.Tool)
    sent = _sent(il.Request(messages=(il.user("?"),), tools=(tool,)), f"{provider}/{model}", streamed=False)
    told = codec.encode_definitions([noted], provider=provider, model=model)
    body = json.loads(sent.body)
    assert json.loads(encode(told)) == body.get("toolConfig", body)["tools"]
    assert b"team-a" not in sent.body


@pytest.mark.parametrize("provider", SPOKEN)
def test_r56_results_are_the_messages_that_a_model_sends(provider: str) -> None:
    """A result with an image and a long id is the end of the conversation of the request."""
    if ROWS[provider].family == "local" or provider == "local":
        pytest.skip("the engine in the process takes no images")
    results = (il.ToolResult(LONG_ID, "get_weather", (il.TextPart("4 °C"), il.ImagePart(png(8, 8), "image/png"))),)
    turn = il.Message("assistant", (il.ToolCall(LONG_ID, "get_weather", "{}"),))
    model = _model(provider)
    request = il.Request(messages=(turn, il.Message("tool", results)))
    told = codec.encode_result(results, provider=provider, model=model)
    sent = _sent(request, f"{provider}/{model}", streamed=False)
    body = json.loads(sent.body)
    history = body.get("messages") or body.get("input") or body.get("contents")
    assert history[-len(told) :] == json.loads(encode(told))


# Words, names and changes


def test_r56_openai_is_chat_with_the_quirks_of_its_row() -> None:
    """Media of a result go to the message after it, a long id is mapped; the dialect alone says all as it is."""
    result = il.ToolResult(LONG_ID, "f", (il.TextPart("4"), il.ImagePart(png(1, 1), "image/png")))
    changes: list[il.Change] = []
    told = codec.encode_result(result, "openai", changes=changes)
    assert [message["role"] for message in told] == ["tool", "user"]
    assert told[0]["content"] == "4"
    assert len(told[0]["tool_call_id"]) == 40
    assert [(change.code, change.path) for change in changes] == [
        ("result_media_moved", "/0/content"),
        ("id_mapped", ""),
    ]
    plain: list[il.Change] = []
    [alone] = codec.encode_result(result, "openai-chat", changes=plain)
    assert (alone["tool_call_id"], [part["type"] for part in alone["content"]]) == (LONG_ID, ["text", "image_url"])
    assert plain == []


def test_r56_mapped_names_are_told_and_come_back() -> None:
    """A name that the provider does not take has an entry at its definition, and the calls have it again."""
    changes: list[il.Change] = []
    [tool] = codec.encode_definitions([PLAIN], provider="groq", changes=changes)
    name = tool["function"]["name"]
    assert (name, [(change.code, change.path) for change in changes]) == (
        "get_weather_T3RehTJ5",
        [("name_mapped", "/0/name")],
    )
    wire_call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": ""}}
    body = {"choices": [{"message": {"role": "assistant", "tool_calls": [wire_call]}, "finish_reason": "tool_calls"}]}
    repairs: list[il.Change] = []
    [call] = codec.decode_tool_calls(body, provider="groq", definitions=[PLAIN], changes=repairs)
    assert isinstance(call, il.ToolCall)
    assert (call.name, call.arguments) == ("get.weather", {})
    assert [change.code for change in repairs] == ["arguments_empty"]


def test_r56_a_row_of_ones_own_is_a_provider() -> None:
    """A value in the place of a name, with its own quirks."""
    row = replace(ROWS["groq"], name="mine", quirks=Quirks(max_tokens_field="max_tokens"))
    bridge = codec.bridge("anthropic", provider=row, model="m")
    told = bridge.request({"model": "x", "max_tokens": 7, "messages": [{"role": "user", "content": "Hi"}]})
    assert told == {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 7}


def test_r56_a_bridge_without_a_model_asks_for_the_clients() -> None:
    """The facts are those of the model that the body names."""
    bridge = codec.bridge("openai-chat", provider="openai-chat")
    bridge.request({"model": "gpt-6-astra", "temperature": 0.5, "messages": [{"role": "user", "content": "Hi"}]})
    assert [change.path for change in bridge.changes] == ["/temperature"]


def test_r56_a_refusal_names_the_result() -> None:
    """Its places are those of the results, not of the request around them."""
    result = il.ToolResult("c1", "f", (il.AudioPart(b"RIFF", "audio/wav"),))
    with pytest.raises(il.UnsupportedError, match="results/0/content/0") as refused:
        codec.encode_result(result, provider="anthropic", model="claude-opus-5")
    assert [(change.code, change.path) for change in refused.value.changes] == [("audio", "/0/content/0")]


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        ((), {}, "name a dialect, such as 'anthropic', or a provider, such as provider='groq'"),
        ((), {"provider": "grok"}, "no provider 'grok'; did you mean 'groq'?"),
        ((), {"provider": "x"}, "no provider 'x'; an il.Provider of your own can stand in its place"),
        (("anthropic",), {"provider": "groq"}, "groq speaks openai-chat, not anthropic"),
    ],
)
def test_r56_names_that_do_not_fit_are_errors(arguments: tuple[str, ...], options: Any, sentence: str) -> None:
    """All operations say the same sentence, before anything is translated."""
    for ask in (
        lambda: codec.encode_definitions([PLAIN], *arguments, **options),
        lambda: codec.decode_tool_calls({}, *arguments, **options),
        lambda: codec.encode_result([], *arguments, **options),
        lambda: codec.bridge("openai-chat", *arguments, **options),
    ):
        with pytest.raises(il.UsageError, match=sentence.replace("?", r"\?")):
            ask()
