"""The request that goes out to a target of the client's own dialect: the body as it came, with a few members edited.

Rules
- Of the body the model's name is changed, the cap of a limited key is put in (`keys/cap`), and members are taken out
  that a target is known not to take, each with an entry; what the caller wrote as text stays that text. Of the headers
  only those that belong to the body's dialect go along, and never a credential of the client's.
- A target that would need the body said in another way, a body that is not in the dialect's normal form, and a history
  with turns that were translated, are translated instead.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from interlingua.dialects._contract import Encoded, Undo
from interlingua.dialects._members import is_object
from interlingua.errors import UnsupportedError
from interlingua.gateway.keys.cap import cap_edits
from interlingua.types.change import Changes
from interlingua.wire.body import edited_body
from interlingua.wire.json import encode, encode_text

if TYPE_CHECKING:
    from interlingua.client.call.job import Lane
    from interlingua.dialects._contract import Quirks
    from interlingua.dialects._service import Service
    from interlingua.gateway.calls.client_exchange import ClientExchange
    from interlingua.gateway.calls.head import Head
    from interlingua.gateway.calls.plan import Plan
    from interlingua.gateway.http import GatewayRequest
    from interlingua.wire.http import Headers

__all__ = ["Needs", "asks_usage", "needs_of", "outgoing", "relayed"]

_MADE = b'"call_'
"""How ids begin that are made for calls without one; in a history each stands twice, and counting goes on behind it."""


class _Trigger(NamedTuple):
    """A member or word of a body that a server of that kind takes only in other words."""

    quirk: str
    """The flag of the server."""
    harmless: frozenset[object]
    """Its values that change nothing."""
    member: str
    """The member that is concerned."""
    words: frozenset[str] = frozenset()
    """Words of which one is in it then; without any, the member is enough."""


_FOREIGN = (_Trigger("effort_field", frozenset({"as_read", "reasoning.effort"}), "reasoning"),)
"""Members that some servers of a dialect have taught their clients, and others do not know."""
_REASONING = frozenset({"reasoning", "reasoning_content", "reasoning_details"})
_CALLS = frozenset({"functionCall", "functionResponse", "function_call", "function_response"})
_TRIGGERS = (
    *_FOREIGN,
    _Trigger("max_tokens_field", frozenset({"max_completion_tokens"}), "max_completion_tokens"),
    _Trigger("seed_field", frozenset({"seed"}), "seed"),
    _Trigger("effort_field", frozenset({"as_read", "reasoning_effort"}), "reasoning_effort"),
    _Trigger("system_role", frozenset({"as_read"}), "messages", frozenset({"developer"})),
    _Trigger("reasoning_echo", frozenset({"as_given"}), "messages", frozenset({"assistant"})),
    _Trigger("reasoning_field", frozenset({"as_read"}), "messages", _REASONING),
    _Trigger("call_id_rule", frozenset({"any", "max40"}), "messages", frozenset({"tool_call_id"})),
    _Trigger("result_name", frozenset({False}), "messages", frozenset({"tool_call_id"})),
    _Trigger("output_schema", frozenset({"json_schema"}), "response_format"),
    _Trigger("json_mode", frozenset({True}), "response_format"),
    _Trigger("output_schema_with_tools", frozenset({True}), "response_format"),
    _Trigger("tool_choice", frozenset({"full"}), "tool_choice"),
    _Trigger("allowed_tools", frozenset({True}), "tool_choice", frozenset({"allowed_tools"})),
    _Trigger("strict_schemas", frozenset({True}), "tools", frozenset({"strict"})),
    _Trigger("freeform_tools", frozenset({True}), "tools", frozenset({"custom"})),
    _Trigger("parallel_explicit", frozenset({False}), "tools"),
    _Trigger("parameters_required", frozenset({False}), "tools"),
    _Trigger("cache_marks", frozenset({"cache_control"}), "messages", frozenset({"cache_control"})),
    _Trigger("document_part", frozenset({"file"}), "messages", frozenset({"file"})),
    _Trigger("call_ids_back", frozenset({True}), "contents", _CALLS),
)
"""Flags of servers that are no reference of their dialect, and what in a body they concern."""


class Needs(NamedTuple):
    """The members and words of a body that a server wants in other words."""

    members: frozenset[str]
    """Members that it must not get."""
    words: dict[str, frozenset[str]]
    """By member, the words that must not be in it."""


_HISTORIES = ("messages", "input", "contents")
"""Members in which media stand."""
_DATA = frozenset({"inlineData", "inline_data", "fileData", "file_data"})
_MEDIA_WORDS: dict[str, frozenset[str]] = {
    "images": frozenset({"image", "images", "image_url", "input_image"}) | _DATA,
    "audio": frozenset({"audio", "input_audio"}) | _DATA,
    "documents": frozenset({"document", "file", "input_file"}) | _DATA,
}
"""Words that stand in a history with such media; a target that takes none of them gets it from the dialect's writer."""


def needs_of(lane: Lane) -> Needs:
    """The members and words to search for in a body before it goes to a target as it is."""
    facts, declared = lane.endpoint.target.facts, lane.endpoint.capabilities
    untaken = [kind for kind in _MEDIA_WORDS if getattr(facts, kind) is False]
    if declared.tools is False:
        untaken.append("tools")
    return _needs(lane.endpoint.target.quirks, tuple(untaken))


@lru_cache(maxsize=256)
def _needs(quirks: Quirks, untaken: tuple[str, ...]) -> Needs:
    """The members and words that servers like this want changed; a reference server of its dialect takes all."""
    is_reference = quirks.allowed_tools and quirks.freeform_tools and quirks.call_ids_back
    triggers = _FOREIGN if is_reference else _TRIGGERS
    active = [trigger for trigger in triggers if getattr(quirks, trigger.quirk) not in trigger.harmless]
    words: dict[str, frozenset[str]] = {}
    for trigger in active:
        if trigger.words:
            words[trigger.member] = words.get(trigger.member, frozenset()) | trigger.words
    for member in _HISTORIES if untaken else ():
        media = frozenset[str]().union(*[_MEDIA_WORDS.get(kind, frozenset()) for kind in untaken])
        words[member] = words.get(member, frozenset()) | media
    active_members = [trigger.member for trigger in active if not trigger.words]
    if "tools" in untaken:
        active_members.append("tools")
    everything = ("messages",) if "extra" in quirks.unsupported else ()  # what is ignored of a body has to be told
    return Needs(quirks.unsupported.union(everything, active_members), words)


def relayed(exchange: ClientExchange, plan: Plan) -> tuple[Lane, ...]:
    """The targets to which the body can go out as it came; those of the plan themselves, where it is all of them."""
    head, own = exchange.head, plan.own
    if not own or head.json_array or (exchange.keeping is not None and exchange.keeping.is_changed):
        return ()
    fitting = [lane for lane, needs in own if _takes(head, needs)]
    if not fitting or not head.is_normal or head.is_ours:
        return ()
    return plan.lanes if len(fitting) == len(plan.lanes) else tuple(fitting)


def _takes(head: Head, needs: Needs) -> bool:
    """Whether a target takes the body as it is."""
    if not needs.members.isdisjoint(head.body.members):
        return False
    return all([words.isdisjoint(head.words(member)) for member, words in needs.words.items()])


def outgoing(exchange: ClientExchange, lane: Lane, *, strict: bool) -> Encoded:
    """The request for one target, in the client's own words.

    Raises: UnsupportedError under `strict` for a member that the target does not take.
    """
    name, service, endpoint, body = exchange.dialect.name, exchange.dialect.service, lane.endpoint, exchange.head.body
    changes = Changes(name, "encode_request")
    betas = service.beta_members
    left_out = () if not betas or "*" in endpoint.target.quirks.betas else betas.intersection(body.members)
    for member in left_out:
        changes.add("parameter_unsupported", f"/extra/{name}/{member}", f"{endpoint.spec} does not take it")
    if strict and left_out:
        listing = "; ".join([str(change) for change in changes.entries])
        raise UnsupportedError(
            f"{endpoint.spec} cannot take the request as it is (strict): {listing}", changes=changes.done()
        )
    changes.repaired(body.repairs)
    edits: dict[str, bytes | None] = dict.fromkeys(left_out)
    if service.read_path is None and "model" in body:
        edits["model"] = encode_text(endpoint.model)
    if (grant := exchange.grant) is not None and grant.cap is not None:
        edits |= cap_edits(exchange, lane, grant.cap, is_own=not grant.changes)
    if asks_usage(exchange, lane):
        options = body.get("stream_options")
        edits["stream_options"] = encode({**(options if is_object(options) else {}), "include_usage": True})
    return Encoded(
        path=service.path if service.path and not exchange.http.query else _path(exchange, service, endpoint.model),
        body=edited_body(body, edits),
        headers=_headers(exchange.http, service, has_betas=not left_out),
        changes=changes.done(),
        undo=Undo(first_index=body.text.count(_MADE)),
    )


def asks_usage(exchange: ClientExchange, lane: Lane) -> bool:
    """Whether a stream is asked for its counts of tokens, which its client does not want and its key is charged by."""
    is_counted = exchange.grant is not None and exchange.grant.cap is not None
    return is_counted and exchange.head.stream and not exchange.wants_usage and lane.endpoint.target.quirks.stream_usage


def _path(exchange: ClientExchange, service: Service, model: str) -> str:
    http = exchange.http
    if service.path_of is not None:
        return service.path_of(http.path, model, exchange.head.stream)
    return f"{service.path}?beta=true" if http.query and "beta=true" in http.query.split("&") else service.path


def _headers(http: GatewayRequest, service: Service, *, has_betas: bool) -> Headers:
    carried = http.facts.carried
    if carried is None:
        own = [pair for pair in http.headers if pair[0] in service.headers]
        carried = http.facts.carried = (*service.default_headers, *own)
    if not has_betas:  # a feature and its member travel together or not at all
        return tuple([pair for pair in carried if pair[0] != service.beta_header])
    return carried
