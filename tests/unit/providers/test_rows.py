"""Every row is checked by the same tests; a new row needs no new test."""

from __future__ import annotations

import ast
import re
from urllib.parse import urlsplit

import msgspec
import pytest

from interlingua.dialects._contract import EncodeOptions, Quirks
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.providers.row import Provider
from interlingua.providers.rows import ROWS
from interlingua.registry.resolve import Registry
from interlingua.types.content import ToolCall, ToolResult
from interlingua.types.message import Message, assistant, user
from interlingua.types.request import Request
from tests.contract.source import SOURCE

MAX_ROW_LINES = 20
LOOPBACK_ROWS = {"ollama", "ollama-compat", "vllm", "sglang", "llamacpp", "lmstudio"}
IN_PROCESS_ROWS = {"local", "fake"}

every_row = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)


def _row_calls() -> dict[str, ast.Call]:
    """Name -> the expression that makes the row."""
    files = [SOURCE / "providers" / name for name in ("rows.py", "cloud_rows.py")]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "Provider"]
    return {ast.literal_eval(next(word.value for word in call.keywords if word.arg == "name")): call for call in calls}


ROW_CALLS = _row_calls()


@every_row
def test_a_row_is_short(row: Provider) -> None:
    """A row takes at most 20 lines."""
    call = ROW_CALLS[row.name]
    assert (call.end_lineno or 0) - call.lineno + 1 <= MAX_ROW_LINES


@every_row
def test_a_row_is_documented(row: Provider) -> None:
    """A row has a name for people, a name for specs and variables, and a note of at most one sentence."""
    assert row.title
    assert re.fullmatch(r"[a-z][a-z0-9-]*", row.name)
    assert "\n" not in row.note
    assert not row.note or row.note.endswith(".")


@every_row
def test_a_row_is_reached_over_tls(row: Provider) -> None:
    """Plain http is for loopback alone; what answers inside the process has a scheme of its own."""
    parts = urlsplit(row.base_url)
    expected = "http" if row.name in LOOPBACK_ROWS else row.name if row.name in IN_PROCESS_ROWS else "https"
    assert parts.scheme == expected
    assert row.remote is (row.name not in IN_PROCESS_ROWS)
    assert (parts.scheme != "http") or parts.hostname == "localhost"
    assert not parts.path.endswith("/")
    assert not parts.query
    assert "@" not in row.base_url


@every_row
def test_a_row_names_its_key(row: Provider) -> None:
    """A key that is required can be given by a variable, and variables end in _API_KEY or _TOKEN."""
    assert bool(row.key_env) or not row.key_required
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]*(_API_KEY|_TOKEN|_TOKEN_BEDROCK)", name) for name in row.key_env)
    assert (row.auth == "none") is (row.name in IN_PROCESS_ROWS)


@every_row
def test_a_row_speaks_dialects_that_there_are(row: Provider) -> None:
    """Dialects have the names of the design, no dialect twice."""
    assert row.dialects
    assert len(set(row.dialects)) == len(row.dialects)
    assert set(row.dialects) <= DIALECTS.keys()


@every_row
def test_a_row_sets_flags_that_mean_something(row: Provider) -> None:
    """Quirks have values that their types allow, and `unsupported` names fields of a request."""
    assert msgspec.convert(msgspec.to_builtins(row.quirks), Quirks) == row.quirks
    assert row.quirks.unsupported <= set(Request.__struct_fields__)
    assert not row.elsewhere or ROWS[row.elsewhere].needs_host


@every_row
def test_a_row_has_lower_case_headers_without_a_credential(row: Provider) -> None:
    """Headers of a row are lower case and never the credential."""
    assert all(name == name.lower() and name not in {"authorization", "x-api-key"} for name, _ in row.headers)


def test_every_server_of_the_issue_has_a_row() -> None:
    """The providers that were promised are there, under their names; a new row needs no line here."""
    assert set(ROWS) >= {
        *("openai", "openai-chat", "openai-responses", "azure", "openai-compatible", "anthropic-compatible"),
        *("groq", "mistral", "deepseek", "openrouter", "xai", "together", "fireworks", "perplexity", "cerebras"),
        *("nvidia", "huggingface", "zai", "moonshot", "qwen", "gemini-compat", "voyage", "jina"),
        *("ollama-compat", "vllm", "sglang", "llamacpp", "lmstudio"),
        *("anthropic", "google", "vertex", "ollama", "ollama-cloud", "foreman", "cohere"),
        "interlingua",
        *("azure-deployments", "azure-anthropic", "vertex-anthropic", "bedrock", "bedrock-anthropic"),
        *("local", "fake"),
    }


def test_vertex_is_gemini_at_another_address() -> None:
    """A project's address, a bearer token, no ids of calls; the facts of the families hold there, too."""
    address = "europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1/publishers/google"
    registry = Registry({"LLM_VERTEX": f"vertex://some-token@{address}"})
    [endpoint] = registry.resolve("vertex/gemini-3-pro")
    assert (endpoint.base_url, endpoint.dialect, endpoint.auth) == (f"https://{address}", "google", "bearer")
    assert endpoint.target.facts.call_seals is True
    call = ToolCall("fc-1", "f", "{}")
    asked = Request(messages=(user("Hi"), assistant(call), Message("tool", (ToolResult("fc-1", "f", "4"),))))
    encoded = get_dialect("google").encode_request(asked, EncodeOptions(target=endpoint.target))
    assert encoded.path == "/models/gemini-3-pro:generateContent"
    assert b"fc-1" not in encoded.body


def test_mistral_is_spoken_to_in_its_own_words() -> None:
    """The flags that a Mistral request stands or falls with are set."""
    quirks = ROWS["mistral"].quirks
    assert (quirks.max_tokens_field, quirks.seed_field, quirks.call_id_rule) == ("max_tokens", "random_seed", "alnum9")
    assert (quirks.result_name, quirks.parameters_required, quirks.stream_usage) == (True, True, False)


def test_deepseek_gets_its_reasoning_back_on_every_turn() -> None:
    """A thinking DeepSeek model refuses a history in which one assistant turn has no reasoning_content."""
    quirks = ROWS["deepseek"].quirks
    assert (quirks.reasoning_field, quirks.reasoning_echo) == ("reasoning_content", "always")


def test_kimi_gets_its_reasoning_back_with_every_call() -> None:
    """A thinking Kimi model refuses a turn with calls and no reasoning_content; a blank is one."""
    quirks = ROWS["moonshot"].quirks
    assert (quirks.reasoning_field, quirks.reasoning_echo) == ("reasoning_content", "calls")
