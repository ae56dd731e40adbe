"""The vault: turns come back as they were, to their owner, however the client shows them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Target
from interlingua.dialects.table import get_dialect
from interlingua.gateway.state.vault import Vault, memory_vault
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
ASKED = Request(messages=(user("Weather in Oslo?"),))


def _vault(**bounds: Any) -> Vault:
    return memory_vault(lambda: 0.0, **bounds)


def _call(call_id: str = OWN, arguments: str = '{"city": "Oslo"}', sealed: Sealed | None = None) -> ToolCall:
    return ToolCall(call_id, "get_weather", arguments, sealed=sealed)


def _keep(vault: Vault, *parts: Part, owner: str = "", ids: dict[str, str] | None = None, **members: Any) -> None:
    asyncio.run(remembered(vault, owner, ASKED, Response(parts=parts, **members), ids or {}))


def _shown(vault: Vault, *parts: Part, owner: str = "", results: tuple[str, ...] = (), before: str = "") -> Any:
    """The messages of a second turn in which the client shows `parts`."""
    answers = tuple(ToolResult(call_id, "get_weather", "4") for call_id in results)
    rest = (Message("tool", answers),) if answers else (user("And now?"),)
    first = user(before) if before else ASKED.messages[0]
    return asyncio.run(vault.restore(owner, Request(messages=(first, Message("assistant", parts), *rest)))).messages


def test_thk_07_a_call_gets_its_seal_its_id_and_its_text_back() -> None:
    """A Chat client sends id, name and arguments in its own spelling; the provider gets what it gave."""
    vault = _vault()
    _keep(vault, _call(sealed=SIGNATURE), ids={OWN: "fc-1"})
    messages = _shown(vault, _call(arguments='{"city":"Oslo"}'), results=(OWN,))
    assert messages[1].parts == (_call("fc-1", sealed=SIGNATURE),)
    assert messages[2].parts == (ToolResult("fc-1", "get_weather", "4"),)


def test_thk_01_lost_thinking_stands_where_it_stood() -> None:
    """Signed thinking comes back first and in order, though the client shows none of it."""
    vault = _vault()
    parts = (ThinkingPart("Hm.", THOUGHT), TextPart("Checking."), _call())
    _keep(vault, *parts, ids={OWN: "toolu_01"})
    messages = _shown(vault, TextPart("Checking."), _call(), results=(OWN,))
    assert messages[1].parts == (*parts[:2], _call("toolu_01"))


def test_thinking_that_the_client_shows_without_its_seal_is_not_doubled() -> None:
    """An Anthropic client has room for the words of foreign thinking; they are replaced, not repeated."""
    vault = _vault()
    _keep(vault, ThinkingPart("Hm.", THOUGHT), _call())
    messages = _shown(vault, ThinkingPart("Hm."), _call(), results=(OWN,))
    assert messages[1].parts == (ThinkingPart("Hm.", THOUGHT), _call("call_0"))


def test_a_client_that_drops_ids_is_known_by_its_words() -> None:
    """The Python client of Ollama has no ids: the turn after the same question is the turn; results follow."""
    vault = _vault()
    _keep(vault, _call(sealed=SIGNATURE), _call(OWN_2, '{"city": "Bergen"}'), ids={OWN: "fc-1", OWN_2: "fc-2"})
    shown = (_call("call_0", '{"city":"Oslo"}'), _call("call_1", '{"city":"Bergen"}'))
    messages = _shown(vault, *shown, results=("call_0", "call_1"))
    assert messages[1].parts == (_call("fc-1", sealed=SIGNATURE), _call("fc-2", '{"city": "Bergen"}'))
    assert [result.call_id for result in messages[2].tool_results] == ["fc-1", "fc-2"]


def test_an_id_that_was_made_for_who_sends_none_leads_to_no_turn() -> None:
    """Every conversation of such a client has a `call_0`: another one's turn must not come into this one."""
    vault = _vault()
    _keep(vault, ThinkingPart("Of another one.", THOUGHT), _call("call_0"), ids={"call_0": "call_0"})
    shown = _call("call_0", '{"city": "Rome"}')
    assert _shown(vault, shown, results=("call_0",))[1].parts == (shown,)


def test_a_provider_without_ids_gets_numbered_ones() -> None:
    """Our own id is nobody's who gave none: a numbered one can be left out by its dialect, and pairs all the same."""
    vault = _vault()
    _keep(vault, _call(sealed=SIGNATURE))
    messages = _shown(vault, _call(), results=(OWN,))
    assert messages[1].parts == (_call("call_0", sealed=SIGNATURE),)
    assert messages[2].tool_results[0].call_id == "call_0"


def test_the_same_words_after_another_question_are_another_turn() -> None:
    """Of two turns that say the same, the one that followed the same message counts, else the later one."""
    vault = _vault()
    other = Sealed("google", {"thoughtSignature": "b3RoZXI="}, "google", "gemini-3-pro")
    _keep(vault, TextPart("Yes.", sealed=SIGNATURE))
    asyncio.run(
        remembered(vault, "", Request(messages=(user("Sure?"),)), Response(parts=(TextPart("Yes.", sealed=other),)), {})
    )
    assert _shown(vault, TextPart("Yes."))[1].parts == (TextPart("Yes.", sealed=SIGNATURE),)
    assert _shown(vault, TextPart("Yes."), before="Sure?")[1].parts == (TextPart("Yes.", sealed=other),)
    assert _shown(vault, TextPart(" Yes.\n"), before="Quite?")[1].parts == (TextPart("Yes.", sealed=other),)


@pytest.mark.parametrize(
    "arguments",
    ['{"n":4,"list":[1,{"b":2,"a":1}]}', '{"list": [1, {"a": 1, "b": 2}], "n": 4.0}'],
    ids=["compact", "sorted, with a float"],
)
def test_arguments_are_compared_as_values(arguments: str) -> None:
    """A client that parses and writes arguments again changes order, spaces and 4.0, and the call is the same."""
    vault = _vault()
    was = '{"n": 4.0, "list": [1, {"b": 2, "a": 1}]}'
    _keep(vault, _call(arguments=was, sealed=SIGNATURE), ids={OWN: "fc-1"})
    for call_id in (OWN, "call_0"):
        assert _shown(vault, _call(call_id, arguments), results=(call_id,))[1].parts == (
            _call("fc-1", was, sealed=SIGNATURE),
        )


def test_an_edited_call_keeps_its_id_and_loses_its_seal() -> None:
    """A seal never goes with arguments that it was not made for."""
    vault = _vault()
    _keep(vault, ThinkingPart("Hm.", THOUGHT), _call(sealed=SIGNATURE), ids={OWN: "fc-1"})
    messages = _shown(vault, _call(arguments='{"city": "Rome"}'), results=(OWN,))
    assert messages[1].parts == (ThinkingPart("Hm.", THOUGHT), _call("fc-1", '{"city": "Rome"}'))


def test_edited_words_stay_the_clients_and_thinking_goes_before_its_call() -> None:
    """A call that was taken out takes the thinking behind it along; the seal of changed text does not go back."""
    vault = _vault()
    second = ThinkingPart("More.", THOUGHT)
    was = (ThinkingPart("Hm.", THOUGHT), TextPart("A", sealed=SIGNATURE), _call(), second, _call(OWN_2))
    _keep(vault, *was, ids={OWN: "toolu_1", OWN_2: "toolu_2"})
    both = _shown(vault, TextPart("B"), _call(), _call(OWN_2), results=(OWN, OWN_2))
    assert both[1].parts == (was[0], TextPart("B"), _call("toolu_1"), second, _call("toolu_2"))
    one = _shown(vault, TextPart("B"), _call(OWN_2), results=(OWN_2,))
    assert one[1].parts == (second, TextPart("B"), _call("toolu_2"))


def test_an_owner_finds_nothing_of_another() -> None:
    """Two tenants with the same words and even the same ids get their own seals or none."""
    vault = _vault()
    _keep(vault, _call(sealed=SIGNATURE), owner="team-a", ids={OWN: "fc-1"})
    shown = (user("Weather in Oslo?"), Message("assistant", (_call(),)), Message("tool", (ToolResult(OWN, "t"),)))
    request = Request(messages=shown)
    assert asyncio.run(vault.restore("team-b", request)) is request
    assert asyncio.run(vault.restore("team-a", request)).messages[1].parts == (_call("fc-1", sealed=SIGNATURE),)


def test_a_miss_changes_nothing() -> None:
    """A request of which nothing is known is the same object: memos of the encoders still know it."""
    vault = _vault()
    request = Request(messages=(user("Hi"), Message("assistant", (TextPart("Hello"),)), user("And?")))
    assert asyncio.run(vault.restore("", request)) is request
    _keep(vault, _call(sealed=SIGNATURE))
    assert asyncio.run(vault.restore("", request)) is request


@pytest.mark.parametrize(
    "parts",
    [(TextPart("Plain."),), (_call(),), (_call(sealed=SIGNATURE), BrokenToolCall("x", "t", "{", "cut_off"))],
    ids=["plain text", "a call with our id alone", "a turn that was cut"],
)
def test_what_loses_nothing_is_not_kept(parts: tuple[Part, ...]) -> None:
    """Plain answers cost no memory; a turn with a broken call never goes back as it was."""
    vault = _vault()
    _keep(vault, *parts)
    assert _shown(vault, *parts)[1].parts == parts


def test_further_choices_are_turns_too() -> None:
    """Whichever of several choices the client goes on with comes back as it was."""
    vault = _vault()
    other = Alternative(parts=(_call(OWN_2, '{"city": "Bergen"}', SIGNATURE),))
    _keep(vault, _call(sealed=THOUGHT), ids={OWN: "a", OWN_2: "b"}, alternatives=(other,))
    messages = _shown(vault, _call(OWN_2, '{"city": "Bergen"}'), results=(OWN_2,))
    assert messages[1].parts == (_call("b", '{"city": "Bergen"}', SIGNATURE),)


def test_ids_that_a_provider_gives_again_stay_apart() -> None:
    """A server that begins its ids anew with every turn gets ours for the later calls."""
    vault = _vault()
    _keep(vault, _call(), ids={OWN: "call_a"})
    _keep(vault, _call(OWN_2), ids={OWN_2: "call_a"})
    turns = [Message("assistant", (_call(own),)) for own in (OWN, OWN_2)]
    results = [Message("tool", (ToolResult(own, "get_weather", "4"),)) for own in (OWN, OWN_2)]
    shown = (user("?"), turns[0], results[0], turns[1], results[1])
    messages = asyncio.run(vault.restore("", Request(messages=shown))).messages
    assert [call.id for message in messages for call in message.tool_calls] == ["call_a", OWN_2]
    assert [part.call_id for message in messages for part in message.tool_results] == ["call_a", OWN_2]


def test_a_cache_mark_of_the_client_stays() -> None:
    """The mark on the text that is replaced goes on."""
    vault = _vault()
    _keep(vault, ThinkingPart("Hm.", THOUGHT), TextPart("Yes."))
    assert _shown(vault, TextPart("Yes.", cache="5m"))[1].parts == (
        ThinkingPart("Hm.", THOUGHT),
        TextPart("Yes.", cache="5m"),
    )


def test_the_vault_is_bounded() -> None:
    """A turn that is too large is not kept; old ones make room for new ones."""
    vault = _vault(max_bytes=20_000)
    _keep(vault, ImagePart(b"x" * 3_000, "image/png", sealed=SIGNATURE), _call())
    assert _shown(vault, _call(), results=(OWN,))[1].parts == (_call(),)
    for number in range(40):
        _keep(vault, _call(f"call_il{number:022}", sealed=SIGNATURE), ids={f"call_il{number:022}": f"fc-{number}"})
    shown = _shown(vault, _call("call_il" + f"{39:022}"), results=("call_il" + f"{39:022}",))
    assert shown[1].parts == (_call("fc-39", sealed=SIGNATURE),)


def test_the_latest_turn_of_the_same_words_is_the_turn() -> None:
    """A conversation that was put back before, and then happened again: what the provider gave last comes back."""
    told = "Weather in Oslo? " * 20
    body = encode(
        {
            "model": "m",
            "messages": [
                {"role": "user", "content": told},
                {
                    "role": "assistant",
                    "tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "Oslo"}}}],
                },
                {"role": "tool", "tool_name": "get_weather", "content": "4"},
            ],
        }
    )
    asked = HttpRequest(url="http://test/api/chat", body=body)
    vault = _vault()
    for number in range(4):  # from the third time on the conversation is known by its text
        thought = ThinkingPart("Hm.", Sealed("anthropic", {"signature": f"number {number}"}))
        response = Response(parts=(thought, _call()))
        asyncio.run(remembered(vault, "", Request(messages=(user(told),)), response, {OWN: "toolu_01"}))
        request = get_dialect("ollama").decode_request(asked, DecodeOptions()).request
        for _ in range(2):
            assert asyncio.run(vault.restore("", request)).messages[1].parts[0] == thought


def test_turns_of_a_client_that_marks_what_is_to_be_cached_come_back() -> None:
    """Marks move from turn to turn; the turns before them, and those behind, are what they were."""
    vault = _vault()
    history: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "Weather in Oslo? " * 20}]}]
    for number in range(6):
        own = f"call_il{number:022}"
        thought = ThinkingPart("Hm.", Sealed("google", {"thoughtSignature": f"{number}"}))
        _keep(vault, thought, _call(own), ids={own: f"fc-{number}"})
        call = {"type": "tool_use", "id": own, "name": "get_weather", "input": {"city": "Oslo"}}
        result = {"type": "tool_result", "tool_use_id": own, "content": f"{number}"}
        history += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        marked = [*history[:-1], {"role": "user", "content": [{**result, "cache_control": {"type": "ephemeral"}}]}]
        asked = HttpRequest(url="http://test/v1/messages", body=encode({"model": "m", "messages": marked}))
        request = get_dialect("anthropic").decode_request(asked, DecodeOptions()).request
        restored = asyncio.run(vault.restore("", request)).messages
        assert [message.parts[0] for message in restored[1::2]] == [
            ThinkingPart("Hm.", Sealed("google", {"thoughtSignature": f"{before}"})) for before in range(number + 1)
        ]
        assert [
            part.call_id for message in restored[2::2] for part in message.parts if isinstance(part, ToolResult)
        ] == [f"fc-{before}" for before in range(number + 1)]
        for name in ("google", "openai-chat"):
            options = EncodeOptions(target=Target(model="m"))
            told = get_dialect(name).encode_request(replace(request, messages=restored), options)
            anew = get_dialect(name).encode_request(replace(request, messages=(*restored,)), options)
            assert (told.body, told.changes) == (anew.body, anew.changes)
