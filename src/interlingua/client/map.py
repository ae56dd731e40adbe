"""Many inputs through one model: one item for each, whatever happens to it.

Strategy: `Work` decides everything about one input (what it is called, what was asked, whether the journal has it, what
becomes of its answer) and knows neither threads nor tasks; `mapped` is the blocking shell, `aio.map` the awaited one.

Rules
- Inputs are taken one by one, and no more than `window` of them are under way or wait to be fetched by the caller.
- An input's failure is its item's `error`. What is raised is what holds for all of them (an option that is none, a
  model that nobody knows, a journal in use) and what the inputs themselves raise when the next one is taken.
- An answer is in the journal before its item is given out. Leaving early waits for the calls under way and keeps them.
- Journal ids say what was asked: the request as canonical JSON (input, schema, system text, tools, options), the
  model's spec, and how the call is steered. Inputs that are equal are told apart by their number among their equals.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import copy_context
from hashlib import sha256
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

import msgspec

from interlingua import errors
from interlingua.client.face import call_of
from interlingua.client.item import Item
from interlingua.client.journal import Entry, Fault, Journal
from interlingua.errors import Error, MalformedArgumentsError, OutputError, UsageError, kind_of
from interlingua.media.files import InputFile
from interlingua.tools.result import content_of
from interlingua.types.content import Json
from interlingua.types.dump import dump
from interlingua.wire.json import encode

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Generator, Iterable, Iterator
    from typing import Self

    from interlingua.client.batch.batch import Batch
    from interlingua.client.call.values import Call
    from interlingua.client.face import Face
    from interlingua.client.item import Input
    from interlingua.client.model import Model
    from interlingua.client.prompt import Prompt
    from interlingua.types.response import Response

__all__ = [
    "MAX_CONCURRENCY",
    "Queue",
    "Task",
    "Terms",
    "Work",
    "check_inputs",
    "entry_of",
    "flow",
    "key_of",
    "mapped",
    "window_of",
]

T = TypeVar("T")
S = TypeVar("S")
R = TypeVar("R")

MAX_CONCURRENCY = 1_000
"""How many calls may be under way at once."""
_LONGEST_KEY = 200


class Terms(NamedTuple):
    """How a map is to go."""

    output: object
    """The type of the answers."""
    concurrency: int
    """How many calls are under way at once."""
    journal: str | os.PathLike[str] | None
    """Where finished inputs are kept."""
    ordered: bool
    """Whether items come in the order of their inputs, or as they are finished."""
    batch: bool | Batch
    """Whether the inputs are asked for in batches of the provider's, and how."""
    key: Callable[[Any], str] | None
    """A function that names an input."""
    retry_failed: bool
    """Whether inputs that failed in an earlier run are tried again."""
    options: Mapping[str, Any]
    """Options of every call."""


class Task(NamedTuple):
    """One input that has to be asked for."""

    key: str
    """The name of the input."""
    prompt: Prompt
    """The prompt."""
    identity: str
    """Its id in the journal; empty without one."""


class Work(Generic[T]):
    """The work to be done with each input."""

    def __init__(self, face: Face, terms: Terms, open_journal: Callable[[], Journal] | None = None) -> None:
        """The work of one map; `open_journal` opens its journal, else that is the file that the terms name.

        Raises: UsageError and its kinds, for whatever would fail every input alike.
        """
        if type(terms.concurrency) is not int or not 1 <= terms.concurrency <= MAX_CONCURRENCY:
            raise UsageError(f"concurrency takes 1 to {MAX_CONCURRENCY:,} calls at once, not {terms.concurrency!r:.60}")
        if "history" in terms.options:
            raise UsageError(
                "map has no history: each input is a conversation of its own, and may be a list of messages"
            )
        call = call_of(face, "x", None, terms.options, terms.output)
        if terms.batch:
            from interlingua.client.batch.batch import check_batch  # only who batches needs it

            check_batch(terms, call)
        self.is_batched: bool = bool(terms.batch) and call.with_credential
        """Whether the inputs are asked for in batches; what stands in for every model is asked live."""
        self._face = face
        self._terms = terms
        self._journal: Journal | None = None
        self._open_journal = open_journal
        self._equals: dict[str, int] = {}
        self._lock = threading.Lock()

    def opened(self) -> Self:
        """The work with its journal open; entering it is the caller's. Before that, nothing counts as finished.

        Raises: UsageError for a journal that cannot be used.
        """
        if self._terms.journal is not None:
            self._journal = self._open_journal() if self._open_journal else Journal(self._terms.journal)
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._journal is not None:
            self._journal.__exit__(None, None, None)

    def begin(self, source: Input, position: int) -> Task | Item[T]:
        """The task of an input; its item, where nothing has to be or can be asked."""
        name, key = f"input {position}", None
        try:
            key = name = key_of(source, position, self._terms.key)
            prompt: Prompt = source.parts() if isinstance(source, InputFile) else source
            call = self.call(prompt)
            # The settings decide beside the request what is asked and what counts as an answer.
            how = call.settings
            steering = (how.strict, how.call_ids, how.history_policy, how.repair, how.max_repairs, sorted(how.allow))
            identity = self._identify([self._face.spec, dump(call.request), *steering])
        except Exception as error:  # noqa: BLE001 - a file, a key function, an input of no kind: it is this input's alone
            task = Task(name, "", self._identify(["unreadable", name]))
            entry = self._recorded(task.identity, name, again=False)  # the same failure is not written twice
            return Item(key=name, error=error) if entry is not None else self.fail(task, error)
        return self._recorded(identity, key, again=self._terms.retry_failed) or Task(key, prompt, identity)

    def call(self, prompt: Prompt) -> Call:
        """The call of one input.

        Raises: UsageError and its kinds for what cannot be asked.
        """
        return call_of(self._face, prompt, None, self._terms.options, self._terms.output)

    @property
    def journal(self) -> Journal:
        """The open journal.

        Raises: UsageError where there is none.
        """
        if self._journal is None:
            raise UsageError("there is no journal")
        return self._journal

    def end(self, task: Task, response: Response[Any]) -> Item[T]:
        """The item of an answer, once it is in the journal."""
        item: Item[T] = Item(key=task.key, output=response.output, response=response, cost_usd=response.cost_usd)
        self._record(task, item)
        return item

    def fail(self, task: Task, error: Exception) -> Item[T]:
        """The item of a failure, once it is in the journal."""
        response = error.response if isinstance(error, OutputError | MalformedArgumentsError) else None
        cost = None if response is None else response.cost_usd
        item: Item[T] = Item(key=task.key, response=response, error=error, cost_usd=cost)
        self._record(task, item)
        return item

    def _identify(self, parts: list[Any]) -> str:
        if self._terms.journal is None:
            return ""
        digest = sha256(encode(parts)).hexdigest()[:32]
        with self._lock:
            number = self._equals[digest] = self._equals.get(digest, 0) + 1
        return digest if number == 1 else f"{digest}#{number}"

    def _recorded(self, identity: str, key: str, *, again: bool) -> Item[T] | None:
        """The item that the journal has; None for one that has to be asked for."""
        entry = None if self._journal is None else self._journal.find(identity, failed=not again)
        try:
            return None if entry is None else self.item_of(entry, key, recorded=True)
        except Error:  # the type takes less than it took then: that is another question, to be asked again
            return None

    def item_of(self, entry: Entry, key: str, *, recorded: bool) -> Item[T]:
        """The item that the entry of a journal holds.

        Raises: Error for an output that the type does not take any more.
        """
        error = None
        if entry.error is not None:
            error = _rebuilt(entry.error, entry.response)
            error.target, error.key_from = entry.error.target, entry.error.key_from
        output: Any = None if error else self._output(entry)
        return Item(
            key=key, output=output, response=entry.response, error=error, cost_usd=entry.cost_usd, recorded=recorded
        )

    def _output(self, entry: Entry) -> Any:
        kind = self._terms.output
        if kind is None or entry.response is None:
            return None
        from interlingua.client.typed.output import with_output  # only typed answers need schemas
        from interlingua.schema.reflect import decode_output

        if entry.output is None:
            return with_output(entry.response, cast("Any", kind)).output
        return decode_output(encode(entry.output).decode(), cast("Any", kind))

    def _record(self, task: Task, item: Item[T]) -> None:
        if self._journal is not None:
            self._journal.add(entry_of(item, task.identity))


def entry_of(item: Item[Any], identity: str) -> Entry:
    """The entry of an item, as a journal keeps it."""
    bare = item.response and msgspec.structs.replace(item.response, request=None, raw_reply=None, output=None)
    return Entry(
        journal=1,
        id=identity,
        key=item.key,
        output=_plain(item.output),
        error=None if item.error is None else _fault(item.error),
        cost_usd=item.cost_usd,
        response=bare,
    )


def window_of(concurrency: int) -> int:
    """How many inputs may be under way or finished and not fetched."""
    return 2 * concurrency


def check_inputs(inputs: object) -> None:
    """Nothing; the inputs are several.

    Raises: UsageError for one alone, whose letters or members would be asked one by one, and for none at all.
    """
    is_several = hasattr(inputs, "__iter__") or hasattr(inputs, "__aiter__")
    if not is_several or issubclass(type(inputs), str | bytes | Mapping):
        raise UsageError(f"map takes several inputs, not {kind_of(inputs)}; one alone is [input]")


def mapped(work: Work[T], model: Model, inputs: Iterable[Input], terms: Terms, first: int = 0) -> Generator[Item[T]]:
    """The items of `inputs`, asked for in threads that end with it; `first` is the position of the first input.

    Raises: what the inputs raise; UsageError for a journal that cannot be used; Error when it cannot be written.
    """
    if work.is_batched:
        from interlingua.client.batch.mapped import mapped_in_batches  # only who batches needs it

        yield from mapped_in_batches(work, inputs, terms)
        return

    def carry_out(source: Input, position: int) -> Item[T]:
        task = work.begin(source, position)
        if isinstance(task, Item):
            return task
        try:
            response = model.generate(task.prompt, output=terms.output, **terms.options)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other inputs are not to suffer
            return work.fail(task, error)
        return work.end(task, response)

    with work.opened(), ExitStack() as ending:
        pool = ThreadPoolExecutor(terms.concurrency, thread_name_prefix="interlingua-map")
        ending.callback(pool.shutdown, wait=True, cancel_futures=True)
        begin = Queue(pool, carry_out, ordered=terms.ordered)
        yield from flow(begin, enumerate(inputs, first), window_of(terms.concurrency))


def flow(queue: Queue[S, R], inputs: Iterator[tuple[int, S]], window: int) -> Iterator[R]:
    """Results as they may be given out; the next input is only taken while none is ready and there is room."""
    more = True
    while more or queue.length:
        if not more or queue.length >= window or queue.ready:
            yield queue.take()
            continue
        entry = next(inputs, None)
        more = entry is not None
        if entry is not None:
            queue.add(*entry)


class Queue(Generic[S, R]):
    """Inputs under way in threads, in the order in which what becomes of them is given out."""

    def __init__(self, pool: ThreadPoolExecutor, carry_out: Callable[[S, int], R], *, ordered: bool) -> None:
        """Nothing is under way; `carry_out` is called in the pool with each input and its position."""
        self._pool = pool
        self._carry_out = carry_out
        self._ordered = ordered
        self._waiting: deque[Future[R]] = deque()
        self._done: SimpleQueue[Future[R]] = SimpleQueue()
        self.length: int = 0
        """How many are under way, or finished and not taken."""

    @property
    def ready(self) -> bool:
        """Whether an item can be taken without waiting."""
        if self._ordered:
            return bool(self._waiting) and self._waiting[0].done()
        return not self._done.empty()

    def add(self, position: int, source: S) -> None:
        """Begin with an input."""
        future = self._pool.submit(copy_context().run, self._carry_out, source, position)
        self.length += 1
        if self._ordered:
            self._waiting.append(future)
        else:
            future.add_done_callback(self._done.put)

    def take(self) -> R:
        """The result of the next one, once it is finished."""
        future = self._waiting.popleft() if self._ordered else self._done.get()
        self.length -= 1
        return future.result()


def key_of(source: Input, position: int, make: Callable[[Any], str] | None) -> str:
    """The name of an input."""
    if make is not None:
        return str(make(source))
    if isinstance(source, InputFile):
        return source.key
    if isinstance(source, str):
        return source if len(source) <= _LONGEST_KEY else f"{source[: _LONGEST_KEY - 1]}…"
    return str(position)


def _plain(output: object) -> Any:
    """A typed answer as JSON; None for one that JSON cannot show, which is read from the answer's text again."""
    if output is None:
        return None
    try:
        content = content_of(output)
    except UsageError:
        return None
    return content.value if isinstance(content, Json) else content


def _fault(error: Exception) -> Fault:
    if not isinstance(error, Error):
        return Fault(type(error).__name__, f"{type(error).__name__}: {error}")
    fault = error.fault if isinstance(error, OutputError) else None
    return Fault(
        type(error).__name__, error.message, error.retryable, error.status, fault, error.target, error.key_from
    )


def _rebuilt(fault: Fault, response: Response[Any] | None) -> Error:
    """The error that was kept, of its own class where that is one of ours."""
    kind = getattr(errors, fault.type, Error)
    if kind is OutputError:
        return OutputError(fault.message, fault=fault.fault or "invalid", response=response)  # pyright: ignore[reportArgumentType]  # what was written was one of the three
    facts: dict[str, Any] = {"retryable": fault.retryable, "status": fault.status}
    if kind is MalformedArgumentsError:
        return MalformedArgumentsError(fault.message, response=response, **facts)
    return kind(fault.message, **facts) if isinstance(kind, type) and issubclass(kind, Error) else Error(fault.message)
