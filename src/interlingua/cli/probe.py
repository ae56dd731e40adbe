"""`il doctor --probe`: every configured target is asked for one token."""

from __future__ import annotations

import os
import time
import warnings
from typing import TYPE_CHECKING

from interlingua.cli.checkup import MODEL_VARIABLE, Finding
from interlingua.client.call.report import ChangeWarning
from interlingua.client.model import model
from interlingua.errors import Error
from interlingua.registry.resolve import default_registry

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["probes"]


def probes(spec: str | None, timeout_s: float) -> Iterator[Finding]:
    """Whether each target answers: those of `spec`, else of `INTERLINGUA_MODEL` and of every alias."""
    probed: set[str] = set()
    specs = [spec] if spec else [os.environ.get(MODEL_VARIABLE, ""), *default_registry().aliases().values()]
    for text in filter(None, specs):
        try:
            targets = [endpoint.spec for endpoint in default_registry().resolve(text)]
        except Error as error:
            yield Finding(False, f"{text}: {error.message}")
            continue
        for target in targets:
            if target not in probed:
                probed.add(target)
                yield _probe(target, timeout_s)
    if not probed:
        yield Finding(None, "no target is configured; -m names one")


def _probe(target: str, timeout_s: float) -> Finding:
    started_s = time.monotonic()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ChangeWarning)
            model(target).generate("Hi", max_tokens=1, timeout_s=timeout_s)
    except Error as error:
        return Finding(False, f"{target}: {type(error).__name__}: {error.message}")
    return Finding(True, f"{target} answered in {time.monotonic() - started_s:.1f} s")
