from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

import interlingua as il
from interlingua import compat
from interlingua.compat import AsyncOpenAI, OpenAI
from interlingua.compat.account import Account, timeouts_of
from interlingua.compat.asking import ask
from interlingua.compat.calls import asked_of
from interlingua.testing import FakeModel, tool_call, use
from interlingua.transport.base import Timeouts

HI: list[dict[str, Any]] = [{"role": "user", "content": "Hi"}]


@dataclass
class Trip:
    city: str
    days: int


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def _target(account: Account, model: str, dialect: str = "openai-chat") -> Any:
    members = {"messages": HI} if dialect == "openai-chat" else {"input": "Hi"}
    [target] = ask(dialect, {"model": model, **members}, account).call.targets
    return target


# Arguments of a client


def test_a_bare_name_is_openai_s() -> None:
    """A name without a provider goes to OpenAI in the dialect of the body; an alias and a spec are what they are."""
    assert _target(Account(), "gpt-5.2").endpoint.spec == "openai-chat/gpt-5.2"
    assert _target(Account(), "gpt-5.2", "openai-responses").endpoint.spec == "openai/gpt-5.2"
    assert _target(Account(), "anthropic/claude-opus-5").endpoint.spec == "anthropic/claude-opus-5"


def test_an_alias_stays_an_alias(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an environment calls `smart` is that."""
    monkeypatch.setenv("LLM_SMART", "google/gemini-3-pro")
    assert _target(Account(), "smart").endpoint.spec == "google/gemini-3-pro"


def test_a_base_url_takes_every_name_as_it_stands() -> None:
    """With an address the name of the model is the server's own, slashes included, and the dialect is the body's."""
    account = OpenAI(base_url="http://localhost:8000/v1/", api_key="sk-own")._account
    target = _target(account, "org/some-model")
    assert (target.endpoint.base_url, target.endpoint.model) == ("http://localhost:8000/v1", "org/some-model")
    assert target.endpoint.credential.reveal() == "sk-own"
    assert target.dialect.name == "openai-chat"
    assert _target(account, "m", "openai-responses").dialect.name == "openai-responses"


def test_the_environment_names_the_address_and_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """OPENAI_BASE_URL and OPENAI_API_KEY stand for arguments that are not given, as in the SDK."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:9000/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    endpoint = _target(OpenAI()._account, "m").endpoint
    assert (endpoint.base_url, endpoint.credential.reveal()) == ("http://localhost:9000/v1", "sk-environment")


def test_a_key_goes_to_openai_and_to_nobody_else() -> None:
    """The key that a client is given is OpenAI's; a target of somebody else is refused, never shown the key."""
    client = OpenAI(api_key=lambda: "sk-openai")
    assert _target(client._account, "gpt-5.2").endpoint.credential.reveal() == "sk-openai"
    with pytest.raises(il.UsageError, match="api_key is OpenAI's and anthropic/claude-opus-5 is not: leave it out"):
        client.chat.completions.create(model="anthropic/claude-opus-5", messages=HI)


def test_a_key_is_never_shown() -> None:
    """Not by what keeps it, and not by an error; one that would have to be awaited is refused."""
    client = OpenAI(api_key="sk-very-secret-key-1234")
    assert "very-secret" not in f"{client!r} {client._account!r}"
    with pytest.raises(il.UsageError, match="not one to await"):
        AsyncOpenAI(api_key=asyncio.sleep)  # pyright: ignore[reportArgumentType]  # the point


def test_headers_add_up_and_the_time_is_the_call_s() -> None:
    """`default_headers` and `extra_headers` are sent together; `timeout` of a call replaces the client's."""
    client = OpenAI(default_headers={"X-Team": "7"}, timeout=5)
    members = {"model": "m", "messages": HI, "extra_headers": {"X-Call": "1"}, "extra_body": {"seed": 7}}
    asked = asked_of("openai-chat", client._account, members)
    assert asked.call.settings.headers == (("x-team", "7"), ("x-call", "1"))
    assert asked.call.settings.timeouts == timeouts_of(5)
    assert asked.call.request.seed == 7
    asked = asked_of("openai-chat", client._account, {**members, "timeout": 1.5})
    assert asked.call.settings.timeouts == timeouts_of(1.5)
    with pytest.raises(il.UsageError, match=r"extra_query is not taken here: .*il\.register_provider"):
        asked_of("openai-chat", client._account, {**members, "extra_query": {"a": "b"}})


def test_times_are_those_of_the_phases() -> None:
    """Seconds hold for each phase, as in httpx; an object has one for each; None waits for ever; a word is refused."""
    each = Timeouts(connect_s=5, first_byte_s=5, idle_s=5, total_s=None, pool_s=5)
    assert timeouts_of(5) == each
    phases = SimpleNamespace(connect=1.0, read=2.0, write=3.0, pool=4.0)
    assert timeouts_of(phases) == Timeouts(connect_s=1.0, first_byte_s=2.0, idle_s=2.0, total_s=None, pool_s=4.0)
    assert timeouts_of(None).total_s is None
    with pytest.raises(il.UsageError, match="timeout takes seconds"):
        timeouts_of("soon")


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"max_retries": 8}, "max_retries takes a number of times, 0 to 7, not 8"),
    ({"organization": "org"}, "default_headers="),
    ({"http_client": object()}, "proxies and certificates come from the environment"),
    ({"default_query": {"a": "b"}}, "il.register_provider"),
    ({"nonsense": 1}, "nonsense is not taken here$"),
]


@pytest.mark.parametrize("kind", [OpenAI, AsyncOpenAI])
@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_no_argument_is_ignored_in_silence(kind: Callable[..., Any], arguments: dict[str, Any], words: str) -> None:
    """What is not honoured is refused in words; what says nothing is nothing."""
    with pytest.raises(il.UsageError, match=words):
        kind(**arguments)
    kind(max_retries=0, organization=None)


def test_max_retries_is_honoured() -> None:
    """How often a target is asked again is the client's; a copy may say otherwise; None leaves it to us."""
    client = OpenAI(api_key="sk-a", max_retries=4)
    members = {"model": "gpt-5.2", "messages": [{"role": "user", "content": "Hi"}]}
    assert asked_of("openai-chat", client._account, members).call.settings.retries == 4
    assert client.with_options(max_retries=0)._account.retries == 0
    assert OpenAI(api_key="sk-a")._account.retries is None
    with use(FakeModel([il.OverloadedError("busy"), il.OverloadedError("busy"), "Hello"])):
        asked = client.chat.completions.create(model="gpt-5.2", messages=[{"role": "user", "content": "Hi"}])
    assert asked.choices[0].message.content == "Hello"
    assert asked.interlingua is not None
    assert len(asked.interlingua.attempts) == 3


def test_options_make_a_copy() -> None:
    """`with_options` and `copy` change what they are given and keep the rest."""
    client = OpenAI(api_key="sk-a", timeout=5)
    other = client.with_options(timeout=9)
    assert other._account.timeouts == timeouts_of(9)
    for made in (client, other, client.copy()):
        assert made._account.api_key is not None
        assert made._account.api_key.reveal() == "sk-a"
    assert client.copy()._account.timeouts == timeouts_of(5)


def test_what_is_not_there_says_what_is() -> None:
    """Other resources of the SDK are an AttributeError with the way out."""
    with pytest.raises(AttributeError, match=r"has no 'images'; there is chat\.completions, responses and embeddings"):
        _ = OpenAI().images  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]  # the point
    with pytest.raises(AttributeError, match="has no 'retrieve'; there is create and parse"):
        _ = OpenAI().responses.retrieve  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]  # the point


def test_importing_is_cheap() -> None:
    """The names load nothing that speaks to anybody, and no package of another vendor."""
    code = (
        "import sys; from interlingua.compat import OpenAI, completion; "
        "print([name for name in sys.modules if name.partition('.')[0] in ('asyncio', 'ssl', 'openai', 'pydantic')"
        " or name.startswith(('interlingua.client', 'interlingua.dialects', 'interlingua.transport'))])"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_the_names_of_the_module() -> None:
    """Every listed name can be had and is shown; an unknown one is an AttributeError; errors have the SDK's names."""
    assert [name for name in compat.__all__ if not hasattr(compat, name)] == []
    assert set(compat.__all__) <= set(dir(compat))
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = compat.Nonsense
    assert issubclass(compat.APITimeoutError, compat.APIConnectionError)
    assert issubclass(compat.RateLimitError, compat.APIStatusError)
    assert issubclass(compat.APIStatusError, compat.APIError)


# Bodies and answers


@pytest.mark.filterwarnings("ignore::interlingua.client.call.report.ChangeWarning")
def test_changes_are_there() -> None:
    """What the way there and back changed, and the canonical answer, with the target that served."""
    with use(FakeModel("Hi")):
        reply = OpenAI().chat.completions.create(
            model="anthropic/claude-opus-5", messages=HI, max_completion_tokens=9, frequency_penalty=0.5, made_up=1
        )
    assert [(change.code, change.path) for change in reply.changes] == [
        ("parameter_unsupported", "/frequency_penalty"),
        ("extra_foreign", "/extra/openai-chat"),
    ]
    assert reply.interlingua is not None
    assert reply.interlingua.model == "anthropic/claude-opus-5"
    assert [attempt.outcome for attempt in reply.interlingua.attempts] == ["served"]


def test_unknown_members_travel_to_their_own_dialect() -> None:
    """A member that nobody knows reaches a server of Chat as it is, and None is not said."""
    with use(FakeModel("Hi")) as fake:
        OpenAI().chat.completions.create(model="gpt-5.2", messages=HI, made_up={"a": None}, seed=None)
    assert fake.last_request.extra == {"openai-chat": {"made_up": {"a": None}}}
    assert fake.last_request.seed is None


def test_a_bad_body_is_an_error_with_its_place() -> None:
    """The place of the first bad member is named, in JSON and in Python."""
    client = OpenAI()
    with pytest.raises(il.DecodeError, match="/messages/0/content"):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": 3}])
    with pytest.raises(il.UsageError, match=r"messages\[0\]\.content: <object .* is no JSON"):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": object()}])
    with pytest.raises(il.UsageError, match=r"response_format: .* a type belongs in parse"):
        client.chat.completions.create(model="m", messages=HI, response_format=Trip)


def test_a_stream_tells_what_it_came_to() -> None:
    """Pieces of text and of arguments as they come; at the end the canonical answer is there."""
    with (
        use(FakeModel([["On my way. ", tool_call("get_weather", city="Oslo")]])),
        OpenAI().chat.completions.create(model="anthropic/claude-opus-5", messages=HI, stream=True) as stream,
    ):
        assert stream.interlingua is None
        chunks = list(stream)
    deltas = [chunk.choices[0].delta for chunk in chunks]
    assert "".join(delta.content or "" for delta in deltas) == "On my way. "
    calls = [piece.function.arguments for delta in deltas for piece in delta.tool_calls or ()]
    assert "".join(calls) == '{"city":"Oslo"}'
    assert chunks[-1].choices[0].finish_reason == "tool_calls"
    assert stream.interlingua is not None
    assert stream.interlingua.tool_calls[0].arguments == {"city": "Oslo"}
    assert "parameter_added" in {change.code for change in stream.changes}


def test_a_closed_stream_gives_nothing_more() -> None:
    """What its reader closed half-way does not look like a whole answer."""
    with use(FakeModel("one two three")):
        stream = OpenAI().responses.create(model="gpt-5.2", input="Hi", stream=True)
        assert next(stream).type == "response.created"
        stream.close()
        with pytest.raises(il.UsageError, match="closed before its end"):
            list(stream)


def test_parse_gives_a_value() -> None:
    """A dataclass is as good as a pydantic model, on both resources."""
    with use(FakeModel(['{"city": "Oslo", "days": 2}', '{"city": "Bergen", "days": 3}'])):
        chat = OpenAI().chat.completions.parse(model="gpt-5.2", messages=HI, response_format=Trip)
        response = OpenAI().responses.parse(model="gpt-5.2", input="Hi", text_format=Trip)
    assert chat.choices[0].message.parsed == Trip("Oslo", 2)
    assert response.output_parsed == Trip("Bergen", 3)


def test_what_is_not_parsed() -> None:
    """A refusal has words and no value, as in the SDK; an answer that does not fit is an error with the answer."""
    with use(FakeModel([il.Response(parts=(il.RefusalPart("No."),), finish_reason="refusal"), "no JSON"])):
        reply = OpenAI().chat.completions.parse(model="gpt-5.2", messages=HI, response_format=Trip)
        assert (reply.choices[0].message.parsed, reply.choices[0].message.refusal) == (None, "No.")
        with pytest.raises(il.OutputError) as caught:
            OpenAI().chat.completions.parse(model="gpt-5.2", messages=HI, response_format=Trip)
    assert caught.value.fault == "invalid"


def test_the_awaited_client() -> None:
    """Whole answers, streams and values, awaited; calls of one client may run at once."""

    async def main() -> list[Any]:
        async with AsyncOpenAI() as client:
            replies = await asyncio.gather(
                *[client.chat.completions.create(model="gpt-5.2", messages=HI) for _ in range(3)]
            )
            async with await client.responses.create(model="gpt-5.2", input="Hi", stream=True) as stream:
                texts = [event.delta async for event in stream if event.type == "response.output_text.delta"]
            parsed = await client.responses.parse(model="gpt-5.2", input="Hi", text_format=Trip)
            chat = await client.chat.completions.parse(model="gpt-5.2", messages=HI, response_format=Trip)
        contents = [reply.choices[0].message.content for reply in replies]
        return [contents, texts, parsed.output_parsed, chat.choices[0].message.parsed]

    value = '{"city": "Oslo", "days": 2}'
    with use(FakeModel(["a", "a", "a", "one two", value, value])):
        assert asyncio.run(main()) == [["a"] * 3, ["one ", "two"], Trip("Oslo", 2), Trip("Oslo", 2)]
