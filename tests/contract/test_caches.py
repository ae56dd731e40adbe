"""Every cache of the package is listed, with who chooses its keys: peers fill none beyond a bound in bytes.

A cache is what is made by `lru_cache`, `cache`, `ByteCache`, `OrderedDict` or `MemoryStore`, and any container that is
emptied or put aside where it is full.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

from tests.contract.source import MODULES, Module

if TYPE_CHECKING:
    from collections.abc import Iterator

PEERS = frozenset(
    {
        "client.capabilities:_cards",
        "client.capabilities:_unsaid",
        "registry.prices:_models",
        "dialects._reply_head:_places",
        "dialects._schemas:_verdicts",
        "dialects.anthropic.client_stream:_starts",
        "gateway.calls.replies:_is_kept",
        "gateway.calls.plan:_plans",
        "gateway.calls.replies:_own_headers",
        "gateway.calls.replies:_targets",
        "gateway.calls.plan:_cache",
        "gateway.keys.auth:_are_ours",
        "gateway.keys.auth:_names",
        "gateway.records.log:_alike",
        "gateway.records.record:_cleaned",
        "gateway.serving.writer:_before",
        "gateway.serving.writer:_forms",
        "gateway.state.latest:latest_responses",
        "gateway.state.shared:_memory",
        "gateway.state.stored:store",
        "providers.limits:_facts",
        "providers.media_limits:_limits",
        "registry.endpoint:_identities",
        "registry.endpoint:_merged",
        "registry.resolve:_rankings",
        "registry.resolve:_remembered",
        "routing.limits:_gate_cache",
        "routing.order:_times",
        "schema.tool_rules:_with_cache",
        "schema.validate:_are_sound",
        "schema.validate:_is_sound",
        "schema.validate:_validators",
        "transport.http1:_checked_names",
        "transport.http1:_heads",
        "transport.http1:_lowered",
        "transport.routes:Routes",
        "transport.url:_parsed",
        "types.handmade:_SOUND",
    }
)
"""Caches whose keys a client or an upstream can choose: each is a `ByteCache`, or a store that counts bytes, too."""

BOUNDED_OTHERWISE = {
    "dialects._tool_cache:_young": "weighed by `memory_of`, 3 MB a generation",
    "client.hooks.stores:_answers": "counts the bytes of what it keeps",
    "dialects.ollama.server:_time": "16 numbers, each a time that a calendar has",
    "gateway.records.metrics:_tallies": "2,000 series, whose labels are cut at 200 characters",
    "gateway.records.metrics:_tries": "2,000 series, whose labels are cut at 200 characters",
    "gateway.records.record:names": "16 names of at most 200 characters a head",
    "gateway.serving.heads:_lately": "256 heads of at most 4 KiB a generation",
    "gateway.state.shared:_to_drop": "a number of keys of a fixed length",
    "gateway.state.ownership:_cache": "1,024 ids of at most 256 characters, for one answer",
    "gateway.state.turn_store:_used": "counts the bytes of what it keeps",
    "gateway.state.store:_entries": "counts the bytes of what it keeps",
    "media._kept:_images": "64 MiB of images, each with what keeping it takes",
    "media.convert:can_convert": "32 names of types that were told by the bytes of a file",
    "routing.health:_marks": "10,000 targets, named in at most 1,024 characters, with 64 identities each",
    "routing.order:_calls": "1,000 targets, and those with calls under way",
    "transport.heads:_statuses": "2,048 lines of at most 4 KiB",
    "transport.heads:_lines": "2,048 lines of at most 4 KiB",
    "transport.heads:_unusual": "2,048 lines of at most 4 KiB",
}
"""Caches whose keys a client or an upstream can choose, and that are bounded in bytes in another way."""

PROGRAM = frozenset(
    {
        "client.call.transports:_inside",
        "client.call.transports:_inside_async",
        "client.cluster.frames:_index_of",
        "client.cluster.shard:_limit",
        "client.web.accepted:accepted_in",
        "dialects.openai_responses.server_stream:_ends",
        "dialects._installed:_entries",
        "dialects._installed:_loaded",
        "dialects.table:get_dialect",
        "dialects.table:get_embedding",
        "dialects.table:get_reranking",
        "dialects.table:get_service",
        "dialects.table:store_dialect",
        "gateway.calls.reading:_decided_in",
        "gateway.state.id_places:places_at",
        "gateway.calls.reading:rules_of",
        "gateway.calls.plan:_needs",
        "gateway.keys.file:_boot",
        "gateway.console.page:_read",
        "gateway.keys.budget:_month",
        "gateway.keys.budget:_month_begins_s",
        "gateway.keys.reservation:_day_text",
        "gateway.records.log:_millisecond_told",
        "gateway.records.log:_second_told",
        "gateway.routes:_shape",
        "gateway.state.signing:_providers",
        "gateway.surfaces.openapi:_written",
        "registry.logins.table:_shared",
        "schema.partials:_fields_kept",
        "schema.reflect:_kept",
        "schema.subset:untouched_keywords",
        "transport.public:_tables",
        "wire._parser:decoder_of",
        "wire._shape:float_fields",
        "wire._shape:shape_of",
        "wire._unknown:_open_decoder",
        "wire._unknown:strict_decoder",
    }
)
"""Caches whose keys are types, configuration, times of the clock, or objects of the program that uses the library."""

_MAKERS = frozenset({"lru_cache", "cache", "ByteCache", "OrderedDict", "MemoryStore"})
_WEIGHED = frozenset({"ByteCache", "MemoryStore"})
_NOT_SHIPPED = ("testing",)


def _last(node: ast.AST) -> str:
    """The last name of an expression: `self._young[key]` is `_young`."""
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _caches(module: Module) -> Iterator[tuple[str, str]]:
    """The name of each cache in a module, and what it is made with."""
    owners = {child: node for node in module.nodes for child in ast.iter_child_nodes(node)}
    for node in module.nodes:
        match node:
            case ast.FunctionDef(name=name, decorator_list=decorators):
                yield from [(name, _last(one)) for one in decorators if _last(one) in _MAKERS]
            case ast.ClassDef(name=name, bases=bases) if "ByteCache" in map(_last, bases):
                yield name, "ByteCache"
            case ast.Call(func=func) if _last(func) in _MAKERS and not isinstance(owners[node], ast.FunctionDef):
                yield _holder(node, owners), _last(func)
            case ast.If(test=test, body=body):
                yield from [(name, "by hand") for name in _emptied(body) if name in _measured(test)]
                yield from [(name, "by hand") for name in _put_aside(body)]
            case _:
                pass


def _holder(call: ast.AST, owners: dict[ast.AST, ast.AST]) -> str:
    """The name that what a call makes is assigned to, or the function that gives it back."""
    node = call
    while not isinstance(node, ast.Assign | ast.AnnAssign | ast.FunctionDef | ast.ClassDef | ast.Module):
        node = owners[node]
    match node:
        case ast.Assign(targets=[target, *_]) | ast.AnnAssign(target=target):
            return _last(target)
        case ast.FunctionDef(name=name):
            return name
        case _:
            return ""


def _measured(test: ast.expr) -> set[str]:
    """The containers whose length a condition asks for."""
    calls = [node for node in ast.walk(test) if isinstance(node, ast.Call) and _last(node.func) == "len"]
    return {_last(argument) for call in calls for argument in call.args}


def _emptied(body: list[ast.stmt]) -> Iterator[str]:
    """The containers that statements empty."""
    for node in [node for statement in body for node in ast.walk(statement)]:
        match node:
            case ast.Call(func=ast.Attribute(value=container, attr="clear" | "popitem")):
                yield _last(container)
            case ast.Assign(targets=[target], value=ast.Dict(keys=[]) | ast.DictComp()):
                yield _last(target)
            case ast.For(iter=ast.Tuple(elts=containers), body=[ast.Expr(ast.Call(func=ast.Attribute(attr="clear")))]):
                yield from map(_last, containers)
            case ast.Delete(targets=[ast.Subscript(value=container)]):
                yield _last(container)
            case _:
                pass


def _put_aside(body: list[ast.stmt]) -> Iterator[str]:
    """The containers that become the older generation, with an empty one in their place."""
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                own = [value for value in values if isinstance(value, ast.Name) or ast.unparse(value)[:5] == "self."]
                moved = {f"_{_last(value).lstrip('_')}" for value in own}
                is_emptied = any(isinstance(value, ast.Dict | ast.List | ast.NamedExpr) for value in values)
                yield from [_last(target) for target in targets if is_emptied and _last(target) in moved]
            case _:
                pass


@cache
def _all() -> dict[str, str]:
    """Every cache of the package, `module:name`, and what it is made with."""
    found: dict[str, str] = {}
    for module in MODULES:
        here = module.importable.removeprefix("interlingua.")
        if not here.startswith(_NOT_SHIPPED) and here != "wire.cache":
            for name, maker in _caches(module):
                if maker not in _WEIGHED or name:
                    found.setdefault(f"{here}:{name}", maker)
    return found


def test_dos_02_every_cache_is_listed() -> None:
    """A new cache needs a row that says who chooses its keys; a row whose cache is gone is taken out."""
    listed = PEERS | BOUNDED_OTHERWISE.keys() | PROGRAM
    assert (_all().keys() - listed, listed - _all().keys()) == (set(), set()), "(not listed, gone)"


def test_dos_02_what_peers_fill_is_bounded_in_bytes() -> None:
    """A cache whose keys a client or an upstream chooses counts bytes, and not entries alone."""
    found = _all()
    assert {name: found[name] for name in PEERS if found[name] not in _WEIGHED} == {}
