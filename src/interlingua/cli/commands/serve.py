"""`il serve`: the gateway on a port, from the environment alone, from flags, or from the TOML file."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, get_args

from interlingua.cli.drilling import PACE_S, fault_argument
from interlingua.cli.numbers import COUNT, PORT
from interlingua.cli.terminal import note
from interlingua.errors import ConfigError, UsageError

if TYPE_CHECKING:
    import socket
    from argparse import ArgumentParser, Namespace
    from collections.abc import Generator

    from interlingua.gateway.config import ServerConfig
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.serving.reload import Reload, Stamp
    from interlingua.gateway.settings import GatewaySettings
    from interlingua.registry.config import Config

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
Clients of OpenAI (Chat and Responses), Anthropic, Google and Ollama reach every provider through it: a model is named
provider/model, by an alias, or as a chain. Without a key it serves this machine alone.

examples:
  il serve
  il serve -m openai/gpt-5.6              the model behind names that are not configured
  il serve --config gateway.toml          providers, aliases, limits, keys
  il serve --host 0.0.0.0 --key-env GATEWAY_KEY
  il serve --fault 'anthropic/*=429'      a failover drill
  il serve --log text --store log.db      a line for each request; `il logs --store log.db` reads them
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    from argparse import SUPPRESS

    from interlingua.types.capability import Capability

    parser.add_argument("--host", metavar="ADDRESS", help="listen on this address (default: 127.0.0.1)")
    parser.add_argument(
        "--port", type=PORT, metavar="N", help="listen on this port; 0 takes a free one (default: 8787)"
    )
    parser.add_argument("--workers", type=COUNT, metavar="N", help="number of worker processes (default: 1)")
    parser.add_argument("--worker", type=int, nargs=2, help=SUPPRESS)
    parser.add_argument("--room", help=SUPPRESS)
    parser.add_argument("--config", metavar="FILE", help="a TOML file with providers, aliases, limits, keys, settings")
    parser.add_argument("-m", "--model", metavar="SPEC", help="the model for names that are not configured")
    parser.add_argument("--key", metavar="KEY", help="require this API key from clients; --key-env hides it from `ps`")
    parser.add_argument("--keys", metavar="FILE", help="the key database (default: the one of `il keys`)")
    parser.add_argument("--key-env", metavar="NAME", help="the environment variable that holds the key")
    parser.add_argument("--strict", action="store_true", help="fail instead of dropping or approximating anything")
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        choices=get_args(Capability),
        help="drop this where a target cannot take it; may be repeated",
    )
    parser.add_argument("--no-console", action="store_true", help="disable the console at /")
    parser.add_argument(
        "--console-content", action="store_true", help="show prompts and answers in the console while it is open"
    )
    parser.add_argument(
        "--allow-fetch",
        action="store_true",
        help="fetch images that requests name by URL, guarded against internal addresses",
    )
    parser.add_argument("--log", choices=("json", "text", "off"), help="request log on stderr")
    parser.add_argument("--log-content", action="store_true", help="log prompts and answers, too")
    parser.add_argument(
        "--metrics", choices=("off", "keys", "open"), help="Prometheus metrics at /metrics: off, for keys, or open"
    )
    parser.add_argument("--store", metavar="FILE", help="keep requests in a SQLite file, for `il logs`")
    parser.add_argument("--record", metavar="DIR", help="write a cassette of each request, for `il replay`")
    parser.add_argument("--otel", action="store_true", help="send OpenTelemetry spans (configured by OTEL_… variables)")
    parser.add_argument(
        "--state",
        metavar="PLACE",
        help="share health through file or file:PATH, or all state through redis://… or postgresql://…"
        " (or INTERLINGUA_STATE)",
    )
    fault_argument(parser)


def run(options: Namespace) -> int:
    """Serve until a signal or Ctrl-C."""
    from interlingua.gateway.serving.sighup import holding_sighup

    with holding_sighup():  # before anything that takes a while
        return _served(options)


def _served(options: Namespace) -> int:
    from interlingua.cli.welcome import welcome
    from interlingua.gateway.core import Gateway
    from interlingua.gateway.serving.itself import leave_out_itself
    from interlingua.gateway.serving.reload import stamp_of
    from interlingua.gateway.serving.serve import (
        check_address,
        hearing_sighup,
        make_room,
        serve_until_stopped,
    )
    from interlingua.gateway.state.sharing import check_workers, share
    from interlingua.registry.resolve import default_registry

    since = stamp_of(options.config) if options.config else None
    settings, server = _settings(options)
    host = options.host or server.host or "127.0.0.1"
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]  # an address of IPv6 has brackets in a URL alone
    is_worker = options.worker is not None
    workers = 1 if is_worker else options.workers or server.workers or 1
    if options.model:
        # Every name that nothing defines stands for this spec.
        default_registry().resolve(options.model)
        default_registry().register_alias("*", options.model)
    with ExitStack() as stack:
        _surround(options, stack)
        make_room()
        gateway = Gateway(settings)
        with _closed_if_refused(gateway):
            share(gateway)
            check_address(host, has_keys=bool(gateway.guard.keys) or settings.is_open)
            if workers > 1 or is_worker:
                check_workers(gateway, settings, gateway.registry.limits)
            listener = stack.enter_context(_listener(options, host, server.port))
            leave_out_itself(gateway, *listener.getsockname()[:2])
        reload = _reload(gateway, options, host, since)
        stack.enter_context(hearing_sighup(reload))
        if not is_worker:
            welcome(gateway, host, listener.getsockname()[1], options, workers)
        if workers > 1:
            return _supervise(gateway, listener, workers)
        if options.room:
            from pathlib import Path

            from interlingua.gateway.serving.registration import join

            stack.enter_context(join(gateway, Path(options.room)))
        serve_until_stopped(gateway, listener, reload, supervisor=options.worker[1] if is_worker else None)
    if not is_worker:
        note("stopped", faint=True)
    return 0


@contextmanager
def _closed_if_refused(gateway: Gateway) -> Generator[None]:
    """Close everything that it has open where it cannot serve after all."""
    import asyncio

    try:
        yield
    except BaseException:
        asyncio.run(gateway.close())
        raise


def _surround(options: Namespace, stack: ExitStack) -> None:
    """Have calls meet the faults of a drill, and state shared where the options say."""
    if options.fault:
        from interlingua.client.faults import faults
        from interlingua.transport.fault import parse_options

        stack.enter_context(faults(parse_options(options.fault), pace_s=PACE_S))
    from interlingua.client.state import check_state, use_state

    if options.state:
        use_state(options.state)
    check_state()


def _listener(options: Namespace, host: str, port: int | None) -> socket.socket:
    """The socket that was given, or a new one."""
    import socket

    from interlingua.gateway.serving.serve import DEFAULT_PORT, listen

    if options.worker is not None:
        return socket.socket(fileno=options.worker[0])
    return listen(host, options.port if options.port is not None else port if port is not None else DEFAULT_PORT)


def _supervise(gateway: Gateway, listener: socket.socket, workers: int) -> int:
    """Keep several processes running on the socket until a signal comes.

    Raises: UsageError where the system has no such thing.
    """
    import asyncio
    import os
    import sys
    from tempfile import TemporaryDirectory

    from interlingua.gateway.serving.draining import CUT_S
    from interlingua.gateway.serving.workers import Supervisor, worker_command

    if os.name != "posix":
        raise UsageError("several workers need a system that hands sockets on: Linux, macOS or another Unix")
    settings = gateway.settings
    asyncio.run(gateway.close())  # each worker has a gateway of its own
    stop_s = settings.notice_s + settings.drain_s + 2 * CUT_S
    with TemporaryDirectory(prefix="interlingua-", ignore_cleanup_errors=True) as room:
        command = [*worker_command(sys.argv[1:], listener), "--room", room]
        code = Supervisor(command, listener, workers, notice_s=settings.notice_s, stop_s=stop_s, tell=note).run()
    note("stopped", faint=True)
    return code


def _reload(gateway: Gateway, options: Namespace, host: str, since: Stamp) -> Reload | None:
    """The reload that keeps the gateway as its file says, under the flags; None without a file."""
    from interlingua.gateway.serving.reload import Reload
    from interlingua.gateway.serving.serve import check_address
    from interlingua.gateway.state.sharing import check_workers

    def merge(settings: GatewaySettings, config: Config) -> GatewaySettings:
        settings = _merged(options, settings)
        check_address(host, has_keys=bool(settings.keys) or bool(settings.key_file) or settings.is_open)
        if options.worker is not None:
            check_workers(gateway, settings, config.limits)
        return settings

    return Reload(gateway, options.config, since=since, merge=merge, tell=note) if options.config else None


def _settings(options: Namespace) -> tuple[GatewaySettings, ServerConfig]:
    """The settings of the file, with what the flags say in their places, and what else it says."""
    from interlingua.gateway.config import ServerConfig, read_server_config
    from interlingua.gateway.settings import GatewaySettings

    server = ServerConfig(GatewaySettings(), None, None)
    if options.config:
        from interlingua.client.setup import load_config

        server = read_server_config(options.config)
        problems = load_config(options.config).problems
        for problem in problems if options.worker is None else ():
            note(problem)
    settings = _merged(options, server.settings)
    if settings.observing.otel:
        from interlingua.gateway.records.spans import export_by_environment

        export_by_environment()
    return settings, server


def _merged(options: Namespace, settings: GatewaySettings) -> GatewaySettings:
    """The settings of a file, with what the flags say in their places."""
    import os

    import msgspec

    from interlingua.gateway.keys.auth import hash_key
    from interlingua.gateway.settings import GatewayKey

    secrets = [options.key] if options.key else []
    if options.key_env:
        key = os.environ.get(options.key_env, "").strip()
        if not key:
            raise UsageError(f"--key-env {options.key_env}: that variable is empty or not set")
        secrets.append(key)
    keys = [GatewayKey(name=f"key-{number}", hash=hash_key(key)) for number, key in enumerate(secrets, 1)]
    observers = {name: getattr(options, name) for name in ("log", "log_content", "metrics", "store", "record", "otel")}
    observers = {name: value for name, value in observers.items() if value}
    changes = {
        "keys": (*settings.keys, *keys),
        "key_file": options.keys or settings.key_file,
        "strict": settings.strict or options.strict,
        "allow": settings.allow | frozenset(options.allow),
        "allow_fetch": settings.allow_fetch or options.allow_fetch,
        "observing": msgspec.structs.replace(settings.observing, **observers),
        "console": False if options.no_console else settings.console,
        "console_content": settings.console_content or options.console_content,
    }
    return _with_database(msgspec.structs.replace(settings, **changes))


def _with_database(settings: GatewaySettings) -> GatewaySettings:
    """The settings with the database at its usual place: where there is one, and where limits need one."""
    import msgspec

    from interlingua.gateway.keys.database import default_file
    from interlingua.gateway.keys.terms import NO_TERMS

    if settings.key_file:
        return settings
    needs_one = any(key.terms != NO_TERMS for key in settings.keys) or bool(settings.teams)
    if not needs_one:
        try:
            needs_one = default_file().exists()
        except ConfigError:  # a user without a home, as in a container, cannot have kept any there
            return settings
    return msgspec.structs.replace(settings, key_file=str(default_file())) if needs_one else settings
