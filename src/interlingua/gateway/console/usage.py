"""Keys and what they have used, for the page: what there is, never the text of a key or its digest.

Rules
- Who is no operator sees the own key alone.
- Use is summed over the last 31 days of UTC; it is known where the gateway keeps it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.gateway.console.access import viewer_of
from interlingua.gateway.console.health import JSON
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.keys.accounts import COUNTS, chosen
from interlingua.gateway.keys.terms import NANO, told_terms
from interlingua.gateway.serving.joining import used_of_all
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlingua.gateway.console.access import Viewer
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.keys.accounts import Row
    from interlingua.gateway.settings import GatewayKey

__all__ = ["DAYS", "keys"]

DAYS = 31
"""Over how many days use is summed."""


async def keys(gateway: Gateway, request: GatewayRequest) -> GatewayReply:
    """The keys that a viewer may see, with their limits and what they have used."""
    viewer = viewer_of(gateway, request)
    rows = await _rows(gateway, viewer)
    shown = [key for key in gateway.keys.keys if viewer.sees_all or key.name == viewer.name]
    told: dict[str, Any] = {
        "days": DAYS,
        "now_s": gateway.now(),
        "keys": [_key(gateway, key, [row for row in rows if row.key == key.name]) for key in shown],
        "passed_over": gateway.keys.passed_over if viewer.sees_all else (),
    }
    return GatewayReply(headers=JSON, body=encode(told, nulls=1 << 20))


def _key(gateway: Gateway, key: GatewayKey, rows: list[Row]) -> dict[str, Any]:
    team = gateway.settings.teams.get(key.team)
    return {
        "name": key.name,
        "team": key.team,
        "models": key.models,
        "limits": told_terms(key.terms),
        "team_limits": [] if team is None else told_terms(team),
        "expires_s": key.expires_s,
        "revoked_s": key.revoked_s,
        "used": _sums(rows),
        "models_used": {model: _sums(row for row in rows if row.model == model) for model in _models(rows)},
    }


def _models(rows: list[Row]) -> list[str]:
    return sorted({row.model for row in rows if row.model})


def _sums(rows: Iterable[Row]) -> dict[str, Any] | None:
    """What was used in all, in dollars; None where nothing is known."""
    known = [msgspec.structs.asdict(row) for row in rows]
    if not known:
        return None
    sums = {name: sum(row[name] for row in known) for name in COUNTS}
    return {**sums, "cost_usd": sums.pop("nano_usd") / NANO}


async def _rows(gateway: Gateway, viewer: Viewer) -> list[Row]:
    since = (datetime.fromtimestamp(gateway.now(), UTC) - timedelta(days=DAYS - 1)).strftime("%Y-%m-%d")
    name = "" if viewer.sees_all else viewer.name
    accounts = gateway.admission.accounts
    if accounts.is_shared:
        return await accounts.used(name, since)
    return chosen(await used_of_all(gateway), name, since)  # each worker has its own in memory
