"""The gateway's part of the configuration file, and where it may listen."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import interlingua as il
from interlingua import gateway
from interlingua.cli.main import main
from interlingua.gateway.config import SERVER_KEYS, ServerConfig, read_server_config
from interlingua.gateway.keys.auth import hash_key
from interlingua.gateway.keys.terms import NANO, Budget, Terms
from interlingua.gateway.serving.serve import (
    MAX_CONNECTIONS,
    check_address,
    client_room,
    is_loopback,
    listen,
    make_room,
)
from interlingua.gateway.settings import GatewayKey, GatewaySettings
from interlingua.registry.resolve import default_registry
from tests.contract.source import ROOT

DIGEST = hash_key("a key")
WHOLE = f"""
[server]
host = "0.0.0.0"
port = 9000
hosts = ["gateway.example"]
origins = ["https://app.example"]
providers = ["openai"]
open = true
timeout_s = 30
first_byte_s = 20.5
idle_s = 10
keep_alive_s = 5
max_body_bytes = 1000
allow = ["images", "documents"]
strict = true
allow_fetch = true
console = true
console_content = true
operators = ["boss"]
keys = "keys.sqlite"

[keys.team-a]
hash = "{DIGEST}"
models = ["smart", "claude-*"]
rpm = 60
tpm = "200k"
concurrency = 4
budget = ["50 USD/month", "2M tokens/day"]
max_body_bytes = "1M"
context_tokens = "200k"
expires = 2027-01-31
team = "research"

[teams.research]
budget = "500 USD/month"

[providers.work]
dsn = "openai://127.0.0.1:1/v1?tls=0"

[aliases]
smart = "work/model"
"""


def _written(folder: Path, text: str) -> Path:
    path = folder / "gateway.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_everything_that_can_be_set_is_read(tmp_path: Path) -> None:
    """Every key of `[server]` and `[keys]` has its place in the settings."""
    assert read_server_config(_written(tmp_path, WHOLE)) == ServerConfig(
        GatewaySettings(
            keys=(
                GatewayKey(
                    name="team-a",
                    hash=DIGEST,
                    models=("smart", "claude-*"),
                    terms=Terms(
                        rpm=60,
                        tpm=200_000,
                        concurrency=4,
                        budgets=(
                            Budget(amount=50 * NANO, unit="usd", period="month"),
                            Budget(amount=2_000_000, unit="tokens", period="day"),
                        ),
                        max_body_bytes=1_000_000,
                        context_tokens=200_000,
                    ),
                    team="research",
                    expires_s=1_801_440_000.0,
                ),
            ),
            teams={"research": Terms(budgets=(Budget(amount=500 * NANO, unit="usd", period="month"),))},
            key_file="keys.sqlite",
            hosts=("gateway.example",),
            origins=("https://app.example",),
            providers=("openai",),
            is_open=True,
            timeouts=il.Timeouts(total_s=30, first_byte_s=20.5, idle_s=10),
            keep_alive_s=5,
            max_body_bytes=1000,
            allow=frozenset({"images", "documents"}),
            strict=True,
            allow_fetch=True,
            console=True,
            console_content=True,
            operators=("boss",),
        ),
        "0.0.0.0",
        9000,
    )


def test_a_mark_at_the_beginning_of_a_file_is_no_part_of_it(tmp_path: Path) -> None:
    """Some editors write one before the first character."""
    assert read_server_config(_written(tmp_path, "\ufeff[server]\nport = 9\n")).port == 9


def test_the_guide_lists_every_key_of_the_server() -> None:
    """An error about an unknown key leads there."""
    guide = (ROOT / "docs" / "guides" / "gateway.md").read_text()
    assert [key for key in SERVER_KEYS if f"\n{key} = " not in guide and f"`{key}`" not in guide] == []


def test_an_empty_file_is_the_default(tmp_path: Path) -> None:
    """Nothing said is nothing set."""
    assert read_server_config(_written(tmp_path, "")) == ServerConfig(GatewaySettings(), None, None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "[server]\n\nprot = 1\n",
            "line 3: unknown key 'prot' in [server]; did you mean port? docs/guides/gateway.md lists them all",
        ),
        (
            "[server]\ntime-out = 3\n",
            "gateway.toml line 2: unknown key 'time-out' in [server]; did you mean timeout_s? docs",
        ),
        ("[server]\nxyzzy = 1\n", "unknown key 'xyzzy' in [server]; docs/guides/gateway.md lists them all"),
        ('[server]\nport = "x"\n', "gateway.toml line 2: port in [server] is not a number"),
        ("[server]\nport = true\n", "port in [server] is not a number"),
        ('[server]\nhosts = "a"\n', "hosts in [server] is not a list of texts"),
        ("[server]\nhosts = [1]\n", "hosts in [server] is not a list of texts"),
        ('[server]\nallow = ["imgs"]\n', "allow in [server] knows images"),
        ('[keys.a]\nhash = "sha256:abc"\n', "line 2: hash in [keys.a] is not `sha256:` and 64 hexadecimal digits"),
        (f'[keys.a]\nhash = "{DIGEST}"\nmodels = []\n', "line 3: models in [keys.a] names none; a key without it may"),
        (f'[keys.a]\nhash = "{DIGEST}"\nmodels = [""]\n', "line 3: models in [keys.a] names none; a key without it"),
        (f'[keys.a]\nhash = "{DIGEST}"\nmodelz = []\n', "unknown key 'modelz' in [keys.a]; did you mean models?"),
        (
            f'[keys.a]\nhash = "{DIGEST}"\nrpm = "many"\n',
            "line 3: rpm is a whole number from 1 on, as 60, 200k or 1.5M",
        ),
        (f'[keys.a]\nhash = "{DIGEST}"\n\nbudget = "50 EUR"\n', "line 4: a budget is `50 USD/month`"),
        (f'[keys.a]\nhash = "{DIGEST}"\nbudget = ["1 USD", 7]\n', "line 3: a budget is `50 USD/month`"),
        (f'[keys.a]\nhash = "{DIGEST}"\nexpires = "90d"\n', "line 3: an end is 2027-01-31, not '90d' in [keys.a]"),
        (f'[keys.a]\nhash = "{DIGEST}"\nteam = 7\n', "line 3: team in [keys.a] is not the name of a team"),
        ("[teams.a]\nhash = 7\n", "line 2: unknown key 'hash' in [teams.a]; known: rpm, tpm, concurrency, budget"),
        ("\n[keys.a]\n", "line 2: hash in [keys.a] is not"),
        ('[keys."a b"]\nhash = "' + DIGEST + '"\n', "line 1: a key is named by up to 64 letters, digits and . _ @ -"),
        (
            f'[keys.a]\nhash = "{DIGEST}"\n[keys.b]\nhash = "{DIGEST}"\n',
            "line 4: [keys.b] has the hash of [keys.a]",
        ),
        ("[server]\nport = 65536\n", "line 2: port in [server] is at most 65535"),
        ("[server]\nport = -1\n", "line 2: port in [server] is 0 or more"),
        ("[server]\ndrain_s = -1\n", "line 2: drain_s in [server] is 0 or more"),
        ("[server]\nnotice_s = nan\n", "line 2: notice_s in [server] is 0 or more"),
        ("[server]\nidle_s = 0\n", "line 2: idle_s in [server] is more than 0"),
        ("[server]\nworkers = 0\n", "line 2: workers in [server] is more than 0"),
        ("[server]\nmax_body_bytes = 0\n", "line 2: max_body_bytes in [server] is more than 0"),
        ("keys = 1\n", "keys is not a table"),
    ],
)
def test_what_is_not_known_or_wrong_is_an_error_with_the_line(tmp_path: Path, text: str, told: str) -> None:
    """Nothing is ignored in silence."""
    with pytest.raises(il.ConfigError) as caught:
        read_server_config(_written(tmp_path, text))
    assert told in caught.value.message


async def test_the_app_of_a_file_has_its_settings_and_its_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file is for the library and the gateway alike."""
    registry = default_registry()
    monkeypatch.chdir(tmp_path)
    path = _written(tmp_path, WHOLE)
    try:
        app = gateway.app(path)
        assert app.gateway.settings.strict
        assert (tmp_path / "keys.sqlite").stat().st_mode & 0o777 == 0o600
        assert [endpoint.spec for endpoint in app.gateway.registry.resolve("smart")] == ["work/model"]
        await app.gateway.close()
    finally:
        registry.load_config(_written(tmp_path, ""))
    assert gateway.app().gateway.settings == GatewaySettings()
    assert gateway.app(settings=GatewaySettings(is_open=True)).gateway.settings.is_open


@pytest.mark.parametrize(
    ("host", "own"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("::", False), ("a.example", False)],
)
def test_without_a_key_only_the_loopback_may_be_listened_on(host: str, own: bool) -> None:
    """Whoever can reach it would be served."""
    assert is_loopback(host) is own
    check_address(host, has_keys=True)
    if own:
        check_address(host, has_keys=False)
    else:
        with pytest.raises(il.UsageError, match="without a key"):
            check_address(host, has_keys=False)


@pytest.mark.parametrize("words", [("--port", "65536"), ("--workers", "0"), ("--port", "0", "--workers", "-1")])
def test_a_number_that_cannot_be_is_one_sentence(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Of a port and of workers."""
    assert main(["serve", *words]) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith(
        (
            "il: serve: argument --port: takes a whole number from 0 to 65535, not 65536;",
            "il: serve: argument --workers: takes a whole number from 1 on, not ",
        )
    )


def test_an_address_that_is_taken_is_one_sentence() -> None:
    """With the way out."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = f"^cannot listen on 127.0.0.1 port {port}: Address already in use; --port takes another$"
        with pytest.raises(il.UsageError, match=told):
            listen("127.0.0.1", port)
    with listen("127.0.0.1", 0) as free:
        assert free.getsockname()[1] > 0


def test_a_serving_process_makes_room_for_many_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds of a library call, 250 connections to one host, are not those of a server."""
    from interlingua.transport import default

    monkeypatch.setattr(default, "_options", None)
    monkeypatch.setattr(default, "_async_transport", None)
    make_room()
    made: Any = default.default_async_transport()
    assert made._options.max_connections_per_origin == MAX_CONNECTIONS


def test_there_is_room_for_a_third_of_what_may_be_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are for upstreams, and for who was refused and lingers."""
    resource: Any = pytest.importorskip("resource")
    for allowed, room in ((64, 10), (1_024, 330), (resource.RLIM_INFINITY, sys.maxsize)):

        def limits(_: int, limit: int = allowed) -> tuple[int, int]:
            return limit, limit

        monkeypatch.setattr(resource, "getrlimit", limits)
        assert client_room() == room


_BOTH = """
import socket
from interlingua.gateway.serving.serve import listen
with listen("::", 0) as listener, socket.create_connection(("127.0.0.1", listener.getsockname()[1])) as client:
    print(client.getpeername()[0])
"""


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this system does not know both")
def test_every_address_of_ipv6_is_every_one_of_ipv4() -> None:
    """As containers with both expect it; in a process of its own, since tests stay on the loopback."""
    done = subprocess.run([sys.executable, "-c", _BOTH], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("127.0.0.1\n", "")


@pytest.mark.skipif(not socket.has_ipv6, reason="this system knows no IPv6")
def test_brackets_around_an_address_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """As they come out of a URL; it is the loopback, that needs no key."""
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--host", "[::1]", "--port", str(port)]) == 2
    assert capsys.readouterr().err == (
        f"il: cannot listen on ::1 port {port}: Address already in use; --port takes another\n"
    )


def test_too_few_open_files_are_told_before_anything_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway would begin, and fail at its first requests."""
    resource: Any = pytest.importorskip("resource")

    def twelve(_: int) -> tuple[int, int]:
        return 12, 12

    monkeypatch.setattr(resource, "getrlimit", twelve)
    with pytest.raises(il.ConfigError) as caught:
        make_room()
    told = "this process may have 12 files open at once (`ulimit -n`); a gateway needs 64 or more"
    assert str(caught.value) == told
