"""Members of our own format that are written over a request for one dialect, and what they may not say.

`extra` and the state that a request continues go into the body for a target as they are. Keys, limits and budgets are
checked by what the request says in its own words, so a model, a limit, a number of answers, a stream or a tier of
service in one of them is refused (400), however it is spelled: a target would hold to it, and nobody would have looked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.dialects._members import is_object
from interlingua.errors import DecodeError
from interlingua.gateway.keys.cap import FIELDS
from interlingua.wire.body import folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from interlingua.wire.body import Body

__all__ = ["asks_background", "check_overrides", "overrides"]

_DECIDED = frozenset({"model", "stream", "servicetier"})
"""What every dialect says of who answers, how, and at which price."""
_NESTED = frozenset({"extra", "continues"})
"""What our own format would write over a request in its turn."""
_NOTHING: frozenset[str] = frozenset()
_RESPONSES = "openai-responses"


def overrides(body: Body) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The members of a body in our own format that are written over a request, with their place and their dialect."""
    extra, state = body.get("extra"), body.get("continues")
    for dialect, members in extra.items() if is_object(extra) else ():
        if is_object(members):
            yield f"/extra/{dialect}", dialect, members
    if is_object(state) and is_object(members := state.get("raw")):
        yield "/continues/raw", str(state.get("dialect")), members


def check_overrides(body: Body) -> None:
    """Raises: DecodeError with the status 400 for a member that says again what the request says itself."""
    for place, dialect, members in overrides(body):
        top, holders, limits = _DECIDED_IN.get(dialect, (_DECIDED, _NOTHING, _NOTHING))
        for name, value in members.items():
            if folded(name) in top:
                raise _decided(f"{place}/{name}")
            for inner in value if folded(name) in holders and is_object(value) else ():
                if folded(inner) in limits:
                    raise _decided(f"{place}/{name}/{inner}")


def asks_background(body: Body, dialect: str) -> bool:
    """Whether a body, or what it has written over a request for Responses, asks for an answer in the background."""
    members = [given for _, other, given in overrides(body) if other == _RESPONSES] if dialect == "unified" else []
    told = [value for given in members for name, value in given.items() if folded(name) == "background"]
    if dialect == _RESPONSES:
        told.append(body.get("background"))
    return any([value not in (None, False) for value in told])


def _decided_in(dialect: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The names at the top of a body, the objects that hold limits, and the names in these, as they read folded."""
    fields = FIELDS[dialect]
    limits = frozenset([folded(name) for name in (*fields.limits, *fields.choices)])
    own = _DECIDED | _NESTED if dialect == "unified" else _DECIDED
    holders = frozenset([folded(name) for name in fields.inside])
    return (own, holders, limits) if holders else (own | limits, holders, limits)


_DECIDED_IN = {dialect: _decided_in(dialect) for dialect in FIELDS}


def _decided(path: str) -> DecodeError:
    told = "`model`, `stream`, `service_tier`, `max_tokens` and `n` are said by the request itself"
    return DecodeError(f"{path}: {told}", path=path, status=400)
