"""DSNs: parse or one sentence without a secret, and the provider that comes out."""

from __future__ import annotations

from typing import get_type_hints
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.dialects._contract import Quirks
from interlingua.errors import ConfigError
from interlingua.providers.rows import ROWS
from interlingua.registry.dsn import CONNECTION_OPTIONS, OPTIONS_GUIDE, Keyed, parse_dsn, provider_of
from tests.contract.source import ROOT
from tests.support.cells import cells

TOKEN = "tok-SECRET-1234"


def made(text: str, environ: dict[str, str] | None = None, *, name: str = "work") -> Keyed:
    """The provider that a DSN describes."""
    dsn = parse_dsn(text, where="LLM_WORK")
    return provider_of(name, dsn, ROWS[dsn.scheme], lambda: environ or {}, where="LLM_WORK")


def refusal(text: str) -> str:
    """The error of a DSN."""
    with pytest.raises(ConfigError) as caught:
        made(text)
    return str(caught.value)


def test_the_parts_of_a_dsn() -> None:
    """Scheme and host are lower case; token and options are decoded; a slash at the end does not count."""
    dsn = parse_dsn("  OpenAI://a%40b%2Fc@Gateway.Example:8443/v1/?key_env=%4B\n")
    assert (dsn.scheme, dsn.host, dsn.port, dsn.path) == ("openai", "gateway.example", 8443, "/v1")
    assert dsn.token is not None
    assert dsn.token.reveal() == "a@b/c"
    assert dsn.options == {"key_env": "K"}


@cells(
    ("text", "base_url"),
    [
        ("openai://gateway.example", "https://gateway.example/v1"),
        ("openai://gateway.example/", "https://gateway.example"),
        ("openai://gateway.example/llm/v2/", "https://gateway.example/llm/v2"),
        ("openai://gateway.example:8443", "https://gateway.example:8443/v1"),
        ("openai://gateway.example?tls=0", "http://gateway.example/v1"),
        ("openai://localhost:9000", "https://localhost:9000/v1"),
        ("openai://[2001:db8::1]:9000/v1", "https://[2001:db8::1]:9000/v1"),
        ("groq://api.groq.com", "https://api.groq.com/openai/v1"),
        ("azure://corp.openai.azure.com", "https://corp.openai.azure.com/openai/v1"),
        ("ollama://localhost", "http://localhost:11434"),
        ("ollama://127.0.0.1:9", "http://127.0.0.1:9"),
        ("ollama://[::1]", "http://[::1]:11434"),
        ("ollama://localhost?tls=1", "https://localhost"),
        ("ollama://box.example", "https://box.example"),
        ("ollama://box.example?tls=0", "http://box.example:11434"),
        ("ollama-compat://localhost", "http://localhost:11434/v1"),
        ("foreman://localhost:8000", "http://localhost:8000"),
        ("foreman://foreman.example/team", "https://foreman.example/team"),
        ("vllm://box?tls=0", "http://box:8000/v1"),
        ("vllm://box", "https://box/v1"),
    ],
)
def test_addresses(text: str, base_url: str) -> None:
    """TLS unless told otherwise or for the Ollama family on loopback; path and port are the row's own when not said."""
    assert made(text).provider.base_url == base_url


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("openai://", "no host in the DSN (expected scheme://[token@]host[/path])"),
        (f"openai://{TOKEN}@", "no host in the DSN (expected scheme://[token@]host[/path])"),
        (f"openai://{TOKEN}@/v1", "no host in the DSN (expected scheme://[token@]host[/path])"),
        ("openai:/host", "not a DSN (expected scheme://[token@]host[/path])"),
        (
            "openai://host:port",
            "the host in the DSN is not a host name with a port from 1 to 65535 (expected scheme://[token@]host[/path])",
        ),
        ("openai://host:0", "the port in the DSN is not from 1 to 65535"),
        ("openai://host:65536", "the port in the DSN is not from 1 to 65535"),
        (f"openai://{TOKEN} @host", "a space or control character in the DSN; percent-encode it"),
        (
            f"openai://{TOKEN}/x@host",
            "an @ or # after the host; percent-encode / ? # in a token and @ # in a path or option",
        ),
        (f"openai://{TOKEN}%FF@host", "a percent-encoded byte in the DSN is not UTF-8"),
        (f"openai://{TOKEN}%0A1@host", None),
        (f"openai://{TOKEN}@host?key_env=K", "more than one key; give a token, key_env, key_file or login"),
        ("openai://host?key_env=K&key_file=/k", "more than one key; give a token, key_env, key_file or login"),
        (f"openai://host?key_env={TOKEN}", "key_env does not name a variable (capitals, digits and underscores)"),
        ("openai://host?tls=yes", "tls takes 0 or 1"),
        ("openai://host?tls=0&tls=0", "the option tls is given twice"),
        (
            "openai://host?dialect=klingon",
            "dialect takes anthropic, bedrock, cohere, google, ollama, openai-chat, openai-responses or unified",
        ),
        ("openai://host?max_tokens_field=x", "max_tokens_field takes max_completion_tokens or max_tokens"),
        ("openai://host?result_media=yes", "result_media takes 0 or 1"),
    ],
)
def test_a_bad_dsn_is_one_sentence(text: str, message: str | None) -> None:
    """The error begins with the variable, says what to do, and shows nothing of the token."""
    said = refusal(text)
    assert TOKEN not in said
    if message is None:
        assert said == "the key from LLM_WORK holds a character that a header cannot carry"
    else:
        assert said == f"LLM_WORK: {message}"


def test_an_unknown_option_is_an_error_that_names_near_ones() -> None:
    """The option's name is shown when it looks like one; its value never is. All of them stand in the guide."""
    listed = "docs/guides/configuration.md lists them all"
    assert refusal(f"openai://host?keyenv={TOKEN}") == (
        f"LLM_WORK: unknown option keyenv in the DSN; did you mean key_env? {listed}"
    )
    assert refusal(f"openai://host?token={TOKEN}") == f"LLM_WORK: unknown option token in the DSN; {listed}"
    assert refusal(f"openai://host?{TOKEN}") == f"LLM_WORK: unknown option in the DSN; {listed}"
    guide = (ROOT / OPTIONS_GUIDE).read_text()
    assert [name for name in (*CONNECTION_OPTIONS, *Quirks.__struct_fields__) if f"`{name}`" not in guide] == []


def test_options_set_quirks_by_name() -> None:
    """Words, booleans and lists are read by the type of the flag; the row's other flags stay."""
    quirks = made(
        "mistral://h?max_tokens_field=max_completion_tokens&result_media=0&unsupported=n,seed"
    ).provider.quirks
    assert (quirks.max_tokens_field, quirks.result_media) == ("max_completion_tokens", False)
    assert quirks.unsupported == {"n", "seed"}
    assert quirks.seed_field == "random_seed"


@cells("name", [name for name, kind in get_type_hints(Quirks).items() if kind != frozenset[str]])
def test_every_quirk_can_be_an_option(name: str) -> None:
    """A new flag with a type that no option can say fails here, not at a user's."""
    assert refusal(f"openai://host?{name}=no-such-value").startswith(f"LLM_WORK: {name} takes ")


def test_a_dialect_can_be_chosen() -> None:
    """`dialect=` replaces the row's own; gemini is a spelling of google."""
    assert made("openai://host?dialect=openai-responses").provider.dialects == ("openai-responses",)
    assert made("openai://host?dialect=gemini").provider.dialects == ("google",)


def test_an_api_version_rides_in_the_query() -> None:
    """Older endpoints of Azure want it."""
    assert made("azure://h?api_version=2024-10-21").provider.query == (("api-version", "2024-10-21"),)


def test_openai_elsewhere_is_a_compatible_server() -> None:
    """An openai:// DSN to another host speaks Chat and carries none of OpenAI's own facts or keys."""
    keyed = made("openai://gateway.example", {"OPENAI_API_KEY": "sk-of-openai"})
    assert keyed.provider.dialects == ("openai-chat",)
    assert keyed.provider.family == "openai-compatible"
    assert keyed.credential.reveal() is None
    assert not keyed.provider.key_required


def test_openai_at_home_is_openai() -> None:
    """The same scheme to OpenAI's own host keeps the row, its facts and its key variable."""
    keyed = made("openai://api.openai.com", {"OPENAI_API_KEY": "sk-of-openai"})
    assert keyed.provider.family == "openai"
    assert keyed.provider.dialects == ROWS["openai"].dialects
    assert keyed.credential.reveal() == "sk-of-openai"
    assert keyed.provider.key_required


@cells("scheme", [name for name, row in ROWS.items() if row.remote and not row.needs_host])
def test_a_rows_key_goes_to_its_own_host_alone(scheme: str) -> None:
    """For every row: a DSN to another host never takes the row's variable."""
    environ = dict.fromkeys(ROWS[scheme].key_env, "sk-of-the-row")
    assert made(f"{scheme}://elsewhere.example", environ).credential.reveal() is None


@pytest.mark.parametrize(
    ("text", "environ", "key"),
    [
        (f"openai://{TOKEN}@host", {}, TOKEN),
        ("openai://user:pass@host", {}, "user:pass"),
        ("openai://a@b@host", {}, "a@b"),
        ("openai://@host", {}, None),
        ("openai://host?key_env=WORK_KEY", {"WORK_KEY": "w"}, "w"),
        ("openai://host?key_env=WORK_KEY", {}, None),
        ("azure://host", {"AZURE_OPENAI_API_KEY": "a"}, "a"),
    ],
)
def test_where_keys_come_from(text: str, environ: dict[str, str], key: str | None) -> None:
    """A token, a variable, or, where only the user knows the host, the row's own variable."""
    assert made(text, environ).credential.reveal() == key


def test_a_key_that_was_promised_is_required() -> None:
    """Whoever names a key wants it sent: without it the request is refused."""
    assert made("openai://host?key_env=WORK_KEY").provider.key_required
    assert made("openai-compatible://host?key_file=/nowhere").provider.key_required


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1))
def test_a_percent_encoded_token_survives(token: str) -> None:
    """Any key that a header can carry goes through a DSN."""
    dsn = parse_dsn(f"openai://{quote(token, safe='')}@host")
    assert dsn.token is not None
    assert dsn.token.reveal() == token


@given(st.text())
def test_any_text_is_a_dsn_or_an_error_of_ours(text: str) -> None:
    """Parsing ends in a Dsn or in ConfigError, nothing else."""
    for candidate in (text, f"openai://{text}", f"openai://h/{text}", f"openai://h?{text}"):
        try:
            made(candidate) if candidate.startswith("openai://") else parse_dsn(candidate)
        except ConfigError:
            continue


@given(st.text(), st.text(), st.sampled_from(["openai", "ollama", "groq"]))
def test_a_token_is_never_in_an_error_or_a_repr(before: str, after: str, scheme: str) -> None:
    """Whatever surrounds the token, a refusal and a repr do not hold it."""
    assert TOKEN not in _everything_shown(f"{scheme}://{before}{TOKEN}@{after}", scheme)


def _everything_shown(text: str, scheme: str) -> str:
    """What a reader of a log could see of a DSN: values and errors, printed."""
    shown = ""
    try:
        dsn = parse_dsn(text, where="LLM_WORK")
        shown += repr(dsn)
        return shown + repr(provider_of("work", dsn, ROWS[scheme], dict, where="LLM_WORK"))
    except ConfigError as error:
        return f"{shown}{error}{error!r}"
