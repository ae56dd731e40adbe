from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

import interlingua as il
from interlingua.cli.main import main
from interlingua.testing import FakeModel, tool_call, use

Capture = pytest.CaptureFixture[str]

TOOLS = '''
def get_weather(city: str) -> dict:
    """Weather for a city."""
    return {"city": city, "celsius": 4}

def fail(reason: str) -> str:
    """Fails."""
    raise ValueError(reason)

def _hidden() -> None: ...
'''

TYPES = """
from dataclasses import dataclass

@dataclass
class Invoice:
    number: str
    total: float
"""


def _png() -> bytes:
    """One grey pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0\x80")) + chunk(b"IEND", b"")


def _said(fake: FakeModel, place: int = -1) -> str:
    return fake.last_request.messages[place].text


@pytest.fixture
def ask() -> Callable[..., int]:
    """`il ask` with a model."""
    return lambda *arguments: main(["ask", "-m", "fake/x", *arguments])


def test_the_answer_is_streamed_to_stdout(ask: Callable[..., int], capsys: Capture) -> None:
    """Words of the prompt are joined; the text comes with one line end; nothing else is said."""
    with use(["It is cold."]) as fake:
        assert ask("How", "is", "Oslo?") == 0
    assert capsys.readouterr() == ("It is cold.\n", "")
    assert _said(fake) == "How is Oslo?"


def test_words_may_stand_around_options(capsys: Capture) -> None:
    """Words before, between and behind options belong to one prompt."""
    with use(["Yes."]) as fake:
        assert main(["ask", "one", "-m", "fake/x", "two", "-q", "three", "--", "-4"]) == 0
    assert _said(fake) == "one two three -4"


def test_no_stream_gives_the_same(ask: Callable[..., int], capsys: Capture) -> None:
    """Waiting for the whole answer changes nothing of what is written."""
    with use(["It is cold."]):
        assert ask("Oslo?", "--no-stream") == 0
    assert capsys.readouterr().out == "It is cold.\n"


def test_a_pipe_is_put_behind_the_prompt(
    ask: Callable[..., int], capsys: Capture, pipe: Callable[[bytes], None]
) -> None:
    """What stdin holds follows the question after a blank line."""
    pipe(b"error: disk full\n")
    with use(["The disk."]) as fake:
        assert ask("What failed?") == 0
    assert _said(fake) == "What failed?\n\nerror: disk full"


def test_a_pipe_alone_is_the_prompt(ask: Callable[..., int], pipe: Callable[[bytes], None]) -> None:
    """Without words, stdin is the prompt; its byte order mark is none of it."""
    pipe(b"\xef\xbb\xbfHello")
    with use(["Hi."]) as fake:
        assert ask() == 0
    assert _said(fake) == "Hello"


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        ("\u00e9t\u00e9\r\n".encode("utf-16"), "\u00e9t\u00e9", ""),
        (b"\xfe\xff\x00H\x00i", "Hi", ""),
        (b"one\r\ntwo\r\n", "one\r\ntwo", ""),
        (b"\xe9t\xe9\n", "\ufffdt\ufffd", "il: stdin is no text in UTF-8, and 2 of its characters were replaced\n"),
        (b"\xff\xfea", "\ufffd\ufffda", "il: stdin is no text in UTF-8, and 2 of its characters were replaced\n"),
    ],
)
def test_text_in_another_encoding(
    ask: Callable[..., int], capsys: Capture, pipe: Callable[[bytes], None], data: bytes, text: str, note: str
) -> None:
    """Windows writes UTF-16; bytes that are no text at all are replaced, and not in silence."""
    pipe(data)
    with use(["Yes."]) as fake:
        assert ask() == 0
    assert _said(fake) == text
    assert capsys.readouterr().err == note


def test_a_piped_image_is_an_image(ask: Callable[..., int], pipe: Callable[[bytes], None]) -> None:
    """Bytes that are an image become a part."""
    pipe(_png())
    with use(["Grey."]) as fake:
        assert ask("What is this?") == 0
    kinds = [type(part) for part in fake.last_request.messages[0].parts]
    assert kinds == [il.TextPart, il.ImagePart]


def test_nothing_to_ask(ask: Callable[..., int], capsys: Capture) -> None:
    """No words, no pipe: exit 2."""
    assert ask() == 2
    assert capsys.readouterr().err == "il: nothing to ask: give a prompt, or pipe one in\n"


def test_no_model_names_what_there_is(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without -m and INTERLINGUA_MODEL, the error lists what is ready here."""
    monkeypatch.setenv("LLM_SMART", "fake/echo")
    monkeypatch.setenv("GROQ_API_KEY", "gsk_abcdefghijklmnop")
    assert main(["ask", "Hi"]) == 2
    assert capsys.readouterr().err == (
        "il: no model: give -m SPEC or set INTERLINGUA_MODEL; ready here: smart, groq/MODEL\n"
    )


def test_no_model_and_nothing_ready(capsys: Capture) -> None:
    """Where nothing is configured, it says what could be."""
    assert main(["ask", "Hi"]) == 2
    assert capsys.readouterr().err == (
        "il: no model: give -m SPEC or set INTERLINGUA_MODEL; such as openai/MODEL with OPENAI_API_KEY set, "
        "or local/tiny after `il models pull tiny`\n"
    )


def test_the_variable_names_the_model(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """INTERLINGUA_MODEL stands in for -m."""
    monkeypatch.setenv("INTERLINGUA_MODEL", "fake/echo")
    assert main(["ask", "Hi"]) == 0
    assert capsys.readouterr().out == "This is the fake of interlingua, not a model. It was told: Hi\n"


def test_knobs_reach_the_request(ask: Callable[..., int]) -> None:
    """Every knob of the command line is one of the request; --option takes the others, as JSON or as text."""
    with use(["Hi."]) as fake:
        assert (
            ask(
                "Hi", "-s", "Be terse.", "--max-tokens", "9", "--temperature", "0.5", "--effort", "low",
                "--option", "seed=7", "--option", "stop=END", "--option", "top-p=0.9",
            )
            == 0
        )  # fmt: skip
    request = fake.last_request
    assert [part.text for part in request.system] == ["Be terse."]
    assert (request.max_tokens, request.temperature, request.effort) == (9, 0.5, "low")
    assert (request.seed, request.stop, request.top_p) == (7, ("END",), 0.9)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("sead=7", "il: no option 'sead'; did you mean 'seed'?\n"),
        ("seed", "il: --option seed: write KEY=VALUE, as in seed=7\n"),
        ("seed=x", "il: seed takes a whole number, not 'x'\n"),
    ],
)
def test_a_wrong_option_is_refused(ask: Callable[..., int], capsys: Capture, option: str, said: str) -> None:
    """An option that is none is one line and exit 2."""
    assert ask("Hi", "--option", option) == 2
    assert capsys.readouterr().err == said


def test_images_and_files_become_parts(ask: Callable[..., int], tmp_path: Path) -> None:
    """Each file is a part of its kind, before the words."""
    (tmp_path / "a.png").write_bytes(_png())
    (tmp_path / "b.md").write_text("# Title\n", encoding="utf-8")
    with use(["Both."]) as fake:
        assert ask("What are these?", "--image", "a.png", "--file", "b.md") == 0
    kinds = [type(part) for part in fake.last_request.messages[0].parts]
    assert kinds == [il.ImagePart, il.DocumentPart, il.TextPart]


def test_a_missing_image(ask: Callable[..., int], capsys: Capture) -> None:
    """A file that is not there is one line and exit 2."""
    assert ask("Hi", "--image", "none.png") == 2
    assert capsys.readouterr().err == "il: the file none.png cannot be read: No such file or directory\n"


def test_tools_run_until_the_model_answers(ask: Callable[..., int], capsys: Capture, tmp_path: Path) -> None:
    """Calls and results are told on stderr; the answer alone is on stdout."""
    (tmp_path / "mytools.py").write_text(TOOLS, encoding="utf-8")
    with use([tool_call("get_weather", city="Oslo"), "It is 4 degrees."]) as fake:
        assert ask("Weather?", "--tool", "mytools.py:get_weather") == 0
    assert capsys.readouterr() == (
        "It is 4 degrees.\n",
        '→ get_weather({"city":"Oslo"})\n← get_weather: {"city":"Oslo","celsius":4}\n',
    )
    assert [message.role for message in fake.last_request.messages] == ["user", "assistant", "tool"]


def test_a_failing_tool_is_told_to_both(ask: Callable[..., int], capsys: Capture, tmp_path: Path) -> None:
    """The model reads that it failed; the person reads why; there is no traceback."""
    (tmp_path / "mytools.py").write_text(TOOLS, encoding="utf-8")
    with use([tool_call("fail", reason="no disk"), "It failed."]):
        assert ask("Go", "--tool", "mytools.py") == 0
    assert capsys.readouterr() == (
        "It failed.\n",
        """\
→ fail({"reason":"no disk"})
il: tool fail failed: ValueError: no disk
← fail failed: tool fail failed with an internal error
""",
    )


def test_tools_are_bounded(ask: Callable[..., int], capsys: Capture, tmp_path: Path) -> None:
    """A model that calls for ever is stopped after ten answers, with exit 1."""
    (tmp_path / "mytools.py").write_text(TOOLS, encoding="utf-8")
    with use(tool_call("get_weather", city="Oslo")) as fake:
        assert ask("Weather?", "--tool", "mytools.py:get_weather", "-q") == 1
    assert len(fake.requests) == 10
    assert capsys.readouterr().err == "il: fake/x still calls tools after 10 answers; nothing more was run\n"


def test_a_type_gives_json(ask: Callable[..., int], capsys: Capture, tmp_path: Path) -> None:
    """--schema prints the typed value as JSON and nothing else."""
    (tmp_path / "types_of_mine.py").write_text(TYPES, encoding="utf-8")
    with use(['{"number": "7", "total": 12.5}']):
        assert ask("Read this.", "--schema", "types_of_mine:Invoice") == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {"number": "7", "total": 12.5}
    assert err == ""


def test_a_schema_file_gives_json(ask: Callable[..., int], capsys: Capture, tmp_path: Path) -> None:
    """A JSON Schema in a file does as well."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    (tmp_path / "s.json").write_text(json.dumps(schema), encoding="utf-8")
    with use(['{"n": 3}']) as fake:
        assert ask("Count.", "--schema", "s.json") == 0
    assert json.loads(capsys.readouterr().out) == {"n": 3}
    assert fake.last_request.output_schema == schema


def test_an_answer_that_is_repaired(ask: Callable[..., int], capsys: Capture, tmp_path: Path) -> None:
    """--repair mends it, or sends the problems back; without it the same answer does not fit."""
    (tmp_path / "types_of_mine.py").write_text(TYPES, encoding="utf-8")
    nearly = "{'number': '7', 'total': '12.5'}"
    with use([nearly, "I cannot.", nearly, nearly]) as fake:
        assert ask("Read this.", "--schema", "types_of_mine:Invoice", "--repair", "safe", "-q") == 0
        assert ask("Read this.", "--schema", "types_of_mine:Invoice", "--repair", "ask", "-q") == 0
        assert ask("Read this.", "--schema", "types_of_mine:Invoice", "-q") == 3
    assert len(fake.requests) == 4
    assert capsys.readouterr().out == 2 * '{\n  "number": "7",\n  "total": 12.5\n}\n'


def test_an_answer_that_does_not_fit(ask: Callable[..., int], capsys: Capture, tmp_path: Path) -> None:
    """An answer that is no value of the type ends with 3 and prints nothing to stdout."""
    (tmp_path / "types_of_mine.py").write_text(TYPES, encoding="utf-8")
    with use(["I cannot."]):
        assert ask("Read this.", "--schema", "types_of_mine.py:Invoice") == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("il: fake/x gave no Invoice: ")


def test_json_is_canonical(ask: Callable[..., int], capsys: Capture) -> None:
    """--json prints the whole response, which `il.load` reads."""
    with use(["Hi."]):
        assert ask("Hello", "--json") == 0
    loaded = il.load(capsys.readouterr().out)
    assert isinstance(loaded, il.Response)
    assert loaded.text == "Hi."


def test_usage_goes_to_stderr(ask: Callable[..., int], capsys: Capture) -> None:
    """--usage tells the counts and who served."""
    with use(["Hi."]):
        assert ask("Hello", "--usage") == 0
    err = capsys.readouterr().err
    assert err.startswith("usage: ")
    assert err.endswith(" output tokens; fake/x\n")


def test_thinking_goes_to_stderr(ask: Callable[..., int], capsys: Capture) -> None:
    """--thinking shows the thinking, apart from the answer; without it, it is left out."""
    answer = [il.ThinkingPart("Cold, I think."), "It is cold."]
    with use([answer, answer, answer]):
        assert ask("Oslo?", "-q", "--thinking", "--option", 'extra={"openai-chat":{}}') == 0
        assert capsys.readouterr() == ("It is cold.\n", "Cold, I think.\n")
        assert ask("Oslo?", "-q", "--thinking", "--no-stream") == 0
        assert capsys.readouterr() == ("It is cold.\n", "Cold, I think.\n")
        assert ask("Oslo?", "-q") == 0
        assert capsys.readouterr() == ("It is cold.\n", "")


def test_changes_are_told_once(capsys: Capture) -> None:
    """What translation dropped is a line on stderr; --quiet leaves it out."""
    with use(["Hi.", "Hi."]):
        assert main(["ask", "-m", "openai/o3", "Hi", "--temperature", "0.5"]) == 0
        err = capsys.readouterr().err
        assert err.startswith("il: dropped /temperature: ")
        assert err.count("\n") == 1
        assert main(["ask", "-m", "openai/o3", "Hi", "--temperature", "0.5", "-q"]) == 0
        assert capsys.readouterr().err == ""


def test_strict_refuses_instead(capsys: Capture) -> None:
    """--strict makes a drop an error."""
    with use(["Hi."]):
        assert main(["ask", "-m", "openai/o3", "Hi", "--temperature", "0.5", "--strict"]) == 2
    assert "temperature" in capsys.readouterr().err


def test_a_refusal_is_told(ask: Callable[..., int], capsys: Capture) -> None:
    """A model that refuses has failed, and its words are shown."""
    with use([il.RefusalPart("I may not.")]):
        assert ask("Do it.") == 1
    assert capsys.readouterr() == ("", "il: the model refused: I may not.\n")


def test_a_cut_answer_is_told(ask: Callable[..., int], capsys: Capture) -> None:
    """An answer at its length limit is written, and said to be cut."""
    with use([il.Response(parts=(il.TextPart("Once upon"),), finish_reason="length")]):
        assert ask("Story") == 0
    assert capsys.readouterr() == (
        "Once upon\n",
        "il: the answer was cut by the length limit; a higher --max-tokens lets it continue\n",
    )


def test_continue_goes_on(ask: Callable[..., int], capsys: Capture) -> None:
    """-c brings the conversation, its system text and its model along."""
    with use(["It is cold.", "Because of the north."]) as fake:
        assert ask("Oslo?", "-s", "Be terse.") == 0
        assert main(["ask", "-c", "And why?"]) == 0
    request = fake.last_request
    assert [part.text for part in request.system] == ["Be terse."]
    assert [message.text for message in request.messages] == ["Oslo?", "It is cold.", "And why?"]
    assert fake.models == ["fake/x", "fake/x"]


def test_continue_without_a_conversation(ask: Callable[..., int], capsys: Capture) -> None:
    """Nothing to go on with is one line and exit 2."""
    assert ask("-c", "And?") == 2
    assert capsys.readouterr().err == "il: there is no conversation to continue; ask without -c first\n"


def test_a_failure_keeps_the_conversation_before(ask: Callable[..., int], capsys: Capture) -> None:
    """Only an answer replaces what -c goes on with."""
    with use(["First.", il.RateLimitError("slow down"), "Third."]) as fake:
        assert ask("One") == 0
        assert ask("Two") == 1
        assert ask("-c", "Three") == 0
    assert [message.text for message in fake.last_request.messages] == ["One", "First.", "Three"]


def test_results_are_told_by_their_kind(ask: Callable[..., int], capsys: Capture, tmp_path: Path) -> None:
    """Text as it is, media by its name, and long ones cut short."""
    (tmp_path / "shows.py").write_text(
        "import interlingua as il\n"
        "def show() -> list:\n"
        "    return ['here:', il.DocumentPart(b'x', 'text/plain')]\n"
        "def talk() -> str:\n"
        "    return 'word ' * 100\n",
        encoding="utf-8",
    )
    with use([[tool_call("show"), tool_call("talk")], "Done."]):
        assert ask("Show", "--tool", "shows.py") == 0
    err = capsys.readouterr().err
    assert "← show: here:, DocumentPart\n" in err
    assert f"← talk: {'word ' * 40}…\n" in err


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("Try this:\n\n```sh\nls | wc -l\n```\n\nor\n\n```\nfind\n```", "ls | wc -l\n"),
        ("~~~~\n```\nx\n```\n~~~~", "```\nx\n```\n"),
        ("```\n```", "\n"),
        ("no block", "no block\n"),
    ],
)
def test_x_gives_the_first_code_block(ask: Callable[..., int], capsys: Capture, answer: str, code: str) -> None:
    """Without its fence and without the words around it; without a block, the whole answer."""
    with use(answer):
        assert ask("How?", "-x") == 0
    assert capsys.readouterr().out == code


def test_fields_are_schema_enough(ask: Callable[..., int], capsys: Capture) -> None:
    """Names, types, lists and descriptions; a type that is none is said."""
    with use('{"name": "Kari", "age": 7, "tags": ["a"]}') as fake:
        assert ask("Invent.", "--schema", "name\nage int: in years, whole\ntags str[]") == 0
        assert ask("Invent.", "--schema", "name, age integer") == 2
    assert fake.last_request.output_schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "age": {"type": "integer", "description": "in years, whole"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["name", "age", "tags"],
        "additionalProperties": False,
    }
    error = "il: --schema: age integer is no field; write a name and str, int, float, bool, as in 'name, age int'\n"
    assert capsys.readouterr().err.endswith(error)
