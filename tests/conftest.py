"""What holds for every test: loopback only, no keys of the machine, one event loop implementation.

Coroutine tests need no mark: `async def test_…` is run by anyio's plugin on asyncio.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support import databases
from tests.support.lasting import forget_all
from tests.support.postgres_server import PostgresServer
from tests.support.shared_servers import KINDS, RoomOfPostgres, SharedServer, make_postgres, make_redis
from tests.support.watchdog import Watchdog

LOOPBACK = re.compile(r"^(127\.\d+\.\d+\.\d+|::1|localhost|)$")
"""Hosts that a test may reach; the empty host is a listener on every address."""

OURS = re.compile(
    r"^(LLM_|INTERLINGUA_)|_API_KEY$|_A[A-Z]*_TOKEN$|_BASE_URL$|_API_BASE$|^OLLAMA_HOST$|_proxy$"
    r"|^(AWS|AZURE|GOOGLE|GCE|CLOUDSDK|CLOUD_ML|IDENTITY|MSI|ANTHROPIC_VERTEX|ANTHROPIC_FOUNDRY)_",
    re.IGNORECASE,
)
"""Environment variables that would make a test's outcome depend on who runs it."""

WATCHDOG = pytest.StashKey[Watchdog]()
"""Where a run keeps what ends a test that hangs."""

# Each client that a test makes reads the authorities that it trusts: 20 ms for those of a machine, nothing for one.
os.environ["SSL_CERT_FILE"] = str(Path(__file__).parent / "support" / "authority.pem")

# What a process of a test keeps is not the user's, and what the user keeps (keys!) is no test's.
_STATE = TemporaryDirectory(prefix="interlingua-tests-", ignore_cleanup_errors=True)
os.environ["XDG_STATE_HOME"] = _STATE.name

# What a shell starts in the background ignores interrupts, and so would the tests of interrupts and what they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples each time, so that a red run is about the change; `thorough` and `make fuzz` look for new ones.
settings.register_profile(
    "default", deadline=None, derandomize=True, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", settings.get_profile("default"), max_examples=100)
settings.register_profile("thorough", settings.get_profile("default"), derandomize=False, max_examples=1_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def _refuse_the_network(event: str, arguments: tuple[Any, ...]) -> None:
    """Fail whoever leaves loopback: an audit hook sees every library, compiled ones that use `socket` too."""
    match event, arguments:
        case ("socket.getaddrinfo", (str(host), *_)) | ("socket.connect", (_, (str(host), *_))):
            name = host
        case ("socket.getaddrinfo", (bytes(raw), *_)):
            name = raw.decode()
        case _:
            return
    if not LOOPBACK.match(name):
        raise RuntimeError(f"a test tried to reach {name}; tests stay on loopback")


sys.addaudithook(_refuse_the_network)
databases.watch()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--golden-update`, for `make golden-update`."""
    parser.addoption("--golden-update", action="store_true", help="write golden files anew instead of comparing")


def pytest_configure(config: pytest.Config) -> None:
    """Watch over the tests of this process."""
    config.stash[WATCHDOG] = Watchdog()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector: nearly everything stays, and its looks take a fifth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Leave what was imported and collected out of the garbage collector's sight."""
    _keep_out_of_sight()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """No key, alias or proxy of the machine reaches a test, nor what earlier tests found out and registered.

    A hook, since each fixture costs every test 0.1 ms.
    """
    item.config.stash[WATCHDOG].count_anew()
    for name in [name for name in os.environ if OURS.search(name)]:
        del os.environ[name]
    forget_all()


def pytest_exception_interact(node: pytest.Item | pytest.Collector) -> None:
    """Count the next test anew: pytest has taken the thread away."""
    node.config.stash[WATCHDOG].rest()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let what follows the tests take its time."""
    session.config.stash[WATCHDOG].rest()


@pytest.fixture(autouse=True, scope="module")
def _what_lasts_is_looked_at_once() -> Generator[None]:
    """What is still there after a file of tests lasts: mostly packages that it was the first to import."""
    yield
    _keep_out_of_sight()


def _keep_out_of_sight() -> None:
    """Collect what can be, and never look at the rest again: in a heap this large one look takes half a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def golden_update(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written instead of compared."""
    return bool(request.config.getoption("--golden-update"))


@pytest.fixture
def anyio_backend() -> str:
    """The one event loop implementation that the library speaks."""
    return "asyncio"


@pytest.fixture(scope="session")
def postgres_server() -> Generator[PostgresServer]:
    """A Postgres for the whole run."""
    server = make_postgres()
    yield server
    server.remove()


@pytest.fixture
def start_server(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Callable[[str], SharedServer]]:
    """Starts a server of shared state by its kind, with a password and no keys, for one test to mistreat."""
    with ExitStack() as stack:

        def started(kind: str) -> SharedServer:
            if kind == "redis":
                redis = make_redis(tmp_path, password="sesame-open", is_durable=True)
                stack.callback(redis.stop)
                return redis
            room = RoomOfPostgres(request.getfixturevalue("postgres_server"))
            stack.callback(room.leave)
            return room

        yield started


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest, start_server: Callable[[str], SharedServer]) -> SharedServer:
    """A server of shared state of each kind."""
    return start_server(request.param)
