"""The error tree: texts without credentials, facts that ride along."""

from __future__ import annotations

import pickle
from typing import NamedTuple

import pytest

from interlingua import errors
from interlingua.errors import (
    APITimeoutError,
    DecodeError,
    Error,
    IncompleteStreamError,
    MalformedArgumentsError,
    OutputError,
    RateLimitError,
    RunStoppedError,
    UnsupportedError,
    redact,
)
from interlingua.types.change import Change
from interlingua.types.content import BrokenToolCall
from interlingua.types.message import Message
from interlingua.types.response import Response
from interlingua.types.run import RunRecord


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("GET https://h/v1?key=abc123&alt=sse failed", "GET https://h/v1?key=***&alt=sse failed"),
        ("https://h/?a=1&api_key=abc", "https://h/?a=1&api_key=***"),
        ("authorization: Bearer abcdefgh12345678", "authorization: Bearer ***"),
        ("Basic dXNlcjpwYXNzd29yZA==", "Basic ***"),
        ("Incorrect API key provided: sk-proj-abcdefghijkl1234.", "Incorrect API key provided: ***."),
        ("gsk_abcdefghijklmnop", "***"),
        ("AIzaSyAbcdefghijklmnopqrstuvwxyz01234", "***"),
        ("openai://user:pass@host/v1", "openai://***@host/v1"),
        ("redis://:pass@host/0", "redis://***@host/0"),
        ("use openai://[token@]host", "use openai://[token@]host"),
        ("nothing secret here, key=value", "nothing secret here, key=value"),
    ],
)
def test_sec_05_no_text_of_an_error_holds_a_key(text: str, clean: str) -> None:
    """In a URL query, a header, a vendor's own sentence."""
    assert redact(text) == clean
    assert str(Error(text)) == Error(text).message == clean


def test_sec_05_given_secrets_are_taken_out_wherever_they_stand() -> None:
    """Those of a few letters are left: they would mangle the sentence."""
    assert redact("the hunter2 of hunter2", "hunter2", "the") == "the *** of ***"


class Past(NamedTuple):
    """What a run leaves behind."""

    messages: tuple[Message, ...] = ()
    record: RunRecord = RunRecord(stop_reason="max_steps")


def test_facts_cross_process_borders() -> None:
    """Every fact of every class survives pickling."""
    partial = Response(finish_reason="error")
    made = [
        RateLimitError("a", retry_after_s=2.5, status=429, code="c", request_id="r", retryable=False),
        DecodeError("b", path="/x"),
        APITimeoutError("c", phase="idle"),
        IncompleteStreamError("d", partial=partial),
        UnsupportedError("e", changes=(Change("refused", "tools", "/tools/0"),)),
        MalformedArgumentsError("f", call=BrokenToolCall("a", "f", "{", "malformed"), response=partial),
        OutputError("g", fault="truncated", response=partial),
        RunStoppedError("h", run=Past()),
    ]
    for error in made:
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert again.message == error.message
        assert again.__dict__ == error.__dict__


def test_a_place_is_said_once_from_above() -> None:
    """Where a part was read by itself, its path gets a beginning, and the sentence loses its end."""
    whole = DecodeError("expected `str`, got `int`, at the top")
    assert str(whole.under("/model")) == "/model: expected `str`, got `int`"
    inner = DecodeError("expected `str`, got `int`, at /content", path="/content").under("/messages/0")
    assert (str(inner), inner.path) == ("/messages/0/content: expected `str`, got `int`", "/messages/0/content")
    assert str(inner.under("/body")) == "/body/messages/0/content: expected `str`, got `int`"


def test_the_status_has_the_name_of_the_sdks_too() -> None:
    """Handlers that were written for them ask for it."""
    assert (Error("Slow.", status=429).status_code, Error("Gone.").status_code) == (429, None)


def test_an_error_without_text_has_an_empty_sentence() -> None:
    """Whoever strips its arguments."""
    error = Error("x")
    error.args = ()
    assert error.message == ""


def test_every_class_is_exported_and_under_one_root() -> None:
    """The tree of the docstring is the module."""
    classes = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Error)}
    assert classes == set(errors.__all__) - {"check_text", "kind_of", "reason_of", "redact"}
    assert errors.__doc__ is not None
    assert all(name in errors.__doc__ for name in classes)
