"""Everything beside `model_list`: what becomes a member of `[server]`, and what is to be said of the rest.

Source: LiteLLM's "All settings" (litellm_settings, general_settings, router_settings), read 2026-11-22.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from interlingua.cli.litellm.deployment import variable_in
from interlingua.cli.litellm.groups import count_of
from interlingua.cli.litellm.reading import is_leaf, table_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from interlingua.cli.litellm.reading import Tree
    from interlingua.cli.litellm.report import Fate, Report

__all__ = ["Server", "read_settings", "read_strategy"]

_Word: TypeAlias = "tuple[Fate, str]"
_POLICIES: dict[str, tuple[str, Fate, str]] = {
    "simple-shuffle": ("weighted", "becomes", 'policy "weighted"'),
    "least-busy": ("least-busy", "becomes", 'policy "least-busy"'),
    "latency-based-routing": ("fastest", "nearly", 'policy "fastest": by the time to the first content'),
    "usage-based-routing": ("least-busy", "nearly", 'policy "least-busy"; limits pass over who has no room'),
    "usage-based-routing-v2": ("least-busy", "nearly", 'policy "least-busy"; limits pass over who has no room'),
    "cost-based-routing": ("ordered", "nearly", "targets are asked as they are named: put the cheapest first"),
}
_BENCH = "two failures in a row open the circuit breaker, for longer each time; there is nothing to set"
_RETRIES = (
    "a target is asked once more and a chain at most eight times in all; who knows what failed decides, not a count"
)
_CACHE = "[cache] of the file keeps exact answers; write it there"
_KEYS = "keys are in SQLite or in the file: il keys create NAME; those of a database are made anew"
_ALERTS = "nothing is sent by itself; metrics and logs are there to be watched"
_TEAMS = "teams are [teams.NAME] with limits and budgets of their own"
_LOGIN = "clients are known by keys alone"
_SPANS = "no exporter for it; [server] otel = true sends spans to any collector"
_LOGS = "il logs reads what [server] store keeps"

_WORDS: dict[str, _Word] = {
    "litellm_settings.set_verbose": (
        "missing",
        "[server] log tells one line for each request; there is no noisier one",
    ),
    "litellm_settings.turn_off_message_logging": (
        "needless",
        "content is not logged unless [server] log_content says so",
    ),
    "litellm_settings.redact_user_api_key_info": ("needless", "keys are named, and never shown"),
    "litellm_settings.cache": ("missing", _CACHE),
    "litellm_settings.cache_params": ("missing", _CACHE),
    "litellm_settings.modify_params": ("needless", "requests are fitted to each target, and every change is told"),
    "litellm_settings.num_retries": ("missing", _RETRIES),
    "litellm_settings.allowed_fails": ("needless", _BENCH),
    "litellm_settings.cooldown_time": ("needless", _BENCH),
    "litellm_settings.ssl_verify": (
        "missing",
        "certificates are always checked; SSL_CERT_FILE names an authority of your own",
    ),
    "litellm_settings.force_ipv4": ("needless", "addresses of both kinds are tried"),
    "litellm_settings.key_generation_settings": ("missing", _KEYS),
    "litellm_settings.default_internal_user_params": ("missing", _LOGIN),
    "litellm_settings.default_team_settings": ("missing", _TEAMS),
    "litellm_settings.max_budget": ("missing", "budgets are those of keys and teams: il keys create --budget"),
    "litellm_settings.budget_duration": ("missing", "budgets are those of keys and teams: il keys create --budget"),
    "litellm_settings.guardrails": (
        "missing",
        "[webhooks] of the file ask a service of yours; there is no detector here",
    ),
    "litellm_settings.mcp_aliases": ("missing", "tools are given to agents (il run --mcp), not to the gateway"),
    "litellm_settings.enable_json_schema_validation": (
        "needless",
        "structured output is asked of every target in its own form",
    ),
    "litellm_settings.content_policy_fallbacks": (
        "missing",
        "a refusal for its content ends the chain: nobody else is asked",
    ),
    "general_settings.database_url": ("missing", _KEYS),
    "general_settings.database_connection_pool_limit": ("missing", _KEYS),
    "general_settings.database_connection_timeout": ("missing", _KEYS),
    "general_settings.allow_requests_on_db_unavailable": ("needless", "keys of the file need no database"),
    "general_settings.store_model_in_db": ("missing", "models are in the file, which is read again when it changes"),
    "general_settings.store_prompts_in_spend_logs": (
        "missing",
        "content is kept only where [server] log_content or record says so",
    ),
    "general_settings.disable_spend_logs": ("needless", f"nothing is kept unless it is asked for; {_LOGS}"),
    "general_settings.maximum_spend_logs_retention_period": ("missing", "[server] store_days, where store is set"),
    "general_settings.alerting": ("missing", _ALERTS),
    "general_settings.alerting_threshold": ("missing", _ALERTS),
    "general_settings.alerting_args": ("missing", _ALERTS),
    "general_settings.alert_types": ("missing", _ALERTS),
    "general_settings.alert_to_webhook_url": ("missing", _ALERTS),
    "general_settings.background_health_checks": (
        "needless",
        "health is learned from requests, and nothing is asked besides",
    ),
    "general_settings.health_check_interval": (
        "needless",
        "health is learned from requests, and nothing is asked besides",
    ),
    "general_settings.health_check_details": ("needless", "/health/targets tells no limits"),
    "general_settings.custom_auth": ("missing", "an application around gateway.app(…) checks its users itself"),
    "general_settings.custom_sso": ("missing", _LOGIN),
    "general_settings.enable_jwt_auth": ("missing", _LOGIN),
    "general_settings.litellm_jwtauth": ("missing", _LOGIN),
    "general_settings.enable_oauth2_auth": ("missing", _LOGIN),
    "general_settings.allowed_ips": ("missing", "addresses are the business of a firewall or reverse proxy"),
    "general_settings.use_x_forwarded_for": ("missing", "what a proxy says of an address is not believed"),
    "general_settings.allowed_routes": ("missing", "a key says which models, not which routes"),
    "general_settings.pass_through_endpoints": (
        "missing",
        "routes of the known dialects are passed on; no further ones",
    ),
    "general_settings.completion_model": (
        "missing",
        "il serve -m SPEC answers names that nobody knows; a body names its model",
    ),
    "general_settings.forward_client_headers_to_llm_api": (
        "missing",
        "headers of clients go to no provider, beta features apart",
    ),
    "general_settings.infer_model_from_keys": ("missing", "what is served stands in the file"),
    "general_settings.key_management_system": ("missing", "keys come from variables and files: key_env, key_file"),
    "general_settings.key_management_settings": ("missing", "keys come from variables and files: key_env, key_file"),
    "general_settings.litellm_key_header_name": ("needless", "keys are taken from every header that SDKs use"),
    "general_settings.litellm_license": ("needless", "there is nothing to unlock"),
    "general_settings.ui_access_mode": ("missing", "[server] console and operators say who sees what"),
    "general_settings.proxy_batch_write_at": ("needless", "what was used is written when a request ends"),
    "router_settings.num_retries": ("missing", _RETRIES),
    "router_settings.max_fallbacks": ("missing", _RETRIES),
    "router_settings.retry_policy": ("missing", _RETRIES),
    "router_settings.model_group_retry_policy": ("missing", _RETRIES),
    "router_settings.retry_after": ("needless", "pauses grow by themselves, and what a server asks for is waited for"),
    "router_settings.allowed_fails": ("needless", _BENCH),
    "router_settings.allowed_fails_policy": ("needless", _BENCH),
    "router_settings.cooldown_time": ("needless", _BENCH),
    "router_settings.disable_cooldowns": (
        "missing",
        "circuit breakers cannot be switched off; the last target is called anyway",
    ),
    "router_settings.enable_pre_call_checks": (
        "needless",
        "a target that says the input is too long is followed by the next",
    ),
    "router_settings.routing_strategy_args": ("missing", "policies have nothing to set"),
    "router_settings.enable_tag_filtering": ("missing", "requests are not routed by tags"),
    "router_settings.tag_filtering_match_any": ("missing", "requests are not routed by tags"),
    "router_settings.default_litellm_params": (
        "missing",
        "a target brings no defaults for requests; the client says it",
    ),
    "router_settings.content_policy_fallbacks": (
        "missing",
        "a refusal for its content ends the chain: nobody else is asked",
    ),
    "router_settings.cache_responses": ("missing", _CACHE),
    "router_settings.cache_kwargs": ("missing", _CACHE),
    "router_settings.caching_groups": ("missing", _CACHE),
    "router_settings.provider_budget_config": (
        "missing",
        "budgets are those of keys and teams: il keys create --budget",
    ),
    "router_settings.set_verbose": ("missing", "[server] log tells one line for each request"),
    "router_settings.debug_level": ("missing", "[server] log tells one line for each request"),
    "router_settings.client_ttl": ("needless", "connections are kept and given back by themselves"),
    "callback_settings": ("missing", _SPANS),
    "guardrails": ("missing", "[webhooks] of the file ask a service of yours; there is no detector here"),
    "mcp_servers": ("missing", "tools are given to agents (il run --mcp), not to the gateway"),
    "mcp_tools": ("missing", "tools are given to agents (il run --mcp), not to the gateway"),
    "vector_store_registry": ("missing", "no store of documents is searched here"),
    "search_tools": ("missing", "searching is a tool of the provider or of the client"),
    "prompts": ("missing", "prompts are the client's"),
    "assistant_settings": ("missing", "assistants are not served"),
    "files_settings": ("missing", "files go to the provider that [server] providers names"),
    "finetune_settings": ("missing", "fine-tuning is the provider's"),
    "include": ("missing", "a file that is included is not read; convert the files put together"),
}


class Server(NamedTuple):
    """The settings of the gateway itself."""

    members: dict[str, tuple[str, str]]
    """Key of `[server]` -> value as TOML has it, and where it comes from."""
    everywhere: dict[str, int]
    """Allowances of every target that says nothing of them."""


def read_strategy(tree: Tree, report: Report) -> str:
    """The policy of names with several deployments."""
    router = table_of(tree, "router_settings")
    if "routing_strategy" not in router:
        return "weighted"
    entry = _POLICIES.get(str(router["routing_strategy"]))
    policy, fate, words = entry or (
        "weighted",
        "unknown",
        'a strategy that is not known here; policy "weighted" stands for it',
    )
    report.say("router_settings.routing_strategy", fate, words)
    return policy


def read_settings(tree: Tree, report: Report) -> Server:
    """The members of `[server]`; every other known setting gets a line in the report."""
    server = Server({}, {})
    for section in ("router_settings", "litellm_settings", "general_settings"):
        for name, value in table_of(tree, section).items():
            path = f"{section}.{name}"
            if (reader := _READERS.get(path)) is not None:
                reader(value, path, server, report)
    for path, word in _WORDS.items():
        report.say(path, *word)
    # Variables that the file itself would set are named, and never copied.
    for name, value in table_of(tree, "environment_variables").items():
        path = f"environment_variables.{name}"
        if is_leaf(value) and name.isidentifier():
            report.variables.setdefault(name, f"what stands in {path}")
            report.say(path, "secret", f"not copied; set {name} where the gateway is started")
        else:
            report.say(path, "missing", "no variable")
    return server


def _set(
    server: Server, name: str, value: str, path: str, report: Report, *, fate: Fate = "becomes", more: str = ""
) -> None:
    if name in server.members and server.members[name][0] != value:
        report.say(path, "needless", f"[server] {name} is said by {server.members[name][1]}, which wins")
        return
    server.members.setdefault(name, (value, path))
    report.say(path, fate, f"[server] {name}{more}")


def _seconds(name: str, fate: Fate = "becomes", more: str = "") -> _Reader:
    def read(value: object, path: str, server: Server, report: Report) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 10**9:
            report.say(path, "missing", "no number of seconds")
        else:
            _set(server, name, repr(value), path, report, fate=fate, more=more)

    return read


def _drop_params(value: object, path: str, server: Server, report: Report) -> None:
    if value is True:
        report.say(path, "needless", "what a target does not know is let go and told in x-interlingua-changes")
    elif value is False:
        _set(server, "strict", "true", path, report, fate="nearly", more=": refuses what would be approximated, too")
    else:
        report.say(path, "missing", "neither true nor false")


def _json_logs(value: object, path: str, server: Server, report: Report) -> None:
    if value is True:
        _set(server, "log", '"json"', path, report)
    else:
        report.say(path, "needless", "no log unless [server] log says so")


def _callbacks(value: object, path: str, server: Server, report: Report) -> None:
    named = cast("list[object]", value) if isinstance(value, list) else [value]
    for index, name in enumerate(named):
        place = f"{path}[{index}]" if isinstance(value, list) else path
        if name == "prometheus":
            _set(
                server,
                "metrics",
                '"keys"',
                place,
                report,
                fate="nearly",
                more=': /metrics for who has a key; "open" for anybody',
            )
        elif name == "otel":
            _set(server, "otel", "true", place, report)
        else:
            report.say(place, "missing", _SPANS)


def _master_key(value: object, path: str, server: Server, report: Report) -> None:
    del server  # a key stands in the file as a digest alone, and that of a short key could be guessed
    named = variable_in(value)
    name = named or "LITELLM_MASTER_KEY"
    report.flags += ["--key-env", name]
    report.variables.setdefault(name, "the key of your clients" + ("" if named else f", which stands in {path}"))
    report.say(path, "becomes" if named else "secret", f"{'' if named else 'not copied; '}il serve --key-env {name}")


def _body(value: object, path: str, server: Server, report: Report) -> None:
    number = count_of(value)
    if number is None or number > 10_000:
        report.say(path, "missing", "no whole number of megabytes")
    else:
        _set(server, "max_body_bytes", str(number * 1024 * 1024), path, report)


def _parallel(value: object, path: str, server: Server, report: Report) -> None:
    number = count_of(value)
    if number is None:
        report.say(path, "missing", "no whole number from 1 on")
    else:
        server.everywhere.setdefault("concurrency", number)
        report.say(path, "becomes", "concurrency of every target that says nothing of it")


def _redis(value: object, path: str, server: Server, report: Report) -> None:
    del value, server
    report.variables.setdefault(
        "INTERLINGUA_STATE",
        "redis://host:port/db, where replicas share what they know; a password stands before the host",
    )
    report.say(path, "becomes", "a part of INTERLINGUA_STATE, which is to be set")


_Reader: TypeAlias = "Callable[[object, str, Server, Report], None]"
_READERS: dict[str, _Reader] = {
    "router_settings.timeout": _seconds("timeout_s"),
    "router_settings.stream_timeout": _seconds(
        "first_byte_s", "nearly", ": the time to the first byte, also of whole answers"
    ),
    "router_settings.default_max_parallel_requests": _parallel,
    "router_settings.redis_host": _redis,
    "router_settings.redis_port": _redis,
    "router_settings.redis_password": _redis,
    "router_settings.redis_url": _redis,
    "router_settings.redis_db": _redis,
    "litellm_settings.request_timeout": _seconds("timeout_s"),
    "litellm_settings.drop_params": _drop_params,
    "litellm_settings.json_logs": _json_logs,
    "litellm_settings.callbacks": _callbacks,
    "litellm_settings.success_callback": _callbacks,
    "litellm_settings.failure_callback": _callbacks,
    "litellm_settings.service_callbacks": _callbacks,
    "general_settings.master_key": _master_key,
    "general_settings.max_request_size_mb": _body,
    "general_settings.max_parallel_requests": _parallel,
}
