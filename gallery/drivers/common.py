"""What every driver of a Python client shares: the job, the questions, the checks, a JSON line for each scenario.

A driver runs in the environment of its client, without interlingua. Its class has a method for each scenario that the
client offers; a scenario without a method is reported as absent. `connect` makes the client by the very lines that
`il connect` prints.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Literal

from pydantic import BaseModel

HELLO = "Hello from the strict upstream."
ASK = "Which city is warmer? Use get_weather."
FINAL = "Bergen is warmer."
THOUGHT = "Let me see."
PNG_BASE64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
"""One red pixel."""
WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Name of the city."}},
    "required": ["city"],
}
"""The parameters of `get_weather`, for clients that take a schema."""


class Trip(BaseModel):
    """A trip."""

    city: Literal["Oslo", "Bergen"]
    days: int


class Weather:
    """The tool, which notes the cities that it is asked for."""

    def __init__(self) -> None:
        self.cities: list[str] = []

    def __call__(self, city: str) -> str:
        """The weather of a city."""
        self.cities.append(city)
        return f"4 degrees in {city}"


class Driver:
    """The base of a driver: one client in one dialect."""

    statuses: ClassVar[bool] = True
    """Whether an exception of the client has a status."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.dialect: str = job["dialect"]

    def connect(self, model: str) -> dict[str, Any]:
        """The names that the lines of `il connect` define, for a model."""
        names: dict[str, Any] = {}
        exec(compile(self.job["code"].replace("{model}", model), "il connect", "exec"), names)
        return names

    def text(self, model: str) -> str:
        """The whole answer to "Hi"."""
        raise NotImplementedError

    def fail(self, model: str) -> None:
        """Ask in the way whose exceptions are judged."""
        self.text(model)


def check_text(driver: Any, models: dict[str, Any]) -> None:
    said(driver.text(models["talk"]), models)


def check_stream(driver: Any, models: dict[str, Any]) -> None:
    pieces = [piece for piece in driver.stream(models["talk"]) if piece]
    said("".join(pieces), models)
    if len(pieces) < 2:
        raise AssertionError(f"one piece: {pieces}")


def _loop(way: str, kind: str, cities: list[str]) -> Callable[[Any, dict[str, str]], None]:
    def check(driver: Any, models: dict[str, Any]) -> None:
        weather = Weather()
        text = getattr(driver, way)(models[kind], weather)
        if models["loose"]:
            equal((bool(weather.cities), bool(text)), (True, True))
            return
        equal(sorted(weather.cities), sorted(cities))
        if FINAL not in text:
            raise AssertionError(f"the last text is {text!r}")

    return check


def check_structured(driver: Any, models: dict[str, Any]) -> None:
    trip = driver.structured(models["talk"])
    equal_trip(trip if isinstance(trip, dict) else trip.model_dump())


def check_image(driver: Any, models: dict[str, Any]) -> None:
    equal(driver.image(models["talk"]), "I see 1 image.")


def check_thinking(driver: Any, models: dict[str, Any]) -> None:
    """A thought before a call, and the answer to its result, for which the thought must come back."""
    weather = Weather()
    thought, text = driver.thinking(models["think"], weather)
    equal(thought, THOUGHT)
    if not weather.cities or "4 degrees" not in text:
        raise AssertionError(f"called for {weather.cities}, said {text!r}")


def check_usage(driver: Any, models: dict[str, Any]) -> None:
    counts = tuple(driver.usage(models["talk"]))
    equal(counts if not models["loose"] else max(counts) > 0, (20, 10) if not models["loose"] else True)


def check_errors(driver: Any, models: dict[str, Any]) -> None:
    """Each kind of error is raised as the client's own class for it, with its status."""
    raised = {kind: _error(driver, models, kind) for kind in models["errors"]}
    equal(raised, {kind: driver.job["errors"].get(kind) for kind in raised})


def _error(driver: Any, models: dict[str, Any], kind: str) -> str:
    kept = dict(os.environ)
    if kind == "key":
        os.environ.update(driver.job["wrong_key"])
    try:
        driver.fail(models["talk" if kind == "key" else kind])
    except Exception as error:
        return named(error)
    finally:
        os.environ.clear()
        os.environ.update(kept)
    return "nothing was raised"


def named(error: BaseException) -> str:
    """The class of an exception, with its status where it has one."""
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    status = status or getattr(response, "status_code", None)
    name = type(error).__name__
    return f"{name} {status}" if isinstance(status, int) else name


def check_broken(driver: Any, models: dict[str, Any]) -> None:
    """A stream that breaks off behind the gateway raises."""
    pieces: list[str] = []
    try:
        pieces.extend(driver.stream(models["broken"]))
    except Exception:
        return
    raise AssertionError(f"nothing was raised; the text is {''.join(pieces)!r}")


SCENARIOS: dict[str, tuple[str, Callable[[Any, dict[str, str]], None]]] = {
    "text": ("text", check_text),
    "stream": ("stream", check_stream),
    "loop": ("loop", _loop("loop", "steps", ["Oslo", "Bergen"])),
    "streamed loop": ("loop_streamed", _loop("loop_streamed", "steps", ["Oslo", "Bergen"])),
    "parallel": ("loop", _loop("loop", "pair", ["Oslo", "Bergen"])),
    "structured": ("structured", check_structured),
    "image": ("image", check_image),
    "thinking": ("thinking", check_thinking),
    "usage": ("usage", check_usage),
    "errors": ("fail", check_errors),
    "broken": ("stream", check_broken),
}
"""Every scenario: the method of the driver that it needs, and its check."""


def said(text: str, models: dict[str, Any]) -> None:
    """Nothing, where the text is the one of the strict upstreams, or any of a server that has words of its own."""
    if not (models["loose"] and text):
        equal(text, HELLO)


def equal_trip(trip: dict[str, Any]) -> None:
    """Nothing, where the trip is the one that a model of few words fills the schema with."""
    equal((trip["city"], type(trip["days"])), ("Oslo", int))


def equal(value: Any, expected: Any) -> None:
    """Nothing, where both are equal."""
    if value != expected:
        raise AssertionError(f"{value!r} is not {expected!r}")


def main(make: Callable[[dict[str, Any]], Any]) -> None:
    """Run the job that stdin holds, and print a line for each scenario."""
    warnings.simplefilter("ignore")
    job = json.load(sys.stdin)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a client prints is no line of ours
    for upstream, task in job["upstreams"].items():
        for scenario in task["scenarios"]:
            began_s = time.monotonic()
            line = {"upstream": upstream, "scenario": scenario, **_outcome(make, job, scenario, task)}
            if job.get("trace"):
                print(f"{time.monotonic() - began_s:5.1f} s {job['dialect']} {upstream} {scenario}", file=sys.stderr)
            out.write(json.dumps(line) + "\n")
            out.flush()
    out.flush()
    os._exit(0)  # some clients leave threads behind that would wait for a network


def _outcome(make: Any, job: dict[str, Any], scenario: str, task: dict[str, Any]) -> dict[str, str]:
    models = {**task["models"], "errors": task["errors"], "loose": task["loose"]}
    method, check = SCENARIOS[scenario]
    try:
        driver = make(job)
        if not hasattr(driver, method):
            return {"state": "absent", "seen": ""}
        check(driver, models)
    except NotImplementedError:
        return {"state": "absent", "seen": ""}
    except Exception as error:
        if job.get("trace"):
            import traceback

            print("".join(traceback.format_exception(error, limit=-3, chain=False)), file=sys.stderr)
        seen = str(error) if isinstance(error, AssertionError) else f"{named(error)}: {error}"
        return {"state": "failed", "seen": " ".join(seen.split())[:400]}
    return {"state": "ok", "seen": ""}
