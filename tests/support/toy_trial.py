"""What the toy dialect and its provider do, tried in a process whose package has them: prints one JSON object."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import interlingua as il
from interlingua import codec
from interlingua.gateway import app
from interlingua.transport.inprocess import AsyncAdapter, InProcessTransport
from interlingua.transport.override import Override, overriding
from interlingua.types.content import TextPart
from interlingua.types.response import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlingua.dialects._contract import DecodedRequest
    from interlingua.wire.http import HttpRequest

SENT: list[list[object]] = []


def _answer(decoded: DecodedRequest, http: HttpRequest) -> Response[Any]:
    """Stands for every provider: notes what it was sent."""
    versions = [value for name, value in http.headers if name == "toy-version"]
    SENT.append([http.dialect, http.url, versions, json.loads(http.body)])
    return Response(parts=(TextPart(f"Hello from {decoded.model}"),), finish_reason="stop", id="r1")


def _translated() -> dict[str, object]:
    """Requests and answers through the codec alone, both ways."""
    there, back = codec.bridge("toy", "openai-chat"), codec.bridge("openai-chat", "toy")
    toy = {"model": "m", "lines": [{"by": "user", "words": "Hi"}], "most": 9}
    chat = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "temperature": 1.0}
    return {
        "request": there.request(toy),
        "request back": back.request(chat),
        "changes": [change.path for change in back.changes],
        "answer back": back.response({"words": "Hello", "why": "done"})["choices"][0]["message"]["content"],
    }


def _printed(*arguments: str, stdin: str = "") -> str:
    """The output of a command, with its exit code before it."""
    command = [sys.executable, "-m", "interlingua", *arguments]
    run = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    return f"{run.returncode} {run.stdout}{run.stderr}"


def _commands() -> dict[str, object]:
    """The provider and the dialect on the command line."""
    toy = json.dumps({"model": "m", "lines": [{"by": "user", "words": "Hi"}]})
    return {
        "providers": _printed("providers", "toyland"),
        "explain": _printed("explain", "-m", "toyland/m1", "Hi"),
        "dialects in the help": _printed("translate", "--help").partition("Dialects: ")[2].partition(";")[0],
        "translate": _printed("translate", "--from", "toy", "--to", "openai-chat", stdin=toy),
    }


async def _posted(serving: Any, path: str, body: Mapping[str, object]) -> str:
    """The body of a gateway's reply, with its status before it."""
    sent: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = [{"type": "http.request", "body": json.dumps(body).encode()}]

    async def receive() -> dict[str, Any]:
        if not waiting:
            await asyncio.Event().wait()  # a client that stays
        return waiting.pop()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 9),
    }
    await serving(scope, receive, send)
    return f"{sent[0]['status']} {b''.join([message.get('body', b'') for message in sent[1:]]).decode()}"


async def _served() -> dict[str, object]:
    """Answers of a gateway: to clients of the toy dialect, and from its provider."""
    serving = app()
    lines = [{"by": "user", "words": "Hi"}]
    messages = [{"role": "user", "content": "Hi"}]
    replies: dict[str, tuple[str, dict[str, object]]] = {
        "passed": ("/toy/v1/say", {"model": "toyland/m1", "lines": lines}),
        "passed, stream": ("/toy/v1/say", {"model": "toyland/m1", "lines": lines, "stream": True}),
        "to another provider": ("/toy/v1/say", {"model": "groq/m2", "lines": lines}),
        "to another provider, stream": ("/toy/v1/say", {"model": "groq/m2", "lines": lines, "stream": True}),
        "says nothing": ("/toy/v1/say", {"model": "toyland/m1"}),
        "nothing there": ("/toy/v1/ask", {"model": "toyland/m1"}),
        "from another client": ("/v1/chat/completions", {"model": "toyland/m1", "messages": messages}),
    }
    return {name: await _posted(serving, path, body) for name, (path, body) in replies.items()}


def main() -> None:
    """Print what came of everything."""
    transport = InProcessTransport(_answer)
    with overriding(Override(lambda _: transport, lambda _: AsyncAdapter(transport), answers=True)):
        library = il.model("toyland/m1").generate("Hi")
        told: dict[str, object] = {"codec": _translated(), "library": library.text, "gateway": asyncio.run(_served())}
    told["commands"] = _commands()
    print(json.dumps({**told, "sent": SENT}))  # noqa: T201 - the test reads it


if __name__ == "__main__":
    main()
