"""Metrics of a gateway in the text format of Prometheus: counted from the records of requests, told at `/metrics`.

Rules
- Names in labels come from the configuration alone: aliases, their targets, keys. Anything else is `other`, or
  `provider/other` where the provider is known, so that no client can make the series grow.
- Beyond the bound of series every further one is counted as `other`; nothing is lost from the sums.
- Where `/metrics` wants a key, an operator's key gets everything, and any other one the samples that name it.
- What is under way, waiting, benched or open is looked up when somebody asks.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec

from interlingua.client.state import health_store, limiter
from interlingua.errors import Error, NotFoundError
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.records.summing import OTHER, number, of_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from interlingua.gateway.console.access import Access
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.keys.auth import Guard
    from interlingua.gateway.records.record import Record
    from interlingua.gateway.records.recorder import Recorder
    from interlingua.gateway.serving.peers import Peers
    from interlingua.registry.resolve import Registry
    from interlingua.routing.health import TargetHealth

__all__ = ["MAX_SERIES", "Metrics", "MetricsPage"]

MAX_SERIES = 2_000
"""How many series one metric may have."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
FIRST_S = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0, 20.0, 30.0, 60.0)
"""Upper ends of the times to the first content, in seconds."""
TOTAL_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""Upper ends of the times of whole requests, in seconds."""
LOOK_S = 5.0
"""How old what is known of the configuration may get."""
_STATES = ("half_open", "benched", "suspended")
Labels: TypeAlias = tuple[str, ...]
_Place: TypeAlias = tuple[str, str, str, str, int]
"""Client, model, target, key and status of requests that are counted alike."""
Cell: TypeAlias = list[float]
"""A count, alone in a list: what is counted alike is looked for once."""


class _Kind(NamedTuple):
    """One metric."""

    name: str
    help: str
    labels: tuple[str, ...]
    boundaries: tuple[float, ...] = ()


REQUESTS = _Kind(
    "interlingua_requests_total", "Requests that are over.", ("client", "model", "target", "key", "status")
)
ERRORS = _Kind("interlingua_errors_total", "Requests that ended in an error.", ("client", "target", "error"))
ABORTED = _Kind("interlingua_aborted_total", "Requests whose client left before the end.", ("client",))
ATTEMPTS = _Kind("interlingua_attempts_total", "Attempts at targets, and skipped targets.", ("target", "outcome"))
CHANGES = _Kind("interlingua_changes_total", "What translation dropped or changed.", ("client", "target"))
TOKENS = _Kind("interlingua_tokens_total", "Tokens; cached ones are among the input.", ("target", "key", "kind"))
COST = _Kind("interlingua_cost_usd_total", "What answers cost in US dollars, where known.", ("target", "key"))
FIRST = _Kind("interlingua_first_content_seconds", "Until the first content of a stream.", ("target",), FIRST_S)
TOTAL = _Kind("interlingua_request_seconds", "From the head to the last byte.", ("target",), TOTAL_S)
_COUNTERS = (REQUESTS, ERRORS, ABORTED, ATTEMPTS, CHANGES, TOKENS, COST)
_HISTOGRAMS = (FIRST, TOTAL)


class _Histogram:
    """Times of one series."""

    __slots__ = ("counts", "total_s")

    def __init__(self, boundaries: int) -> None:
        self.counts = [0] * (boundaries + 1)
        self.total_s = 0.0


class _Tally:
    """Where requests are counted that are alike in client, model, target, key and status."""

    __slots__ = ("cached", "changes", "cost", "first", "labels", "read", "requests", "total", "written")

    def __init__(self, labels: Labels, requests: Cell, total: _Histogram) -> None:
        """Cells for requests with these labels; the others are made when there is something to count in them."""
        self.labels = labels
        self.requests = requests
        self.total = total
        self.first: _Histogram | None = None
        self.changes: Cell | None = None
        self.read: Cell | None = None
        self.written: Cell | None = None
        self.cached: Cell | None = None
        self.cost: Cell | None = None


class Metrics:
    """Counts the requests of one gateway."""

    def __init__(self, recorder: Recorder, registry: Registry) -> None:
        """Nothing has been counted; the names of `registry` may stand in labels."""
        self._recorder = recorder
        self._counts: dict[_Kind, dict[Labels, Cell]] = {kind: {} for kind in _COUNTERS}
        self._times: dict[_Kind, dict[Labels, _Histogram]] = {kind: {} for kind in _HISTOGRAMS}
        self._names = _Names(registry, recorder.clock)
        self._version = 0
        self._tallies: dict[_Place, _Tally] = {}
        self._tries: dict[tuple[str, str], Cell] = {}

    def __call__(self, record: Record) -> None:
        """Count a request that is over."""
        if record.route in _OWN:
            return
        names = self._names
        if self._recorder.clock() >= names.look_at_s:
            names.look()
        if names.version != self._version:
            self._tallies, self._tries, self._version = {}, {}, names.version
        place = record.client, record.model, record.target, record.key, record.status
        tally = self._tallies.get(place)
        if tally is None:
            tally = self._tally(place)
        tally.requests[0] += 1
        total, total_s = tally.total, record.total_s
        total.counts[bisect_left(TOTAL_S, total_s)] += 1
        total.total_s += total_s
        if record.error:
            self._cell(ERRORS, (record.client, tally.labels[2], record.error))[0] += 1
        if record.aborted:
            self._cell(ABORTED, (record.client,))[0] += 1
        for attempt in record.attempts:
            cell = self._tries.get((attempt.model, attempt.outcome))
            if cell is None:
                if len(self._tries) >= MAX_SERIES:
                    self._tries.clear()
                cell = self._cell(ATTEMPTS, (names.target(attempt.model), attempt.outcome))
                self._tries[attempt.model, attempt.outcome] = cell
            cell[0] += 1
        self._count_sums(record, tally)

    def _tally(self, place: _Place) -> _Tally:
        if len(self._tallies) >= MAX_SERIES:
            self._tallies.clear()
        client, model, target, key, status = place
        target = self._names.target(target)
        labels = client, self._names.model(model), target, key, str(status)
        tally = _Tally(labels, self._cell(REQUESTS, labels), self._histogram(TOTAL, (target,)))
        self._tallies[place] = tally
        return tally

    def _count_sums(self, record: Record, tally: _Tally) -> None:
        client, _, target, key, _ = tally.labels
        if record.changes:
            tally.changes = tally.changes or self._cell(CHANGES, (client, target))
            tally.changes[0] += record.changes
        if record.input_tokens:
            tally.read = tally.read or self._cell(TOKENS, (target, key, "input"))
            tally.read[0] += record.input_tokens
        if record.output_tokens:
            tally.written = tally.written or self._cell(TOKENS, (target, key, "output"))
            tally.written[0] += record.output_tokens
        if record.cache_read_tokens:
            tally.cached = tally.cached or self._cell(TOKENS, (target, key, "cache_read"))
            tally.cached[0] += record.cache_read_tokens
        if record.cost_usd:
            tally.cost = tally.cost or self._cell(COST, (target, key))
            tally.cost[0] += record.cost_usd
        if record.first_s is not None:
            tally.first = tally.first or self._histogram(FIRST, (target,))
            tally.first.counts[bisect_left(FIRST_S, record.first_s)] += 1
            tally.first.total_s += record.first_s

    def _cell(self, kind: _Kind, labels: Labels) -> Cell:
        counts = self._counts[kind]
        labels = _within(counts, labels)
        cell = counts.get(labels)
        if cell is None:
            cell = counts[labels] = [0]
        return cell

    def _histogram(self, kind: _Kind, labels: Labels) -> _Histogram:
        times = self._times[kind]
        labels = _within(times, labels)
        histogram = times.get(labels)
        if histogram is None:
            histogram = times[labels] = _Histogram(len(kind.boundaries))
        return histogram

    def text(self) -> str:
        """Everything as it is now; also for a thread that other workers are answered from."""
        self._recorder.settle()
        lines: list[str] = []
        for kind, counts in self._counts.items():
            lines += _head(kind, "counter")
            pairs = counts.copy().items()
            lines += [f"{kind.name}{_labelled(kind, labels)} {number(cell[0])}" for labels, cell in pairs]
        for kind, times in self._times.items():
            lines += _head(kind, "histogram")
            lines += [line for labels, one in times.copy().items() for line in _buckets(kind, labels, one)]
        under_way = tuple(self._recorder.under_way)
        streams = sum(1 for entry in under_way if entry.stream)
        lines += _gauge("interlingua_under_way", "Requests that have begun and are not over.", len(under_way))
        lines += _gauge("interlingua_streams_open", "Those of them that want a stream.", streams)
        lines += _gauge("interlingua_workers", "Processes that this page tells of.", 1)
        # Our own limits: calls let through and held back; their patterns are configured.
        loads = limiter().loads()
        for name, words in (
            ("running", "Calls that a limit let through."),
            ("waiting", "Calls that wait for a limit."),
        ):
            kind = _Kind(f"interlingua_limit_{name}", words, ("pattern",))
            lines += _head(kind, "gauge")
            lines += [f"{kind.name}{_labelled(kind, (one,))} {getattr(load, name)}" for one, load in loads.items()]
        lines += _process()
        return "\n".join([*lines, ""])

    def health(self, snapshot: Mapping[str, TargetHealth]) -> str:
        """How targets stand that are not simply asked."""
        self._names.look()
        kind = _Kind(
            "interlingua_target_unwell",
            "Targets whose circuit breaker is open or half open, or that are suspended.",
            ("target", "state", "circuit"),
        )
        counts: dict[Labels, int] = {}
        for target, health in snapshot.items():
            if health.state in _STATES:
                labels = (self._names.target(target), health.state, health.circuit)
                counts[labels] = counts.get(labels, 0) + 1
        lines = [f"{kind.name}{_labelled(kind, labels)} {count}" for labels, count in counts.items()]
        return "\n".join([*_head(kind, "gauge"), *lines, ""])


class _Names:
    """Which names may stand in labels."""

    def __init__(self, registry: Registry, clock: Callable[[], float]) -> None:
        self._registry, self._clock = registry, clock
        self.look_at_s = -inf
        """When to look again, by the gateway's clock."""
        self.version = 0
        """A number that is another one when names may stand for something else."""
        self._aliases: dict[str, str] = {}
        self._beginnings: tuple[str, ...] = ()
        self._targets: frozenset[str] = frozenset()
        self._providers: frozenset[str] = frozenset()

    def model(self, model: str) -> str:
        """The model as it was asked for: an alias, or the target of one."""
        if not model:
            return ""
        if model in self._aliases or model in self._targets:
            return model
        return next((name for name in self._beginnings if model.startswith(name[:-1])), OTHER)

    def target(self, target: str) -> str:
        """The target of an alias, else its provider."""
        if not target:
            return ""
        if target in self._targets:
            return target
        provider = target.partition("/")[0]
        return f"{provider}/{OTHER}" if provider in self._providers else OTHER

    def look(self) -> None:
        """Look whether the configuration is another one, once in a while."""
        now_s = self._clock()
        if now_s < self.look_at_s:
            return
        self.look_at_s = now_s + LOOK_S
        registry = self._registry
        aliases = registry.aliases()
        if aliases == self._aliases and self._providers:
            return
        self._aliases = aliases
        self._beginnings = tuple(sorted([name for name in aliases if name.endswith("*")], key=len, reverse=True))
        targets: set[str] = set()
        for name in aliases:
            with suppress(Error):  # a key that is not there yet, or a name that a client's own words are put into
                targets.update([endpoint.spec for endpoint in registry.resolve(name)])
        self._targets = frozenset(targets)
        self._providers = frozenset([status.name for status in registry.providers()])
        self.version += 1


def _within(series: Mapping[Labels, object], labels: Labels) -> Labels:
    """The labels, or `other` everywhere once there are too many."""
    return labels if labels in series or len(series) < MAX_SERIES else (OTHER,) * len(labels)


_OWN = frozenset({"/metrics", "/health/live", "/health/ready"})
"""Routes that machines ask all the time, and that say nothing of the service."""


# The text format


def _head(kind: _Kind, form: str) -> tuple[str, str]:
    return f"# HELP {kind.name} {kind.help}", f"# TYPE {kind.name} {form}"


def _labelled(kind: _Kind, labels: Labels, more: str = "") -> str:
    pairs = [f'{name}="{_escaped(text)}"' for name, text in zip(kind.labels, labels, strict=True)]
    joined = ",".join([*pairs, *([more] if more else [])])
    return f"{{{joined}}}" if joined else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _buckets(kind: _Kind, labels: Labels, histogram: _Histogram) -> Iterator[str]:
    so_far = 0
    for boundary, count in zip((*kind.boundaries, None), histogram.counts, strict=True):
        so_far += count
        end = "+Inf" if boundary is None else number(boundary)
        labelled = _labelled(kind, labels, f'le="{end}"')
        yield f"{kind.name}_bucket{labelled} {so_far}"
    yield f"{kind.name}_sum{_labelled(kind, labels)} {number(round(histogram.total_s, 6))}"
    yield f"{kind.name}_count{_labelled(kind, labels)} {so_far}"


def _gauge(name: str, words: str, value: float) -> tuple[str, ...]:
    return *_head(_Kind(name, words, ()), "gauge"), f"{name} {number(value)}"


def _process() -> Iterator[str]:
    """The resources of this process, where the system says them."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        memory = pages * os.sysconf("SC_PAGE_SIZE")
        files = len(list(Path("/proc/self/fd").iterdir()))
    except (OSError, ValueError, IndexError):
        return
    yield from _gauge("process_resident_memory_bytes", "Memory that the processes hold.", memory)
    yield from _gauge("process_open_fds", "Files and sockets that the processes hold open.", files)


# The route


class MetricsPage(msgspec.Struct, frozen=True, kw_only=True):
    """The page of metrics, and its readers."""

    metrics: Metrics | None
    """The counters; None where they are off."""
    is_open: bool
    """Whether everybody may read it."""
    guard: Guard
    """The guard that checks keys."""
    access: Access
    """The rights of operators."""
    peers: Peers | None
    """The other workers."""

    async def answer(self, request: GatewayRequest) -> GatewayReply:
        """The metrics of a gateway, for who may ask: all of them for an operator, else those of the key.

        Raises: NotFoundError where they are off; AuthenticationError, PermissionDeniedError.
        """
        counted = self.metrics
        if counted is None:
            raise NotFoundError('metrics are off; [server] metrics = "keys" or "open" turns them on', status=404)
        if not self.is_open:
            self.guard.check(request)
        text = counted.text() + counted.health(await health_store().snapshot_async())
        if self.peers is not None:
            from interlingua.gateway.serving.registration import page_of_all  # only several workers need it

            text = await page_of_all(self.peers, text)
        name = self.guard.name_of(request)
        if not self.is_open and not self.access.sees_all(name):
            text = of_key(text, _escaped(name))
        return GatewayReply(headers=(("content-type", CONTENT_TYPE), ("cache-control", "no-store")), body=text.encode())
