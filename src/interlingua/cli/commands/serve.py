"""`il serve`: the gateway on a port, from the environment alone, from flags, or from the TOML file."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, get_args

from interlingua.cli.terminal import note

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from interlingua.gateway.core import Gateway
    from interlingua.gateway.settings import GatewayKey, GatewaySettings

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
Clients of OpenAI (Chat and Responses), Anthropic, Google and Ollama reach every provider through it: a model is named
provider/model, by an alias, or as a chain. Without a key it serves this machine alone.

examples:
  il serve
  il serve -m openai/gpt-5.6              what a client's own names of models stand for, where nothing else is said
  il serve --config gateway.toml          providers, aliases, limits, keys
  il serve --host 0.0.0.0 --key-env GATEWAY_KEY
  il serve --fault 'anthropic/*=429'      a failover drill
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    from interlingua.types.capability import Capability

    parser.add_argument("--host", metavar="ADDRESS", help="where it listens (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, metavar="N", help="on which port; 0 takes a free one (default: 8787)")
    parser.add_argument("--config", metavar="FILE", help="a TOML file with providers, aliases, limits, keys, settings")
    parser.add_argument("-m", "--model", metavar="SPEC", help="what names stand for that nothing else defines")
    parser.add_argument(
        "--key", metavar="KEY", help="a key that clients must bring; --key-env does not show it to `ps`"
    )
    parser.add_argument("--keys", metavar="FILE", help="the database of `il keys` (default: where that keeps it)")
    parser.add_argument("--key-env", metavar="NAME", help="the variable that holds the key")
    parser.add_argument("--strict", action="store_true", help="refuse whatever would be dropped or approximated")
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        choices=get_args(Capability),
        help="what may be let go where a target cannot take it; may be repeated",
    )
    parser.add_argument("--no-console", action="store_true", help="give browsers no console at /")
    parser.add_argument(
        "--console-content", action="store_true", help="let the console show what is asked and answered while one looks"
    )
    parser.add_argument("--allow-fetch", action="store_true", help="fetch images that a body names by address, guarded")
    parser.add_argument(
        "--state",
        metavar="PLACE",
        help="share the health of targets: file, file:PATH or redis://…; INTERLINGUA_STATE does not show it to `ps`",
    )
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="PATTERN=FAULT",
        help="break targets on purpose; may be repeated",
    )


def run(options: Namespace) -> int:
    """Serve until a signal or Ctrl-C."""
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.serve import DEFAULT_PORT, check_address, listen, serve_until_stopped

    settings, host, port = _settings(options)
    host = options.host or host or "127.0.0.1"
    port = options.port if options.port is not None else port if port is not None else DEFAULT_PORT
    if options.model:
        _name_the_rest(options.model)
    with ExitStack() as stack:
        if options.fault:
            from interlingua.cli.drilling import PACE_S
            from interlingua.client.faults import faults
            from interlingua.transport.fault import parse_options

            stack.enter_context(faults(parse_options(options.fault), pace_s=PACE_S))
        if options.state:
            from interlingua.client.state import use_state

            use_state(options.state)
        gateway = Gateway(settings)
        check_address(host, has_keys=bool(gateway.keys) or settings.is_open)
        listener = stack.enter_context(listen(host, port))
        _welcome(gateway, host, listener.getsockname()[1], options)
        serve_until_stopped(gateway, listener)
    note("stopped", faint=True)
    return 0


def _settings(options: Namespace) -> tuple[GatewaySettings, str | None, int | None]:
    """The settings of the file, with what the flags say in their places."""
    import msgspec

    from interlingua.gateway.settings import GatewaySettings

    settings, host, port = GatewaySettings(), None, None
    if options.config:
        from interlingua.client.setup import load_config
        from interlingua.gateway.config import read_server_config

        settings, host, port = read_server_config(options.config)
        for problem in load_config(options.config).problems:
            note(problem)
    said = {
        "keys": (*settings.keys, *_keys(options)),
        "key_file": options.keys or settings.key_file,
        "strict": settings.strict or options.strict,
        "allow": settings.allow | frozenset(options.allow),
        "allow_fetch": settings.allow_fetch or options.allow_fetch,
        "console": False if options.no_console else settings.console,
        "console_content": settings.console_content or options.console_content,
    }
    return _with_database(msgspec.structs.replace(settings, **said)), host, port


def _with_database(settings: GatewaySettings) -> GatewaySettings:
    """The settings with the database at its usual place: where there is one, and where limits need one."""
    import msgspec

    from interlingua.gateway.keys import default_file
    from interlingua.gateway.terms import NO_TERMS

    is_limited = any(key.terms != NO_TERMS for key in settings.keys) or bool(settings.teams)
    if settings.key_file or not (is_limited or default_file().exists()):
        return settings
    return msgspec.structs.replace(settings, key_file=str(default_file()))


def _keys(options: Namespace) -> tuple[GatewayKey, ...]:
    import os

    from interlingua.errors import UsageError
    from interlingua.gateway.auth import hash_key
    from interlingua.gateway.settings import GatewayKey

    given = [options.key] if options.key else []
    if options.key_env:
        key = os.environ.get(options.key_env, "").strip()
        if not key:
            raise UsageError(f"--key-env {options.key_env}: that variable is empty or not set")
        given.append(key)
    return tuple([GatewayKey(name=f"key-{number}", hash=hash_key(key)) for number, key in enumerate(given, 1)])


def _name_the_rest(spec: str) -> None:
    """Have every name that nothing defines stand for `spec`.

    Raises: UsageError and its kinds for a spec that names nothing.
    """
    from interlingua.registry.resolve import default_registry

    default_registry().resolve(spec)
    default_registry().register_alias("*", spec)


def _welcome(gateway: Gateway, host: str, port: int, options: Namespace) -> None:
    """Say where it listens, what it serves, and what to tell a client."""
    at = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    keys = [key for key in gateway.keys.keys if key.revoked_s is None]
    who = f"{len(keys)} key{'s' * (len(keys) != 1)}" if gateway.keys else "no key: this machine only"
    note(f"serving on {at} ({who})")
    for name in gateway.keys.passed_over:
        note(f"the key {name} is in the file and in the database; the file wins", head="    ")
    for line in _served(gateway):
        note(line, head="    ")
    note("tell a client:", head="    ")
    key = f"${options.key_env}" if options.key_env else "YOUR_KEY" if keys else "any"
    for line in (
        f"export OPENAI_BASE_URL={at}/v1 OPENAI_API_KEY={key}",
        f"export ANTHROPIC_BASE_URL={at} ANTHROPIC_API_KEY={key}",
        f"export GOOGLE_GEMINI_BASE_URL={at} GEMINI_API_KEY={key}",
        f"export OLLAMA_HOST={at}",
    ):
        note(line, head="      ")


def _served(gateway: Gateway) -> list[str]:
    """The providers whose keys are there, and the aliases."""
    from interlingua.gateway.wellbeing import served_names

    ready = served_names(gateway)
    aliases = sorted(gateway.registry.aliases())
    lines = [
        f"providers: {', '.join(ready)}" if ready else "no provider has a key yet; `il providers` says what to set"
    ]
    return [*lines, f"aliases: {', '.join(aliases)}"] if aliases else lines
