"""Losses in an error: its class, its words, when to come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from interlingua import errors
from sabotage.requests import Spoil

__all__ = ["ERRORS"]


def _told(error: errors.Error, kind: type[errors.Error] | None = None, **changed: Any) -> errors.Error:
    facts = {
        "retry_after_s": error.retry_after_s,
        "status": error.status,
        "code": error.code,
        "request_id": error.request_id,
        **changed,
    }
    message = facts.pop("message", error.message)
    return (kind or type(error))(message, retryable=error.retryable, **facts)


def _as(kind: type[errors.Error], status: int) -> Spoil:
    def spoil(error: Any) -> Any:
        return error if type(error) is kind else _told(error, kind, status=status, code=None)

    return spoil


def _message(change: Callable[[str], str]) -> Spoil:
    def spoil(error: Any) -> Any:
        changed = change(error.message)
        return error if changed == error.message else _told(error, message=changed)

    return spoil


def _catalogue() -> Iterator[tuple[str, Spoil]]:
    yield "every error sent as a bad request", _as(errors.BadRequestError, 400)
    yield "every error sent as the server's", _as(errors.InternalServerError, 500)
    yield "message lost", _message(lambda _: "Something went wrong.")
    yield "second half of the message lost", _message(lambda text: text[: len(text) // 2])
    yield "time to come back lost", lambda one: one if one.retry_after_s is None else _told(one, retry_after_s=None)
    yield "time to come back doubled", _doubled


def _doubled(error: Any) -> Any:
    return error if error.retry_after_s is None else _told(error, retry_after_s=error.retry_after_s * 2)


ERRORS: dict[str, Spoil] = dict(_catalogue())
"""Every loss, by name."""
