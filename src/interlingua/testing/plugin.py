"""A pytest plugin: `pytest_plugins = ["interlingua.testing.plugin"]` in `conftest.py`.

- `fake_model` is a `FakeModel` in the place of every model for the test; its script is filled with `fake_model.add(…)`.
- `no_network` refuses every connection that leaves the machine.
- `@pytest.mark.cassette` records or replays the test's calls: in `tapes/<file>/<test>.json` beside the test file, or
  in the file that the mark names.
"""

from __future__ import annotations

import re
from collections.abc import Generator

import pytest

from interlingua.testing.fake import FakeModel
from interlingua.testing.isolate import no_network as forbid_network
from interlingua.testing.isolate import use
from interlingua.testing.tape import Tape, cassette

__all__ = ["fake_model", "interlingua_cassette", "no_network", "pytest_configure", "pytest_runtest_makereport"]

FAILED = pytest.StashKey[bool]()
"""Whether the test failed: what it recorded is not kept."""


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line(
        "markers", "cassette(path=None, mode=None): record the test's model calls, or replay them (interlingua)"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The report as it is; a failure is noted for the tape."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture
def fake_model() -> Generator[FakeModel]:
    """A fake that stands in for every model; tell it what to answer with `fake_model.add(…)`."""
    with use(FakeModel()) as fake:
        yield fake


@pytest.fixture
def no_network() -> Generator[None]:
    """No connection leaves this machine."""
    with forbid_network():
        yield


@pytest.fixture(autouse=True)
def interlingua_cassette(request: pytest.FixtureRequest) -> Generator[Tape | None]:
    """The tape of a test that is marked `cassette`, else None."""
    mark = request.node.get_closest_marker("cassette")
    if mark is None:
        yield None
        return
    name = re.sub(r"[^\w.-]+", "_", request.node.name).strip("_")
    beside = request.path.parent / "tapes" / request.path.stem / f"{name}.json"
    given = dict(zip(("path", "mode"), mark.args, strict=False)) | mark.kwargs
    path = request.path.parent / given["path"] if given.get("path") else beside
    with cassette(path, given.get("mode")) as tape:
        yield tape
        tape.keep = not request.node.stash.get(FAILED, False)
