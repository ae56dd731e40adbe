"""`--fault`: targets that are broken on purpose, and what became of the call."""

from __future__ import annotations

import pytest

from interlingua.cli.main import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits between two tries."""
    monkeypatch.setattr("interlingua.client.call.chain._random", lambda: 0.0)


def test_a_drill_tells_tries_faults_and_health(capsys: Capture) -> None:
    """The answer is on stdout, the story on stderr."""
    assert main(["ask", "-m", "fake/a,fake/b", "--fault", "fake/a=429", "Hi"]) == 0
    out, err = capsys.readouterr()
    assert "It was told: Hi" in out
    assert err.splitlines() == [
        "drill: fake/a failed: RateLimitError: injected fault: status 429",
        "drill: fake/a failed after a pause of 0.0 s: RateLimitError: injected fault: status 429",
        "drill: fake/b served",
        "drill: fake/a: fault 429, 2 times",
        "drill: circuit breaker of fake/a: open for 5 s (failures), 2 failures in a row",
    ]


def test_a_drill_that_nobody_survives_tells_the_same(capsys: Capture) -> None:
    """The exit code is that of a failed call; the error comes last."""
    assert main(["ask", "-m", "fake/a,fake/b", "--fault", "fake/*=401,404", "Hi"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    *told, last = err.splitlines()
    assert told == [
        "drill: fake/a failed: AuthenticationError: injected fault: status 401",
        "drill: fake/b failed: NotFoundError: injected fault: status 404",
        "drill: fake/a: fault 401, once",
        "drill: fake/b: fault 404, once",
        "drill: circuit breaker of fake/a: open for 300 s (auth)",
    ]
    assert last.startswith("il: no target of the chain answered")


def test_one_failure_is_told_as_one(capsys: Capture) -> None:
    """A stream that broke off in the middle counts once against its target."""
    assert main(["ask", "-m", "fake/a,fake/b", "--fault", "fake/a=cut:450", "Say more, please, of it all"]) == 1
    assert "drill: circuit breaker of fake/a: closed, 1 failure in a row" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["fake/a", "fake/a=nonsense", "=429"])
def test_an_option_that_is_none_is_told_at_once(option: str, capsys: Capture) -> None:
    """The command line is wrong, and nothing is asked."""
    assert main(["ask", "-m", "fake/a", "--fault", option, "Hi"]) == 2
    out, err = capsys.readouterr()
    assert (out, err[:20]) == ("", "il: no such fault: '")


def test_without_a_fault_nothing_is_told(capsys: Capture) -> None:
    """A call like any other."""
    assert main(["ask", "-m", "fake/a", "Hi"]) == 0
    assert capsys.readouterr().err == ""
