"""The plan of a call: its targets, its body, its changes. Nothing is sent.

Rules
- A target whose request cannot be encoded is skipped with the reason, as the call would skip it; so is one that is
  benched or lacks its key, while another one is there. Where none has a key, the first is explained all the same.
- Targets are in the order in which a call would ask them now; the heaviest one stands for a draw by weight.
- A key is never shown: `curl()` names the variable that holds it.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from interlingua.client.call.encoding import encode
from interlingua.client.call.needs import narrowed, shortfall
from interlingua.client.call.report import circuit_text
from interlingua.client.price import most_of
from interlingua.client.state import health_store
from interlingua.errors import ConfigError, Error, UnsupportedError
from interlingua.media.fit import plan_media
from interlingua.routing.health import CircuitState, Look
from interlingua.types.change import Change
from interlingua.types.request import Request
from interlingua.wire.http import SECRET_HEADERS, HttpRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.client.call.values import Call, CallTarget
    from interlingua.registry.endpoint import Endpoint

__all__ = ["Plan", "PlannedTarget", "make_plan"]

_VARIABLE = r"[A-Z][A-Z0-9_]*"
_NOW, _IF_NOBODY_ELSE, _WITH_A_KEY, _NEVER = range(4)
"""How soon a target would be asked."""


class PlannedTarget(msgspec.Struct, frozen=True, kw_only=True):
    """One target of the chain."""

    spec: str
    """`provider/model`."""
    dialect: str
    """The dialect spoken to it."""
    base_url: str
    """Its address, without the operation."""
    chosen: bool = False
    """Whether the call would go there first."""
    reason: str = ""
    """Why it is skipped, or what it lacks; empty when there is nothing to say."""
    changes: tuple[Change, ...] = ()
    """The changes that it would need: dropped, approximated or refused."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One call, explained."""

    targets: tuple[PlannedTarget, ...]
    """Every target in order: the one chosen, those skipped and why, those that would come next."""
    request: Request
    """The request, in canonical form."""
    http: HttpRequest | None = None
    """The HTTP request to the chosen target, without its key; None when every target refuses."""
    key: tuple[str, str] | None = None
    """The header that carries the key, and the variable that holds it."""
    changes: tuple[Change, ...] = ()
    """The changes for the chosen target: dropped and approximated."""
    _most: Callable[[], float | None] | None = None

    @property
    def cost_usd(self) -> float | None:
        """About the most that it may cost at the chosen target, in US dollars; None where the price is not known.

        The input is estimated; the output is `max_tokens`, or 4,096 tokens, for each choice. It is reckoned when it is
        asked for, since that may load a list of prices.
        """
        return None if self._most is None else self._most()

    def curl(self) -> str:
        """The request as a command line; the key stands in it as a variable.

        Raises: UnsupportedError when no target takes the request.
        """
        if self.http is None:
            refused = tuple([change for target in self.targets for change in target.changes])
            reasons = "; ".join(f"{target.spec}: {target.reason}" for target in self.targets)
            raise UnsupportedError(f"there is nothing to send: {reasons}", changes=refused)
        from shlex import quote  # who asks for no command line does not need it

        lines = [f"curl {quote(self.http.url)}"]
        if self.key is not None:
            name, variable = self.key
            lines.append(f'-H "{name}: {"Bearer " if name == "authorization" else ""}${variable}"')
        lines += [f"-H {quote(f'{name}: {value}')}" for name, value in self.http.headers if name not in SECRET_HEADERS]
        return " \\\n  ".join([*lines, f"--data-raw {quote(self.http.body.decode())}"])

    def __repr__(self) -> str:
        """The plan as its targets."""
        return f"<Plan {', '.join([target.spec for target in self.targets])}>"

    def __str__(self) -> str:
        """The plan in a few lines."""
        targets = [
            f"{'->' if target.chosen else '  '} {target.spec} ({target.dialect}) {_note_of(target)}".rstrip()
            for target in self.targets
        ]
        return "\n".join([*targets, *[str(change) for change in self.changes]])

    def _repr_markdown_(self) -> str:
        """The plan as a notebook shows it."""
        rows = [f"- `{target.spec}` {_note_of(target)}".rstrip() for target in self.targets]
        command = ["", "```sh", self.curl(), "```"] if self.http is not None else []
        return "\n".join([*rows, *[f"- {change}" for change in self.changes], *command])


def _note_of(target: PlannedTarget) -> str:
    return target.reason or ("is the first target" if target.chosen else "")


class _Candidate(msgspec.Struct, frozen=True):
    """A target, and what would come of it."""

    entry: PlannedTarget
    target: CallTarget
    request: HttpRequest | None = None
    rank: tuple[int, float] = (_NEVER, 0.0)
    """How soon it would be asked: the least rank is, of equal ones the first."""


def make_plan(call: Call) -> Plan:
    """The plan of a call, as things stand now."""
    targets = call.targets
    if call.ranking is not None:
        from interlingua.client.call.chain import targets_in_order  # only rules need them

        targets = targets_in_order(call)
    candidates = [_candidate(call, target) for target in targets]
    best = min(candidates, key=lambda candidate: candidate.rank)
    if best.request is None or best.rank[0] == _NEVER:
        return Plan(targets=tuple([candidate.entry for candidate in candidates]), request=call.request)
    entries = [
        msgspec.structs.replace(candidate.entry, chosen=True) if candidate is best else candidate.entry
        for candidate in candidates
    ]
    key = _key(best.target.endpoint) if call.with_credential else None
    return Plan(
        targets=tuple(entries),
        request=call.request,
        http=best.request,
        key=key,
        changes=best.entry.changes,
        _most=partial(most_of, call, best.target),
    )


def _candidate(call: Call, target: CallTarget) -> _Candidate:
    endpoint = target.endpoint
    entry = PlannedTarget(spec=endpoint.spec, dialect=endpoint.dialect, base_url=endpoint.base_url)
    circuit = _looked_at(call, endpoint)
    try:
        if error := shortfall(call, target, circuit.lacks):
            raise error
        target = narrowed(target, circuit.lacks)
        endpoint = target.endpoint
        media = plan_media(call.request, endpoint, call.settings.allow)
        request, fitted = (call.request, ()) if media is None else media.run()
        encoded = encode(msgspec.structs.replace(call, request=request), target, stream=False, fitted=fitted)
    except UnsupportedError as error:
        return _Candidate(msgspec.structs.replace(entry, reason=error.message, changes=error.changes), target)
    except Error as error:
        return _Candidate(msgspec.structs.replace(entry, reason=error.message), target)
    http = endpoint.http_request(encoded, with_credential=False, headers=call.settings.headers)
    # How soon a target would be asked for the sake of its health, and why not now.
    rank, reason = (_NOW, 0.0), ""
    if circuit.state not in ("open", "probe", "half_open"):
        place = _NEVER if circuit.reason == "suspended" else _IF_NOBODY_ELSE
        rank, reason = (place, circuit.wait_s or 0.0), circuit_text(circuit)
    if call.with_credential:
        try:
            endpoint.http_request(encoded, headers=call.settings.headers)
        except ConfigError as error:  # it would fail before it is sent
            rank, reason = (max(_WITH_A_KEY, rank[0]), 0.0), error.message
    return _Candidate(msgspec.structs.replace(entry, reason=reason, changes=encoded.changes), target, http, rank)


def _looked_at(call: Call, endpoint: Endpoint) -> CircuitState:
    """How a target stands; nothing is changed by looking."""
    store = call.health or health_store()
    if not store.immediate and _on_a_loop():  # which would stand still meanwhile
        return CircuitState("open", 0.0)
    if (at_s := store.clear_at_s(endpoint.spec)) is not None:  # then nobody needs its address and key as a digest
        return CircuitState("open", at_s)
    look = Look(identity=endpoint.identity(call.settings.headers))
    return store.apply(((endpoint.spec, look),))[0]


def _on_a_loop() -> bool:
    """Whether an event loop runs here; nobody who has none needs `asyncio` for that."""
    if "asyncio" not in sys.modules:
        return False
    from asyncio import get_running_loop

    try:
        get_running_loop()
    except RuntimeError:
        return False
    return True


def _key(endpoint: Endpoint) -> tuple[str, str] | None:
    """The header of the key and the variable that holds it; None for a target that is sent none."""
    credential = endpoint.credential
    if (
        endpoint.auth == "none"
        or endpoint.login is not None
        or not (endpoint.key_required or credential.dynamic or credential.origin())
    ):
        return None
    header = "authorization" if endpoint.auth == "bearer" else endpoint.auth
    variable = re.match(_VARIABLE, credential.origin() or credential.source)
    return header, variable[0] if variable else "API_KEY"
