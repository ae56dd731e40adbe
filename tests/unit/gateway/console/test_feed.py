"""The last requests: bounded, kept only while somebody looks, each shown to whom it concerns."""

from __future__ import annotations

import msgspec
import pytest

from interlingua.gateway.console.access import Viewer
from interlingua.gateway.console.feed import KEPT, KEPT_CONTENTS, LINGER_S, MAX_BATCH, MAX_WATCHERS, Feed
from interlingua.gateway.core import Gateway
from interlingua.gateway.records.record import Content, Record
from interlingua.gateway.settings import GatewaySettings
from interlingua.types.response import Attempt
from tests.support.gateway import asking, gateway
from tests.unit.gateway.console.looking import looked, with_keys

ALL = Viewer("", sees_all=True)
CHAT = Record(id="one", at=1.0, path="/v1/chat/completions", status=200)
CONTENT = Content(method="POST", path="/v1/chat/completions", query="", headers=(), body=b"{}")


def _named(number: int, **members: object) -> Record:
    return msgspec.structs.replace(CHAT, id=str(number), **members)


def test_nothing_is_recorded_while_nobody_looks() -> None:
    """The hot path stays as it is without a console."""
    made = gateway()
    assert not made.recorder.is_wanted
    assert made.feed.enter()
    assert made.recorder.is_wanted
    assert made.recorder.sinks == (made.feed.take,)


def test_it_goes_on_for_a_while_after_the_last_one_left() -> None:
    """So that a page that is loaded again shows what was; then it ends, and forgets."""
    time_s = 0.0
    made = Gateway(clock=lambda: time_s)
    made.feed.enter()
    made.feed.leave()
    time_s = LINGER_S
    made.feed.take(CHAT)
    assert made.feed.since(0, ALL).records == [CHAT]
    time_s = LINGER_S + 1
    made.feed.take(CHAT)
    assert made.feed.since(0, ALL).records == []
    assert not made.recorder.is_wanted


def test_as_many_look_as_there_is_room_for() -> None:
    """One more is refused until one leaves."""
    feed = gateway().feed
    assert [feed.enter() for _ in range(MAX_WATCHERS + 1)] == [True] * MAX_WATCHERS + [False]
    feed.leave()
    assert feed.enter()


def test_who_is_slow_is_told_how_many_were_missed() -> None:
    """A batch is bounded, and so is what is kept."""
    feed = gateway().feed
    feed.enter()
    feed.take(_named(0))
    first = feed.since(0, ALL)
    for number in range(KEPT + 10):
        feed.take(_named(number + 1))
    batch = feed.since(first.last, ALL)
    assert (first.last, first.missed, batch.missed, len(batch.records)) == (1, 0, 10, MAX_BATCH)
    assert batch.records[0].id == "11"
    assert feed.since(batch.last, ALL).missed == 0
    assert feed.since(first.last, Viewer("team-a", sees_all=False)) == ([], batch.last, 0)


@pytest.mark.parametrize("path", ["/", "/console/live", "/health/live", "/metrics", "/explain"])
def test_what_the_console_asks_itself_is_not_shown(path: str) -> None:
    """Nor signs of life."""
    feed = gateway().feed
    feed.enter()
    feed.take(_named(1, path=path))
    assert feed.since(0, ALL) == ([], 0, 0)


def test_a_key_sees_its_own_requests() -> None:
    """By its name; what others ask is neither told nor found."""
    feed = with_keys().feed
    feed.enter()
    feed.take(_named(1, key="boss"))
    feed.take(_named(2, key="team-a"))
    own = Viewer("team-a", sees_all=False)
    assert [record.id for record in feed.since(0, own).records] == ["2"]
    assert feed.find("1", own) is None
    assert feed.find("2", own) == _named(2, key="team-a")


def test_without_content_sentences_of_errors_are_not_told() -> None:
    """They may repeat what a client or an upstream said; their classes are told."""
    attempt = Attempt(model="a/b", outcome="failed", error="RateLimitError: about your words", status=429)
    record = _named(1, error="RateLimitError", message="about your words", attempts=(attempt,))
    feed = gateway().feed
    feed.enter()
    feed.take(record)
    (shown,) = feed.since(0, ALL).records
    assert (shown.error, shown.message, shown.attempts[0].error) == ("RateLimitError", "", "RateLimitError")
    capturing = gateway(console_content=True).feed
    capturing.enter()
    capturing.take(record)
    assert capturing.since(0, ALL).records == [record]


def test_content_is_kept_of_the_last_ones_and_never_streamed() -> None:
    """Only where it is captured; who wants it asks for one request."""
    made = gateway(console_content=True)
    made.feed.enter()
    assert made.recorder.content_sinks == (made.feed.take,)
    for number in range(KEPT_CONTENTS + 1):
        made.feed.take(_named(number, content=CONTENT))
    oldest, newest = made.feed.find("0", ALL), made.feed.find(str(KEPT_CONTENTS), ALL)
    assert oldest is not None
    assert newest is not None
    assert (oldest.content, newest.content) == (None, CONTENT)
    assert {record.content for record in made.feed.since(0, ALL).records} == {None}


def test_what_is_under_way_is_shown_without_an_end() -> None:
    """The newest first; a key sees its own."""
    made = with_keys()
    made.feed.enter()
    for key in ("boss-key", "a-key"):
        asked = asking("openai-chat", "smart", headers={"x-api-key": key})
        assert made.begin(asked) is None
        assert asked.entry is not None
        asked.entry.set_model("smart", stream=True)
    made.begin(looked("/console/live", "boss-key"))
    shown = made.feed.under_way(ALL)
    assert [(one.key, one.model, one.stream, one.status, one.aborted) for one in shown] == [
        ("team-a", "smart", True, 0, False),
        ("boss", "smart", True, 0, False),
    ]
    assert [one.key for one in made.feed.under_way(Viewer("team-a", sees_all=False))] == ["team-a"]


def test_a_feed_belongs_to_one_gateway() -> None:
    """Two gateways of a process show nothing of each other."""
    first, second = Gateway(GatewaySettings()), Gateway(GatewaySettings())
    first.feed.enter()
    assert isinstance(second.feed, Feed)
    assert not second.recorder.is_wanted
