"""How many tokens a call may use of a key with limits of tokens or money: the cap of its answer, and unseen input.

Strategy: the limit that a client names, or the key's `default_max_tokens`, is lowered to what is left of each limit and
to what a model can write. The result goes out as the limit of the request, so what is reserved for a call is the most
that it can cost.

Rules
- A cap is for each choice: what is left, and the default, are divided by their number.
- A limit that says nothing (none, 0, -1, no number) is none.
- Thinking counts as output. Where a client names no limit, its thinking budget comes on top of the default; where the
  cap leaves no room beside that budget, the call is refused.
- A request that is translated has no other limit beside its cap: Ollama's `num_predict` of -1 is none, and would win.
- A body that is passed on has the cap in every member that limits an answer somewhere (llama.cpp takes `n_predict`
  before `max_tokens`), and at least in the one that its dialect, or its target, knows.
- What a target reads beside the body nobody knows before the call, but no model reads more than its context window. A
  conversation, a prompt, a cache, a container or a file that is named by an id, documents behind an address, and tools
  that the provider runs count. An image behind an address does not: it is a few thousand tokens.
- Tools that only say what the body has (`tool_search`), and those that the client runs, do not count. What this gateway
  keeps itself stands in the body by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from interlingua.client.price import window_of
from interlingua.dialects._members import is_list, is_object
from interlingua.types.change import Changes
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interlingua.client.call.job import Job, Lane
    from interlingua.dialects._service import LimitFields
    from interlingua.gateway.calls.client_exchange import ClientExchange, Head
    from interlingua.types.change import Change
    from interlingua.wire.body import Body

__all__ = [
    "CONTEXT_TOKENS",
    "DEFAULT_MAX_TOKENS",
    "Wish",
    "cap_change",
    "cap_edits",
    "fitted",
    "least_of",
    "reads_more",
    "token_count",
    "unseen_tokens",
    "wish_of",
]

DEFAULT_MAX_TOKENS = 8_192
"""How long an answer gets whose client names no limit, unless its key says otherwise."""
MAX_TOKENS = 10**12
"""A limit beyond this is none that anybody means."""


class Wish(NamedTuple):
    """How much a client wants to have written."""

    limit: int | None
    """The most tokens of each answer; None where it names no limit."""
    choices: int
    """How many answers."""
    thinking: int
    """The tokens for thinking that it names; 0 for none."""

    def cap(self, default: int) -> int:
        """The most tokens of each answer, before anything else is looked at."""
        return self.limit or max(1, (default + self.thinking) // self.choices)


def wish_of(exchange: ClientExchange) -> Wish:
    """How much the client of a request wants to have written."""
    fields, body = exchange.dialect.service.limits, exchange.head.body
    members = _members(body, fields)
    limits = [token_count(value) for _, _, value in _limits(body, fields)]
    choices = [token_count(members[name]) for name in fields.choices if name in members]
    thinking: Any = None if not fields.thinking else _first(members, fields.thinking[0])
    if thinking is None and fields.thinking:  # where a dialect has it beside the object that the limit is in
        thinking = next((body.get(name) for name in fields.thinking[0] if name in body.members), None)
    for names in fields.thinking[1:]:
        thinking = _first(thinking, names) if is_object(thinking) else None
    return Wish(
        max([limit for limit in limits if limit is not None], default=None),
        max([choice for choice in choices if choice is not None], default=1),
        (token_count(thinking) or 0) if fields.thinking else 0,
    )


def fitted(cap: int, lane: Lane) -> int:
    """A cap for a target: no more than its model can write."""
    most = lane.endpoint.target.facts.max_output_tokens
    return cap if most is None else min(cap, most)


def least_of(lanes: Iterable[Lane]) -> int:
    """The least that an answer of any of these targets can be limited to."""
    return max([lane.endpoint.target.facts.min_output_tokens or 1 for lane in lanes], default=1)


def cap_edits(exchange: ClientExchange, lane: Lane, cap: int, *, is_own: bool) -> dict[str, bytes]:
    """The members of a body that is passed on which say its cap; `is_own` says that its client named that cap."""
    fields, body = exchange.dialect.service.limits, exchange.head.body
    limits = _limits(body, fields)
    fits = fitted(cap, lane)
    if is_own and fits == cap and all([(token_count(value) or MAX_TOKENS) <= cap for _, _, value in limits]):
        return {}
    if not any([name in fields.limits and holder in ("", *fields.inside) for holder, name, _ in limits]):
        holder = next((name for name in fields.inside if name in body), fields.inside[0] if fields.inside else "")
        quirks = lane.endpoint.target.quirks
        limits = [*limits, (holder, quirks.max_tokens_field if fields.by_quirk else fields.limits[0], None)]
    edits = {name: encode(fits) for holder, name, _ in limits if not holder}
    for holder in dict.fromkeys([holder for holder, _, _ in limits if holder]):
        value = body.get(holder)
        names = [name for within, name, _ in limits if within == holder]
        edits[holder] = encode({**(value if is_object(value) else {}), **dict.fromkeys(names, fits)}, nulls=1 << 20)
    return edits


def cap_change(exchange: ClientExchange, wish: Wish, cap: int) -> tuple[Change, ...]:
    """The entry that says the cap, where its client wanted another one."""
    if wish.limit == cap:
        return ()
    changes = Changes(exchange.dialect.name, "encode_request")
    code = "parameter_added" if wish.limit is None else "parameter_adjusted"
    each = "" if wish.choices == 1 else " for each choice"
    changes.add(code, "/max_tokens", f"{cap} tokens{each} are within the limits of the key and the model")
    return changes.done()


def _limits(body: Body, fields: LimitFields) -> list[tuple[str, str, Any]]:
    """Every limit of an answer in a body: the member that it is in (empty: the top), its name, what it says."""
    top, names = body.members, fields.names
    limits = [("", name, body.get(name)) for name in names if name in top]
    for holder in [holder for holder in fields.holders if holder in top]:
        value = body.get(holder)
        limits += [(holder, name, value[name]) for name in names if name in value] if is_object(value) else []
    return limits


def _members(body: Body, fields: LimitFields) -> Mapping[str, Any]:
    """The members that say how many answers there are to be, and how much thinking."""
    members = body.members
    if not fields.inside:
        names = (*fields.choices, *(fields.thinking[0] if fields.thinking else ()))
        return {name: body.get(name) for name in names if name in members}
    value = next((body.get(name) for name in fields.inside if name in members), None)
    return value if is_object(value) else {}


def _first(members: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((members[name] for name in names if name in members), None)


def token_count(value: object) -> int | None:
    """A number of tokens from 1 on, also one that some servers take as a text or a float; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return MAX_TOKENS if type(value) is int and value > 0 else None
    return int(min(number, MAX_TOKENS)) if number >= 1 else None


# The input of a target beside the body of a request


CONTEXT_TOKENS = 1_000_000
"""The context window of a model of which no window is known."""
_AT_TOP = frozenset({
    "cachedContent", "cached_content", "container", "conversation", "mcp_servers", "plugins", "previous_response_id",
    "web_search_options",
})  # fmt: skip
"""Members of a body that have its target read more."""
_FILES = frozenset({"file_id", "file_uri", "file_url", "fileUri"})
"""Members that name a file."""
_RUN_BY_CLIENTS = (
    "apply_patch", "bash_", "computer", "custom", "function", "local_shell", "memory_", "text_editor_", "tool_search",
)  # fmt: skip
"""How types of tools begin that the client runs, or that read nothing."""
_GOOGLE_FUNCTIONS = frozenset({"computerUse", "computer_use", "functionDeclarations", "function_declarations"})


def unseen_tokens(exchange: ClientExchange, job: Job, context_tokens: int | None) -> int:
    """The most tokens that a target may read beside the body: 0, or a context window.

    `context_tokens` is what the key says of it; else the largest window of the targets counts.
    """
    if not reads_more(exchange.head) and not exchange.http.kept_by:
        return 0
    if context_tokens is not None:
        return context_tokens
    return max([window_of(lane.endpoint) or CONTEXT_TOKENS for lane in job.lanes], default=CONTEXT_TOKENS)


def reads_more(head: Head) -> bool:
    """Whether a request has its target read more than its body says."""
    body = head.body
    if any([body.get(name) for name in _AT_TOP.intersection(body.members)]):
        return True
    if any([is_object(body.get(name)) for name in head.service.kept_objects]):
        return True
    if "tools" in body and "tools" not in body.shaped and any(map(_is_run_elsewhere, _listed(body.get("tools")))):
        return True
    history = head.service.message_members[0]
    return history in body and history not in body.shaped and any(map(_names_a_file, head.objects(history)))


def _listed(value: object) -> list[Any]:
    return value if is_list(value) else []


def _is_run_elsewhere(tool: object) -> bool:
    """Whether a tool, or one inside of a namespace, is run by the provider."""
    if not is_object(tool):
        return False
    kind = tool.get("type")
    if kind == "namespace":
        return any(map(_is_run_elsewhere, _listed(tool.get("tools"))))
    if kind == "opaque_tool":  # of our own format
        return _is_run_elsewhere(tool.get("raw"))
    if isinstance(kind, str):
        return kind != "tool" and not kind.startswith(_RUN_BY_CLIENTS)
    return "name" not in tool and not _GOOGLE_FUNCTIONS.issuperset(tool)


def _names_a_file(node: dict[str, Any]) -> bool:
    """Whether an object names a file, or a document behind an address."""
    if any([isinstance(node.get(name), str) for name in _FILES.intersection(node)]):
        return True
    source = node.get("source")
    return node.get("type") == "document" and is_object(source) and source.get("type") == "url"
