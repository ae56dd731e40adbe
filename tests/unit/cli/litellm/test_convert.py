"""The configuration of a LiteLLM proxy as one of ours: exact files, exact reports, nothing lost, no key told."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlingua.cli.litellm.convert import Converted, convert
from interlingua.cli.litellm.reading import leaves, read_yaml
from interlingua.cli.litellm.report import Fate
from interlingua.errors import ConfigError
from interlingua.gateway.config import read_server_config
from interlingua.registry.resolve import Registry
from tests.support.cells import cells

EXAMPLES = Path(__file__).parents[3] / "golden" / "litellm"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.yaml"))


def _example(name: str) -> Converted:
    return convert((EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8"), f"{name}.yaml")


def _loaded(made: Converted, folder: Path) -> Registry:
    """The registry of the new file, read by our own strict readers, with every variable set."""
    path = folder / "gateway.toml"
    path.write_text(made.toml, encoding="utf-8")
    read_server_config(path)
    variables = {name: "vllm://somewhere.example" if name.endswith("_DSN") else "a-key" for name in made.variables}
    registry = Registry(variables)
    assert registry.load_config(path).problems == ()
    return registry


def test_there_are_enough_examples() -> None:
    """Every feature has one."""
    assert len(NAMES) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_an_example_becomes_this_file_and_this_report(name: str, golden_update: bool) -> None:
    """To the byte."""
    made = _example(name)
    for ending, text in (("toml", made.toml), ("txt", "".join(f"{line}\n" for line in made.report))):
        path = EXAMPLES / f"{name}.{ending}"
        if golden_update:
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", NAMES)
def test_the_new_file_is_read_by_our_own_strict_reader(name: str, tmp_path: Path) -> None:
    """Every alias leads to targets, every variable that was listed is enough."""
    registry = _loaded(_example(name), tmp_path)
    for alias in tomllib.loads(_example(name).toml).get("aliases", {}):
        assert registry.resolve(alias.replace("*", "x"))


@cells("name", NAMES)
def test_every_leaf_is_in_the_report_and_no_secret_is(name: str) -> None:
    """Each once, in the order of the file; what was planted is neither in the file nor in the report."""
    text = (EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8")
    made = _example(name)
    paths = list(leaves(read_yaml(text, "x")))
    assert [entry.path for entry in made.entries] == paths
    told = "\n".join(made.report)
    assert all(f"  {path}  " in told or f"  {path} " in told for path in paths)
    assert {entry.fate for entry in made.entries} <= set(get_args(Fate))
    assert "planted" not in (made.toml + told + repr(made.variables)).lower()


def test_a_key_in_the_file_gets_no_variable_of_another_host() -> None:
    """The same text at two hosts is two variables, and neither is one that a provider's own key stands in."""
    entry = "{{model_name: {0}, litellm_params: {{model: openai/x, api_key: sk-same{1}}}}}"
    at = ", api_base: 'https://{0}.example/v1'"
    made = convert(
        "model_list:\n"
        f"  - {entry.format('a', at.format('one'))}\n"
        f"  - {entry.format('b', at.format('two'))}\n"
        f"  - {entry.format('c', '')}\n"
        "  - {model_name: d, litellm_params: {model: openai/y}}\n"
    )
    assert {name: account["dsn"] for name, account in tomllib.loads(made.toml)["providers"].items()} == {
        "openai-one-example": "openai://one.example/v1?key_env=ONE_EXAMPLE_API_KEY",
        "openai-two-example": "openai://two.example/v1?key_env=TWO_EXAMPLE_API_KEY",
        "openai-api-key-2": "openai://api.openai.com/v1?key_env=OPENAI_API_KEY_2",
    }
    assert sorted(made.variables) == [
        "ONE_EXAMPLE_API_KEY",
        "OPENAI_API_KEY",
        "OPENAI_API_KEY_2",
        "TWO_EXAMPLE_API_KEY",
    ]


def test_names_that_fall_back_on_each_other_are_no_circle(tmp_path: Path) -> None:
    """Each asks its own deployments first, and then those of the other."""
    made = convert(
        "model_list:\n"
        "  - {model_name: a, litellm_params: {model: groq/m}}\n"
        "  - {model_name: b, litellm_params: {model: xai/m}}\n"
        "router_settings: {fallbacks: [{a: [b]}, {b: [a]}]}\n"
    )
    registry = _loaded(made, tmp_path)
    assert [target.spec for target in registry.resolve("a")] == ["groq/m", "xai/m"]
    assert [target.spec for target in registry.resolve("b")] == ["xai/m", "groq/m"]


def test_names_that_are_made_up_take_nobody_elses_place(tmp_path: Path) -> None:
    """Pools and orders get names that nothing else has, and a name that lost its slash is not mixed into another."""
    entries = [
        *[("c", "groq/1", 1), ("c", "xai/1", 1), ("c", "groq/last", 2), ("c-*", "groq/2", 1), ("c-*", "xai/2", 1)],
        *[("c-*", "groq/last", 2), ("c-order-1", "groq/3", 1), ("c-pool", "groq/4", 1), ("t/c", "groq/5", 1)],
        *[("t-c", "groq/6", 1), ("d", "groq/7", 1), ("d", "xai/7", 1), ("d-*", "groq/8", 1), ("d-*", "xai/8", 1)],
    ]
    told = [{"model_name": name, "litellm_params": {"model": model, "order": order}} for name, model, order in entries]
    falls = [{name: ["t-c"]} for name in ("d", "d-*")]
    made = convert(
        json.dumps({"model_list": told, "router_settings": {"fallbacks": falls, "routing_strategy": "least-busy"}})
    )
    registry = _loaded(made, tmp_path)
    asked = {name: [target.spec for target in registry.resolve(name)] for name in ("c", "c-x", "c-order-1", "d", "d-x")}
    assert asked == {
        "c": ["groq/1", "xai/1", "groq/last"],
        "c-x": ["groq/2", "xai/2", "groq/last"],
        "c-order-1": ["groq/3"],
        "d": ["groq/7", "xai/7", "groq/6"],
        "d-x": ["groq/8", "xai/8", "groq/6"],
    }
    assert [target.spec for target in registry.resolve("t-c")] == ["groq/6"]
    assert next(entry.fate for entry in made.entries if entry.path == "model_list[8].model_name") == "missing"


def test_a_name_cannot_get_out_of_its_place() -> None:
    """Quotes, line ends and brackets in names are text, or no name at all."""
    names = ['a"b', "a\nb", "a]b", "a'b", "[x]", "a#b", "a = 1", "é", "\u2028"]
    entries = [{"model_name": name, "litellm_params": {"model": f"openai/{name}"}} for name in names]
    made = convert(json.dumps({"model_list": entries}))
    assert tomllib.loads(made.toml)["aliases"] == {
        name: f"openai/{name}" for name in ('a"b', "a]b", "a'b", "[x]", "a#b", "a = 1", "é")
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("model_list: [", "x.yaml line 1: not YAML that can be read"),
        ("a: sk-planted\n b: c: d", "x.yaml line 2: not YAML that can be read"),
        ("model_list: !!python/object/apply:os.getcwd []", "x.yaml line 1: not YAML that can be read"),
        ("a: 1\nb: {c: 2,\n  c: 3}", "x.yaml line 3: a key that stands twice in its mapping"),
        ("a: 1\n---\nb: 1", "x.yaml line 2: not YAML that can be read"),
        ("", "x.yaml: not a mapping; the configuration of a LiteLLM proxy begins with model_list"),
        ("- a", "x.yaml: not a mapping; the configuration of a LiteLLM proxy begins with model_list"),
        ("model_list: {a: b}", "x.yaml: model_list is not a list"),
        ("a: &a [*a]", "x.yaml: nested too deeply"),
        ("a: *nobody", "x.yaml line 1: not YAML that can be read"),
        ("a: \x01", "x.yaml: not YAML that can be read"),
        ("a: 2026-99-99", "x.yaml: not YAML that can be read"),
        ("a: " + "[" * 500, "x.yaml: not YAML that can be read"),
        (
            "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
            + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)),
            "x.yaml: more than 50000 values",
        ),
    ],
    ids=lambda value: value[:30] if "\n" not in value else value[:5].strip(),
)
def test_what_is_no_configuration_is_refused(text: str, told: str) -> None:
    """With the line, and nothing of the text."""
    with pytest.raises(ConfigError) as caught:
        convert(text, "x.yaml")
    assert caught.value.message == told


_WORDS = st.sampled_from([
    *("model_name", "litellm_params", "model", "api_key", "api_base", "rpm", "weight", "order", "model_info"),
    *("callbacks", "timeout", "routing_strategy", "default_fallbacks", "context_window_fallbacks", "drop_params", "x"),
    *("model_group_alias", "master_key", "credential_list", "credential_values", "credential_name", "vertex_project"),
    *("litellm_credential_name", "input_cost_per_token", "fallbacks"),
])  # fmt: skip
_VALUES: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**13),
    st.floats(allow_nan=True),
    st.sampled_from([
        *("openai/gpt-4o", "openai/*", "azure/x", "vertex_ai/gemini-3-pro", "a", "a/b", "*", "os.environ/KEY"),
        *("os.environ/", "os.environ/3\u00e9", "https://h.example/v1", "http://127.0.0.1:1/v1", "http://[::1"),
        *("http://h:99999", "0.5", "", "../x", "\u00e9\n"),
    ]),
)  # fmt: skip
_TREES: st.SearchStrategy[Any] = st.recursive(
    _VALUES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_WORDS, inner, max_size=5)),
    max_leaves=12,
)
_PARAMS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(_WORDS, _VALUES, max_size=5)


def _with_model(model: str, params: dict[str, Any]) -> dict[str, Any]:
    return {**params, "model": model}


_ENTRIES: st.SearchStrategy[Any] = st.one_of(
    _TREES,
    st.fixed_dictionaries({
        "model_name": st.sampled_from(["a", "b", "a/b", "openai/*", "x-*", "openai/gpt-4o"]),
        "litellm_params": st.builds(
            _with_model,
            st.sampled_from(["openai/gpt-4o", "groq/llama", "openai/*", "azure/dep", "gpt-4o", "*", "bedrock/x"]),
            _PARAMS,
        ),
    }),
)  # fmt: skip
_FALLS = st.lists(
    st.dictionaries(st.sampled_from(["a", "b", "x-*"]), st.lists(st.sampled_from(["a", "b", "a/b", "no"]), max_size=3)),
    max_size=2,
)
_CONFIGURATIONS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"model_list": st.lists(_ENTRIES, max_size=4)},
    optional={
        "router_settings": st.one_of(_TREES, st.fixed_dictionaries({"fallbacks": _FALLS, "default_fallbacks": _TREES})),
        "litellm_settings": st.one_of(_TREES, st.fixed_dictionaries({"context_window_fallbacks": _FALLS})),
        "general_settings": st.dictionaries(_WORDS, _TREES, max_size=3),
        "environment_variables": _TREES,
        "credential_list": _TREES,
        "surprise": _TREES,
    },
)


@settings(max_examples=60)
@given(_CONFIGURATIONS)
def test_whatever_stands_in_the_file_is_in_the_report(tree: dict[str, Any]) -> None:
    """Every leaf, once, in the order of the file."""
    text = json.dumps(tree)
    assert [entry.path for entry in convert(text).entries] == list(leaves(read_yaml(text, "x")))


@settings(max_examples=60)
@given(_CONFIGURATIONS)
def test_whatever_stands_in_the_file_the_new_one_is_read(tmp_path_factory: pytest.TempPathFactory, tree: Any) -> None:
    """By our own strict readers, and every alias leads to targets."""
    made = convert(json.dumps(tree))
    registry = _loaded(made, tmp_path_factory.mktemp("read"))
    for name in tomllib.loads(made.toml).get("aliases", {}):
        assert registry.resolve(name.replace("*", "x"))


def test_clouds_are_reached_where_the_old_file_had_them(tmp_path: Path) -> None:
    """Rows, addresses, models and logins of the converted deployments, resolved from the new file."""
    made = _example("clouds")
    (tmp_path / "gateway.toml").write_text(made.toml, encoding="utf-8")
    registry = Registry(
        {
            **dict.fromkeys(made.variables, "a-key"),
            "AWS_REGION": "eu-central-1",
            "AZURE_API_BASE_DSN": "azure://other.openai.azure.com?login=azure&api_version=2024-10-21",
            "VERTEX_ANTHROPIC_VERTEX_PROJECT_GLOBAL_DSN": "vertex-anthropic://?project=p&login=google",
        }
    )
    assert registry.load_config(tmp_path / "gateway.toml").problems == ()

    def reached(alias: str) -> list[tuple[str, str, str, str]]:
        lanes = registry.resolve(alias)
        return [
            (
                lane.dialect,
                lane.base_url.removeprefix("https://"),
                lane.model,
                "" if lane.login is None else lane.login.source,
            )
            for lane in lanes
        ]

    vertex = "v1/projects/{0}/locations/{1}/publishers/{2}".format
    bedrock = "bedrock-runtime.{}.amazonaws.com".format
    assert {alias: reached(alias) for alias in tomllib.loads(made.toml)["aliases"]} == {
        "claude-bedrock": [
            ("bedrock", bedrock("us-east-1"), "anthropic.claude-sonnet-4-5-20250929-v1:0", "login aws"),
            ("bedrock", bedrock("eu-central-1"), "us.anthropic.claude-3-5-sonnet-20240620-v1:0", "login aws"),
        ],
        "nova": [("bedrock", bedrock("eu-west-1"), "us.amazon.nova-pro-v1:0", "login aws")],
        "llama-arn": [(
            "bedrock", "vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com",
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.meta.llama3-1-8b", "login aws",
        )],
        "titan-embed": [("bedrock", bedrock("eu-central-1"), "amazon.titan-embed-text-v2:0", "login aws")],
        "bedrock-key": [("bedrock", bedrock("us-west-2"), "anthropic.claude-haiku-4-5", "")],
        "gemini": [("google", "us-central1-aiplatform.googleapis.com/" + vertex("my-project", "us-central1", "google"),
                    "gemini-2.5-pro", "login google")],
        "claude-vertex": [("anthropic", "aiplatform.googleapis.com/" + vertex("p", "global", "anthropic"),
                           "claude-sonnet-4@20250514", "login google")],
        "gecko": [("google", "aiplatform.us.rep.googleapis.com/" + vertex("my-project", "us", "google"),
                   "text-embedding-004", "login google")],
        "gpt-azure": [("openai-chat", "my-res.openai.azure.com/openai", "gpt-4o-deploy", "")],
        "gpt-azure-v1": [("openai-responses", "my-res.openai.azure.com/openai/v1", "gpt-5-deploy", "")],
        "gpt-azure-entra": [("openai-chat", "other.openai.azure.com/openai", "gpt-4.1", "login azure")],
        "gpt-azure-old": [("openai-responses", "my-res.openai.azure.com/openai/v1", "chat", "")],
        "claude-foundry": [("anthropic", "my-foundry.services.ai.azure.com/anthropic/v1", "claude-opus-4-1", "")],
        "command": [("cohere", "api.cohere.com/v2", "command-a-03-2025", "")],
        "command-v2": [("cohere", "api.cohere.com/v2", "command-r-plus-08-2024", "")],
        "rerank": [("cohere", "api.cohere.com/v2", "rerank-v3.5", "")],
        "voyage-emb": [("openai-chat", "api.voyageai.com/v1", "voyage-3-large", "")],
        "jina-emb": [("openai-chat", "api.jina.ai/v1", "jina-embeddings-v3", "")],
    }  # fmt: skip
