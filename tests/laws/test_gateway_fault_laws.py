"""Every client dialect over every upstream dialect under faults: each ends in the client's own error, never cleanly.

What must happen is said by the same model as for the client (`fault_world`): the upstream's bytes and its decoder.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

import interlingua as il
from interlingua.dialects._contract import DecodeContext, ServerContext
from interlingua.dialects.table import get_dialect
from interlingua.errors import Error
from interlingua.gateway.core import Gateway
from interlingua.gateway.http import GatewayReply
from interlingua.stream.fold import error_of
from interlingua.testing import faults
from interlingua.transport.override import overriding
from interlingua.types.event import StreamEnd, StreamError
from interlingua.wire.http import HttpReply
from tests.support.fault_world import (
    TEXT,
    Counted,
    Expected,
    World,
    counting,
    spec_of,
    stream_expected,
    variable,
    whole_expected,
)
from tests.support.gateway import asking, body_of, gateway, header_of
from tests.support.imitated import IMITATED

AT_ONCE = {
    "refuse": il.APIConnectionError,
    "reset": il.APIConnectionError,
    "stall": il.APITimeoutError,
    "401": il.AuthenticationError,
    "402": il.BillingError,
    "404": il.NotFoundError,
    "429:7": il.RateLimitError,
    "500": il.InternalServerError,
    "529": il.OverloadedError,
    "400": il.BadRequestError,
}
"""Fault before the body -> what it is."""
KINDS = ("cut", "stall", "truncate", "garbage")
PAIRS = [(client, upstream) for client in IMITATED for upstream in IMITATED]


@pytest.fixture(scope="module")
def world() -> World:
    """Two targets of each dialect, which the environment of no process names."""
    return World()


def _environment() -> dict[str, str]:
    return dict(variable(dialect, second=second) for dialect in IMITATED for second in (False, True))


@contextmanager
def meeting(world: World, fault: str) -> Generator[Counted]:
    """The first targets meet a fault each time; what is opened underneath is counted."""
    with ExitStack() as stack:
        stack.enter_context(overriding(world.transports()))
        count = stack.enter_context(counting())
        stack.enter_context(faults({"my-*": fault}))
        world.requests.clear()
        yield count


def ask(
    world: World, served: Gateway, fault: str, client: str, model: str, *, stream: bool
) -> tuple[GatewayReply, bytes]:
    """The gateway's reply and its whole body; nothing stays open, and no task is left."""

    async def asked() -> tuple[GatewayReply, bytes]:
        with meeting(world, fault) as count:
            reply = await served(asking(client, model, "Count.", stream=stream))
            body = await body_of(reply)
            assert count.open == 0, fault
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return reply, body

    return asyncio.run(asked())


def read_error(client: str, reply: GatewayReply, body: bytes) -> Error:
    """The error that a client of a dialect reads from a failed reply."""
    whole = HttpReply(status=reply.status, headers=reply.headers, body=body)
    return get_dialect(client).decode_error(whole, DecodeContext())


def told(client: str, error: Error) -> type[Error]:
    """The class of an error after it was told in a client's dialect."""
    dialect = get_dialect(client)
    return type(dialect.decode_error(dialect.encode_error(error, ServerContext()), DecodeContext()))


def text_of(client: str, reply: GatewayReply, body: bytes, *, stream: bool) -> str:
    """The text of an answer that came to its end."""
    dialect = get_dialect(client)
    if not stream:
        whole = HttpReply(status=reply.status, headers=reply.headers, body=body)
        return dialect.decode_response(whole, DecodeContext()).text
    decoder = dialect.stream_decoder(DecodeContext())
    last = [*decoder.feed(body), *decoder.close()][-1]
    assert isinstance(last, StreamEnd)
    return last.response.text


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
def test_faults_before_the_body(world: World, client: str, upstream: str, stream: bool) -> None:
    """A status of the client's dialect, an error body of its own, and behind another target the whole answer."""
    served = gateway(_environment())
    other = spec_of(upstream, second=True)
    for fault, kind in AT_ONCE.items():
        reply, body = ask(world, served, fault, client, spec_of(upstream), stream=stream)
        error = read_error(client, reply, body)
        assert reply.status >= 400, fault
        assert type(error) is told(client, kind("x", status=int(fault[:3]) if fault[0].isdigit() else None)), fault
        if fault == "429:7":
            assert (error.retry_after_s, header_of(reply, "retry-after")) == (7.0, "7")
        reply, body = ask(world, served, fault, client, f"{spec_of(upstream)},{other}", stream=stream)
        if fault == "400":
            assert type(read_error(client, reply, body)) is il.BadRequestError
        else:
            assert reply.status == 200, (fault, body)
            assert text_of(client, reply, body, stream=stream) == TEXT


@pytest.mark.parametrize(("client", "upstream"), PAIRS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_faults_in_the_body(world: World, client: str, upstream: str, stream: bool) -> None:
    """Before the first word another target serves; after it the client reads what came and then its own error."""
    served = gateway(_environment())
    ask(world, served, "ok", upstream, spec_of(upstream), stream=stream)
    ask(world, served, "ok", client, spec_of(upstream), stream=stream)
    pieces = b"".join(world.line(upstream, streamed=stream).pieces)
    chance = random.Random(f"{client} {upstream}")
    for kind in KINDS:
        for place in sorted({0, *chance.sample(range(len(pieces)), 4), len(pieces) - 1}):
            if stream:
                expected = stream_expected(upstream, kind, place, pieces)
            else:
                expected = whole_expected(kind, place, len(pieces))
            check(world, served, client, upstream, f"{kind}:{place}", expected, stream=stream)


def check(
    world: World, served: Gateway, client: str, upstream: str, fault: str, expected: Expected, *, stream: bool
) -> None:
    """One fault, alone and in a chain."""
    where = (client, upstream, fault, expected)
    reply, body = ask(world, served, fault, client, spec_of(upstream), stream=stream)
    if expected.error is None:
        assert text_of(client, reply, body, stream=stream) == TEXT, where
        return
    if expected.begun:
        check_broken(client, reply, body, expected, where)
        return
    assert reply.status >= 500 or (client, reply.status) == ("bedrock", 408), where  # its ModelTimeoutException
    assert issubclass(type(read_error(client, reply, body)), Error), where
    reply, body = ask(
        world, served, fault, client, f"{spec_of(upstream)},{spec_of(upstream, second=True)}", stream=stream
    )
    assert reply.status == 200, where
    assert text_of(client, reply, body, stream=stream) == TEXT, where


def check_broken(client: str, reply: GatewayReply, body: bytes, expected: Expected, where: Any) -> None:
    """A stream that had begun: its text as far as it came, then an error event, and nothing behind that."""
    assert reply.status == 200, where
    decoder = get_dialect(client).stream_decoder(DecodeContext())
    events = decoder.feed(body)
    assert decoder.ended, where  # the error is in the bytes: the client does not have to guess it from their end
    last = events[-1]
    assert isinstance(last, StreamError), where
    text = "".join(event.text for event in events if isinstance(event, il.TextDelta))
    assert TEXT.startswith(text), where
    assert text == expected.text, where
    assert isinstance(error_of(last), Error), where
