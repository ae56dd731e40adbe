"""Many inputs: one item each, nothing raised, nothing asked twice."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

import interlingua as il
from interlingua import aio
from interlingua.client.journal import Entry, Journal, read_batches, read_known
from interlingua.client.map import MAX_CONCURRENCY, window_of
from interlingua.testing import FakeModel, use
from tests.support.client import chat, scripted
from tests.support.tiny import PNG


@dataclass
class Count:
    """What every input becomes."""

    n: int


class Face:
    """Either face's `map`, as a list."""

    def __init__(self, *, awaited: bool) -> None:
        """One of the two."""
        self.awaited = awaited

    def map(self, inputs: Any, spec: str = "openai-chat/gpt-4.1", **options: Any) -> list[il.Item[Any]]:
        """Every item."""
        if not self.awaited:
            return list(il.model(spec).map(inputs, **options))

        async def run() -> list[il.Item[Any]]:
            return [item async for item in aio.model(spec).map(inputs, **options)]

        return asyncio.run(run())


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
def face(request: pytest.FixtureRequest) -> Face:
    """Both faces."""
    return Face(awaited=request.param)


def _length(request: il.Request) -> Any:
    """The length of what was said as a Count; what says fail fails."""
    said = request.messages[0].text
    if "fail" in said:
        return il.RateLimitError("slow down", status=429)
    return json.dumps({"n": len(said)})


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_one_item_for_each_input(face: Face) -> None:
    """In the order of the inputs: key, typed output, text and response; a failure is its own item's."""
    with use(FakeModel(_length)):
        items = face.map(["a", "bb fail", "ccc"], output=Count)
    assert [item.key for item in items] == ["a", "bb fail", "ccc"]
    assert [item.output for item in items] == [Count(1), None, Count(3)]
    assert [item.text for item in items] == ['{"n": 1}', "", '{"n": 3}']
    assert isinstance(items[1].error, il.RateLimitError)
    assert items[1].error.message == "slow down"
    assert items[0].error is None
    assert items[0].response is not None
    assert items[0].response.request is not None
    assert items[0].usage == items[0].response.usage
    assert [item.recorded for item in items] == [False, False, False]


def test_cost_of_each_item(face: Face, monkeypatch: pytest.MonkeyPatch) -> None:
    """A price that is configured is on every item, on one whose answer did not fit as well; the meter has the sum."""
    monkeypatch.setenv("LLM_WORK", "openai://tok-12345678@gateway.example/v1?price_in=2&price_out=8")
    with scripted(chat('{"n": 1}'), chat("no json")), il.meter() as meter:
        items = face.map(["a", "b"], "work/x", output=Count, concurrency=1)
    assert [item.cost_usd for item in items] == [22 / 1_000_000] * 2
    assert isinstance(items[1].error, il.OutputError)
    assert items[1].text == "no json"
    assert (meter.calls, meter.cost_usd) == (2, 44 / 1_000_000)


def test_inputs_are_whatever_can_be_a_prompt(face: Face) -> None:
    """Texts, parts, messages and lists of them; what is none of these is an error of that one."""
    given: Any = ["t", il.TextPart("p"), il.user("m"), ["a", "b"], {"no": "prompt"}, ""]
    with use(FakeModel("ok")) as fake:
        items = face.map(given, concurrency=1)
    assert [item.key for item in items] == ["t", "1", "2", "3", "4", ""]
    assert [item.text for item in items] == ["ok", "ok", "ok", "ok", "", ""]
    assert [type(item.error) for item in items[4:]] == [il.UsageError, il.UsageError]
    assert [request.messages[0].text for request in fake.requests] == ["t", "p", "m", "ab"]


def test_keys(face: Face) -> None:
    """A long text is called by its beginning; `key` names inputs, and where it fails that is the item's error."""

    def name(text: str) -> str:
        return text.upper()

    with use(FakeModel("ok")):
        assert face.map(["x" * 201])[0].key == "x" * 199 + "…"
        assert [item.key for item in face.map(["a"], key=name)] == ["A"]
        [item] = face.map([il.user("a")], key=name)
    assert item.key == "input 0"
    assert isinstance(item.error, AttributeError)


def test_a_bug_in_one_input_is_that_items_error(face: Face) -> None:
    """Whatever is raised while one is asked, the others get their answers."""

    def answer(request: il.Request) -> str:
        if request.messages[0].text == "b":
            raise ZeroDivisionError("a bug")
        return "ok"

    with use(FakeModel(answer)):
        items = face.map(["a", "b", "c"])
    assert [item.text for item in items] == ["ok", "", "ok"]
    assert isinstance(items[1].error, ZeroDivisionError)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"concurrency": 0}, "concurrency takes 1 to 1,000 calls at once, not 0"),
        ({"concurrency": MAX_CONCURRENCY + 1}, "concurrency takes 1 to 1,000 calls at once, not 1001"),
        ({"history": []}, "map has no history: each input is a conversation of its own, and may be a list of messages"),
        ({"temprature": 1}, "no option 'temprature'; did you mean 'temperature'?"),
        (
            {"journal": "no/such/folder/j.jsonl"},
            "the journal no/such/folder/j.jsonl cannot be opened: No such file or directory",
        ),
    ],
)
def test_what_would_fail_all_inputs_is_raised(face: Face, options: dict[str, Any], why: str) -> None:
    """Before anything is asked, in one sentence."""
    with use(FakeModel("ok")) as fake, pytest.raises(il.UsageError) as caught:
        face.map(["a"], **options)
    assert caught.value.message == why
    assert fake.requests == []


@pytest.mark.parametrize("inputs", [None, 5, "abc", b"abc", {"a": "b"}], ids=repr)
def test_one_input_alone_is_told(face: Face, inputs: Any) -> None:
    """Its letters are not asked one by one."""
    with (
        use(FakeModel("ok")) as fake,
        pytest.raises(il.UsageError, match=r"map takes several inputs, not .*; one alone"),
    ):
        face.map(inputs)
    assert fake.requests == []


def test_a_model_that_nobody_knows_is_raised(face: Face) -> None:
    """No item has to say what all would."""
    with pytest.raises(il.UnknownModelError):
        face.map(["a"], "nobody/x")


def test_ordered_or_as_they_are_finished() -> None:
    """A slow first input holds back the others only where the order is wanted."""
    late = threading.Event()

    def answer(request: il.Request) -> str:
        return request.messages[0].text

    class Slow(FakeModel):
        def answer(self, decoded: Any, request: Any) -> Any:
            if decoded.request.messages[0].text == "slow":
                late.wait(10)
            return super().answer(decoded, request)

    with use(Slow(answer)):
        keys: list[str] = []
        for item in il.model("fake/x").map(["slow", "b", "c"], ordered=False, concurrency=2):
            keys.append(item.key)
            if len(keys) == 2:
                late.set()
        assert keys == ["b", "c", "slow"]
        assert [item.key for item in il.model("fake/x").map(["slow", "b", "c"])] == ["slow", "b", "c"]


@pytest.mark.parametrize("ordered", [True, False])
def test_inputs_are_not_read_ahead_beyond_the_window(ordered: bool) -> None:
    """Of a million inputs as many are taken as may be under way; both faces."""
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield f"input {taken}"

    with use(FakeModel("ok")):
        items = il.model("fake/x").map(endless(), concurrency=3, ordered=ordered)
        for given in range(1, 40):
            next(items)
            assert taken <= given + window_of(3)
        items.close()
        assert taken <= 39 + window_of(3)

        async def run() -> None:
            nonlocal taken
            taken = 0
            async with aclosing(aio.model("fake/x").map(endless(), concurrency=3, ordered=ordered)) as awaited:
                for given in range(1, 40):
                    await anext(awaited)
                    assert taken <= given + window_of(3)

        asyncio.run(run())


def test_threads_end_with_the_iteration() -> None:
    """Leaving early waits for the calls under way; no thread is left, and what was under way is in the journal."""
    before = set(threading.enumerate())
    with use(FakeModel("ok")):
        items = il.model("fake/x").map((str(number) for number in range(1_000)), concurrency=8)
        next(items)
        assert set(threading.enumerate()) - before
        items.close()
    assert set(threading.enumerate()) <= before  # one of an earlier test may have ended


def test_no_more_than_concurrency_at_once(face: Face) -> None:
    """As many calls are under way as was said, and not one more."""
    now, most, lock = 0, 0, threading.Lock()

    def answer(request: il.Request) -> str:
        del request
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.001)
        with lock:
            now -= 1
        return "ok"

    with use(FakeModel(answer)):
        assert len(face.map([str(number) for number in range(50)], concurrency=4)) == 50
    assert 1 <= most <= 4


def test_what_the_inputs_raise_is_raised(face: Face, tmp_path: Path) -> None:
    """A generator that breaks is the caller's; what was finished until then is in the journal."""

    def broken() -> Iterator[str]:
        yield "a"
        yield "b"
        raise ZeroDivisionError("my generator")

    with use(FakeModel("ok")), pytest.raises(ZeroDivisionError, match="my generator"):
        face.map(broken(), journal=tmp_path / "j.jsonl", concurrency=1)
    assert {line["key"] for line in _lines(tmp_path / "j.jsonl")} <= {"a", "b"}


def test_awaited_inputs() -> None:
    """The awaited face takes an asynchronous iterable, too."""

    async def inputs() -> AsyncGenerator[str]:
        for text in ("a", "bb"):
            await asyncio.sleep(0)
            yield text

    async def run() -> list[Any]:
        return [item.output async for item in aio.model("fake/x").map(inputs(), output=Count)]

    with use(FakeModel(_length)):
        assert asyncio.run(run()) == [Count(1), Count(2)]


# The journal


def test_a_rerun_goes_on_from_the_journal(face: Face, tmp_path: Path) -> None:
    """What is finished is not asked again and comes typed; what failed stays failed; what is new is asked."""
    journal = tmp_path / "j.jsonl"
    with use(FakeModel(_length)) as fake:
        first = face.map(["a", "fail", "ccc"], output=Count, journal=journal)
        assert len(fake.requests) == 3
        again = face.map(["ccc", "new", "fail", "a"], output=Count, journal=str(journal))
        assert [request.messages[0].text for request in fake.requests[3:]] == ["new"]
    assert [(item.key, item.output, item.recorded) for item in again] == [
        ("ccc", Count(3), True),
        ("new", Count(3), False),
        ("fail", None, True),
        ("a", Count(1), True),
    ]
    assert again[3].text == first[0].text
    assert again[3].usage == first[0].usage
    error = again[2].error
    assert isinstance(error, il.RateLimitError)
    assert (error.message, error.status, error.retryable) == ("slow down", 429, True)
    assert len(_lines(journal)) == 4


def test_failed_inputs_are_tried_again_when_asked_for(face: Face, tmp_path: Path) -> None:
    """`retry_failed` asks for those alone; the later line holds from then on."""
    journal = tmp_path / "j.jsonl"
    with use(FakeModel(_length)):
        face.map(["a", "fail"], output=Count, journal=journal)
    with use(FakeModel('{"n": 7}')) as fake:
        items = face.map(["a", "fail"], output=Count, journal=journal, retry_failed=True)
        assert len(fake.requests) == 1
        assert [item.output for item in items] == [Count(1), Count(7)]
        assert [item.output for item in face.map(["a", "fail"], output=Count, journal=journal)] == [Count(1), Count(7)]
        assert len(fake.requests) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"output": Literal["x"]},
        {"temperature": 0.5},
        {"system": "Be terse."},
        {"strict": True},
        {"repair": "safe"},
        {"spec": "openai-chat/gpt-4.1-mini"},
        {"inputs": [[il.TextPart("a"), il.TextPart("b")]]},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_another_question_is_asked(tmp_path: Path, changed: dict[str, Any]) -> None:
    """Another schema, option, system text, model or input is another question; other time-outs and keys are not."""
    options: dict[str, Any] = {"inputs": ["a"], "spec": "openai-chat/gpt-4.1", "output": Count}
    face = Face(awaited=False)
    journal = tmp_path / "j.jsonl"
    with use(FakeModel('{"n": 1}')) as fake:
        face.map(**options, journal=journal)
        face.map(**options, journal=journal, timeout_s=5, key=str.upper, concurrency=2)
        assert len(fake.requests) == 1
        face.map(**(options | changed), journal=journal)
        assert len(fake.requests) == 2


def test_equal_inputs_are_each_asked_once(face: Face, tmp_path: Path) -> None:
    """Three times the same is three items and three lines; a rerun asks for none, a fourth is new."""
    journal = tmp_path / "j.jsonl"
    with use(FakeModel("ok")) as fake:
        face.map(["a"] * 3, journal=journal)
        assert len(face.map(["a"] * 4, journal=journal)) == 4
    assert len(fake.requests) == 4
    first, *others = sorted(line["id"] for line in _lines(journal))
    assert others == [f"{first}#{number}" for number in (2, 3, 4)]


def test_the_line_of_an_input(tmp_path: Path) -> None:
    """What a line holds: id, key, output, and the answer without the request; of a failure, the error."""
    journal = tmp_path / "j.jsonl"
    with use(FakeModel(_length)):
        Face(awaited=False).map(["a", "fail"], output=Count, journal=journal, concurrency=1)
    done, failed = _lines(journal)
    assert (done["journal"], done["key"], done["output"]) == (1, "a", {"n": 1})
    assert len(done["id"]) == 32
    assert "request" not in done["response"]
    assert done["response"]["model"] == "openai-chat/gpt-4.1"
    assert failed["error"] == {
        "type": "RateLimitError", "message": "slow down", "retryable": True, "status": 429,
        "target": "openai-chat/gpt-4.1",
    }  # fmt: skip
    assert "output" not in failed


def test_an_answer_that_did_not_fit_is_kept_with_its_answer(face: Face, tmp_path: Path) -> None:
    """The OutputError comes back with its fault and the text that it was about."""
    journal = tmp_path / "j.jsonl"
    with use(FakeModel("no json")):
        face.map(["a"], output=Count, journal=journal)
        [item] = face.map(["a"], output=Count, journal=journal)
    assert isinstance(item.error, il.OutputError)
    assert (item.error.fault, item.text, item.recorded) == ("invalid", "no json", True)


def test_a_bug_comes_back_as_an_error_with_its_name(tmp_path: Path) -> None:
    """What was no error of ours is one when it is read from the journal."""
    journal = tmp_path / "j.jsonl"

    def answer(request: il.Request) -> str:
        raise ZeroDivisionError("a bug")

    with use(FakeModel(answer)):
        Face(awaited=False).map(["a"], journal=journal)
        [item] = Face(awaited=False).map(["a"], journal=journal)
    assert type(item.error) is il.Error
    assert item.error.message == "ZeroDivisionError: a bug"


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_torn_last_line_is_cut_off(tmp_path: Path, cut: int) -> None:
    """A process that died while it wrote leaves half a line: that input is asked again, the others are not."""
    journal = tmp_path / "j.jsonl"
    with use(FakeModel("ok")) as fake:
        Face(awaited=False).map(["a", "b"], journal=journal, concurrency=1)
        whole = journal.read_bytes()
        journal.write_bytes(whole[:-cut])
        items = Face(awaited=False).map(["a", "b"], journal=journal, concurrency=1)
        assert [item.recorded for item in items] == [True, cut == 1]  # a line that only lacks its end is whole
        assert len(fake.requests) == (2 if cut == 1 else 3)
    assert [line["key"] for line in _lines(journal)] == ["a", "b"]


def test_a_journal_in_use_is_refused(face: Face, tmp_path: Path) -> None:
    """One writer at a time, in this process or another; when the first has ended, the second may."""
    journal = tmp_path / "j.jsonl"
    with use(FakeModel("ok")):
        with Journal(journal), pytest.raises(il.UsageError, match=r"j\.jsonl is in use by another map"):
            face.map(["a"], journal=journal)
        assert len(face.map(["a"], journal=journal)) == 1


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"my notes\n", "is not a journal: line 1 was not written by map; use another file"),
        (b'{"a": 1}\n', "is not a journal: line 1 was not written by map; use another file"),
        (b"my notes", "ends with something that no journal holds; give another file"),
        (b'{"journal":2,"id":"x"}\n', "is a journal of version 2 and this interlingua reads 1"),
    ],
)
def test_somebody_elses_file_is_left_as_it_is(tmp_path: Path, content: bytes, why: str) -> None:
    """A file that holds anything else is refused, and not a byte of it changes."""
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    with use(FakeModel("ok")), pytest.raises(il.UsageError) as caught:
        Face(awaited=False).map(["a"], journal=file)
    assert caught.value.message == f"{file} {why}"
    assert file.read_bytes() == content


def test_a_journal_that_cannot_be_written_ends_the_map(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that are paid for and not kept are no way to go on: this one is raised."""

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with use(FakeModel("ok")), monkeypatch.context() as broken:
        broken.setattr(os, "write", full)
        with pytest.raises(il.Error, match=r"j\.jsonl cannot be written: No space left on device"):
            Face(awaited=False).map(["a"], journal=tmp_path / "j.jsonl")


def _full_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the next write take five bytes and the one after it fail; later ones succeed."""
    write, answers = os.write, iter([5, None])

    def nearly_full(file: int, text: memoryview) -> int:
        most = next(answers, len(text))
        if most is None:
            raise OSError(28, "No space left on device")
        return write(file, text[:most])

    monkeypatch.setattr(os, "write", nearly_full)


def test_a_disk_that_was_full_leaves_no_torn_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that failed halfway leaves nothing: the next one is a line of its own, and the file stays readable."""
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        journal.add(Entry(journal=1, id="a", key="a"))
        _full_once(monkeypatch)
        with pytest.raises(il.Error, match=r"j\.jsonl cannot be written: No space left on device"):
            journal.add(Entry(journal=1, id="b", key="b"))
        assert journal.find("b") is None
        journal.add(Entry(journal=1, id="c", key="c"))
    assert path.read_bytes() == b'{"journal":1,"id":"a","key":"a"}\n{"journal":1,"id":"c","key":"c"}\n'
    with Journal(path) as journal:
        assert [journal.find(name) is not None for name in "abc"] == [True, False, True]


def test_a_torn_line_that_cannot_be_cut_off_ends_the_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written behind a part of a line; who opens the file next cuts it off."""

    def refused(*_: object) -> None:
        raise OSError(5, "Input/output error")

    path = tmp_path / "j.jsonl"
    with Journal(path) as journal, monkeypatch.context() as broken:
        _full_once(broken)
        broken.setattr(os, "ftruncate", refused)
        with pytest.raises(il.Error, match="No space left on device"):
            journal.add(Entry(journal=1, id="a", key="a"))
        with pytest.raises(il.Error, match="it ends with a part of a line"):
            journal.add(Entry(journal=1, id="b", key="b"))
    assert path.read_bytes() == b'{"jou'
    with Journal(path):
        assert path.read_bytes() == b""


@pytest.mark.skipif(sys.platform == "win32", reason="locks end with the file there")
def test_a_process_that_was_forked_holds_no_journal(tmp_path: Path) -> None:
    """A journal that was closed can be opened, although another process has the same open file, as a fork has."""
    with Journal(tmp_path / "j.jsonl") as journal:
        of_a_fork = os.dup(journal._file)
    try:
        with Journal(tmp_path / "j.jsonl") as journal:
            assert journal.find("a") is None
    finally:
        os.close(of_a_fork)


def test_a_line_of_a_batch_that_holds_none_names_the_file(tmp_path: Path) -> None:
    """A line with the id of a batch and nothing of it is an error with the name of the journal."""
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'{"journal":1,"id":"batch x"}\n')
    with pytest.raises(il.UsageError, match=r"j\.jsonl is not a journal: a line of a batch holds none"):
        read_batches(path)
    with Journal(path) as journal, pytest.raises(il.UsageError, match=r"j\.jsonl is not a journal"):
        journal.batches()


def test_a_type_that_takes_less_asks_again(tmp_path: Path) -> None:
    """What is kept and no longer fits the type, though its schema is the same, is asked again."""
    journal = tmp_path / "j.jsonl"
    with use(FakeModel('{"n": 1}')):
        Face(awaited=False).map(["a"], output=Count, journal=journal)
    text = journal.read_text().replace('"output":{"n":1}', '"output":{"n":"x"}')
    journal.write_text(text)
    with use(FakeModel('{"n": 2}')):
        [item] = Face(awaited=False).map(["a"], output=Count, journal=journal)
    assert (item.output, item.recorded) == (Count(2), False)


def test_unreadable_inputs_are_written_once(tmp_path: Path) -> None:
    """A file that cannot be read is one failed line, however often it is tried, until it can be."""
    journal, file = tmp_path / "j.jsonl", tmp_path / "a.txt"
    with use(FakeModel("ok")):
        for _ in range(2):
            [item] = Face(awaited=False).map(il.files(str(file)), journal=journal)
            assert isinstance(item.error, il.UsageError)
        assert len(_lines(journal)) == 1
        file.write_text("now")
        [item] = Face(awaited=False).map(il.files(str(file)), journal=journal)
    assert item.text == "ok"
    assert len(read_known(journal)) == 2
    assert read_known(tmp_path / "none.jsonl") == {}


def test_files_are_read_when_their_turn_comes(face: Face, tmp_path: Path) -> None:
    """Key and parts of each file; a file that makes no input is an error of its own."""
    (tmp_path / "a.txt").write_text("hello")
    (tmp_path / "b.png").write_bytes(PNG)
    (tmp_path / "c.bin").write_bytes(b"\x00\x01")
    with use(FakeModel("ok")) as fake:
        items = face.map(il.files(f"{tmp_path}/*"), concurrency=1)
    assert [Path(item.key).name for item in items] == ["a.txt", "b.png", "c.bin"]
    assert [request.messages[0].parts for request in fake.requests] == [
        (il.TextPart("hello"),),
        (il.ImagePart(PNG, "image/png"),),
    ]
    assert isinstance(items[2].error, il.UsageError)
