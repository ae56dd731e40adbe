"""The hooks of one call, run around it: steps that both drivers carry out.

Rules
- A hook whose `before` gave an answer, and those behind it, are not asked `after`: the answer is its own.
- What a hook gives back is checked; what differs from what it got is an entry in `changes`.
- A stream keeps its laws whatever a hook does to pieces of text: blocks and the whole answer are made to fit them, and
  a signature of thinking that was changed goes.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from interlingua.client.call.effect import Ask
from interlingua.client.hooks.hook import Hook, HookContext
from interlingua.errors import ConfigError, UsageError, kind_of
from interlingua.stream.unfold import unfold
from interlingua.types.change import Change
from interlingua.types.content import RefusalPart, TextPart, ThinkingPart
from interlingua.types.event import (
    BlockEnd,
    RefusalDelta,
    Seal,
    StreamEnd,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.client.call.core import Outcome
    from interlingua.client.call.effect import Steps
    from interlingua.client.call.values import Call
    from interlingua.types.content import Part
    from interlingua.types.event import Event

__all__ = ["Hooking", "check_hooks", "context_of", "hooked_call", "hooked_stream"]

_PIECES = frozenset({TextDelta, ThinkingDelta, RefusalDelta})
_SILENT = frozenset({"changes", "attempts", "raw_reply", "request", "output", "rate_limits", "request_id"})
"""Fields of an answer that say how it came about, not what it says."""
_TRACING = frozenset({"traceparent", "tracestate"})
"""Headers that differ from call to call and change nothing of an answer."""
_BEFORE, _AFTER, _DURING = "before", "after", "during"


def check_hooks(value: object) -> tuple[Hook, ...]:
    """The hooks of an option.

    Raises: UsageError for what is no list of hooks.
    """
    hooks: tuple[object, ...] = tuple(cast("Any", value)) if isinstance(value, list | tuple) else (value,)
    for hook in hooks:
        if isinstance(hook, type):
            raise UsageError(f"hooks takes hooks, and {hook.__name__} is a class: make one of it, {hook.__name__}(…)")
        if not isinstance(hook, Hook):
            raise UsageError(f"hooks takes a list of il.Hook, and {kind_of(hook)} is not one")
    return cast("tuple[Hook, ...]", hooks)


class _Text:
    """The text of one block of a stream that is under way."""

    __slots__ = ("came", "is_unsealed", "outgoing")

    def __init__(self) -> None:
        self.came: list[str] = []
        self.outgoing: list[str] = []
        self.is_unsealed = False


class Hooking:
    """The hooks of one call, and what they have changed so far."""

    def __init__(self, hooks: tuple[Hook, ...], context: HookContext) -> None:
        """Of a call that has not begun."""
        self.context: HookContext = context
        """The context of the call that the hooks read."""
        self.changes: list[Change] = []
        """The changes of the hooks that nobody was told yet."""
        self._hooks = hooks
        self._around: list[Hook] = []
        self._texts: dict[tuple[int, int], _Text] = {}
        self._parts: dict[tuple[int, int], Part] = {}

    def take_changes(self) -> tuple[Change, ...]:
        """The changes of the hooks since the last such call."""
        changes, self.changes = tuple(self.changes), []
        return changes

    @property
    def reads_answers(self) -> bool:
        """Whether one of those around the call has a step for answers."""
        return any([_overrides(hook, step) for hook in self._around for step in (_AFTER, _DURING)])

    @staticmethod
    def is_same(before: Response[Any], after: Response[Any]) -> bool:
        """Whether an answer says what it said before the hooks, its entries of changes aside."""
        return before is after or replace(after, changes=before.changes) == before

    def before(self, request: Request) -> Steps[Request | Response[Any]]:
        """The request to go on with, or the answer in its place.

        Raises: what a hook raises; UsageError for what is neither.
        """
        for hook in self._hooks:
            result = yield from self._run_step(hook, _BEFORE, request)
            if isinstance(result, Response):
                return cast("Response[Any]", result)
            if not isinstance(result, Request):
                raise _wrong(hook, _BEFORE, result, "an il.Request or an il.Response")
            self._compare(hook, "request_hooked", request, result)
            request = result
            self._around.append(hook)
        return request

    def after(self, response: Response[Any], *, is_told: bool = False) -> Steps[Response[Any]]:
        """The answer to give, with what the hooks have changed; `is_told` says that its client has it already.

        Raises: what a hook raises; UsageError for what is no answer, and for a change of what was told already.
        """
        for hook in [hook for hook in reversed(self._around) if _overrides(hook, _AFTER)]:
            result = yield from self._run_step(hook, _AFTER, response)
            if not isinstance(result, Response):
                raise _wrong(hook, _AFTER, result, "an il.Response")
            before = len(self.changes)
            self._compare(hook, "response_hooked", response, result)
            if is_told and len(self.changes) > before:
                raise UsageError(f"{hook.name}.after changes an answer that was streamed; `during` can change it")
            response = cast("Response[Any]", result)
        changes = self.take_changes()
        return replace(response, changes=changes + response.changes) if changes else response

    def around(self, call: Call, steps: Callable[[Call], Steps[Response[Any]]]) -> Steps[Response[Any]]:
        """The steps of a whole call with these hooks around it.

        Raises: what a hook raises, and what the steps raise.
        """
        result = yield from self.before(call.request)
        if isinstance(result, Response):
            return (yield from self.after(replace(result, request=call.request)))
        answer = yield from steps(replace(call, request=result, hooking=self))
        return (yield from self.after(answer))

    def through(self, outcome: Outcome, steps: Steps[None]) -> Steps[None]:
        """The steps of a stream, its events as the hooks give them on.

        Raises: what a hook raises, and what the steps raise.
        """
        try:
            effect = next(steps)
            while True:
                if type(effect) is list:
                    events = yield from self._during(effect, outcome)
                    if events:
                        yield events
                    effect = next(steps)
                    continue
                try:
                    result = yield effect
                except GeneratorExit:
                    raise
                except BaseException as problem:  # noqa: BLE001 - thrown on into the steps, which decide
                    effect = steps.throw(problem)
                else:
                    effect = steps.send(result)
        except StopIteration:
            return
        finally:
            steps.close()

    def _during(self, events: list[Event], outcome: Outcome) -> Steps[list[Event]]:
        if hooks := [hook for hook in reversed(self._around) if _overrides(hook, _DURING)]:
            for event in events:
                if isinstance(event, TextDelta | ThinkingDelta | RefusalDelta):
                    self._text(event).came.append(event.text)
            for hook in hooks:
                result: object = yield from self._run_step(hook, _DURING, list(events))
                replaced = cast("list[Event]", result) if isinstance(result, list) else None
                if replaced is None or _fixed(replaced) != _fixed(events):
                    raise _wrong(hook, _DURING, result, "a list of the events that it got, aside from pieces of text")
                events = replaced
            events = [fitting for event in events if (fitting := self._fitting(event)) is not None]
        if not events or type(events[-1]) is not StreamEnd or outcome.response is None:
            return events
        response = self._whole(events[-1].response)
        try:
            outcome.response = yield from self.after(response, is_told=True)
        except BaseException:
            outcome.response, outcome.partial = None, response
            raise
        return [*events[:-1], StreamEnd(outcome.response)]

    def _text(self, event: TextDelta | ThinkingDelta | RefusalDelta | Seal) -> _Text:
        return self._texts.setdefault((event.choice, event.index), _Text())

    def _fitting(self, event: Event) -> Event | None:
        """The event, the part at the end of a block the sum of what was told; None for what goes with a former text."""
        match event:
            case TextDelta() | ThinkingDelta() | RefusalDelta():
                self._text(event).outgoing.append(event.text)
                return event if event.text else None
            case Seal():
                text = self._text(event)
                text.is_unsealed = text.is_unsealed or "".join(text.came) != "".join(text.outgoing)
                return None if text.is_unsealed else event
            case BlockEnd(part=TextPart() | ThinkingPart() | RefusalPart() as part):
                place = event.choice, event.index
                text = self._texts.pop(place, _Text())
                if text.is_unsealed or "".join(text.came) != "".join(text.outgoing):
                    outgoing = "".join(text.outgoing)
                    if isinstance(part, RefusalPart):
                        self._parts[place] = replace(part, text=outgoing)
                    else:  # a signature is that of the former text
                        self._parts[place] = replace(part, text=outgoing, sealed=None)
                    return replace(event, part=self._parts[place])
            case _:
                pass
        return event

    def _whole(self, response: Response[Any]) -> Response[Any]:
        """The whole answer, as it was told."""
        if not self._parts:
            return response
        names = ", ".join([hook.name for hook in self._around if _overrides(hook, _DURING)])
        for choice, index in sorted(self._parts):
            path = f"/parts/{index}/text" if choice == 0 else f"/alternatives/{choice - 1}/parts/{index}/text"
            self.changes.append(_change("response_hooked", path, names))
        others = [
            replace(other, parts=self._told_parts(other.parts, place))
            for place, other in enumerate(response.alternatives, 1)
        ]
        return replace(response, parts=self._told_parts(response.parts, 0), alternatives=tuple(others))

    def _told_parts(self, parts: tuple[Part, ...], choice: int) -> tuple[Part, ...]:
        return tuple([self._parts.get((choice, index), part) for index, part in enumerate(parts)])

    def _run_step(self, hook: Hook, step: str, value: object) -> Steps[Any]:
        """The result of a step of a hook."""
        return (yield Ask(partial(self._call, hook, step, value)))

    def _call(self, hook: Hook, step: str, value: object, is_async: bool) -> Any:  # noqa: FBT001 - the driver says it
        self.context.is_async = is_async
        result = getattr(hook, step)(value, self.context)
        if not is_async and hasattr(result, "__await__"):
            if hasattr(result, "close"):
                result.close()
            raise UsageError(f"{hook.name}.{step} is awaited, and this call is not; use interlingua.aio")
        return result

    def _compare(self, hook: Hook, code: str, before: Any, after: Any) -> None:
        """An entry for each member that a hook has changed."""
        if before is after:
            return
        silent = _SILENT if code == "response_hooked" else frozenset[str]()
        names = [name for name in before.__struct_fields__ if name not in silent]
        changed = [name for name in names if getattr(before, name) != getattr(after, name)]
        self.changes += [_change(code, f"/{name}", hook.name) for name in changed]


def _change(code: str, path: str, name: str) -> Change:
    return Change("approximated", code, path, stage="hook", detail=f"by {name}")


def _overrides(hook: Hook, step: str) -> bool:
    """Whether a hook has a step of its own."""
    return getattr(type(hook), step) is not getattr(Hook, step)


def _fixed(events: list[Event]) -> list[Event]:
    return [event for event in events if type(event) not in _PIECES]


def _wrong(hook: Hook, step: str, result: Any, expected: str) -> UsageError:
    return UsageError(f"{hook.name}.{step} has to give back {expected}, and gave {kind_of(result)}")


# Around a call of the library


def context_of(call: Call, *, stream: bool, model: str = "", owner: str = "", client: str = "") -> HookContext:
    """The context of a call for its hooks; without `model` it is the targets that were asked for."""
    targets, settings = tuple([target.endpoint.spec for target in call.targets]), call.settings
    headers = [pair for pair in settings.headers if pair[0].lower() not in _TRACING]
    places = [(target.endpoint.base_url, target.endpoint.dialect, target.endpoint.query) for target in call.targets]
    facts = (settings.strict, sorted(settings.allow), settings.history_policy, call.typed, headers, places)
    keys: list[str | None] = []
    for target in call.targets:
        key = None
        with suppress(ConfigError):  # a key that cannot be read is none, as its target will say when it is asked
            key = target.endpoint.credential.reveal()
        keys.append(key)
    return HookContext(
        model=model or ",".join(targets),
        targets=targets,
        operation=call.operation,
        stream=stream,
        owner=owner,
        client=client,
        variant=sha256(encode(facts)).hexdigest(),
        account=sha256(encode(keys)).hexdigest() if any(keys) else "",
    )


def _of(call: Call, *, stream: bool) -> Hooking:
    return Hooking(call.settings.hooks, context_of(call, stream=stream))


def hooked_call(call: Call, steps: Callable[[Call], Steps[Response[Any]]]) -> Steps[Response[Any]]:
    """The steps of a call with its hooks around it."""
    return (yield from _of(call, stream=False).around(call, steps))


def hooked_stream(call: Call, outcome: Outcome, steps: Callable[[Call, Outcome], Steps[None]]) -> Steps[None]:
    """The steps of a stream with its hooks around it."""
    hooking = _of(call, stream=True)
    result = yield from hooking.before(call.request)
    if isinstance(result, Response):
        answer = yield from hooking.after(replace(result, request=call.request))
        outcome.ended(answer)
        yield [event for event in unfold(answer) if call.tool_deltas or type(event) is not ToolCallDelta]
        return
    yield from hooking.through(outcome, steps(replace(call, request=result, hooking=hooking), outcome))
