"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

PRELUDE = """
import pytest
from interlingua.testing import use
from interlingua.transport.override import overridden
from tests.support.asking import ask
"""


@pytest.fixture
def installed(pytester: pytest.Pytester) -> pytest.Pytester:
    """A pytest in an empty folder; the plugin is there because the package is installed, as all others that are."""
    pytester.makeini("[pytest]\naddopts = --strict-markers -p no:cacheprovider\n")
    return pytester


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A pytest with this plugin alone: to find all that are installed takes a process longer than its tests."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini("[pytest]\naddopts = --strict-markers -p no:cacheprovider -p interlingua.testing.plugin\n")
    return pytester


def test_fake_model(installed: pytest.Pytester) -> None:
    """The fixture stands in for every model and takes its script from the test."""
    installed.makepyfile(
        PRELUDE
        + """
def test_it(fake_model):
    fake_model.add("One.", "Two.")
    assert [ask(overridden(None), "Hi").text for _ in range(2)] == ["One.", "Two."]
    assert len(fake_model.requests) == 2
"""
    )
    installed.runpytest_inprocess().assert_outcomes(passed=1)


def test_no_network(inner: pytest.Pytester) -> None:
    """The fixture forbids what leaves the machine."""
    inner.makepyfile(
        """
import socket, pytest
from interlingua.testing import NetworkForbiddenError
from interlingua.testing.isolate import _guard

def test_it(no_network):
    assert _guard._scopes == [True]

def test_after():
    assert _guard._scopes == []
"""
    )
    inner.runpytest_inprocess().assert_outcomes(passed=2)


def test_cassette_beside_the_test(inner: pytest.Pytester) -> None:
    """A marked test records beside its file and replays afterwards; an unmarked one has no tape."""
    inner.makepyfile(
        test_weather=PRELUDE
        + """
@pytest.mark.cassette
@pytest.mark.parametrize("city", ["Oslo"])
def test_it(city, interlingua_cassette):
    assert ask(overridden(None), city).text == "Fine."

def test_unmarked(interlingua_cassette):
    assert interlingua_cassette is None
"""
    )
    inner.makeconftest(
        """
import pytest
from interlingua.testing import use

@pytest.fixture(autouse=True)
def provider(request):
    with use("Fine."):
        yield request.getfixturevalue("interlingua_cassette")
"""
    )
    tape = inner.path / "tapes" / "test_weather" / "test_it_Oslo.json"
    inner.runpytest_inprocess().assert_outcomes(passed=2)
    assert tape.is_file()
    recorded = tape.stat().st_mtime_ns
    inner.runpytest_inprocess().assert_outcomes(passed=2)
    assert tape.stat().st_mtime_ns == recorded


def test_a_failed_test_keeps_no_tape(inner: pytest.Pytester) -> None:
    """What a failing test recorded is not written, so that the next run records anew."""
    inner.makepyfile(
        PRELUDE
        + """
@pytest.mark.cassette("tape.json")
def test_it():
    with use("Fine."):
        ask(overridden(None), "Hi")
    assert False
"""
    )
    inner.runpytest_inprocess().assert_outcomes(failed=1)
    assert not (inner.path / "tape.json").exists()


def test_cassette_with_a_path(inner: pytest.Pytester) -> None:
    """The mark may name the file and the mode; a missing tape fails the test with a clear sentence."""
    inner.makepyfile(
        """
import pytest

@pytest.mark.cassette("shared.json", mode="replay")
def test_it():
    pass
"""
    )
    result = inner.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ConfigError: no tape at *shared.json; record it with INTERLINGUA_CASSETTE=record*"])


def test_it_may_be_named_as_well(installed: pytest.Pytester) -> None:
    """A `conftest.py` that loads the plugin by hand does not load it twice."""
    installed.makeconftest('pytest_plugins = ["interlingua.testing.plugin"]')
    installed.makepyfile("def test_it(fake_model): assert fake_model.requests == []")
    installed.runpytest_inprocess().assert_outcomes(passed=1)


def test_it_can_be_left_out(installed: pytest.Pytester) -> None:
    """As any plugin."""
    installed.makepyfile("def test_it(fake_model): pass")
    installed.runpytest_inprocess("-p", "no:interlingua.testing.plugin").assert_outcomes(errors=1)


def test_it_works_in_several_processes(inner: pytest.Pytester) -> None:
    """Under xdist every worker has its fixtures and its tapes."""
    inner.makepyfile(
        """
import pytest
import interlingua as il

@pytest.mark.cassette
@pytest.mark.parametrize("city", ["Oslo", "Bergen"])
def test_it(city, fake_model, no_network):
    fake_model.add(city)
    assert il.model("some/model").generate("Hi").text == city
"""
    )
    inner.runpytest_subprocess("-p", "xdist.plugin", "-n", "2").assert_outcomes(passed=2)


def test_a_suite_that_asks_no_model_pays_nothing(installed: pytest.Pytester) -> None:
    """Nothing of the library but three empty-handed modules is loaded, and no test gets a fixture unasked."""
    installed.makepyfile(
        """
import sys

def test_it(request):
    ours = {name for name in sys.modules if name.partition(".")[0] in ("interlingua", "msgspec")}
    assert ours == {"interlingua", "interlingua.testing", "interlingua.testing.plugin"}
    assert "interlingua_cassette" not in request.fixturenames
"""
    )
    installed.runpytest_subprocess("-p", "no:xdist").assert_outcomes(passed=1)


def test_the_mark_is_known(inner: pytest.Pytester) -> None:
    """`pytest --markers` explains the mark."""
    inner.runpytest_inprocess("--markers").stdout.fnmatch_lines(["@pytest.mark.cassette(path=None, mode=None)*"])
