"""Typed answers: a type becomes the schema that is asked for, the answer's text becomes a value of the type.

Rules
- `repair` decides what becomes of an answer that does not fit: `off`, an error; `safe`, what is meant beyond doubt is
  repaired; `ask`, that, and then its problems go back to the model, at most `max_repairs` times.
- Only answers are repaired. Arguments of tool calls never are, and an answer that calls tools is not an answer yet.
- A refusal and an answer that the length limit cut are not asked for again: the same question would end the same way.
- Usage, cost and tries are those of all tries. The conversation holds the question and the last answer alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from interlingua.client.call.core import call_steps
from interlingua.client.call.values import later
from interlingua.errors import DecodeError, Error, LimitExceededError, OutputError, UsageError
from interlingua.schema.reflect import NAMELESS, decode_output, schema_name_of, schema_of
from interlingua.types.change import CODES, Change
from interlingua.types.content import BrokenToolCall, RefusalPart, TextPart, ToolCall
from interlingua.types.event import TextDelta
from interlingua.types.message import Message
from interlingua.types.response import cut_advice
from interlingua.types.usage import add_usage
from interlingua.wire.partial import NOTHING

if TYPE_CHECKING:
    from interlingua.client.call.effect import Steps
    from interlingua.client.call.values import Call
    from interlingua.errors import OutputFault
    from interlingua.types.capability import Repair
    from interlingua.types.event import Event
    from interlingua.types.request import Request
    from interlingua.types.response import Attempt, Response

__all__ = ["Partials", "answered", "asking", "problems_told", "settled", "with_output"]

T = TypeVar("T")


def asking(request: Request, kind: type[T] | Any) -> Request:
    """`request` with the schema of `kind`.

    Raises: SchemaError for a type that JSON has no place for.
    """
    name = request.schema_name or schema_name_of(kind)
    return replace(request, output_schema=schema_of(kind), schema_name=name)


def with_output(response: Response[Any], kind: type[T] | Any, repair: Repair = "off") -> Response[T]:
    """`response` with the value that its text holds; as it is, while it calls tools.

    Raises: OutputError, with the response: `refused`, `truncated` by the length limit, or `invalid`.
    """
    if response.tool_calls:
        if response.request is None or response.request.tools:
            return response
        names = ", ".join(dict.fromkeys(call.name for call in response.tool_calls))
        raise _error(response, "invalid", f"it called {names}, and there are no tools")
    is_refusal = any(type(part) is RefusalPart for part in response.parts)
    if response.finish_reason in ("refusal", "content_filter") or is_refusal:
        raise _error(response, "refused", f"the model refused ({response.finish_reason_raw or response.finish_reason})")
    repairs: tuple[Change, ...] = ()
    try:
        if repair == "off":
            output: Any = decode_output(response.text, kind)
        else:
            from interlingua.schema.repair import repair_output  # only who wants it pays for it

            output, steps = repair_output(response.text, kind)
            repairs = tuple([_repaired(step.code, step.detail, step.path) for step in steps])
    except (DecodeError, LimitExceededError) as error:
        if response.finish_reason == "length":
            raise _error(response, "truncated", f"the answer was cut off: {cut_advice(response)}") from error
        raise _error(response, "invalid", error.message) from error
    return replace(response, output=output, changes=response.changes + repairs)


def _repaired(code: str, detail: str, path: str = "") -> Change:
    return Change(CODES[code].action, code, f"/output{path}", None, "repair", detail)


def _error(response: Response[Any], fault: OutputFault, why: str) -> OutputError:
    name = None if response.request is None else response.request.schema_name
    return OutputError(
        f"{response.model} gave no {'output' if name in (None, '', NAMELESS) else name}: {why}",
        fault=fault,
        response=response,
        attempts=response.attempts,
    )


# Streams


class Partials:
    """The typed answer in the events of a stream, as it grows."""

    def __init__(self, kind: object, repair: Repair, *, is_begun: bool = False) -> None:
        """Of the first choice of one stream.

        Raises: UsageError for a stream without a type, and for one that has begun: what came before would be missing.
        """
        if kind is None:
            raise UsageError("partials are of a typed answer; give stream(…) the type as output=…")
        if is_begun:
            raise UsageError(
                "partials show the answer from its beginning; read them before anything else of the stream"
            )
        from interlingua.schema.partials import PartialReader  # only who looks at partials needs it

        self._reader = PartialReader(kind, lenient=repair != "off")

    def of(self, event: Event) -> list[Any]:
        """The answer so far, where the event says something new of it."""
        if type(event) is not TextDelta or event.choice:
            return []
        value = self._reader.feed(event.text)
        return [] if value is NOTHING else [value]


# Asking again


def answered(call: Call, kind: object) -> Steps[Response[Any]]:
    """The steps of a call whose answer is a value of `kind`, and of as many more as its repair takes.

    Raises: every `Error` but those of streams.
    """
    began = call.clock()
    response = yield from call_steps(call)
    return (yield from settled(later(call, call.clock() - began), kind, response))


def settled(call: Call, kind: object, response: Response[Any]) -> Steps[Response[Any]]:
    """The steps from an answer to one that holds a value of `kind`.

    Raises: OutputError, with the last answer and every try; every `Error` but those of streams.
    """
    repair, left = call.settings.repair, call.settings.max_repairs
    while True:
        try:
            return with_output(response, kind, repair)
        except OutputError as error:
            if repair != "ask" or error.fault != "invalid" or not left:
                raise
            problem = error
        left -= 1
        started = call.clock()
        try:
            # The call is made again, with the answer and what is wrong with it; to the target that served, and those
            # behind it.
            parts = tuple([part for part in response.parts if not isinstance(part, ToolCall | BrokenToolCall)])
            earlier = (Message("assistant", parts),) if response.text.strip() else ()
            messages = (*call.request.messages, *earlier, problems_told(problem))
            specs = [target.endpoint.spec for target in call.targets]
            targets = call.targets[specs.index(response.model) :] if response.model in specs else call.targets
            second = yield from call_steps(
                replace(call, request=replace(call.request, messages=messages), targets=targets, ranking=None)
            )
        except Error as error:
            error.attempts = (*_tries(response, problem), *error.attempts)
            raise
        # The second answer becomes that to the first question, with what both took.
        costs = response.cost_usd, second.cost_usd
        news = [change for change in second.changes if change not in response.changes]  # what both say is told once
        response = replace(
            second,
            usage=add_usage(response.usage, second.usage),
            cost_usd=None if costs[0] is None or costs[1] is None else costs[0] + costs[1],
            attempts=(*_tries(response, problem), *second.attempts),
            changes=(*response.changes, *news, _repaired("output_asked_again", "asked again with the problems")),
            request=response.request,
        )
        call = later(call, call.clock() - started)


def problems_told(error: OutputError) -> Message:
    """The message to a model whose answer does not fit."""
    why = error.__cause__.message if isinstance(error.__cause__, DecodeError | LimitExceededError) else error.message
    return Message("user", (TextPart(f"{why[:1].upper()}{why[1:]}. {AGAIN}"),))


AGAIN = "Give the whole answer again, as JSON that fits the schema, and nothing else."


def _tries(response: Response[Any], error: OutputError) -> tuple[Attempt, ...]:
    """The tries of an answer that did not fit; the one that served it failed after all."""
    return tuple([
        replace(attempt, outcome="failed", error=f"{type(error).__name__}: {error.message}")
        if attempt.outcome == "served"
        else attempt
        for attempt in response.attempts
    ])  # fmt: skip
