"""The workers of a gateway for costly bodies: started at the first one, one or two, each doing one task at a time.

Rules
- What waits is bounded, in all and for each owner, so that one client cannot keep the others from their turn; beyond
  that it is a 503. So is a turn that does not come in time.
- A task has a deadline. One that is late, or whose client left, ends with its process; the next task starts another.
- On the event loop bytes are copied in pieces, and what comes back is read in one go, which is bounded (`tasks`).
- A process that died of a bound (memory, processor time) had too costly a body: a 413. One that died of anything else
  says nothing of the body: the task is begun once more in another process, and where that dies, too, it is a 503.
- One has its turn in each round of the loop. Each takes a part of a tenth of a second: of a hundred that become whole
  in one round, ninety-nine would have to be done before the next look at a socket.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import socket
import sys
from collections import Counter, deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

from interlingua.errors import Error, LimitExceededError, OverloadedError
from interlingua.gateway.calls.reading import body_at_hand
from interlingua.gateway.offload.tasks import Message, body_from, decoded_from, encoded_from, packed_request
from interlingua.gateway.offload.worker import HEAD, NO_MEMORY

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from interlingua.dialects._contract import DecodedRequest, DecodeOptions, Dialect, Encoded, EncodeOptions
    from interlingua.gateway.http import GatewayRequest
    from interlingua.types.request import Request
    from interlingua.wire.body import Body
    from interlingua.wire.http import HttpRequest

__all__ = ["DEADLINE_S", "MAX_OF_OWNER", "MAX_WAITING", "Offload", "Turns"]

DEADLINE_S = 30.0
"""How long one task may take."""
TURN_S = 30.0
"""How long a task waits for its turn."""
MAX_WAITING = 16
"""How many tasks wait or run."""
MAX_OF_OWNER = 4
"""How many of them are of one key; without keys, all may be."""
_MOST_WORKERS = 2
_TRIES = 2
"""How often a task is begun whose process died of something that may not be its body."""
_REAPED_S = 0.02
"""How long a process takes to end once its socket has."""
_BOUNDS = frozenset({NO_MEMORY, -signal.SIGXCPU} if hasattr(signal, "SIGXCPU") else {NO_MEMORY})
"""How a process ends that its bounds end."""


class _Worker:
    """One process, and the socket to it."""

    def __init__(self, deadline_s: float) -> None:
        import subprocess  # only who has costly bodies starts a process

        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - nothing in it comes from a client
                [sys.executable, "-m", "interlingua.gateway.offload.worker", str(deadline_s)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,
            )
        ours.setblocking(False)
        self._socket = ours
        self.is_leaving: bool = False
        """Whether its last reply was the last one of all: it ends, to give back its memory."""

    @property
    def is_over(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    @property
    def died_of_bound(self) -> bool:
        """Whether the process has ended for what its task took of memory or time."""
        return self._process.poll() in _BOUNDS

    async def ask(self, task: str, facts: object, block: bytes) -> Message:
        """The reply to a task.

        Raises: the error that it came to; ConnectionError, EOFError where the process ended.
        """
        loop, request = asyncio.get_running_loop(), pickle.dumps((task, facts), 5)
        await loop.sock_sendall(self._socket, HEAD.pack(len(request), len(block)) + request)
        await loop.sock_sendall(self._socket, block)
        sizes = HEAD.unpack(await self._exactly(HEAD.size))
        reply = await self._exactly(sizes[0])
        block = bytes(await self._exactly(sizes[1]))
        await asyncio.sleep(0)  # to copy what is large takes a part of a second: others have their turn in between
        problem, facts, self.is_leaving = pickle.loads(reply)  # noqa: S301 - of a process of ours
        await asyncio.sleep(0)
        if problem is not None:
            try:
                raise problem
            finally:
                del problem  # its traceback has this frame, which has the body
        return Message(facts, block)

    async def _exactly(self, size: int) -> bytearray:
        loop, data = asyncio.get_running_loop(), bytearray(size)
        view, place = memoryview(data), 0
        while place < size:
            count = await loop.sock_recv_into(self._socket, view[place:])
            if not count:
                raise EOFError
            place += count
        return data

    def kill(self) -> None:
        """End it at once; whoever wants to know that it has ended waits."""
        self._process.kill()
        self._socket.close()

    def wait(self) -> None:
        """Nothing, once it has ended."""
        self._process.wait()


class Offload:
    """Has costly bodies worked on elsewhere."""

    def __init__(
        self,
        owner_of: Callable[[GatewayRequest], str] = lambda _: "",
        *,
        deadline_s: float = DEADLINE_S,
        turn_s: float = TURN_S,
    ) -> None:
        """No process yet; `owner_of` names the key that a request brought."""
        self._owner_of = owner_of
        self._deadline_s = deadline_s
        self._turn_s = turn_s
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []
        self._killed: list[_Worker] = []
        self._owners: Counter[str] = Counter()
        self._places: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None
        self.turns: Turns = Turns()
        """When bodies that are neither costly nor small are worked on by the loop itself."""
        self.started: int = 0
        """How many processes were started."""

    async def body_of(self, request: GatewayRequest, dialect: str) -> Body:
        """The body of a request in a dialect, `""` for any other one; a costly one is read in another process.

        Raises: as `read_body`; OverloadedError where too many of those are being read; LimitExceededError.
        """
        body = body_at_hand(request, dialect)
        return body or await self.read(request.body, dialect, self._owner_of(request))

    async def read(self, body: bytes, dialect: str, owner: str) -> Body:
        """A body in a dialect, read in another process, as `read_body` reads it.

        Raises: as `read_body`; OverloadedError, LimitExceededError.
        """
        return body_from(await self._done("read", dialect, body, owner), body)

    async def decode(self, dialect: str, request: HttpRequest, options: DecodeOptions, owner: str) -> DecodedRequest:
        """A request, as its dialect decodes it.

        Raises: as the dialect; OverloadedError, LimitExceededError.
        """
        bare = type(request)(method=request.method, url=request.url, headers=request.headers)
        return decoded_from(await self._done("decode", (dialect, bare, options), request.body, owner))

    async def encode(self, dialect: Dialect, request: Request, options: EncodeOptions, owner: str = "") -> Encoded:
        """A request on the wire of a target, as its dialect encodes it.

        Raises: as the dialect; OverloadedError, LimitExceededError.
        """
        block = packed_request(request)
        await asyncio.sleep(0)
        return encoded_from(await self._done("encode", (dialect.name, options), block, owner))

    def close(self) -> None:
        """End every process that waits."""
        for worker in self._idle:
            worker.kill()
        for worker in (*self._idle, *self._killed):
            worker.wait()
        self._idle, self._killed = [], []

    async def _done(self, task: str, facts: object, block: bytes, owner: str) -> Message:
        with self._counted(owner):
            loop = asyncio.get_running_loop()
            if self._places is None or self._places[0] is not loop:
                self._places = loop, asyncio.Semaphore(min(_MOST_WORKERS, os.cpu_count() or 1))
            places = self._places[1]
            try:
                async with asyncio.timeout(self._turn_s):
                    await places.acquire()
            except TimeoutError:
                raise _overloaded() from None
            try:
                return await self._run_task(task, facts, block)
            finally:
                places.release()

    @contextmanager
    def _counted(self, owner: str) -> Generator[None]:
        if self._owners.total() >= MAX_WAITING or (owner and self._owners[owner] >= MAX_OF_OWNER):
            raise _overloaded()
        self._owners[owner] += 1
        try:
            yield
        finally:
            self._owners[owner] -= 1
            self._owners += Counter()  # those of nobody go

    async def _run_task(self, task: str, facts: object, block: bytes) -> Message:
        for _ in range(_TRIES):
            try:
                return await self._tried(task, facts, block)
            except (EOFError, OSError):
                continue
        raise OverloadedError(
            "the process that worked on the body ended unexpectedly; ask again in a moment",
            status=503,
            retry_after_s=1.0,
        )

    async def _tried(self, task: str, facts: object, block: bytes) -> Message:
        """The reply of one process to a task.

        Raises: the error that it came to; LimitExceededError for a bound; EOFError, OSError where the process died of
        something else.
        """
        worker = self._ready()
        self._busy.append(worker)
        try:
            async with asyncio.timeout(self._deadline_s):
                message = await worker.ask(task, facts, block)
        except Error:
            self._put_back(worker)
            raise
        except TimeoutError:
            self._kill(worker)
            raise LimitExceededError(
                f"to work on the body takes more than {self._deadline_s:g} seconds; send a smaller one", status=413
            ) from None
        except (EOFError, OSError):
            await asyncio.sleep(_REAPED_S)  # its socket ends a moment before it does
            is_bound = worker.died_of_bound
            self._kill(worker)
            if is_bound:
                raise LimitExceededError("to work on the body takes more than a request may have", status=413) from None
            raise
        except BaseException:
            self._kill(worker)
            raise
        finally:
            self._busy.remove(worker)
        self._put_back(worker)
        return message

    def _ready(self) -> _Worker:
        """A process that waits, or a new one."""
        self._killed = [worker for worker in self._killed if not worker.is_over]
        while self._idle:
            worker = self._idle.pop()
            if not worker.is_over:
                return worker
            worker.kill()
        self.started += 1
        return _Worker(self._deadline_s)

    def _put_back(self, worker: _Worker) -> None:
        """Keep a process for the next task, unless it ends."""
        if worker.is_leaving:
            self._kill(worker)
        else:
            self._idle.append(worker)

    def _kill(self, worker: _Worker) -> None:
        worker.kill()
        self._killed.append(worker)


def _overloaded() -> OverloadedError:
    return OverloadedError(
        "too many large or costly bodies are being read here; ask again in a moment", status=503, retry_after_s=1.0
    )


# Turns of bodies that are worked on by the event loop itself, and are not small


class Turns:
    """Has one after the other go on."""

    def __init__(self) -> None:
        """Nobody waits."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self) -> None:
        """Nothing, in a round of the loop that nobody else has; at once where this one is free."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:  # none of this loop has had the round
            self._loop = loop
            self._waiting.clear()
            loop.call_soon(self._next)
            return
        turn = loop.create_future()
        self._waiting.append(turn)
        await turn

    def _next(self) -> None:
        """Let the next one go on, in the round that comes; it may have left meanwhile."""
        waiting, loop = self._waiting, self._loop
        while waiting and waiting[0].done():
            waiting.popleft()
        if not waiting or loop is None:
            self._loop = None
            return
        waiting.popleft().set_result(None)
        loop.call_soon(self._next)
