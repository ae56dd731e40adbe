"""Bodies that were read before: what is found, what is read as a whole, and what nobody can change."""

from __future__ import annotations

import json
from typing import Any
from unittest import mock

import msgspec
import pytest

from bench.rows.pairs import load
from interlingua.dialects._contract import DecodedRequest, DecodeOptions
from interlingua.dialects._known import bodies
from interlingua.dialects._known.bodies import BodyMemo
from interlingua.dialects._known.histories import KnownHistory, usual_further
from interlingua.dialects._known.sharing import memory_of
from interlingua.dialects._serve import paired_history
from interlingua.dialects.openai_chat import server
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import DecodeError, Error, LimitExceededError
from interlingua.types.change import Changes
from interlingua.types.message import assistant, user
from interlingua.types.request import Request
from interlingua.wire.http import HttpRequest

CHAT = get_dialect("openai-chat")
LONG = "A text that is long enough to be worth remembering. " * 4
URL = "http://test/v1/chat/completions"
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
]


def read(body: bytes, url: str = URL, **options: Any) -> DecodedRequest:
    """What a Chat body says."""
    return CHAT.decode_request(HttpRequest(url=url, body=body), DecodeOptions(**options))


def anew(body: bytes) -> DecodedRequest | type[Error]:
    """The same without a memory; the kind of error that it is."""
    with mock.patch.object(BodyMemo, "find", return_value=None):
        try:
            return read(body)
        except Error as error:
            return type(error)


def found(body: bytes) -> DecodedRequest | type[Error]:
    """The same with one."""
    try:
        return read(body)
    except Error as error:
        return type(error)


def texts(*messages: str, before: str = "", after: str = "") -> bytes:
    """A body of messages, by turns of the user and the assistant, with members before and after them."""
    roles = ("user", "assistant")
    told = [{"role": roles[place % 2], "content": text} for place, text in enumerate(messages)]
    return f'{{"model":"m",{before}"messages":{json.dumps(told)}{after}}}'.encode()


def known(body: bytes) -> bytes:
    """The body, read until it is known."""
    for _ in range(3):
        read(body)
    return body


def with_rest(body: bytes, rest: bytes) -> bytes:
    """The body with that behind its last message."""
    end = body.index(b"}]") + 1
    return body[:end] + rest + body[end:]


def is_read(body: bytes, url: str = URL, **options: Any) -> bool:
    """Whether the body is parsed as a whole."""
    with mock.patch.object(server, "decode_received", side_effect=server.decode_received) as parser:
        read(body, url, **options)
    return parser.called


def test_a_body_that_came_before_is_not_read_again() -> None:
    """From the third time on nothing is parsed, and what is said is equal."""
    body = texts(LONG, "one", LONG, after=f',"tools":{json.dumps(TOOLS)},"user":"u"')
    first = read(body)
    known(body)
    assert not is_read(body)
    assert read(body) == first == anew(body)


def test_only_what_is_new_is_read() -> None:
    """A turn more costs that turn, wherever the messages stand, and so does the next; spaces change nothing."""
    for number, (before, after) in enumerate((("", ',"temperature":1'), ('"temperature":1,', ""))):
        body = known(texts(LONG, f"{number}", LONG, before=before, after=after))
        for rest in (b',{"role":"assistant","content":"a"}', b' ,\n {"role":"user","content":"b"} '):
            body = with_rest(body, rest)
            assert not is_read(body)
            assert read(body) == anew(body)


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_finds_what_it_read_and_reads_what_goes_on_in_one_go(name: str) -> None:
    """From the third time on a body is found, and so is what is said behind it; no general reader is asked for that."""
    dialect, pair = get_dialect(name), load(name)
    find, told = BodyMemo.find, list[object]()

    def found(*given: Any) -> DecodedRequest | None:
        told.append(find(*given))
        return told[-1]  # type: ignore[return-value]

    def read(body: bytes) -> DecodedRequest:
        return dialect.decode_request(HttpRequest(url=pair.url, body=body), DecodeOptions())

    expected = read(pair.request)
    with mock.patch.object(BodyMemo, "find", found), mock.patch.object(bodies, "read_further", side_effect=KeyError):
        for _ in range(3):
            read(pair.before)
        told.clear()
        assert read(pair.request) == expected
        assert told[0] == expected


def test_each_turn_is_read_by_itself_where_marks_may_stand() -> None:
    """Where there are marks for the prompt cache, each turn without one is remembered, and a marked end read anew."""
    dialect, rests = get_dialect("anthropic"), list[bytes]()

    def reads(known: KnownHistory, rest: bytes, *given: Any, **options: Any) -> KnownHistory | None:
        rests.append(rest)
        return usual_further(known, rest, *given, **options)

    def read(messages: bytes) -> DecodedRequest:
        body = b'{"model":"m","max_tokens":9,"messages":[%b]}' % messages
        return dialect.decode_request(HttpRequest(url="http://test/v1/messages", body=body), DecodeOptions())

    first = b'{"role":"user","content":"%b marks"}' % LONG.encode()
    turns = [b'{"role":"assistant","content":"a%d"},{"role":"user","content":"b%d"}' % (n, n) for n in range(3)]
    part = b'{"type":"text","text":"d","cache_control":{"type":"ephemeral"}}'
    marked = b'{"role":"assistant","content":"c"},{"role":"user","content":[%b]}' % part
    for _ in range(3):
        read(first)
    with mock.patch.object(bodies, "usual_further", reads):
        for length in (1, 2, 3, 3):
            read(b",".join([first, *turns[:length]]))
        assert rests == [b"[%b]" % turn for turn in turns]
        for _ in range(2):
            read(b",".join([first, *turns, marked]))
        assert rests[3:] == [b"[%b]" % marked] * 2


STRANGE = [
    b",",
    b",,",
    b",]",
    b' {"role":"assistant","content":"a"}',
    b',{"role":"assistant","content":"a"},',
    b',{"role":"assistant","content":"a"}],"messages":[{"role":"user","content":"b"}',
    b',{"role":"assistant","content":"a"}],"user":[{"role":"user","content":"b"}',
    b'],"stop":["a"',
    b',{"role":"assistant","content":"a"}\x0c',
    b'\x0b,{"role":"assistant","content":"a"}',
    b',{"role":"assistant","content":"\xff"}',
    b',{"role":"assistant","content":"\\ud800"}',
    b',{"role":"somebody","content":"a"}',
    b',{"role":"assistant","content":"a","role":"user"}',
    b',{"role":"user","content":"again the user"}',
    b',{"role":"tool","tool_call_id":"x","content":"a"}',
    b',{"role":"assistant","content":"a","odd":%s1%s}' % (b"[" * 200, b"]" * 200),
    b',{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{"}}]}',
]


@pytest.mark.parametrize("rest", STRANGE, ids=range(len(STRANGE)))
def test_what_is_strange_is_read_as_a_whole(rest: bytes) -> None:
    """Whatever stands behind known messages, the body says what it says without a memory, errors and changes too."""
    body = with_rest(known(texts(LONG, "one", LONG + "!", after=',"stop":"x"')), rest)
    expected = anew(body)
    assert [found(body) for _ in range(4)] == [expected] * 4


def test_a_text_that_stands_in_the_body_twice_is_no_beginning() -> None:
    """Where the messages stand in another member, too, the place is doubtful, and nothing is remembered."""
    twin = json.dumps([{"role": "user", "content": LONG + "?"}])
    body = known(f'{{"model":"m","odd":{twin},"messages":{twin}}}'.encode())
    assert is_read(body)


def test_another_address_or_policy_is_another_body() -> None:
    """What bears on the reading besides the body is compared."""
    body = known(texts(LONG, "two", LONG))
    assert is_read(body, "http://test/other")
    assert is_read(body, history="mend")
    assert not is_read(body)


def test_other_members_behind_the_messages_are_another_body() -> None:
    """Bodies with one conversation and different members are kept apart."""
    bodies = [texts(LONG, "three", LONG, after=f',"seed":{seed}') for seed in range(3)]
    for body in bodies:
        known(body)
    assert [read(body).request.seed for body in bodies] == [0, 1, 2]
    assert not any(is_read(body) for body in bodies)


def test_what_requests_share_cannot_be_changed() -> None:
    """Members of a known body refuse to be changed; what is empty is the request's own."""
    body = known(texts(LONG, "four", LONG, after=',"odd":{"a":1},"metadata":{"a":"b"},"logit_bias":{"1":2}'))
    request = read(body).request
    for value in (request.extra["openai-chat"], request.metadata, request.logit_bias):
        assert value is not None
        with pytest.raises(TypeError, match="deepcopy"):
            value["mine"] = 1
    plain = known(texts(LONG, "five", LONG))
    read(plain).request.extra["openai-chat"] = {"mine": 1}
    assert read(plain).request.extra == {}


def test_a_body_that_is_not_bytes_is_read() -> None:
    """A buffer that may change is never remembered."""
    body = bytearray(known(texts(LONG, "six", LONG)))
    assert is_read(body)  # pyright: ignore[reportArgumentType]


def _memo(max_bytes: int = 10_000) -> BodyMemo:
    def decode(options: DecodeOptions, text: bytes, changes: Changes) -> Any:
        if b"deep" in text:
            raise LimitExceededError("too deep")
        if b"bad" in text:
            raise DecodeError("bad")
        roles = (assistant, user)
        messages = tuple([roles[place % 2](text) for place, text in enumerate(json.loads(text))])
        return (), paired_history(messages, options, changes)

    return BodyMemo("d", decode, max_generation_bytes=max_bytes)


def _keep(memo: BodyMemo, text: str, rest: str = "", said_of_tools: str = "") -> bytes:
    messages = json.dumps([text])
    told = f'["{said_of_tools}"]'
    before = f'"t":{told},' if said_of_tools else ""
    body = f'{{{before}"m":{messages}{rest}}}'.encode()
    tools = msgspec.Raw(told.encode()) if said_of_tools else msgspec.UNSET
    history = KnownHistory(messages.encode(), (), [user(text)])
    decoded = DecodedRequest(model="m", request=Request(messages=history.messages))
    memo.keep(body, DecodeOptions(), (), (msgspec.Raw(messages.encode()), tools), decoded)
    return body


def test_memory_is_bounded() -> None:
    """With both generations full the oldest is forgotten; what is used stays."""
    memo = _memo(3 * memory_of(b"{%b}" % bytes(312)))
    bodies = [_keep(memo, f"{number:03}" * 100) for number in range(8)]  # three to a generation

    def is_there(number: int) -> bool:
        return memo.find(bodies[number], DecodeOptions(), ()) is not None

    assert [is_there(number) for number in (2, 3, 4, 5, 6, 7)] == [False, True, True, False, True, True]
    _keep(memo, "9" * 300)
    assert [is_there(number) for number in (3, 4, 6)] == [False, True, True]


def test_a_longer_body_is_never_kept() -> None:
    """One byte more than the bound is too much, for what goes on, too."""
    memo = _memo(10_000_000)
    with mock.patch.object(bodies, "MAX_BODY_BYTES", 40):
        body = _keep(memo, "x" * 30)
        assert len(body) == 40
        assert memo.find(body, DecodeOptions(), ()) is not None
        assert memo.find(with_end(body, b',"a"'), DecodeOptions(), ()) is None
        assert memo.find(_keep(memo, "x" * 31), DecodeOptions(), ()) is None


def with_end(body: bytes, rest: bytes) -> bytes:
    """A body of one list with that behind its last element."""
    return body[:-2] + rest + body[-2:]


def test_what_the_reader_refuses_is_nothing_known() -> None:
    """Faults of the rest are left to who reads the whole."""
    memo = _memo()
    body = _keep(memo, "x" * 200)
    for rest in (b',"deep"', b',"bad"'):
        assert memo.find(with_end(body, rest), DecodeOptions(), ()) is None
    gone_on = memo.find(with_end(body, b',"good"'), DecodeOptions(), ())
    assert gone_on is not None
    assert gone_on.request.messages == (user("x" * 200), assistant("good"))


def test_bodies_with_the_same_beginning_are_few() -> None:
    """Of bodies that differ behind their messages the last eight are kept."""
    memo = _memo()
    bodies = [_keep(memo, "y" * 200, f',"n":{number}') for number in range(10)]
    there = [memo.find(body, DecodeOptions(), ()) is not None for body in bodies]
    assert there == [False] * 2 + [True] * 8


def test_a_fork_finds_the_beginning_that_it_has() -> None:
    """Of conversations that part, each goes on with its own."""
    memo = _memo()
    body = _keep(memo, "z" * 200)
    for text in ("a", "b", "c"):
        found = memo.find(with_end(body, b',"%b"' % text.encode()), DecodeOptions(), ())
        assert found is not None
        assert found.request.messages[1:] == (assistant(text),)


def test_bodies_that_begin_with_their_tools_are_told_apart_behind_them() -> None:
    """Eight lists of tools have a stem each, more have none; all are found, and what goes on with them."""
    memo = _memo(1_000_000)
    told = [(f"t{tools:03}" * 100, f"{number:03}" * 100) for tools in range(10) for number in range(3)]
    bodies = [_keep(memo, text, said_of_tools=tools) for tools, text in told]
    for body, (_, text) in zip(bodies, told, strict=True):
        for rest, messages in ((b"", (user(text),)), (b',"a"', (user(text), assistant("a")))):
            found = memo.find(with_end(body, rest), DecodeOptions(), ())
            assert found is not None
            assert found.request.messages == messages
        assert memo.find(body.replace(b'"t":["', b'"t":["x'), DecodeOptions(), ()) is None


@pytest.mark.parametrize("name", ["google", "ollama"])
def test_ids_that_are_made_count_the_calls_before(name: str) -> None:
    """Where a client sends no ids, a turn more is read by itself, and its calls are numbered on, told as ever."""
    dialect = get_dialect(name)
    url = {"google": "http://test/v1beta/models/m:generateContent", "ollama": "http://test/api/chat"}[name]
    turns = [_asked_in(name, "user"), *[turn for number in range(3) for turn in _step_in(name, number)]]
    for length in (1, 3, 5, 7):
        body = json.dumps({"model": "m", "contents" if name == "google" else "messages": turns[:length]}).encode()
        if name == "google":
            body = body.replace(b'"model": "m", ', b"")
        http = HttpRequest(url=url, body=body)
        with mock.patch.object(BodyMemo, "find", return_value=None):
            expected = dialect.decode_request(http, DecodeOptions())
        reader = mock.patch(f"interlingua.dialects.{name}.server._RequestDecoder")
        for _ in range(2 if length == 1 else 0):
            dialect.decode_request(http, DecodeOptions())
        with reader as whole:
            assert dialect.decode_request(http, DecodeOptions()) == expected
        assert not whole.called
        ids = [call.id for message in expected.request.messages for call in message.tool_calls]
        assert ids == [f"call_{number}" for number in range(length // 2)]
        assert [change.code for change in expected.changes] == ["call_id_made"] * (length // 2)


def _asked_in(name: str, role: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": LONG + name}]} if name == "google" else {"role": role, "content": LONG}


def _step_in(name: str, number: int) -> list[dict[str, Any]]:
    if name == "google":
        call = {"functionCall": {"name": "look", "args": {"at": number}}}
        result = {"functionResponse": {"name": "look", "response": {"output": "seen"}}}
        return [{"role": "model", "parts": [call]}, {"role": "user", "parts": [result]}]
    call = {"function": {"name": "look", "arguments": {"at": number}}}
    result = {"role": "tool", "tool_name": "look", "content": "seen"}
    return [{"role": "assistant", "content": "", "tool_calls": [call]}, result]


def test_what_goes_on_with_system_text_alone_is_read_as_a_whole() -> None:
    """A body without a message, sent again and then with one, has nothing that could be gone on with."""
    system = json.dumps({"role": "system", "content": LONG})
    alone = known(f'{{"model":"m","messages":[{system}]}}'.encode())
    more = with_rest(alone.replace(b"}]}", b"}] }"), b',{"role":"user","content":"Hi"}')
    assert found(with_rest(alone, b',{"role":"user","content":"Hi"}')) == anew(more)
    assert anew(more) != anew(alone)


@pytest.mark.parametrize("mark", [{}, {"cache_control": {"type": "ephemeral"}}], ids=["plain", "marked"])
def test_what_goes_on_too_deep_is_refused_as_ever(mark: dict[str, Any]) -> None:
    """However deep it is: the bound is told, and not the parser's own."""
    first = {"role": "user", "content": LONG}
    turn = {"role": "assistant", "content": "Hm."}
    plain = {"role": "user", "content": [{"type": "text", "text": "On."}]}
    last = {"role": "user", "content": [{"type": "text", "text": "On.", **mark}]}

    def read(*messages: dict[str, Any], depth: int = 0) -> None:
        body = json.dumps({"model": "m", "messages": [first, *messages]})
        deep = "[" * depth + "]" * depth
        asked = HttpRequest(url="http://test/v1/messages", body=body.replace('"DEEP"', deep).encode())
        get_dialect("anthropic").decode_request(asked, DecodeOptions())

    for steps in range(1, 4):
        read(*[turn, plain] * steps, turn, last)
    call = {"type": "tool_use", "id": "a", "name": "b", "input": {"a": "DEEP"}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "1", **mark}
    step: list[dict[str, Any]] = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    for depth in (150, 2_000, 100_000):
        with pytest.raises(LimitExceededError, match="deeper than 128"):
            read(*[turn, plain] * 4, *step, depth=depth)
