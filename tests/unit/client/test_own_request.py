"""A request as a value: it is sent as it is, and goes on as a history with its system text, its tools and its knobs."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

import interlingua as il
import interlingua.aio
from interlingua.testing import FakeModel, use


def get_weather(city: str) -> str:
    """Weather in a city.

    Args:
        city: City name.
    """
    return city


MODEL = "openai-chat/gpt-4.1"
TOOL = il.tool(get_weather)
REQUEST = il.Request(
    messages=(il.user("Weather in Oslo?"),),
    system=(il.TextPart("Be brief."),),
    tools=(TOOL,),
    max_tokens=7,
    temperature=0.5,
    stop=("END",),
    extra={"openai-chat": {"seed_2": 1}},
)


def bare(request: il.Request) -> il.Request:
    """The request without the handlers of its tools, which no wire carries."""
    tools = [msgspec.structs.replace(tool, handler=None) for tool in request.tools if isinstance(tool, il.Tool)]
    return msgspec.structs.replace(request, tools=tuple(tools))


def test_r55_a_request_is_sent_as_it_is() -> None:
    """By `send`, `generate`, `stream` and `explain`, blocking."""
    model = il.model(MODEL)
    with use(FakeModel("Cold.")):
        assert model.send(REQUEST).request == REQUEST
        assert model.generate(REQUEST).request == REQUEST
        with model.stream(REQUEST) as stream:
            assert list(stream.text_stream) == ["Cold."]
        assert stream.response.request == REQUEST
    plan = model.explain(REQUEST)
    assert plan.http is not None
    body = msgspec.json.decode(plan.http.body)
    assert (body["max_completion_tokens"], body["stop"], body["seed_2"]) == (7, ["END"], 1)


def test_r55_a_request_is_sent_awaited() -> None:
    """By the twins."""

    async def ask() -> list[il.Request | None]:
        model = interlingua.aio.model(MODEL)
        answers = [await model.send(REQUEST), await model.generate(REQUEST)]
        async with model.stream(REQUEST) as stream:
            async for _ in stream:
                pass
        return [answer.request for answer in (*answers, stream.response)]

    with use("Cold."):
        assert asyncio.run(ask()) == [REQUEST, REQUEST, REQUEST]


def test_r55_what_a_request_does_not_say_is_the_models_and_the_calls_options_win() -> None:
    """The model's options stand behind the request, those of the call before it; `extra` adds up."""
    model = il.model(MODEL, temperature=1.0, seed=3, extra={"openai-chat": {"seed_2": 0, "more": 1}})
    with use("Cold."):
        answer = model.send(REQUEST, max_tokens=9)
    sent = answer.request
    assert sent is not None
    assert (sent.temperature, sent.seed, sent.max_tokens, sent.system) == (0.5, 3, 9, REQUEST.system)
    assert sent.extra == {"openai-chat": {"seed_2": 1, "more": 1}}


def test_r55_a_request_as_history_keeps_system_tools_and_knobs() -> None:
    """What was said comes before the prompt; the model's and the call's options win."""
    model = il.model(MODEL, temperature=1.0)
    with use("Cold.") as fake:
        answer = model.generate("And tomorrow?", history=REQUEST, stop="STOP")
    sent = answer.request
    assert sent == msgspec.structs.replace(
        REQUEST, messages=(*REQUEST.messages, il.user("And tomorrow?")), temperature=1.0, stop=("STOP",)
    )
    assert [message.text for message in fake.last_request.messages] == ["Weather in Oslo?", "And tomorrow?"]


def test_a_system_text_of_the_call_replaces_that_of_the_history() -> None:
    """As with any other history: that of the request, and system messages in it."""
    history = msgspec.structs.replace(REQUEST, messages=(il.system("Old."), *REQUEST.messages))
    with use("Cold."):
        kept = il.model(MODEL).generate("More.", history=history).request
        new = il.model(MODEL).generate("More.", history=history, system="New.").request
    assert kept is not None
    assert new is not None
    assert (kept.system, [message.role for message in kept.messages]) == (REQUEST.system, ["system", "user", "user"])
    assert (new.system, [message.role for message in new.messages]) == ((il.TextPart("New."),), ["user", "user"])


def test_r55_map_takes_requests() -> None:
    """Each with its own knobs."""
    requests = [msgspec.structs.replace(REQUEST, max_tokens=number) for number in (1, 2)]
    with use("Cold."):
        items = list(il.model(MODEL).map(requests))
    assert [item.response.request.max_tokens for item in items if item.response and item.response.request] == [1, 2]


WRONG: list[tuple[Any, dict[str, Any], str]] = [
    ("Hi", {}, r"send takes an il\.Request, not a str; generate takes a prompt"),
    (il.Request(), {}, "nothing to send: the prompt is empty and there is no history"),
    (REQUEST, {"history": [il.user("Hi")]}, "a request holds its whole conversation: it is sent without history"),
    (msgspec.structs.replace(REQUEST, max_tokens="5"), {}, "max_tokens takes a whole number, not '5'"),
    (msgspec.structs.replace(REQUEST, tools=(TOOL, TOOL)), {}, "two tools are called get_weather"),
    (msgspec.structs.replace(REQUEST, messages=({"role": "user"},)), {}, "a dict cannot be a prompt"),
    (REQUEST, {"max_output_tokens": 1}, "no option 'max_output_tokens': it is called max_tokens everywhere"),
]


@pytest.mark.parametrize(("request_", "options", "message"), WRONG)
def test_what_cannot_be_sent_is_a_typed_error(request_: Any, options: dict[str, Any], message: str) -> None:
    """Values of a request are read as strictly as options."""
    with use("Cold."), pytest.raises(il.UsageError, match=message):
        il.model(MODEL).send(request_, **options)


def test_a_request_among_other_things_to_say_is_refused() -> None:
    """It is no message."""
    with pytest.raises(
        il.UsageError, match=r"a Request cannot be a prompt: it is sent alone, as in model\.send\(request\)"
    ):
        il.model("fake/x").generate(["Hi", REQUEST])  # pyright: ignore[reportArgumentType] - what is tested


def test_an_agent_refuses_a_request_with_other_tools() -> None:
    """It runs its own; a request without any goes on."""
    agent = il.Agent(MODEL)
    with use("Done."):
        with pytest.raises(il.UsageError, match="an agent runs its own tools, and this request brings others"):
            agent.run("Go on.", history=REQUEST)
        run = agent.run("Go on.", history=msgspec.structs.replace(REQUEST, tools=()))
    assert run.text == "Done."
    assert bare(REQUEST).tools[0] != REQUEST.tools[0]
