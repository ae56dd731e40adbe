"""Endpoints: the complete request, and a key that stands in one header and nowhere else."""

from __future__ import annotations

import msgspec
import pytest

from interlingua.dialects._contract import Encoded, Target
from interlingua.errors import ConfigError
from interlingua.providers.row import Auth
from interlingua.registry.endpoint import Endpoint
from interlingua.registry.secret import Secret

TOKEN = "tok-SECRET-1234"
ENCODED = Encoded(path="/chat/completions", body=b"{}", headers=(("x-dialect", "d"),))
ENDPOINT = Endpoint(
    spec="work/m",
    provider="work",
    model="m",
    dialect="openai-chat",
    base_url="https://gateway.example/v1",
    target=Target(model="m", provider="work"),
    credential=Secret.of_key(TOKEN),
    key_required=True,
    key_hint="set WORK_KEY",
    headers=(("x-row", "r"), ("accept", "row")),
)


def with_(**fields: object) -> Endpoint:
    """The endpoint with other fields."""
    return msgspec.structs.replace(ENDPOINT, **fields)


def test_the_request_is_complete() -> None:
    """Address, headers, body, dialect and target are set; the row's headers win over ours."""
    request = ENDPOINT.http_request(ENCODED)
    assert request.method == "POST"
    assert request.url == "https://gateway.example/v1/chat/completions"
    assert request.headers == (
        ("content-type", "application/json"),
        ("accept", "row"),
        ("user-agent", "interlingua"),
        ("x-dialect", "d"),
        ("x-row", "r"),
        ("authorization", f"Bearer {TOKEN}"),
    )
    assert (request.body, request.dialect, request.target) == (b"{}", "openai-chat", "work/m")


@pytest.mark.parametrize(
    ("stream", "dialect", "accept"),
    [
        (False, "openai-chat", "application/json"),
        (True, "openai-chat", "text/event-stream"),
        (True, "ollama", "application/x-ndjson"),
    ],
)
def test_accept_says_how_the_answer_is_wanted(stream: bool, dialect: str, accept: str) -> None:
    """Whole answers are JSON, streams are what the dialect streams."""
    request = with_(dialect=dialect, headers=()).http_request(ENCODED, stream=stream)
    assert dict(request.headers)["accept"] == accept


@pytest.mark.parametrize(
    ("auth", "header"),
    [
        ("bearer", ("authorization", f"Bearer {TOKEN}")),
        ("api-key", ("api-key", TOKEN)),
        ("x-api-key", ("x-api-key", TOKEN)),
        ("x-goog-api-key", ("x-goog-api-key", TOKEN)),
    ],
)
def test_the_key_goes_where_the_row_says(auth: Auth, header: tuple[str, str]) -> None:
    """One header carries the key; the URL never does."""
    request = with_(auth=auth).http_request(ENCODED)
    assert [entry for entry in request.headers if TOKEN in entry[1]] == [header]
    assert TOKEN not in request.url


def test_nothing_is_sent_where_no_key_belongs() -> None:
    """`none` sends no key; neither does `with_credential=False`, nor an optional key that is missing."""
    for request in (
        with_(auth="none").http_request(ENCODED),
        ENDPOINT.http_request(ENCODED, with_credential=False),
        with_(credential=Secret.of_key(""), key_required=False).http_request(ENCODED),
    ):
        assert "authorization" not in dict(request.headers)


def test_a_missing_key_names_the_way_out() -> None:
    """The request is refused before it is sent."""
    with pytest.raises(ConfigError) as caught:
        with_(credential=Secret.of_key("")).http_request(ENCODED)
    assert str(caught.value) == "work: no key; set WORK_KEY"


def test_a_caller_who_brings_a_credential_needs_none() -> None:
    """The caller's headers win, whatever their case, and then the key is not read at all."""
    request = with_(credential=Secret.of_key("")).http_request(
        ENCODED, headers=(("Authorization", "Bearer mine"), ("X-Row", "me"))
    )
    assert dict(request.headers)["authorization"] == "Bearer mine"
    assert dict(request.headers)["x-row"] == "me"


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("/chat", "https://gateway.example/v1/chat?api-version=a+b"),
        ("/chat?alt=sse", "https://gateway.example/v1/chat?alt=sse&api-version=a+b"),
    ],
)
def test_query_parameters_are_added(path: str, url: str) -> None:
    """The row's parameters follow those of the dialect."""
    request = with_(query=(("api-version", "a b"),)).http_request(Encoded(path=path, body=b""))
    assert request.url == url


def test_an_endpoint_shows_no_key() -> None:
    """Neither the endpoint nor its request prints the credential."""
    assert TOKEN not in repr(ENDPOINT)
    assert "***" in repr(ENDPOINT)
    assert TOKEN not in repr(ENDPOINT.http_request(ENCODED))


def test_the_same_key_has_the_same_headers() -> None:
    """Equal ones, so that whoever sends them finds their head again; another key has its own."""
    keys = ["one"]
    endpoint = with_(credential=Secret.of_key(lambda: keys[-1]))
    first, second = endpoint.http_request(ENCODED), endpoint.http_request(ENCODED)
    keys.append("two")
    third = endpoint.http_request(ENCODED)
    assert (first.headers, first.url) == (second.headers, second.url)
    assert (first.headers[-1], third.headers[-1]) == (("authorization", "Bearer one"), ("authorization", "Bearer two"))
