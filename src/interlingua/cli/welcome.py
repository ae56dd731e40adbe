"""The greeting of `il serve`: its address, its clients, its features, and the lines for a client.

Rules
- One line for each thing that is on or shared, none for what is off; no key and no password in any of them.
- What may surprise is said: a key that is passed over, a team without limits, what several workers do not share.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from interlingua.cli.terminal import note

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from interlingua.gateway.core import Gateway

__all__ = ["welcome", "what_is_on"]

_INDENT = "    "
_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - read, not bound
"""Where a client of the same machine finds who listens everywhere."""


def welcome(gateway: Gateway, host: str, port: int, options: Namespace, workers: int = 1) -> None:
    """Say it, on stderr."""
    from interlingua.gateway.console.access import is_on
    from interlingua.gateway.surfaces.health import served_names

    keys = [key for key in gateway.guard.keys.keys if key.revoked_s is None]
    no_key = "open: everybody" if gateway.settings.is_open else "no key: this machine only"
    who = f"{len(keys)} key{'s' * (len(keys) != 1)}" if gateway.guard.keys and not gateway.settings.is_open else no_key
    note(f"serving on {_address(host, port)} ({who})")
    ready = ", ".join(sorted(served_names(gateway.registry)))
    aliases = ", ".join(sorted(gateway.registry.aliases()))
    lines = [f"providers: {ready}" if ready else "no provider has a key yet; `il providers` lists the variables"]
    if aliases:
        lines.append(f"aliases: {aliases}")
    for line in [*lines, *what_is_on(gateway, options, workers)]:
        note(line, head=_INDENT)
    at = _address(_EVERY_ADDRESS.get(host, host), port)
    if is_on(gateway.settings):
        note(f"console: {at}/", head=_INDENT)
    note("settings of clients:", head=_INDENT)
    key = f"${options.key_env}" if options.key_env else "YOUR_KEY" if gateway.guard.keys else "any"
    for line in (
        f"export OPENAI_BASE_URL={at}/v1 OPENAI_API_KEY={key}",
        f"export ANTHROPIC_BASE_URL={at} ANTHROPIC_API_KEY={key}",
        f"export GOOGLE_GEMINI_BASE_URL={at} GEMINI_API_KEY={key}",
        f"export OLLAMA_HOST={at}",
    ):
        note(line, head=f"{_INDENT}  ")


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def what_is_on(gateway: Gateway, options: Namespace, workers: int = 1) -> list[str]:
    """A line for each thing that is on, shared, or not as somebody may think."""
    return [*_keys(gateway), *_state(gateway, options, workers), *_observers(gateway), *_manner(gateway, options)]


def _keys(gateway: Gateway) -> Iterator[str]:
    """Where keys are from, who wins, and where what they use is counted."""
    from interlingua.client.state import shared_link

    settings, link = gateway.settings, shared_link()
    working = [key for key in gateway.guard.keys.keys if key.revoked_s is None]
    of_file = len([key for key in working if key in settings.keys])
    if working:
        yield f"keys: {of_file} of the file and flags, {len(working) - of_file} made by `il keys`"
    if gateway.guard.keys.is_unsure:
        yield "keys: the shared store does not answer, so its keys are not known yet"
    for name in gateway.guard.keys.passed_over:
        is_of_file = any(key.name == name for key in settings.keys)
        first = "the file" if is_of_file else "the shared store"
        other = "the shared store or the database" if is_of_file and link is not None else "the database"
        yield f"the key {name} is in {first} and in {other}; {first} wins"
    if working and (link is not None or settings.key_file):
        place = f"{settings.key_file}, for this machine" if link is None else f"{link.address}, for all replicas"
        yield f"limits, budgets and usage of keys: in {place}"
    for name in sorted(set(settings.operators) - {key.name for key in working}):
        yield f"the operator {name} has no key"
    for team in sorted({key.team for key in working if key.team} - settings.teams.keys()):
        yield f"the team {team} has no limits: the file has no [teams.{team}]"


def _state(gateway: Gateway, options: Namespace, workers: int) -> Iterator[str]:
    """The shared state, and its sharers; of things that a single process keeps in memory nothing has to be said."""
    from interlingua.client.state import STATE_VARIABLE, shared_link

    link = shared_link()
    place = options.state or os.environ.get(STATE_VARIABLE) or "memory"
    if link is not None:
        yield f"health and limits of targets, reasoning store, stored responses: in {link.address}, for all replicas"
    elif place.startswith("file"):
        yield f"health of targets: in {place}"
    if gateway.registry.limits:
        yield f"limits towards targets: {', '.join(sorted(gateway.registry.limits))}"
    if workers > 1:
        yield f"{workers} workers"
    if workers > 1 and link is None:
        shared = "limits and budgets of keys" if gateway.settings.key_file else "nothing"
        yield f"shared by them: {shared}; --state redis://… or postgresql://… shares health, reasoning and responses"


def _observers(gateway: Gateway) -> Iterator[str]:
    """The observers of requests."""
    observing = gateway.settings.observing
    content = " with prompts and answers" if observing.log_content else ""
    notes = {
        f"a log in {observing.log}{content}": observing.log != "off",
        f"metrics for {'everybody' if observing.metrics == 'open' else 'clients with a key'}": observing.metrics
        != "off",
        f"requests in {observing.store}, for {observing.store_days:g} days": bool(observing.store),
        "spans by OpenTelemetry": observing.otel,
    }
    lines = [line for line, is_on in notes.items() if is_on]
    if lines:
        yield f"requests are reported to: {'; '.join(lines)}"
    if observing.record:
        yield f"prompts and answers are recorded in {observing.record}"


def _manner(gateway: Gateway, options: Namespace) -> Iterator[str]:
    """Settings of the gateway beyond the usual."""
    from interlingua.gateway.serving.serve import client_room

    settings = gateway.settings
    if client_room() < settings.max_connections:
        yield f"connections: at most {client_room()} at once, because this process may open few files (`ulimit -n`)"
    for name in settings.providers:
        if not _is_known(gateway, name):
            yield f"the provider {name} of [server] providers is unknown, so it gets no requests"
    for variable in gateway.registry.left_out():
        yield f"{variable} is the address of this gateway itself, so it is ignored here"
    if settings.is_open:
        yield "open: no key is needed"
    if settings.strict:
        yield "strict: requests that would lose something are refused"
    if settings.allow:
        yield f"left out if a target cannot take it: {', '.join(sorted(settings.allow))}"
    if settings.allow_fetch:
        yield "image URLs in bodies are downloaded"
    if options.fault:
        yield f"a drill breaks targets on purpose: {', '.join(options.fault)}"


def _is_known(gateway: Gateway, provider: str) -> bool:
    from interlingua.errors import Error

    try:
        gateway.registry.resolve(f"{provider}/*")
    except Error:
        return False
    return True
