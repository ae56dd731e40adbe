"""A pytest plugin, there as soon as interlingua is installed; `-p no:interlingua.testing.plugin` leaves it out.

- `fake_model` is a `FakeModel` in the place of every model for the test; its script is filled with `fake_model.add(…)`.
- `no_network` refuses every connection that leaves the machine.
- `@pytest.mark.cassette` records or replays the test's calls: in `tapes/<file>/<test>.json` beside the test file, or
  in the file that the mark names.

Rules
- Every pytest of an environment loads this module, also one that never asks a model. So it imports nothing until a
  test asks for it, and touches no test that does not.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from interlingua.testing.fake import FakeModel
    from interlingua.testing.tape import Tape

__all__ = [
    "fake_model",
    "interlingua_cassette",
    "no_network",
    "pytest_configure",
    "pytest_itemcollected",
    "pytest_runtest_makereport",
]

FAILED = pytest.StashKey[bool]()
"""Whether the test failed: what it recorded is not kept."""


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line(
        "markers", "cassette(path=None, mode=None): record the test's model calls, or replay them (interlingua)"
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give a marked test its tape, before whatever else it asks for."""
    if isinstance(item, pytest.Function) and item.get_closest_marker("cassette"):
        item.fixturenames.insert(0, "interlingua_cassette")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The report as it is; a failure is noted for the tape."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture
def fake_model() -> Generator[FakeModel]:
    """A fake that stands in for every model; tell it what to answer with `fake_model.add(…)`."""
    from interlingua.testing.fake import FakeModel
    from interlingua.testing.isolate import use

    with use(FakeModel()) as fake:
        yield fake


@pytest.fixture
def no_network() -> Generator[None]:
    """No connection leaves this machine."""
    from interlingua.testing import isolate

    with isolate.no_network():
        yield


@pytest.fixture
def interlingua_cassette(request: pytest.FixtureRequest) -> Generator[Tape | None]:
    """The tape of a test that is marked `cassette`, else None."""
    mark = request.node.get_closest_marker("cassette")
    if mark is None:
        yield None
        return
    from interlingua.testing.tape import cassette

    name = re.sub(r"[^\w.-]+", "_", request.node.name).strip("_")
    beside = request.path.parent / "tapes" / request.path.stem / f"{name}.json"
    options = dict(zip(("path", "mode"), mark.args, strict=False)) | mark.kwargs
    path = request.path.parent / options["path"] if options.get("path") else beside
    with cassette(path, options.get("mode")) as tape:
        yield tape
        tape.keep = not request.node.stash.get(FAILED, False)
