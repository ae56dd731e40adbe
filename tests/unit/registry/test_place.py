"""Addresses of vendors' variables and of arguments: how they are read, and what keeps them out."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from interlingua.errors import ConfigError
from interlingua.registry.place import Place, origin_of
from interlingua.registry.resolve import Registry
from tests.support.cells import cells


def address(spec: str, **environ: str) -> str:
    """Where a target is asked under an environment."""
    return Registry(environ).resolve(spec)[0].base_url


@pytest.mark.parametrize(
    ("host", "base_url"),
    [
        ("box", "http://box:11434"),
        ("box:1234", "http://box:1234"),
        ("box/path/", "http://box:11434/path"),
        (":1234", "http://127.0.0.1:1234"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://0.0.0.0:80", "http://127.0.0.1:80"),
        ("http://box", "http://box"),
        ("https://box:5/path/", "https://box:5/path"),
        ("[::1]:9", "http://[::1]:9"),
        ("[::]", "http://[::1]:11434"),
        ("::", "http://[::1]:11434"),
        ("  ", "http://localhost:11434"),
    ],
)
def test_forms_of_ollama_host(host: str, base_url: str) -> None:
    """Host, host with port, whole address; what listens everywhere is called by its loopback address."""
    assert address("ollama/m", OLLAMA_HOST=host) == base_url
    assert address("ollama-compat/m", OLLAMA_HOST=host) == f"{base_url}/v1"


@pytest.mark.parametrize(
    ("spec", "variable", "value", "base_url"),
    [
        ("openai/m", "OPENAI_BASE_URL", "https://x.example", "https://x.example"),
        ("anthropic/m", "ANTHROPIC_BASE_URL", "https://x.example/a/", "https://x.example/a/v1"),
        ("anthropic/m", "ANTHROPIC_BASE_URL", "https://x.example/v1", "https://x.example/v1"),
        ("google/m", "GOOGLE_GEMINI_BASE_URL", "https://x.example", "https://x.example/v1beta"),
        ("gemini/m", "GOOGLE_GEMINI_BASE_URL", "https://x.example", "https://x.example/v1beta"),
        ("gemini-compat/m", "GOOGLE_GEMINI_BASE_URL", "https://x.example", "https://x.example/v1beta/openai"),
        ("azure/m", "AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com/", "https://r.openai.azure.com/openai/v1"),
    ],
)
def test_the_path_that_an_sdk_adds_is_added_once(spec: str, variable: str, value: str, base_url: str) -> None:
    """Each variable holds what its SDK expects in it."""
    assert address(spec, **{variable: value}) == base_url


def test_another_host_is_a_compatible_server() -> None:
    """It speaks Chat and needs no key; the vendor's own host is the vendor, with the key required."""
    (elsewhere,) = Registry({"OPENAI_BASE_URL": "http://localhost:8000/v1"}).resolve("openai/gpt-5.6")
    assert (elsewhere.dialect, elsewhere.family, elsewhere.key_required) == ("openai-chat", "openai-compatible", False)
    (home,) = Registry({"OPENAI_BASE_URL": "https://api.openai.com/v1"}).resolve("openai/gpt-5.6")
    assert (home.dialect, home.family, home.key_required) == ("openai-responses", "openai", True)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("x.example", "not an address"),
        ("ftp://x.example", "not an address"),
        ("http://", "not an address"),
        ("http://x.example:999999", "not an address"),
        ("https://user:sk-secret-123456@x.example", "a credential stands in the address"),
        ("https://x.example?key=sk-secret-123456", "a query, a fragment or a space in the address"),
    ],
)
def test_what_is_no_address_is_refused_without_being_shown(value: str, why: str) -> None:
    """By the name of the variable, in a call and in `load_env`, which reports it once."""
    registry = Registry({"OPENAI_BASE_URL": value})
    with pytest.raises(ConfigError, match=f"^OPENAI_BASE_URL: {why}") as caught:
        registry.resolve("openai/m")
    assert "secret" not in str(caught.value)
    assert registry.load_env().problems == (str(caught.value),)


def test_a_misspelt_scheme_is_reported() -> None:
    """With the near one; what is not near to any scheme is somebody else's, and no value is shown."""
    loaded = Registry({"LLM_WORK": "opneai://sk-secret@h", "LLM_DB": "postgres://u:p@h"}).load_env()
    assert loaded.problems == ("LLM_WORK: unknown scheme in the DSN; did you mean openai?",)


def test_own_places_are_left_out_with_own_keys() -> None:
    """A variable that names this process counts as not set; a key that is its own is not sent to the vendor."""
    environ = {"OPENAI_BASE_URL": "http://localhost:8787/v1", "OPENAI_API_KEY": "il-own", "OLLAMA_HOST": "box"}
    registry = Registry(environ)
    assert registry.resolve("openai/m")[0].base_url == "http://localhost:8787/v1"
    registry.leave_out([Place("localhost", 8787)], lambda key: key == "il-own")
    (target,) = registry.resolve("openai/m")
    assert (target.base_url, target.credential.reveal()) == ("https://api.openai.com/v1", None)
    assert registry.left_out() == ("OPENAI_BASE_URL",)
    environ["OPENAI_API_KEY"] = "sk-of-openai"
    assert registry.resolve("openai/m")[0].credential.reveal() == "sk-of-openai"
    assert registry.resolve("ollama/m")[0].base_url == "http://box:11434"


def test_every_loopback_name_is_one_place() -> None:
    """So that a gateway on 127.0.0.1 knows itself under `localhost`, too."""
    names = ("localhost", "127.0.0.1", "127.0.0.2", "[::1]", "LOCALHOST")
    assert {origin_of(f"http://{name}:80") for name in names} == {Place("localhost", 80)}
    assert origin_of("https://x.example") == Place("x.example", 443)


def test_a_variable_that_changes_counts_at_once() -> None:
    """Also one that was not set when the name was looked up first."""
    environ: dict[str, str] = {}
    registry = Registry(environ)
    assert registry.resolve("openai/m")[0].base_url == "https://api.openai.com/v1"
    environ["OPENAI_BASE_URL"] = "http://localhost:1/v1"
    assert registry.resolve("openai/m")[0].base_url == "http://localhost:1/v1"


@pytest.mark.parametrize(
    ("spec", "token", "auth", "environ"),
    [
        ("anthropic/m", "ANTHROPIC_AUTH_TOKEN", "x-api-key", {}),
        ("anthropic/m", "ANTHROPIC_AUTH_TOKEN", "x-api-key", {"ANTHROPIC_BASE_URL": "https://x.example"}),
        ("azure/m", "AZURE_OPENAI_AD_TOKEN", "api-key", {"AZURE_OPENAI_ENDPOINT": "https://r.openai.azure.com"}),
    ],
)
def test_a_key_of_the_argument_is_sent_as_a_key_beside_a_token_of_the_environment(
    spec: str, token: str, auth: str, environ: dict[str, str]
) -> None:
    """The token alone goes as a bearer token; a key that is given goes into the vendor's header for keys."""
    registry = Registry({**environ, token: "a-token"})
    (endpoint,) = registry.resolve(spec)
    assert (endpoint.auth, endpoint.credential.reveal()) == ("bearer", "a-token")
    (endpoint,) = registry.pointed(api_key="a-key").resolve(spec)
    assert (endpoint.auth, endpoint.credential.reveal()) == (auth, "a-key")


# What vendors' SDKs read beside key and address


def test_the_organization_and_the_project_of_openai_go_along() -> None:
    """In the headers of the SDK, wherever the address is; a change counts at once; a DSN is another account."""
    environ = {"OPENAI_ORG_ID": " org-1 ", "OPENAI_PROJECT_ID": "proj-1", "LLM_WORK": "openai://k@api.openai.com/v1"}
    registry = Registry(environ)
    headers = (("openai-organization", "org-1"), ("openai-project", "proj-1"))
    for name in ("openai", "openai-chat", "openai-responses"):
        assert registry.resolve(f"{name}/m")[0].headers == headers
    assert registry.resolve("work/m")[0].headers == ()
    pointed = registry.pointed(api_key="k", base_url="https://proxy.example/v1")
    assert pointed.resolve("openai/m")[0].headers == headers
    environ["OPENAI_BASE_URL"] = "https://proxy.example/v1"
    assert registry.resolve("openai/m")[0].headers == headers
    del environ["OPENAI_ORG_ID"]
    assert registry.resolve("openai/m")[0].headers == headers[1:]


def test_a_variable_that_no_header_can_carry_is_named() -> None:
    """And its value is not."""
    with pytest.raises(ConfigError, match=r"^OPENAI_ORG_ID holds a character that a header cannot carry$"):
        Registry({"OPENAI_ORG_ID": "a\nb"}).resolve("openai/m")


def test_the_version_of_azures_api_is_read_as_its_sdk_reads_it() -> None:
    """A date is the older API, with the deployment in the path; another word goes along as the query."""
    environ = {"AZURE_OPENAI_ENDPOINT": "https://r.openai.azure.com/", "OPENAI_API_VERSION": "2024-10-21"}
    (older,) = Registry({**environ, "AZURE_OPENAI_API_KEY": "k"}).resolve("azure/gpt")
    assert (older.spec, older.base_url) == ("azure/gpt", "https://r.openai.azure.com/openai")
    assert (older.query, older.dialect, older.auth) == ((("api-version", "2024-10-21"),), "openai-chat", "api-key")
    assert older.credential.reveal() == "k"
    (newer,) = Registry({**environ, "OPENAI_API_VERSION": "preview"}).resolve("azure/gpt")
    assert newer.base_url == "https://r.openai.azure.com/openai/v1"
    assert newer.query == (("api-version", "preview"),)
    (token,) = Registry({**environ, "AZURE_OPENAI_AD_TOKEN": "t"}).resolve("azure/gpt")
    assert (token.auth, token.credential.reveal()) == ("bearer", "t")
    assert Registry(environ).resolve("openai/m")[0].query == ()


@pytest.mark.parametrize("spec", ["google/m", "gemini/m", "gemini-compat/m"])
def test_googles_key_comes_from_the_variable_that_its_sdk_takes_first(spec: str) -> None:
    """GOOGLE_API_KEY wins where both are set, as in google-genai; an empty one is none."""
    both = {"GOOGLE_API_KEY": "first", "GEMINI_API_KEY": "second"}
    (endpoint,) = Registry(both).resolve(spec)
    assert (endpoint.credential.reveal(), endpoint.credential.origin()) == ("first", "GOOGLE_API_KEY")
    assert Registry({**both, "GOOGLE_API_KEY": ""}).resolve(spec)[0].credential.reveal() == "second"


def test_a_host_with_the_root_at_its_end_is_that_host() -> None:
    """`localhost.` is this machine, so that a gateway knows itself."""
    assert origin_of("http://localhost.:8787/v1") == Place("localhost", 8787) == origin_of("http://127.0.0.1:8787")
    assert origin_of("https://API.example./v1") == Place("api.example", 443)


@cells(
    "value",
    ["evil.com:443", "evil.com/#", "user@evil.com", "..", "a..b", "a.", "us:80", "us_1", "x" * 64, "a\nb", "uś", "-a"],
)
@cells(
    ("spec", "variable", "part"),
    [
        ("bedrock/m", "AWS_REGION", "region"),
        ("bedrock-anthropic/m", "AWS_REGION", "region"),
        ("vertex/m", "GOOGLE_CLOUD_LOCATION", "location"),
        ("azure-anthropic/m", "ANTHROPIC_FOUNDRY_RESOURCE", "resource"),
    ],
)
def test_a_part_of_a_host_is_one_name_between_dots(spec: str, variable: str, part: str, value: str) -> None:
    """No value of a variable or an option changes the host of an address; it is refused by the name of the part."""
    with pytest.raises(ConfigError) as caught:
        address(spec, GOOGLE_CLOUD_PROJECT="p", **{variable: value})
    name = spec.partition("/")[0]
    assert caught.value.message == f"{name}: the {part} holds a character that an address cannot have"
    with pytest.raises(ConfigError, match=f"w: the {part} holds a character that an address cannot have"):
        address("w/m", GOOGLE_CLOUD_PROJECT="p", LLM_W=f"{name}://?{part}={quote(value)}")


def test_a_project_may_have_a_domain() -> None:
    """Older projects of Google Cloud are named with a domain and a colon, which stand in the path alone."""
    whole = address("vertex/m", GOOGLE_CLOUD_PROJECT="example.com:p", GOOGLE_CLOUD_LOCATION="us-east5")
    assert whole == (
        "https://us-east5-aiplatform.googleapis.com/v1/projects/example.com:p/locations/us-east5/publishers/google"
    )
