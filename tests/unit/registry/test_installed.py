"""Providers and dialects of installed packages: found by entry points, imported when their name is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = """
print("imported")
import interlingua as il
from msgspec.structs import replace
from interlingua.dialects._service import ServicePath
from interlingua.dialects.table import get_dialect

class Echo:
    def generate(self, request, call):
        return il.Response(parts=(il.TextPart(f"{call.provider}/{call.model}"),), finish_reason="stop")

def lab(dsn):
    echo = Echo()
    echo.host = dsn.host
    return echo

ROW = il.Provider(name="mine", base_url="https://corp.example/v1", dialects=("corp-chat", "openai-chat"))
CHAT = get_dialect("openai-chat")
PATHS = (ServicePath("conversation", "/corp/v1/talk"), *CHAT.service.paths)
DIALECT = replace(CHAT, name="corp-chat", service=replace(CHAT.service, paths=PATHS))
WRONG = 7
"""
ENTRIES = """
[interlingua.providers]
corp-echo = corp_llm:Echo
corp-lab = corp_llm:lab
corp-row = corp_llm:ROW
corp-gone = corp_llm:GONE
corp-wrong = corp_llm:WRONG
openai = corp_llm:ROW

[interlingua.dialects]
corp-chat = corp_llm:DIALECT
corp-none = corp_llm:WRONG
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder in which a package is installed."""
    install(tmp_path, "corp-llm", ENTRIES)
    (tmp_path / "corp_llm.py").write_text(PACKAGE, encoding="utf-8")
    return tmp_path


def install(folder: Path, name: str, entries: str) -> None:
    """Write what an installer writes of a package."""
    facts = folder / f"{name.replace('-', '_')}-1.2.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text(entries, encoding="utf-8")


def run(site: Path, code: str, **environment: str) -> list[str]:
    """What a fresh interpreter prints that has the package."""
    head = f"import sys; sys.path.insert(0, {str(site)!r})\nimport interlingua as il\n"
    done = subprocess.run(
        [sys.executable, "-c", head + code], check=True, capture_output=True, text=True, env={**environment}
    )
    return done.stdout.splitlines()


def test_r55_a_provider_of_a_package_is_found_by_its_name(site: Path) -> None:
    """Code, at once; a function, behind a DSN; a row, under the name of its entry point."""
    lines = run(
        site,
        "print(il.model('corp-echo/a').generate('Hi').text)\n"
        "print(il.model('lab/b').generate('Hi').text)\n"
        "(target,) = il.model('corp-row/c').explain('Hi').targets\n"
        "print(target.spec, target.dialect)\n",
        LLM_LAB="corp-lab://lab.example",
    )
    assert lines == ["imported", "corp-echo/a", "lab/b", "corp-row/c corp-chat"]


def test_r55_a_dialect_of_a_package_is_found_by_its_name(site: Path) -> None:
    """In the codec, in a DSN and by `extra`."""
    lines = run(
        site,
        "from interlingua import codec\n"
        "print(codec.encode_result(il.ToolResult('c1', 'f', '4'), 'corp-chat'))\n"
        "model = il.model('work/m', extra={'corp-chat': {'more': 1}})\n"
        "print(model.explain('Hi').targets[0].dialect)\n",
        LLM_WORK="openai://lab.example?dialect=corp-chat",
    )
    assert lines == ["imported", "[{'role': 'tool', 'content': '4', 'tool_call_id': 'c1'}]", "corp-chat"]


def test_r55_nothing_is_looked_for_while_our_tables_know_the_name(site: Path) -> None:
    """Neither `importlib.metadata` nor the package is imported, and no package replaces a row of ours."""
    lines = run(
        site,
        "il.model('fake/x').generate('Hi')\n"
        "print(il.model('openai/gpt-5.6').explain('Hi').targets[0].dialect)\n"
        "print([name for name in ('importlib.metadata', 'corp_llm') if name in sys.modules])\n",
    )
    assert lines == ["openai-responses", "[]"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("corp-gone/x", "the package corp-llm 1.2: corp_llm:GONE cannot be loaded for corp-gone: an AttributeError"),
        ("corp-wrong/x", "scheme corp-wrong: takes an object with generate and stream, its class, or a function of"),
        ("corp-lab/x", "corp-lab: no address; set LLM_CORP_LAB=corp-lab://TOKEN@HOST (the package corp-llm 1.2)"),
        (
            "corp-ech/x",
            "no provider 'corp-ech', asked for as 'corp-ech/x'; did you mean corp-echo or corp-gone or corp-row?",
        ),
        ("work/x", "the package corp-llm 1.2 offers the dialect corp-none, and that is an int"),
    ],
)
def test_what_a_package_offers_badly_is_a_typed_error(site: Path, spec: str, message: str) -> None:
    """It names the package and the name."""
    code = f"try:\n    il.model({spec!r}).explain('Hi')\nexcept il.UsageError as error:\n    print(error)\n"
    assert message in run(site, code, LLM_WORK="openai://lab.example?dialect=corp-none")[-1]


def test_two_packages_that_offer_one_name_are_refused(site: Path) -> None:
    """Both are named."""
    install(site, "other-llm", "[interlingua.providers]\ncorp-echo = corp_llm:Echo\n")
    code = "try:\n    il.model('corp-echo/a').generate('Hi')\nexcept il.ConfigError as error:\n    print(error)\n"
    (line,) = run(site, code)
    assert line == (
        "corp-echo is offered by the package corp-llm 1.2 and the package other-llm 1.2 (entry points "
        "interlingua.providers): uninstall all but one"
    )


def test_providers_of_packages_are_listed(site: Path) -> None:
    """With their package; one that needs an address says so, one that cannot be loaded why; our rows stay ours."""
    code = (
        "from interlingua.registry.resolve import Registry\n"
        "known = {one.name: one for one in Registry({}).providers()}\n"
        "for name in ('corp-echo', 'corp-row', 'corp-lab', 'corp-gone', 'openai'):\n"
        "    one = known[name]\n"
        "    print(name, '|', one.origin, '|', one.dialect, '|', one.problem)\n"
    )
    lines = dict([line.split(" | ", 1) for line in run(site, code) if " | " in line])
    package = "the package corp-llm 1.2"
    assert lines["corp-echo"] == f"{package} | unified | "
    assert lines["corp-row"].endswith("no key; set LLM_CORP_ROW=corp-row://TOKEN@corp.example")
    assert lines["corp-lab"].startswith(
        "corp-lab | None | corp-lab: no address; set LLM_CORP_LAB=corp-lab://TOKEN@HOST"
    )
    assert lines["corp-gone"].endswith(
        "corp_llm:GONE cannot be loaded for corp-gone: an AttributeError: module 'corp_llm' has no attribute 'GONE'"
    )
    assert lines["openai"].startswith("built in | ")


def test_il_providers_lists_what_packages_add(site: Path) -> None:
    """In the command line, too."""
    lines = run(site, "from interlingua.cli.main import main\nmain(['providers', 'corp-echo', 'corp-row'])\n")
    assert [line.split()[:2] for line in lines if line.startswith("corp")] == [
        ["corp-echo", "unified"],
        ["corp-row", "corp-chat"],
    ]


def test_a_dialect_of_a_package_is_none_of_the_gateways_clients(site: Path) -> None:
    """A path of its own is refused with a sentence; one that it shares with ours is ours."""
    code = (
        "import asyncio\n"
        "from interlingua.gateway.core import Gateway\n"
        "from interlingua.gateway.http import GatewayRequest\n"
        "def ask(path):\n"
        "    request = GatewayRequest(method='POST', path=path, headers=(), body=b'{}')\n"
        "    reply = asyncio.run(Gateway()(request))\n"
        "    print(reply.status, reply.body.decode())\n"
        "ask('/corp/v1/talk')\nask('/v1/chat/completions')\n"
    )
    *_, refused, _ = run(site, code)
    told = "corp-chat (of the package corp-llm 1.2) is spoken to providers alone; clients of this gateway speak openai"
    assert refused.startswith("404 ")
    assert told in refused
