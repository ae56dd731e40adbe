"""Citations cross dialects: what they cite is the same, and so are the words that rest on it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, EncodeOptions, ServerContext, Target
from interlingua.dialects.google.citations import read_citations
from interlingua.dialects.table import get_dialect
from interlingua.stream.fold import fold
from interlingua.stream.unfold import unfold
from interlingua.types.change import Change
from interlingua.types.content import Citation, TextPart
from interlingua.types.message import assistant, user
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.wire.http import HttpReply

URL = "https://a.test"
TEXT = "Größe: 4 m. Ja."
CITED = Citation("openai-responses", {"type": "url_citation"}, URL, "A", start=7, end=10)
"""The words `4 m`."""


def answer(*parts: TextPart) -> Response[Any]:
    """An answer of these texts."""
    return Response(parts=parts, finish_reason="stop", model="m", id="r")


def whole(name: str, response: Response[Any], changes: list[Change] | None = None) -> tuple[Any, Response[Any]]:
    """The body of an answer in a dialect, and what it is read as."""
    dialect = get_dialect(name)
    reply = dialect.encode_response(response, ServerContext(changes=[] if changes is None else changes))
    return json.loads(reply.body), dialect.decode_response(reply, DecodeContext())


def streamed(name: str, response: Response[Any]) -> Response[Any]:
    """What the stream of an answer in a dialect is read as."""
    dialect = get_dialect(name)
    encoder = dialect.stream_encoder(ServerContext())
    data = b"".join([encoder.encode(event) for event in unfold(response)])
    decoder = dialect.stream_decoder(DecodeContext())
    return fold([*decoder.feed(data), *decoder.close()])


def spans(response: Response[Any]) -> list[tuple[str | None, str | None, str]]:
    """Address, title and cited words of each citation of the texts."""
    texts = [part for part in response.parts if isinstance(part, TextPart)]
    return [(one.url, one.title, part.text[one.start : one.end]) for part in texts for one in part.annotations]


@pytest.mark.parametrize("name", ["openai-chat", "google"])
def test_r63_words_and_source_cross(name: str) -> None:
    """R63: to a wire with places in the text, whole and streamed, also behind other texts and letters of two bytes."""
    response = answer(TextPart("Öl. "), TextPart(TEXT, (CITED,)))
    _, again = whole(name, answer(TextPart(TEXT, (CITED,))))
    assert spans(again) == [(URL, "A", "4 m")]
    assert spans(streamed(name, response)) == [(URL, "A", "4 m")]


def test_r63_to_responses_each_text_has_its_own_places() -> None:
    """R63: a source of Claude is of its whole block; what streams says the same."""
    cited = Citation("anthropic", {"type": "web_search_result_location"}, URL, "A", quote="x")
    response = answer(TextPart("Öl. "), TextPart(TEXT, (cited,)))
    body, again = whole("openai-responses", response)
    made = {"type": "url_citation", "start_index": 0, "end_index": len(TEXT), "title": "A", "url": URL}
    assert body["output"][0]["content"][1]["annotations"] == [made]
    assert spans(again) == spans(streamed("openai-responses", response)) == [(URL, "A", TEXT)]


def test_chat_counts_from_the_beginning_of_the_answer() -> None:
    """Texts are one content there."""
    body, _ = whole("openai-chat", answer(TextPart("Öl. "), TextPart(TEXT, (CITED,))))
    message = body["choices"][0]["message"]
    [annotation] = message["annotations"]
    place = annotation["url_citation"]
    assert message["content"][place["start_index"] : place["end_index"]] == "4 m"


def test_google_counts_bytes() -> None:
    """Chunks once, a support for each citation."""
    body, _ = whole("google", answer(TextPart(TEXT, (CITED, Citation("anthropic", {"x": 1}, URL, "A")))))
    assert body["candidates"][0]["groundingMetadata"] == {
        "groundingChunks": [{"web": {"uri": URL, "title": "A"}}],
        "groundingSupports": [
            {"segment": {"startIndex": 9, "endIndex": 12, "text": "4 m"}, "groundingChunkIndices": [0]},
            {"segment": {"endIndex": len(TEXT.encode()), "text": TEXT}, "groundingChunkIndices": [0]},
        ],
    }


def test_claude_cites_whole_blocks() -> None:
    """The page as a search has it, without the service's own index; fewer words than the block are an entry."""
    changes: list[Change] = []
    body, again = whole("anthropic", answer(TextPart(TEXT, (CITED,))), changes)
    made = {"type": "web_search_result_location", "cited_text": "", "encrypted_index": "", "title": "A", "url": URL}
    assert body["content"][0]["citations"] == [made]
    assert ("citation_widened", "/parts/0/annotations/0") in [(change.code, change.path) for change in changes]
    assert spans(again) == spans(streamed("anthropic", answer(TextPart(TEXT, (CITED,))))) == [(URL, "A", TEXT)]


def test_a_citation_that_we_wrote_does_not_go_to_claude() -> None:
    """A client sends it back, and the service would refuse an index that is not its own."""
    made = {"type": "web_search_result_location", "cited_text": "", "encrypted_index": "", "title": "A", "url": URL}
    own = {**made, "encrypted_index": "RXA="}
    text = TextPart("Hi", (Citation("anthropic", made, URL), Citation("anthropic", own, URL)))
    request = Request(messages=(user("?"), assistant(text), user("!")))
    sent = get_dialect("anthropic").encode_request(request, EncodeOptions(target=Target(model="m")))
    assert json.loads(sent.body)["messages"][1]["content"][0]["citations"] == [own]
    assert "annotation_unsupported" in [change.code for change in sent.changes]


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "anthropic", "google", "ollama", "cohere"])
def test_in_a_history_citations_stay_at_home(name: str) -> None:
    """An entry for each, and the text as it is."""
    foreign = Citation("unified", {}, URL, "A")
    request = Request(messages=(user("?"), assistant(TextPart("Hi", (foreign,))), user("!")))
    sent = get_dialect(name).encode_request(request, EncodeOptions(target=Target(model="m")))
    assert URL not in sent.body.decode()
    paths = [change.path for change in sent.changes if change.code == "annotation_unsupported"]
    assert [path.removesuffix("/0") for path in paths] == ["/messages/1/parts/0/annotations"]


def test_a_file_crosses_to_responses_and_is_named_elsewhere() -> None:
    """By its id and name; a wire that knows addresses alone has an entry."""
    cited = Citation("anthropic", {"type": "char_location"}, None, "a.txt", "file_1")
    body, _ = whole("openai-responses", answer(TextPart("Hi", (cited,))))
    assert body["output"][0]["content"][0]["annotations"] == [
        {"type": "file_citation", "file_id": "file_1", "filename": "a.txt", "index": 2}
    ]
    changes: list[Change] = []
    body, _ = whole("openai-chat", answer(TextPart("Hi", (cited,))), changes)
    assert body["choices"][0]["message"].get("annotations", []) == []
    assert [(change.code, change.path) for change in changes] == [("annotation_unsupported", "/parts/0/annotations/0")]


def test_grounding_is_read_by_its_supports() -> None:
    """Bytes become characters; a segment of another text has no place; the first citation has the whole member."""
    metadata = {
        "groundingChunks": [{"web": {"uri": URL, "title": "A"}}, {"retrievedContext": {"title": "B", "text": "q"}}],
        "groundingSupports": [
            {"segment": {"startIndex": 9, "endIndex": 12, "text": "4 m"}, "groundingChunkIndices": [0, 1, 9]},
            {"segment": {"startIndex": 1, "endIndex": 3, "text": "Ja"}, "groundingChunkIndices": [0]},
            {"segment": {"startIndex": 1, "endIndex": 3, "text": "No"}, "groundingChunkIndices": [0]},
        ],
    }
    content = {"role": "model", "parts": [{"text": TEXT}]}
    body = {"candidates": [{"finishReason": "STOP", "content": content, "groundingMetadata": metadata}]}
    google = get_dialect("google")
    reply = google.decode_response(google_reply(body), DecodeContext())
    [part] = reply.parts
    assert isinstance(part, TextPart)
    assert part.annotations == (
        Citation("google", {"groundingMetadata": metadata}, URL, "A", start=7, end=10),
        Citation("google", {}, None, "B", quote="q", start=7, end=10),
        Citation("google", {}, URL, "A", start=12, end=14),
        Citation("google", {}, URL, "A"),
    )
    again = json.loads(google.encode_response(reply, ServerContext(source="google")).body)
    assert again["candidates"][0]["groundingMetadata"] == metadata


@pytest.mark.parametrize("kind", ["web", "retrievedContext", "maps", "image"])
def test_each_kind_of_chunk_has_its_address_and_title(kind: str) -> None:
    """Whatever the search was that found it; one of another kind keeps its raw value alone."""
    supports = [{"segment": {"endIndex": 2}, "groundingChunkIndices": [0]}]
    for name, found in ((kind, (URL, "A")), ("other", (None, None))):
        chunks = [{name: {"uri": URL, "title": "A"}}]
        [read] = read_citations("groundingMetadata", {"groundingChunks": chunks, "groundingSupports": supports}, "Hi")
        assert ((read.url, read.title), read.start, read.end) == (found, 0, 2)


def google_reply(body: dict[str, Any]) -> HttpReply:
    """A reply with this body."""
    return HttpReply(status=200, body=json.dumps(body).encode())


@pytest.mark.parametrize("source", ["openai-responses", "google"])
@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "anthropic", "google"])
def test_many_citations_of_a_long_text_do_not_repeat_it(source: str, target: str) -> None:
    """A provider that cites the whole text five hundred times has its client get little more than the text."""
    cited = tuple([Citation(source, {}, URL, "A", start=0, end=50_000) for _ in range(500)])
    response = answer(TextPart("ä" * 50_000, cited))
    data = get_dialect(target).encode_response(response, ServerContext()).body
    assert len(data) < 4 * 100_000
    stream = get_dialect(target).stream_encoder(ServerContext())
    assert sum([len(stream.encode(event)) for event in unfold(response)]) < 10 * 100_000  # each event has its frame


def test_segments_are_where_their_bytes_are() -> None:
    """Bytes of UTF-8 are counted as characters, also in the middle of one, and words that stand elsewhere are found."""
    segments: list[Any] = [
        {"startIndex": 2, "endIndex": 4, "text": "ö"},
        {"startIndex": 2, "endIndex": 5},
        {"startIndex": 3, "endIndex": 5},
        {"startIndex": 0, "endIndex": 2, "text": "x"},
        {"startIndex": 0, "endIndex": 99, "text": "nowhere"},
    ]
    metadata: dict[str, Any] = {
        "groundingChunks": [{"web": {"uri": URL}}],
        "groundingSupports": [{"segment": segment, "groundingChunkIndices": [0]} for segment in segments],
    }
    read = read_citations("groundingMetadata", metadata, "äöüx")
    assert [(one.start, one.end) for one in read] == [(1, 2), (1, 2), (2, 2), (3, 4), (None, None)]
