"""What a soak says of its samples."""

from __future__ import annotations

from bench.soak import Sample, plotted, verdict


def _samples(*rows: tuple[float, int, int], each: int = 100) -> list[Sample]:
    return [Sample(number, number * each, *row, 500.0) for number, row in enumerate(rows)]


def test_a_flat_run_is_flat() -> None:
    """Until seven tenths of the rounds bounded stores fill."""
    rounds = ((50.0, 90, 0), (60.0, 140, 0), (61.0, 100, 0), (63.0, 900, 0))
    assert verdict(_samples((40.0, 4, 0), *rounds, (63.0, 9, 0))) == []


def test_what_grows_is_named() -> None:
    """Memory, sockets and what is left under way, each in a sentence."""
    rounds = ((50.0, 10, 0), (60.0, 12, 0), (75.0, 40, 2))
    samples = ((40.0, 4, 0), *rounds, (75.0, 13, 2))
    assert verdict(_samples(*samples))[0] == "13 sockets at rest, 4 before"
    assert verdict(_samples(*samples, each=20_000)) == [
        "memory grew from 60 to 75 MB",
        "13 sockets at rest, 4 before",
        "2 requests or connections of clients are left",
    ]


def test_the_plot_has_a_bar_for_each_round() -> None:
    """As wide as its share of the largest."""
    assert plotted(_samples((50.0, 1, 0), (100.0, 2, 0)), width=4).splitlines() == [
        "soak: memory, MB: memory, MB by requests",
        "  gateway",
        "             0 ## 50",
        "           100 #### 100",
        "soak: sockets: sockets by requests",
        "  gateway",
        "             0 ## 1",
        "           100 #### 2",
        "soak: under way: under way by requests",
        "  gateway",
        "             0  0",
        "           100  0",
    ]
