"""Plans: the targets and the treatment of all requests that name the same model in the same dialect, settled once.

Some targets get the body as it came, with a few members edited (`sending`); the others get a translation. The plan of
a request, with what is different for that one, is the call of the client that carries it out (`make_call`).

Rules
- A plan holds for as long as the registry gives the same targets and the gateway has the same settings.
- Nothing of a request is in it: its call is that of a request that goes out as it came to every target.
- A name is whatever the registry takes: an exact alias, the longest `prefix*`, `provider/model`, a chain with commas.
- A name has neither control characters nor steps (`..`): it goes into paths, headers and logs. It is no longer than
  `MAX_MODEL_CHARACTERS`, and what is refused is not remembered.
- The client's own dialect is spoken to a provider that speaks it and takes the request in it, else its first one.
- Where something answers in the place of every model (tests), a name that nothing defines is taken as it is.
- A target that would need the body said in another way, a body that is not in the dialect's normal form, and a history
  with turns that were translated, are translated instead.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from interlingua.client.call.values import Call, CallTarget
from interlingua.client.observe import is_observed
from interlingua.client.options import Settings
from interlingua.dialects.table import get_dialect, get_service
from interlingua.errors import DecodeError, Error, UsageError
from interlingua.gateway.calls.media import with_media
from interlingua.gateway.calls.reading import checked_model
from interlingua.gateway.http import STRICT
from interlingua.gateway.keys.auth import renamed
from interlingua.registry.resolve import placeholder
from interlingua.transport.override import answers_alone
from interlingua.types.request import Request
from interlingua.wire.cache import ByteCache, weight_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.dialects._contract import Quirks
    from interlingua.gateway.calls.exchange import ClientExchange
    from interlingua.gateway.settings import GatewaySettings
    from interlingua.registry.endpoint import Endpoint
    from interlingua.registry.ranking import Ranking
    from interlingua.registry.resolve import Registry, Resolved

__all__ = [
    "UNREAD",
    "Needs",
    "Plan",
    "Plans",
    "ResolvedTargets",
    "Targets",
    "is_same",
    "make_call",
    "needs_of",
]

PLAN_BYTES, TARGET_BYTES = 2_000, 400
"""About what a plan takes in memory, and each of its targets."""
UNREAD = Request()
"""Stands for a request that goes out as it came, so that nobody has to read it."""
_COMMITTED = Request(store=True)
"""Stands for a request that goes out as it came, and must not run twice."""


def is_same(target: CallTarget, dialect: str) -> bool:
    """Whether a target speaks the client's own dialect, and can get a request of it as it came."""
    return target.dialect.name == dialect and target.dialect.service.passes


class Plan:
    """The targets of the requests of one name, dialect and kind, and the way of asking them."""

    def __init__(self, targets: ResolvedTargets, settings: GatewaySettings, dialect: str, call: Call) -> None:
        """The plan for clients of `dialect` that name `targets`, and the `call` of passing a request on."""
        self.holds: Callable[[], bool] = targets.holds
        """Says whether the name stands for the same targets now."""
        self.settings: GatewaySettings = settings
        """The settings of the gateway that it was made by."""
        self.targets: tuple[CallTarget, ...] = targets.targets
        """The targets, in the order in which they are named."""
        own = [target for target in targets.targets if is_same(target, dialect)]
        self.own: list[tuple[CallTarget, Needs]] = [(target, needs_of(target)) for target in own]
        """Those that speak the client's dialect, and what each wants in other words."""
        self.call: Call = call
        """The call of a request that goes out as it came."""

    @cached_property
    def strict(self) -> Settings:
        """How the call is done where the client wants nothing dropped."""
        return msgspec.structs.replace(self.call.settings, strict=True)


class Plans:
    """The plans of one gateway, with a memory."""

    def __init__(
        self,
        targets: Targets,
        settings: GatewaySettings,
        *,
        clock: Callable[[], float],
        make_id: Callable[[], str],
    ) -> None:
        """An empty cache; `clock` times the calls, and `make_id` makes ids of tool calls."""
        self._targets = targets
        self.set_up(settings)
        self._clock, self._make_id = clock, make_id
        self._plans: ByteCache[tuple[str, str, bool], Plan] = ByteCache(MAX_REMEMBERED_BYTES, weigh=_plan_bytes)

    def set_up(self, settings: GatewaySettings) -> None:
        """Make plans by these settings from now on; a plan of others holds no more."""
        self._settings = settings

    def plan(self, model: str, dialect: str, *, tools: bool) -> Plan:
        """The plan for clients of `dialect` that name `model`; `tools` says that they offer some.

        Raises: as `Targets.of`.
        """
        settings, name = self._settings, (model, dialect, tools)
        plan = self._plans.get(name)
        if plan is not None and plan.settings is settings and plan.holds():
            return plan
        targets = self._targets.resolve(model, dialect, tools=tools)
        if plan is not None and plan.settings is settings and plan.targets is targets.targets:
            plan.holds = targets.holds
            return plan
        passes_all = all([is_same(target, dialect) for target in targets.targets])
        call = Call(
            UNREAD,
            Settings(
                timeouts=settings.timeouts,
                strict=settings.strict,
                allow=settings.allow,
                call_ids="own",
                history_policy=get_service(dialect).history,
                warns=False,
            ),
            targets.targets,
            self._clock,
            make_id=None if passes_all else self._make_id,
            tool_deltas=True,
            ranking=self._targets.ranking(model),
        )
        plan = Plan(targets, settings, dialect, call)
        self._plans.put(name, plan)
        return plan


def _plan_bytes(name: tuple[str, str, bool], plan: Plan) -> int:
    """The bytes that a plan takes; its targets are those of the registry."""
    return PLAN_BYTES + weight_of(name[0]) + TARGET_BYTES * len(plan.targets)


# The targets of a name


MAX_REMEMBERED_BYTES = 2_000_000
"""How much is remembered of what names stand for; a client chooses them."""
FOUND_BYTES, FOUND_TARGET_BYTES = 1_000, 600
"""About what an entry takes in memory, and each of its targets."""
_STEP = re.compile(r"(?:^|[/\\,])\s*\.{1,2}\s*(?:[/\\,]|$)")
"""A step in a path: some providers have the model in theirs, and a key is not for all that is beside it."""


class ResolvedTargets(NamedTuple):
    """The targets of a name."""

    endpoints: tuple[Endpoint, ...]
    """The targets."""
    targets: tuple[CallTarget, ...]
    """The targets, with the dialect that is spoken to each."""
    holds: Callable[[], bool]
    """Says whether the name stands for them now."""


class Targets:
    """The names of one registry, with a memory."""

    def __init__(self, registry: Registry, rewrite: dict[str, str] | None = None) -> None:
        """A memory that is empty; `rewrite` are the names that the policy puts others under."""
        self._registry = registry
        self.set_up(rewrite or {})

    def set_up(self, rewrite: dict[str, str]) -> None:
        """Put names under these others from now on, also for who has these targets already; the memory is empty."""
        self._rewrite = rewrite
        self._cache: ByteCache[tuple[str, str, bool], ResolvedTargets] = ByteCache(
            MAX_REMEMBERED_BYTES, weigh=_targets_bytes
        )

    def of(self, model: str, client: str, *, tools: bool) -> tuple[CallTarget, ...]:
        """The targets of a name, in order, for a client of the dialect `client`.

        Raises: UnknownModelError for a name that nothing defines; DecodeError for what can be no name; ConfigError for
        a bad entry.
        """
        return self.resolve(model, client, tools=tools).targets

    def ranking(self, model: str) -> Ranking | None:
        """The order of the targets of a name; None for the order in which they are named."""
        return self._registry.ranking(renamed(self._rewrite, model))

    def resolve(self, model: str, client: str, *, tools: bool) -> ResolvedTargets:
        """The targets of a name, with a check whether that answer still holds.

        Raises: as `of`.
        """
        name = (model, client, tools)
        entry = self._cache.get(name)
        if entry is not None and entry.holds():
            return entry
        if not checked_model(model).isprintable() or _STEP.search(model):
            raise DecodeError(f"/model: {model[:100]!r} is no name of a model", path="/model", status=400)
        model = renamed(self._rewrite, model)
        resolved: Resolved | None = None
        try:
            resolved = self._registry.resolved(model, client, tools=tools)
            endpoints = resolved.endpoints
        except UsageError:
            if not answers_alone():
                raise
            endpoints = tuple([placeholder(element.strip()) for element in model.split(",")])
        if entry is not None and entry.endpoints is endpoints:
            targets = entry.targets
        else:
            targets = tuple([CallTarget(endpoint, get_dialect(endpoint.dialect)) for endpoint in endpoints])
        entry = ResolvedTargets(endpoints, targets, _never if resolved is None else resolved.holds)
        self._cache.put(name, entry)
        return entry


def _targets_bytes(name: tuple[str, str, bool], targets: ResolvedTargets) -> int:
    """The bytes that an entry takes; its targets are those of the registry."""
    return FOUND_BYTES + weight_of(name[0]) + FOUND_TARGET_BYTES * len(targets.targets)


def _never() -> bool:
    """Nothing that is made up for a test holds longer than its request."""
    return False


# The targets that get the body as it came


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


def needs_of(target: CallTarget) -> Needs:
    """The members and words to search for in a body before it goes to a target as it is."""
    facts, declared = target.endpoint.target.facts, target.endpoint.capabilities
    untaken = [kind for kind in _MEDIA_WORDS if getattr(facts, kind) is False]
    if declared.tools is False:
        untaken.append("tools")
    return _needs(target.endpoint.target.quirks, tuple(untaken))


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


def _relayed(exchange: ClientExchange, plan: Plan) -> tuple[CallTarget, ...]:
    """The targets to which the body can go out as it came; those of the plan themselves, where it is all of them."""
    head, own = exchange.head, plan.own
    if not own or head.json_array or (exchange.keeping is not None and exchange.keeping.is_changed):
        return ()
    fitting = [
        target
        for target, needs in own
        if needs.members.isdisjoint(head.body.members)
        and all([words.isdisjoint(head.words(member)) for member, words in needs.words.items()])
    ]
    if not fitting or not head.is_normal or head.is_ours:
        return ()
    return plan.targets if len(fitting) == len(plan.targets) else tuple(fitting)


# The call of one request


async def make_call(exchange: ClientExchange) -> Call:
    """The client's call for a request: its targets, and the request as far as somebody has to know it.

    Raises: UnknownModelError, ConfigError for a name that stands for nothing usable; DecodeError, HistoryError for a
    body that has to be translated and cannot be read; BadRequestError where no target knows what it goes on with.
    """
    head = exchange.head
    plan = exchange.conversations.plans.plan(head.model, exchange.dialect.name, tools=head.has_tools)
    exchange.relayed = _relayed(exchange, plan)
    if plan.own and not exchange.relayed:
        exchange.respelled = head.respelled
    await exchange.prepare()
    request = await _request(exchange, plan)
    changed: dict[str, Any] = {}
    if head.body.is_costly:
        changed["writer"] = exchange.writer
    if exchange.http.kept_by or exchange.keeping is not None:
        changed["targets"] = exchange.able_targets(plan.targets)
    if request is not UNREAD:
        changed["request"], changed["provider_ids"] = request, exchange.provider_ids
    if exchange.keeping is not None:
        changed["make_id"], changed["provider_ids"] = exchange.conversations.make_id, exchange.provider_ids
    if exchange.http.header(STRICT) == "1":
        changed["settings"] = plan.strict
    if exchange.http.trace_headers:
        settings = changed.get("settings", plan.call.settings)
        changed["settings"] = msgspec.structs.replace(settings, headers=exchange.http.trace_headers)
    if answers_alone():
        changed["with_credential"] = False
    return msgspec.structs.replace(plan.call, **changed) if changed else plan.call


async def _request(exchange: ClientExchange, plan: Plan) -> Request:
    """The request, as far as somebody has to know it: with the stored reasoning of its history, and its media.

    One that goes out as it came to every target is read only where somebody looks at it.
    """
    if exchange.relayed and not exchange.conversations.hooks:
        targets = exchange.able_targets(plan.targets)
        if exchange.relayed is targets or all([target in exchange.relayed for target in targets]):
            if is_observed():
                with suppress(Error):  # what we cannot read, its provider may
                    return exchange.decoded.request
            return _COMMITTED if exchange.head.is_committed else UNREAD
    request, fetch = await exchange.whole(), exchange.conversations.fetch
    return request if fetch is None else await with_media(request, fetch)
