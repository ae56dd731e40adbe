"""Hooks around calls of the library: they change, answer, refuse and stop, blocking and awaited, whole and streamed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import pytest
from msgspec.structs import replace

import interlingua as il
from interlingua import testing
from interlingua.client.call.core import Outcome
from interlingua.client.call.pump import Pump, carried_out
from interlingua.client.hooks.run import Hooking
from interlingua.stream.check import check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from interlingua.client.call.effect import Steps
    from interlingua.testing.fake import FakeModel

both = pytest.mark.parametrize("asks", ["blocking", "awaited"])


@pytest.fixture
def fake() -> Iterator[FakeModel]:
    """A model that answers with one text."""
    with testing.use("It is 4 degrees.") as model:
        yield model


def _answer(asks: str, *hooks: il.Hook, prompt: str = "Oslo?", **options: Any) -> il.Response[Any]:
    """A whole answer on one of the faces."""
    if asks == "blocking":
        return il.model("fake/m", hooks=list(hooks)).generate(prompt, **options)
    return asyncio.run(il.aio.model("fake/m", hooks=list(hooks)).generate(prompt, **options))


def _events(asks: str, *hooks: il.Hook, prompt: str = "Oslo?") -> tuple[list[il.Event], il.Response[Any]]:
    """The events of a stream on one of the faces, and its whole answer."""
    if asks == "blocking":
        with il.model("fake/m", hooks=list(hooks)).stream(prompt) as stream:
            return list(stream), stream.response

    async def read() -> tuple[list[il.Event], il.Response[Any]]:
        async with il.aio.model("fake/m", hooks=list(hooks)).stream(prompt) as stream:
            return [event async for event in stream], stream.response

    return asyncio.run(read())


def _codes(response: il.Response[Any]) -> list[tuple[str, str, str]]:
    return [(change.code, change.path, change.detail) for change in response.changes if change.stage == "hook"]


class Cooler(il.Hook):
    """Sets what is sampled, and shouts the answer."""

    def before(self, request: il.Request, context: il.HookContext) -> il.Request:
        """With another temperature."""
        context.memo["cooler"] = request.temperature
        return replace(request, temperature=0.5)

    def after(self, response: il.Response[Any], context: il.HookContext) -> il.Response[Any]:
        """In capitals."""
        assert context.memo == {"cooler": None}
        return replace(response, parts=(il.TextPart(response.text.upper()),))


class Awaited(Cooler):
    """The same with a wait in between."""

    async def before(self, request: il.Request, context: il.HookContext) -> il.Request:  # pyright: ignore[reportIncompatibleMethodOverride]  # the parent in the test is plain
        """Awaited."""
        await asyncio.sleep(0)
        return super().before(request, context)


@both
def test_r70_a_hook_changes_request_and_answer(asks: str, fake: FakeModel) -> None:
    """Both are sent and given as the hook says, and each member is told under its name."""
    reply = _answer(asks, Cooler())
    assert fake.last_request.temperature == 0.5
    assert reply.text == "IT IS 4 DEGREES."
    assert _codes(reply) == [
        ("request_hooked", "/temperature", "by Cooler"),
        ("response_hooked", "/parts", "by Cooler"),
    ]


def test_r70_a_step_may_be_awaited_where_the_caller_awaits(fake: FakeModel) -> None:
    """A blocking call says which step cannot be awaited, and leaves no coroutine behind."""
    assert _answer("awaited", Awaited()).text == "IT IS 4 DEGREES."
    with pytest.raises(il.UsageError, match=r"Awaited\.before is awaited, and this call is not; use interlingua\.aio"):
        _answer("blocking", Awaited())
    assert len(fake.requests) == 1


class Answering(il.Hook):
    """Answers in the model's place."""

    def before(self, request: il.Request, context: il.HookContext) -> il.Response[Any]:
        """At once."""
        return il.Response(parts=(il.TextPart(f"{context.model} {context.stream}"),), finish_reason="stop")


@both
def test_r70_a_hook_answers_in_the_place_of_the_model(asks: str, fake: FakeModel) -> None:
    """Nobody is asked; the layers outside of it see the answer, those inside do not; a stream is one as any other."""
    reply = _answer(asks, Cooler(), Answering(), Refusing())
    assert (reply.text, fake.requests) == ("FAKE/M FALSE", [])
    assert reply.request is not None
    assert reply.messages[-2].text == "Oslo?"
    events, response = _events(asks, Answering())
    assert check(events) == ()
    assert (response.text, fake.requests) == ("fake/m True", [])


class Refusing(il.Hook):
    """Lets nothing through."""

    def before(self, request: il.Request, context: il.HookContext) -> il.Request:
        """Never."""
        raise il.PermissionDeniedError("not on Sundays", status=403)


@both
def test_r70_a_hook_refuses(asks: str, fake: FakeModel) -> None:
    """Its error is the call's, and nothing is sent."""
    for ask in (_answer, _events):
        with pytest.raises(il.PermissionDeniedError, match="not on Sundays"):
            cast("Any", ask)(asks, Refusing())
    assert fake.requests == []


class Masking(il.Hook):
    """Masks digits, holding back pieces until the block ends."""

    def __init__(self) -> None:
        """Nothing is held back yet."""
        self.held = ""

    def during(self, events: list[il.Event], context: il.HookContext) -> list[il.Event]:
        """All text in one piece before the end of its block."""
        given: list[il.Event] = []
        for event in events:
            if isinstance(event, il.TextDelta):
                self.held += event.text.replace("4", "*")
                continue
            if isinstance(event, il.BlockEnd):
                given.append(il.TextDelta(event.index, self.held))
            given.append(event)
        return given


@both
def test_r70_a_hook_changes_pieces_of_a_stream(asks: str, fake: FakeModel) -> None:
    """The blocks, the end and the whole answer say what was told, and the laws of streams hold."""
    events, response = _events(asks, Masking())
    assert check(events) == ()
    assert response.text == "It is * degrees."
    assert il.fold(events) == response
    assert _codes(response) == [("response_hooked", "/parts/0/text", "by Masking")]


def test_r70_a_changed_thought_loses_its_signature() -> None:
    """A signature signs the text that came, so that it would be refused with another one."""
    sealed = il.Sealed("anthropic", {"signature": "c2VhbA=="}, "anthropic", "claude-opus-5")
    thought = il.ThinkingPart("4 it is.", sealed=sealed)
    answer: il.Response[Any] = il.Response(parts=(thought, il.TextPart("Fine.")), finish_reason="stop")
    hooking, outcome = Hooking((Masking4(),), il.HookContext(model="m")), Outcome()

    def steps() -> Steps[None]:
        outcome.ended(answer)
        yield list(il.unfold(answer))

    carried_out(hooking.before(il.Request()))
    (events,) = carried_out_events(hooking.through(outcome, steps()))
    assert check(events) == ()
    assert outcome.response is not None
    assert outcome.response.parts == (il.ThinkingPart("* it is."), il.TextPart("Fine."))


class Masking4(il.Hook):
    """Masks digits in thoughts."""

    def during(self, events: list[il.Event], context: il.HookContext) -> list[il.Event]:
        """Piece by piece."""
        return [
            replace(event, text=event.text.replace("4", "*")) if isinstance(event, il.ThinkingDelta) else event
            for event in events
        ]


def carried_out_events(steps: Steps[None]) -> list[list[il.Event]]:
    """Every batch that steps give."""
    pump = Pump(steps)
    return list(iter(pump.pull, None))


class Stopping(il.Hook):
    """Stops at the first piece of text."""

    def during(self, events: list[il.Event], context: il.HookContext) -> list[il.Event]:
        """Until there is text."""
        if any(isinstance(event, il.TextDelta) for event in events):
            raise il.ContentPolicyViolationError("enough", status=400)
        return events


@both
def test_r70_a_hook_stops_a_stream(asks: str, fake: FakeModel) -> None:
    """Its error is the stream's."""
    with pytest.raises(il.ContentPolicyViolationError, match="enough"):
        _events(asks, Stopping())


class Late(il.Hook):
    """Changes an answer after it was told."""

    def after(self, response: il.Response[Any], context: il.HookContext) -> il.Response[Any]:
        """Too late."""
        return replace(response, parts=())


@both
def test_r70_what_a_hook_gives_back_is_checked(asks: str, fake: FakeModel) -> None:
    """A forgotten `return`, and a change of what was streamed, are errors that name hook and step."""

    class NoRequest(il.Hook):
        def before(self, request: il.Request, context: il.HookContext) -> Any:
            return None

    class NoAnswer(il.Hook):
        def after(self, response: il.Response[Any], context: il.HookContext) -> Any:
            return None

    class NoEvents(il.Hook):
        def during(self, events: list[il.Event], context: il.HookContext) -> Any:
            return events[:-1]

    for ask, hook, sentence in (
        (_answer, NoRequest(), "NoRequest.before has to give back an il.Request or an il.Response, and gave None"),
        (_answer, NoAnswer(), "NoAnswer.after has to give back an il.Response, and gave None"),
        (_events, NoEvents(), "NoEvents.during has to give back a list of the events that it got"),
        (_events, Late(), "Late.after changes an answer that was streamed; `during` can change it"),
    ):
        with pytest.raises(il.UsageError, match=sentence):
            cast("Callable[..., Any]", ask)(asks, hook)


@both
def test_r70_layers_lie_around_each_other(asks: str, fake: FakeModel) -> None:
    """`before` in the order of the list, `after` in the opposite one."""
    order: list[str] = []

    class Layer(il.Hook):
        def __init__(self, name: str) -> None:
            self.letter = name

        def before(self, request: il.Request, context: il.HookContext) -> il.Request:
            order.append(f"before {self.letter}")
            return request

        def after(self, response: il.Response[Any], context: il.HookContext) -> il.Response[Any]:
            order.append(f"after {self.letter}")
            return response

    reply = _answer(asks, Layer("a"), Layer("b"))
    assert order == ["before a", "before b", "after b", "after a"]
    assert _codes(reply) == []


def test_r70_hooks_are_an_option_like_any_other(fake: FakeModel) -> None:
    """A call's own replace the model's, None takes them back, and what is none is named."""
    model = il.model("fake/m", hooks=[Refusing()])
    assert model.generate("Oslo?", hooks=None).text == "It is 4 degrees."
    assert model.with_options(hooks=[Cooler()]).generate("Oslo?").text == "IT IS 4 DEGREES."
    for value, sentence in (([7], "hooks takes a list of il.Hook, and an int is not one"),
                            ([Cooler], r"Cooler is a class: make one of it, Cooler\(…\)")):  # fmt: skip
        with pytest.raises(il.UsageError, match=sentence):
            il.model("fake/m", hooks=cast("Any", value))


def test_r70_hooks_run_around_each_step_of_an_agent(fake: FakeModel) -> None:
    """And around each try of a typed answer, since both are calls."""
    seen: list[bool] = []

    class Counting(il.Hook):
        def before(self, request: il.Request, context: il.HookContext) -> il.Request:
            seen.append(context.is_async)
            return request

    with testing.use([testing.tool_call("add", a=1, b=2), "3", '{"a": 1}']):
        model = il.model("fake/m", hooks=[Counting()])
        assert il.Agent(model, tools=[_add]).run("1 + 2?").text == "3"
        assert model.generate("One.", output=dict[str, int]).output == {"a": 1}
    assert seen == [False, False, False]


def _add(a: int, b: int) -> int:
    """The sum."""
    return a + b
