"""Keys and what they have used, for the page: what there is, never the text of a key or its digest.

Rules
- Who is no operator sees the own key alone.
- Use is summed over the last 31 days of UTC; it is known where the gateway keeps it, in memory since it began.
- A revoked key keeps what it has used, under its name. Where the name was given out again, both are one account, and
  the key that works has the sum. Of a key that is in no place any more the operator sees what it has used.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from interlingua.gateway.console.health import JSON
from interlingua.gateway.http import GatewayReply
from interlingua.gateway.keys.accounts import COUNTS, chosen
from interlingua.gateway.keys.budget import EMPTY, MINUTE_S, used_of
from interlingua.gateway.keys.terms import NANO, Terms, budget_text, terms_texts
from interlingua.gateway.serving.registration import used_of_all
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from interlingua.gateway.console.access import Access, Viewer
    from interlingua.gateway.http import GatewayRequest
    from interlingua.gateway.keys.accounts import Row
    from interlingua.gateway.keys.admission import Admission
    from interlingua.gateway.keys.budget import Account
    from interlingua.gateway.keys.keyring import KeyRing
    from interlingua.gateway.serving.peers import Peers
    from interlingua.gateway.settings import GatewayKey

__all__ = ["DAYS", "ConsoleKeys", "used_limits"]

DAYS = 31
"""Over how many days use is summed."""


class ConsoleKeys(msgspec.Struct, frozen=True, kw_only=True):
    """Keys and what they have used, for the page."""

    access: Access
    """The rights of those who look."""
    ring: KeyRing
    """The keys."""
    teams: dict[str, Terms]
    """The terms of teams."""
    admission: Admission
    """The admission that counts what is used."""
    peers: Peers | None
    """The other workers."""
    began_s: float
    """When the gateway began, in Unix seconds."""
    now: Callable[[], float]
    """Unix time in seconds."""

    async def answer(self, request: GatewayRequest) -> GatewayReply:
        """The keys that a viewer may see, with their limits and what they have used."""
        viewer = self.access.viewer_of(request)
        rows, since_s = await self._rows(viewer)
        keys_of_all = self.ring.keys
        shown = [key for key in keys_of_all if viewer.sees_all or key.name == viewer.name]
        working = {key.name for key in keys_of_all if not _is_over(key)}
        places = [place for key in shown for place in (f"key:{key.name}", f"team:{key.team}")]
        accounts = dict(zip(places, await self.admission.accounts.accounts(places), strict=True))
        entries: list[dict[str, Any]] = []
        for key in shown:
            is_reused = _is_over(key) and key.name in working  # then the key that works has the use
            team, now_s = self.teams.get(key.team), self.now()
            if _is_over(key):
                state = "replaced" if is_reused else "revoked"
            else:
                state = "expired" if key.expires_s is not None and key.expires_s <= now_s else "works"
            limits = [] if is_reused else used_limits(key.terms, accounts[f"key:{key.name}"], now_s)
            entry = {
                "name": key.name,
                "team": key.team,
                "models": key.models,
                "limits": limits,
                "team_limits": []
                if team is None or is_reused
                else used_limits(team, accounts[f"team:{key.team}"], now_s),
                "expires_s": key.expires_s,
                "revoked_s": key.revoked_s,
                "state": state,
                **_usage([] if is_reused else rows, key.name),
            }
            entries.append(entry)
        gone = sorted({row.key for row in rows} - {key.name for key in keys_of_all})
        entries += [{**_NO_KEY, "name": name, **_usage(rows, name)} for name in gone]
        content: dict[str, Any] = {
            "since_s": since_s,
            "now_s": self.now(),
            "keys": entries,
            "passed_over": self.ring.passed_over if viewer.sees_all else (),
        }
        return GatewayReply(headers=JSON, body=encode(content, nulls=1 << 20))

    async def _rows(self, viewer: Viewer) -> tuple[list[Row], float]:
        """The use, and the day from which it is known."""
        begins = datetime.fromtimestamp(self.now(), UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        begins -= timedelta(days=DAYS - 1)
        since, name = begins.strftime("%Y-%m-%d"), "" if viewer.sees_all else viewer.name
        accounts = self.admission.accounts
        if accounts.is_shared:
            return await accounts.used(name, since), begins.timestamp()
        rows = chosen(await used_of_all(accounts, self.peers), name, since)  # each worker has its own in memory
        return rows, max(begins.timestamp(), self.began_s)


_NO_KEY: dict[str, Any] = {
    "team": "", "models": (), "limits": (), "team_limits": (), "expires_s": None, "revoked_s": None, "state": "removed",
}  # fmt: skip
"""Of a key that is in no place any more there is what it has used."""


def _is_over(key: GatewayKey) -> bool:
    return key.revoked_s is not None


def used_limits(terms: Terms, account: Account | None, now_s: float) -> list[dict[str, Any]]:
    """Every limit as people write it, with how much of it is used, reserved and allowed where that is counted."""
    account = account or EMPTY
    minute = [grant for grant in account.granted if now_s - MINUTE_S < grant.at_s <= now_s + MINUTE_S]
    counts = {
        "rpm": sum([grant.requests for grant in minute]),
        "tpm": sum([grant.tokens for grant in minute]),
        "concurrency": len(account.reservations),
    }
    limits: list[dict[str, Any]] = []
    for name in ("rpm", "tpm", "concurrency", "max_body_bytes"):
        if (allowed := getattr(terms, name)) is not None:
            limit = {"told": terms_texts(Terms(**{name: allowed}))[0], "allowed": allowed}
            limits.append({**limit, "used": counts.get(name), "reserved": 0})
    for budget in terms.budgets:
        unit = NANO if budget.unit == "usd" else 1
        used, reserved = used_of(account, budget, now_s)
        limit = {"used": used / unit, "reserved": reserved / unit, "allowed": budget.amount / unit}
        limits.append({"told": budget_text(budget), "unit": budget.unit, **limit})
    return limits


def _usage(rows: list[Row], name: str) -> dict[str, Any]:
    mine = [row for row in rows if row.key == name]
    models = sorted({row.model for row in mine if row.model})
    return {
        "used": _sums(mine),
        "models_used": {model: _sums(row for row in mine if row.model == model) for model in models},
    }


def _sums(rows: Iterable[Row]) -> dict[str, Any] | None:
    """The use in all, in dollars; None where nothing is known."""
    counted = [msgspec.structs.asdict(row) for row in rows]
    if not counted:
        return None
    sums = {name: sum(row[name] for row in counted) for name in COUNTS}
    return {**sums, "cost_usd": sums.pop("nano_usd") / NANO}
