"""Transports that answer from a script, and transports that spoil what others do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from interlingua.errors import APIConnectionError, APITimeoutError, ConfigError
from interlingua.transport.base import AsyncReply, Reply, Timeouts
from interlingua.transport.fault import (
    AsyncFaultTransport,
    Fault,
    FaultPlan,
    FaultTransport,
    parse_fault,
    parse_options,
)
from interlingua.transport.replay import AsyncReplayTransport, Line, ReplayTransport, Script, ScriptLine
from interlingua.wire.http import HttpReply, HttpRequest, header

REQUEST = HttpRequest(url="https://api.test/v1", target="anthropic/claude", body=b"{}")
EVENTS = [b"data: 1\n\n", b"data: 2\n\n", b"data: 3\n\n"]
Outcome = tuple[int, list[bytes], "Exception | None"]


def read(reply: Reply) -> tuple[list[bytes], Exception | None]:
    """The pieces that came, and what ended them."""
    pieces: list[bytes] = []
    try:
        while piece := reply.read():
            pieces.append(piece)
    except (APIConnectionError, APITimeoutError) as error:
        return pieces, error
    finally:
        reply.close()
    return pieces, None


async def read_async(reply: AsyncReply) -> tuple[list[bytes], Exception | None]:
    """The same, awaited."""
    pieces: list[bytes] = []
    try:
        while piece := await reply.read():
            pieces.append(piece)
    except (APIConnectionError, APITimeoutError) as error:
        return pieces, error
    finally:
        await reply.close()
    return pieces, None


def run_blocking(script: Script, plan: FaultPlan) -> Outcome:
    """One request through both transports, blocking."""
    reply = FaultTransport(ReplayTransport(script=script), plan).open(REQUEST, Timeouts())
    return (reply.status, *read(reply))


def run_awaited(script: Script, plan: FaultPlan) -> Outcome:
    """The same, awaited."""
    import asyncio

    async def main() -> Outcome:
        reply = await AsyncFaultTransport(AsyncReplayTransport(script=script), plan).open(REQUEST, Timeouts())
        return (reply.status, *await read_async(reply))

    return asyncio.run(main())


Run = Callable[[Script, FaultPlan], Outcome]


@pytest.fixture(params=[run_blocking, run_awaited], ids=["sync", "aio"])
def run(request: pytest.FixtureRequest) -> Run:
    """One of the two faces."""
    return request.param


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (HttpReply(status=201, body=b"whole"), (201, [b"whole"], None)),
        (EVENTS, (200, EVENTS, None)),
        (Line(pieces=(b"a", b"", b"b"), status=404), (404, [b"a", b"b"], None)),
    ],
)
def test_a_script_answers(run: Run, line: ScriptLine, expected: Outcome) -> None:
    """Whole replies, lists of pieces, and lines with everything."""
    script = Script(line)
    assert run(script, FaultPlan({})) == expected
    assert script.requests == [REQUEST]


def test_lines_match_and_are_used_up(run: Run) -> None:
    """The first line that matches answers; a line for two answers two; then the script says that it is over."""
    script = Script(
        Line(pieces=(b"never",), when=lambda request: request.method == "GET"),
        Line(pieces=(b"twice",), times=2),
        Line(pieces=(b"once",)),
    )
    assert [run(script, FaultPlan({}))[1] for _ in range(3)] == [[b"twice"], [b"twice"], [b"once"]]
    with pytest.raises(ConfigError, match=r"no line for request 4 to anthropic/claude"):
        run(script, FaultPlan({}))


def test_scripted_troubles(run: Run) -> None:
    """A line may refuse, end with an error, or be too slow for the idle deadline."""
    with pytest.raises(APIConnectionError, match="no"):
        run(Script(APIConnectionError("no")), FaultPlan({}))
    broken = APIConnectionError("cut")
    assert run(Script(Line(pieces=(b"a",), ending=broken)), FaultPlan({})) == (200, [b"a"], broken)
    _, pieces, error = run(Script(Line(pieces=(b"a",), pause_s=1_000.0)), FaultPlan({}))
    assert pieces == []
    assert isinstance(error, APITimeoutError)
    assert error.phase == "idle"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("429", Fault("status", 429)),
        ("429:2.5", Fault("status", 429, 2.5)),
        ("503:0", Fault("status", 503, 0.0)),
        (" RESET ", Fault("reset")),
        ("cut:200", Fault("cut", 200)),
        ("cut", Fault("cut", 0)),
        ("stall", Fault("stall", -1)),
        ("stall:0", Fault("stall", 0)),
        ("drip", Fault("drip", 1)),
        ("drip:7", Fault("drip", 7)),
        ("ok", Fault("ok")),
    ],
)
def test_fault_texts(text: str, fault: Fault) -> None:
    """A word or a status, with a number of bytes after a colon."""
    assert parse_fault(text) == fault


@pytest.mark.parametrize(
    "text", ["", "nonsense", "cut:x", "429:x", "429:1.", "429:", "429:-1", "99", "1000", "cut:-1", "²"]
)
def test_bad_fault_texts(text: str) -> None:
    """Anything else is a ConfigError that lists the words."""
    with pytest.raises(ConfigError, match="refuse, reset, stall"):
        FaultPlan({"*": text})


@pytest.mark.parametrize(
    ("text", "pieces", "phase"),
    [
        ("cut:10", [b"data: 1\n\n", b"d"], None),
        ("cut:9", [b"data: 1\n\n"], None),
        ("cut:1000", EVENTS, None),
        ("stall:12", [b"data: 1\n\n", b"dat"], "idle"),
    ],
)
def test_faults_in_mid_stream(run: Run, text: str, pieces: list[bytes], phase: str | None) -> None:
    """What came before the fault is read, then the fault is raised."""
    status, came, error = run(Script(EVENTS), FaultPlan({"anthropic/*": text}))
    assert (status, came) == (200, pieces)
    assert isinstance(error, APITimeoutError if phase else APIConnectionError)
    assert getattr(error, "phase", None) == phase


def test_faults_that_end_well(run: Run) -> None:
    """Truncation is a clean end, a drip is the same bytes, garbage is in between."""
    assert run(Script(EVENTS), FaultPlan({"*": "truncate:12"})) == (200, [b"data: 1\n\n", b"dat"], None)
    assert run(Script(EVENTS), FaultPlan({"*": "drip:4"}))[1][:3] == [b"data", b": 1\n", b"\n"]
    came = run(Script(EVENTS), FaultPlan({"*": "garbage:9"}))[1]
    assert came[0] == EVENTS[0]
    assert b"".join(came).startswith(b"".join(EVENTS[:1]))
    assert b"".join(came).endswith(b"".join(EVENTS[1:]))
    assert len(b"".join(came)) > len(b"".join(EVENTS))


@pytest.mark.parametrize(
    ("text", "kind", "phase"),
    [
        ("refuse", APIConnectionError, None),
        ("reset", APIConnectionError, None),
        ("stall", APITimeoutError, "first_byte"),
    ],
)
def test_faults_before_the_headers(run: Run, text: str, kind: type[Exception], phase: str | None) -> None:
    """No connection, no answer, no answer in time; the other transport is not asked."""
    script = Script(EVENTS)
    with pytest.raises(kind) as caught:
        run(script, FaultPlan({"*": text}))
    assert getattr(caught.value, "phase", None) == phase
    assert script.requests == []


def test_a_storm_of_statuses_passes(run: Run) -> None:
    """A list of faults is used up call by call; then calls go through. Other targets are left alone."""
    plan = FaultPlan({"openai/*": "500", "anthropic/*": ["429", "ok", "529"]})
    script = Script(Line(pieces=(b"fine",), times=None))
    outcomes = [run(script, plan) for _ in range(4)]
    assert [status for status, _, _ in outcomes] == [429, 200, 529, 200]
    assert outcomes[0][1] == [
        b'{"error":{"message":"injected fault: status 429","type":"injected_fault","code":"429"}}'
    ]
    assert plan.injected == [("anthropic/claude", Fault("status", 429)), ("anthropic/claude", Fault("status", 529))]


def test_statuses_can_have_another_shape_and_a_retry_after() -> None:
    """The body is a parameter, and 429 carries `retry-after` when asked to."""
    plan = FaultPlan({"*": "429"}, error_body=lambda request, status: b"%d" % status, retry_after_s=7)
    reply = FaultTransport(ReplayTransport(), plan).open(REQUEST, Timeouts())
    assert (reply.read(), header(reply.headers, "retry-after")) == (b"429", "7")


def test_requests_without_a_target_go_by_host() -> None:
    """A pattern may be a host, and a pseudo URL is known by its scheme."""
    plan = FaultPlan({"api.test": "500", "fake": "501"})
    for url, status in (("https://api.test/v1", 500), ("fake://x", 501)):
        assert FaultTransport(ReplayTransport(), plan).open(HttpRequest(url=url), Timeouts()).status == status


def test_a_status_can_name_its_own_wait() -> None:
    """It wins over the plan's, and comes with any status."""
    plan = FaultPlan({"*": ["429:2.5", "429", "500:9", "500"]}, retry_after_s=7)
    transport = FaultTransport(ReplayTransport(), plan)
    waits = [header(transport.open(REQUEST, Timeouts()).headers, "retry-after") for _ in range(4)]
    assert waits == ["2.5", "7", "9", None]


def test_a_fault_can_hold_for_so_many_calls(run: Run) -> None:
    """Alone or in a list; then calls go through."""
    script = Script(Line(pieces=(b"fine",), times=None))
    storm = FaultPlan({"anthropic/*": "429*3"})
    assert [run(script, storm)[0] for _ in range(5)] == [429, 429, 429, 200, 200]
    mixed = FaultPlan({"anthropic/*": ["500*2", "ok", "429"]})
    assert [run(script, mixed)[0] for _ in range(5)] == [500, 500, 200, 429, 200]


@pytest.mark.parametrize(
    ("options", "plan"),
    [
        ([], {}),
        (["anthropic/*=429"], {"anthropic/*": "429"}),
        (["a/*=429:2*3", "b=stall , ok,500"], {"a/*": "429:2*3", "b": ["stall", "ok", "500"]}),
        ([" * =cut:10"], {"*": "cut:10"}),
        (["a/x=y=refuse"], {"a/x=y": "refuse"}),
        (["a=429", "a=500"], {"a": "500"}),
    ],
)
def test_options_of_a_command_line(options: list[str], plan: dict[str, str | list[str]]) -> None:
    """Pattern and faults on both sides of the last equals sign."""
    assert parse_options(options) == plan


@pytest.mark.parametrize(
    "option", ["", "429", "=429", "anthropic/*=", "a=429,", "a=nonsense", "a=429*0", "a=429*x", "a=429*1000000"]
)
def test_options_that_are_none(option: str) -> None:
    """They are told at once, with the form."""
    with pytest.raises(ConfigError, match="no such fault: "):
        parse_options([option])


def test_faults_are_by_target() -> None:
    """One text alone does not say whose calls are to fail."""
    with pytest.raises(ConfigError, match=r"^faults are a dict such as \{'anthropic/\*': '429'\}, not a str$"):
        FaultPlan("429")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["ok", "429", "429:2.5", "refuse", "reset", "stall", "stall:0", "cut", "cut:7", "drip", "drip:3", "garbage"]
)
def test_a_fault_is_told_as_it_was_named(text: str) -> None:
    """The text of a fault names it again."""
    assert str(parse_fault(text)) == text
