"""The observers of a gateway's requests: log, metrics, logbook, cassettes, spans, as it is set up.

Rules
- Nothing of it is loaded, and nothing is done for a request, while it is off.
- What is written goes through a queue and is written by a thread; the end of the gateway writes what is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import msgspec

from interlingua.gateway.records.log import LogForm

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.gateway.records.metrics import Metrics
    from interlingua.gateway.records.record import Sink
    from interlingua.gateway.records.recorder import Recorder
    from interlingua.gateway.records.spans import Spans
    from interlingua.registry.resolve import Registry

__all__ = ["MetricsAccess", "Observers", "Observing", "observers_of"]

MetricsAccess: TypeAlias = Literal["off", "keys", "open"]
"""The readers of metrics: nobody, who may ask the gateway, or everybody."""
MEGABYTE = 1024 * 1024


class Observing(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of observers of requests."""

    log: LogForm = "off"
    """Whether a line for each request goes to stderr, and how."""
    log_content: bool = False
    """Whether log and logbook hold what was asked and answered, and the sentences of errors."""
    metrics: MetricsAccess = "off"
    """The readers of metrics."""
    store: str = ""
    """The SQLite file that requests are written to; empty: none."""
    store_days: float = 30.0
    """How long it keeps them."""
    store_mb: int = 256
    """How large it may get."""
    record: str = ""
    """The directory that cassettes are written to; empty: none."""
    record_mb: int = 256
    """How large all cassettes together may get."""
    otel: bool = False
    """Whether OpenTelemetry spans are made."""


class Observers(NamedTuple):
    """The observers of a gateway's requests."""

    metrics: Metrics | None = None
    """The counters of requests, where metrics are on."""
    spans: Spans | None = None
    """The maker of OpenTelemetry spans, where they are wanted."""
    ends: tuple[Callable[[], None], ...] = ()
    """The functions that end them."""


def observers_of(observing: Observing, recorder: Recorder, registry: Registry, now: Callable[[], float]) -> Observers:
    """The observers, once they are set up; `now` gives Unix seconds.

    Raises: ConfigError for a file or directory that cannot be written, and without the extra that spans need.
    """
    if observing == Observing():
        return Observers()
    metrics: Metrics | None = None
    spans: Spans | None = None
    ends: list[Callable[[], None]] = [recorder.close]
    if observing.log != "off":
        ends.append(_log(recorder, observing))
    if observing.store:
        from interlingua.gateway.records.batches import Batches
        from interlingua.gateway.records.logbook import Logbook

        book = Logbook(
            observing.store,
            days=observing.store_days,
            max_bytes=observing.store_mb * MEGABYTE,
            content=observing.log_content,
            now=now,
        )
        rows = Batches(book.write, name="logbook")
        _listen(recorder, rows.put)
        ends += rows.close, book.close
    if observing.record:
        from interlingua.gateway.records.batches import Batches
        from interlingua.gateway.records.cassettes import Cassettes

        written = Cassettes(observing.record, max_bytes=observing.record_mb * MEGABYTE)
        cassettes = Batches(written.write, name="cassettes")
        _listen_to_content(recorder, cassettes.put)
        ends.append(cassettes.close)
    if observing.metrics != "off":
        from interlingua.gateway.records.metrics import Metrics

        metrics = Metrics(recorder, registry)
        _listen(recorder, metrics)
    if observing.otel:
        from interlingua.gateway.records.spans import Spans

        spans = Spans()
        _listen(recorder, spans.count)
        ends.append(spans.close)
    return Observers(metrics, spans, tuple(ends))


def _listen(recorder: Recorder, sink: Sink) -> None:
    recorder.late_sinks = (*recorder.late_sinks, sink)


def _listen_to_content(recorder: Recorder, sink: Sink) -> None:
    recorder.content_sinks = (*recorder.content_sinks, sink)


def _log(recorder: Recorder, observing: Observing) -> Callable[[], None]:
    from interlingua.gateway.records.batches import Batches
    from interlingua.gateway.records.log import line_of, log_writer, write_lines

    if observing.log_content:  # it takes long to write what was asked and answered: the thread does it all
        contents = Batches(log_writer(observing.log), name="log")
        _listen_to_content(recorder, contents.put)
        return contents.close
    lines, line = Batches(write_lines, name="log"), line_of(observing.log)
    _listen(recorder, lambda record: lines.put(line(record)))
    return lines.close
