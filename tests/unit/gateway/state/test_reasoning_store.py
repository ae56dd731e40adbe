"""The reasoning store: turns come back as they were, to their owner and in their conversation alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeOptions
from interlingua.dialects.table import get_dialect
from interlingua.gateway.state.reasoning_store import ReasoningStore, Restored, memory_reasoning_store
from interlingua.types.content import (
    BrokenToolCall,
    ImagePart,
    Part,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message, user
from interlingua.types.request import Request
from interlingua.types.response import Alternative, Response
from interlingua.wire.http import HttpRequest
from interlingua.wire.json import encode
from tests.support.gateway import remembered

OWN = "call_il0000000000000000000001"
OWN_2 = "call_il0000000000000000000002"
SIGNATURE = Sealed("google", {"thoughtSignature": "c2lnLWE="}, "google", "gemini-3-pro")
THOUGHT = Sealed("anthropic", {"signature": "EqQB-opaque"}, "anthropic", "claude-opus-5")
QUESTION = user("Weather in Oslo?")


def _reasoning_store(**bounds: Any) -> ReasoningStore:
    return memory_reasoning_store(lambda: 0.0, **bounds)


def _call(call_id: str = OWN, arguments: str = '{"city": "Oslo"}', sealed: Sealed | None = None) -> ToolCall:
    return ToolCall(call_id, "get_weather", arguments, sealed=sealed)


def _keep(
    reasoning_store: ReasoningStore,
    *parts: Part,
    owner: str = "",
    ids: dict[str, str] | None = None,
    messages: tuple[Message, ...] = (QUESTION,),
    **members: Any,
) -> None:
    """Remember an answer of these parts to `messages`."""
    asked = Request(messages=messages, system=members.pop("system", ()))
    asyncio.run(remembered(reasoning_store, owner, asked, Response(parts=parts, **members), ids or {}))


def _restored(reasoning_store: ReasoningStore, *messages: Message, owner: str = "", system: str = "") -> Restored:
    texts = (TextPart(system),) if system else ()
    return asyncio.run(reasoning_store.restore(owner, Request(messages=messages, system=texts)))


def _shown(
    reasoning_store: ReasoningStore, *parts: Part, results: tuple[str, ...] = (), **asked: Any
) -> tuple[Message, ...]:
    """The messages of a second turn in which the client shows `parts`."""
    answers = tuple([ToolResult(call_id, "get_weather", "4") for call_id in results])
    rest = (Message("tool", answers),) if answers else (user("And now?"),)
    return _restored(reasoning_store, QUESTION, Message("assistant", parts), *rest, **asked).request.messages


def _told(result: Restored) -> list[tuple[str, str, str]]:
    return [(change.action, change.code, change.detail) for change in result.changes]


HIT = "reasoning of earlier turns put back by the gateway"
MISS = "reasoning of earlier turns that is not stored for this prefix"


def test_thk_07_a_call_gets_its_seal_its_id_and_its_text_back() -> None:
    """A Chat client sends id, name and arguments in its own spelling; the provider gets what it gave."""
    reasoning_store = _reasoning_store()
    _keep(reasoning_store, _call(sealed=SIGNATURE), ids={OWN: "fc-1"})
    messages = _shown(reasoning_store, _call(arguments='{"city":"Oslo"}'), results=(OWN,))
    assert messages[1].parts == (_call("fc-1", sealed=SIGNATURE),)
    assert messages[2].parts == (ToolResult("fc-1", "get_weather", "4"),)


def test_thk_01_lost_thinking_stands_where_it_stood() -> None:
    """Signed thinking comes back first and in order, though the client shows none of it."""
    reasoning_store = _reasoning_store()
    parts = (ThinkingPart("Hm.", THOUGHT), TextPart("Checking."), _call())
    _keep(reasoning_store, *parts, ids={OWN: "toolu_01"})
    messages = _shown(reasoning_store, TextPart("Checking."), _call(), results=(OWN,))
    assert messages[1].parts == (*parts[:2], _call("toolu_01"))


def test_thinking_that_the_client_shows_without_its_seal_is_not_doubled() -> None:
    """An Anthropic client has room for the words of foreign thinking; they are replaced, not repeated."""
    reasoning_store = _reasoning_store()
    _keep(reasoning_store, ThinkingPart("Hm.", THOUGHT), _call())
    messages = _shown(reasoning_store, ThinkingPart("Hm."), _call(), results=(OWN,))
    assert messages[1].parts == (ThinkingPart("Hm.", THOUGHT), _call("call_0"))


@pytest.mark.parametrize(
    "text",
    ["<think>Hm.</think>Checking.", "<think>\nHm.\n</think>\n\nChecking.", "<thinking>Hm.</thinking>Checking.",
     "<think>Hm.</think><think>More.</think>Checking.", "Checking."],
)  # fmt: skip
def test_thinking_that_a_client_shows_as_text_goes_out_once(text: str) -> None:
    """`<think>` text is how some clients keep what they were shown: the sealed thinking stands in its place."""
    reasoning_store = _reasoning_store()
    parts = (ThinkingPart("Hm.", THOUGHT), TextPart("Checking."), _call())
    _keep(reasoning_store, *parts, ids={OWN: "toolu_01"})
    messages = _shown(reasoning_store, TextPart(text), _call(), results=(OWN,))
    assert messages[1].parts == (*parts[:2], _call("toolu_01"))


@pytest.mark.parametrize("text", ["<think>Hm, let me", "<think>Hm, let me</think>", ""])
def test_thinking_that_was_cut_off_comes_back_as_thinking(text: str) -> None:
    """An answer that ended while it was thinking, which the client shows as text without an end."""
    reasoning_store = _reasoning_store()
    _keep(reasoning_store, ThinkingPart("Hm, let me", THOUGHT), finish_reason="length")
    assert _shown(reasoning_store, TextPart(text))[1].parts == (ThinkingPart("Hm, let me", THOUGHT),)


def test_another_text_behind_shown_thinking_is_another_turn() -> None:
    """Nothing is put back, and the client's own text goes out as it is, once."""
    reasoning_store = _reasoning_store()
    _keep(reasoning_store, ThinkingPart("Hm.", THOUGHT), TextPart("Yes."))
    assert _shown(reasoning_store, TextPart("<think>Hm.</think>No."))[1].parts == (TextPart("<think>Hm.</think>No."),)


def test_a_client_that_drops_ids_gets_the_turn_of_its_conversation() -> None:
    """The Python client of Ollama has no ids: the prefix says which turn it is; results follow."""
    reasoning_store = _reasoning_store()
    _keep(
        reasoning_store, _call(sealed=SIGNATURE), _call(OWN_2, '{"city": "Bergen"}'), ids={OWN: "fc-1", OWN_2: "fc-2"}
    )
    shown = (_call("call_0", '{"city":"Oslo"}'), _call("call_1", '{"city":"Bergen"}'))
    messages = _shown(reasoning_store, *shown, results=("call_0", "call_1"))
    assert messages[1].parts == (_call("fc-1", sealed=SIGNATURE), _call("fc-2", '{"city": "Bergen"}'))
    assert [result.call_id for result in messages[2].tool_results] == ["fc-1", "fc-2"]


def test_an_id_that_was_made_for_who_sends_none_leads_to_no_turn() -> None:
    """Every conversation of such a client has a `call_0`: another one's turn must not come into this one."""
    reasoning_store = _reasoning_store()
    _keep(reasoning_store, ThinkingPart("Of another one.", THOUGHT), _call("call_0"), ids={"call_0": "call_0"})
    shown = _call("call_0", '{"city": "Rome"}')
    assert _shown(reasoning_store, shown, results=("call_0",))[1].parts == (shown,)


def test_a_provider_without_ids_gets_numbered_ones() -> None:
    """Our own id is nobody's who gave none: a numbered one can be left out by its dialect, and pairs all the same."""
    reasoning_store = _reasoning_store()
    _keep(reasoning_store, _call(sealed=SIGNATURE))
    messages = _shown(reasoning_store, _call(), results=(OWN,))
    assert messages[1].parts == (_call("call_0", sealed=SIGNATURE),)
    assert messages[2].tool_results[0].call_id == "call_0"


def test_iso_01_an_equal_turn_of_another_conversation_is_another_turn() -> None:
    """Claude thought about Alice; "Yes." after another question, system text or start gets nothing of that.

    Where question and answer are hers and what comes before is not, the reasoning counts as missing.
    """
    reasoning_store = _reasoning_store()
    thought = ThinkingPart("ALICE'S IBAN IS NO93 8601 1117 947.", THOUGHT)
    _keep(
        reasoning_store,
        thought,
        TextPart("Yes."),
        messages=(user("I am Alice."), Message("assistant", (TextPart("Hi."),)), QUESTION),
    )
    shown = Message("assistant", (TextPart("Yes."),))
    for start in ((user("I am Bob."), Message("assistant", (TextPart("Hi."),)), QUESTION), (QUESTION,)):
        result = _restored(reasoning_store, *start, shown, user("And now?"))
        assert result.request.messages == (*start, shown, user("And now?"))
        assert [change.code for change in result.changes] == ["reasoning_missing"]
    other = (user("Is it cold?"), shown, user("And now?"))
    assert _restored(reasoning_store, *other).changes == ()
    alice = (user("I am Alice."), Message("assistant", (TextPart("Hi."),)), QUESTION, shown)
    assert _restored(reasoning_store, *alice, system="Be brief.").request.messages == alice
    assert _restored(reasoning_store, *alice).request.messages[3].parts == (thought, TextPart("Yes."))


def test_iso_02_an_equal_call_of_another_conversation_is_another_call() -> None:
    """A call without an id keeps the one that was made for it; one under an id of ours gets the provider's, no more."""
    reasoning_store = _reasoning_store()
    _keep(reasoning_store, ThinkingPart("Hm.", THOUGHT), _call(sealed=SIGNATURE), ids={OWN: "toolu_alice"})
    other = user("Weather in Oslo? Bob asks.")
    unnamed = _restored(
        reasoning_store, other, Message("assistant", (_call("call_0"),)), Message("tool", (ToolResult("call_0", ""),))
    )
    assert unnamed.request.messages[1].parts == (_call("call_0"),)
    assert _told(unnamed) == [("dropped", "reasoning_missing", f"{MISS}: 1 turn")]
    named = _restored(reasoning_store, other, Message("assistant", (_call(),)), Message("tool", (ToolResult(OWN, ""),)))
    assert named.request.messages[1:] == (
        Message("assistant", (_call("toolu_alice"),)),
        Message("tool", (ToolResult("toolu_alice", ""),)),
    )
    assert _told(named) == [("dropped", "reasoning_missing", f"{MISS}: 1 turn")]


def test_of_two_turns_with_one_key_the_ids_say_which_it_is() -> None:
    """Two conversations that are the same so far: each call under an id of ours finds its own thinking."""
    reasoning_store = _reasoning_store()
    for own, words in ((OWN, "First."), (OWN_2, "Second.")):
        _keep(reasoning_store, ThinkingPart(words, THOUGHT), _call(own), ids={own: f"toolu_{words}"})
    for own, words in ((OWN, "First."), (OWN_2, "Second.")):
        parts = _shown(reasoning_store, _call(own), results=(own,))[1].parts
        assert parts == (ThinkingPart(words, THOUGHT), _call(f"toolu_{words}"))
    assert _shown(reasoning_store, _call("call_0"), results=("call_0",))[1].parts[0] == ThinkingPart("Second.", THOUGHT)


@pytest.mark.parametrize(
    "arguments",
    ['{"n":4,"list":[1,{"b":2,"a":1}]}', '{"list": [1, {"a": 1, "b": 2}], "n": 4.0}'],
    ids=["compact", "sorted, with a float"],
)
def test_arguments_are_compared_as_values(arguments: str) -> None:
    """A client that parses and writes arguments again changes order, spaces and 4.0, and the call is the same."""
    reasoning_store = _reasoning_store()
    was = '{"n": 4.0, "list": [1, {"b": 2, "a": 1}]}'
    _keep(reasoning_store, _call(arguments=was, sealed=SIGNATURE), ids={OWN: "fc-1"})
    for call_id in (OWN, "call_0"):
        assert _shown(reasoning_store, _call(call_id, arguments), results=(call_id,))[1].parts == (
            _call("fc-1", was, sealed=SIGNATURE),
        )


@pytest.mark.parametrize(
    "shown",
    [(TextPart("A"), _call(arguments='{"city": "Rome"}')), (TextPart("B"), _call()), (_call(),)],
    ids=["other arguments", "another text", "no text"],
)
def test_an_edited_turn_keeps_the_ids_of_its_calls_alone(shown: tuple[Part, ...]) -> None:
    """Neither thinking nor a seal goes with words that they were not made for; the miss is told."""
    reasoning_store = _reasoning_store()
    _keep(reasoning_store, ThinkingPart("Hm.", THOUGHT), TextPart("A"), _call(sealed=SIGNATURE), ids={OWN: "fc-1"})
    result = _restored(
        reasoning_store, QUESTION, Message("assistant", shown), Message("tool", (ToolResult(OWN, "get_weather"),))
    )
    call = shown[-1]
    assert isinstance(call, ToolCall)
    assert result.request.messages[1].parts == (*shown[:-1], _call("fc-1", call.arguments_json))
    assert result.request.messages[2].tool_results[0].call_id == "fc-1"
    assert _told(result) == [("dropped", "reasoning_missing", f"{MISS}: 1 turn")]


def test_hits_and_misses_are_told_once_with_a_count() -> None:
    """Two turns of the conversation come back, one under an id of ours that nobody knows any more does not."""
    reasoning_store = _reasoning_store()
    history: tuple[Message, ...] = (QUESTION,)
    for own in (OWN, OWN_2):
        _keep(reasoning_store, ThinkingPart("Hm.", THOUGHT), _call(own), ids={own: f"toolu_{own}"}, messages=history)
        history += (Message("assistant", (_call(own),)), Message("tool", (ToolResult(own, "get_weather", "4"),)))
    lost = "call_il0000000000000000000009"
    history += (Message("assistant", (_call(lost),)), Message("tool", (ToolResult(lost, "get_weather", "4"),)))
    result = _restored(reasoning_store, *history)
    assert _told(result) == [
        ("repaired", "reasoning_restored", f"{HIT}: 2 turns"),
        ("dropped", "reasoning_missing", f"{MISS}: 1 turn"),
    ]
    assert {change.stage for change in result.changes} == {"repair"}
    assert {change.path for change in result.changes} == {"/messages"}


@pytest.mark.parametrize(
    ("shown", "is_told"),
    [
        ((_call("toolu_01"),), False),
        ((_call("call_0", sealed=SIGNATURE),), False),
        ((TextPart("Yes."),), False),
        ((_call("call_0"),), True),
        ((_call(),), True),
    ],
    ids=["the provider's own id", "a seal", "no call", "no id", "an id of ours"],
)
def test_only_what_may_have_been_lost_here_is_a_miss(shown: tuple[Part, ...], is_told: bool) -> None:
    """Turns that were never translated here, and those that lack nothing, are none, whatever the owner has."""
    for owner in ("nobody", "somebody"):
        reasoning_store = _reasoning_store()
        _keep(reasoning_store, ThinkingPart("Hm.", THOUGHT), TextPart("No."), owner="somebody")
        result = _restored(reasoning_store, QUESTION, Message("assistant", shown), user("?"), owner=owner)
        assert [change.code for change in result.changes] == ["reasoning_missing"] * is_told
        assert result.request.messages[1].parts == shown


def test_what_a_client_shows_with_its_own_seals_is_not_replaced_by_an_equal_turn() -> None:
    """A client asked Claude by translation and OpenAI directly, and both answered alike: items of the latter stay."""
    reasoning_store = _reasoning_store()
    _keep(reasoning_store, ThinkingPart("Hm.", sealed=THOUGHT), _call(), ids={OWN: "toolu_1"})
    item = Sealed("openai-responses", {"id": "rs_1", "encrypted_content": "ENC"}, "openai", "gpt-5.6")
    shown = (ThinkingPart("S", sealed=item), _call("call_a"))
    answers = (Message("tool", (ToolResult("call_a", "get_weather", "4"),)),)
    result = _restored(reasoning_store, QUESTION, Message("assistant", shown), *answers)
    assert result.request.messages == (QUESTION, Message("assistant", shown), *answers)
    assert result.changes == ()
    assert _shown(reasoning_store, _call(), results=(OWN,))[1].parts[0] == ThinkingPart("Hm.", sealed=THOUGHT)


def test_an_owner_finds_nothing_of_another() -> None:
    """Two tenants with the same words and even the same ids get their own seals or none."""
    reasoning_store = _reasoning_store()
    _keep(reasoning_store, _call(sealed=SIGNATURE), owner="team-a", ids={OWN: "fc-1"})
    shown = (QUESTION, Message("assistant", (_call(),)), Message("tool", (ToolResult(OWN, "t"),)))
    request = Request(messages=shown)
    assert asyncio.run(reasoning_store.restore("team-b", request)).request is request
    assert _restored(reasoning_store, *shown, owner="team-a").request.messages[1].parts == (
        _call("fc-1", sealed=SIGNATURE),
    )


def test_a_miss_changes_nothing() -> None:
    """A request of which nothing is stored is the same object: memos of the encoders still know it."""
    reasoning_store = _reasoning_store()
    request = Request(messages=(user("Hi"), Message("assistant", (TextPart("Hello"),)), user("And?")))
    assert asyncio.run(reasoning_store.restore("", request)).request is request
    _keep(reasoning_store, _call(sealed=SIGNATURE))
    assert asyncio.run(reasoning_store.restore("", request)).request is request


@pytest.mark.parametrize(
    "parts",
    [(TextPart("Plain."),), (_call(sealed=SIGNATURE), BrokenToolCall("x", "t", "{", "cut_off"))],
    ids=["plain text", "a turn that was cut"],
)
def test_what_loses_nothing_is_not_kept(parts: tuple[Part, ...]) -> None:
    """Plain answers cost no memory; a turn with a broken call never goes back as it was."""
    reasoning_store = _reasoning_store()
    _keep(reasoning_store, *parts)
    assert _shown(reasoning_store, *parts)[1].parts == parts


def test_further_choices_are_turns_too() -> None:
    """Whichever of several choices the client goes on with comes back as it was."""
    reasoning_store = _reasoning_store()
    other = Alternative(parts=(_call(OWN_2, '{"city": "Bergen"}', SIGNATURE),))
    _keep(reasoning_store, _call(sealed=THOUGHT), ids={OWN: "a", OWN_2: "b"}, alternatives=(other,))
    messages = _shown(reasoning_store, _call(OWN_2, '{"city": "Bergen"}'), results=(OWN_2,))
    assert messages[1].parts == (_call("b", '{"city": "Bergen"}', SIGNATURE),)


def test_ids_that_a_provider_gives_again_stay_apart() -> None:
    """A server that begins its ids anew with every turn gets ours for the later calls."""
    reasoning_store = _reasoning_store()
    turns = [Message("assistant", (_call(own),)) for own in (OWN, OWN_2)]
    results = [Message("tool", (ToolResult(own, "get_weather", "4"),)) for own in (OWN, OWN_2)]
    shown = (QUESTION, turns[0], results[0], turns[1], results[1])
    _keep(reasoning_store, _call(), ids={OWN: "call_a"}, messages=shown[:1])
    _keep(reasoning_store, _call(OWN_2), ids={OWN_2: "call_a"}, messages=shown[:3])
    messages = _restored(reasoning_store, *shown).request.messages
    assert [call.id for message in messages for call in message.tool_calls] == ["call_a", OWN_2]
    assert [part.call_id for message in messages for part in message.tool_results] == ["call_a", OWN_2]


def test_a_cache_mark_of_the_client_stays() -> None:
    """The mark on the text that is replaced goes on."""
    reasoning_store = _reasoning_store()
    _keep(reasoning_store, ThinkingPart("Hm.", THOUGHT), TextPart("Yes."))
    assert _shown(reasoning_store, TextPart("Yes.", cache="5m"))[1].parts == (
        ThinkingPart("Hm.", THOUGHT),
        TextPart("Yes.", cache="5m"),
    )


def test_a_turn_that_the_client_shows_in_two_messages_is_one_turn() -> None:
    """Some Chat clients send text and calls apart: both become the one message that they were."""
    reasoning_store = _reasoning_store()
    parts = (ThinkingPart("Hm.", THOUGHT), TextPart("Checking."), _call())
    _keep(reasoning_store, *parts, ids={OWN: "toolu_01"})
    apart = (Message("assistant", (TextPart("Checking."),)), Message("assistant", (_call(),)))
    result = Message("tool", (ToolResult(OWN, "get_weather", "4"),))
    assert _restored(reasoning_store, QUESTION, *apart, result).request.messages == (
        QUESTION,
        Message("assistant", (*parts[:2], _call("toolu_01"))),
        Message("tool", (ToolResult("toolu_01", "get_weather", "4"),)),
    )


def test_an_answer_that_goes_on_with_words_of_the_client_is_found_with_them() -> None:
    """A turn that the client began comes back whole, where it is sent as one message or as two."""
    reasoning_store = _reasoning_store()
    begun, thought = Message("assistant", (TextPart("It is"),)), ThinkingPart("Hm.", THOUGHT)
    _keep(reasoning_store, thought, TextPart(" cold."), messages=(QUESTION, begun))
    for shown in (
        (Message("assistant", (TextPart("It is cold."),)),),
        (begun, Message("assistant", (TextPart(" cold."),))),
    ):
        messages = _restored(reasoning_store, QUESTION, *shown, user("And now?")).request.messages
        assert messages[1:-1] == (Message("assistant", (TextPart("It is"), thought, TextPart(" cold."))),)


def test_a_tool_in_a_namespace_is_named_as_the_client_names_it() -> None:
    """Codex shows a call of `ns__find` as `find` in the namespace `ns`: it is the same call, and stays there."""
    reasoning_store = _reasoning_store()
    _keep(
        reasoning_store,
        ThinkingPart("Hm.", THOUGHT),
        ToolCall(OWN, "ns__find", "{}", sealed=SIGNATURE),
        ids={OWN: "fc-1"},
    )
    space = {"openai-responses": {"namespace": "ns"}}
    messages = _shown(reasoning_store, ToolCall(OWN, "find", "{}", extra=space), results=(OWN,))
    assert messages[1].parts == (ThinkingPart("Hm.", THOUGHT), ToolCall("fc-1", "find", "{}", False, SIGNATURE, space))


def test_the_reasoning_store_is_bounded() -> None:
    """A turn that is too large is not kept; old ones make room for new ones."""
    reasoning_store = _reasoning_store(max_bytes=20_000)
    _keep(reasoning_store, ImagePart(b"x" * 3_000, "image/png", sealed=SIGNATURE), _call())
    assert _shown(reasoning_store, _call(), results=(OWN,))[1].parts == (_call(),)
    for number in range(40):
        _keep(
            reasoning_store,
            _call(f"call_il{number:022}", sealed=SIGNATURE),
            ids={f"call_il{number:022}": f"fc-{number}"},
        )
    shown = _shown(reasoning_store, _call("call_il" + f"{39:022}"), results=("call_il" + f"{39:022}",))
    assert shown[1].parts == (_call("fc-39", sealed=SIGNATURE),)


def test_the_latest_turn_of_the_same_conversation_is_the_turn() -> None:
    """A conversation that was put back before, and then happened again: what the provider gave last comes back."""
    text = "Weather in Oslo? " * 20
    body = encode(
        {
            "model": "m",
            "messages": [
                {"role": "user", "content": text},
                {
                    "role": "assistant",
                    "tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "Oslo"}}}],
                },
                {"role": "tool", "tool_name": "get_weather", "content": "4"},
            ],
        }
    )
    asked = HttpRequest(url="http://test/api/chat", body=body)
    reasoning_store = _reasoning_store()
    for number in range(4):
        thought = ThinkingPart("Hm.", Sealed("anthropic", {"signature": f"number {number}"}))
        _keep(reasoning_store, thought, _call(), ids={OWN: "toolu_01"}, messages=(user(text),))
        request = get_dialect("ollama").decode_request(asked, DecodeOptions()).request
        for _ in range(2):
            assert asyncio.run(reasoning_store.restore("", request)).request.messages[1].parts[0] == thought


def test_turns_of_a_client_that_marks_what_is_to_be_cached_come_back() -> None:
    """Marks move from turn to turn; the turns before them, and those behind, are what they were."""
    reasoning_store = _reasoning_store()
    history: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "Weather in Oslo? " * 20}]}]
    for number in range(6):
        own = f"call_il{number:022}"
        thought = ThinkingPart("Hm.", Sealed("google", {"thoughtSignature": f"{number}"}))
        _keep(reasoning_store, thought, _call(own), ids={own: f"fc-{number}"}, messages=_claude(history).messages)
        call = {"type": "tool_use", "id": own, "name": "get_weather", "input": {"city": "Oslo"}}
        result = {"type": "tool_result", "tool_use_id": own, "content": f"{number}"}
        history += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        marked = [*history[:-1], {"role": "user", "content": [{**result, "cache_control": {"type": "ephemeral"}}]}]
        messages = asyncio.run(reasoning_store.restore("", _claude(marked))).request.messages
        assert [message.parts[0] for message in messages[1::2]] == [
            ThinkingPart("Hm.", Sealed("google", {"thoughtSignature": f"{before}"})) for before in range(number + 1)
        ]
        assert [result.call_id for message in messages for result in message.tool_results] == [
            f"fc-{before}" for before in range(number + 1)
        ]


def _claude(messages: list[dict[str, Any]]) -> Request:
    asked = HttpRequest(url="http://test/v1/messages", body=encode({"model": "m", "messages": messages}))
    return get_dialect("anthropic").decode_request(asked, DecodeOptions()).request


@pytest.mark.parametrize(
    "item",
    [
        {"summary": [{"type": "summary_text", "text": "Hm."}]},
        {"summary": [], "id": f"rs_il{'a' * 22}01", "encrypted_content": None},
        {"summary": [], "encrypted_content": "abc"},
    ],
)
@pytest.mark.parametrize("is_stored", [True, False], ids=["stored", "restarted"])
def test_a_summary_as_codex_sends_it_back_is_no_state(is_stored: bool, item: Any) -> None:
    """Codex shows the summary of Claude's thinking as an item of its own: behind other instructions that is a miss.

    An encrypted item is somebody's state. Where nothing is stored nobody knows that it is not what the call needs.
    """
    reasoning_store = _reasoning_store()
    if is_stored:
        _keep(reasoning_store, ThinkingPart("Hm.", THOUGHT), _call(), messages=(QUESTION,), ids={OWN: "toolu_1"})
    shown = ThinkingPart("Hm.", Sealed("openai-responses", {"type": "reasoning", **item}))
    history = (QUESTION, Message("assistant", (shown, _call())), Message("tool", (ToolResult(OWN, "f", "4"),)))
    result = _restored(reasoning_store, *history, system="It is 2 o'clock.")
    is_missing = is_stored or not item.get("encrypted_content")
    assert [change.code for change in result.changes] == (["reasoning_missing"] if is_missing else [])


@pytest.mark.parametrize("has_ids", [True, False])
@pytest.mark.parametrize("is_stored", [True, False], ids=["stored", "restarted"])
def test_items_of_the_gateway_are_no_state_of_the_client(is_stored: bool, has_ids: bool) -> None:
    """A Responses client shows items under ids of ours, or none: they hide neither the stored turn nor its loss."""
    reasoning_store = _reasoning_store()
    _keep(reasoning_store, user("another").parts[0], ThinkingPart("x", sealed=THOUGHT), messages=(user("other"),))
    if is_stored:
        _keep(reasoning_store, ThinkingPart("Hm.", sealed=THOUGHT), TextPart("So."), _call(), ids={OWN: "toolu_1"})
    ids = [
        {"id": f"{kind}_il{'a' * 22}{number:02}"} if has_ids else {} for number, kind in enumerate(("rs", "msg", "fc"))
    ]
    reasoning: dict[str, Any] = {"type": "reasoning", "summary": []}
    seals = [
        Sealed("openai-responses", {**given, **more}) for given, more in zip(ids, (reasoning, {}, {}), strict=True)
    ]
    shown = (ThinkingPart("Hm.", seals[0]), TextPart("So.", sealed=seals[1]), _call(sealed=seals[2]))
    result = _restored(
        reasoning_store, QUESTION, Message("assistant", shown), Message("tool", (ToolResult(OWN, "f", "4"),))
    )
    assert [change.code for change in result.changes] == ["reasoning_restored" if is_stored else "reasoning_missing"]
