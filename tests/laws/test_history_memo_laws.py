"""Law of what is remembered: with it and without it, every conversation is read and written alike, turn by turn."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from interlingua.dialects._contract import DecodedRequest, DecodeOptions, EncodeOptions, Target
from interlingua.dialects._known.bodies import BodyMemo
from interlingua.dialects._known.histories import HistoryMemo
from interlingua.dialects._known.tools import ToolMemo
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import Error
from interlingua.types.request import Request
from interlingua.wire.http import HttpRequest
from tests.support.chat_strategies import chat_requests
from tests.support.google_strategies import google_requests
from tests.support.messages_strategies import messages_requests
from tests.support.ollama_strategies import ollama_requests
from tests.support.responses_strategies import responses_requests
from tests.support.unified_strategies import unified_requests

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

REQUESTS: dict[str, st.SearchStrategy[Request]] = {
    "openai-chat": chat_requests(),
    "openai-responses": responses_requests(),
    "anthropic": messages_requests(),
    "google": google_requests(),
    "ollama": ollama_requests(),
    "unified": unified_requests(),
}
OPTIONS = EncodeOptions(target=Target(model="m"))


def _read_anew(_memo: object, text: Any, changes: Any, decode: Callable[[Any, Any], Any], _further: Any = None) -> Any:
    return decode(text, changes)


@contextmanager
def forgetful() -> Generator[None]:
    """Nothing is remembered: what is read is read anew, and so is no known value that could be written again."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(HistoryMemo, "read", _read_anew))
        stack.enter_context(mock.patch.object(BodyMemo, "find", return_value=None))
        yield


def read(name: str, http: HttpRequest) -> DecodedRequest | str:
    """What a body is, or the error that it is."""
    try:
        return get_dialect(name).decode_request(http, DecodeOptions())
    except Error as error:
        return repr(error)


def written(name: str, request: Request) -> object:
    """Everything that comes of writing a request in a dialect."""
    try:
        encoded = get_dialect(name).encode_request(request, OPTIONS)
    except Error as error:
        return repr(error)
    return encoded.path, encoded.body, encoded.headers, encoded.changes, encoded.undo


def turns(name: str, request: Request) -> list[HttpRequest]:
    """The bodies of a conversation as it grows; a beginning that cannot be said is passed over."""
    bodies: list[HttpRequest] = []
    for length in range(1, len(request.messages) + 1):
        try:
            encoded = get_dialect(name).encode_request(replace(request, messages=request.messages[:length]), OPTIONS)
        except Error:
            continue
        bodies.append(HttpRequest(url=f"http://test/v1{encoded.path}", body=encoded.body))
    return bodies


@pytest.mark.parametrize("name", REQUESTS)
@given(data=st.data())
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_remembered_changes_nothing(name: str, data: st.DataObject) -> None:
    """Each turn, sent twice and then gone on, gives the same request, and the same bytes in every dialect."""
    for http in turns(name, data.draw(REQUESTS[name])):
        with forgetful():
            anew = read(name, http)
        for known in [read(name, http) for _ in range(4)]:
            assert known == anew
        known = read(name, http)
        if isinstance(known, str) or isinstance(anew, str):
            continue
        other = data.draw(st.sampled_from(sorted(DIALECTS)))
        expected = written(other, anew.request)
        assert [written(other, known.request) for _ in range(3)] == [expected, expected, expected]


@pytest.mark.parametrize("name", REQUESTS)
@given(data=st.data())
@settings(max_examples=4, suppress_health_check=[HealthCheck.too_slow])
def test_every_turn_is_written_as_if_it_were_the_first(name: str, data: st.DataObject) -> None:
    """A conversation that grows in one dialect, sent to one target: each turn is what it is without a memory."""
    other = data.draw(st.sampled_from(sorted(DIALECTS)))
    for http in turns(name, data.draw(REQUESTS[name])):
        with forgetful():
            anew = read(name, http)
        for known in [read(name, http) for _ in range(2)]:
            assert known == anew
            if not isinstance(known, str) and not isinstance(anew, str):
                assert written(other, known.request) == written(other, anew.request)


def test_the_memos_are_those_that_the_dialects_read_with() -> None:
    """Each dialect keeps conversations and tools of its own."""
    for name in REQUESTS:
        server = __import__(f"{DIALECTS[name]}.server", fromlist=["_"])
        assert isinstance(vars(server)["_HISTORIES"], HistoryMemo)
        assert isinstance(vars(server)["_BODIES"], BodyMemo)
    assert isinstance(vars(__import__("interlingua.dialects.google.server", fromlist=["_"]))["_TOOLS"], ToolMemo)
