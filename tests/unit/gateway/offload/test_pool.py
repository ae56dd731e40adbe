"""Costly bodies in another process: the same results and errors, bounded time and turns, and what ends a process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from fuzz.shapes import REQUESTS, SHAPES
from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import DecodeError, LimitExceededError, OverloadedError, UnsupportedError
from interlingua.gateway.calls.reading import read_request
from interlingua.gateway.offload.pool import MAX_OF_OWNER, MAX_WAITING, Offload
from interlingua.types.content import OpaquePart
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.wire.http import HttpRequest

URL = "http://a/v1beta/models/m:generateContent"
MEND = DecodeOptions(history="mend")
BODY = b'{"model":"m","messages":[{"role":"user","content":"Hi"}]}'


@pytest.fixture
async def offload() -> AsyncGenerator[Offload]:
    """A place for costly bodies, which is closed in the end."""
    made = Offload()
    yield made
    made.close()


def _pids(offload: Offload) -> list[int]:
    return [worker._process.pid for worker in offload._idle]


@pytest.mark.parametrize("name", DIALECTS)
async def test_results_are_those_of_this_process(offload: Offload, name: str) -> None:
    """A body read, decoded and encoded elsewhere is the body read, decoded and encoded here, in every dialect."""
    data, dialect = REQUESTS[name], get_dialect(name)
    here, there = read_request(data, name), await offload.read(data, name, "")
    assert (there.text, there.value, there.shaped, there.places) == (here.text, here.value, here.shaped, here.places)
    assert {key: bytes(raw) for key, raw in there.members.items()} == {k: bytes(v) for k, v in here.members.items()}
    assert (here.is_costly, there.is_costly) == (False, True)
    request = HttpRequest(url=URL, body=data)
    decoded = await offload.decode(name, request, MEND, "")
    assert decoded == dialect.decode_request(request, MEND)
    options = EncodeOptions(target=Target(model="claude-opus-4-5"))
    target = get_dialect("anthropic")
    assert await offload.encode(target, decoded.request, options) == target.encode_request(decoded.request, options)
    assert offload.started == 1


async def test_what_messagepack_cannot_say_gets_there_all_the_same(offload: Offload) -> None:
    """Numbers of any length in a part that nobody reads."""
    part = OpaquePart("anthropic", "server_tool_use", {"n": 10**30})
    request = Request(messages=(Message("user", (part,)),))
    options, target = EncodeOptions(target=Target(model="claude-opus-4-5")), get_dialect("anthropic")
    encoded = await offload.encode(target, request, options)
    assert b"1000000000000000000000000000000" in encoded.body
    assert encoded == target.encode_request(request, options)


async def test_halves_of_surrogates_are_repaired_there(offload: Offload) -> None:
    """The text that comes back is the repaired one."""
    body = await offload.read(BODY.replace(b"Hi", b"\\ud800"), "openai-chat", "")
    assert (body.text, body.repairs) == (BODY.replace(b"Hi", b"\\ufffd"), ("lone_surrogate",))


async def test_errors_come_back_as_they_are(offload: Offload) -> None:
    """With place, status and code; the process goes on."""
    with pytest.raises(DecodeError) as caught:
        await offload.read(b'{"model":"m","model":"n"}', "openai-chat", "")
    error = caught.value
    assert (error.path, error.status, error.code) == ("/model", 400, "duplicate_member")
    request = Request(messages=(Message("user", (OpaquePart("google", "media_ref", {"a": 1}),)),))
    with pytest.raises(UnsupportedError) as refused:
        await offload.encode(get_dialect("anthropic"), request, EncodeOptions(target=Target(model="m")))
    assert [change.action for change in refused.value.changes] == ["refused"]
    with pytest.raises(LimitExceededError, match="more than 50,000 objects and arrays"):
        await offload.read(SHAPES["empty arrays"]("openai-chat", 300_000, Random(1)), "openai-chat", "")
    assert offload.started == 1


def _about(pid: int) -> tuple[bytes, str]:
    """The environment and the limits of a process."""
    place = Path(f"/proc/{pid}")
    return (place / "environ").read_bytes(), (place / "limits").read_text(encoding="ascii")


async def test_dos_03_a_task_has_a_deadline() -> None:
    """Who is late is refused and its process ended; the next task has another one."""
    offload = Offload(deadline_s=0.0)
    with pytest.raises(LimitExceededError, match="takes more than 0 seconds; send a smaller one") as caught:
        await offload.read(BODY, "openai-chat", "")
    assert caught.value.status == 413
    offload._deadline_s = 30.0
    assert (await offload.read(BODY, "openai-chat", "")).get("model") == "m"
    assert offload.started == 2
    offload.close()


async def _killed_in(offload: Offload, number: int, *signals: int) -> Any:
    """What a task came to whose processes get these signals, one after the other, while they work on it."""
    large = SHAPES["halves of surrogates"]("openai-chat", 20_000_000, Random(1))
    task = asyncio.ensure_future(offload.read(large, "openai-chat", ""))
    for sent in signals:
        for _ in range(1_000):
            await asyncio.sleep(0.01)
            if offload.started >= number and offload._busy:
                break
        await asyncio.sleep(0.1)
        os.kill(offload._busy[0]._process.pid, sent)
        number += 1
    return await task


async def test_a_process_that_died_is_replaced(offload: Offload) -> None:
    """Between two tasks and in one: somebody else may have ended it, so that the body is not blamed."""
    await offload.read(BODY, "openai-chat", "")
    (pid,) = _pids(offload)
    os.kill(pid, signal.SIGKILL)
    offload._idle[0].wait()
    body = await _killed_in(offload, 2, signal.SIGKILL)
    assert (body.get("model"), offload.started) == ("m", 3)


async def test_a_body_whose_processes_die_twice_is_a_503(offload: Offload) -> None:
    """Nobody knows why: the client may come again."""
    with pytest.raises(OverloadedError, match="ended unexpectedly; ask again in a moment") as caught:
        await _killed_in(offload, 1, signal.SIGKILL, signal.SIGKILL)
    assert (caught.value.status, caught.value.retry_after_s) == (503, 1.0)


async def test_a_process_that_its_bounds_end_blames_the_body(offload: Offload) -> None:
    """The system ends who takes too much processor time by a signal of its own: a 413 at once."""
    with pytest.raises(LimitExceededError, match="takes more than a request may have") as caught:
        await _killed_in(offload, 1, signal.SIGXCPU)
    assert (caught.value.status, offload.started) == (413, 1)


async def test_a_client_that_leaves_ends_the_work(offload: Offload) -> None:
    """Its process is killed in the middle of it."""
    await offload.read(BODY, "openai-chat", "")
    worker = offload._idle[0]
    large = SHAPES["halves of surrogates"]("openai-chat", 20_000_000, Random(1))
    task = asyncio.ensure_future(offload.read(large, "openai-chat", ""))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    worker.wait()
    assert worker.is_over
    assert (await offload.read(BODY, "openai-chat", "")).get("model") == "m"


async def test_dos_03_turns_are_bounded_for_each_owner_and_in_all() -> None:
    """One key cannot take all places; without keys there are as many as there are."""

    class Stuck(Offload):
        async def _run_task(self, task: str, facts: Any, block: bytes) -> Any:
            await asyncio.Event().wait()

    async def refused(offload: Offload, owner: str) -> bool:
        task = asyncio.ensure_future(offload.read(b"{}", "", owner))
        await asyncio.sleep(0)
        waiting.append(task)
        return task.done() and isinstance(task.exception(), OverloadedError)

    waiting: list[asyncio.Future[Any]] = []
    offload = Stuck()
    assert [await refused(offload, "a") for _ in range(MAX_OF_OWNER + 1)] == [False] * MAX_OF_OWNER + [True]
    left = MAX_WAITING - MAX_OF_OWNER
    assert [await refused(offload, "") for _ in range(left + 1)] == [False] * left + [True]
    error = cast("OverloadedError", waiting[-1].exception())
    assert (error.status, error.retryable, error.retry_after_s) == (503, True, 1.0)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert offload._owners.total() == 0


async def test_a_turn_that_does_not_come_is_a_503() -> None:
    """The place is for who comes next."""

    class Stuck(Offload):
        async def _run_task(self, task: str, facts: Any, block: bytes) -> Any:
            await asyncio.Event().wait()

    offload = Stuck(turn_s=0.01)
    running = [asyncio.ensure_future(offload.read(b"{}", "", "")) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(OverloadedError):
        await asyncio.gather(*[offload.read(b"{}", "", "") for _ in range(2)])
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
async def test_the_process_knows_no_secret(offload: Offload, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the environment it has where modules are, and nothing else; its memory is bounded."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret")
    await offload.read(BODY, "openai-chat", "")
    (pid,) = _pids(offload)
    environ, limits = await asyncio.to_thread(_about, pid)
    assert [pair.partition(b"=")[0] for pair in environ.strip(b"\0").split(b"\0")] == [b"PYTHONPATH"]
    assert [line.split()[3] for line in limits.splitlines() if line.startswith("Max address space")] == ["3221225472"]


async def test_a_process_that_holds_much_memory_is_ended(offload: Offload) -> None:
    """What it answered counts; the next task begins anew."""
    body = b'{"model":"m","messages":[{"role":"user","content":"%b"}]}' % (b"\\u00e9" * 10_000_000)
    decoded = await offload.decode("openai-chat", HttpRequest(url=URL, body=body), MEND, "")
    options = EncodeOptions(target=Target(model="m"))
    encoded = await offload.encode(get_dialect("anthropic"), decoded.request, options)
    assert len(encoded.body) > 20_000_000
    await offload.read(body, "openai-chat", "")
    await offload.read(BODY, "openai-chat", "")
    assert offload.started >= 2
