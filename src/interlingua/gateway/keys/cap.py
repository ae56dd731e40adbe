"""The size of a call of a key with limits of tokens or money: the cap of its answer, extra input, and what both cost.

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
- The price of a call is that of the dearest target of its chain. Where money is limited and a price is not known, the
  call is refused (403).
- Tools that only say what the body has (`tool_search`), and those that the client runs, do not count. What this gateway
  keeps itself stands in the body by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from interlingua.dialects._members import is_list, is_object
from interlingua.dialects.table import DIALECTS, get_service
from interlingua.errors import BillingError, Error, PermissionDeniedError
from interlingua.gateway.calls.reading import overrides
from interlingua.gateway.keys.terms import nano_usd
from interlingua.providers.price import cost_usd
from interlingua.registry.prices import price_of, window_of
from interlingua.routing.estimate import estimate_body, estimate_tokens
from interlingua.transport.override import answers_alone
from interlingua.types.change import Changes
from interlingua.types.usage import MAX_COUNT, Usage
from interlingua.wire.body import folded
from interlingua.wire.json import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from interlingua.client.call.values import Call, CallTarget
    from interlingua.dialects._service import LimitFields, Service
    from interlingua.gateway.calls.exchange import ClientExchange
    from interlingua.gateway.calls.reading import Head
    from interlingua.gateway.keys.admission import KeyPlan
    from interlingua.gateway.keys.budget import Refusal
    from interlingua.types.change import Change
    from interlingua.types.request import Request
    from interlingua.wire.body import Body

__all__ = [
    "CONTEXT_TOKENS",
    "DEFAULT_MAX_TOKENS",
    "Size",
    "Wish",
    "asks_background",
    "cap_change",
    "cap_edits",
    "cost_of_reading",
    "cost_of_tokens",
    "extra_tokens",
    "fitted",
    "input_tokens",
    "least_of",
    "read_nearer",
    "reads_more",
    "tier_of",
    "token_count",
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
    members: Mapping[str, Any]
    if fields.inside:
        holder = next((body.get(name) for name in fields.inside if name in body.members), None)
        members = holder if is_object(holder) else {}
    else:
        names = (*fields.choices, *(fields.thinking[0] if fields.thinking else ()))
        members = {name: body.get(name) for name in names if name in body.members}
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


def fitted(cap: int, target: CallTarget) -> int:
    """A cap for a target: no more than its model can write."""
    most = target.endpoint.target.facts.max_output_tokens
    return cap if most is None else min(cap, most)


def least_of(targets: Iterable[CallTarget]) -> int:
    """The least that an answer of any of these targets can be limited to."""
    return max([target.endpoint.target.facts.min_output_tokens or 1 for target in targets], default=1)


def cap_edits(exchange: ClientExchange, target: CallTarget, cap: int, *, is_own: bool) -> dict[str, bytes]:
    """The members of a body that is passed on which say its cap; `is_own` says that its client named that cap."""
    fields, body = exchange.dialect.service.limits, exchange.head.body
    limits = _limits(body, fields)
    fits = fitted(cap, target)
    if is_own and fits == cap and all([(token_count(value) or MAX_TOKENS) <= cap for _, _, value in limits]):
        return {}
    if not any([name in fields.limits and holder in ("", *fields.inside) for holder, name, _ in limits]):
        holder = next((name for name in fields.inside if name in body), fields.inside[0] if fields.inside else "")
        quirks = target.endpoint.target.quirks
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


def extra_tokens(exchange: ClientExchange, call: Call, context_tokens: int | None) -> int:
    """The most tokens that a target may read beside the body: 0, or a context window.

    `context_tokens` is what the key says of it; else the largest window of the targets counts.
    """
    if not reads_more(exchange.head) and not exchange.http.kept_by:
        return 0
    if context_tokens is not None:
        return context_tokens
    return max([window_of(target.endpoint) or CONTEXT_TOKENS for target in call.targets], default=CONTEXT_TOKENS)


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


# The most that a call may use


class Size(NamedTuple):
    """A request that is to get a cap, and the most that it may use with one."""

    exchange: ClientExchange
    """The exchange."""
    plan: KeyPlan
    """The facts of its key."""
    call: Call
    """Its call."""
    wish: Wish
    """How much its client wants to have written."""
    least: int
    """The least that its answers can be limited to."""

    def first_cap(self) -> int:
        """The cap by what its client, its key and its models say."""
        cap = self.wish.cap(self.plan.default_max_tokens)
        return max([fitted(cap, target) for target in self.call.targets], default=cap)

    def check_thinking(self, cap: int) -> None:
        """Raises: BillingError where the limits of the key leave no room beside the thinking that is asked for."""
        thinking = self.wish.thinking
        if thinking and cap <= thinking and cap < self.first_cap():
            raise BillingError(
                f"the limits of the key {self.plan.key.name} leave {max(cap, 0):,} tokens for an answer, and its "
                f"thinking alone is to have {thinking:,}; ask for less thinking",
                status=402,
                code="insufficient_quota",
            )

    def most(self, read: int, cap: int) -> tuple[int, int]:
        """The most tokens that it may use, and the most that it may cost, with that cap.

        Raises: PermissionDeniedError where money is limited and a price is not known.
        """
        targets = self.call.targets
        tokens = read + max([self._written(target, cap) for target in targets], default=cap * self.wish.choices)
        cost = self._cost(read, cap) if self.plan.needs_money else 0
        return min(tokens, MAX_COUNT), min(cost, MAX_COUNT)

    def room(self, read: int, cap: int, refusal: Refusal) -> int:
        """The cap that a budget has room for, but for the reservations of calls under way; 0 where that is not it."""
        budget = refusal.budget
        if budget is None or refusal.is_reserved:
            return 0
        if budget.unit == "tokens":
            return (refusal.unspent - read) // self.wish.choices
        return _most(cap, lambda room: self._cost(read, room) <= refusal.unspent)

    def extra_room(self, read: int, cap: int, extra: int, refusal: Refusal) -> int:
        """How much of `extra` tokens a budget, or a minute, has room for."""
        if refusal.limit == "budget" and refusal.budget is not None and refusal.budget.unit == "usd":
            return _most(extra - 1, lambda room: self._cost(read + room, cap) <= refusal.unspent)
        left = refusal.unspent if refusal.limit == "budget" else refusal.left
        return min(max(left - self.most(read, cap)[0], 0), extra - 1)

    def _written(self, target: CallTarget, cap: int) -> int:
        return max(fitted(cap, target), self.least) * self.wish.choices

    def _cost(self, read: int, cap: int) -> int:
        return cost_of_tokens(self.exchange, self.call, read, lambda target: self._written(target, cap))


def _most(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `most` that fits; 0 where none does."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def asks_background(body: Body, service: Service) -> bool:
    """Whether a body, or what it has written over a request, asks for an answer in the background."""
    values = [body.get(service.background)] if service.background else []
    for _, dialect, members, _ in overrides(body, service):
        name = get_service(dialect).background if dialect in DIALECTS else ""
        values += [value for member, value in members.items() if name and folded(member) == name]
    return any([value not in (None, False) for value in values])


# The cost of a call


def read_nearer(exchange: ClientExchange, call: Call) -> int:
    """About how many tokens a request has, with its text read for that."""
    return max([input_tokens(exchange, call, target) for target in call.targets], default=0)


def cost_of_tokens(exchange: ClientExchange, call: Call, read: int, written: Callable[[CallTarget], int]) -> int:
    """The most that a call may cost that reads so many tokens and has so many written, at the dearest of its targets.

    Raises: PermissionDeniedError where a price is not known.
    """
    return _dearest(call.targets, tier_of(exchange, call), read, written)


def cost_of_reading(targets: Iterable[CallTarget], read: int) -> int:
    """The most that a call may cost that reads so many tokens and has none written, at the dearest of its targets.

    Raises: as `cost_of_tokens`.
    """
    return _dearest(targets, None, read, None)


def _dearest(
    targets: Iterable[CallTarget], tier: str | None, read: int, written: Callable[[CallTarget], int] | None
) -> int:
    """The most that a call may cost; without `written` nothing is written.

    Raises: PermissionDeniedError where a price is not known.
    """
    most, is_asked = 0, not answers_alone()
    for target in targets:
        endpoint, tokens = target.endpoint, 0 if written is None else written(target)
        price = price_of(endpoint, (endpoint.model,), tier, is_asked=is_asked, writes=written is not None)
        cost = None if price is None else cost_usd(price, Usage(input_tokens=read, output_tokens=tokens))
        if cost is None:
            raise PermissionDeniedError(
                f"this key has a budget in money, and the price of {target.endpoint.spec} is not known: configure it "
                "(?price_in=…&price_out=… in its DSN, US dollars for a million tokens), or install interlingua[prices]",
                status=403,
            )
        most = max(most, nano_usd(cost))
    return most


def input_tokens(exchange: ClientExchange, call: Call, target: CallTarget) -> int:
    """About how many tokens a request has for a target, read for that."""
    request = _request(exchange, call)
    return estimate_body(exchange.http.body) if request is None else estimate_tokens(request, target.endpoint.model)


_TIER_MEMBERS = frozenset({"serviceTier", "service_tier"})
"""The members of a body in which a dialect asks for a tier of service."""


def tier_of(exchange: ClientExchange, call: Call) -> str | None:
    """The tier of service that a request asks for."""
    if not exchange.is_read and _TIER_MEMBERS.isdisjoint(exchange.head.body.members):
        return None
    request = _request(exchange, call)
    return None if request is None else request.service_tier


def _request(exchange: ClientExchange, call: Call) -> Request | None:
    """The request; None for a body that only its provider can read."""
    if not exchange.is_read and call.request.messages:
        return call.request
    try:
        return exchange.decoded.request
    except Error:
        return None
