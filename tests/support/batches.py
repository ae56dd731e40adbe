"""Imitated services with batches, and models that reach them on the loopback."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

from interlingua.testing.upstream import BatchPlan, Upstream
from interlingua.testing.upstream.answers.say import Answer
from interlingua.testing.upstream.batches.desk import Desk
from interlingua.testing.upstream.verdict import Asked

__all__ = ["PRICE", "SERVICES", "Service", "live_calls", "numbered", "serving"]

PRICE = "price_in=2&price_out=8"
"""The price that every imitated target is configured with, in US dollars for a million tokens."""


class Service(NamedTuple):
    """One imitated service."""

    dialect: str
    """The dialect that it speaks."""
    dsn: str
    """The DSN of a target, with `{host}` for its host and port."""
    jobs: bool = False
    """Whether it has Mistral's jobs."""


SERVICES = {
    "openai-chat": Service("openai-chat", "openai://tok-12345678@{host}/v1?tls=0&batches=vendor&" + PRICE),
    "openai-responses": Service(
        "openai-responses", "openai-responses://tok-12345678@{host}/v1?tls=0&batches=vendor&" + PRICE
    ),
    "anthropic": Service("anthropic", "anthropic://tok-12345678@{host}/v1?tls=0&batches=vendor&" + PRICE),
    "google": Service("google", "google://tok-12345678@{host}/v1beta?tls=0&" + PRICE),
    "mistral": Service("openai-chat", "openai://tok-12345678@{host}/v1?tls=0&batches=jobs&" + PRICE, jobs=True),
}
"""Every service with batches, by its name in tests."""


def numbered(asked: Asked) -> str:
    """The answer to `square of N`: a JSON object with N and its square."""
    number = int(re.findall(r"square of (\d+)", json.dumps(asked.body))[-1])
    return json.dumps({"of": number, "is_": number * number})


@contextmanager
def serving(
    name: str, plan: BatchPlan, *answers: Answer | str, key: str | None = None
) -> Generator[tuple[Upstream, str, Desk]]:
    """An imitated service, the DSN of a target of it, and its batches."""
    service = SERVICES[name]
    plan.jobs = service.jobs
    plan.answer = plan.answer or numbered
    upstream = Upstream(service.dialect, *answers, key=key, batches=plan)
    with upstream.serving() as base_url:
        assert upstream.desk is not None
        yield upstream, service.dsn.format(host=base_url.removeprefix("http://")), upstream.desk


def live_calls(upstream: Upstream) -> list[Any]:
    """The live calls that a service got, by their paths."""
    paths = [request.url.partition("?")[0] for request in upstream.requests]
    return [
        path for path in paths if path.endswith(("/chat/completions", "/responses", "/messages", ":generateContent"))
    ]
