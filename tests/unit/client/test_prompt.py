"""Prompts and histories of every form become messages."""

from __future__ import annotations

from typing import Any

import pytest

import interlingua as il
from interlingua.client.prompt import build_request, turns
from interlingua.errors import UsageError

IMAGE = il.ImagePart(b"\x89PNG", "image/png")
RESULT = il.ToolResult("call_0", "f", "4")
USER = il.Message("user", (il.TextPart("Hi"),))


@pytest.mark.parametrize(
    ("prompt", "messages"),
    [
        ("Hi", (USER,)),
        ("", ()),
        (USER, (USER,)),
        (il.TextPart("Hi"), (USER,)),
        (["Hi"], (USER,)),
        (["Hi", ""], (USER,)),
        (["Look", IMAGE], (il.user("Look", IMAGE),)),
        ([il.user("a"), il.assistant("b"), "c"], (il.user("a"), il.assistant("b"), il.user("c"))),
        (RESULT, (il.Message("tool", (RESULT,)),)),
        ([RESULT, RESULT], (il.Message("tool", (RESULT, RESULT)),)),
        ([RESULT, "And now?"], (il.Message("tool", (RESULT,)), il.user("And now?"))),
        ((piece for piece in ("a", "b")), (il.user("a", "b"),)),
    ],
)
def test_prompts_become_messages(prompt: Any, messages: tuple[il.Message, ...]) -> None:
    """Texts and parts gather into one user message, tool results into one tool message."""
    assert turns(prompt) == messages


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        ({"role": "user", "content": "Hi"}, r"a dict cannot be a prompt: il\.user\(…\)"),
        (b"bytes", r"a bytes cannot be a prompt: il\.image"),
        (7, "an int cannot be a prompt: texts, parts and messages do"),
        ([7], "an int cannot be a prompt"),
        ([il.ToolCall("c", "f", "{}")], r"a ToolCall belongs to a model's message; put it in il\.assistant"),
        (None, "None cannot be a prompt"),
    ],
)
def test_what_is_no_prompt_is_refused(prompt: Any, sentence: str) -> None:
    """The error names what was given and the way out."""
    with pytest.raises(UsageError, match=sentence):
        turns(prompt)


REPLY = il.Response[None](
    parts=(il.TextPart("Oslo."),),
    request=il.Request(system=(il.TextPart("Be terse."),), messages=(il.user("Capital of Norway?"),)),
)


class _Run:
    messages = REPLY.messages


@pytest.mark.parametrize(
    "history", [REPLY, REPLY.messages, list(REPLY.messages), _Run()], ids=["reply", "tuple", "list", "run"]
)
def test_a_history_brings_its_system_text(history: Any) -> None:
    """A reply, its messages and a run all continue the same conversation, byte for byte."""
    assert build_request(il.Request(), "And Sweden?", history) == il.Request(
        system=(il.TextPart("Be terse."),),
        messages=(il.user("Capital of Norway?"), il.assistant("Oslo."), il.user("And Sweden?")),
    )


@pytest.mark.parametrize("history", [REPLY, REPLY.messages], ids=["reply", "messages"])
def test_a_new_system_text_replaces_that_of_the_history(history: Any) -> None:
    """Whoever gives a system text replaces the history's system messages, all of them."""
    base = il.Request(system=(il.TextPart("Be wordy."),))
    history = [*history.messages, il.system("Later rule.")] if isinstance(history, il.Response) else history
    request = build_request(base, "And Sweden?", history)
    assert request.system == (il.TextPart("Be wordy."),)
    assert [message.role for message in request.messages] == ["user", "assistant", "user"]


def test_a_later_system_message_stays_where_it_is() -> None:
    """Only the first message of a history can be its system text."""
    history = [il.user("a"), il.system("b"), il.assistant("c")]
    assert build_request(il.Request(), "d", history).messages == (*history, il.user("d"))


def test_a_first_system_message_with_a_name_stays_a_message() -> None:
    """What the system field cannot hold is not squeezed into it."""
    named = il.Message("system", (il.TextPart("a"),), name="boss")
    assert build_request(il.Request(), "d", [named]).messages == (named, il.user("d"))


def test_a_reply_of_a_pure_decoder_is_a_history() -> None:
    """Without a request it stands for its own turn alone."""
    reply = il.Response[None](parts=(il.TextPart("Hm."),))
    assert build_request(il.Request(), "Yes?", reply).messages == (il.assistant("Hm."), il.user("Yes?"))


def test_a_history_alone_is_enough() -> None:
    """An empty prompt goes on from where the history ends."""
    assert build_request(il.Request(), "", [USER]).messages == (USER,)


@pytest.mark.parametrize(
    ("history", "sentence"),
    [
        ("Hi", "history takes a reply, a run or messages, not a str"),
        (il.user("Hi"), r"history takes a reply, a run or messages, not a Message; a message alone is \[message\]"),
        ([REPLY], r"history has a Response, which is not a message; a reply is a whole history by itself"),
        (USER, "not a Message"),
        (7, "not an int"),
        ([{"role": "user"}], r"history has a dict, which is not a message; il\.user"),
    ],
)
def test_what_is_no_history_is_refused(history: Any, sentence: str) -> None:
    """The error names what was given."""
    with pytest.raises(UsageError, match=sentence):
        build_request(il.Request(), "Hi", history)


@pytest.mark.parametrize("history", [None, []])
def test_nothing_to_say_is_an_error(history: Any) -> None:
    """An empty prompt without a history sends nothing."""
    with pytest.raises(UsageError, match="nothing to send"):
        build_request(il.Request(), "", history)
