"""OWN-01: what a provider keeps belongs to the key that it was kept for, over restarts, workers and replicas."""

from __future__ import annotations

import http.client
import json
import os
import signal
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import OpenAI

from interlingua.gateway.keys.auth import hash_key
from interlingua.testing.upstream import Upstream
from tests.e2e.gateway.test_serve import Served, _serving
from tests.support.gateway import provider
from tests.support.keeping_provider import KeepingProvider
from tests.support.shared_servers import SharedServer
from tests.support.waiting import until

MODEL = "up/gpt-5.6"
CONFIG = f"""
[server]
providers = ["up"]
shared_ids = ["vs_of-everybody"]

[keys.alice]
hash = "{hash_key("alice-1")}"

[keys.alice-again]
hash = "{hash_key("alice-2")}"
team = "red"

[keys.carol]
hash = "{hash_key("carol-1")}"
team = "red"

[keys.bob]
hash = "{hash_key("bob-1")}"
"""


@pytest.fixture
def keeper() -> Generator[tuple[KeepingProvider, str]]:
    """A provider, and the DSN of it."""
    keeper = KeepingProvider()
    with keeper.serving() as at:
        yield keeper, provider("openai-responses", f"{at}/v1")


@pytest.fixture
def serve(keeper: tuple[KeepingProvider, str], tmp_path: Path) -> Generator[Callable[..., Served]]:
    """Starts a gateway before that provider, with the same files each time."""
    with ExitStack() as stack:

        def started(*arguments: str, config: str = CONFIG, keys: str = "keys.sqlite") -> Served:
            path = tmp_path / "gateway.toml"
            path.write_text(config)
            given = ("--config", str(path), "--keys", str(tmp_path / keys), *arguments)
            return stack.enter_context(_serving(*given, LLM_UP=keeper[1]))

        yield started


_CLIENTS: list[OpenAI] = []


@pytest.fixture(autouse=True)
def closed() -> Generator[None]:
    """Closes the clients of a test at its end."""
    yield
    while _CLIENTS:
        _CLIENTS.pop().close()


def client(served: Served, key: str) -> OpenAI:
    """The official SDK, with a key of the gateway."""
    _CLIENTS.append(OpenAI(base_url=f"http://127.0.0.1:{served.port}/v1", api_key=key, max_retries=0))
    return _CLIENTS[-1]


def _item_id(response: Any) -> str:
    return response.output[0].id


def asked(served: Served, key: str, method: str, path: str, body: bytes = b"") -> tuple[int, Any]:
    """Status and JSON of what those bytes are answered with."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json", "connection": "close"}
    connection.request(method, path, body, headers)
    reply = connection.getresponse()
    return reply.status, json.loads(reply.read() or b"null")


def test_own_01_the_owner_goes_on_and_nobody_else(
    serve: Callable[..., Served], keeper: tuple[KeepingProvider, str]
) -> None:
    """Whole and streamed: the provider gets its own ids, the client never does, and another key is refused."""
    served = serve()
    alice, bob = client(served, "alice-1"), client(served, "bob-1")
    first = alice.responses.create(model=MODEL, input="Hi")
    second = alice.responses.create(model=MODEL, input="And?", previous_response_id=first.id)
    with alice.responses.stream(model=MODEL, input="And?", previous_response_id=second.id) as events:
        told = list(events)
        third = events.get_final_response()
    assert second.previous_response_id == first.id
    assert third.previous_response_id == second.id
    assert {event.item_id for event in told if event.type == "response.output_text.delta"} == {_item_id(third)}
    own = list(keeper[0].kept)
    assert not [one for one in own if one in repr([first, second, third, told])]
    assert [body.get("previous_response_id") for body in keeper[0].bodies()] == [None, own[1], own[3]]
    assert max(map(len, (first.id, second.id, third.id, _item_id(first)))) <= 64
    asks = len(keeper[0].requests)
    for given in (first.id, third.id, own[1]):
        with pytest.raises(openai.BadRequestError) as caught:
            bob.responses.create(model=MODEL, input="And?", previous_response_id=given)
        assert caught.value.code == "previous_response_not_found"
    assert len(keeper[0].requests) == asks


PLACES = (
    rb'{"model":"up/gpt-5.6","input":"Go on","previous\u005fresponse_id":"ID"}',
    rb'{"model":"up/gpt-5.6","input":"Go on","previous_response_id":"ID","previous_response_id":null}',
    rb'{"model":"up/gpt-5.6","input":"Go on","previous_response_id":null,"previous_response_id":"ID"}',
    rb'{"model":"up/gpt-5.6","input":"Go on","Previous_Response_Id":"ID"}',
    rb'{"model":"up/gpt-5.6","input":"Go on","conversation":"ID"}',
    rb'{"model":"up/gpt-5.6","input":"Go on","conversation":{"id":"ID"}}',
    rb'{"model":"up/gpt-5.6","input":"Go on","prompt":{"id":"ID"}}',
    rb'{"model":"up/gpt-5.6","input":[{"type":"item_reference","id":"ID"}]}',
    rb'{"model":"up/gpt-5.6","input":[{"type":"reasoning","id":"ID","summary":[]}]}',
    rb'{"model":"up/gpt-5.6","input":[{"role":"user","content":[{"type":"input_file","file_id":"ID"}]}]}',
    rb'{"model":"up/gpt-5.6","input":"Go on","tools":[{"type":"file_search","vector_store_ids":["ID"]}]}',
    rb'{"model":"up/gpt-5.6","input":"Go on","tools":[{"type":"code_interpreter","container":"ID"}]}',
    rb'{"model":"up/gpt-5.6","input":"Go on","tools":[{"type":"x","container":{"type":"auto","file_ids":["ID"]}}]}',
    rb'{"model":"up/gpt-5.6","input":"Go on","tools":[{"type":"x","Container_Id":"ID"}]}',
)
"""Requests that name an id, wherever one may stand."""


def test_own_01_an_id_of_another_key_is_refused_wherever_it_stands(
    serve: Callable[..., Served], keeper: tuple[KeepingProvider, str]
) -> None:
    """However it is spelled, the owner's signed id and the provider's own are refused; nothing reaches the provider."""
    served = serve()
    first = client(served, "alice-1").responses.create(model=MODEL, input="Hi")
    asks = len(keeper[0].requests)
    taken: list[tuple[bytes, int, object]] = []
    for given in (first.id, next(one for one in keeper[0].kept if one.startswith("resp_"))):
        for place in PLACES:
            body = place.replace(b"ID", given.encode())
            status, told = asked(served, "bob-1", "POST", "/v1/responses", body)
            if status != 400 or len(keeper[0].requests) != asks:
                taken.append((body, status, told))
    assert taken == []
    assert len(keeper[0].requests) == asks


def test_own_01_after_a_restart_an_id_is_still_its_owners(
    serve: Callable[..., Served], keeper: tuple[KeepingProvider, str], tmp_path: Path
) -> None:
    """The secret lies beside the keys, readable by its owner alone; nothing else is needed to know whose an id is."""
    before = serve()
    first = client(before, "alice-1").responses.create(model=MODEL, input="Hi")
    before.process.terminate()
    assert before.process.wait(20) == 0
    secret = tmp_path / "keys.sqlite.id-secret"
    assert secret.stat().st_mode & 0o777 == 0o600
    after = serve()
    second = client(after, "alice-1").responses.create(model=MODEL, input="And?", previous_response_id=first.id)
    assert second.previous_response_id == first.id
    with pytest.raises(openai.BadRequestError):
        client(after, "bob-1").responses.create(model=MODEL, input="And?", previous_response_id=first.id)
    assert len(keeper[0].requests) == 2
    assert secret.read_text().strip() not in "".join([*before.told, *after.told])


def test_own_01_two_workers_without_redis_know_the_same_owner(
    serve: Callable[..., Served], keeper: tuple[KeepingProvider, str]
) -> None:
    """What one worker gave out the other one opens for the owner, and refuses to everybody else."""
    served = serve("--workers", "2")

    def workers() -> list[int]:
        pid = served.process.pid
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    assert until(lambda: len(workers()) == 2 and asked(served, "nobody", "GET", "/v1/models")[0] == 401)
    previous: str | None = None
    for asleep in workers():
        os.kill(asleep, signal.SIGSTOP)  # so that the other one answers
        told = client(served, "alice-1").responses.create(model=MODEL, input="Hi", previous_response_id=previous)
        assert told.previous_response_id == previous
        previous = told.id
        with pytest.raises(openai.BadRequestError):
            client(served, "bob-1").responses.create(model=MODEL, input="Hi", previous_response_id=previous)
        os.kill(asleep, signal.SIGCONT)
    assert len(keeper[0].requests) == 2


def test_own_01_replicas_share_the_secret_by_a_store(
    serve: Callable[..., Served], keeper: tuple[KeepingProvider, str], server: SharedServer
) -> None:
    """Two gateways with databases of their own and one store: an id of one is opened, or refused, by the other."""
    one, other = [serve("--state", server.url, keys=f"{name}.sqlite") for name in ("one", "other")]
    first = client(one, "alice-1").responses.create(model=MODEL, input="Hi")
    second = client(other, "alice-1").responses.create(model=MODEL, input="And?", previous_response_id=first.id)
    assert second.previous_response_id == first.id
    with pytest.raises(openai.BadRequestError):
        client(other, "bob-1").responses.create(model=MODEL, input="And?", previous_response_id=first.id)
    server.stop()
    third = client(one, "alice-1").responses.create(model=MODEL, input="And?", previous_response_id=second.id)
    assert third.previous_response_id == second.id
    assert len(keeper[0].requests) == 3


def test_a_key_of_the_same_team_or_name_goes_on(serve: Callable[..., Served]) -> None:
    """A key that takes another one's place has what was that one's: by the team, and by the name."""
    served = serve()
    first = client(served, "alice-2").responses.create(model=MODEL, input="Hi")
    second = client(served, "carol-1").responses.create(model=MODEL, input="And?", previous_response_id=first.id)
    assert second.previous_response_id == first.id
    own = client(served, "alice-1").responses.create(model=MODEL, input="Hi")
    served.process.terminate()
    assert served.process.wait(20) == 0
    rotated = serve(config=CONFIG.replace(hash_key("alice-1"), hash_key("alice-3")))
    told = client(rotated, "alice-3").responses.create(model=MODEL, input="And?", previous_response_id=own.id)
    assert told.previous_response_id == own.id


def test_the_owner_reads_lists_cancels_and_deletes_a_response(
    serve: Callable[..., Served], keeper: tuple[KeepingProvider, str]
) -> None:
    """Every route of a stored response, by the official SDK: for its owner, with its ids, and not found for others."""
    served = serve()
    alice, bob = client(served, "alice-1").responses, client(served, "bob-1").responses
    first = alice.create(model=MODEL, input="Hi")
    assert alice.retrieve(first.id).id == first.id
    assert _item_id(alice.retrieve(first.id)) == _item_id(first)
    streamed = list(alice.retrieve(first.id, stream=True))
    assert streamed[-1].type == "response.completed"
    assert streamed[-1].response.id == first.id
    items = alice.input_items.list(first.id, after=_item_id(first))
    assert [item.id for item in items.data] == [_item_id(first)]
    assert alice.cancel(first.id).id == first.id
    asks = len(keeper[0].requests)
    for refused in (bob.retrieve, bob.cancel, bob.delete, bob.input_items.list):
        with pytest.raises(openai.NotFoundError):
            refused(first.id)
    assert len(keeper[0].requests) == asks
    alice.delete(first.id)
    with pytest.raises(openai.NotFoundError) as caught:
        alice.retrieve(first.id)
    assert first.id in str(caught.value)
    assert not [own for own in keeper[0].kept if own.startswith("resp_")]


def test_items_that_a_client_sends_back_go_home(
    serve: Callable[..., Served], keeper: tuple[KeepingProvider, str]
) -> None:
    """Output items with their ids, and references to them, for the owner; for others a message loses its id."""
    served = serve()
    alice = client(served, "alice-1")
    first = alice.responses.create(model=MODEL, input="Hi")
    echoed: Any = [item.to_dict() for item in first.output]
    alice.responses.create(model=MODEL, input=[*echoed, {"role": "user", "content": "And?"}])
    reference: Any = {"type": "item_reference", "id": _item_id(first)}
    alice.responses.create(model=MODEL, input=[reference, {"role": "user", "content": "And?"}])
    own = next(iter(keeper[0].kept))
    assert [body["input"][0]["id"] for body in keeper[0].bodies()[1:]] == [own, own]
    client(served, "bob-1").responses.create(model=MODEL, input=[*echoed, {"role": "user", "content": "And?"}])
    sent = keeper[0].bodies()[-1]["input"][0]
    assert "id" not in sent
    assert sent["content"][0]["text"] == "Hello."


def test_conversations_files_and_batches_are_their_owners(
    serve: Callable[..., Served], keeper: tuple[KeepingProvider, str]
) -> None:
    """Made, read, used in a request and deleted by their owner alone; lists of everybody's are refused."""
    served = serve()
    alice, bob = client(served, "alice-1"), client(served, "bob-1")
    conversation = alice.conversations.create()
    told = alice.responses.create(model=MODEL, input="Hi", conversation=conversation.id)
    assert told.conversation is not None
    assert told.conversation.id == conversation.id
    assert alice.conversations.items.list(conversation.id).data[0].id == _item_id(told)
    file = alice.files.create(file=("a.jsonl", b"{}\n"), purpose="batch")
    assert alice.files.retrieve(file.id).id == file.id
    assert alice.files.content(file.id).read() == b'{"custom_id": "1"}\n'
    batch = alice.batches.create(input_file_id=file.id, endpoint="/v1/responses", completion_window="24h")
    assert batch.input_file_id == file.id
    assert alice.batches.retrieve(batch.id).id == batch.id
    part: Any = {"role": "user", "content": [{"type": "input_file", "file_id": file.id}]}
    alice.responses.create(model=MODEL, input=[part])
    own_file = next(own for own in keeper[0].kept if own.startswith("file-"))
    assert keeper[0].bodies()[-1]["input"][0]["content"][0]["file_id"] == own_file
    asks = len(keeper[0].requests)
    for missing in (
        lambda: bob.conversations.retrieve(conversation.id),
        lambda: bob.conversations.items.list(conversation.id),
        lambda: bob.files.retrieve(file.id),
        lambda: bob.files.content(file.id),
        lambda: bob.files.delete(file.id),
        lambda: bob.files.retrieve(own_file),
        lambda: bob.batches.retrieve(batch.id),
        lambda: bob.batches.cancel(batch.id),
    ):
        with pytest.raises(openai.NotFoundError):
            missing()
    for refused in (
        lambda: bob.responses.create(model=MODEL, input="Hi", conversation=conversation.id),
        lambda: bob.responses.create(model=MODEL, input=[part]),
        lambda: bob.batches.create(input_file_id=file.id, endpoint="/v1/responses", completion_window="24h"),
    ):
        with pytest.raises(openai.BadRequestError):
            refused()
    for everybodys in (alice.files.list, bob.files.list, bob.batches.list):
        with pytest.raises(openai.PermissionDeniedError):
            everybodys()
    assert len(keeper[0].requests) == asks
    assert alice.files.delete(file.id).id == file.id
    assert own_file not in keeper[0].kept


def test_a_shared_id_may_be_used_by_every_key(
    serve: Callable[..., Served], keeper: tuple[KeepingProvider, str]
) -> None:
    """`[server] shared_ids` names what belongs to all; other ids beside it are refused as ever."""
    served = serve()
    keeper[0].kept["vs_of-everybody"] = {"id": "vs_of-everybody"}
    tools: Any = [{"type": "file_search", "vector_store_ids": ["vs_of-everybody"]}]
    assert client(served, "bob-1").responses.create(model=MODEL, input="Hi", tools=tools).status == "completed"
    tools[0]["vector_store_ids"].append("vs_of-alice")
    with pytest.raises(openai.BadRequestError) as caught:
        client(served, "bob-1").responses.create(model=MODEL, input="Hi", tools=tools)
    assert caught.value.param == "tools[0].vector_store_ids"


@pytest.mark.parametrize("is_keyed", [False, True])
def test_without_several_owners_ids_of_the_provider_go_on_as_they_came(
    serve: Callable[..., Served], keeper: tuple[KeepingProvider, str], *, is_keyed: bool
) -> None:
    """Without keys nothing is signed; with one key what it kept before it had one can be used, and lists are shown."""
    key = f'[keys.alice]\nhash = "{hash_key("alice-1")}"\n' if is_keyed else ""
    served = serve(config=f'[server]\nproviders = ["up"]\n{key}')
    keeper[0].kept["resp_of-long-ago"] = {"id": "resp_of-long-ago"}
    alice = client(served, "alice-1")
    told = alice.responses.create(model=MODEL, input="Hi", previous_response_id="resp_of-long-ago")
    assert keeper[0].bodies()[-1]["previous_response_id"] == "resp_of-long-ago"
    assert (told.id in keeper[0].kept) is not is_keyed
    assert len(alice.files.list().data) == len(keeper[0].kept)
    again = alice.responses.create(model=MODEL, input="Hi", previous_response_id=told.id)
    assert again.previous_response_id == told.id


def _streamed(user: Any, asked_for: dict[str, Any]) -> Any:
    """The response that a stream comes to, in all of whose events its item has one id."""
    with user.responses.stream(**asked_for) as events:
        told = list(events)
        response = events.get_final_response()
    assert {event.item_id for event in told if hasattr(event, "item_id")} == {_item_id(response)}
    return response


def _ids_of(response: Any) -> list[str]:
    """The ids of a response and of its items."""
    return [response.id, *[item.id for item in response.output]]


def test_ids_grow_in_no_turn_of_twenty(serve: Callable[..., Served], keeper: tuple[KeepingProvider, str]) -> None:
    """A client sends back all that it got, and goes on by ids: each has one form, of at most 64 characters.

    Whole and streamed in turn, read again after each turn, and the provider sees its own ids alone.
    """
    alice: Any = client(serve(), "alice-1")
    previous, conversation = None, alice.conversations.create()
    items: list[dict[str, Any]] = []
    lengths: set[int] = set()
    for turn in range(20):
        asked_for: dict[str, Any] = {"model": MODEL, "input": [*items, {"role": "user", "content": "And?"}]}
        asked_for |= {"conversation": conversation.id} if turn % 4 == 3 else {"previous_response_id": previous}
        response = _streamed(alice, asked_for) if turn % 2 else alice.responses.create(**asked_for)
        again = alice.responses.retrieve(response.id)
        assert _ids_of(again) == _ids_of(response)
        if turn % 4 == 3:
            assert response.conversation.id == conversation.id
        else:
            assert response.previous_response_id == previous
        previous = response.id
        items = [*items, *[item.model_dump(exclude_none=True) for item in response.output]]
        lengths |= {len(response.id), *[len(item["id"]) for item in items]}
    assert lengths <= set(range(65))
    assert len(lengths) == 2  # one for `resp_`, one for `msg_`
    own = set(keeper[0].kept)
    assert {item["id"] for body in keeper[0].bodies() for item in body.get("input", ()) if "id" in item} <= own
    assert not [one for one in own if one in repr(items)]


def test_ids_of_an_answer_that_is_kept_here_are_the_same_each_time(
    tmp_path: Path, keeper: tuple[KeepingProvider, str]
) -> None:
    """A conversation that began elsewhere goes on at the provider, whose ids of items are signed wherever they stand.

    In the answer, when it is read again, and in the list of what it was given to; over twenty turns.
    """
    config = tmp_path / "gateway.toml"
    config.write_text(CONFIG)
    with Upstream("anthropic").serving() as at, ExitStack() as stack:
        arguments = ("--config", str(config), "--keys", str(tmp_path / "keys.sqlite"))
        environ = {"LLM_UP": keeper[1], "LLM_A": provider("anthropic", at)}
        served = stack.enter_context(_serving(*arguments, **environ))
        alice = client(served, "alice-1")
        previous, lengths = None, set[int]()
        for turn in range(20):
            model = MODEL if turn % 5 else "a/claude-opus-4-5"
            response: Any = alice.responses.create(model=model, input="And?", previous_response_id=previous)
            again: Any = alice.responses.retrieve(response.id)
            listed: Any = alice.responses.input_items.list(response.id)
            assert [item.id for item in again.output] == [item.id for item in response.output]
            lengths |= {len(one.id) for one in (response, *response.output, *listed.data)}
            assert not [one for one in keeper[0].kept if one in repr([response, again, listed.data])]
            previous = response.id
    assert max(lengths) <= 64
    assert len(lengths) <= 4
