from __future__ import annotations

import copy
import pickle

import pytest

from interlingua.compat.body import Body
from interlingua.compat.chat import ChatCompletion, Message
from interlingua.compat.responses import ResponseObject

ANSWER = {
    "id": "chatcmpl-1",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "Hi", "refusal": None}, "finish_reason": "stop"}
    ],
    "usage": {
        "prompt_tokens": 3,
        "completion_tokens": 1,
        "total_tokens": 4,
        "prompt_tokens_details": {"cached_tokens": 2},
    },
    "odd": {"items": [1], "name": None},
}


def test_members_are_attributes_and_items() -> None:
    """Whatever the SDK's and LiteLLM's users write finds the member."""
    answer = ChatCompletion(ANSWER)
    assert answer.choices[0].message.content == "Hi"
    assert answer["choices"][0]["message"]["content"] == "Hi"
    assert answer.usage is not None
    assert answer.usage.prompt_tokens_details is not None
    assert answer.usage.prompt_tokens_details.cached_tokens == 2
    assert answer.get("nothing", 7) == 7
    assert "id" in answer
    assert {**answer.choices[0].message} == {"role": "assistant", "content": "Hi", "refusal": None}


def test_a_declared_member_that_is_not_there_is_none() -> None:
    """As an attribute; as an item it is missing, and an unknown name is an AttributeError."""
    message = ChatCompletion(ANSWER).choices[0].message
    assert message.tool_calls is None
    with pytest.raises(KeyError):
        message["tool_calls"]
    with pytest.raises(AttributeError, match="Message has no 'contents'"):
        _ = message.contents  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]  # the point


def test_unknown_objects_stay_dicts() -> None:
    """A schema that has members called `items` or `name` is not to be looked into."""
    assert type(ChatCompletion(ANSWER)["odd"]) is dict


def test_dumps_are_copies_of_the_wire() -> None:
    """`to_dict` and `model_dump` give the members as they came; without nulls only if that is asked for."""
    answer = ChatCompletion(copy.deepcopy(ANSWER))
    dumped = answer.to_dict()
    assert dumped == answer.model_dump() == ANSWER
    dumped["choices"].clear()
    assert answer.to_dict() == ANSWER
    assert answer.choices[0].message.model_dump(exclude_none=True) == {"role": "assistant", "content": "Hi"}
    assert answer.choices[0].message.model_dump_json() == '{"role":"assistant","content":"Hi","refusal":null}'
    assert answer.to_json().startswith('{"id":"chatcmpl-1"')


def test_bodies_are_values() -> None:
    """Equal members are equal, also to a dict; a copy is another object; an empty body is still an answer."""
    first, second = Message({"role": "assistant"}), Message({"role": "assistant"})
    assert first == second == {"role": "assistant"}
    assert first != Message({"role": "user"})
    assert copy.deepcopy(first) == copy.copy(first) == pickle.loads(pickle.dumps(first)) == first
    assert bool(Body({}))
    assert repr(first) == "Message(role='assistant')"
    with pytest.raises(TypeError):
        hash(first)


def test_the_text_of_a_response() -> None:
    """`output_text` is the text of all messages, without thoughts and refusals."""
    said = {"type": "message", "content": [{"type": "output_text", "text": "Hi"}, {"type": "refusal", "refusal": "no"}]}
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    response = ResponseObject({"id": "resp_1", "output": [thought, said, said]})
    assert response.output_text == "HiHi"
    assert response.output[0].summary[0].text == "hm"
    assert (response.interlingua, response.changes) == (None, ())
