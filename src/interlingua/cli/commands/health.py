"""`il health`: which targets are passed over, and why; take one out, put one back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.cli.duration import seconds_of
from interlingua.cli.outcome import FAILED
from interlingua.cli.table import table
from interlingua.cli.terminal import note, write
from interlingua.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from interlingua.routing.health import HealthStore, TargetHealth

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
Each command is a process of its own, so health is shared in the place of INTERLINGUA_STATE (or --state): `file` for the
processes of one user on one machine, `file:PATH`, `redis://host:6379/0` or `postgresql://…` for many machines.

examples:
  export INTERLINGUA_STATE=file
  il health                                       the targets with failures
  il health --json                                for scripts
  il health suspend openai/gpt-5.6 --for 10m      skipped for ten minutes; without --for until it is resumed
  il health resume smart                          calls every target of the alias again
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "action", nargs="?", choices=("suspend", "resume"), help="suspend or resume a target (default: show the table)"
    )
    parser.add_argument("spec", nargs="?", metavar="SPEC", help="provider/model, an alias, or several with commas")
    parser.add_argument("--for", dest="duration", metavar="TIME", help="30s, 10m, 2h or 1d (default: until resumed)")
    parser.add_argument("--state", metavar="PLACE", help="the state store (default: INTERLINGUA_STATE)")
    parser.add_argument("--json", action="store_true", help="a JSON object instead of a table")


def run(options: Namespace) -> int:
    """Look, suspend or resume."""
    from interlingua.client.state import health_store, use_state

    for_s = None if options.duration is None else seconds_of(options.duration, "--for")
    if options.action is None and (options.spec or options.duration):
        raise UsageError("health: a target needs `suspend` or `resume`; `il health` alone shows the table")
    if options.action == "resume" and options.duration:
        raise UsageError("health resume: --for belongs to suspend")
    if options.state:
        use_state(options.state)
    store = health_store()
    if options.action is not None:
        return _run_action(store, options.action, options.spec, for_s)
    snapshot = store.snapshot()
    if options.json:
        import json

        import msgspec

        members = {
            name: {"circuit": health.circuit, **msgspec.to_builtins(health)} for name, health in snapshot.items()
        }
        write(f"{json.dumps(members, indent=2, ensure_ascii=False)}\n")
    else:
        write(_table(snapshot))
    if _lives_alone(store):
        note(
            "this command sees only its own health; INTERLINGUA_STATE=file (or --state) shares health between processes"
        )
    elif not snapshot and not store.problem:
        note("no target has failures")
    if store.problem:
        note(f"the shared state could not be read: {store.problem}")
        return FAILED
    return 0


def _run_action(store: HealthStore, action: str, spec: str | None, for_s: float | None) -> int:
    from interlingua.client.health import health

    if spec is None:
        raise UsageError(f"health {action}: which target? provider/model, an alias, or several with commas")
    if _lives_alone(store):
        raise UsageError(
            f"health {action}: nobody would know of it; set INTERLINGUA_STATE=file or redis://… for this command and"
            " for the processes that are meant"
        )
    targets = health.suspend(spec, for_s=for_s) if action == "suspend" else health.resume(spec)
    ended = "" if action == "resume" else " until it is resumed" if for_s is None else f" for {_time(for_s)}"
    for target in targets:
        note(f"{target} is {'suspended' if action == 'suspend' else 'asked again'}{ended}")
    return 0


def _lives_alone(store: HealthStore) -> bool:
    return store.immediate


def _table(snapshot: dict[str, TargetHealth]) -> str:
    head = ("target", "circuit", "for", "why", "failures", "last error")
    rows: list[tuple[str, ...]] = []
    for target, health in snapshot.items():
        for one in (health, *health.others):
            name = f"{target} ({one.identity})" if health.others and one.identity else target
            waits = "-" if one.wait_s is None else _time(one.wait_s)
            why = one.reason or (f"takes no {', '.join(one.lacks)}" if one.lacks else "-")
            rows.append((name, one.circuit, waits, why, str(one.failures), one.error or "-"))
    return table(head, rows) if rows else ""


def _time(seconds: float) -> str:
    """A time in the largest unit in which it is at least two, or as seconds."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
