"""Use and cost of calls, summed over a stretch of code.

Rules
- A meter counts every answer that comes while it is open, in its context: tasks and `asyncio.to_thread` inherit that,
  and so do the threads of `map` and of toolboxes. Meters may lie in one another; each counts for itself.
- A thread of your own that was started inside, without a context, counts too, as long as one meter (with what lies in
  it) is open in the process; with several nobody could say whose it is, so give it one: `copy_context().run`.
- An answer counts once, when it is whole; of a stream that broke off counts what it told until then. An answer that was
  asked for again (a repair, a fallback) is an answer more. A try that failed without one is not counted.
"""

from __future__ import annotations

from _thread import allocate_lock, get_ident  # every call comes by here, and `threading` takes 2 ms to load
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from interlingua.errors import UsageError
from interlingua.types.usage import add_usage

if TYPE_CHECKING:
    from contextvars import Token
    from types import TracebackType
    from typing import Self

    from interlingua.types.response import Response
    from interlingua.types.usage import Usage

__all__ = ["Meter", "count", "meter", "tags_here"]


class _Stretch:
    """A stretch of code, and what was counted in it."""

    def __init__(self, own_tags: dict[str, str], outer: tuple[_Stretch, ...]) -> None:
        import threading  # only who has a meter needs it

        self.own_tags = own_tags
        self.line = (*outer, self)
        self.before = frozenset(thread.ident for thread in threading.enumerate())
        self.calls = 0
        self.usage: Usage | None = None
        self.cost_usd: float | None = 0.0
        self._lock = allocate_lock()

    def add(self, response: Response[Any]) -> None:
        with self._lock:
            self.calls += 1
            self.usage = add_usage(self.usage, response.usage)
            has_cost = self.cost_usd is not None and response.cost_usd is not None
            self.cost_usd = (self.cost_usd or 0.0) + (response.cost_usd or 0.0) if has_cost else None

    def is_around(self, others: list[_Stretch]) -> bool:
        return all(self in other.line for other in others)


class Meter:
    """The sums of a stretch of code; `il.meter` makes one."""

    def __init__(self, tags: dict[str, str]) -> None:
        """A meter that is not open yet."""
        self._stretch = _Stretch(tags, ())
        self._token: Token[tuple[_Stretch, ...] | None] | None = None

    @property
    def calls(self) -> int:
        """How many answers came."""
        return self._stretch.calls

    @property
    def usage(self) -> Usage | None:
        """The tokens of all answers; None when none was counted."""
        return self._stretch.usage

    @property
    def cost_usd(self) -> float | None:
        """The price of all answers in US dollars; None before the first one, and when the price of any is unknown."""
        return self._stretch.cost_usd if self._stretch.calls else None

    @property
    def tags(self) -> dict[str, str]:
        """The tags of this meter and of those around it; its own win."""
        return {name: text for stretch in self._stretch.line for name, text in stretch.own_tags.items()}

    def __enter__(self) -> Self:
        if self._token is not None:
            raise UsageError("this meter was used already; il.meter(…) makes another one")
        self._stretch = _Stretch(self._stretch.own_tags, _here.get() or ())
        self._token = _here.set(self._stretch.line)
        with _changing:
            _open.append(self._stretch)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with _changing:
            _open.remove(self._stretch)
        if self._token is not None:
            _here.reset(self._token)

    def __repr__(self) -> str:
        return f"<Meter {self.tags}: {self.calls} calls, cost_usd={self.cost_usd}>"


_here: ContextVar[tuple[_Stretch, ...] | None] = ContextVar("interlingua_meters", default=None)
_open: list[_Stretch] = []
_changing = allocate_lock()


def meter(**tags: str) -> Meter:
    """A context manager that sums usage and cost of every answer inside it; `tags` name it."""
    return Meter(tags)


def count(response: Response[Any]) -> None:
    """Count an answer in every meter that is open here."""
    if _open:
        for stretch in _stretches():
            stretch.add(response)


def tags_here() -> dict[str, str]:
    """The tags of the meters that are open here; the inner ones win."""
    return {name: text for stretch in _stretches() for name, text in stretch.own_tags.items()} if _open else {}


def _stretches() -> list[_Stretch]:
    """Those of this context; in a thread that was given none, those inside which alone it can have been started."""
    stretches = _here.get()
    with _changing:
        if stretches is not None:
            return [stretch for stretch in stretches if stretch in _open]
        started_in = [stretch for stretch in _open if get_ident() not in stretch.before]
        return started_in if any(stretch.is_around(_open) for stretch in started_in) else []
