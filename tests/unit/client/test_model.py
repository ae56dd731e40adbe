"""Calls answered as a whole, in both faces: what is sent, what comes back, how a chain goes on."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings
from typing import Any

import pytest

import interlingua as il
from interlingua import aio
from interlingua.registry.resolve import Registry
from interlingua.testing import use
from interlingua.wire.http import HttpReply, header
from interlingua.wire.json import decode_any, encode
from tests.support.client import AWAITED, BLOCKING, Face, chat, scripted

KEY = "sk-test-0123456789abcdef"
JSON = (("content-type", "application/json"),)


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


def _error(status: int, **error: Any) -> HttpReply:
    return HttpReply(status=status, headers=JSON, body=encode({"error": {"message": "No.", "type": "x", **error}}))


def _call(arguments: str) -> dict[str, Any]:
    return {"id": "call_9", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}


@pytest.mark.parametrize("streamed", [False, True])
def test_what_the_headers_say_is_in_the_answer(face: Face, streamed: bool) -> None:
    """The provider's id of the request and its limits, whole and streamed; of an error too."""
    limits = (
        ("x-request-id", "req_7"),
        ("x-ratelimit-limit-requests", "500"),
        ("x-ratelimit-remaining-requests", "499"),
        ("x-ratelimit-reset-requests", "1.5s"),
    )
    whole = HttpReply(status=200, headers=(*JSON, *limits), body=chat("Hi").body)
    expected = {"requests": il.RateLimit(limit=500, remaining=499, reset_s=1.5)}
    with scripted(whole):
        model = face.model("openai-chat/gpt-4.1")
        reply = face.finish(model.stream("Hi")) if streamed else face.generate(model, "Hi")
    assert (reply.request_id, reply.rate_limits) == ("req_7", expected)
    refused = _error(429)
    with (
        scripted(HttpReply(status=429, headers=(*JSON, *limits), body=refused.body)),
        pytest.raises(il.Error) as caught,
    ):
        face.generate(face.model("openai-chat/gpt-4.1"), "Hi")
    assert (caught.value.request_id, caught.value.rate_limits) == ("req_7", expected)


def test_a_call_gives_a_whole_response(face: Face) -> None:
    """Text, usage, who served, what was asked and how it was tried are all there."""
    with scripted(chat("Oslo is small.")) as script:
        reply = face.generate(face.model("openai-chat/gpt-4.1", max_tokens=20), "One line on Oslo.")
    assert reply.text == "Oslo is small."
    assert reply.model == "openai-chat/gpt-4.1"
    assert reply.wire_model == "gpt-test-1"
    assert reply.finish_reason == "stop"
    assert reply.usage == il.Usage(input_tokens=3, output_tokens=2)
    assert reply.cost_usd is None
    assert reply.request == il.Request(messages=(il.user("One line on Oslo."),), max_tokens=20)
    assert [(attempt.model, attempt.outcome) for attempt in reply.attempts] == [("openai-chat/gpt-4.1", "served")]
    [sent] = script.requests
    assert sent.target == "openai-chat/gpt-4.1"
    assert decode_any(sent.body)["messages"] == [{"role": "user", "content": "One line on Oslo."}]


def test_the_request_carries_key_headers_and_extra(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key stands in its header, the caller's headers and wire members are beside ours."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = face.model("openai-chat/gpt-4.1", headers={"X-Tenant": "7"})
    with scripted(chat(), alone=False) as script:
        face.generate(model, extra={"openai-chat": {"safety_identifier": "u"}, "google": {"labels": {}}})
    [sent] = script.requests
    assert sent.url == "https://api.openai.com/v1/chat/completions"
    assert header(sent.headers, "authorization") == f"Bearer {KEY}"
    assert header(sent.headers, "x-tenant") == "7"
    assert decode_any(sent.body)["safety_identifier"] == "u"
    assert "labels" not in decode_any(sent.body)


@pytest.mark.parametrize("spec", [3, ["openai-chat/gpt-4.1", "fake/x"]])
def test_a_model_is_named_by_a_text(face: Face, spec: Any) -> None:
    """Said where it is made; a chain is one text, too."""
    with pytest.raises(il.UsageError, match="a model is named by a text, 'provider/model' or 'a/b,c/d', not by"):
        face.model(spec)


def test_a_missing_key_says_which(face: Face) -> None:
    """Without a key nothing is sent, and the error names the variable."""
    with scripted(chat(), alone=False) as script, pytest.raises(il.ConfigError, match="OPENAI_API_KEY"):
        face.generate(face.model("openai-chat/gpt-4.1"))
    assert script.requests == []


def test_a_conversation_goes_on(face: Face) -> None:
    """`history=reply` sends what was said before, byte for byte, and the reply holds it all."""
    with scripted(chat("Oslo."), chat("Bergen.")) as script:
        model = face.model("openai-chat/gpt-4.1", system="Be terse.")
        first = face.generate(model, "Capital?")
        second = face.generate(face.model("openai-chat/gpt-4.1"), "Second city?", history=first)
    before, after = [decode_any(request.body)["messages"] for request in script.requests]
    assert after[: len(before)] == before
    assert after[len(before) :] == [
        {"role": "assistant", "content": "Oslo."},
        {"role": "user", "content": "Second city?"},
    ]
    assert second.messages == (
        il.system("Be terse."),
        il.user("Capital?"),
        il.assistant("Oslo."),
        il.user("Second city?"),
        il.assistant("Bergen."),
    )


def test_a_stored_conversation_sends_the_same_bytes(face: Face) -> None:
    """Dumped and loaded, a conversation goes on exactly as it would have without a break."""
    with scripted(chat("Oslo.")):
        reply = face.generate(face.model("openai-chat/gpt-4.1", system="Be terse."), "Capital?")
    with scripted(chat(), chat()) as script:
        model = face.model("openai-chat/gpt-4.1")
        face.generate(model, "Next?", history=reply)
        face.generate(model, "Next?", history=il.load(il.dump(reply.messages)))
    assert script.requests[0].body == script.requests[1].body


def test_tool_calls_come_parsed(face: Face) -> None:
    """A call has its name, its exact text and its arguments."""
    with scripted(chat(None, calls=[_call('{"city": "Oslo"}')], finish="tool_calls")):
        reply = face.generate(face.model("openai-chat/gpt-4.1"), tools=[il.Tool(name="get_weather")])
    [call] = reply.tool_calls
    assert (call.name, call.arguments_json, call.arguments) == ("get_weather", '{"city": "Oslo"}', {"city": "Oslo"})
    assert reply.finish_reason == "tool_calls"


def test_malformed_arguments_are_an_error_with_the_call(face: Face) -> None:
    """R21: a call whose arguments are not one JSON object is never handed on."""
    answer = chat(None, calls=[_call('{"city": ')], finish="tool_calls")
    sentence = r"called get_weather \(call_9\)"
    with scripted(answer), pytest.raises(il.MalformedArgumentsError, match=sentence) as caught:
        face.generate(face.model("openai-chat/gpt-4.1"), tools=[il.Tool(name="get_weather")])
    assert caught.value.call == il.BrokenToolCall("call_9", "get_weather", '{"city": ', "malformed")
    assert caught.value.response is not None
    assert caught.value.attempts[0].outcome == "failed"
    assert str(caught.value).endswith("arguments that are not one JSON object (malformed)")
    assert caught.value.__notes__ == ["What came is in .call.raw_arguments."]  # for who has the object


def test_a_call_cut_by_the_length_limit_is_no_error(face: Face) -> None:
    """R20: it stays in the parts as a broken call, never among the calls."""
    with scripted(chat(None, calls=[_call('{"city": "Os')], finish="length")):
        reply = face.generate(face.model("openai-chat/gpt-4.1"), tools=[il.Tool(name="get_weather")])
    assert reply.finish_reason == "length"
    assert reply.tool_calls == ()
    assert isinstance(reply.parts[0], il.BrokenToolCall)
    assert reply.parts[0].reason == "cut_off"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, il.BadRequestError),
        (401, il.AuthenticationError),
        (404, il.NotFoundError),
        (429, il.RateLimitError),
        (500, il.InternalServerError),
    ],
)
def test_errors_of_the_provider_have_their_class(face: Face, status: int, kind: type[il.Error]) -> None:
    """An error reply is the error that it stands for, with the try that met it."""
    with scripted(_error(status)), pytest.raises(kind) as caught:
        face.generate(face.model("openai-chat/gpt-4.1"))
    assert type(caught.value) is kind
    assert caught.value.status == status
    assert [attempt.status for attempt in caught.value.attempts] == [status]


@pytest.mark.parametrize(
    "problem",
    [
        _error(401),
        _error(404),
        _error(429),
        _error(500),
        _error(413),
        il.APIConnectionError("cannot connect to a:443"),
        il.APITimeoutError("silence", phase="first_byte"),
        HttpReply(status=200, headers=JSON, body=b"{"),
        chat(None, calls=[_call("nonsense")], finish="tool_calls"),
    ],
    ids=repr,
)
def test_a_chain_goes_on_after_a_fault_of_the_target(face: Face, problem: Any) -> None:
    """R42: the next target is asked, and every try is told."""
    with scripted(problem, chat("From the second.")):
        reply = face.generate(face.model("openai-chat/gpt-4.1,groq/llama"), tools=[il.Tool(name="get_weather")])
    assert (reply.text, reply.model) == ("From the second.", "groq/llama")
    assert [(attempt.model, attempt.outcome) for attempt in reply.attempts] == [
        ("openai-chat/gpt-4.1", "failed"),
        ("groq/llama", "served"),
    ]


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (_error(400), il.BadRequestError),
        (_error(422), il.BadRequestError),
    ],
    ids=["400", "422"],
)
def test_a_chain_stops_at_a_fault_of_the_request(face: Face, problem: Any, kind: type[il.Error]) -> None:
    """R42: another target would say the same."""
    with scripted(problem, chat()) as script, pytest.raises(kind) as caught:
        face.generate(face.model("openai-chat/gpt-4.1,groq/llama"))
    assert len(script.requests) == 1
    assert len(caught.value.attempts) == 1


def test_a_chain_that_is_exhausted_tells_every_try(face: Face) -> None:
    """R42: the error names each target with its reason, and whether trying later makes sense."""
    with scripted(_error(401), _error(429)), pytest.raises(il.ChainExhaustedError) as caught:
        face.generate(face.model("openai-chat/gpt-4.1,groq/llama"))
    assert "openai-chat/gpt-4.1: AuthenticationError" in caught.value.message
    assert "groq/llama: RateLimitError" in caught.value.message
    assert [attempt.status for attempt in caught.value.attempts] == [401, 429]
    assert caught.value.retryable
    assert isinstance(caught.value.__cause__, il.RateLimitError)


def test_a_target_that_cannot_take_the_request_is_skipped(face: Face) -> None:
    """R44: no request goes to it, and its try says skipped."""
    opaque = il.OpaquePart("anthropic", "media_ref", {"url": "https://example.com/a.png"})
    with scripted(chat()) as script, pytest.raises(il.UnsupportedError) as caught:
        face.generate(face.model("openai-chat/gpt-4.1"), ["See", opaque])
    assert script.requests == []
    assert [attempt.outcome for attempt in caught.value.attempts] == ["skipped"]


def test_strict_refuses_what_would_be_dropped(face: Face) -> None:
    """`strict=True` sends nothing that the target would not take as it is, and names everything."""
    with scripted(chat()) as script, pytest.raises(il.UnsupportedError, match=r"\(strict\): .*top_k") as caught:
        face.generate(face.model("openai-chat/gpt-4.1", strict=True), top_k=5, min_p=0.1)
    assert script.requests == []
    assert {change.path for change in caught.value.changes} == {"/top_k", "/min_p"}


def test_strict_takes_what_a_service_insists_on(face: Face) -> None:
    """A model of Claude must be told the most tokens: nobody said any, so nothing is lost, and it is in the changes."""
    with use("Hello."):
        reply = face.generate(face.model("anthropic/claude-opus-5", strict=True))
        with pytest.raises(il.UnsupportedError) as caught:
            face.generate(face.model("anthropic/claude-opus-5", strict=True), seed=3)
    assert [(change.code, change.path) for change in reply.changes] == [("parameter_added", "/max_tokens")]
    assert [(change.code, change.path) for change in caught.value.changes] == [("parameter_unsupported", "/seed")]


def test_what_is_dropped_is_said_and_warned_of(face: Face) -> None:
    """A knob that the target does not take is in the changes, and a warning points at this very line."""
    with scripted(chat()), pytest.warns(il.ChangeWarning, match="openai-chat/gpt-4.1: dropped /top_k") as caught:
        reply = face.generate(face.model("openai-chat/gpt-4.1"), top_k=5)
    assert [(change.action, change.path) for change in reply.changes] == [("dropped", "/top_k")]
    assert caught[0].filename.endswith("support/client.py")


def test_nothing_is_warned_of_that_nobody_set(face: Face) -> None:
    """What translation does by itself stays in the changes."""
    with scripted(chat()), warnings.catch_warnings():
        warnings.simplefilter("error")
        face.generate(face.model("openai-chat/gpt-4.1"))


def test_with_options_is_a_copy(face: Face) -> None:
    """The model itself stays as it was."""
    model = face.model("openai-chat/gpt-4.1", temperature=1.0)
    exact = model.with_options(temperature=0, seed=7)
    assert type(exact) is type(model)
    assert exact.settings.request == il.Request(temperature=0, seed=7)
    assert model.settings.request == il.Request(temperature=1.0)
    assert repr(exact) == f"{type(model).__name__}('openai-chat/gpt-4.1', temperature=…, seed=…)"


def test_a_model_crosses_process_borders(face: Face) -> None:
    """Also one that was used: it names its targets, and keys are looked up where it is used next."""
    model = face.model("openai-chat/gpt-4.1", temperature=0.5)
    with scripted(chat("Hi"), chat("Hi")) as asked:
        face.generate(model, "Hello")
        again = pickle.loads(pickle.dumps(model))
        face.generate(again, "Hello")
    first, second = asked.requests
    assert first.body == second.body
    assert repr(again) == repr(model)
    assert copy.deepcopy(model) is model


def test_a_model_of_a_registry_of_its_own_stays_here() -> None:
    """What that knows may be secret."""
    with pytest.raises(TypeError, match=r"^Model\('a/b'\) cannot be pickled: it has a registry of its own, whose keys"):
        pickle.dumps(il.Model("a/b", registry=Registry({})))


def test_the_environment_names_the_model(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a spec `INTERLINGUA_MODEL` decides, when the call is made; without both the error says so."""
    model = face.model()
    with pytest.raises(il.ConfigError, match=r"no model: name one.*INTERLINGUA_MODEL"):
        face.generate(model)
    monkeypatch.setenv("INTERLINGUA_MODEL", "fake/x")
    assert face.generate(model).model == "fake/x"


def test_an_unknown_model_is_an_error_when_it_is_called(face: Face) -> None:
    """Nothing is looked up before; then the sentence names it."""
    model = face.model("opnai/gpt-4.1")
    with pytest.raises(il.UnknownModelError, match="opnai"):
        face.generate(model)


def test_a_stand_in_needs_no_known_name(face: Face) -> None:
    """Where something answers by itself, any name will do, and none at all."""
    with scripted(chat("a"), chat("b")):
        assert face.generate(face.model("smart")).model == "smart"
        assert face.generate(face.model()).model == "model"


def test_a_chain_of_unknown_names_stays_a_chain(face: Face) -> None:
    """Each element that nothing defines has a stand-in of its own, so that a failover drill fails over."""
    refused = HttpReply(status=429, headers=(("content-type", "application/json"),), body=b'{"error":{"message":"no"}}')
    with scripted(refused, chat("b")):
        reply = face.generate(face.model("nobody/x, no-alias"))
    assert [(attempt.model, attempt.outcome) for attempt in reply.attempts] == [
        ("nobody/x", "failed"),
        ("no-alias", "served"),
    ]


def test_own_call_ids(face: Face) -> None:
    """R19: with `call_ids="own"` every call has an id of ours."""
    with scripted(chat(None, calls=[_call("{}")], finish="tool_calls")):
        reply = face.generate(face.model("openai-chat/gpt-4.1", call_ids="own"), tools=[il.Tool(name="get_weather")])
    [call] = reply.tool_calls
    assert call.id.startswith("call_")
    assert len(call.id) == len("call_") + 24


def test_a_web_page_is_a_decode_error(face: Face) -> None:
    """An HTML page under status 200 is no answer."""
    page = HttpReply(status=200, headers=(("content-type", "text/html"),), body=b"<html>Sign in</html>")
    with scripted(page), pytest.raises(il.DecodeError):
        face.generate(face.model("openai-chat/gpt-4.1"))


async def test_the_blocking_face_works_inside_a_running_loop() -> None:
    """A notebook has a loop running; that does not matter."""
    assert il.model("fake/x").generate("Hi").model == "fake/x"


async def test_the_awaited_face_needs_no_context() -> None:
    """`await model.generate(…)` is all there is to it."""
    reply = await aio.model("fake/x").generate("Hi")
    assert reply.model == "fake/x"


@pytest.mark.parametrize("name", ["generate", "stream", "explain", "with_options"])
def test_the_faces_share_their_signatures(name: str) -> None:
    """Both faces take the same, so that code moves between them by adding `await`."""
    blocking, awaited = (inspect.signature(getattr(kind, name)) for kind in (il.Model, aio.Model))
    assert [*blocking.parameters.values()] == [*awaited.parameters.values()]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"messages": [{"role": "user", "content": "Hi"}]}, "no option 'messages': what to say stands first"),
        ({"input": "Hi"}, "no option 'input': what to say stands first"),
        ({}, "nothing to send: the prompt is empty and there is no history"),
    ],
)
async def test_who_names_the_prompt_as_elsewhere_is_told_its_place(options: dict[str, Any], sentence: str) -> None:
    """Without a prompt it is not Python that answers, in no face and in no method."""
    blocking: Any = il.model("fake/x")
    awaited: Any = aio.model("fake/x")
    for ask in (blocking.generate, blocking.stream, awaited.stream):
        with pytest.raises(il.UsageError, match=sentence):
            ask(**options)
    with pytest.raises(il.UsageError, match=sentence):
        await awaited.generate(**options)
