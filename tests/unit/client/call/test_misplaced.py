"""What a target sent in the place of an answer: the error names it, and says how it begins."""

from __future__ import annotations

import pytest

import interlingua as il
from interlingua.client.call.misplaced import misplaced
from interlingua.routing.verdict import verdict
from interlingua.wire.http import Headers, HttpReply
from tests.support.client import AWAITED, BLOCKING, Face, scripted

HTML: Headers = (("content-type", "text/html"),)
MOVED: Headers = (("location", "https://else.example/v1?token=abc"),)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (
            HttpReply(status=200, headers=HTML, body=b"<html>\n<h1>Sign in</h1>"),
            "work/x answered with a web page; is the base URL right? It begins: <html> <h1>Sign in</h1>",
        ),
        (HttpReply(status=200, body=b" "), "work/x answered with status 200 and an empty body"),
        (HttpReply(status=204), "work/x answered with status 204 and an empty body"),
        (
            HttpReply(status=200, body=b'data: {"id":"c1"}\n\n'),
            'work/x answered with a stream that nobody asked for; is the base URL right? It begins: data: {"id":"c1"}',
        ),
        (
            HttpReply(status=200, body=b"upstream timeout"),
            "work/x answered with a text that is no JSON; is the base URL right? It begins: upstream timeout",
        ),
        (
            HttpReply(status=200, body=b"null"),
            "work/x answered with JSON that is no object; is the base URL right? It begins: null",
        ),
        (
            HttpReply(status=302, headers=MOVED),
            (
                "work/x answered with a redirect to https://else.example/v1, and keys are sent to no other address; "
                "is the base URL right?"
            ),
        ),
        (
            HttpReply(status=304),
            (
                "work/x answered with a redirect to nowhere, and keys are sent to no other address; "
                "is the base URL right?"
            ),
        ),
    ],
)
def test_what_is_no_answer_says_who_sent_it(reply: HttpReply, expected: str) -> None:
    """A page, nothing, a stream, a text, a redirect without its query."""
    error = misplaced("work/x", reply)
    assert error is not None
    assert error.message == expected


@pytest.mark.parametrize("body", [b'{"choices":[', b"{}", b"[]"])
def test_what_may_be_an_answer_is_left_to_its_dialect(body: bytes) -> None:
    """JSON that is broken, or not what was expected, is told by its place."""
    assert misplaced("work/x", HttpReply(status=200, headers=HTML, body=body)) is None


@pytest.mark.parametrize(
    ("body", "problem", "streams"),
    [
        (b'{"choices":[', "the text is not JSON: it is empty, or ends in the middle", False),
        (b'{"choices":[', "the text is not JSON: it is empty, or ends in the middle", True),
        (b"[]", "expected `object`, got `array`, at the top", False),
    ],
)
def test_an_answer_that_cannot_be_read_is_shown_with_its_sender(body: bytes, problem: str, streams: bool) -> None:
    """No place in it is worth naming, so its beginning stands there."""
    model = BLOCKING.model("openai-chat/gpt-4.1")
    with scripted(HttpReply(status=200, body=body)), pytest.raises(il.DecodeError) as caught:
        BLOCKING.finish(model.stream("Hi")) if streams else BLOCKING.generate(model, "Hi")
    begins = f"It begins: {body.decode()}"
    assert caught.value.message == f"openai-chat/gpt-4.1 answered with what cannot be read: {problem}. {begins}"


def test_an_excerpt_has_whole_words_alone() -> None:
    """Half a key would not be known for one."""
    error = misplaced("work/x", HttpReply(status=200, body=b"a" * 110 + b" the-key-of-somebody"))
    assert error is not None
    assert error.message.endswith(f"It begins: {'a' * 110} …")


@pytest.fixture(params=[BLOCKING, AWAITED], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces of the client."""
    return request.param


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("status", [200, 302])
def test_it_is_told_of_whole_answers_and_of_streams(face: Face, status: int, streams: bool) -> None:
    """The same sentence, and the next target of a chain is asked."""
    reply = HttpReply(status=status, headers=(*HTML, *MOVED), body=b"<h1>Sign in</h1>")
    model = face.model("openai-chat/gpt-4.1")
    with scripted(reply), pytest.raises(il.DecodeError, match="is the base URL right") as caught:
        face.finish(model.stream("Hi")) if streams else face.generate(model)
    assert verdict(caught.value).action == "advance"
