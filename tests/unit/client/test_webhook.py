"""The webhook: what it is asked, what it may answer, and what becomes of a call whose webhook fails."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

import interlingua as il
from interlingua import testing
from interlingua.client.hooks.webhook import Webhook

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from interlingua.client.hooks.webhook import Step

both = pytest.mark.parametrize("asks", ["blocking", "awaited"])
ALLOW = {"action": "allow"}


class Service:
    """A detector on loopback that answers what a test says."""

    def __init__(self, answer: Callable[[dict[str, Any]], Any]) -> None:
        """Nothing was asked yet."""
        self.answer = answer
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.url = ""


@contextmanager
def _service(answer: Any = ALLOW, *, status: int = 200, wait: threading.Event | None = None) -> Generator[Service]:
    """A service with one answer, or with a function that gives one; it waits where a test says so."""
    service = Service(answer if callable(answer) else lambda _: answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            service.asked.append(asked)
            service.keys.append(self.headers["authorization"])
            if wait is not None:
                wait.wait(20)
            told = service.answer(asked)
            body = told if isinstance(told, bytes) else json.dumps(told).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_port}/check?token=in-the-url"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _answer(asks: str, hook: il.Hook, prompt: str = "Oslo?", **options: Any) -> il.Response[Any]:
    if asks == "blocking":
        return il.model("fake/m", hooks=[hook], **options).generate(prompt)

    async def ask() -> il.Response[Any]:
        return await il.aio.model("fake/m", hooks=[hook], **options).generate(prompt)

    return asyncio.run(ask())


def _add(a: int, b: int) -> int:
    """The sum."""
    return a + b


@both
def test_r70_a_webhook_is_asked_on_canonical_values(asks: str) -> None:
    """Request, answer and context, and its key in a header; what it allows stays as it is."""
    with _service() as service, testing.use("It is 4 degrees."):
        reply = _answer(asks, Webhook(service.url, key="sk-hook", steps=("before", "after")), temperature=0.5)
    assert reply.text == "It is 4 degrees."
    assert reply.changes == ()
    before, after = service.asked
    assert before == {
        "step": "before",
        "context": {"model": "fake/m", "targets": ["fake/m"], "stream": False, "owner": "", "client": ""},
        "request": {
            "interlingua": 1,
            "kind": "request",
            "messages": [{"role": "user", "parts": [{"type": "text", "text": "Oslo?"}]}],
            "temperature": 0.5,
        },
    }
    assert (after["step"], after["request"], after["response"]["parts"]) == (
        "after",
        before["request"],
        [{"type": "text", "text": "It is 4 degrees."}],
    )
    assert service.keys == ["Bearer sk-hook", "Bearer sk-hook"]


@both
@pytest.mark.parametrize("key", [None, "", lambda: "", lambda: " "])
def test_r70_a_webhook_without_a_key_sends_no_credential(asks: str, key: Any) -> None:
    """Nor one that says that there is none."""
    with _service() as service, testing.use("It is 4 degrees."):
        _answer(asks, Webhook(service.url, key=key))
    assert service.keys == [None]


@both
def test_r70_a_webhook_refuses(asks: str) -> None:
    """With its sentence, before anything is sent; or its answer is held back."""
    refusal = {"action": "refuse", "message": "no towns"}
    with _service(refusal) as service, testing.use("Fine.") as fake:
        with pytest.raises(il.ContentPolicyViolationError, match="no towns"):
            _answer(asks, Webhook(service.url))
        assert fake.requests == []
        with pytest.raises(il.ContentPolicyViolationError, match="no towns"):
            _answer(asks, Webhook(service.url, steps=["after"]))
        assert len(fake.requests) == 1


def _masked(asked: dict[str, Any]) -> dict[str, Any]:
    kind = "request" if asked["step"] == "before" else "response"
    text = json.dumps(asked[kind]).replace("Oslo", "[town]").replace("4 degrees", "* degrees")
    return {"action": "change", kind: json.loads(text)}


@both
def test_r70_a_webhook_changes_request_and_answer(asks: str) -> None:
    """Each in its canonical form; the changes name the webhook, and tools keep what runs them."""
    with _service(_masked) as service, testing.use("It is 4 degrees.") as fake:
        hook = Webhook(service.url, steps=("before", "after"), name="masker")
        reply = _answer(asks, hook, tools=[_add])
    assert fake.last_request.messages[0].text == "[town]?"
    assert reply.text == "It is * degrees."
    assert [(change.code, change.path, change.detail) for change in reply.changes] == [
        ("request_hooked", "/messages", "by webhook masker"),
        ("response_hooked", "/parts", "by webhook masker"),
    ]
    assert reply.request is not None
    (tool,) = reply.request.tools
    assert isinstance(tool, il.Tool)
    assert tool.handler is not None


FAILURES: dict[str, dict[str, Any]] = {
    "an error": {"answer": ALLOW, "status": 500},
    "a redirect": {"answer": ALLOW, "status": 307},
    "no JSON": {"answer": b"<html>"},
    "no object": {"answer": [1]},
    "no action": {"answer": {}},
    "two actions": {"answer": b'{"action":"refuse","action":"allow"}'},
    "no text": {"answer": b'{"action":"allow","message":"\xff"}'},
    "another action": {"answer": {"action": "maybe"}},
    "no request": {"answer": {"action": "change"}},
    "no canonical request": {
        "answer": {"action": "change", "request": {"interlingua": 1, "kind": "request", "n": "x"}}
    },
    "an answer instead": {"answer": {"action": "change", "request": {"interlingua": 1, "kind": "response"}}},
}


@both
@pytest.mark.parametrize("failure", FAILURES)
def test_r70_a_webhook_that_fails_lets_nothing_through(
    failure: str, asks: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Unless it is said otherwise; the error and the log show neither the rest of its address nor its key."""
    with _service(**FAILURES[failure]) as service, testing.use("Fine.") as fake:
        with pytest.raises(il.InternalServerError, match="the webhook guard gave no answer") as refused:
            _answer(asks, Webhook(service.url, key="sk-hook", name="guard"))
        assert refused.value.status == 503
        assert fake.requests == []
        hook = Webhook(service.url, key="sk-hook", name="guard", on_failure="allow")
        assert _answer(asks, hook).text == "Fine."
    told = f"{refused.value}{caplog.text}{hook!r}"
    assert len(caplog.records) == 2
    assert "sk-hook" not in told
    assert "in-the-url" not in told


@both
def test_r70_a_webhook_is_waited_for_only_so_long(asks: str) -> None:
    """One that is silent, and one that is not there."""
    released = threading.Event()
    try:
        with _service(wait=released) as service, testing.use("Fine."):
            with pytest.raises(il.InternalServerError, match="gave no answer"):
                _answer(asks, Webhook(service.url, timeout_s=0.2))
            released.set()
    finally:
        released.set()
    with testing.use("Fine."), pytest.raises(il.InternalServerError, match="gave no answer"):
        _answer(asks, Webhook("http://127.0.0.1:9/check"))


def test_r70_a_webhook_holds_back_the_end_of_a_stream() -> None:
    """What was streamed is out; a refusal is the stream's error, and a change is refused."""
    with _service({"action": "refuse", "message": "too late"}) as service, testing.use("Fine."):
        with (
            il.model("fake/m", hooks=[Webhook(service.url, steps=["after"])]).stream("Hi") as stream,
            pytest.raises(il.ContentPolicyViolationError, match="too late"),
        ):
            list(stream)
        assert service.asked[0]["context"]["stream"] is True


@pytest.mark.parametrize(
    ("url", "options", "sentence"),
    [
        ("ftp://host/x", {}, "an http:// or https:// address"),
        ("https://", {}, "an http:// or https:// address"),
        ("https://user:secret@host/x", {"on_failure": "allow"}, "the address of a webhook contains a credential"),
        ("https://host", {"timeout_s": 0}, "more than 0 seconds"),
        ("https://host", {"on_failure": "ignore"}, "`refuse` or `allow`"),
        ("https://host", {"steps": ["during"]}, "before and after"),
        ("https://host", {"steps": []}, "before and after"),
    ],
)
def test_r70_a_webhook_that_cannot_be_is_refused(url: str, options: dict[str, Any], sentence: str) -> None:
    """When it is made, not when it is asked."""
    with pytest.raises(il.ConfigError, match=sentence):
        Webhook(url, **options)


def test_r70_the_name_of_a_webhook_is_its_host() -> None:
    """Never its path and query, which may hold a secret."""
    steps: tuple[Step, ...] = ("before",)
    assert Webhook("https://guard.example/secret?token=7", steps=steps).name == "webhook guard.example"
