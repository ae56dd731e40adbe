"""What one client's bodies cost the others: `il serve` answers liveness while it reads the worst that it takes.

How long is too long is told by the machine: the bound is a quarter of a second where a fixed piece of work takes what
it takes on an idle one, and grows with that work where others use the machine. The fault that it stands against,
reading on the event loop, takes 1 to 29 seconds for these bodies there.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Generator
from random import Random

import pytest

from fuzz.shapes import SHAPES
from interlingua.wire.json import MAX_BODY_BYTES
from tests.support.gateway import provider
from tests.support.heavy import ANSWER, Served, alive, plain_upstream, served

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")

ALIVE_S = 0.25
"""How long an answer of liveness may take on an idle machine."""
WORK_S = 0.12
"""How long `_work` takes there."""
LARGE_BYTES = MAX_BODY_BYTES - 1_000_000
MEDIUM_BYTES = 12_000_000
CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"


@pytest.fixture(scope="module")
def gateway() -> Generator[Served]:
    """A gateway that translates Chat to Messages, and passes Messages on."""
    with (
        plain_upstream() as at,
        served(LLM_UP=provider("anthropic", f"{at}/v1"), LLM_SMART="up/claude-opus-4-5", INTERLINGUA_LOG="off") as made,
    ):
        assert made.post(CHAT, b'{"model":"smart","messages":[{"role":"user","content":"Hi"}]}')[0] == 200
        yield made


def _work() -> float:
    """How long a fixed piece of work takes now: steps of Python, and memory that is copied."""
    began_s = time.monotonic()
    sum(number * number for number in range(600_000))
    for _ in range(4):
        bytes(bytearray(20_000_000))
    return time.monotonic() - began_s


def _body(shape: str, path: str, size: int) -> bytes:
    name = "anthropic" if path == MESSAGES else "openai-chat"
    return SHAPES[shape](name, size, Random(3)).replace(b'"m"', b'"smart"', 1)


def _asked(gateway: Served, path: str, body: bytes, statuses: set[int], **headers: str) -> None:
    """Asks with a body, and holds liveness to its bound meanwhile; a busy machine gets further chances."""
    longest_s = bound_s = 0.0
    for _ in range(6):
        work_s = _work()
        with alive(gateway.port) as watch:
            status, _ = gateway.post(path, body, **headers)
        bound_s = ALIVE_S * max(1.0, work_s / WORK_S, _work() / WORK_S)
        assert status in statuses
        assert watch.times_s
        longest_s = watch.longest_s
        if longest_s <= bound_s:
            return
    pytest.fail(f"liveness took {longest_s:.2f} s, of {bound_s:.2f} s that it may take here now")


@pytest.mark.parametrize("path", [CHAT, MESSAGES])
def test_dos_03_liveness_answers_while_the_loop_reads_slow_numbers(gateway: Served, path: str) -> None:
    """Half a megabyte of `1e308` is no costly body, and took 13 s."""
    numbers = b",".join([b"1e308"] * 90_000)
    turns = b'"max_tokens":5,"messages":[{"role":"user","content":"Hi"}]'
    _asked(gateway, path, b'{"model":"smart",%b,"metadata":{"a":[%b]}}' % (turns, numbers), {200})


@pytest.mark.parametrize("path", [CHAT, MESSAGES])
@pytest.mark.parametrize(
    "shape", ["long text", "escapes", "halves of surrogates", "long numbers", "many messages", "deep objects"]
)
def test_dos_03_liveness_answers_while_a_large_body_is_read(gateway: Served, shape: str, path: str) -> None:
    """Translated and passed on, taken and refused."""
    _asked(gateway, path, _body(shape, path, MEDIUM_BYTES), {200, 400, 413})


@pytest.mark.parametrize(("shape", "status"), [("escapes", 200), ("many messages", 413), ("huge names", 400)])
def test_dos_03_liveness_answers_while_the_largest_body_is_read(gateway: Served, shape: str, status: int) -> None:
    """As large as a body may be."""
    _asked(gateway, CHAT, _body(shape, CHAT, LARGE_BYTES), {status})


@pytest.mark.parametrize("shape", ["long text", "many messages", "empty arrays"])
def test_dos_03_liveness_answers_while_a_large_body_is_inflated(gateway: Served, shape: str) -> None:
    """A few kilobytes that become as much as a body may be."""
    packed = gzip.compress(_body(shape, CHAT, LARGE_BYTES), compresslevel=1, mtime=0)
    _asked(gateway, CHAT, packed, {200, 413}, content_encoding="gzip")


def test_dos_03_members_that_nobody_knows_are_refused_off_the_loop(gateway: Served) -> None:
    """The bytes that took 10 s in the event loop: 18 MB of `"k0":1`, on a translated route."""
    members = b",".join([b'"k%d":1' % number for number in range(1_500_000)])
    body = b'{"model":"smart","messages":[{"role":"user","content":"Hi"}],%b}' % members
    assert len(body) > 18_000_000
    _asked(gateway, CHAT, body, {413})


@pytest.mark.parametrize("path", [CHAT, MESSAGES])
def test_a_large_picture_goes_through_whole(gateway: Served, path: str) -> None:
    """20 MB of base64 in the middle of a conversation, translated and passed on."""
    data = "iVBORw0KGgo" + "A" * 20_000_001
    part = (
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}}
        if path == MESSAGES
        else {"type": "text", "text": data}
    )
    body = {"model": "smart", "max_tokens": 9, "messages": [{"role": "user", "content": [part]}]}
    status, reply = gateway.post(path, json.dumps(body).encode())
    assert status == 200
    answer = json.loads(reply)
    assert answer["content"] if path == MESSAGES else answer["choices"][0]["message"]["content"]
    assert b"Yes." in ANSWER
    assert b"Yes." in reply


@pytest.mark.parametrize("path", [CHAT, "/v1/embeddings", "/v1/responses"])
def test_dos_02_names_of_models_leave_nothing_behind(gateway: Served, path: str) -> None:
    """30 requests with names of 5 MB, which are refused: resident memory is what it was, where it grew by 430 MB."""

    def ask(number: int) -> int:
        body = b'{"model":"up/%d%b","messages":[{"role":"user","content":"Hi"}],"input":"Hi"}' % (
            number,
            b"a" * 5_000_000,
        )
        return gateway.post(path, body)[0]

    assert {ask(number) for number in range(3)} <= {400, 413}
    before = gateway.resident_bytes()
    assert {ask(number) for number in range(30)} <= {400, 413}
    assert gateway.resident_bytes() - before < 60_000_000
