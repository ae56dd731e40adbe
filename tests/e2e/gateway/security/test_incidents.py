"""The lesson of each incident that others had, as a test that fails without what protects from it.

The ones that have a test elsewhere: SSRF of fetchers and its two bypasses (tests/unit/media/test_fetch.py), bombs
(test_bombs.py), keys and SQL, routes that run things, routes without a key (test_walk.py), addresses of callers
(test_injection.py), keys in addresses and errors (test_planted_secrets.py), control tokens (tests/unit/local).
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from interlingua.errors import ConfigError, UsageError
from interlingua.gateway.console.page import FILES, POLICY
from interlingua.gateway.serving.serve import check_address
from interlingua.gateway.settings import GatewaySettings
from interlingua.registry.resolve import Registry
from interlingua.testing.upstream import Upstream
from tests.contract.source import ROOT, SOURCE
from tests.support.gateway import MODELS, asking, gateway

CONSOLE = SOURCE / "gateway" / "console" / "files"


def test_a_litellm_lesson_nothing_runs_when_python_starts() -> None:
    """The releases that stole secrets had a `.pth` file; ours have none, and hardly anything to be taken over."""
    assert not [*ROOT.glob("src/**/*.pth")]
    project: Any = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = {re.split(r"[<>=~! ]", name)[0] for name in project["project"]["dependencies"]}
    assert needed == {"msgspec", "jsonschema-rs", "httptools"}
    lines = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8").splitlines()
    assert all("==" in line for line in lines if line.strip() and not line.startswith("#"))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "gate.example", "0", ""])
def test_a_litellm_lesson_without_a_key_nobody_else_is_listened_to(host: str) -> None:
    """An open gateway on the network is an accident, so that it does not start."""
    with pytest.raises(UsageError):
        check_address(host, has_keys=False)


def test_a_claude_code_router_lesson_no_origin_is_allowed_by_default() -> None:
    """Neither a wildcard nor a list: pages of others are allowed one by one, by name."""
    assert GatewaySettings().origins == ()
    sources = [path.read_text(encoding="utf-8").lower() for path in (SOURCE / "gateway").rglob("*.py")]
    assert not [text for text in sources if "access-control-allow" in text]


async def test_a_vllm_lesson_nothing_is_fetched_by_default() -> None:
    """An image's address in a body is no reason to ask it, unless the fetcher was turned on."""
    assert GatewaySettings().allow_fetch is False
    fetched: list[str] = []

    async def fetch(address: str) -> Any:
        fetched.append(address)
        raise AssertionError

    made = gateway()
    made.fetch = fetch
    made.compose()
    image = {"type": "image_url", "image_url": {"url": "http://169.254.169.254/latest/meta-data"}}
    for target in ("anthropic", "openai-chat", "google", "ollama", "cohere"):
        with Upstream(target).standing():
            await made(asking("openai-chat", MODELS[target], messages=[{"role": "user", "content": [image]}]))
    assert fetched == []


def test_a_llama_cpp_lesson_an_address_asks_nothing() -> None:
    """A link to the console cannot fill in or send a request: the page does not look at what its address carries."""
    scripts = "\n".join([(CONSOLE / name).read_text(encoding="utf-8") for name in FILES if name.endswith(".js")])
    assert not re.findall(
        r"location\.(?:search|href)|URLSearchParams|document\.referrer|postMessage|window\.name", scripts
    )
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", scripts)
    for rule in ("default-src 'none'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"):
        assert rule in POLICY
    assert "unsafe" not in POLICY


@pytest.mark.parametrize("dsn", ["openai://other.example/v1", "anthropic://other.example", "google://other.example"])
def test_a_lobe_chat_lesson_another_host_voids_the_key(dsn: str) -> None:
    """The key of a vendor in the environment is for the vendor's own host, and goes to no other one by itself."""
    keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "planted-vendor-key")
    registry = Registry({**keys, "LLM_OTHER": dsn})
    try:
        endpoint = registry.resolve("other/m")[0]
        from interlingua.dialects._contract import Encoded

        sent = endpoint.http_request(Encoded(path="/x", body=b"{}"), with_credential=True)
    except ConfigError:
        return  # it says that a key is missing
    assert "planted-vendor-key" not in repr([*sent.headers, sent.url])


def test_a_one_api_lesson_there_is_somebody_to_tell() -> None:
    """How a weakness is reported stands where everybody looks for it."""
    text = (Path(ROOT) / "SECURITY.md").read_text(encoding="utf-8")
    assert "Report a vulnerability" in text
