"""Pages of metrics as one page."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from interlingua.gateway.records.summing import lasting, summed

FIRST = """\
# HELP il_requests_total Requests that are over.
# TYPE il_requests_total counter
il_requests_total{model="a b",status="200"} 3
# HELP il_seconds How long.
# TYPE il_seconds histogram
il_seconds_bucket{le="1"} 2
il_seconds_bucket{le="+Inf"} 3
il_seconds_sum 1.25
il_seconds_count 3
# HELP il_open Streams.
# TYPE il_open gauge
il_open 2
# HELP il_unwell Targets.
# TYPE il_unwell gauge
il_unwell{target="x"} 1
"""
SECOND = """\
# HELP il_requests_total Requests that are over.
# TYPE il_requests_total counter
il_requests_total{model="a b",status="200"} 4
il_requests_total{model="c\\"}",status="500"} 1
# HELP il_open Streams.
# TYPE il_open gauge
il_open 5
# HELP il_unwell Targets.
# TYPE il_unwell gauge
il_unwell{target="x"} 1
"""


def test_every_sample_is_summed_and_what_all_share_is_not() -> None:
    """Counters, buckets and gauges add up; of what is named so the largest counts; one head for each metric."""
    page = summed([FIRST, "", SECOND], frozenset({"il_unwell"}))
    families = list(text_string_to_metric_families(page))
    assert [(family.name, family.type) for family in families] == [
        ("il_requests", "counter"),
        ("il_seconds", "histogram"),
        ("il_open", "gauge"),
        ("il_unwell", "gauge"),
    ]
    samples = [(one.name, *one.labels.values(), one.value) for family in families for one in family.samples]
    assert samples == [
        ("il_requests_total", "a b", "200", 7),
        ("il_requests_total", 'c"}', "500", 1),
        ("il_seconds_bucket", "1", 2),
        ("il_seconds_bucket", "+Inf", 3),
        ("il_seconds_sum", 1.25),
        ("il_seconds_count", 3),
        ("il_open", 7),
        ("il_unwell", "x", 1),
    ]
    assert summed([page]) == page


def test_what_lasts_is_counted_not_gauged() -> None:
    """Counters and histograms outlive a process; what is open at the moment does not."""
    assert lasting(FIRST) == FIRST[: FIRST.index("# HELP il_open")]
    assert summed([lasting(FIRST), ""]) == lasting(FIRST)
