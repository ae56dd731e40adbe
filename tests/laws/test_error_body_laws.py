"""Every error body that is known, played by a target: what the chain makes of it, and what the gateway's client reads.

The class of each body is in its golden (`tests/golden/error_bodies`); what follows from a class is said here once more,
from the requirement.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import interlingua as il
from interlingua.dialects._contract import DecodeContext
from interlingua.dialects.table import get_dialect, stream_type
from interlingua.errors import Error
from interlingua.stream.fold import error_of
from interlingua.testing.framed import stream_bytes
from interlingua.transport.override import overriding
from interlingua.transport.replay import Line
from interlingua.types.event import StreamError
from interlingua.wire.http import HttpReply, HttpRequest
from tests.support.cells import cells
from tests.support.fault_world import TEXT, World, spec_of, variable
from tests.support.gateway import asking, body_of, gateway
from tests.support.imitated import IMITATED

FOLDER = Path(__file__).parent.parent / "golden" / "error_bodies"
BODIES: dict[str, list[dict[str, Any]]] = {
    name: [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    for name in IMITATED
}
NAMES = list(IMITATED)
AGAIN = {
    "RateLimitError", "OverloadedError", "InternalServerError", "APITimeoutError", "UpstreamError",
    "IncompleteStreamError",
}  # fmt: skip
NEXT = {
    "AuthenticationError", "PermissionDeniedError", "BillingError", "NotFoundError", "RequestTooLargeError",
    "ContextWindowExceededError",
}  # fmt: skip
STOP = {"BadRequestError", "ContentPolicyViolationError"}
LONGEST_WAIT_S = 8.0
"""Nobody waits longer for a target while another one is left."""


class Broken(World):
    """A world in which the first target of a dialect gives one error, each time."""

    def __init__(self, dialect: str, case: dict[str, Any], before: tuple[bytes, ...] = ()) -> None:
        """The error of a case, in a stream behind what was said before it."""
        super().__init__()
        body = case["body"]
        text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
        streamed = case["at"] == "stream"
        data = stream_bytes(dialect, text) if streamed else text.encode()
        kind = stream_type(dialect) if streamed else "application/json"
        headers = (("content-type", kind), *case.get("headers", {}).items())
        self._broken = Line(pieces=(*before, data), status=case["status"], headers=headers)

    def answer(self, request: HttpRequest) -> Line:
        """The error of the first target, the words of any other one."""
        if not (request.target or "").startswith("my-"):
            return super().answer(request)
        self.requests.append(request)
        return self._broken


@pytest.fixture(autouse=True)
def _targets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two targets of each dialect."""
    for dialect in IMITATED:
        monkeypatch.setenv(*variable(dialect))
        monkeypatch.setenv(*variable(dialect, second=True))


def follows(case: dict[str, Any]) -> str:
    """Whether the same target is asked again, the next one, or none."""
    if case["error"] in NEXT:
        return "next"
    if case["error"] in STOP:
        return "again" if case["retryable"] else "stop"
    assert case["error"] in AGAIN
    is_short = case.get("retry_after_s", 0.0) <= LONGEST_WAIT_S
    return "again" if case["retryable"] and is_short else "next"


@contextmanager
def standing(world: World) -> Generator[World]:
    """A world in the place of the network."""
    with overriding(world.transports()):
        yield world


def _outcome(model: il.Model, *, streamed: bool) -> tuple[Any, Error | None]:
    try:
        return (model.stream("Count.").finish() if streamed else model.generate("Count.")), None
    except Error as error:
        return None, error


@pytest.mark.parametrize("dialect", IMITATED)
def test_r42_a_chain_makes_of_every_body_what_its_class_says(dialect: str) -> None:
    """Again and then the next one, the next one at once, or an end; and the words of whoever serves."""
    elsewhere = spec_of(NAMES[NAMES.index(dialect) - 1], second=True)
    for case in BODIES[dialect]:
        streamed = case["at"] == "stream"
        with standing(Broken(dialect, case)) as world:
            model = il.model(f"{spec_of(dialect)},{elsewhere}", retries=1)
            reply, error = _outcome(model, streamed=streamed)
            attempts = reply.attempts if error is None else error.attempts
            told = [attempt.outcome for attempt in attempts]
            wanted = {
                "again": ["failed", "failed", "served"],
                "next": ["failed", "served"],
                "stop": ["failed"],
            }[follows(case)]
            assert told == wanted, case["about"]
            assert error is None or type(error).__name__ == case["error"], case["about"]
            assert (error is None) is (wanted[-1] == "served")
            assert error is not None or reply.text == TEXT
            assert len(world.requests) == len(wanted)


@pytest.mark.parametrize("upstream", IMITATED)
@pytest.mark.parametrize("client", IMITATED)
def test_r46_a_client_reads_every_body_in_its_own_words(client: str, upstream: str) -> None:
    """The same class from a reply of the client's dialect, also where the upstream said 200 first."""
    served = gateway(dict(variable(dialect) for dialect in IMITATED))
    for case in BODIES[upstream]:
        stream = case["at"] == "stream"

        async def ask(case: dict[str, Any] = case, stream: bool = stream) -> HttpReply:
            with standing(Broken(upstream, case)):
                reply = await served(asking(client, spec_of(upstream), "Count.", stream=stream))
                return HttpReply(status=reply.status, headers=reply.headers, body=await body_of(reply))

        reply = asyncio.run(ask())
        assert reply.status >= 400, case["about"]
        error = get_dialect(client).decode_error(reply, DecodeContext())
        assert type(error).__name__ == case["error"], (case["about"], reply)
        if case["error"] == "RateLimitError" and "retry_after_s" in case:
            assert error.retry_after_s == pytest.approx(case["retry_after_s"], abs=1.0), case["about"]


@cells("upstream", IMITATED)
@cells("client", IMITATED)
def test_sse_13_an_error_in_the_middle_ends_the_clients_stream_as_its_own(client: str, upstream: str) -> None:
    """What came before it is told, then the error with its class, and no end behind it."""
    served = gateway(dict(variable(dialect, second=second) for dialect in IMITATED for second in (False, True)))
    world = World()
    with standing(world):
        il.model(spec_of(upstream, second=True)).stream("Count.").finish()
    frames = world.line(upstream, streamed=True).pieces
    before = frames[: len(frames) * 2 // 3]
    text = _text(upstream, b"".join(before))
    for case in [case for case in BODIES[upstream] if case["at"] == "stream" and not str(case["body"]).startswith("[")]:

        async def ask(case: dict[str, Any] = case) -> tuple[int, bytes]:
            with standing(Broken(upstream, case, before)):
                reply = await served(asking(client, spec_of(upstream), "Count.", stream=True))
                return reply.status, await body_of(reply)

        status, body = asyncio.run(ask())
        assert status == 200
        decoder = get_dialect(client).stream_decoder(DecodeContext())
        events = decoder.feed(body)
        assert decoder.ended, case["about"]
        last = events[-1]
        assert isinstance(last, StreamError), case["about"]
        came = "".join(event.text for event in events if isinstance(event, il.TextDelta))
        assert came == text, case["about"]
        assert type(error_of(last)).__name__ == case["error"], case["about"]


def _text(upstream: str, data: bytes) -> str:
    events = get_dialect(upstream).stream_decoder(DecodeContext()).feed(data)
    return "".join(event.text for event in events if isinstance(event, il.TextDelta))
