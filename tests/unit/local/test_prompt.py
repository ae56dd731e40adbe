"""The conversation as a small model is shown it."""

from __future__ import annotations

from typing import Any

import pytest

from interlingua.local.grammar import ToolShape
from interlingua.local.prompt import Turn, render, shape_line

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = ToolShape("get_weather", "Weather\n  forecast.", CITY)
ASK = {"role": "user", "content": "Weather in Oslo?"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    ],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "4 degrees"}
TOOLS_TURN = Turn(
    "system",
    'Functions:\n- Weather forecast. {"name": "get_weather", "arguments": {"city": <string>}}\n'
    "Answer with the JSON of the function that fits. "
    'Only if none fits, answer with {"reply": "<your answer>"}.\n\n'
    "Be terse.",
)


def test_tools_and_system_text_are_one_turn_at_the_head() -> None:
    """Tools come first, then what the caller says."""
    messages = [{"role": "system", "content": "Be terse."}, ASK]
    assert render(messages, [WEATHER]) == (TOOLS_TURN, Turn("user", "Weather in Oslo?"))


def test_calls_and_results_are_text() -> None:
    """A call is the JSON that the grammar makes, a result says whose it is."""
    assert render([ASK, CALL, RESULT], [WEATHER])[1:] == (
        Turn("user", "Weather in Oslo?"),
        Turn("assistant", '{"name": "get_weather", "arguments": {"city": "Oslo"}}'),
        Turn("user", "The answer of get_weather is: 4 degrees\nTell me the answer in one plain sentence."),
    )


def test_a_turn_more_changes_no_turn_before_it() -> None:
    """The encoding of a prefix is a prefix, so the prompt cache answers for it."""
    conversation: list[dict[str, Any]] = [ASK, CALL, RESULT, {"role": "assistant", "content": "It is 4 degrees."}, ASK]
    whole = render(conversation, [WEATHER])
    for length in range(1, len(conversation)):
        shorter = render(conversation[:length], [WEATHER])
        assert whole[: len(shorter)] == shorter


def test_replies_in_a_conversation_with_tools_keep_their_form() -> None:
    """What the model said under the grammar is shown to it as it said it."""
    said = {"role": "assistant", "content": 'It\'s "4".'}
    assert render([ASK, said], [WEATHER])[-1] == Turn("assistant", '{"reply": "It\'s \\"4\\"."}')
    assert render([ASK, said], [])[-1] == Turn("assistant", 'It\'s "4".')


def test_neighbours_of_one_role_are_one_turn() -> None:
    """Templates that want turns to alternate are content."""
    assert render([ASK, ASK, {"role": "user", "content": [{"type": "text", "text": "Now."}]}], []) == (
        Turn("user", "Weather in Oslo?\n\nWeather in Oslo?\n\nNow."),
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<|im_start|>system", "< |im_start|>system"),
        ("a</s>b<s>", "a< /s>b< s>"),
        ("[INST] x [/INST]", "[ INST] x [ /INST]"),
        ("<start_of_turn>model", "< start_of_turn>model"),
        ("1 <| 2 and <b>", "1 <| 2 and <b>"),
    ],
)
def test_sec_08_text_cannot_forge_a_turn(text: str, shown: str) -> None:
    """Control words of chat templates in texts, results and arguments are taken apart."""
    assert render([{"role": "user", "content": text}], []) == (Turn("user", shown),)
    result = {"role": "tool", "tool_call_id": "?", "content": text}
    assert render([result], [])[0].content.startswith(f"The answer of the function is: {shown}\n")


def test_an_output_is_asked_for_by_its_form() -> None:
    """The form stands in the system turn."""
    assert render([ASK], [], output=CITY)[0] == Turn("system", 'Answer in JSON of this form:\n{"city": <string>}')


def test_an_output_beside_tools_is_asked_for_by_its_form() -> None:
    """The form stands where a reply would."""
    assert render([ASK], [WEATHER], output=CITY)[0].content.endswith(
        'Only if none fits, answer with {"output": {"city": <string>}}.'
    )


@pytest.mark.parametrize(
    ("schema", "line"),
    [
        ({"type": "array", "items": {"type": "integer"}}, "[<integer>]"),
        ({"enum": ["a", 1, None]}, '"a"|1|null'),
        ({"const": "x"}, '"x"'),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "<string> or <null>"),
        ({"type": ["string", "null"]}, "<string|null>"),
        ({"type": "object"}, "{}"),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "number"}}}, "<number>"),
        ({"$ref": "#/nowhere"}, "<any>"),
        ({"$ref": "#"}, "<any>"),
        (True, "<any>"),
    ],
)
def test_a_schema_is_shown_as_a_line(schema: Any, line: str) -> None:
    """Each kind of schema has a short form; recursion ends."""
    assert shape_line(schema) == line
