"""Ray's functions that a map on a cluster calls, carried out in this process: what the real ones come to is in e2e."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

__all__ = ["RayInPlace"]


class RayError(Exception):
    """The root of Ray's errors."""


class RayTaskError(RayError):
    """An error that a task raised."""

    def __init__(self, cause: Exception) -> None:
        """The error around its cause."""
        super().__init__(str(cause))
        self.cause = cause


class WorkerCrashedError(RayError):
    """The worker of a task died as often as it may."""


class _Reference:
    """A value that is there, or a task that is carried out when it is waited for."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._outcome: tuple[Any, Exception | None] | None = None

    def settle(self) -> None:
        if self._outcome is None:
            try:
                self._outcome = (self._make(), None)
            except RayError as error:
                self._outcome = (None, error)
            except Exception as error:  # noqa: BLE001 - Ray gives back whatever a task raises
                self._outcome = (None, RayTaskError(error))

    def value(self) -> Any:
        self.settle()
        assert self._outcome is not None
        value, error = self._outcome
        if error is not None:
            raise error
        return value


class RayInPlace:
    """A Ray whose cluster is this process."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError, WorkerCrashedError=WorkerCrashedError)

    def __init__(self, processors: int = 2, dies: tuple[int, ...] = ()) -> None:
        """A cluster of so many processors, whose workers die of the shards that begin at these positions."""
        self._processors = processors
        self._dies = dies
        self.started: list[dict[str, Any]] = []
        """How Ray was started, each time."""
        self.options: list[dict[str, Any]] = []
        """The options of each kind of task."""
        self.positions: list[int] = []
        """The first positions of the shards that were sent out."""
        self.cancelled = 0
        """How many tasks were cancelled."""

    def is_initialized(self) -> bool:
        """Whether it was started."""
        return bool(self.started)

    def init(self, address: str | None = None, **options: Any) -> None:
        """Start it."""
        if address:
            raise ConnectionError("nobody is there")
        self.started.append(options)

    def cluster_resources(self) -> dict[str, float]:
        """The processors."""
        return {"CPU": float(self._processors)}

    def put(self, value: Any) -> _Reference:
        """A value as another process would get it."""
        try:
            pickled = pickle.dumps(value)
        except AttributeError:  # a function of a test's own, which the real one takes along
            return _Reference(lambda: value)
        return _Reference(lambda: pickle.loads(pickled))

    def remote(self, **options: Any) -> Callable[[Callable[..., Any]], Any]:
        """Make a task of a function."""
        self.options.append(options)

        def begin(function: Callable[..., Any], *values: Any) -> _Reference:
            if len(values) == 4:
                self.positions.append(values[2])
                if values[2] in self._dies:
                    return _Reference(self._crash)
            return _Reference(lambda: function(*[_value(value) for value in values]))

        return lambda function: SimpleNamespace(remote=partial(begin, function))

    def get(self, reference: _Reference) -> Any:
        """What a task came to."""
        return reference.value()

    def wait(
        self, references: list[_Reference], num_returns: int, timeout: float | None = None
    ) -> tuple[list[_Reference], list[_Reference]]:
        """The last of the tasks first, as another order than theirs."""
        done = references[-num_returns:]
        for reference in done:
            reference.settle()
        return done, references[:-num_returns]

    def cancel(self, reference: _Reference) -> None:
        """Do not begin with a task."""
        del reference
        self.cancelled += 1

    def _crash(self) -> Any:
        raise WorkerCrashedError("the worker died")


def _value(value: Any) -> Any:
    return value.value() if isinstance(value, _Reference) else value
