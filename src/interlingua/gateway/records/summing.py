"""Pages in Prometheus's text format as one page: what is counted on all of them is summed, sample by sample.

Rules
- Only pages of our own form: HELP and TYPE before the samples of a metric, no times behind values.
- Gauges are summed as well, but for those that tell what all processes have in common: there the largest counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["OTHER", "lasting", "number", "of_key", "summed"]

OTHER = "other"
"""Stands for every name that is not configured."""
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class _Metric(NamedTuple):
    """One metric of a page."""

    head: tuple[str, ...]
    """Its lines of HELP and TYPE."""
    form: str
    """`counter`, `gauge` or `histogram`."""
    samples: dict[str, float]
    """Its values by name and labels."""


def summed(pages: Iterable[str], largest: frozenset[str] = frozenset()) -> str:
    """All pages as one; of the metrics named in `largest` the largest value counts."""
    metrics: dict[str, _Metric] = {}
    for page in pages:
        for name, metric in _read(page).items():
            samples = metrics.setdefault(name, metric._replace(samples={})).samples
            for sample, value in metric.samples.items():
                before = samples.get(sample, 0.0)
                samples[sample] = max(before, value) if name in largest else before + value
    return _written(metrics.values())


def lasting(page: str) -> str:
    """The samples of a page that still count when the process has ended: counters and histograms."""
    return _written(metric for metric in _read(page).values() if metric.form != "gauge")


def of_key(page: str, key: str) -> str:
    """The samples of a page that count the requests of one key, whose name is written as in a label."""
    mine: list[_Metric] = []
    for metric in _read(page).values():
        samples: dict[str, float] = {}
        for sample, value in metric.samples.items():
            labels = dict(_LABEL.findall(sample))
            if labels.get("key") == key and set(labels.values()) != {OTHER}:  # what overflowed is nobody's
                samples[sample] = value
        if samples:
            mine.append(metric._replace(samples=samples))
    return _written(mine)


def _read(page: str) -> dict[str, _Metric]:
    metrics: dict[str, _Metric] = {}
    name = ""
    for line in page.splitlines():
        if line.startswith("# HELP "):
            name = line.split(" ", 3)[2]
            metrics[name] = _Metric((line,), "", {})
        elif line.startswith("# TYPE "):
            metric = metrics[name]
            metrics[name] = _Metric((*metric.head, line), line.rpartition(" ")[2], metric.samples)
        elif line:
            sample, _, value = line.rpartition(" ")
            metrics[name].samples[sample] = float(value)
    return metrics


def _written(metrics: Iterable[_Metric]) -> str:
    lines: list[str] = []
    for metric in metrics:
        lines += metric.head
        lines += [f"{sample} {number(value)}" for sample, value in metric.samples.items()]
    return "\n".join([*lines, ""])


def number(value: float) -> str:
    """A value as Prometheus reads it: whole numbers without a point."""
    return str(int(value)) if value == int(value) else repr(value)
