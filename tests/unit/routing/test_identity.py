"""Health and learned refusals belong to an address and a key: what one caller meets is no news of the others'."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import interlingua as il
from interlingua.client.state import health_store, use_state
from interlingua.errors import AuthenticationError, ConfigError, UnsupportedError
from interlingua.registry.resolve import Registry
from interlingua.routing.health import MAX_IDENTITIES, Admit, Failed, Look, MemoryHealth, Resume, Suspend
from interlingua.wire.http import HttpRequest
from tests.support.client import chat

TARGET = "openai/gpt-5.6"
TOOL = il.Tool(name="look_up", description="Looks up.", parameters={"type": "object", "properties": {}})


class Vendor:
    """A transport that refuses every key but `good`, and tools at `plain.example`."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def open(self, request: HttpRequest, timeouts: object) -> Body:
        """The answer of the address."""
        del timeouts
        key = dict(request.headers).get("authorization", "")
        host = request.url.split("/")[2]
        self.asked.append((host, key))
        if key != "Bearer good":
            return Body(401, b'{"error":{"message":"bad key","type":"x"}}')
        if host == "plain.example" and b'"tools"' in request.body:
            return Body(400, b'{"error":{"message":"m does not support tools","type":"x"}}')
        return Body(200, chat("Oslo.").body)

    def close(self) -> None:
        """Nothing is open."""


class Body:
    """A whole reply."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status: int = status
        self.headers: tuple[tuple[str, str], ...] = (("content-type", "application/json"),)
        self._body = body

    def read(self) -> bytes:
        """The body, then nothing."""
        body, self._body = self._body, b""
        return body

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def vendor() -> Vendor:
    """What answers in place of all addresses."""
    return Vendor()


@pytest.fixture(params=["memory", "file", "redis"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Every place in which health is kept."""
    place = f"file:{tmp_path / 'state.sqlite'}" if request.param == "file" else request.param
    place = request.getfixturevalue("redis_url") if place == "redis" else place
    use_state(place)
    return place


def lab(vendor: Vendor, spec: str = TARGET, **arguments: Any) -> il.Model:
    """A model that is asked through the vendor."""
    base_url = arguments.pop("base_url", "https://one.example/v1")
    return il.model(spec, base_url=base_url, transport=vendor, retries=0, **arguments)


@pytest.mark.usefixtures("place")
def test_a_refused_key_benches_nobody_elses(vendor: Vendor) -> None:
    """The caller with the wrong key is benched; in a chain the one with the right key is asked all the same."""
    chain = f"{TARGET},openai/gpt-5.6-mini"
    with pytest.raises(AuthenticationError):
        lab(vendor, api_key="wrong-key").generate("Hi")
    reply = lab(vendor, chain, api_key="good").generate("Hi")
    assert [(attempt.model, attempt.outcome) for attempt in reply.attempts] == [(TARGET, "served")]
    with pytest.raises(il.ChainExhaustedError) as caught:
        lab(vendor, chain, api_key="wrong-key").generate("Hi")
    assert caught.value.attempts[0].outcome == "skipped"
    assert "wrong-key" not in repr(health_store().snapshot())


@pytest.mark.usefixtures("place")
def test_a_refusal_counts_for_its_address_alone(vendor: Vendor) -> None:
    """What one server does not take, another one under the same name may."""
    here = lab(vendor, api_key="good", base_url="https://plain.example/v1")
    there = lab(vendor, api_key="good", base_url="https://tools.example/v1")
    for _ in range(2):
        with pytest.raises(il.Error):
            here.generate("Hi", tools=[TOOL])
    assert there.generate("Hi", tools=[TOOL]).text == "Oslo."
    assert [host for host, _ in vendor.asked] == ["plain.example", "tools.example"]
    with pytest.raises(UnsupportedError, match="the target refused it lately"):
        here.generate("Hi", tools=[TOOL])


def test_a_key_in_a_header_of_the_call_is_a_key(vendor: Vendor) -> None:
    """Whoever brings a key of their own by `headers=` is told apart by it."""
    model = lab(vendor, api_key="good")
    with pytest.raises(AuthenticationError):
        model.generate("Hi", headers={"authorization": "Bearer wrong"})
    chain = lab(vendor, f"{TARGET},openai/gpt-5.6-mini", api_key="good")
    assert chain.generate("Hi").attempts[0].outcome == "served"


@pytest.mark.usefixtures("place")
def test_a_persons_word_holds_for_every_key(vendor: Vendor) -> None:
    """Who suspends a target means it however it is asked, and resuming forgets what is held against any key."""
    il.health.suspend(TARGET)
    for key in ("good", "wrong-key"):
        with pytest.raises(il.ChainExhaustedError, match="suspended by hand"):
            lab(vendor, api_key=key).generate("Hi")
    assert vendor.asked == []
    il.health.resume(TARGET)
    with pytest.raises(AuthenticationError):
        lab(vendor, api_key="wrong-key").generate("Hi")
    assert il.health.snapshot()[TARGET].identity.startswith("one.example ")
    il.health.resume(TARGET)
    assert il.health.snapshot() == {}


def test_a_snapshot_has_the_worst_of_a_target_first() -> None:
    """One line for a target, however many keys it is asked with; the others stand beside it."""
    store = MemoryHealth(time.monotonic)
    store.apply([(TARGET, Failed(identity="h 1")), (TARGET, Failed("auth", identity="h 2"))])
    known = store.snapshot()[TARGET]
    assert (known.identity, known.state) == ("h 2", "benched")
    assert [(other.identity, other.failures) for other in known.others] == [("h 1", 1)]
    store.apply([(TARGET, Suspend())])
    assert (store.snapshot()[TARGET].identity, store.snapshot()[TARGET].state) == ("", "suspended")


def test_identities_are_bounded() -> None:
    """A crowd of wrong keys makes room by the one that was quiet for longest."""
    now = 0.0
    store = MemoryHealth(lambda: now)
    for number in range(MAX_IDENTITIES + 1):
        now = float(number)
        store.apply([(TARGET, Failed("auth", identity=f"h {number}"))])
    assert len(store.snapshot()[TARGET].others) + 1 == MAX_IDENTITIES
    looks = store.apply([(TARGET, Look(identity="h 0")), (TARGET, Look(identity="h 1"))])
    assert [standing.state for standing in looks] == ["open", "benched"]


def test_a_probe_belongs_to_its_key_and_is_not_taken_while_suspended() -> None:
    """Each key has a probe of its own; one that is kept out by a person takes none along."""
    now = 0.0
    store = MemoryHealth(lambda: now)
    store.apply(
        [(TARGET, Failed("auth", identity="h 1")), (TARGET, Failed("auth", identity="h 2")), (TARGET, Suspend(310.0))]
    )
    now = 305.0
    assert store.apply([(TARGET, Admit(identity="h 1"))])[0].state == "suspended"
    now = 311.0
    states = [store.apply([(TARGET, Admit(identity=name))])[0].state for name in ("h 1", "h 1", "h 2")]
    assert states == ["probe", "benched", "probe"]
    store.apply([(TARGET, Resume())])
    assert store.snapshot() == {}


def test_an_identity_shows_the_host_and_never_the_key() -> None:
    """The host and a digest; equal for equal places and keys, in every registry and process."""
    one, two = (Registry({"OPENAI_API_KEY": key}).resolve(TARGET)[0] for key in ("sk-a-key-of-mine", "sk-another-one"))
    assert one.identity() == "api.openai.com df0800332466"
    assert (
        two.identity()
        != one.identity()
        == Registry({"OPENAI_API_KEY": "sk-a-key-of-mine"}).resolve(TARGET)[0].identity()
    )
    assert one.identity((("Authorization", "Bearer x"),)) != one.identity((("x-team", "a"),)) == one.identity()


def test_a_function_is_not_called_for_an_identity() -> None:
    """A key of a function is known once a request has used it."""
    calls: list[int] = []
    registry = Registry({}).pointed(api_key=lambda: calls.append(1) or f"sk-key-number-{len(calls)}")
    endpoint = registry.resolve(TARGET)[0]
    first = endpoint.identity()
    assert calls == []
    endpoint.credential.reveal()
    assert (endpoint.identity() != first, calls) == (True, [1])


def test_an_empty_api_key_is_no_key(vendor: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    """`api_key=""` never stands for the variable: where a key is needed it is an error that names the argument."""
    monkeypatch.setenv("OPENAI_API_KEY", "good")
    for key in ("", "  ", lambda: ""):
        with pytest.raises(ConfigError, match="openai: no key; api_key= is empty: give one, or leave it out"):
            il.model(TARGET, api_key=key, transport=vendor).generate("Hi")
    assert vendor.asked == []
    with pytest.raises(AuthenticationError):
        lab(vendor, api_key="").generate("Hi")  # a server elsewhere may want none
    assert vendor.asked == [("one.example", "")]
