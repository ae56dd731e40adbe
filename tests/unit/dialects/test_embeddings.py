"""Embeddings and rerank of the dialects: exact bytes in both roles, and what is refused."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from struct import pack
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeContext, EncodeOptions, Quirks, ServerContext, Target
from interlingua.dialects._vectors import DecodedEmbed, EmbedDialect
from interlingua.dialects.table import get_embedding, get_reranking
from interlingua.errors import DecodeError, UnsupportedError
from interlingua.types.content import OpaquePart
from interlingua.types.usage import Usage
from interlingua.types.vectors import Embeddings, EmbedRequest, InputType, Ranked, Ranking, RerankRequest
from interlingua.wire.http import HttpReply, HttpRequest
from interlingua.wire.json import decode_any, encode

ASK = EmbedRequest(inputs=("Oslo", "Bergen"), dimensions=2, input_type="query")
PACKED = b64encode(pack("<2f", 0.5, -1.0)).decode()


def _form(name: str) -> EmbedDialect:
    form = get_embedding(name)
    assert form is not None
    return form


def _sent(name: str, ask: EmbedRequest = ASK, **quirks: Any) -> tuple[str, Any, list[str]]:
    target = Target(model="m", provider="p", quirks=Quirks(**quirks))
    encoded = _form(name).encode_request(ask, EncodeOptions(target=target))
    return encoded.path, decode_any(encoded.body), [str(change) for change in encoded.changes]


def _read(name: str, body: object) -> Embeddings:
    return _form(name).decode_response(
        HttpReply(status=200, body=encode(body)), DecodeContext(target=Target(model="m"))
    )


def _asked(name: str, url: str, body: object) -> DecodedEmbed:
    return _form(name).decode_request(HttpRequest(url=url, body=encode(body)))


def test_a_request_in_openais_form() -> None:
    """What the texts are for has no member there, and is told."""
    assert _sent("openai-chat") == (
        "/embeddings",
        {"model": "m", "input": ["Oslo", "Bergen"], "dimensions": 2},
        ["dropped /input_type: the server has no word for query"],
    )


@pytest.mark.parametrize(
    ("quirks", "members"),
    [
        ({"embed_input_type": "input_type", "embed_dimensions": "output_dimension", "embed_base64": True},
         {"encoding_format": "base64", "output_dimension": 2, "input_type": "query"}),
        ({"embed_input_type": "task"}, {"dimensions": 2, "task": "retrieval.query"}),
    ],
)  # fmt: skip
def test_other_servers_of_that_form(quirks: dict[str, Any], members: dict[str, Any]) -> None:
    """Voyage and Jina have names of their own for dimensions and for what a text is for."""
    assert _sent("openai-chat", **quirks) == (
        "/embeddings", {"model": "m", "input": ["Oslo", "Bergen"], **members}, [],
    )  # fmt: skip


def test_a_request_in_googles_form() -> None:
    """One request for each text; Vertex AI takes instances."""
    same = {"model": "models/m", "taskType": "RETRIEVAL_QUERY", "outputDimensionality": 2}
    assert _sent("google") == (
        "/models/m:batchEmbedContents",
        {"requests": [{**same, "content": {"parts": [{"text": text}]}} for text in ("Oslo", "Bergen")]},
        [],
    )
    instances = [{"content": text, "task_type": "RETRIEVAL_QUERY"} for text in ("Oslo", "Bergen")]
    assert _sent("google", embed_form="predict") == (
        "/models/m:predict", {"instances": instances, "parameters": {"outputDimensionality": 2}}, [],
    )  # fmt: skip


def test_a_request_in_ollamas_form() -> None:
    """Dimensions have a member there, and what the texts are for has none."""
    path, body, changes = _sent("ollama")
    assert (path, body) == ("/api/embed", {"model": "m", "input": ["Oslo", "Bergen"], "dimensions": 2})
    assert changes == ["dropped /input_type: the dialect has no input_type"]


def test_a_request_in_coheres_form() -> None:
    """It insists on what the texts are for: where nobody says it they are documents, with an entry."""
    body = {"model": "m", "texts": ["Oslo", "Bergen"], "input_type": "search_query", "embedding_types": ["float"]}
    assert _sent("cohere") == ("/embed", {**body, "output_dimension": 2}, [])
    path, sent, changes = _sent("cohere", EmbedRequest(inputs=("Oslo", "Bergen")))
    assert (path, sent) == ("/embed", {**body, "input_type": "search_document"})
    assert changes == ["approximated /input_type: search_document"]
    _, sent, changes = _sent("cohere", EmbedRequest(inputs=("Oslo",), input_type="similarity"))
    assert (sent["input_type"], len(changes)) == ("search_document", 1)


WORDS: dict[str, tuple[str, dict[str, Any], dict[InputType, str]]] = {
    "google": ("/v1beta/models/m:embedContent", {"content": {"parts": [{"text": "a"}]}}, {
        "query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT", "similarity": "SEMANTIC_SIMILARITY",
        "classification": "CLASSIFICATION", "clustering": "CLUSTERING",
    }),
    "bedrock": ("/model/cohere.embed-v4%3A0/invoke", {"texts": ["a"]}, {
        "query": "search_query", "document": "search_document", "classification": "classification",
        "clustering": "clustering",
    }),
}  # fmt: skip
"""Dialect -> the path and the body of a request, and the word of each kind of input."""


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, (_, _, words) in WORDS.items() for kind in words])
def test_each_kind_of_input_has_its_word(name: str, kind: InputType) -> None:
    """In both roles."""
    url, body, words = WORDS[name]
    member = "taskType" if name == "google" else "input_type"
    assert _asked(name, url, {**body, member: words[kind]}).request.input_type == kind
    target = Target(model="cohere.embed-v4:0" if name == "bedrock" else "m", provider="p")
    encoded = _form(name).encode_request(EmbedRequest(inputs=("a",), input_type=kind), EncodeOptions(target=target))
    assert encode(words[kind]) in encoded.body
    assert encoded.changes == ()


def test_snake_case_of_google_is_read() -> None:
    """As its own SDK for Python may write it."""
    body = {"content": {"parts": [{"text": "a"}]}, "task_type": "CLUSTERING", "output_dimensionality": 2}
    asked = _asked("google", "/v1beta/models/m:embedContent", body)
    assert (asked.request.input_type, asked.request.dimensions) == ("clustering", 2)


def test_pictures_of_cohere_stay_there() -> None:
    """Under each of their names, among texts, and refused elsewhere."""
    picture = {"content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}]}
    text = {"content": [{"type": "text", "text": "Oslo"}]}
    mixed = _asked("cohere", "/v2/embed", {"model": "m", "inputs": [text, picture], "input_type": "image"}).request
    assert mixed.inputs == ("Oslo", OpaquePart("cohere", "content", picture))
    sent = _sent("cohere", mixed)[1]
    assert (sent["inputs"], sent["input_type"]) == ([text, picture], "image")
    images = _asked("cohere", "/v2/embed", {"model": "m", "images": ["data:image/png;base64,aGk="]}).request
    assert images.inputs == (OpaquePart("cohere", "content", picture),)
    with pytest.raises(UnsupportedError):
        _sent("openai-chat", images)


@pytest.mark.parametrize(
    ("name", "body", "tokens"),
    [
        ("openai-chat", {"object": "list", "model": "x", "usage": {"prompt_tokens": 3, "total_tokens": 3}, "data": [
            {"object": "embedding", "index": 1, "embedding": [0.25, 1]},
            {"object": "embedding", "index": 0, "embedding": PACKED}]}, 3),
        ("google", {"embeddings": [{"values": [0.5, -1]}, {"values": [0.25, 1]}]}, None),
        ("google", {"predictions": [{"embeddings": {"values": values, "statistics": {"token_count": 2.0}}}
                                    for values in ([0.5, -1], [0.25, 1])]}, 4),
        ("ollama", {"model": "x", "embeddings": [[0.5, -1], [0.25, 1]], "prompt_eval_count": 5}, 5),
        ("ollama", {"model": "x", "embeddings": [[0.5, -1], [0.25, 1]], "prompt_eval_count": 0}, 0),
        ("ollama", {"model": "x", "embeddings": [[0.5, -1], [0.25, 1]], "prompt_eval_count": -1}, None),
        ("cohere", {"id": "1", "embeddings": {"float": [[0.5, -1], [0.25, 1]]},
                    "meta": {"billed_units": {"input_tokens": 5.0}}}, 5),
        ("cohere", {"id": "1", "embeddings": {"base64": [PACKED, b64encode(pack("<2f", 0.25, 1.0)).decode()]}}, None),
    ],
)  # fmt: skip
def test_answers_are_read_into_one_form(name: str, body: object, tokens: int | None) -> None:
    """Numbers or base64, in the order of the inputs whatever the order on the wire; counts where there are any."""
    answer = _read(name, body)
    assert answer.vectors == [[0.5, -1.0], [0.25, 1.0]]
    assert answer.usage == (Usage() if tokens is None else Usage(input_tokens=tokens, output_tokens=0))
    assert answer.numpy().tolist() == [[0.5, -1.0], [0.25, 1.0]]
    assert (len(answer), answer.dimensions, answer[1]) == (2, 2, [0.25, 1.0])


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"data": [{"index": 0, "embedding": "?"}]}, "/data/0/embedding"),
        ({"data": [{"index": 0, "embedding": b64encode(b"abc").decode()}]}, "/data/0/embedding"),
        ({"data": [{"index": 0}]}, "/data/0/embedding"),
        ({"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}, "/data"),
        ({"data": [{"index": 0, "embedding": [1, "x"]}]}, "/data/0/embedding/1"),
        ({"data": [{"index": 0, "embedding": [1, None]}]}, "/data/0/embedding/1"),
    ],
)
def test_an_answer_that_holds_no_vectors_is_refused(body: object, path: str) -> None:
    """A vector in the wrong place is worse than none."""
    with pytest.raises(DecodeError) as caught:
        _read("openai-chat", body)
    assert (caught.value.path or "").startswith(path[:16])


def test_clients_are_read_in_every_form() -> None:
    """One canonical request, whatever the client speaks; unknown members stay with its dialect."""
    chat = {"model": "m", "input": ["Oslo", "Bergen"], "dimensions": 2, "input_type": "query", "x": 1}
    asked = _asked("openai-chat", "/v1/embeddings", {**chat, "encoding_format": "base64"})
    assert (asked.model, asked.form) == ("m", "base64")
    assert asked.request == EmbedRequest(
        inputs=("Oslo", "Bergen"), dimensions=2, input_type="query", extra={"openai-chat": {"x": 1}}
    )
    each = {"model": "models/m", "taskType": "RETRIEVAL_QUERY", "outputDimensionality": 2}
    batch = [{**each, "content": {"parts": [{"text": text}]}} for text in ("Oslo", "Bergen")]
    asked = _asked("google", "/v1beta/models/m:batchEmbedContents", {"requests": batch})
    assert (asked.model, asked.form, asked.request) == ("m", "float", ASK)
    single = {"content": {"parts": [{"text": "Oslo"}]}, "taskType": "RETRIEVAL_QUERY"}
    asked = _asked("google", "/v1beta/models/m:embedContent", single)
    assert (asked.form, asked.request) == ("single", EmbedRequest(inputs=("Oslo",), input_type="query"))
    asked = _asked("ollama", "/api/embeddings", {"model": "m", "prompt": "Oslo"})
    assert (asked.form, asked.request) == ("single", EmbedRequest(inputs=("Oslo",)))


WRONG: list[tuple[str, str, Any, str]] = [
    ("openai-chat", "/v1/embeddings", {"model": "m"}, "/input"),
    ("openai-chat", "/v1/embeddings", {"model": "m", "input": []}, "/input"),
    ("openai-chat", "/v1/embeddings", {"model": "m", "input": ["a", 1.5]}, "/input/1"),
    ("openai-chat", "/v1/embeddings", {"model": "m", "input": ["a", ""]}, "/input/1"),
    ("openai-chat", "/v1/embeddings", {"model": "m", "input": "a", "dimensions": 0}, "/dimensions"),
    ("openai-chat", "/v1/embeddings", {"model": "m", "input": "a", "encoding_format": "int8"}, "/encoding_format"),
    ("google", "/v1beta/models/m:batchEmbedContents", {"requests": []}, "/requests"),
    ("google", "/v1beta/models/m:batchEmbedContents", {"requests": [{"content": {}}]}, "/requests/0/content"),
    ("google", "/v1beta/models/m:batchEmbedContents", {"requests": [
        {"content": {"parts": [{"text": "a"}]}},
        {"content": {"parts": [{"text": "a"}]}, "taskType": "CLUSTERING"}]}, "/requests/1"),
    ("google", "/v1beta/models/m:embedContent", {"content": {"parts": []}, "model": "models/x"}, "/model"),
    ("ollama", "/api/embed", {"model": "m", "prompt": "a"}, "/input"),
    ("cohere", "/v2/embed", {"model": "m"}, "/texts"),
    ("cohere", "/v2/embed", {"model": "m", "texts": ["a"], "images": ["b"]}, "/texts"),
    ("cohere", "/v2/embed", {"model": "m", "texts": ["a"], "output_dimension": 0}, "/output_dimension"),
    ("cohere", "/v2/embed", {"model": "m", "texts": ["a"], "embedding_types": ["int8"]}, "/embedding_types"),
]  # fmt: skip
"""What a client asks wrongly, and the place of its error."""


@pytest.mark.parametrize(("name", "url", "body", "path"), WRONG)
def test_what_a_client_asks_wrongly_is_told_with_its_place(name: str, url: str, body: object, path: str) -> None:
    """Its fault, with the status 400."""
    with pytest.raises(DecodeError) as caught:
        _asked(name, url, body)
    assert (caught.value.path, caught.value.status) == (path, 400)


def test_tokens_and_pictures_stay_with_their_dialect() -> None:
    """Verbatim there; refused elsewhere, since nobody else can read them."""
    tokens = _asked("openai-chat", "/v1/embeddings", {"model": "m", "input": [[1, 2], [3]]}).request
    assert tokens.inputs == (OpaquePart("openai-chat", "tokens", [1, 2]), OpaquePart("openai-chat", "tokens", [3]))
    assert _sent("openai-chat", tokens)[1]["input"] == [[1, 2], [3]]
    picture = {"parts": [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}]}
    asked = _asked("google", "/v1beta/models/m:embedContent", {"content": picture}).request
    assert _sent("google", asked)[1]["requests"][0]["content"] == picture
    for name, ask in (("google", tokens), ("openai-chat", asked), ("ollama", tokens)):
        with pytest.raises(UnsupportedError) as caught:
            _sent(name, ask)
        assert caught.value.changes[0].path == "/inputs/0"


@pytest.mark.parametrize(
    ("name", "url", "body", "answer"),
    [
        ("openai-chat", "/v1/embeddings", {"model": "m", "input": "a"},
         (b'{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,-1.0]}],"model":"m",'
          b'"usage":{"prompt_tokens":2,"total_tokens":2}}')),
        ("openai-chat", "/v1/embeddings", {"model": "m", "input": "a", "encoding_format": "base64"},
         (b'{"object":"list","data":[{"object":"embedding","index":0,"embedding":"AAAAPwAAgL8="}],"model":"m",'
          b'"usage":{"prompt_tokens":2,"total_tokens":2}}')),
        ("google", "/v1beta/models/m:embedContent", {"content": {"parts": [{"text": "a"}]}},
         b'{"embedding":{"values":[0.5,-1.0]},"usageMetadata":{"promptTokenCount":2}}'),
        ("ollama", "/api/embed", {"model": "m", "input": "a"},
         b'{"model":"m","embeddings":[[0.5,-1.0]],"total_duration":0,"load_duration":0,"prompt_eval_count":2}'),
        ("ollama", "/api/embeddings", {"model": "m", "prompt": "a"}, b'{"embedding":[0.5,-1.0]}'),
        ("cohere", "/v2/embed", {"model": "m", "texts": ["a"], "embedding_types": ["base64"]},
         (b'{"id":"embed","embeddings":{"base64":["AAAAPwAAgL8="]},"texts":["a"],"meta":{"api_version":{"version":"2"},'
          b'"billed_units":{"input_tokens":2}},"response_type":"embeddings_by_type"}')),
        ("bedrock", "/model/amazon.titan-embed-text-v2%3A0/invoke", {"inputText": "a"},
         b'{"embedding":[0.5,-1.0],"inputTextTokenCount":2}'),
        ("bedrock", "/model/cohere.embed-v4%3A0/invoke", {"texts": ["a"], "input_type": "search_query"},
         b'{"id":"embed","embeddings":{"float":[[0.5,-1.0]]},"response_type":"embeddings_by_type"}'),
    ],
)  # fmt: skip
def test_answers_are_written_in_the_form_of_the_client(name: str, url: str, body: object, answer: bytes) -> None:
    """Numbers, base64, or the only vector by itself."""
    vectors = Embeddings(packed=(pack("<2f", 0.5, -1.0),), usage=Usage(input_tokens=2, output_tokens=0))
    reply = _form(name).encode_response(vectors, _asked(name, url, body), ServerContext(model="m"))
    assert (reply.status, reply.body) == (200, answer)


def test_a_rerank_in_both_roles() -> None:
    """Jina's form, and Voyage's names for the same; documents come back where they are wanted."""
    form = get_reranking("openai-chat")
    assert form is not None
    ask = RerankRequest(query="rain", documents=("sun", "rain falls"), top_n=1)
    jina, voyage = Quirks(rerank_form="jina"), Quirks(rerank_form="voyage")
    for quirks, name in ((jina, "top_n"), (voyage, "top_k")):
        encoded = form.encode_request(ask, EncodeOptions(target=Target(model="m", quirks=quirks)))
        assert (encoded.path, decode_any(encoded.body)) == (
            "/rerank", {"model": "m", "query": "rain", "documents": ["sun", "rain falls"], name: 1},
        )  # fmt: skip
    ranked = [{"index": 0, "relevance_score": 0.1}, {"index": 1, "relevance_score": 0.9}]
    for member in ("results", "data"):
        body = encode({member: ranked, "model": "x", "usage": {"total_tokens": 4}})
        ranking = form.decode_response(HttpReply(status=200, body=body), DecodeContext())
        assert ranking.results == (Ranked(1, 0.9), Ranked(0, 0.1))
        assert ranking.usage == Usage(input_tokens=4, output_tokens=0)
    asked = form.decode_request(
        HttpRequest(url="/v1/rerank", body=encode({"model": "m", "query": "rain", "documents": ["sun", {"text": "b"}],
                                                   "return_documents": True}))
    )  # fmt: skip
    assert asked.request == RerankRequest(query="rain", documents=("sun", "b"))
    reply = form.encode_response(Ranking(results=(Ranked(1, 0.9),)), asked, ServerContext(model="m"))
    assert decode_any(reply.body)["results"] == [{"index": 1, "relevance_score": 0.9, "document": {"text": "b"}}]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"query": "", "documents": ["a"]}, "/query"),
        ({"query": "a", "documents": []}, "/documents"),
        ({"query": "a", "documents": ["a", 1]}, "/documents/1"),
        ({"query": "a", "documents": ["a"], "top_n": 0}, "/top_n"),
    ],
)
def test_a_rerank_that_is_asked_wrongly_is_told_with_its_place(body: object, path: str) -> None:
    """The client's fault, with the status 400."""
    form = get_reranking("openai-chat")
    assert form is not None
    with pytest.raises(DecodeError) as caught:
        form.decode_request(HttpRequest(url="/v1/rerank", body=encode(body)))
    assert (caught.value.path, caught.value.status) == (path, 400)


def test_a_provider_without_rerank_refuses_before_anything_is_sent() -> None:
    """OpenAI itself has none."""
    form = get_reranking("openai-responses")
    assert form is not None
    target = Target(model="m", provider="openai", quirks=Quirks(rerank_form="none"))
    with pytest.raises(UnsupportedError, match="the provider has no rerank"):
        form.encode_request(RerankRequest(query="a", documents=("b",)), EncodeOptions(target=target))


def test_a_request_in_the_forms_of_bedrock() -> None:
    """Titan takes one text, Cohere's models several; the form is that of the vendor in the model's id."""
    form = _form("bedrock")
    titan = Target(model="amazon.titan-embed-text-v2:0", provider="bedrock")
    encoded = form.encode_request(EmbedRequest(inputs=("Oslo",), dimensions=256), EncodeOptions(target=titan))
    assert (encoded.path, encoded.body) == (
        "/model/amazon.titan-embed-text-v2%3A0/invoke", b'{"inputText":"Oslo","dimensions":256}',
    )  # fmt: skip
    cohere = Target(model="eu.cohere.embed-v4:0", provider="bedrock")
    encoded = form.encode_request(ASK, EncodeOptions(target=cohere))
    assert decode_any(encoded.body) == {
        "texts": ["Oslo", "Bergen"], "input_type": "search_query", "embedding_types": ["float"], "output_dimension": 2,
    }  # fmt: skip
    with pytest.raises(UnsupportedError, match="one text at once"):
        form.encode_request(ASK, EncodeOptions(target=titan))
    assert form.takes_one is not None
    assert [form.takes_one(target.model) for target in (titan, cohere)] == [True, False]


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        ({"embedding": [0.5, -1], "inputTextTokenCount": 3, "embeddingsByType": {"float": [0.5, -1]}}, 3),
        ({"embeddings": [[0.5, -1]], "id": "x", "texts": ["a"], "response_type": "embeddings_floats"}, None),
        ({"embeddings": {"float": [[0.5, -1]]}, "id": "x", "response_type": "embeddings_by_type"}, None),
    ],
)
def test_answers_of_bedrock(body: object, tokens: int | None) -> None:
    """Titan's, and both of Cohere's; without vectors they are none."""
    answer = _read("bedrock", body)
    assert (answer.vectors, answer.usage.input_tokens) == ([[0.5, -1.0]], tokens)
    with pytest.raises(DecodeError):
        _read("bedrock", {"id": "x"})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("name", ["openai-chat", "cohere"])
def test_packed_numbers_are_finite(name: str, number: float) -> None:
    """No number and infinity are refused, as JSON has neither."""
    packed = b64encode(pack("<2f", 0.5, number)).decode()
    body = {"embeddings": {"base64": [packed]}} if name == "cohere" else {"data": [{"embedding": packed}]}
    with pytest.raises(DecodeError, match="not finite"):
        _read(name, body)


def test_numbers_out_of_range_are_no_vector_and_no_count() -> None:
    """A whole number of 400 digits in Cohere's vector; counts of 5,000 digits and of 400."""
    context, zeros = DecodeContext(target=Target(model="m")), b"0" * 400
    with pytest.raises(DecodeError, match="/embeddings/float/0"):
        _form("cohere").decode_response(
            HttpReply(status=200, body=b'{"embeddings":{"float":[[1' + zeros + b"]]}}"), context
        )
    headers = (("x-amzn-bedrock-input-token-count", "9" * 5_000),)
    reply = HttpReply(status=200, headers=headers, body=b'{"embedding":[1]}')
    assert _form("bedrock").decode_response(reply, context).usage == Usage()
    body = b'{"embeddings":[{"values":[1]}],"usageMetadata":{"promptTokenCount":1e308}}'
    assert _form("google").decode_response(HttpReply(status=200, body=body), context).usage == Usage()


def test_base64_for_urls_is_read() -> None:
    """The letters `-` and `_` stand for `+` and `/`."""
    packed = pack("<2f", -1.9999, 3.99999)
    text = urlsafe_b64encode(packed).decode()
    assert "-" in text or "_" in text
    read = _read("openai-chat", {"data": [{"index": 0, "embedding": text.rstrip("=")}]})
    assert read.packed == (packed,)


def test_voyages_members_stay_with_its_servers() -> None:
    """Its client always says whether texts are cut, and null for what it leaves out: other servers get neither."""
    body = {"model": "m", "input": ["a"], "truncation": True, "output_dtype": None}
    asked = _asked("openai-chat", "/v1/embeddings", body)
    assert asked.request.extra == {"openai-chat": {"truncation": True}}
    assert _sent("openai-chat", asked.request, embed_input_type="input_type")[1]["truncation"] is True
    _, sent, changes = _sent("openai-chat", asked.request)
    assert ("truncation" in sent, changes) == (
        False,
        ["dropped /truncation: it is a member of Voyage's servers alone"],
    )


def test_a_rerank_in_voyages_form() -> None:
    """Who sends `top_k` or `truncation` reads `data`, and documents as texts."""
    form = get_reranking("openai-chat")
    assert form is not None
    body = {"model": "m", "query": "q", "documents": ["a", "b"], "truncation": True, "return_documents": True}
    asked = form.decode_request(HttpRequest(url="/v1/rerank", body=encode(body)))
    ranking = Ranking(results=(Ranked(1, 0.5),), model="m")
    answer = decode_any(form.encode_response(ranking, asked, ServerContext(model="m")).body)
    assert answer == {
        "object": "list",
        "model": "m",
        "data": [{"index": 1, "relevance_score": 0.5, "document": "b"}],
        "usage": {"total_tokens": 0},
    }


@pytest.mark.parametrize("name", ["openai-chat", "cohere"])
def test_a_document_of_more_than_a_text_is_refused(name: str) -> None:
    """Only its text would be ranked, and nobody would know."""
    form = get_reranking(name)
    assert form is not None
    body: dict[str, Any] = {"model": "m", "query": "q", "documents": [{"text": "a"}, {"text": "b", "image": "x"}]}
    with pytest.raises(DecodeError, match="/documents/1: only its text would be ranked, and it has 'image', too"):
        form.decode_request(HttpRequest(url="/rerank", body=encode(body)))
    body["documents"] = [{"text": "a"}]
    assert form.decode_request(HttpRequest(url="/rerank", body=encode(body))).request.documents == ("a",)
