"""ISO-01, ISO-02 as a law: nothing that a provider sent in one conversation leaves in another one.

Conversations of one owner go on in any order, in all dialects of clients, whole and streamed, and say the same short
things all the time; only their thinking, seals and ids differ. What leaves is judged by its bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from interlingua.gateway.core import Gateway
from interlingua.testing.upstream import Call, Say
from interlingua.types.response import Response
from tests.support.gateway import gateway
from tests.support.tool_loops import CLIENTS, MODELS, REASONERS, Client, OpenReasoner, Provider, reasoner

UPSTREAMS = MODELS | REASONERS
OWN = {name: "openai-chat" if name in REASONERS else name for name in UPSTREAMS}
"""The dialect of each upstream: its own clients are passed on to it, and keep what they get themselves."""
ANSWERS: tuple[tuple[str, tuple[Call, ...]], ...] = (
    ("Yes.", ()),
    ("", (Call("get_weather", {"city": "Oslo"}),)),
    ("Yes.", (Call("get_weather", {"city": "Oslo"}), Call("get_weather", {"city": "Oslo"}))),
)
Visible: TypeAlias = tuple[object, ...]
"""What was said in a conversation, without what only its provider may know."""


class Start(NamedTuple):
    """How a conversation begins."""

    client: str
    stream: bool
    system: str


class Step(NamedTuple):
    """How one of the conversations goes on."""

    conversation: int
    words: str


class Secret(NamedTuple):
    """What a provider sent with one answer."""

    visible: Visible
    """The conversation up to and with that answer."""
    reasoning: tuple[str, ...]
    """Its thinking, as it has to come back: seals, or the text where a service has none."""
    others: tuple[str, ...]
    """Ids of calls and items, and the text of sealed thinking."""


class Conversation:
    """One conversation under way, and everything that was said in it."""

    def __init__(self, made: Gateway, upstream: str, start: Start) -> None:
        self.client = Client(start.client, made, UPSTREAMS[upstream], stream=start.stream, system=start.system)
        self.visible: Visible = (start.system,)
        self.response: Response[Any] | None = None

    def go_on(self, words: str) -> Visible:
        """Say something, or give it as the result of each call; what was said up to the request."""
        before = self.response
        asked = (*self.visible, words)
        if before is not None and before.tool_calls:
            self.response = self.client.answer(before, [words] * len(before.tool_calls))
        else:
            self.response = self.client.say(words)
        calls = tuple([(call.name, call.arguments["city"]) for call in self.response.tool_calls])
        self.visible = (*asked, (self.response.text, calls))
        return asked


STARTS = st.lists(
    st.builds(Start, st.sampled_from(CLIENTS), st.booleans(), st.sampled_from(["", "Be brief."])),
    min_size=2,
    max_size=3,
)
STEPS = st.lists(st.builds(Step, st.integers(0, 2), st.sampled_from(["4", "4", "5"])), min_size=5, max_size=9)
SCRIPTS = st.lists(st.sampled_from(ANSWERS), min_size=9, max_size=9)
"""What the model says first, second and so on, in whatever conversation."""


def _provider(upstream: str, says: Sequence[Say]) -> Provider:
    return reasoner(upstream, *says) if upstream in REASONERS else Provider(upstream, *says)


def _body(provider: Provider) -> str:
    bodies = provider.bodies if isinstance(provider, OpenReasoner) else [request.body for request in provider.requests]
    return bodies[-1].decode()


@pytest.mark.parametrize("upstream", UPSTREAMS)
@given(starts=STARTS, steps=STEPS, script=SCRIPTS)
@example(  # the same but for a result
    starts=[Start("unified", False, ""), Start("ollama", True, "")],
    steps=[Step(0, "4"), Step(1, "4"), Step(1, "5"), Step(0, "4"), Step(1, "4"), Step(0, "4")],
    script=[ANSWERS[1], ANSWERS[0], ANSWERS[0]],
)
def test_iso_01_nothing_of_one_conversation_leaves_in_another(
    upstream: str, starts: list[Start], steps: list[Step], script: list[tuple[str, tuple[Call, ...]]]
) -> None:
    """And in its own one, or in one that was the same so far, everything comes back."""
    starts = [start for start in starts if start.client != OWN[upstream]] or [Start("ollama", False, "")]
    order = [step.conversation % len(starts) for step in steps]
    spoken = [script[order[:place].count(one)] for place, one in enumerate(order)]
    says = [Say(text=text, thinking=_thinking(place), calls=calls) for place, (text, calls) in enumerate(spoken)]
    provider, made, secrets = _provider(upstream, says), gateway(), list[Secret]()
    conversations = [Conversation(made, upstream, start) for start in starts]
    with provider.standing():
        for place, (one, step) in enumerate(zip(order, steps, strict=True)):
            asked = conversations[one].go_on(step.words)
            _check(_body(provider), asked, secrets)
            reasoning = (_thinking(place),) if upstream in REASONERS else tuple(provider.given[-1])
            others = (_thinking(place), *provider.ids(place))
            secrets.append(Secret(conversations[one].visible, reasoning, others))


def _thinking(place: int) -> str:
    return f"Secret {place:03}."


def _check(body: str, asked: Visible, secrets: Sequence[Secret]) -> None:
    """No secret of another conversation is in a request, and of each turn of its own the reasoning is."""
    for secret in secrets:
        if secret.visible != asked[: len(secret.visible)]:
            assert not [text for text in (*secret.reasoning, *secret.others) if text in body], (asked, secret)
    for end in range(3, len(asked), 2):
        alike = [secret for secret in secrets if secret.visible == asked[:end]]
        assert any(all(text in body for text in secret.reasoning) for secret in alike), (asked, alike)
