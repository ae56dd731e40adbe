"""`il launch`: a coding agent on any model, behind a gateway that lives as long as it does."""

from __future__ import annotations

import os
import shutil
import signal
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from interlingua.cli.agents import AGENTS, Place, environment, flags, shell_lines, written
from interlingua.cli.terminal import note, write
from interlingua.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Generator
    from types import FrameType

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = """\
Arguments after `--` go to the agent. Your files are not changed: the agent is configured by variables and flags of its
own process.

examples:
  il launch claude -m openai/gpt-5.6
  il launch claude -m openai/gpt-5.6 --small local/coder -- -p "fix the tests"
  il launch codex -m anthropic/claude-opus-5,openai/gpt-5.6       a chain: the second is the fallback
  il launch gemini -m anthropic/claude-opus-5 --print-env         prints the settings for a running `il serve`
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("agent", choices=AGENTS, help=f"which one: {', '.join(AGENTS)}", metavar="AGENT")
    parser.add_argument("-m", "--model", metavar="SPEC", help="the model for its work (default: INTERLINGUA_MODEL)")
    parser.add_argument("--small", metavar="SPEC", help="the model for titles and the like (default: the same)")
    parser.add_argument("--config", metavar="FILE", help="a TOML file with providers, aliases and limits")
    parser.add_argument("--print-env", action="store_true", help="print the agent's settings and start nothing")
    parser.add_argument("-q", "--quiet", action="store_true", help="print no summary at the end")
    parser.add_argument("prompt", nargs="*", default=[], metavar="-- ARGUMENTS", help="the agent's own arguments")


def run(options: Namespace) -> int:
    """Run the agent; its exit code."""
    names = _named(options)
    name: str = options.agent
    arguments: list[str] = options.prompt
    agent = AGENTS[name]
    if options.print_env:
        from interlingua.gateway.serving.serve import DEFAULT_PORT

        place = Place(f"http://127.0.0.1:{DEFAULT_PORT}", "any", names.model, names.small)
        write("\n".join(shell_lines(agent, name, place, arguments)) + "\n")
        note(f"these settings need a running gateway: il serve -m {names.spec}")
        return 0
    program = shutil.which(name)
    if program is None:
        raise UsageError(f"{agent.title} is not installed: npm install -g {agent.package} (its program is `{name}`)")
    _want_keys(names.spec)
    with ExitStack() as stack:
        tally = stack.enter_context(_heard(quiet=options.quiet))
        url, key = stack.enter_context(_gateway())
        place = Place(url, key, names.model, names.small)
        papers = stack.enter_context(written(agent, place))
        command = [program, *flags(agent, place, papers), *arguments]
        code = _attended(command, environment(agent, place, os.environ, papers))
    for line in tally:
        note(line)
    return code


class _Names(NamedTuple):
    spec: str
    """The model that does the work."""
    model: str
    """The agent's name for it."""
    small: str
    """The agent's name for the small one."""


def _named(options: Namespace) -> _Names:
    """The models by the names that the agent is told.

    Raises: UsageError and its kinds for a spec that names nothing.
    """
    from interlingua.client.setup import load_config
    from interlingua.registry.resolve import default_registry

    if options.config:
        for problem in load_config(options.config).problems:
            note(problem)
    spec = options.model or os.environ.get("INTERLINGUA_MODEL", "")
    if not spec:
        raise UsageError("launch: no model; name one with -m, or set INTERLINGUA_MODEL")
    registry = default_registry()
    small = options.small or spec
    for word in (spec, small):
        registry.resolve(word)
    registry.register_alias("*", spec)  # an agent's own names of models
    for name in AGENTS[options.agent].small_names:
        registry.register_alias(name, small)
    return _Names(spec, _name_of(spec, "main"), _name_of(small, "small"))


def _want_keys(spec: str) -> None:
    """Nothing, where one target of a spec has its key: an agent would only show that every answer is an error.

    Raises: ConfigError, with what to set.
    """
    from interlingua.dialects._contract import Encoded
    from interlingua.registry.resolve import default_registry
    from interlingua.transport.override import answers_alone

    missing: list[ConfigError] = []
    for endpoint in default_registry().resolve(spec):
        try:
            endpoint.http_request(Encoded(path="/", body=b""), with_credential=not answers_alone())
        except ConfigError as error:
            missing.append(error)
        else:
            return
    raise missing[0]


def _name_of(spec: str, name: str) -> str:
    """The name of a spec: itself, or for a chain, which no agent takes for a name, an alias."""
    from interlingua.registry.resolve import default_registry

    if "," not in spec:
        return spec
    default_registry().register_alias(name, spec)
    return name


@contextmanager
def _heard(*, quiet: bool) -> Generator[list[str]]:
    """Lines that say at the end what passed through."""
    lines: list[str] = []
    if quiet:
        yield lines
        return
    from interlingua.cli.tally import Tally
    from interlingua.client.observe import on_event

    tally = Tally()
    observation = on_event(tally.hear)
    try:
        yield lines
    finally:
        observation.close()
    lines.extend(tally.lines())


@contextmanager
def _gateway() -> Generator[tuple[str, str]]:
    """Address and key of a gateway on a free port, for as long as the block runs."""
    from secrets import token_urlsafe
    from threading import Thread

    from interlingua.gateway.core import Gateway
    from interlingua.gateway.keys.auth import hash_key
    from interlingua.gateway.serving.serve import listen
    from interlingua.gateway.serving.server import GatewayServer
    from interlingua.gateway.settings import GatewayKey, GatewaySettings

    key = f"il-{token_urlsafe(24)}"
    keys = (GatewayKey(name="launch", hash=hash_key(key)),)
    drain_s = 1.0  # who would read the rest is gone
    server = GatewayServer(Gateway(GatewaySettings(keys=keys, allow=frozenset({"server_tools"}), drain_s=drain_s)))
    with listen("127.0.0.1", 0) as listener:
        thread = Thread(target=server.run, args=(listener,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", key
        finally:
            server.stop()
            thread.join(5)


def _attended(command: list[str], variables: dict[str, str]) -> int:
    """The exit code of a program that has the terminal; signals are its own, a shell's code for one that ended it."""
    from subprocess import Popen

    try:
        child = Popen(command, env=variables)  # noqa: S603 - the user's program and arguments, and no shell between
    except OSError as error:
        raise UsageError(f"{command[0]} cannot be started: {error.strerror or error}") from None
    with child, _passing_on(child.send_signal):
        code = child.wait()
    return code if code >= 0 else 128 - code


_ENDING = tuple([getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)])


def _left_to_it(number: int, frame: FrameType | None) -> None:
    """Nothing: unlike a signal that is ignored, one with a handler is as ever in the program that we start."""


@contextmanager
def _passing_on(send: Callable[[int], None]) -> Generator[None]:
    """Signals to us are for the program; the terminal tells it of Ctrl-C itself."""

    def pass_on(number: int, _: FrameType | None) -> None:
        send(number)

    heard = [number for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN]  # as `nohup` leaves it
    before = {number: signal.signal(number, pass_on) for number in heard}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, _left_to_it)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
