"""ReasoningStore, stored responses and accounts in a shared store: shared, apart by owner, bounded, and without it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager, closing
from typing import Any, cast

import pytest

from interlingua.errors import InternalServerError
from interlingua.gateway.calls.reading import read_request
from interlingua.gateway.keys.accounts import Row
from interlingua.gateway.keys.budget import Account, MeteredCall, Refusal, Used
from interlingua.gateway.keys.operations import Enter, Leave
from interlingua.gateway.keys.terms import Budget, Terms
from interlingua.gateway.state.presence import GONE_S, Presence
from interlingua.gateway.state.shared import (
    MAX_TRIES,
    SharedAccounts,
    SharedStore,
    shared_reasoning_store,
    shared_responses,
)
from interlingua.gateway.state.store import Entry
from interlingua.gateway.state.stored import KeptAnswer, Prepared
from interlingua.gateway.state.turns import Prefix
from interlingua.routing.commands import Command, Drop, LinkGone, Put, Read, Swap
from interlingua.routing.link import Link, open_link
from interlingua.types.content import Part, TextPart, ThinkingPart, ToolCall
from interlingua.types.message import Message
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.json import decode
from tests.support.gateway import remembered
from tests.support.relay import relayed
from tests.support.shared_servers import SharedServer


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        """It begins late enough for an outage to be over."""
        self.now_s = 1_000.0

    def __call__(self) -> float:
        """Its time."""
        return self.now_s


def _run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def _store(server: SharedServer, clock: Callable[[], float], **more: Any) -> SharedStore[str]:
    link = open_link(server.url, clock=clock)
    return SharedStore(link, "room", write=str.encode, read=bytes.decode, clock=clock, **more)


def test_two_gateways_have_one_store(server: SharedServer) -> None:
    """What one puts the other one gets and drops; bounds of time and size are those of the store."""

    async def work() -> None:
        clock = Clock()
        first, second = _store(server, clock, keep_s=60.0, max_entry_bytes=5), _store(server, clock)
        key, large = ("me", "call", "1"), ("me", "call", "2")
        await first.put([Entry(key, "Hi", 2), Entry(large, "too large", 9)])
        assert await second.get([key, large]) == ["Hi", None]
        left_ms = server.left_ms()
        assert left_ms == [pytest.approx(60_000, abs=30_000)]
        assert left_ms[0] <= 60_000
        server.end_all()
        assert await second.get([key]) == [None]
        await second.put([Entry(key, "again", 5)])
        await first.drop([key])
        assert await second.get([key]) == [None]
        assert await second.get([]) == []

    _run(work())


def test_few_large_values_are_put_at_once(server: SharedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else small ones of others would wait for them, and take that for an outage."""

    async def work() -> None:
        store, under_way, most = _store(server, Clock()), 0, 0
        run = store._link.run_async

        async def counted(steps: Any) -> Any:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            try:
                return await run(steps)
            finally:
                under_way -= 1

        monkeypatch.setattr(store._link, "run_async", counted)
        entries = [Entry(("me", "call", str(number)), "x" * 300_000, 300_000) for number in range(6)]
        await asyncio.gather(*[store.put([entry]) for entry in entries])
        assert most == 2
        assert await store.get([entry.key for entry in entries]) == ["x" * 300_000] * 6

    _run(work())


def test_sec_11_no_name_reaches_the_key_of_another_owner(server: SharedServer) -> None:
    """Owner, kind and name are never written into one another, and none of them can be read from a key."""

    async def work() -> None:
        store = _store(server, Clock())
        await store.put([Entry(("a", "call", "b:c"), "mine", 4)])
        others = [("a:call", "b", "c"), ("", "a:call", "b:c"), ("a", "call:b", "c"), ("A", "call", "b:c")]
        assert await store.get(others) == [None] * 4
        keys = server.names()
        assert len(keys) == 1
        assert keys[0].startswith(f"{open_link(server.url, clock=Clock()).prefix}{{room}}:".encode())
        assert b"call" not in keys[0]

    _run(work())


def test_without_the_store_there_is_a_memory_and_deletions_are_made_up_for(server: SharedServer) -> None:
    """Put, get and drop go on; after the outage what was put is still there, what was dropped is gone everywhere."""

    async def work() -> None:
        clock = Clock()
        store, other, mirror = _store(server, clock), _store(server, clock), _store(server, clock, mirrors=True)
        kept, later, own = ("o", "k", "kept"), ("o", "k", "later"), ("o", "k", "own")
        await store.put([Entry(kept, "kept", 4)])
        await mirror.put([Entry(own, "own", 3)])
        links = [one._link for one in (store, mirror)]
        for link in links:
            link._timeout_s = 0.05
        server.sleep()
        assert await store.get([kept]) == [None]
        assert await mirror.get([own]) == ["own"]
        await store.put([Entry(later, "later", 5)])
        assert await store.get([later]) == ["later"]
        await store.drop([kept])
        server.wake()
        for link in links:
            link._timeout_s = 10.0
        clock.now_s += 10
        assert await other.get([kept]) == ["kept"]
        assert await store.get([later]) == ["later"]
        assert await other.get([kept]) == [None]

    _run(work())


def test_what_another_version_wrote_is_not_there(server: SharedServer) -> None:
    """No crash, no half value."""

    async def work() -> None:
        clock = Clock()
        link = open_link(server.url, clock=clock)
        store = SharedStore(link, "reasoning", write=str.encode, read=bytes.decode, clock=clock)
        call = ToolCall(id="call_il1", name="f", arguments_json="{}")
        request = Request(messages=(Message(role="user"), Message(role="assistant", parts=(call,))))
        key = Prefix(request).turns[0].key
        before = '{"turn": {"parts": [{"type": "thinking", "text": "hm"}], "ids": {"call_il1": "toolu_1"}}}'
        for name, value in (("call_il1", before), (key, '{"other": 1}')):
            for kind in ("call", "turn", "call 2", "turn 2"):
                await store.put([Entry(("me", kind, name), value, len(value))])
        assert (await shared_reasoning_store(link, clock).restore("me", request)).request is request

    _run(work())


def test_a_turn_is_restored_by_another_gateway(server: SharedServer) -> None:
    """Calls, thinking and provider ids as they were, for its owner alone."""

    async def work() -> None:
        clock = Clock()
        first, second = [shared_reasoning_store(open_link(server.url, clock=clock), clock) for _ in range(2)]
        calls = tuple([ToolCall(id=f"call_il{n}", name="f", arguments_json=f'{{"n": {n}}}') for n in (1, 2)])
        parts: tuple[Part, ...] = (ThinkingPart(text="hm"), TextPart(text="so"), *calls)
        question = Message(role="user", parts=(TextPart(text="Hi"),))
        response: Response[None] = Response(parts=parts)
        await remembered(first, "me", Request(messages=(question,)), response, {"call_il1": "toolu_1"})
        shown = Request(messages=(question, Message(role="assistant", parts=parts[1:])))
        for gateway in (second, first):
            message = (await gateway.restore("me", shown)).request.messages[1]
            assert message.parts[:2] == parts[:2]
            assert [call.id for call in message.tool_calls] == ["toolu_1", "call_0"]
        other = Request(messages=(Message(role="user", parts=(TextPart(text="Ho"),)), *shown.messages[1:]))
        message = (await second.restore("me", other)).request.messages[1]
        assert message.parts[0] == parts[1]
        assert [call.id for call in message.tool_calls] == ["toolu_1", "call_il2"]
        assert (await second.restore("you", shown)).request is shown

    _run(work())


def test_an_answer_is_gone_on_from_at_another_gateway(server: SharedServer) -> None:
    """And deleted there for all."""

    async def work() -> None:
        clock = Clock()
        first, second = [shared_responses(open_link(server.url, clock=clock), clock) for _ in range(2)]
        body = read_request(b'{"input": [{"role": "user", "content": "Hi"}]}', "openai-responses")
        await first.keep("me", "resp_1", b'{"output": []}', Prepared(body, body))
        held = await second.find("me", "resp_1")
        assert held == KeptAnswer(b'{"output": []}', b'[{"role": "user", "content": "Hi"}]', "")
        assert await second.find("you", "resp_1") is None
        await second.forget("me", "resp_1")
        assert await first.find("me", "resp_1") is None

    _run(work())


# Accounts


def _enter(number: int, terms: Terms, *, at_s: float = 1_000.0, tokens: int = 10) -> Enter:
    return Enter(MeteredCall(f"call-{number}", "here", at_s, tokens), (("key:k", terms),))


def _leave(entered: Enter, used: int, *, at_s: float = 1_001.0) -> Leave:
    return Leave(entered.call, ("key:k",), Used(used), at_s)


@asynccontextmanager
async def _accounts(server: SharedServer, clock: Clock, count: int) -> AsyncGenerator[list[SharedAccounts]]:
    made = [SharedAccounts(open_link(server.url, clock=clock)) for _ in range(count)]
    yield made
    for accounts in made:
        await accounts.close()


def test_64_calls_at_two_gateways_never_overspend(server: SharedServer) -> None:
    """Ten fit into the budget and ten enter, whoever asks; what they used less is free again."""
    terms = Terms(budgets=(Budget(amount=100, unit="tokens", period="total"),))

    async def work() -> None:
        async with _accounts(server, Clock(), 2) as (first, second):
            asked = [_enter(number, terms) for number in range(64)]
            gates = [(first, second)[number % 2] for number in range(64)]
            told = await asyncio.gather(*[gate.enter(one) for gate, one in zip(gates, asked, strict=True)])
            entered = [one for one, refusal in zip(asked, told, strict=True) if refusal is None]
            assert len(entered) == 10
            row = Row(key="k", day="2026-11-22", model="m", requests=1)
            await asyncio.gather(*[second.leave(_leave(one, 4), row) for one in entered])
            (account,) = await first.accounts(["key:k"])
            assert account is not None
            assert (account.reservations, account.spent.in_total) == ((), Used(40))

    _run(work())


def test_requests_of_a_minute_are_exact_over_two_gateways(server: SharedServer) -> None:
    """Seven of twenty."""
    terms = Terms(rpm=7)

    async def work() -> None:
        async with _accounts(server, Clock(), 2) as gates:
            told = await asyncio.gather(*[gates[number % 2].enter(_enter(number, terms)) for number in range(20)])
            assert sum(refusal is None for refusal in told) == 7
            assert {refusal.limit for refusal in told if isinstance(refusal, Refusal)} == {"requests"}

    _run(work())


def test_a_budget_lets_nobody_in_without_the_store_and_goes_on_afterwards(server: SharedServer) -> None:
    """What ends meanwhile is settled afterwards; a Redis that comes back empty gets what was known."""
    terms = Terms(budgets=(Budget(amount=100, unit="tokens", period="total"),))

    async def work() -> None:
        clock = Clock()
        async with _accounts(server, clock, 2) as (first, second):
            before = _enter(1, terms, tokens=60)
            assert await first.enter(before) is None
            server.stop()
            for each in (first, second):
                with pytest.raises(InternalServerError, match="which does not answer") as caught:
                    await each.enter(_enter(2, terms, tokens=40))
                assert (caught.value.status, caught.value.retry_after_s) == (503, 5.0)
            await first.leave(_leave(before, 50))
            server.start()
            clock.now_s += 10
            assert await first.enter(_enter(3, terms, tokens=50)) is None
            refusal = await second.enter(_enter(4, terms, tokens=1))
            assert refusal is not None
            (account,) = await second.accounts(["key:k"])
            assert account is not None
            assert [held.call.id for held in account.reservations] == ["call-3"]
            assert account.spent.in_total == Used(50)

    _run(work())


def test_a_call_that_the_store_let_in_unheard_is_given_back(server: SharedServer) -> None:
    """Redis takes a reservation and its answer never comes: the call is refused, and reserves nothing afterwards."""
    terms = Terms(budgets=(Budget(amount=100, unit="tokens", period="total"),))

    async def work() -> None:
        clock = Clock()
        async with _accounts(server, clock, 1) as (gate,):
            written = gate._link.run_async

            async def unheard(steps: Any) -> Any:
                await written(steps)
                raise LinkGone

            gate._link.run_async = unheard
            with pytest.raises(InternalServerError):
                await gate.enter(_enter(1, terms, tokens=60))
            gate._link.run_async = written
            assert await gate.enter(_enter(2, terms, tokens=100)) is None
            (account,) = await gate.accounts(["key:k"])
            assert account is not None
            assert [held.call.id for held in account.reservations] == ["call-2"]

    _run(work())


def test_accounts_go_on_without_the_store_and_are_settled_afterwards(server: SharedServer) -> None:
    """Where no budget is: from what was known; a Redis that comes back empty gets that, and what was used then."""
    terms = Terms(tpm=100)

    async def work() -> None:
        clock = Clock()
        async with _accounts(server, clock, 2) as (first, second):
            before, during = _enter(1, terms, tokens=60), _enter(2, terms, tokens=40)
            assert await first.enter(before) is None
            server.stop()
            assert await first.enter(during) is None
            refusal = await first.enter(_enter(3, terms))
            assert refusal is not None
            await first.leave(_leave(before, 50))
            assert await first.enter(_enter(4, terms)) is None
            server.start()
            clock.now_s += 10
            await first.leave(_leave(during, 30))
            (account,) = await second.accounts(["key:k"])
            assert account is not None
            assert [held.call.id for held in account.reservations] == ["call-4"]
            assert account.spent.in_total == Used(50 + 30)

    _run(work())


def test_an_account_that_is_damaged_lets_nobody_in_and_is_not_written_over(
    server: SharedServer, caplog: pytest.LogCaptureFixture
) -> None:
    """It is said once; other accounts go on, and so does this one once it was deleted."""

    async def work() -> None:
        clock = Clock()
        link = open_link(server.url, clock=clock)
        values: list[Any] = []

        def run(command: Command) -> Generator[list[Command], list[Any], None]:
            values.extend((yield [command]))

        name = f"{link.prefix}{{accounts}}:key:k"
        await link.run_async(run(Put(name, b"nonsense", 600_000)))
        async with _accounts(server, clock, 1) as (gate,):
            for _ in range(2):
                with pytest.raises(InternalServerError, match="what the account key:k has used cannot be read"):
                    await gate.enter(_enter(1, Terms(rpm=1)))
            await gate.leave(_leave(_enter(1, Terms()), 4))
            other = Enter(_enter(2, Terms()).call, (("key:other", Terms(rpm=1)),))
            assert await gate.enter(other) is None
            await link.run_async(run(Read((name,))))
            assert values.pop() == [b"nonsense"]
            await link.run_async(run(Drop((name,))))
            assert await gate.enter(_enter(1, Terms(rpm=1))) is None
        assert len([record for record in caplog.records if "damaged" in record.getMessage()]) == 1

    _run(work())


def test_a_settlement_whose_reply_is_lost_counts_once(server: SharedServer) -> None:
    """A connection breaks between its writing and the reply; whoever sends it again knows that it may be done."""

    async def work() -> None:
        clock = Clock()
        async with relayed(server.url) as relay:
            gate = SharedAccounts(open_link(relay.url, clock=clock))
            terms = Terms(budgets=(Budget(amount=2_000, unit="tokens", period="total"),))
            for number in range(3):
                entered = _enter(number, terms)
                assert await gate.enter(entered) is None
                relay.loses = number == 1
                await gate.leave(_leave(entered, 4))
                clock.now_s += 10  # the outage is over
            (account,) = await gate.accounts(["key:k"])
            assert account is not None
            assert account.spent.in_total == Used(12)
            assert account.reservations == ()
            await gate.close()

    _run(work())


def test_an_account_that_is_damaged_later_is_said_once(server: SharedServer, caplog: pytest.LogCaptureFixture) -> None:
    """Also where this gateway wrote it well before."""

    async def work() -> None:
        link = open_link(server.url, clock=Clock())

        def run(command: Command) -> Generator[list[Command], list[Any], None]:
            yield [command]

        async with _accounts(server, Clock(), 1) as (gate,):
            assert await gate.enter(_enter(1, Terms(rpm=9))) is None
            await link.run_async(run(Put(f"{link.prefix}{{accounts}}:key:k", b"nonsense", 600_000)))
            for number in range(2, 5):
                with pytest.raises(InternalServerError, match="what the account key:k has used cannot be read"):
                    await gate.enter(_enter(number, Terms(rpm=9)))
        assert len([record for record in caplog.records if "damaged" in record.getMessage()]) == 1

    _run(work())


def test_a_settlement_that_is_made_again_gives_nothing_back_twice(server: SharedServer) -> None:
    """Redis had written it and was not heard: the second time its reservation is gone, and nothing is changed."""

    async def work() -> None:
        async with _accounts(server, Clock(), 1) as (gate,):
            entered = _enter(1, Terms(budgets=(Budget(amount=100, unit="tokens", period="total"),)))
            assert await gate.enter(entered) is None
            leave = _leave(entered, 4)
            await gate.leave(leave)
            gate._missed.append(leave)
            assert await gate.enter(_enter(2, Terms(rpm=9))) is None
            (account,) = await gate.accounts(["key:k"])
            assert account is not None
            assert account.spent.in_total == Used(4)

    _run(work())


def test_what_a_dead_gateway_had_reserved_is_charged_and_stands_in_nobodys_way(server: SharedServer) -> None:
    """Its place among calls at a time is free, its tokens are charged; if it lives after all, it corrects that."""
    terms = Terms(concurrency=1, budgets=(Budget(amount=100, unit="tokens", period="total"),))
    gone = frozenset[str]()

    async def work() -> None:
        clock = Clock()
        accounts = SharedAccounts(open_link(server.url, clock=clock), gone=lambda: gone)
        held = Enter(MeteredCall("call-1", "dead", 1_000.0, 60), (("key:k", terms),))
        assert await accounts.enter(held) is None
        refusal = await accounts.enter(_enter(2, terms))
        assert isinstance(refusal, Refusal)
        assert refusal.limit == "concurrency"
        nonlocal gone
        gone = frozenset({"dead"})
        assert await accounts.enter(_enter(3, terms)) is None
        (account,) = await accounts.accounts(["key:k"])
        assert account is not None
        assert ([one.call.id for one in account.reservations], account.spent.in_total) == (["call-3"], Used(60))
        await accounts.leave(_leave(held, 20))
        (account,) = await accounts.accounts(["key:k"])
        assert account is not None
        assert account.spent.in_total == Used(20)

    _run(work())


def test_a_gateway_is_gone_after_thirty_silent_seconds(server: SharedServer) -> None:
    """Of those that were heard of; and not before all had time to be heard again after Redis was away."""
    clock = Clock()
    with closing(open_link(server.url, clock=clock)) as link:
        first, second = [Presence(link, name, clock=clock) for name in ("first", "second")]
        first.beat()
        second.beat()

        def heard(seconds_ago: int) -> None:
            server.set_heard(f"{link.prefix}{{accounts}}:present", "second", seconds_ago)

        heard(GONE_S + 1)
        first.beat()
        assert first.gone == frozenset()  # it has not looked on for so long itself
        clock.now_s += GONE_S
        first.beat()
        assert first.gone == {"second"}
        heard(GONE_S - 2)
        first.beat()
        assert first.gone == frozenset()
        heard(GONE_S + 1)
        second.beat()
        first.beat()
        assert first.gone == frozenset()
        server.stop()
        first.beat()
        server.start()
        clock.now_s += 10
        heard(GONE_S + 1)
        first.beat()
        assert first.gone == frozenset()


# Rows of what was used


def _row(model: str, day: str = "2026-11-22", **counts: int) -> Row:
    return Row(key="k", day=day, model=model, **counts)


def test_a_call_is_two_commands_and_a_lost_race_one_more(server: SharedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row of use goes along with the swap of a settlement, and is counted once also where that swap fails."""

    async def work() -> None:
        sent: list[str] = []
        async with _accounts(server, Clock(), 2) as (first, second):
            terms = Terms(rpm=100)
            for number, accounts in enumerate((first, second)):  # each has written the account
                await accounts.leave(_leave(await _entered(accounts, number, terms), 5), _row("m", requests=1))
            exchange = first._link._exchange_async

            async def counted(client: Any, commands: list[Command]) -> list[Any]:
                sent.extend([type(command).__name__ for command in commands])
                return await exchange(client, commands)

            monkeypatch.setattr(first._link, "_exchange_async", counted)
            entered = await _entered(first, 2, terms)
            assert sent == ["Swap", "Swap"]  # the second one wrote meanwhile
            await first.leave(_leave(entered, 5), _row("m", requests=1))
            await first.leave(_leave(await _entered(first, 3, terms), 5), _row("m", requests=1))
            assert sent == ["Swap"] * 5
            third = await _entered(first, 4, terms)
            await second.leave(_leave(await _entered(second, 5, terms), 5))
            await first.leave(_leave(third, 5), _row("m", requests=1), _row("m", "2026-11-23", requests=1))
            assert sent == [*["Swap"] * 6, "Swap", "Count", "Swap"]
            assert {row.day: row.requests for row in await second.used()} == {"2026-11-22": 5, "2026-11-23": 1}

    _run(work())


async def _entered(accounts: SharedAccounts, number: int, terms: Terms) -> Enter:
    entered = _enter(number, terms)
    assert await accounts.enter(entered) is None
    return entered


def test_what_was_used_is_summed_over_gateways(server: SharedServer) -> None:
    """By key, day and model; what came in an outage is added once Redis is back; of one key, from a day on."""
    terms = Terms(rpm=100)

    async def work() -> None:
        clock = Clock()
        async with _accounts(server, clock, 2) as (first, second):
            assert await first.used() == []
            calls = [_enter(number, terms) for number in range(4)]
            for gate, call in zip((first, second, first, second), calls, strict=True):
                assert await gate.enter(call) is None
            await first.leave(
                _leave(calls[0], 4), _row("m", requests=1, input_tokens=3, nano_usd=5), _row("n", failed=1)
            )
            await second.leave(_leave(calls[1], 4), _row("m", requests=1, input_tokens=1))
            both = [_row("m", requests=2, input_tokens=4, nano_usd=5), _row("n", failed=1)]
            assert [await first.used(), await second.used("k", "2026-11-22")] == [both, both]
            assert [await first.used("other"), await first.used("k", "2026-11-23")] == [[], []]
            server.stop()
            await first.leave(_leave(calls[2], 4), _row("m", "2026-11-23", requests=1, output_tokens=7))
            assert await first.used() == [_row("m", "2026-11-23", requests=1, output_tokens=7)]
            server.start()
            clock.now_s += 10
            await first.leave(_leave(calls[3], 4), _row("m", "2026-11-23", requests=1, output_tokens=1))
            assert await second.used("k", "2026-11-23") == [_row("m", "2026-11-23", requests=2, output_tokens=8)]

    _run(work())


class Contested:
    """A link whose Redis others write to faster, so many times."""

    prefix = "il:"
    kind = "Redis"

    def __init__(self) -> None:
        self.times = 0
        self.value = b""

    async def run_async(self, steps: Generator[list[Command], list[Any], Any]) -> Any:
        """What the steps come to."""
        try:
            commands = next(steps)
            while True:
                replies = [self._reply(command) for command in commands]
                commands = steps.send(replies)
        except StopIteration as done:
            return done.value

    def _reply(self, command: Command) -> Any:
        if isinstance(command, Read):
            return [self.value]
        assert isinstance(command, Swap)
        if self.times:
            self.times -= 1
            return [self.value]
        (self.value,) = command.after
        return 1


def test_a_call_that_ended_is_written_however_long_others_are_faster() -> None:
    """Who wants to begin is told to ask again; a settlement waits for the next change, and nobody is told of it."""

    async def work() -> None:
        link = Contested()
        accounts = SharedAccounts(cast("Link", link))
        entered = _enter(1, Terms(rpm=5))
        assert await accounts.enter(entered) is None
        link.times = 2 * MAX_TRIES
        await accounts.leave(_leave(entered, 4))
        with pytest.raises(InternalServerError, match="being changed by others without pause"):
            await accounts.enter(_enter(2, Terms(rpm=5)))
        assert await accounts.enter(_enter(3, Terms(rpm=5))) is None
        account = decode(link.value, Account)
        assert (account.spent.in_total, [held.call.id for held in account.reservations]) == (Used(4), ["call-3"])

    _run(work())
