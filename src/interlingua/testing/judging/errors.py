"""The error of an exchange: its class, its message and when to come back, here and in every other dialect."""

from __future__ import annotations

import re
from typing import Any

from interlingua.dialects._contract import DecodeContext, Dialect, ServerContext
from interlingua.errors import Error, redact
from interlingua.testing.judging.trial import Trial, dump, json_reply, load
from interlingua.testing.wirefacts.errors import retry_after, sentence_of, sentences_of
from interlingua.testing.wirefacts.values import Facts
from interlingua.wire.http import HttpReply

__all__ = ["judge_error"]


def judge_error(trial: Trial) -> None:
    """Judge an error answer."""
    with trial.part("e error"):
        exchange = trial.exchange
        status, body = exchange.status or 200, exchange.response
        text = exchange.response_text
        recorded = trial.facts.error(status, text if body is None else body)
        assert recorded is not None
        reply = json_reply(status, dump(body) if text is None else text.encode(), exchange.headers)
        first = _decoded(trial, reply)
        if first is None:
            return
        _classed(trial, first, recorded)
        _own(trial, first, recorded)
        wait = retry_after(exchange.headers, body)
        if first.retry_after_s != wait:
            trial.note("e error retry", f"{wait} != {first.retry_after_s}")
        for other in trial.others:
            _elsewhere(trial, other, first)


def _decoded(trial: Trial, reply: HttpReply) -> Error | None:
    if reply.status >= 400:
        return trial.dialect.decode_error(reply, trial.context())
    try:
        trial.dialect.decode_response(reply, trial.context())
    except Error as error:
        return error
    trial.note("e error", f"an error under {reply.status} was decoded as an answer")
    return None


def _classed(trial: Trial, error: Error, recorded: Facts) -> None:
    if type(error).__name__ != recorded["class"]:
        trial.note("e error class", f"{recorded['class']} != {type(error).__name__}")
    if error.status not in (recorded["status"], None):
        trial.note("e error status", f"{recorded['status']} != {error.status}")
    body = trial.exchange.response
    sentences = sentences_of(trial.exchange.response_text if body is None else body)
    if sentences and not any(_holds(error.message, sentence) for sentence in sentences):
        trial.note("e error message", f"{sentences[0][:120]!r} is not in {error.message[:200]!r}")


def _holds(message: str, sentence: str) -> bool:
    """Whether a message says the sentence, or, where it is long, begins to."""
    return _plain(redact(sentence))[:200] in _plain(message)


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _own(trial: Trial, first: Error, recorded: Facts) -> None:
    reply = trial.dialect.encode_error(first, ServerContext())
    second = trial.dialect.decode_error(reply, trial.context())
    if type(second) is not type(first):
        trial.note("e error again", f"{type(first).__name__} != {type(second).__name__}")
    again = trial.facts.error(reply.status, load(reply.body))
    trial.same("e error facts", {**recorded, "status": _status(trial, recorded, reply.status)}, again)
    _same_words(trial, "e error again", first, second, load(reply.body))


def _status(trial: Trial, recorded: Facts, new_status: int) -> Any:
    """The status to be told: the one that was read, or the service's own that says the same class by itself."""
    alone = trial.facts.error(new_status, None) or {}
    return new_status if recorded["status"] is None or alone["class"] == recorded["class"] else recorded["status"]


def _elsewhere(trial: Trial, other: Dialect, first: Error) -> None:
    part = f"e error in {other.name}"
    with trial.part(part):
        reply = other.encode_error(first, ServerContext())
        there = other.decode_error(reply, DecodeContext())
        if type(there) is not type(first):
            trial.note(part, f"{type(first).__name__} != {type(there).__name__}")
        _same_words(trial, part, first, there, load(reply.body))


def _same_words(trial: Trial, part: str, first: Error, there: Error, body: Any) -> None:
    if not _holds(sentence_of(body), first.message):
        trial.note(part, f"the message: {first.message[:120]!r} != {sentence_of(body)[:120]!r}")
    if first.retry_after_s is not None and there.retry_after_s != first.retry_after_s:
        trial.note(part, f"retry after: {first.retry_after_s} != {there.retry_after_s}")
