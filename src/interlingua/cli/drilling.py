"""A failover drill on the command line: `--fault`, and what became of the call."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from interlingua.cli.terminal import note
from interlingua.errors import Error

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable, Generator, Sequence

    from interlingua.types.response import Attempt

__all__ = ["PACE_S", "drilling", "fault_argument"]

PACE_S = 0.05
"""The pause before each piece of a drip."""


def fault_argument(parser: ArgumentParser) -> None:
    """Say which targets are broken on purpose."""
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="PATTERN=FAULT",
        help="break targets on purpose, as in 'anthropic/*=429' or 'openai/*=stall,500*2'; may be repeated",
    )


@contextmanager
def drilling(options: Sequence[str]) -> Generator[Callable[[Sequence[Attempt]], None]]:
    """A function that takes the tries of an answer; under the faults that the options name, tries are told on stderr.

    Raises: ConfigError for what is no `PATTERN=FAULT`.
    """
    if not options:
        yield _say_nothing
        return
    from interlingua.client.faults import faults
    from interlingua.transport.fault import parse_options

    with faults(parse_options(options), pace_s=PACE_S) as plan:
        tries: list[Attempt] = []
        try:
            yield tries.extend
        except Error as error:
            tries.extend(error.attempts)
            raise
        finally:
            from interlingua.client.state import health_store

            for attempt in tries:
                pause = f" after a pause of {attempt.delay_s:.1f} s" if attempt.delay_s is not None else ""
                words = f": {attempt.error}" if attempt.error else ""
                note(f"{attempt.model} {attempt.outcome}{pause}{words}", head="drill: ")
            for (target, fault), times in Counter(plan.injected).items():
                note(f"{target}: fault {fault}, {'once' if times == 1 else f'{times} times'}", head="drill: ")
            # How the targets stand after the drill, in the store of the drill.
            for target, health in health_store().snapshot().items():
                wait = f" for {health.wait_s:.0f} s" if health.wait_s is not None else ""
                why = f" ({health.reason})" if health.reason is not None else ""
                failures = (
                    f", {health.failures} failure{'s' if health.failures != 1 else ''} in a row"
                    if health.failures
                    else ""
                )
                note(f"circuit breaker of {target}: {health.circuit}{wait}{why}{failures}", head="drill: ")


def _say_nothing(attempts: Sequence[Attempt]) -> None:
    """No drill, no word."""
