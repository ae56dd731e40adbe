"""What the SDK's users do, done by the SDK and by `interlingua.compat`: answer by answer equal."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, cast

import msgspec
import pytest

openai = pytest.importorskip("openai", reason="the official SDK is not installed")

from pydantic import BaseModel  # noqa: E402 - comes with the SDK

import interlingua as il  # noqa: E402
from interlingua import compat  # noqa: E402
from interlingua.client.options import Settings  # noqa: E402
from interlingua.dialects._contract import DecodedRequest  # noqa: E402
from interlingua.testing.upstream import Call, Cut, Fail, Say, Upstream  # noqa: E402
from tests.contract.blocks import FENCE  # noqa: E402
from tests.contract.source import ROOT  # noqa: E402
from tests.support import tiny  # noqa: E402
from tests.support.cells import cells  # noqa: E402
from tests.support.chat_server import Said, chat_serving  # noqa: E402
from tests.support.compat import Caller, said  # noqa: E402

MODEL = "gpt-5.2"
PNG = "data:image/png;base64," + base64.b64encode(tiny.PNG).decode()
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
CHAT_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "get_weather", "description": "Weather of a city.", "parameters": PARAMETERS, "strict": True},
}
TOOL: dict[str, Any] = {
    "type": "function",
    "name": "get_weather",
    "description": "Weather of a city.",
    "parameters": PARAMETERS,
    "strict": True,
}
EVENT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "participants": {"type": "array", "items": {"type": "string"}}},
    "required": ["name", "participants"],
    "additionalProperties": False,
}


class CalendarEvent(BaseModel):
    name: str
    participants: list[str]


Scenario = Callable[[Caller], list[Any]]


# Chat Completions


def plain(caller: Caller) -> list[Any]:
    """One question with a developer's text, and knobs."""
    messages = [{"role": "developer", "content": "Talk like a pirate."}, {"role": "user", "content": "Ahoy?"}]
    reply = caller.chat(model=MODEL, messages=messages, max_completion_tokens=400, user="u1", metadata={"team": "7"})
    return [reply.to_dict(), reply.choices[0].message.content, reply.usage.total_tokens]


def in_pieces(caller: Caller) -> list[Any]:
    """A stream, with counts at its end."""
    chunks = caller.chat(
        model=MODEL,
        messages=[{"role": "user", "content": "Say this is a test"}],
        stream=True,
        stream_options={"include_usage": True},
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    return [text, *[chunk.to_dict() for chunk in chunks]]


def two_turns(caller: Caller) -> list[Any]:
    """A tool, called twice at once; the message goes back as the object that it came as."""
    messages: list[Any] = [{"role": "user", "content": "get_weather twice, please."}]
    first = caller.chat(model=MODEL, messages=messages, tools=[CHAT_TOOL])
    message = first.choices[0].message
    messages.append(message)
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "4 degrees"} for call in message.tool_calls]
    second = caller.chat(model=MODEL, messages=messages, tools=[CHAT_TOOL])
    calls = [(call.function.name, call.function.arguments) for call in message.tool_calls]
    return [calls, first.to_dict(), second.to_dict(), second.choices[0].message.tool_calls]


def call_in_pieces(caller: Caller) -> list[Any]:
    """A streamed call, and a choice that forces it."""
    chunks = caller.chat(
        model=MODEL,
        messages=[{"role": "user", "content": "Oslo?"}],
        tools=[CHAT_TOOL],
        tool_choice={"type": "function", "function": {"name": "get_weather"}},
        stream=True,
    )
    pieces = [piece for chunk in chunks for piece in chunk.choices[0].delta.tool_calls or ()]
    return ["".join(piece.function.arguments or "" for piece in pieces), *[chunk.to_dict() for chunk in chunks]]


def bound(caller: Caller) -> list[Any]:
    """An answer bound to a schema that is written out."""
    wanted = {"type": "json_schema", "json_schema": {"name": "event", "strict": True, "schema": EVENT_SCHEMA}}
    reply = caller.chat(model=MODEL, messages=[{"role": "user", "content": "A fair."}], response_format=wanted)
    return [reply.to_dict(), reply.choices[0].message.content]


def typed(caller: Caller) -> list[Any]:
    """An answer as a value of a pydantic model."""
    messages = [{"role": "user", "content": "Alice and Bob go to a fair."}]
    reply = caller.parse(model=MODEL, messages=messages, response_format=CalendarEvent)
    return [reply.choices[0].message.parsed, reply.choices[0].message.content]


def seen(caller: Caller) -> list[Any]:
    """A picture beside a question."""
    content = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": PNG}}]
    return [caller.chat(model=MODEL, messages=[{"role": "user", "content": content}]).to_dict()]


def cut_short(caller: Caller) -> list[Any]:
    """An answer that the length limit ends."""
    reply = caller.chat(model=MODEL, messages=[{"role": "user", "content": "Tell."}], max_completion_tokens=16)
    return [reply.choices[0].finish_reason, reply.to_dict()]


# Responses


def respond(caller: Caller) -> list[Any]:
    """One question with instructions."""
    reply = caller.respond(model=MODEL, instructions="Talk like a pirate.", input="Ahoy?", max_output_tokens=400)
    return [reply.output_text, reply.usage.total_tokens, reply.to_dict()]


def respond_in_pieces(caller: Caller) -> list[Any]:
    """A stream."""
    events = caller.respond(model=MODEL, input="Write a bedtime story.", stream=True)
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    return [text, *[event.to_dict() for event in events], events[-1].response.output_text]


def respond_in_two_turns(caller: Caller) -> list[Any]:
    """A tool; what came goes back as the objects that it came as."""
    conversation: list[Any] = [{"role": "user", "content": "get_weather of Oslo, please."}]
    first = caller.respond(model=MODEL, input=conversation, tools=[TOOL])
    conversation += first.output
    calls = [item for item in first.output if item.type == "function_call"]
    conversation += [{"type": "function_call_output", "call_id": call.call_id, "output": "4"} for call in calls]
    second = caller.respond(model=MODEL, input=conversation, tools=[TOOL])
    return [[(call.name, call.arguments) for call in calls], first.to_dict(), second.to_dict(), second.output_text]


def respond_with_a_call_in_pieces(caller: Caller) -> list[Any]:
    """A streamed call after a thought."""
    events = caller.respond(
        model=MODEL,
        input="get_weather of Oslo",
        tools=[TOOL],
        stream=True,
        reasoning={"effort": "high", "summary": "auto"},
    )
    done = [event.arguments for event in events if event.type == "response.function_call_arguments.done"]
    return [done, *[event.to_dict() for event in events]]


def respond_bound(caller: Caller) -> list[Any]:
    """An answer bound to a schema that is written out."""
    wanted = {"format": {"type": "json_schema", "name": "event", "strict": True, "schema": EVENT_SCHEMA}}
    reply = caller.respond(model=MODEL, input=[{"role": "user", "content": "A fair."}], text=wanted)
    return [reply.output_text, reply.to_dict()]


def respond_typed(caller: Caller) -> list[Any]:
    """An answer as a value of a pydantic model."""
    reply = caller.parse_response(model=MODEL, input="Alice and Bob go to a fair.", text_format=CalendarEvent)
    return [reply.output_parsed, reply.output_text]


def respond_seen(caller: Caller) -> list[Any]:
    """A picture beside a question."""
    content = [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": PNG, "detail": "auto"},
    ]
    return [caller.respond(model=MODEL, input=[{"role": "user", "content": content}]).to_dict()]


CHAT = (plain, in_pieces, two_turns, call_in_pieces, bound, typed, seen, cut_short)
RESPONSES = (
    respond,
    respond_in_pieces,
    respond_in_two_turns,
    respond_with_a_call_in_pieces,
    respond_bound,
    respond_typed,
    respond_seen,
)
CASES = [*[("openai-chat", use) for use in CHAT], *[("openai-responses", use) for use in RESPONSES]]
NAMES = [use.__name__ for _, use in CASES]


def _official(url: str, *, awaited: bool) -> Caller:
    def make() -> Any:
        # Reading the machine's certificates would take longer than everything else, and nothing here is encrypted.
        http: Any = (openai.DefaultAsyncHttpxClient if awaited else openai.DefaultHttpxClient)(verify=False)
        kind: Any = openai.AsyncOpenAI if awaited else openai.OpenAI
        return kind(base_url=url, api_key="sk-test", max_retries=0, http_client=http)

    return Caller(make)


def _ours(url: str, *, awaited: bool) -> Caller:
    kind = compat.AsyncOpenAI if awaited else compat.OpenAI
    return Caller(lambda: kind(base_url=url, api_key="sk-test", max_retries=0))


@cells("awaited", [False, True], ids=["blocking", "awaited"])
@cells(("dialect", "use"), CASES, ids=NAMES)
def test_the_same_service(dialect: str, use: Scenario, awaited: bool) -> None:
    """Against OpenAI's own service, strictly imitated, both take every call and give the same answers."""
    answers: list[Any] = []
    for make in (_official, _ours):
        upstream = Upstream(dialect)
        with upstream.serving() as url:
            answers.append(said(use(make(f"{url}/v1", awaited=awaited))))
        assert [str(verdict) for verdict in upstream.verdicts if not verdict.ok] == []
    assert answers[1] == answers[0]


@pytest.mark.filterwarnings("ignore::interlingua.client.call.report.ChangeWarning")
@pytest.mark.parametrize("spec", ["anthropic/claude-opus-5", "google/gemini-3-pro"])
@pytest.mark.parametrize(("dialect", "use"), CASES, ids=NAMES)
def test_another_model(dialect: str, use: Scenario, spec: str) -> None:
    """With another provider behind it, compat gives what the SDK gets from a server made of the server role."""
    provider = spec.partition("/")[0]

    def gateway(decoded: DecodedRequest) -> Said:
        without = msgspec.structs.replace(decoded.request, messages=())
        model = il.Model(spec, Settings(request=without))
        if decoded.stream:
            return list(model.stream(decoded.request.messages, tool_deltas=True))
        return model.generate(decoded.request.messages)

    with Upstream(provider).standing(), chat_serving(gateway, dialect=dialect, judged=False) as server:
        theirs = use(_official(server.url, awaited=False))
    with Upstream(provider).standing():
        ours = use(Caller(compat.OpenAI, model=spec))
    assert _lasting(said(ours)) == _lasting(said(theirs))


PASSING = frozenset({"created", "created_at", "model"})


def _lasting(value: Any) -> Any:
    """The answers without the moment, and without the name of the model, which a server shows as it was asked."""
    if isinstance(value, list):
        return [_lasting(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {name: _lasting(member) for name, member in members.items() if name not in PASSING}
    return value


ERRORS = {400: "BadRequestError", 401: "AuthenticationError", 403: "PermissionDeniedError", 404: "NotFoundError"} | {
    429: "RateLimitError",
    500: "InternalServerError",
}


@cells("status", ERRORS)
@cells("use", [plain, in_pieces, respond, respond_in_pieces], ids=lambda use: use.__name__)
def test_errors_have_the_names_of_the_sdk(status: int, use: Scenario) -> None:
    """The same refusal is caught by the same name, with its status, before a stream is handed over."""
    dialect = "openai-chat" if use in CHAT else "openai-responses"
    caught: list[tuple[str, int]] = []
    for make, package in ((_official, openai), (_ours, compat)):
        with Upstream(dialect, Fail(status, "Not now.")).serving() as url:
            caller = make(f"{url}/v1", awaited=False)
            with pytest.raises(getattr(package, ERRORS[status]), match=r"Not now\.") as error:
                use(caller)
        assert isinstance(error.value, package.APIStatusError)
        caught.append((type(error.value).__name__, getattr(error.value, "status_code", None) or error.value.status))
    assert caught[0] == caught[1]


def test_messages_of_the_sdk_itself() -> None:
    """What the SDK's own objects hold goes into a body of ours: a program can be changed call by call."""
    said: list[Any] = [{"role": "user", "content": "get_weather of Oslo"}]
    with Upstream("openai-chat").serving() as url:
        first = _official(f"{url}/v1", awaited=False).chat(model=MODEL, messages=said, tools=[CHAT_TOOL])
        message = first.choices[0].message
        said += [message, {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "4"}]
        second = _ours(f"{url}/v1", awaited=False).chat(
            model=MODEL, messages=said, tools=[CHAT_TOOL], seed=openai.NOT_GIVEN, user=openai.omit
        )
    assert second.choices[0].message.content == "The tools say: 4"


def test_nobody_there() -> None:
    """A port where nobody listens is the SDK's connection error."""
    for make, package in ((_official, openai), (_ours, compat)):
        with pytest.raises(package.APIConnectionError):
            make("http://127.0.0.1:9/v1", awaited=False).chat(model="m", messages=[{"role": "user", "content": "Hi"}])


def test_a_stream_that_breaks_is_an_error() -> None:
    """What came is given out, and then the break is raised, as the SDK's kind of error."""
    answer = Say(text="one two three", calls=(Call("get_weather", {"city": "Oslo"}),))
    with Upstream("openai-chat", Cut(answer, 3)).serving() as url:
        client = compat.OpenAI(base_url=f"{url}/v1", api_key="sk-test")
        stream = client.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": "Hi"}], tools=[CHAT_TOOL], stream=True
        )
        texts: list[str | None] = []
        with pytest.raises(il.IncompleteStreamError), stream:
            texts.extend(chunk.choices[0].delta.content for chunk in stream)
    assert texts[:2] == ["", "one"]
    assert stream.interlingua is None


GUIDE = ROOT / "docs" / "guides" / "from-openai.md"
BEFORE = [
    (f"{GUIDE.name}:{GUIDE.read_text(encoding='utf-8').count(chr(10), 0, match.start()) + 2}", match["code"])
    for match in FENCE.finditer(GUIDE.read_text(encoding="utf-8"))
    if match["flags"].strip() == "no-run"
]


@pytest.mark.parametrize("code", [code for _, code in BEFORE], ids=[place for place, _ in BEFORE])
def test_the_before_of_the_guide(
    code: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the guide says of the SDK runs as it stands, and with nothing but the import changed."""
    told: list[str] = []
    for package in ("openai", "interlingua.compat"):
        with Upstream("openai-chat").serving() as url:
            monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
            monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
            names: dict[str, Any] = {"__name__": "__main__"}
            exec(code.replace("from openai import", f"from {package} import"), names)
            names["client"].close()
        told.append(capsys.readouterr().out)
    assert told[0] == told[1] != ""
