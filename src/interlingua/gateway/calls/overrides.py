"""Members of our own format that are written over a request for one dialect, and what they may not say.

`extra` and the state that a request continues go into the body for a target as they are. Keys, limits and budgets are
checked by what the request says in its own words, so a model, a limit, a number of answers, a stream or a tier of
service in one of them is refused (400), however it is spelled: a target would hold to it, and nobody would have looked.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from interlingua.dialects._members import is_object
from interlingua.dialects.table import DIALECTS, get_service
from interlingua.errors import DecodeError
from interlingua.wire.body import folded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interlingua.dialects._service import Override, Service
    from interlingua.wire.body import Body

__all__ = ["asks_background", "check_overrides", "overrides"]

_DECIDED = frozenset({"model", "stream", "servicetier"})
"""What every dialect says of who answers, how, and at which price."""
_NESTED = frozenset({"extra", "continues"})
"""What our own format would write over a request in its turn."""
_NOTHING: frozenset[str] = frozenset()


def overrides(body: Body, service: Service) -> Iterator[Override]:
    """The members of a body that are written over its request in another dialect."""
    return iter(()) if service.overrides is None else service.overrides(body)


def check_overrides(body: Body, service: Service) -> None:
    """Raises: DecodeError with the status 400 for a member that says again what the request says itself."""
    for place, dialect, members in overrides(body, service):
        top, holders, limits = _decided_in(dialect) if dialect in DIALECTS else (_DECIDED, _NOTHING, _NOTHING)
        for name, value in members.items():
            if folded(name) in top:
                raise _decided(f"{place}/{name}")
            for inner in value if folded(name) in holders and is_object(value) else ():
                if folded(inner) in limits:
                    raise _decided(f"{place}/{name}/{inner}")


def asks_background(body: Body, service: Service) -> bool:
    """Whether a body, or what it has written over a request, asks for an answer in the background."""
    values = [body.get(service.background)] if service.background else []
    for _, dialect, members in overrides(body, service):
        name = get_service(dialect).background if dialect in DIALECTS else ""
        values += [value for member, value in members.items() if name and folded(member) == name]
    return any([value not in (None, False) for value in values])


@cache
def _decided_in(dialect: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The names at the top of a body, the objects that hold limits, and the names in these, as they read folded."""
    service = get_service(dialect)
    fields = service.limits
    limits = frozenset([folded(name) for name in (*fields.limits, *fields.choices)])
    own = _DECIDED if service.overrides is None else _DECIDED | _NESTED
    holders = frozenset([folded(name) for name in fields.inside])
    return (own, holders, limits) if holders else (own | limits, holders, limits)


def _decided(path: str) -> DecodeError:
    told = "`model`, `stream`, `service_tier`, `max_tokens` and `n` are said by the request itself"
    return DecodeError(f"{path}: {told}", path=path, status=400)
