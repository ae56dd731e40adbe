"""The checks: what a server of a dialect must do, each with its verdict and its reason.

Rules
- A check passes, fails, or is skipped; a skip says why: a model that does not call, a server without pictures.
- An answer is held against its shape and, streamed, against the order of its events; every fault is a reason.
- What only a willing model can show (a call that cannot be demanded, two calls at once) is skipped, not failed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from interlingua.errors import Error
from interlingua.testing.conformance.question import TOOL, Question, Result
from interlingua.testing.conformance.seen import CallSeen, Finish, Seen
from interlingua.testing.conformance.session import Session
from interlingua.testing.wirefacts.values import members
from interlingua.wire.json import decode_any, encode

__all__ = ["CHECKS", "Check", "Outcome", "Report", "check_server"]

State: TypeAlias = Literal["pass", "fail", "skip"]
MOST_REASONS = 4


class Outcome(msgspec.Struct, frozen=True):
    """The outcome of one check."""

    name: str
    """Name of the check."""
    state: State
    """Whether it passed, failed or was skipped."""
    reason: str = ""
    """Why it did not pass."""


class _Skip(Exception):  # noqa: N818 - no error: the check says nothing about this server
    """The check cannot be made."""


class Check(NamedTuple):
    """One check."""

    name: str
    """Its name."""
    run: Callable[[Session], list[str]]
    """Gives every reason for which a server fails it; raises _Skip where it cannot be made."""


class Report(msgspec.Struct, frozen=True):
    """The outcome of all checks."""

    outcomes: tuple[Outcome, ...]
    """One for each check, in order."""

    @property
    def ok(self) -> bool:
        """Whether none failed."""
        return not any(outcome.state == "fail" for outcome in self.outcomes)

    def state(self, name: str) -> State:
        """The state of the check of that name."""
        return next(outcome.state for outcome in self.outcomes if outcome.name == name)

    def lines(self) -> list[str]:
        """The table that the command prints."""
        width = max(len(outcome.name) for outcome in self.outcomes)
        table = [f"{o.state}  {o.name:<{width}}  {o.reason}".rstrip() for o in self.outcomes]
        counts = [sum(o.state == state for o in self.outcomes) for state in ("pass", "fail", "skip")]
        return [*table, "{} passed, {} failed, {} skipped".format(*counts)]


def check_server(session: Session) -> Report:
    """The report of every check on one server."""
    return Report(tuple(_outcome(check, session) for check in CHECKS))


def _outcome(check: Check, session: Session) -> Outcome:
    try:
        reasons = check.run(session)
    except _Skip as skip:
        return Outcome(check.name, "skip", str(skip))
    more = f" (and {len(reasons) - MOST_REASONS} more)" if len(reasons) > MOST_REASONS else ""
    return Outcome(check.name, "fail" if reasons else "pass", "; ".join(reasons[:MOST_REASONS]) + more)


# Answers

CALL_ONE = Question(text=f"Use {TOOL} for Oslo.", tool=True, forced=True)
CALL_TWO = Question(text=f"Call {TOOL} twice at once: for Oslo and for Bergen.", tool=True)
COUNT = Question(text="Count from one to five hundred, in words.", limit=16)


def _with_stream(question: Question, *, stream: bool) -> Question:
    return msgspec.structs.replace(question, stream=stream)


def _text(session: Session, *, stream: bool) -> list[str]:
    _, answer = session.ask(_with_stream(Question(), stream=stream))
    return [*answer.faults, *_ended(answer, "stop"), *([] if answer.text else ["there is no text"])]


def _ended(answer: Seen, finish: Finish) -> list[str]:
    """The parts that are missing at the end of an answer."""
    if answer.faults:
        return []
    wrong = [] if answer.finish == finish else [f"it ended with {answer.finish or 'nothing'!r}, not {finish!r}"]
    return wrong if answer.has_usage else [*wrong, "there is no usage"]


def _tool(session: Session, *, stream: bool) -> list[str]:
    _, answer = session.ask(_with_stream(_question(session, CALL_ONE), stream=stream))
    if not session.tongue.forces and not answer.calls and not answer.faults:
        raise _Skip("the model did not call, and cannot be made to")
    missing = [] if answer.calls else ["there is no call"]
    if session.dialect == "openai-chat" and answer.finish == "stop" and answer.calls:
        return [*answer.faults, *_calls(session, answer)]  # a forced call may end with `stop`
    return [*answer.faults, *(missing or [*_calls(session, answer), *_ended(answer, "tool_calls")])]


def _question(session: Session, question: Question) -> Question:
    return question if session.tongue.forces else msgspec.structs.replace(question, forced=False)


def _calls(session: Session, answer: Seen) -> list[str]:
    """The faults of the calls of an answer."""
    wrong: list[str] = []
    for place, call in enumerate(answer.calls):
        if call.name != TOOL:
            wrong.append(f"call {place} is of {call.name!r}, which was not offered")
        if not isinstance(members(call.arguments).get("city"), str):
            wrong.append(f"call {place} has no city: {call.arguments}")
    ids = [call.id for call in answer.calls]
    if session.dialect not in ("google", "ollama") and len(set(ids)) < len(ids):
        wrong.append(f"ids are repeated: {', '.join(ids)}")
    return wrong


def _parallel(session: Session, *, stream: bool) -> list[str]:
    _, answer = session.ask(_with_stream(CALL_TWO, stream=stream))
    if not answer.faults and len(answer.calls) < 2:
        raise _Skip(f"the model called {len(answer.calls)} times")
    return [*answer.faults, *_calls(session, answer), *_ended(answer, "tool_calls")]


def _results(session: Session, *, stream: bool) -> list[str]:
    """Results go back with the turn that called, a failed one among them."""
    _, before = session.ask(_question(session, msgspec.structs.replace(CALL_TWO, forced=True)))
    if before.faults:
        return before.faults
    if not before.calls:
        raise _Skip("the model did not call")
    results = [Result(call, "4 degrees", is_error=place == 1) for place, call in enumerate(before.calls)]
    question = msgspec.structs.replace(CALL_TWO, turn=tuple(before.turn), results=tuple(results))
    _, answer = session.ask(_with_stream(question, stream=stream))
    return [
        *answer.faults,
        *([] if answer.text or answer.calls or answer.faults else ["there is no answer to the results"]),
    ]


def _structured(session: Session, *, stream: bool) -> list[str]:
    _, answer = session.ask(_with_stream(Question(text="It is 4 degrees in Oslo.", schema=True), stream=stream))
    if answer.faults:
        return answer.faults
    try:
        value = members(decode_any(answer.text))
    except Error as error:
        return [f"the text is no JSON: {error.message}"]
    fits = isinstance(value.get("city"), str) and isinstance(value.get("celsius"), int) and len(value) == 2
    return [] if fits else [f"the text does not fit the schema: {answer.text[:100]}"]


def _image(session: Session) -> list[str]:
    got, answer = session.ask(Question(text="What colour is this?", image=True))
    if got.status in (400, 415, 422) and not session.error_faults(got):
        raise _Skip(f"pictures are refused: {got.body[:200].decode(errors='replace')}")
    return [*answer.faults, *([] if answer.text or answer.faults else ["there is no text"])]


def _length(session: Session, *, stream: bool) -> list[str]:
    _, answer = session.ask(_with_stream(COUNT, stream=stream))
    return [*answer.faults, *_ended(answer, "length")]


# Errors


def _refused(session: Session, body: bytes, statuses: tuple[int, ...], **more: Any) -> list[str]:
    """The faults of the refusal of a body."""
    got = session.post(body, **more)
    if got.broke:
        return [f"the connection broke: {got.broke}"]
    if got.status not in statuses:
        return [
            f"status {got.status}, not {' or '.join(map(str, statuses))}: {got.body[:200].decode(errors='replace')}"
        ]
    return session.error_faults(got)


def _broken_json(session: Session) -> list[str]:
    return _refused(session, b'{"model": ', (400, 422))


def _missing_member(session: Session) -> list[str]:
    body = session.tongue.body(Question(), session.model)
    for name in ("messages", "input", "contents", "model" if session.dialect == "ollama" else ""):
        body.pop(name, None)
    return _refused(session, encode(body), (400, 404, 422))


def _unknown_model(session: Session) -> list[str]:
    model = "no-such-model-0000"
    body = session.tongue.body(Question(), model)
    return _refused(session, encode(body), (400, 404), model=model)


def _unknown_result(session: Session) -> list[str]:
    if not session.tongue.knows_results:
        raise _Skip("the dialect has no rule for it")
    stray = Result(CallSeen(id="call_nobody_made", name=TOOL, arguments={}), "4 degrees")
    body = session.tongue.body(Question(text="Hello.", tool=True, results=(stray,)), session.model)
    return _refused(session, encode(body), (400, 422))


def _wrong_key(session: Session) -> list[str]:
    if not session.key:
        raise _Skip("no key was given")
    body = session.tongue.body(Question(), session.model)
    return _refused(session, encode(body), (400, 401, 403), key="not-the-key")


class _Run(Protocol):
    def __call__(self, session: Session, *, stream: bool) -> list[str]: ...


def _both(name: str, run: _Run) -> tuple[Check, Check]:
    return (
        Check(f"{name}, whole", partial(run, stream=False)),
        Check(f"{name}, streamed", partial(run, stream=True)),
    )


CHECKS: tuple[Check, ...] = (
    *_both("text", _text),
    *_both("tool call", _tool),
    *_both("parallel calls", _parallel),
    *_both("results with an error", _results),
    *_both("structured output", _structured),
    Check("image", _image),
    *_both("length stop", _length),
    Check("error: broken JSON", _broken_json),
    Check("error: missing member", _missing_member),
    Check("error: unknown model", _unknown_model),
    Check("error: result without a call", _unknown_result),
    Check("error: wrong key", _wrong_key),
)
"""Every check, in the order of the table."""
