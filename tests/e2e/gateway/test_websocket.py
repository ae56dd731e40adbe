"""Responses over a WebSocket at the gateway: the checks of Open Responses, the official SDK, the bounds of HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import openai
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from interlingua.gateway.core import Gateway
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.terms import Terms
from interlingua.gateway.records.record import Record
from interlingua.gateway.settings import GatewayKey
from interlingua.testing.upstream import Call, Cut, Fail, Say, Upstream
from tests.support.gateway import gateway, provider, serving
from tests.support.sockets import MODEL, Talk, talking, text_of
from tests.support.tool_loops import TOOLS

CLAUDE = "up/claude-opus-4-5"
DIALECTS = {"openai-responses": MODEL, "openai-chat": MODEL, "anthropic": CLAUDE, "google": "up/gemini-2.5-pro"}
EVERY = pytest.mark.parametrize("dialect", DIALECTS)


@contextmanager
def _served(dialect: str, *answers: Any, records: list[Record] | None = None, **settings: Any) -> Generator[str]:
    """The address of a gateway in front of an upstream with a script."""
    with (
        Upstream(dialect, *answers).serving() as at,
        _before(provider(dialect, f"{at}/v1"), records, **settings) as url,
    ):
        yield url


@contextmanager
def _before(dsn: str, records: list[Record] | None = None, **settings: Any) -> Generator[str]:
    made = gateway({"LLM_UP": dsn}, **settings)
    if records is not None:
        made.recorder.sinks = (records.append,)
    with serving(made) as url:
        yield url


def _path(dialect: str) -> str:
    return "" if dialect == "google" else "/v1"


@contextmanager
def _talking(dialect: str, *answers: Any, **settings: Any) -> Generator[Talk]:
    with (
        Upstream(dialect, *answers).serving() as at,
        _before(provider(dialect, f"{at}{_path(dialect)}"), **settings) as url,
        talking(url, model=DIALECTS[dialect]) as talk,
    ):
        yield talk


# The seven checks


@EVERY
def test_r64_a_response_is_the_stream_of_http(dialect: str) -> None:
    """Event by event as over HTTP, but for ids and times; it ends with its terminal event, without `[DONE]`."""
    with (
        Upstream(dialect, "Hello.", "Hello.").serving() as at,
        _before(provider(dialect, f"{at}{_path(dialect)}")) as url,
        talking(url, model=DIALECTS[dialect]) as talk,
    ):
        talk.send()
        events = talk.turn()
        asked = {"model": DIALECTS[dialect], "input": [{"type": "message", "role": "user", "content": "Hi"}]}
        reply = httpx.post(f"{url}/v1/responses", json={**asked, "stream": True})
    streamed = [json.loads(line[6:]) for line in reply.text.splitlines() if line.startswith("data: {")]
    assert [event["type"] for event in events] == [event["type"] for event in streamed]
    assert [event.get("delta") for event in events] == [event.get("delta") for event in streamed]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert text_of(events[-1]) == text_of(streamed[-1]) == "Hello."
    assert events[-1]["response"]["usage"] == streamed[-1]["response"]["usage"]


@EVERY
def test_responses_come_one_after_the_other(dialect: str) -> None:
    """Several on one connection, also where they are asked for together: each is whole before the next one begins."""
    with _talking(dialect, "One.", "Two.", "Three.") as talk:
        assert text_of(talk.ask()) == "One."
        talk.send()
        talk.send()
        turns = [talk.turn(), talk.turn()]
    assert [text_of(turn[-1]) for turn in turns] == ["Two.", "Three."]
    for turn in turns:
        assert turn[0]["type"] == "response.created"
        assert {event["response"]["id"] for event in turn if "response" in event} == {turn[0]["response"]["id"]}


@EVERY
@pytest.mark.parametrize("store", [True, False])
def test_r64_a_turn_goes_on_from_the_one_before(dialect: str, store: bool) -> None:
    """With the new input alone, three turns long; the upstream gets the whole conversation, or keeps it itself."""
    upstream = Upstream(dialect, "One.", "Two.", "Three.")
    with (
        upstream.serving() as at,
        _before(provider(dialect, f"{at}{_path(dialect)}")) as url,
        talking(url, model=DIALECTS[dialect]) as talk,
    ):
        first = talk.ask("First?", store=store)
        second = talk.ask("Second?", store=store, previous_response_id=first["response"]["id"])
        third = talk.ask("Third?", store=store, previous_response_id=second["response"]["id"])
    assert [text_of(event) for event in (first, second, third)] == ["One.", "Two.", "Three."]
    sent = upstream.requests[-1].body
    said = [sent.find(text) for text in (b"First?", b"One.", b"Second?", b"Two.", b"Third?")]
    if store and dialect == "openai-responses":
        assert b'"previous_response_id"' in sent
        assert said[:4] == [-1] * 4
    else:
        assert said == sorted(said)
        assert said[0] > 0


def test_after_a_reconnect_an_unstored_response_is_not_found() -> None:
    """The connection alone had it; a turn that says everything works, and other connections never had it either."""
    with _served("anthropic", "One.", "Two.") as url:
        with talking(url, model=CLAUDE) as talk:
            first = talk.ask(store=False)["response"]["id"]
        with talking(url, model=CLAUDE) as talk:
            lost = talk.ask("And?", store=False, previous_response_id=first)
            again = talk.ask("All of it.", store=False)
    assert (lost["type"], lost["status"], lost["error"]["code"]) == ("error", 400, "previous_response_not_found")
    assert text_of(again) == "Two."


def test_a_response_that_never_was_is_not_found() -> None:
    """The connection stays usable."""
    with _talking("anthropic", "One.") as talk:
        lost = talk.ask(previous_response_id="resp_il" + "0" * 22)
        assert lost["error"]["code"] == "previous_response_not_found"
        assert text_of(talk.ask()) == "One."


def test_r64_a_failed_turn_takes_away_what_it_went_on_from() -> None:
    """A result whose call does not exist is refused by its id; the old response is not found then, by any turn."""
    orphan = [{"type": "function_call_output", "call_id": "call_nobodys", "output": "42"}]
    with _talking("anthropic", "One.", "Two.", "Three.") as talk:
        first = talk.ask(store=False)["response"]["id"]
        failed = talk.ask(orphan, store=False, previous_response_id=first)
        lost = talk.ask(store=False, previous_response_id=first)
        assert failed["status"] == 400
        assert failed["error"]["message"].startswith(
            "No tool call found for function call output with call_id call_nob"
        )
        assert lost["error"]["code"] == "previous_response_not_found"
        assert text_of(talk.ask()) == "Two."


def test_an_upstream_that_fails_takes_it_away_too() -> None:
    """Before the first event as an error with its status, within the stream as its own end."""
    with _talking("anthropic", "One.", Fail(400, "no"), "Two.", Cut(Say(text="Three is cut."), after=6)) as talk:
        first = talk.ask(store=False)["response"]["id"]
        refused = talk.ask(store=False, previous_response_id=first)
        assert (refused["type"], refused["status"]) == ("error", 400)
        assert talk.ask(previous_response_id=first)["error"]["code"] == "previous_response_not_found"
        second = talk.ask(store=False)["response"]["id"]
        assert talk.ask(store=False, previous_response_id=second)["type"] in ("error", "response.failed")
        assert talk.ask(previous_response_id=second)["error"]["code"] == "previous_response_not_found"


def test_a_compacted_conversation_begins_a_new_chain() -> None:
    """What `/v1/responses/compact` gives is the input of a turn, which the next one goes on from."""
    items = [{"role": "user", "content": "My name is Ada."}, {"role": "assistant", "content": "Hello, Ada."}]
    with _served("anthropic", "Ada said her name.", "Ada.", "Yes.") as url:
        asked = {"model": CLAUDE, "input": items}
        compacted = httpx.post(f"{url}/v1/responses/compact", json=asked).json()["output"]
        with talking(url, model=CLAUDE) as talk:
            answer = talk.ask([*compacted, {"role": "user", "content": "Who am I?"}], store=False)
            assert text_of(answer) == "Ada."
            assert text_of(talk.ask(store=False, previous_response_id=answer["response"]["id"])) == "Yes."


# More of the wire


def test_a_loop_of_tools_sends_results_alone() -> None:
    """Three steps with `store: false`: each turn sends the result of the call before it."""
    calls = [Say(calls=(Call("get_weather", {"city": city}),)) for city in ("Oslo", "Rome")]
    with _talking("anthropic", *calls, "Cold and warm.") as talk:
        answer = talk.ask("Weather?", store=False, tools=TOOLS["openai-responses"])
        for result in ("-2", "24"):
            call = next(item for item in answer["response"]["output"] if item["type"] == "function_call")
            output = [{"type": "function_call_output", "call_id": call["call_id"], "output": result}]
            answer = talk.ask(
                output,
                store=False,
                tools=TOOLS["openai-responses"],
                previous_response_id=answer["response"]["id"],
            )
    assert text_of(answer) == "Cold and warm."


@EVERY
def test_a_warm_up_asks_no_model(dialect: str) -> None:
    """`generate: false` gives an id without output; the turn that goes on from it has its input."""
    upstream = Upstream(dialect, "Hello.")
    with (
        upstream.serving() as at,
        _before(provider(dialect, f"{at}{_path(dialect)}")) as url,
        talking(url, model=DIALECTS[dialect]) as talk,
    ):
        talk.send("You are a pirate.", generate=False, store=False)
        warm = talk.turn()
        assert upstream.requests == []
        answer = talk.ask("Hi!", store=False, previous_response_id=warm[-1]["response"]["id"])
    assert [event["type"] for event in warm] == ["response.created", "response.in_progress", "response.completed"]
    assert warm[-1]["response"]["output"] == []
    assert text_of(answer) == "Hello."
    assert upstream.requests[0].body.find(b"pirate") < upstream.requests[0].body.find(b"Hi!")
    assert b"generate" not in upstream.requests[0].body


@pytest.mark.parametrize(
    ("members", "place", "code"),
    [
        ({"type": "response.steer"}, "/type: 'response.steer'", "unknown_event"),
        ({"type": 7}, "/type: an event without a type", "unknown_event"),
        ({"stream_id": "lane-1"}, "/stream_id: ", "unsupported_parameter"),
        ({"background": True}, "/background: ", "unsupported_parameter"),
        ({"model": ""}, "/model: ", None),
        ({"input": [{"type": "message", "role": "nobody", "content": 1}]}, "/input/0", None),
    ],
)
def test_what_is_not_served_is_refused_by_its_place(members: dict[str, Any], place: str, code: str | None) -> None:
    """As an error event with the status of HTTP and the id of the request; the connection goes on."""
    with _talking("anthropic", "Hello.") as talk:
        refused = talk.ask(**members)
        assert (refused["type"], refused["status"]) == ("error", 400)
        assert place in refused["error"]["message"]
        if code is not None:
            assert refused["error"]["code"] == code
        assert refused["headers"]["x-request-id"].startswith("req_")
        assert text_of(talk.ask()) == "Hello."


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"type":"response.create","type":"x"}', "\ud83d\ude00", "[" * 200]
)
def test_what_is_no_event_is_refused(text: str) -> None:
    """Whatever it is, it is told once, and the connection goes on."""
    with _talking("anthropic", "Hello.") as talk:
        talk.connection.send(text.encode("utf-16", "surrogatepass").decode("utf-16"))
        assert talk.event()["status"] == 400
        assert text_of(talk.ask()) == "Hello."


def test_members_of_http_alone_change_nothing() -> None:
    """`stream` and `stream_options` are taken out, whatever they say: some SDKs send them."""
    with _talking("openai-chat", "Hello.") as talk:
        assert text_of(talk.ask(stream=False, stream_options={"include_obfuscation": False})) == "Hello."


async def test_the_official_sdk_awaits_its_events() -> None:
    """`client.responses.connect`: typed events, two turns on one connection."""
    with _served("anthropic", "One.", "Two.") as url:
        async with (
            openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="any") as client,
            client.responses.connect() as made,
        ):
            texts: list[str] = []
            previous: Any = openai.omit
            for _ in range(2):
                await made.response.create(model=CLAUDE, input="Hi", store=False, previous_response_id=previous)
                async for event in made:
                    if event.type == "response.completed":
                        texts.append(event.response.output_text)
                        previous = event.response.id
                        break
    assert texts == ["One.", "Two."]


@pytest.mark.filterwarnings(
    "ignore:connect\\(\\) must be used as a context manager:DeprecationWarning"
)  # the SDK's own
def test_the_official_sdk_reads_its_events() -> None:
    """The blocking one, and an error event."""
    with (
        _served("anthropic", "One.") as url,
        openai.OpenAI(base_url=f"{url}/v1", api_key="any") as client,
        client.responses.connect() as made,
    ):
        made.response.create(model=CLAUDE, input="Hi", previous_response_id="resp_il" + "0" * 22)
        failed: Any = made.recv()
        assert failed.type == "error"
        made.response.create(model=CLAUDE, input="Hi")
        kinds = [made.recv().type]
        while kinds[-1] != "response.completed":
            kinds.append(made.recv().type)
    assert kinds[0] == "response.created"
    assert kinds.count("response.output_text.delta") >= 1


# The bounds of HTTP


KEYS = (
    GatewayKey(name="k", hash=hash_key("secret"), models=("up/claude-*",)),
    GatewayKey(name="few", hash=hash_key("few"), terms=Terms(rpm=2)),
    GatewayKey(name="small", hash=hash_key("small"), terms=Terms(max_body_bytes=2_000)),
)


@pytest.mark.parametrize("key", ["", "wrong"])
def test_who_may_not_ask_is_told_by_http(key: str) -> None:
    """A 401 in the place of the handshake, in the words of the dialect; no connection is made."""
    with _served("anthropic", keys=KEYS) as url, pytest.raises(InvalidStatus) as refused, talking(url, key=key):
        pass
    assert refused.value.response.status_code == 401
    assert json.loads(refused.value.response.body or b"")["error"]["code"] == "invalid_api_key"


def test_a_page_of_another_origin_may_not_ask() -> None:
    """Without keys the gateway serves its machine, and no page that a browser has open on it."""
    evil = {"origin": "https://evil.example"}
    with _served("anthropic") as url, pytest.raises(InvalidStatus) as refused, talking(url, headers=evil):
        pass
    assert refused.value.response.status_code == 403


def test_a_key_has_its_models_limits_and_sizes() -> None:
    """Each turn is asked like a POST: 403, 429 with the time to wait, 413; and a key taken away asks nothing more."""
    with _served("anthropic", *["Hello."] * 4, keys=KEYS) as url:
        with talking(url, key="secret", model=CLAUDE) as talk:
            assert talk.ask(model="up/other")["status"] == 403
            assert text_of(talk.ask()) == "Hello."
        with talking(url, key="few", model=CLAUDE) as talk:
            assert [talk.ask()["type"] for _ in range(2)] == ["response.completed"] * 2
            limited = talk.ask()
            assert limited["status"] == 429
            assert 1 <= int(limited["headers"]["retry-after"]) <= 60
        with talking(url, key="small", model=CLAUDE) as talk:
            assert talk.ask("x" * 2_000)["status"] == 413
            assert text_of(talk.ask()) == "Hello."


def test_a_key_that_is_taken_away_asks_nothing_more() -> None:
    """The next turn on its open connection is a 401."""
    made = gateway({"LLM_UP": "anthropic://k@127.0.0.1:9?tls=0"}, keys=KEYS)
    with serving(made) as url, talking(url, key="secret") as talk:
        assert talk.ask(model="up/other")["status"] == 403
        made.set_up(type(made.settings)(keys=KEYS[1:]))
        assert talk.ask()["status"] == 401


def test_one_key_never_goes_on_from_another_ones_response() -> None:
    """Also where it is stored: to whoever does not own it, it is as unknown as one that never was."""
    with _served("anthropic", "One.", "Two.", keys=KEYS) as url:
        with talking(url, key="secret", model=CLAUDE) as talk:
            stored = talk.ask()["response"]["id"]
        with talking(url, key="small", model=CLAUDE) as talk:
            assert talk.ask(previous_response_id=stored)["error"]["code"] == "previous_response_not_found"
        with talking(url, key="secret", model=CLAUDE) as talk:
            assert text_of(talk.ask(previous_response_id=stored)) == "Two."


def test_ids_of_a_provider_are_signed() -> None:
    """Where keys have owners: an unstored response of a Responses target is gone on from by its signed id."""
    keys = (KEYS[1], KEYS[2])
    with _served("openai-responses", "One.", "Two.", keys=keys) as url, talking(url, key="few") as talk:
        first = talk.ask(store=False)["response"]["id"]
        assert text_of(talk.ask(store=False, previous_response_id=first)) == "Two."


def test_every_turn_has_its_record() -> None:
    """As a POST, with status, target and tokens; the handshake has one, too."""
    records: list[Record] = []
    script = ("Hello.", Fail(400, "no"))
    with (
        _served("anthropic", *script, records=records) as url,
        talking(url, model=CLAUDE, headers={"x-request-id": "mine"}) as talk,
    ):
        talk.ask()
        talk.ask()
        talk.ask(type="x")
    told = [(record.method, record.route, record.status, record.target, record.stream) for record in records]
    assert told == [
        ("GET", "/v1/responses", 101, "", False),
        ("POST", "/v1/responses", 200, CLAUDE, True),
        ("POST", "/v1/responses", 400, "", True),
        ("POST", "/v1/responses", 400, "", False),
    ]
    assert records[0].id == "mine"
    assert len({record.id for record in records}) == 4
    assert (records[1].input_tokens, records[1].output_tokens) != (None, None)
    assert not any(record.aborted for record in records)


def test_a_client_that_leaves_closes_the_upstream() -> None:
    """In the middle of a response: the upstream is let go at once, and the record says that it was left."""
    records: list[Record] = []
    left = threading.Event()
    with _slow_upstream(left) as at, _before(provider("openai-responses", f"{at}/v1"), records) as url:
        with talking(url) as talk:
            talk.send()
            assert talk.event()["type"] == "response.created"
            talk.connection.socket.close()
        assert left.wait(20)
        _until(lambda: len(records) == 2)
    assert records[1].aborted


@contextmanager
def _slow_upstream(left: threading.Event, gap_s: float = 0.02) -> Generator[str]:
    """An upstream that says a word every so often, without end, and notes when its client has left."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5.1", "status": "in_progress"}
    begun: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**head, "output": []}},
        {
            "type": "response.output_item.added",
            "item": {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []},
        },
        {"type": "response.content_part.added", "part": {"type": "output_text", "text": "", "annotations": []}},
    ]
    delta: dict[str, Any] = {"type": "response.output_text.delta", "delta": "word ", "logprobs": []}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            try:
                for number, event in enumerate([*begun, *[delta] * 3_000]):
                    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
                    self._say({**event, "sequence_number": number, **place})
                    time.sleep(gap_s)
            except OSError:
                left.set()

        def _say(self, event: dict[str, Any]) -> None:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _until(holds: Any) -> None:
    until_s = time.monotonic() + 20
    while not holds() and time.monotonic() < until_s:
        time.sleep(0.01)
    assert holds()


def test_at_its_end_the_gateway_finishes_what_is_under_way() -> None:
    """Then it closes with 1001, also the connections that ask nothing; what does not finish is told so."""
    left = threading.Event()
    with _slow_upstream(left) as at, ExitStack() as stack:
        dsn = provider("openai-responses", f"{at}/v1")
        made = gateway({"LLM_UP": dsn}, drain_s=0.3)
        running = stack.enter_context(_in_thread(made))
        with talking(running.url) as idle, talking(running.url) as busy:
            busy.send()
            assert busy.event()["type"] == "response.created"
            running.stop()
            with pytest.raises(ConnectionClosed) as closed:
                idle.event()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1001
            turn = busy.turn()
            assert turn[-1]["type"] in ("error", "response.failed")
            assert "being stopped" in json.dumps(turn[-1])
            with pytest.raises(ConnectionClosed) as closed:
                busy.event()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1001
        assert left.wait(20)


class _Running:
    def __init__(self, url: str, stop: Any) -> None:
        self.url, self.stop = url, stop


@contextmanager
def _in_thread(made: Gateway) -> Generator[_Running]:
    import socket

    from interlingua.gateway.serving.server import GatewayServer

    server = GatewayServer(made)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=(listener,), daemon=True)
        thread.start()
        _until(lambda: server.is_started)
        try:
            yield _Running(f"http://127.0.0.1:{listener.getsockname()[1]}", server.stop)
        finally:
            server.stop()
            thread.join(60)


def test_sixty_four_connections_are_served_at_once() -> None:
    """Each gets its own answers, two turns long."""
    with _served("anthropic", *["Same."] * 128) as url, ExitStack() as stack:
        talks = [stack.enter_context(talking(url, model=CLAUDE)) for _ in range(64)]
        for talk in talks:
            talk.send(store=False)
        firsts = [talk.turn()[-1] for talk in talks]
        for talk, first in zip(talks, firsts, strict=True):
            talk.send(store=False, previous_response_id=first["response"]["id"])
        seconds = [talk.turn()[-1] for talk in talks]
    assert {text_of(event) for event in (*firsts, *seconds)} == {"Same."}
    assert len({event["response"]["id"] for event in (*firsts, *seconds)}) == 128


def test_more_connections_than_there_is_room_for_get_a_503() -> None:
    """A WebSocket counts like any other connection."""
    with _served("anthropic", max_connections=1) as url, talking(url):
        assert httpx.get(f"{url}/health/live").status_code == 503


def test_nothing_is_compressed() -> None:
    """Whatever the client offers, no extension is taken."""
    with _served("anthropic", "Hello.") as url, talking(url, model=CLAUDE, compression="deflate") as talk:
        assert talk.connection.protocol.extensions == []
        assert text_of(talk.ask()) == "Hello."


def test_a_text_beyond_the_bound_is_told_and_ends_the_connection() -> None:
    """A 413 as an error event, then the code 1009."""
    records: list[Record] = []
    with _served("anthropic", max_body_bytes=100_000, records=records) as url, talking(url, model=CLAUDE) as talk:
        talk.send("x" * 200_000)
        assert (talk.event()["status"], len(records)) == (413, 2)
        with pytest.raises(ConnectionClosed) as closed:
            talk.event()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009
    assert records[1].status == 413


def test_a_large_conversation_is_taken() -> None:
    """Eight megabytes in one text, in frames of any size; the connection goes on."""
    with _talking("anthropic", "Hello.", "Again.") as talk:
        said = json.dumps({"type": "response.create", "model": CLAUDE, "input": "x" * 8_000_000})
        talk.connection.send([said[place : place + 70_000] for place in range(0, len(said), 70_000)])
        assert text_of(talk.turn()[-1]) == "Hello."
        assert text_of(talk.ask()) == "Again."


def test_frames_of_bytes_are_refused() -> None:
    """Events are texts: 1003."""
    with _talking("anthropic") as talk:
        talk.connection.send(b"{}")
        assert talk.event()["status"] == 400
        with pytest.raises(ConnectionClosed) as closed:
            talk.event()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1003


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/chat/completions", "/v1/models", "/nothing"])
def test_elsewhere_there_is_no_websocket(path: str) -> None:
    """A wish for one is answered as HTTP; at its own path, without the wish, a 426 says how."""
    with _served("anthropic") as url:
        plain = httpx.get(f"{url}{path}")
        if path == "/v1/responses":
            assert plain.status_code == 426
            assert "begins a WebSocket" in plain.json()["error"]["message"]
            return
        with pytest.raises(InvalidStatus) as refused, connect(f"{url.replace('http', 'ws', 1)}{path}"):
            pass
    assert refused.value.response.status_code == plain.status_code
