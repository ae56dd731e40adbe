"""Conversations of one key at `il serve`: each gets its own reasoning back, and nothing of another one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import openai
import pytest

from interlingua.testing.upstream import Call, Say
from tests.support.gateway import provider
from tests.support.tool_loops import TOOLS, Provider

IBAN = "ALICE'S IBAN IS NO93 8601 1117 947"
MODEL = "up/claude-opus-4-5"


@contextmanager
def _served(upstream: str, *words: str) -> Generator[str]:
    """The address of `il serve` in a process of its own."""
    environ = {**os.environ, "LLM_UP": upstream, "GATE": "a-key-of-the-team"}
    command = [sys.executable, "-m", "interlingua", "serve", "--port", "0", *words]
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            found = None
            while found is None:
                line = process.stderr.readline()
                assert line, "it did not start"
                found = re.search(r"serving on (http://\S+)", line)
            yield found[1]
        finally:
            process.kill()


class _User:
    """A user with the official SDK, whose messages hold what it shows."""

    def __init__(self, url: str, *, stream: bool) -> None:
        self.url, self.stream = url, stream
        self.messages: list[Any] = []
        self.changes = ""

    def say(self, *messages: Any) -> None:
        """Go on with messages and the answer to them."""
        self.messages += messages
        asked: dict[str, Any] = {"model": MODEL, "messages": self.messages, "tools": TOOLS["openai-chat"]}
        answer: dict[str, Any] = {"role": "assistant", "content": None}
        with openai.OpenAI(base_url=f"{self.url}/v1", api_key="a-key-of-the-team", max_retries=0) as client:
            create: Any = client.chat.completions.with_raw_response.create
            reply = create(**asked, stream=self.stream)
            self.changes = reply.headers.get("x-interlingua-changes", "")
            if self.stream:
                with reply.parse() as chunks:
                    for chunk in chunks:
                        _add(answer, chunk.choices[0].delta)
            else:
                message = reply.parse().choices[0].message
                answer |= message.model_dump(include={"content", "tool_calls"}, exclude_none=True)
        self.messages.append(answer)


def _add(answer: dict[str, Any], delta: Any) -> None:
    if delta.content:
        answer["content"] = (answer["content"] or "") + delta.content
    for call in delta.tool_calls or ():
        calls: list[Any] = answer.setdefault("tool_calls", [])
        if call.index == len(calls):
            calls.append({"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": ""}})
        calls[call.index]["function"]["arguments"] += call.function.arguments or ""


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("words", [(), ("--key-env", "GATE")], ids=["no key", "one key"])
def test_iso_01_an_equal_answer_brings_nobody_elses_thinking(words: tuple[str, ...], stream: bool) -> None:
    """Alice and Bob both got "Yes.": Alice's next request has Claude's thinking about her, Bob's has nothing of it."""
    says = [Say(thinking=IBAN, text="Yes."), Say(text="Good."), Say(text="Well."), Say(text="So.")]
    upstream = Provider("anthropic", *says)
    with upstream.serving() as at, _served(provider("anthropic", at), *words) as url:
        alice, bob = _User(url, stream=stream), _User(url, stream=stream)
        alice.say({"role": "user", "content": "I am Alice. Is my account fine?"})
        bob.messages = [{"role": "user", "content": "Is it cold?"}, {"role": "assistant", "content": "Yes."}]
        bob.say({"role": "user", "content": "And now?"})
        other = _User(url, stream=stream)
        other.messages = [{"role": "system", "content": "Be brief."}, *alice.messages]
        other.say({"role": "user", "content": "And now?"})
        alice.say({"role": "user", "content": "And now?"})
    assert [str(verdict) for verdict in upstream.verdicts] == ["taken"] * 4
    assert [IBAN.encode() in request.body for request in upstream.requests] == [False, False, False, True]
    assert [upstream.sent_back(number) for number in (1, 2, 3)] == [[], [], upstream.given[0]]
    assert ["reasoning" in user.changes for user in (bob, other, alice)] == [False, True, True]
    assert "dropped reasoning_missing" in other.changes
    assert "repaired reasoning_restored" in alice.changes


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_iso_02_an_equal_call_brings_nobody_elses_id(stream: bool) -> None:
    """Bob's call comes from elsewhere and is the same as Alice's: Claude sees Bob's id, and for Alice its own."""
    calls = (Call("get_weather", {"city": "Oslo"}),)
    upstream = Provider("anthropic", Say(thinking=IBAN, calls=calls), Say(text="Cold."), Say(text="Cold."))
    with upstream.serving() as at, _served(provider("anthropic", at)) as url:
        alice, bob = _User(url, stream=stream), _User(url, stream=stream)
        alice.say({"role": "user", "content": "I am Alice. Is it cold?"})
        [call] = alice.messages[1]["tool_calls"]
        bob.messages = [
            {"role": "user", "content": "Is it cold?"},
            {"role": "assistant", "content": None, "tool_calls": [{**call, "id": "call_bobs"}]},
        ]
        bob.say({"role": "tool", "tool_call_id": "call_bobs", "content": "4"})
        alice.say({"role": "tool", "tool_call_id": call["id"], "content": "4"})
    assert [str(verdict) for verdict in upstream.verdicts] == ["taken"] * 3
    [own] = upstream.ids(0)[-1:]
    bodies = [request.body for request in upstream.requests]
    assert [own.encode() in body for body in bodies] == [False, False, True]
    assert [IBAN.encode() in body for body in bodies] == [False, False, True]
    assert b"call_bobs" in bodies[1]
