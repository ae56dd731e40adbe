"""A body that goes out as it came, to a target of the client's own dialect.

Strategy: the relay is another way to make a try, so it has its place in the same chain, with retries and health.

Rules
- Of the body only the model's name is changed; what the caller wrote as text stays that text. Of the headers only those
  that belong to the body's dialect go along, and never a credential of the client's.
- A member that a target is known not to take is left out, with an entry. A target that would need the body said in
  another way, and a history with turns that were translated, are translated instead.

Not responsible for: how answers go back (`passing_answer`, `passing_stream`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from interlingua.dialects._contract import Encoded
from interlingua.errors import UnsupportedError
from interlingua.gateway.calls.head import TOOL_MARKS
from interlingua.gateway.calls.reading import is_plain, known_name, pieces_of
from interlingua.types.change import Changes

if TYPE_CHECKING:
    from interlingua.client.call.job import Lane
    from interlingua.dialects._contract import Quirks
    from interlingua.gateway.calls.asked import Asked
    from interlingua.gateway.calls.head import Head
    from interlingua.gateway.calls.plan import Plan
    from interlingua.gateway.http import GatewayRequest
    from interlingua.registry.endpoint import Endpoint
    from interlingua.types.change import Change
    from interlingua.wire.http import Headers

__all__ = ["Minded", "minded_by", "outgoing", "relayed"]

_PATHS = {"openai-chat": "/chat/completions", "openai-responses": "/responses", "anthropic": "/messages"}
_HEADERS: dict[str, frozenset[str]] = {
    "anthropic": frozenset({"anthropic-beta", "anthropic-version"}),
    "openai-chat": frozenset({"openai-beta"}),
    "openai-responses": frozenset({"openai-beta"}),
}
"""Headers of a request that belong to its body."""
_DEFAULTS: dict[str, Headers] = {"anthropic": (("anthropic-version", "2023-06-01"),)}
_BETAS = frozenset({"container", "context_management", "mcp_servers", "output_format", "speed"})
"""Members of a Messages request that a server only knows together with a beta feature."""


class _Trigger(NamedTuple):
    """What makes a body one that a server of that kind takes only in other words."""

    quirk: str
    """The flag of the server."""
    harmless: frozenset[object]
    """Its values that change nothing."""
    member: str
    """The member that is concerned."""
    mark: bytes = b""
    """What stands in it then."""


_FOREIGN = (_Trigger("effort_field", frozenset({"as_read", "reasoning.effort"}), "reasoning"),)
"""Words that some servers of a dialect have taught their clients, and others do not know."""
_TRIGGERS = (
    *_FOREIGN,
    _Trigger("max_tokens_field", frozenset({"max_completion_tokens"}), "max_completion_tokens"),
    _Trigger("seed_field", frozenset({"seed"}), "seed"),
    _Trigger("effort_field", frozenset({"as_read", "reasoning_effort"}), "reasoning_effort"),
    _Trigger("system_role", frozenset({"as_read"}), "messages", b'"developer"'),
    _Trigger("reasoning_echo", frozenset({"as_given"}), "messages", b'"assistant"'),
    _Trigger("reasoning_field", frozenset({"as_read"}), "messages", b'"reasoning'),
    _Trigger("call_id_rule", frozenset({"any", "max40"}), "messages", b'"tool_call_id"'),
    _Trigger("result_name", frozenset({False}), "messages", b'"tool_call_id"'),
    _Trigger("output_schema", frozenset({"json_schema"}), "response_format"),
    _Trigger("json_mode", frozenset({True}), "response_format"),
    _Trigger("output_schema_with_tools", frozenset({True}), "response_format"),
    _Trigger("tool_choice", frozenset({"full"}), "tool_choice"),
    _Trigger("allowed_tools", frozenset({True}), "tool_choice", b'"allowed_tools"'),
    _Trigger("strict_schemas", frozenset({True}), "tools", b'"strict"'),
    _Trigger("freeform_tools", frozenset({True}), "tools", b'"custom"'),
    _Trigger("parallel_explicit", frozenset({False}), "tools"),
    _Trigger("parameters_required", frozenset({False}), "tools"),
    _Trigger("cache_marks", frozenset({"cache_control"}), "messages", b'"cache_control"'),
    _Trigger("document_part", frozenset({"file"}), "messages", b'"file"'),
    _Trigger("call_ids_back", frozenset({True}), "contents", b'"function'),
)
"""Flags of servers that are no reference of their dialect, and what in a body they concern."""


def relayed(asked: Asked, plan: Plan) -> tuple[Lane, ...]:
    """The targets to which the body can go out as it came."""
    head, own = asked.head, plan.own
    if not own or head.json_array or (asked.keeping is not None and asked.keeping.is_changed):
        return ()
    known = head.relayed
    if known is None or known[0] is not plan:
        found = () if head.is_ours else tuple([lane for lane, minded in own if _takes(head, minded)])
        known = head.relayed = plan, plan.lanes if len(found) == len(plan.lanes) else found
    return known[1]


def _takes(head: Head, minded: Minded) -> bool:
    """Whether a target takes the body as it is."""
    offered = head.offered
    if not minded.members.isdisjoint(head.members):
        return False
    if offered is not None and not minded.tool_marks.isdisjoint(offered.marks):
        return False
    return not any([head.has_mark(member, mark) for member, mark in minded.marks])


class Minded(NamedTuple):
    """What a server wants in other words."""

    members: frozenset[str]
    """Members that it must not get."""
    tool_marks: frozenset[bytes]
    """What must not stand among tools."""
    marks: tuple[tuple[str, bytes], ...]
    """What must not stand in other members."""


@lru_cache(maxsize=256)
def minded_by(quirks: Quirks) -> Minded:
    """What has to be looked for: a reference server of its dialect takes whatever the dialect can say."""
    is_reference = quirks.allowed_tools and quirks.freeform_tools and quirks.call_ids_back
    looked_for = _FOREIGN if is_reference else _TRIGGERS
    found = [one for one in looked_for if getattr(quirks, one.quirk) not in one.harmless]
    return Minded(
        quirks.unsupported.union([one.member for one in found if not one.mark]),
        frozenset([one.mark for one in found if one.mark in TOOL_MARKS]),
        tuple([(one.member, one.mark) for one in found if one.mark and one.mark not in TOOL_MARKS]),
    )


def outgoing(asked: Asked, lane: Lane, *, strict: bool) -> Encoded:
    """The request for one target, in the client's own words.

    Raises: UnsupportedError under `strict` for a member that the target does not take.
    """
    name, endpoint = asked.dialect.name, lane.endpoint
    left_out, changes = (), ()
    if name == "anthropic" and not _BETAS.isdisjoint(asked.head.members) and "*" not in endpoint.target.quirks.betas:
        left_out = tuple([member for member in asked.head.members if member in _BETAS])
        changes = _left_out(left_out, endpoint, strict=strict)
    return Encoded(
        path=_PATHS[name] if not asked.http.query and name in _PATHS else _path(asked, endpoint.model),
        body=_body(asked, "" if name == "google" else endpoint.model, left_out),
        headers=_headers(asked.http, name, left_out),
        changes=changes,
    )


def _left_out(members: tuple[str, ...], endpoint: Endpoint, *, strict: bool) -> tuple[Change, ...]:
    """That members of a Messages request are left out, since a target does not take them."""
    changes = Changes("anthropic", "encode_request")
    for member in members:
        changes.add("parameter_unsupported", f"/extra/anthropic/{member}", f"{endpoint.spec} does not take it")
    done = changes.done()
    if strict:
        told = "; ".join(str(change) for change in done)
        raise UnsupportedError(f"{endpoint.spec} cannot take the request as it is (strict): {told}", changes=done)
    return done


def _body(asked: Asked, model: str, left_out: tuple[str, ...]) -> bytes:
    """The body with the target's own name of the model."""
    body, head = asked.http.body, asked.head
    if not left_out and not model:
        return body
    if head.placed is not None and not left_out:
        at, known = head.placed
        at = at if at > 0 else len(body) + at
        return body[:at] + known_name(model) + body[at + len(known) :]
    members = {name: text for name, text in head.members.items() if name not in left_out}
    known = members.get("model")
    if known is None:
        return b"".join(pieces_of(members)) if left_out else body
    if not left_out and is_plain(body, "model"):
        place = body.index(bytes(known), body.index(b'"model"') + len(b'"model"'))
        return body[:place] + known_name(model) + body[place + len(bytes(known)) :]
    return b"".join(pieces_of({**members, "model": known_name(model) if model else known}))


def _path(asked: Asked, model: str) -> str:
    name, http = asked.dialect.name, asked.http
    if name == "google":
        known = model.startswith(("models/", "tunedModels/", "publishers/"))
        told = quote(model if known else f"models/{model}", safe="/@-._~")
        return f"/{told}:streamGenerateContent?alt=sse" if asked.head.stream else f"/{told}:generateContent"
    if name == "ollama":
        return http.path
    return f"{_PATHS[name]}?beta=true" if "beta=true" in http.query.split("&") else _PATHS[name]


def _headers(http: GatewayRequest, name: str, left_out: tuple[str, ...]) -> Headers:
    carried = http.seen.carried
    if carried is None:
        wanted = _HEADERS.get(name, frozenset())
        own = [pair for pair in http.headers if pair[0] in wanted]
        carried = http.seen.carried = (*_DEFAULTS.get(name, ()), *own)
    if left_out:  # a feature and its member travel together or not at all
        return tuple([pair for pair in carried if pair[0] != "anthropic-beta"])
    return carried
