"""Keys that servers send back: in no sentence of an error, whatever they look like."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import interlingua as il
from interlingua.client.call.secrets import attribute
from interlingua.registry.resolve import default_registry
from interlingua.registry.secret import Secret
from interlingua.wire.http import HttpReply
from tests.support.client import AWAITED, BLOCKING, Face, chunks, scripted, sse
from tests.unit.client.test_observe import KEY, refusal

ECHO = f"the key {KEY} is wrong"


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


@pytest.fixture(autouse=True)
def _work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_WORK", f"openai://{KEY}@gateway.example/v1")
    monkeypatch.setenv("LLM_SPARE", "openai://spare.example/v1")


PAGE = HttpReply(status=200, headers=(("content-type", "text/html"),), body=f"<html>{ECHO}</html>".encode())
IN_STREAM = b'data: {"error":{"message":"' + ECHO.encode() + b'"}}\n\n'


def _caught(face: Face, answer: Any, *, streams: bool, **options: Any) -> il.Error:
    model = face.model("work/x", retries=0, **options)
    with scripted(answer, alone=False), pytest.raises(il.Error) as caught:
        face.finish(model.stream("Hi")) if streams else face.generate(model)
    return caught.value


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
@pytest.mark.parametrize("streams", [False, True])
def test_sec_05_a_key_that_comes_back_is_cut_out(face: Face, status: int, streams: bool) -> None:
    """An error of any status, of a whole answer and of a stream: sentence and attempts are without the key."""
    error = _caught(face, refusal(status, ECHO), streams=streams)
    assert (error.message, [attempt.error for attempt in error.attempts]) == (
        "the key *** is wrong", [f"{type(error).__name__}: the key *** is wrong"],
    )  # fmt: skip
    assert KEY not in f"{error}{error!r}{error.args}"


def test_sec_05_a_key_in_the_id_of_a_request(face: Face) -> None:
    """A server that repeats it there does not reach a log with it, nor the header of a gateway's client."""
    reply = msgspec.structs.replace(refusal(401, ECHO), headers=(("x-request-id", f"req-{KEY}"),))
    assert _caught(face, reply, streams=False).request_id == "req-***"


def test_sec_05_a_key_in_a_web_page(face: Face) -> None:
    """The beginning of a page that is shown is without the key."""
    error = _caught(face, PAGE, streams=True)
    assert "the key *** is wrong" in error.message


def test_sec_05_a_key_in_the_middle_of_a_stream(face: Face) -> None:
    """An error that comes after content is cleaned, too."""
    error = _caught(face, sse(*chunks("a", done=False), IN_STREAM), streams=True)
    assert (error.message, KEY in repr(error)) == ("the key *** is wrong", False)


def test_sec_05_keys_in_headers_of_the_callers(face: Face) -> None:
    """A credential that the caller sends in a header of a telling name is cut out, other headers are not."""
    headers = {
        "authorization": "Bearer planted-0123456789",
        "X-Team-Token": "planted-9876543210",
        "x-tenant": "tenant-0123456789",
    }
    answer = refusal(401, "no user tenant-0123456789, no planted-0123456789, no planted-9876543210")
    error = _caught(face, answer, streams=False, headers=headers)
    assert error.message == "no user tenant-0123456789, no ***, no ***"


def test_sec_05_a_chain_does_not_tell_it_either(face: Face) -> None:
    """The sentence that sums up all tries, and what it came from."""
    with scripted(refusal(401, ECHO), refusal(500, "busy"), alone=False), pytest.raises(il.Error) as caught:
        face.generate(face.model("work/x,spare/y", retries=0))
    told = f"{caught.value}{caught.value.attempts}{caught.value.__cause__!r}{caught.value.__cause__}"
    assert KEY not in told


def test_a_key_function_that_fails_is_no_other_error() -> None:
    """The key is asked for again to be cut out; what its function raises then changes nothing."""

    def broken() -> str:
        raise ValueError("no key any more")

    (known,) = default_registry().resolve("work/x")
    error = il.AuthenticationError("no such user")
    attribute(error, msgspec.structs.replace(known, credential=Secret.of_key(broken)), ())
    assert error.message == "no such user"
