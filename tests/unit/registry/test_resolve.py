"""The registry: from a spec to endpoints, against injected environments."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.dialects import table
from interlingua.dialects._contract import Encoded, Quirks
from interlingua.errors import ConfigError, Error, UnknownModelError
from interlingua.providers.row import Provider
from interlingua.providers.rows import ROWS
from interlingua.registry.resolve import Registry, default_registry, placeholder
from interlingua.registry.sources import Reader, Sources
from interlingua.registry.status import status_of
from tests.support.cells import cells

TOKEN = "tok-SECRET-1234"
ENCODED = Encoded(path="/chat/completions", body=b"{}")
CORP = Provider(name="corp", base_url="https://llm.corp.example/v1", dialects=("openai-chat",), key_env=("CORP_KEY",))


def specs(spec: str, **environ: str) -> list[str]:
    """The targets of a spec under an environment."""
    return [endpoint.spec for endpoint in Registry(environ).resolve(spec)]


def refusal(spec: str, **environ: str) -> str:
    """The error that resolving gives."""
    with pytest.raises((ConfigError, UnknownModelError)) as caught:
        Registry(environ).resolve(spec)
    return str(caught.value)


def key_of(registry: Registry, spec: str) -> str | None:
    """What the first target sends as authorization."""
    return dict(registry.resolve(spec)[0].http_request(ENCODED).headers).get("authorization")


def test_a_row_is_an_endpoint() -> None:
    """Provider, model, address, quirks and facts of a built-in row."""
    (endpoint,) = Registry({"OPENAI_API_KEY": TOKEN}).resolve("openai-chat/gpt-5.6")
    assert (endpoint.spec, endpoint.provider, endpoint.model) == ("openai-chat/gpt-5.6", "openai-chat", "gpt-5.6")
    assert (endpoint.base_url, endpoint.dialect) == ("https://api.openai.com/v1", "openai-chat")
    assert endpoint.target.quirks == ROWS["openai-chat"].quirks
    assert endpoint.target.facts.tools is False
    assert (endpoint.target.model, endpoint.target.provider) == ("gpt-5.6", "openai-chat")


def test_the_first_dialect_that_exists_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider openai speaks Responses where there is that dialect, else Chat."""
    monkeypatch.setattr("interlingua.dialects.table.DIALECTS", {"openai-chat": ""})
    assert Registry({}).resolve("openai/gpt-5.6")[0].dialect == "openai-chat"
    monkeypatch.setattr("interlingua.dialects.table.DIALECTS", {"openai-chat": "", "openai-responses": ""})
    assert Registry({}).resolve("openai/gpt-5.6")[0].dialect == "openai-responses"


def test_a_dialect_that_is_not_there_yet_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the model and the dialect."""
    monkeypatch.setattr("interlingua.dialects.table.DIALECTS", {"openai-chat": ""})
    assert refusal("anthropic/claude-opus-5") == (
        "anthropic/claude-opus-5 speaks anthropic, which this version does not have yet"
    )


@cells("name", [name for name, row in ROWS.items() if set(row.dialects) & set(table.DIALECTS)])
def test_every_row_resolves(name: str) -> None:
    """A row whose dialect exists is an endpoint, or says which variable gives its address."""
    if ROWS[name].needs_host:
        variable = f"LLM_{name.replace('-', '_').upper()}"
        assert refusal(f"{name}/m") == f"{name}: no address; set {variable}={name}://TOKEN@HOST"
    elif needed := next((variable for variable in ROWS[name].variables if not variable.default), None):
        names = " or ".join(needed.env)
        assert refusal(f"{name}/m") == f"{name}: no {needed.name}; set {names} or ?{needed.name}= in its DSN"
    else:
        assert specs(f"{name}/m") == [f"{name}/m"]


def test_gemini_is_another_spelling_of_google(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both names are one target."""
    monkeypatch.setattr("interlingua.dialects.table.DIALECTS", {"google": ""})
    assert specs("gemini/gemini-3-pro,google/gemini-3-pro,google/b") == ["google/gemini-3-pro", "google/b"]


def test_a_missing_key_is_reported_when_it_is_needed() -> None:
    """Resolving reads no key; building the request names the variable and the DSN."""
    (endpoint,) = Registry({}).resolve("openai/m")
    with pytest.raises(ConfigError) as caught:
        endpoint.http_request(ENCODED)
    assert str(caught.value) == "openai: no key; set OPENAI_API_KEY or LLM_OPENAI=openai://TOKEN@api.openai.com"


def test_a_key_that_comes_later_counts() -> None:
    """The variable is read for each request."""
    environ: dict[str, str] = {}
    (endpoint,) = Registry(environ).resolve("openai/m")
    environ["OPENAI_API_KEY"] = TOKEN
    assert dict(endpoint.http_request(ENCODED).headers)["authorization"] == f"Bearer {TOKEN}"


def test_a_dsn_in_the_environment_is_a_provider() -> None:
    """LLM_MY_CO is my-co; the token is the key."""
    registry = Registry({"LLM_MY_CO": f"openai://{TOKEN}@gateway.example/v2"})
    (endpoint,) = registry.resolve("my-co/some/model")
    assert (endpoint.spec, endpoint.model) == ("my-co/some/model", "some/model")
    assert endpoint.base_url == "https://gateway.example/v2"
    assert key_of(registry, "my-co/x") == f"Bearer {TOKEN}"


def test_a_dsn_takes_the_place_of_a_row() -> None:
    """LLM_GROQ decides what groq is."""
    (endpoint,) = Registry({"LLM_GROQ": "groq://proxy.example"}).resolve("groq/llama")
    assert endpoint.base_url == "https://proxy.example/openai/v1"
    assert endpoint.target.quirks == ROWS["groq"].quirks


def test_facts_follow_the_row_that_a_dsn_names() -> None:
    """OpenAI under another name is still OpenAI; another host under OpenAI's scheme is not."""
    registry = Registry({"LLM_MINE": f"openai-chat://{TOKEN}@api.openai.com", "LLM_OTHER": "openai://h"})
    assert registry.resolve("mine/gpt-5.6")[0].target.facts.tools is False
    assert registry.resolve("other/gpt-5.6")[0].target.facts.tools is None


SCHEMES = {
    "openai": ("openai-chat", "/v1"),  # elsewhere than at OpenAI
    "openai-chat": ("openai-chat", "/v1"),
    "openai-responses": ("openai-responses", "/v1"),
    "anthropic": ("anthropic", "/v1"),
    "google": ("google", "/v1beta"),
    "ollama": ("ollama", ""),
    "ollama-cloud": ("ollama", ""),
    "foreman": ("ollama", ""),
}
"""What a scheme speaks, and where on a host, as far as no path is given."""


@cells("scheme", [*SCHEMES, *[name for name in ROWS if name not in (*SCHEMES, "local", "fake")]])
def test_r40_every_scheme_makes_a_provider(scheme: str) -> None:
    """The eight names and every row: host, port, path, key and options are those of the entry."""
    entry = f"{scheme}://{TOKEN}@host.example:8443/base?seed_field=random_seed"
    registry = Registry({"LLM_MY_CO": entry, "LLM_BARE": f"{scheme}://host.example"})
    (endpoint,) = registry.resolve("my-co/a/b")
    dialect, path = SCHEMES.get(scheme, (ROWS[scheme].dialects[0] if scheme in ROWS else "", None))
    assert (endpoint.dialect, endpoint.model, endpoint.base_url) == (dialect, "a/b", "https://host.example:8443/base")
    assert endpoint.target.quirks.seed_field == "random_seed"
    assert TOKEN in "".join([value for _, value in endpoint.http_request(ENCODED).headers])
    if path is not None:
        assert registry.resolve("bare/m")[0].base_url == f"https://host.example{path}"


def test_r40_an_entry_is_read_when_its_name_is_used() -> None:
    """A registry of a moment ago finds what the environment says now; nothing is read before."""
    reads: list[str] = []

    class Environ(dict[str, str]):
        def get(self, key: str, default: Any = None) -> Any:
            reads.append(key)
            return super().get(key, default)

    environ = Environ(LLM_BROKEN="openai://")
    registry = Registry(environ)
    assert reads == []
    environ["LLM_LATE"] = f"anthropic://{TOKEN}@late.example"
    assert registry.resolve("late/m")[0].base_url == "https://late.example/v1"
    with pytest.raises(ConfigError, match="LLM_BROKEN: no host in the DSN"):
        registry.resolve("broken/m")


def test_a_bad_entry_harms_nobody_else() -> None:
    """It is reported when its own name is used, as one sentence, and does not fall back to the row."""
    environ = {"LLM_WORK": "openai://", "LLM_OPENAI": f"openai://{TOKEN}/x@h", "LLM_FINE": "groq/llama"}
    assert specs("fine", **environ) == ["groq/llama"]
    assert refusal("work/m", **environ) == "LLM_WORK: no host in the DSN (expected scheme://[token@]host[/path])"
    assert refusal("openai/m", **environ).startswith("LLM_OPENAI: an @ or # after the host")


@pytest.mark.parametrize(
    "value", ["true", "http://localhost:4000", "redis://:secret@h", "local://x", "a b", "", "gpt-4"]
)
def test_other_peoples_variables_are_ignored_and_not_echoed(value: str) -> None:
    """A value that is neither a known DSN nor an alias is as good as absent, and does not stand in the error."""
    said = refusal("thing/m", LLM_THING=value)
    assert said.startswith("no provider 'thing', asked for as 'thing/m'")
    assert not value or value not in said
    assert refusal("thing", LLM_THING=value).startswith("no model or alias 'thing'")
    assert Registry({"LLM_THING": value}).load_env().problems == ()


def test_a_provider_without_a_model_is_not_said_to_be_broken() -> None:
    """The variable is a good one; what is missing is the model."""
    assert refusal("work", LLM_WORK="openai://h") == "'work' is a provider; name a model too: work/MODEL"


def test_a_variable_that_was_meant_is_mentioned_by_name() -> None:
    """Whoever uses the name learns that the variable was seen and why it did not count."""
    assert refusal("work/m", LLM_WORK="elsewhere://h").endswith(
        "(LLM_WORK is set, but is neither a DSN with a known scheme nor an alias of known models)"
    )
    assert refusal("work/m", LLM_WORK="opneai://h").endswith(
        "(LLM_WORK: unknown scheme in the DSN; did you mean openai?)"
    )


def test_an_alias_in_the_environment() -> None:
    """Every element is a model of a known provider or another alias."""
    environ = {"LLM_SMART": "work/x, fast", "LLM_FAST": "groq/llama", "LLM_WORK": "openai://h"}
    assert specs("smart", **environ) == ["work/x", "groq/llama"]
    assert specs("openai/a,smart", **environ) == ["openai/a", "work/x", "groq/llama"]


def test_an_alias_in_the_environment_leads_to_a_name_that_begins_like_one() -> None:
    """`claude-*` of code or a file is an alias for each such name; `*` makes no alias of somebody else's variable."""
    registry = Registry({"LLM_FAST": "claude-haiku-5", "LLM_MODE": "debug", "LLM_BOTH": "fast,groq/x"})
    registry.register_alias("claude-*", "anthropic/large")
    registry.register_alias("*", "groq/any")
    assert [endpoint.spec for endpoint in registry.resolve("both")] == ["anthropic/large", "groq/x"]
    assert registry.load_env().aliases == ("both", "fast")
    assert registry.aliases() == {
        "claude-*": "anthropic/large",
        "*": "groq/any",
        "both": "fast,groq/x",
        "fast": "claude-haiku-5",
    }


def test_a_circle_in_the_environment_is_named() -> None:
    """The names of the circle stand in the error."""
    assert refusal("a", LLM_A="b", LLM_B="groq/x,a") == "aliases go in a circle: a -> b -> a"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("opnai/gpt", "no provider 'opnai', asked for as 'opnai/gpt'; did you mean openai or openai-chat?"),
        ("smrt", "no model or alias 'smrt'; did you mean smart?"),
        ("gpt-4o", "no model or alias 'gpt-4o'; did you mean openai/gpt-4o?"),
        ("claude-opus-5", "no model or alias 'claude-opus-5'; did you mean anthropic/claude-opus-5?"),
        ("some-model", "no model or alias 'some-model'; a model is named provider/model, such as openai/gpt-5.6"),
        ("openai:gpt-5", "no model or alias 'openai:gpt-5'; a slash stands between provider and model: 'openai/gpt-5'"),
        ("klingon/x", "no provider 'klingon', asked for as 'klingon/x'; `il providers` lists those that are known"),
        ("openai", "'openai' is a provider; name a model too: openai/MODEL"),
        ("My_Co/x", "no provider 'My_Co', asked for as 'My_Co/x'; did you mean my-co?"),
    ],
)
def test_unknown_names_come_with_near_ones(spec: str, message: str) -> None:
    """The error names what was looked for and what is close to it."""
    said = refusal(spec, LLM_SMART="groq/x", LLM_MY_CO="openai://h")
    assert said == message


def test_a_changed_variable_counts_at_once() -> None:
    """What was resolved is remembered only as long as the variables behind it stay the same."""
    environ = {"LLM_WORK": "openai://one", "LLM_SMART": "work/x"}
    registry = Registry(environ)
    first = registry.resolve("smart")
    assert registry.resolve("smart") is first
    environ["LLM_WORK"] = "openai://two"
    assert registry.resolve("smart")[0].base_url == "https://two/v1"
    environ["LLM_SMART"] = "groq/y"
    assert [endpoint.spec for endpoint in registry.resolve("smart")] == ["groq/y"]
    del environ["LLM_SMART"]
    with pytest.raises(UnknownModelError):
        registry.resolve("smart")


def test_a_registration_counts_at_once() -> None:
    """Each kind of registration drops what was remembered."""
    registry = Registry({"LLM_SMART": "groq/x"})
    assert registry.resolve("smart")[0].spec == "groq/x"
    registry.register_alias("smart", "openai/y")
    assert registry.resolve("smart")[0].spec == "openai/y"
    registry.register_provider(Provider(name="openai", base_url="https://mine.example/v1", dialects=("openai-chat",)))
    assert registry.resolve("smart")[0].base_url == "https://mine.example/v1"


def test_a_registered_provider_is_a_provider_and_a_scheme() -> None:
    """Its own variable gives the key at its own host; under another host its key stays at home."""
    registry = Registry({"CORP_KEY": TOKEN, "LLM_LAB": "corp://lab.example"})
    registry.register_provider(CORP)
    assert key_of(registry, "corp/m") == f"Bearer {TOKEN}"
    assert registry.resolve("lab/m")[0].base_url == "https://lab.example/v1"
    assert key_of(registry, "lab/m") is None


def test_a_key_that_expires_comes_from_a_function() -> None:
    """It is called for each request and not before."""
    keys: Iterator[str] = iter(["one", "two"])
    registry = Registry({})
    registry.register_provider(CORP, key=lambda: next(keys))
    assert (key_of(registry, "corp/m"), key_of(registry, "corp/m")) == ("Bearer one", "Bearer two")


def test_a_scheme_of_ones_own() -> None:
    """The factory sees the DSN and gives the row that host, key and options are laid over."""
    registry = Registry({"LLM_LAB": f"corp2://{TOKEN}@lab.example:99?seed_field=random_seed"})
    seen: list[str] = []

    def factory(dsn: object) -> Provider:
        seen.append(repr(dsn))
        return CORP

    registry.register_scheme("corp2", factory)
    (endpoint,) = registry.resolve("lab/m")
    assert endpoint.base_url == "https://lab.example:99/v1"
    assert endpoint.target.quirks == Quirks(seed_field="random_seed")
    assert key_of(registry, "lab/m") == f"Bearer {TOKEN}"
    assert TOKEN not in seen[0]


def test_a_resolver_answers_for_what_nobody_knows() -> None:
    """A spec is expanded, a provider serves the model, None passes on; known names never ask."""
    asked: list[str] = []

    def resolver(name: str) -> Provider | str | None:
        asked.append(name)
        return {"tenant7/m": "groq/x,best", "best": CORP}.get(name)

    registry = Registry({"CORP_KEY": TOKEN})
    registry.register_resolver(resolver)
    assert [endpoint.spec for endpoint in registry.resolve("tenant7/m,groq/z")] == ["groq/x", "corp/best", "groq/z"]
    assert asked == ["tenant7/m", "best"]
    assert registry.resolve("best")[0].model == "best"
    with pytest.raises(UnknownModelError):
        registry.resolve("tenant8/m")


def test_a_resolver_is_asked_anew_each_time() -> None:
    """Its answers are not remembered."""
    answers = iter(["groq/a", "groq/b"])
    registry = Registry({})
    registry.register_resolver(lambda _: next(answers))
    assert registry.resolve("x")[0].spec == "groq/a"
    assert registry.resolve("x")[0].spec == "groq/b"


@pytest.mark.parametrize("name", ["", "a/b", "a,b", "Openai", "a b", "-a"])
def test_names_that_no_spec_can_hold_are_refused(name: str) -> None:
    """A provider or scheme has a plain lower-case name."""
    with pytest.raises(ConfigError, match="cannot name a provider"):
        Registry({}).register_provider(Provider(name=name, base_url="https://h", dialects=("openai-chat",)))
    with pytest.raises(ConfigError, match="cannot name a provider"):
        Registry({}).register_scheme(name, lambda _: CORP)


@pytest.mark.parametrize("name", ["", " a", "a/b", "a,b", "a*b"])
def test_alias_names_are_checked(name: str) -> None:
    """An alias has no slash, no comma, and a star at its end only."""
    with pytest.raises(ConfigError, match="cannot name an alias"):
        Registry({}).register_alias(name, "groq/x")


def test_a_star_stands_for_every_name_that_begins_alike() -> None:
    """Exact names first, then the longest prefix."""
    registry = Registry({})
    registry.register_alias("claude-*", "groq/any")
    registry.register_alias("claude-haiku-*", "groq/small")
    registry.register_alias("claude-haiku-5", "groq/exact")
    found = [registry.resolve(name)[0].model for name in ("claude-opus", "claude-haiku-4", "claude-haiku-5")]
    assert found == ["any", "small", "exact"]


def test_load_env_reports_every_bad_entry_and_nothing_else() -> None:
    """Providers and aliases that are ready, one sentence for each that is not, other people's left out."""
    loaded = Registry(
        {
            "LLM_GOOD": f"openai://{TOKEN}@h",
            "LLM_BAD": f"openai://{TOKEN}@",
            "LLM_KEYLESS": "openai://h?key_env=NOT_SET",
            "LLM_FILELESS": "openai://h?key_file=/nowhere/key",
            "LLM_SMART": "good/x",
            "LLM_ROUND": "smart2",
            "LLM_SMART2": "round",
            "LLM_DEBUG": "1",
            "PATH": "openai://h",
        }
    ).load_env()
    assert loaded.providers == ("good",)
    assert loaded.aliases == ("smart",)
    assert loaded.problems == (
        "LLM_BAD: no host in the DSN (expected scheme://[token@]host[/path])",
        "LLM_FILELESS: the key file /nowhere/key cannot be read: No such file or directory",
        "LLM_KEYLESS: no key; set NOT_SET",
        "LLM_ROUND: aliases go in a circle: round -> smart2 -> round",
        "LLM_SMART2: aliases go in a circle: smart2 -> round -> smart2",
    )


def test_providers_are_listed_with_the_state_of_their_keys() -> None:
    """Configured ones first; keys are named, never shown; a function is not called."""
    registry = Registry({"LLM_WORK": f"openai://{TOKEN}@h", "LLM_BAD": "groq://", "GROQ_API_KEY": TOKEN})
    registry.register_provider(CORP, key=lambda: pytest.fail("called"))
    listed = {status.name: status for status in registry.providers()}
    assert [*listed][:3] == ["corp", "work", "bad"]
    keys = [listed[name].key for name in ("corp", "work", "groq", "openai", "ollama-compat", "local")]
    assert keys == ["function", "set", "set", "missing", "not needed", "not needed"]
    assert (listed["work"].origin, listed["work"].base_url) == ("LLM_WORK", "https://h/v1")
    assert listed["bad"].problem == "LLM_BAD: no host in the DSN (expected scheme://[token@]host[/path])"
    assert listed["bad"].origin == "LLM_BAD"
    assert TOKEN not in repr(listed)


def test_the_status_of_nothing_is_an_error() -> None:
    """Only what is defined has a status."""
    with pytest.raises(UnknownModelError, match="no provider 'nobody'"):
        status_of(Sources(dict), "nobody", Reader({}))


def test_aliases_are_listed() -> None:
    """Name and spec of every alias, whoever defined it."""
    registry = Registry({"LLM_SMART": "groq/x", "LLM_DEBUG": "1"})
    registry.register_alias("fast", "groq/y")
    assert registry.aliases() == {"fast": "groq/y", "smart": "groq/x"}


def test_the_default_registry_reads_the_process_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is one object, and sees variables that are set later."""
    assert default_registry() is default_registry()
    monkeypatch.setenv("LLM_LATER", "groq/x")
    assert default_registry().resolve("later")[0].spec == "groq/x"


def test_a_placeholder_stands_for_anything() -> None:
    """A transport that answers by itself needs a name and a dialect, no provider and no key."""
    endpoint = placeholder("whatever/some/model")
    assert (endpoint.provider, endpoint.model, endpoint.dialect) == ("whatever", "some/model", "openai-chat")
    assert "authorization" not in dict(endpoint.http_request(ENCODED).headers)
    assert placeholder("smart").model == "smart"


def test_threads_resolve_while_others_register() -> None:
    """No lock, no torn state: every answer is one that was true."""
    registry = Registry({})
    registry.register_alias("moving", "groq/0")
    wrong: list[str] = []

    def resolve() -> None:
        for _ in range(200):
            spec = registry.resolve("moving")[0].spec
            if not spec.startswith("groq/"):
                wrong.append(spec)

    threads = [threading.Thread(target=resolve) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(200):
        registry.register_alias("moving", f"groq/{number}")
        registry.register_alias(f"other{number}", "groq/x")
    for thread in threads:
        thread.join()
    assert wrong == []
    assert registry.resolve("moving")[0].spec == "groq/199"


def test_many_specs_do_not_fill_the_memory() -> None:
    """What is remembered is bounded."""
    registry = Registry({})
    for number in range(3_000):
        registry.resolve(f"groq/{number}")
    assert len(registry._remembered) <= 1_024


@given(st.dictionaries(st.sampled_from("ABCD"), st.text(max_size=40), max_size=4), st.text(max_size=20))
def test_any_environment_and_any_spec_end_in_endpoints_or_our_error(values: dict[str, str], spec: str) -> None:
    """No other exception comes out, whatever the variables hold."""
    registry = Registry({f"LLM_{name}": value for name, value in values.items()})
    for text in (spec, "a", "a/x", "b,c"):
        try:
            registry.resolve(text)
        except Error:
            continue
    registry.load_env()
    registry.providers()


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=8, max_size=40))
def test_a_token_is_shown_nowhere(token: str) -> None:
    """Endpoint, listing and report of a working entry do not hold its token."""
    token = f"{TOKEN}{token}"
    registry = Registry({"LLM_WORK": f"openai://{quote(token, safe='')}@h"})
    shown = repr((registry.resolve("work/m"), registry.providers(), registry.load_env()))
    assert TOKEN not in shown
    assert key_of(registry, "work/m") == f"Bearer {token}"


def test_an_alias_for_every_name_does_not_make_providers_aliases() -> None:
    """`*` stands for names that nothing else defines; lists show the aliases that somebody named."""
    registry = Registry({"LLM_WORK": "openai://host.example", "LLM_FAST": "work/small"})
    registry.register_alias("*", "work/large")
    assert registry.aliases() == {"*": "work/large", "fast": "work/small"}
    assert registry.load_env().aliases == ("fast",)
