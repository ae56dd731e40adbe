"""What Ollama's clients ask, as it is understood and sent again."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from interlingua.dialects._contract import DecodeOptions, EncodeOptions, Facts, Quirks, Target
from interlingua.dialects.table import get_dialect
from interlingua.errors import DecodeError, UnsupportedError, UsageError
from interlingua.types.content import (
    AudioPart,
    Citation,
    DocumentPart,
    ImagePart,
    OpaquePart,
    Sealed,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResult,
)
from interlingua.types.message import Message, assistant, system, user
from interlingua.types.request import Request
from interlingua.types.tool import AllowedTools, Freeform, NamedTool, OpaqueTool, Tool
from interlingua.wire.http import HttpRequest
from tests.support.ollama import codes, decode, encode, quirky, wire

PNG = b"\x89PNG\r\n\x1a\n"
PNG_TEXT = "iVBORw0KGgo="
SCHEMA = {"type": "object", "properties": {"time": {"type": "string"}}, "required": ["time"]}
LOOK = Tool(name="look", description="Looks.", parameters=SCHEMA)
WIRE_LOOK = {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": SCHEMA}}
HI = {"role": "user", "content": "Hi"}


def test_everything_at_once_is_understood() -> None:
    """Every member of a request has its place in the canonical one."""
    body: dict[str, Any] = {
        "messages": [
            {"role": "system", "content": "Help."},
            {"role": "user", "content": "Look", "images": [PNG_TEXT]},
            {"role": "assistant", "content": "Well", "thinking": "Hm"},
            {"role": "user", "content": "So?"},
        ],
        "tools": [WIRE_LOOK],
        "think": "high",
        "format": SCHEMA,
        "options": {"temperature": 0, "num_ctx": 16384, "num_predict": 10, "seed": 1, "top_k": 5, "stop": ["END"]},
        "keep_alive": "5m",
        "stream": False,
        "logprobs": True,
        "top_logprobs": 2,
        "x_new": 1,
    }
    decoded = decode(body)
    assert (decoded.model, decoded.stream, decoded.changes) == ("m", False, ())
    assert decoded.request == Request(
        system=(TextPart("Help."),),
        messages=(
            user("Look", ImagePart(PNG, "image/png")),
            assistant(ThinkingPart("Hm"), "Well"),
            user("So?"),
        ),
        tools=(LOOK,),
        effort="high",
        output_schema=SCHEMA,
        temperature=0,
        max_tokens=10,
        seed=1,
        top_k=5,
        stop=("END",),
        logprobs=2,
        extra={"ollama": {"x_new": 1, "keep_alive": "5m", "options": {"num_ctx": 16384}}},
    )
    again = wire(decoded.request)
    assert again == {name: value for name, value in body.items() if name != "stream"}


def test_the_default_is_a_stream() -> None:
    """`stream` is true unless it says false, and is always sent."""
    assert decode({"messages": [HI]}).stream
    assert decode({"messages": [HI], "stream": None}).stream
    assert b'"stream":true' in encode(Request(), EncodeOptions(stream=True)).body
    assert b'"stream":false' in encode(Request()).body


@pytest.mark.parametrize(
    ("think", "thinking", "effort"),
    [(True, True, None), (False, False, None), ("low", None, "low"), ("max", None, "max"), (None, None, None)],
)
def test_thinking_is_on_or_off_or_has_degrees(think: Any, thinking: bool | None, effort: str | None) -> None:
    """`think` is a flag or a word, and comes back as it was."""
    request = decode({"messages": [HI], "think": think}).request
    assert (request.thinking, request.effort) == (thinking, effort)
    assert wire(request).get("think") == think


def test_a_word_for_thinking_that_nobody_knows_passes_through() -> None:
    """It stays a member."""
    request = decode({"messages": [HI], "think": "extreme"}).request
    assert (request.effort, request.extra) == (None, {"ollama": {"think": "extreme"}})
    assert wire(request)["think"] == "extreme"


@pytest.mark.parametrize(
    ("asked", "think", "entries"),
    [
        (Request(effort="none"), False, []),
        (Request(effort="minimal"), "low", ["parameter_adjusted /effort"]),
        (Request(effort="xhigh"), "high", ["parameter_adjusted /effort"]),
        (Request(effort="medium", thinking=True), "medium", []),
        (Request(effort="medium", thinking=False), False, ["parameter_unsupported /effort"]),
        (Request(thinking_budget=9), None, ["parameter_unsupported /thinking_budget"]),
    ],
)
def test_effort_takes_the_nearest_word(asked: Request, think: Any, entries: list[str]) -> None:
    """What the wire has no word for is recorded."""
    encoded = encode(asked)
    assert wire(asked).get("think") == think
    assert codes(encoded.changes) == entries


def test_a_server_without_degrees_gets_none() -> None:
    """The quirk drops the effort with an entry."""
    encoded = encode(Request(effort="low"), quirky(effort_field="none"))
    assert codes(encoded.changes) == ["parameter_unsupported /effort"]
    assert b"think" not in encoded.body


@pytest.mark.parametrize(
    "options",
    [
        {"num_predict": -1},
        {"seed": -1},
        {"temperature": "0.5"},
        {"top_k": 1.5},
        {"stop": [1]},
        {"num_predict": True},
        {"mirostat": 2},
    ],
)
def test_options_that_mean_nothing_elsewhere_stay_options(options: dict[str, Any]) -> None:
    """No limit, a random seed and wrong types are members of this dialect alone."""
    request = decode({"messages": [HI], "options": options}).request
    assert request == Request(messages=(user("Hi"),), extra={"ollama": {"options": options}})
    assert wire(request)["options"] == options


def test_knobs_the_wire_does_not_know_are_dropped_with_an_entry() -> None:
    """None of them is sent."""
    asked = Request(
        logit_bias={"1": 1.0},
        verbosity="low",
        service_tier="flex",
        user="u",
        metadata={"a": "b"},
        store=True,
        cache_key="k",
        cache="5m",
        parallel_tool_calls=False,
        schema_strict=True,
    )
    assert wire(asked) == {"messages": []}
    assert sorted(codes(encode(asked).changes)) == [
        "cache_unsupported /cache",
        "parameter_unsupported /cache_key",
        "parameter_unsupported /logit_bias",
        "parameter_unsupported /metadata",
        "parameter_unsupported /parallel_tool_calls",
        "parameter_unsupported /service_tier",
        "parameter_unsupported /store",
        "parameter_unsupported /user",
        "parameter_unsupported /verbosity",
        "strict_unsupported /schema_strict",
    ]


def test_knobs_that_the_server_or_the_model_does_not_take_are_dropped() -> None:
    """By its quirks and by the facts of the model."""
    target = Target(quirks=Quirks(unsupported=frozenset({"seed"})), facts=Facts(sampling=False))
    asked = Request(seed=1, temperature=1.0, max_tokens=5)
    assert wire(asked, EncodeOptions(target=target)) == {"messages": [], "options": {"num_predict": 5}}
    entries = codes(encode(asked, EncodeOptions(target=target)).changes)
    assert entries == ["parameter_unsupported /temperature", "parameter_unsupported /seed"]


def test_more_than_one_choice_is_refused() -> None:
    """One is what there is."""
    with pytest.raises(UnsupportedError, match="one choice"):
        encode(Request(n=2))
    assert codes(encode(Request(n=1)).changes) == []


# Tool choice


def test_cho_02_none_withholds_the_tools() -> None:
    """There is no other way to forbid calls."""
    asked = Request(tools=(LOOK,), tool_choice="none")
    assert wire(asked) == {"messages": []}
    assert codes(encode(asked).changes) == ["tools_withheld /tools/0"]


@pytest.mark.parametrize("choice", [None, "auto"])
def test_cho_auto_is_what_the_server_does(choice: Any) -> None:
    """Nothing is said, nothing is lost."""
    asked = Request(tools=(LOOK,), tool_choice=choice)
    assert wire(asked) == {"messages": [], "tools": [WIRE_LOOK]}
    assert codes(encode(asked).changes) == []


def test_cho_required_is_best_effort() -> None:
    """The tools go, the choice does not."""
    asked = Request(tools=(LOOK,), tool_choice="required")
    assert wire(asked) == {"messages": [], "tools": [WIRE_LOOK]}
    assert codes(encode(asked).changes) == ["tool_choice_approximated /tool_choice"]


@pytest.mark.parametrize("choice", [NamedTool("look"), AllowedTools(("look",)), AllowedTools(("look",), "required")])
def test_cho_a_named_tool_or_a_subset_is_a_filter(choice: Any) -> None:
    """The other tools stay away, each with an entry."""
    asked = Request(tools=(Tool(name="other"), LOOK), tool_choice=choice)
    assert wire(asked) == {"messages": [], "tools": [WIRE_LOOK]}
    assert codes(encode(asked).changes) == ["tools_withheld /tools/0", "tool_choice_approximated /tool_choice"]


def test_a_choice_of_a_tool_that_is_not_there_is_the_callers_fault() -> None:
    """It is named."""
    with pytest.raises(UsageError, match="'gone'"):
        encode(Request(tools=(LOOK,), tool_choice=NamedTool("gone")))


# Tools


def test_a_tool_always_has_parameters() -> None:
    """The server's type insists on them; a tool without takes an empty object."""
    assert wire(Request(tools=(Tool(name="go"),)))["tools"] == [
        {"type": "function", "function": {"name": "go", "parameters": {"type": "object", "properties": {}}}}
    ]
    assert decode({"messages": [HI], "tools": [{"function": {"name": "go"}}]}).request.tools == (Tool(name="go"),)


def test_what_a_tool_says_beyond_the_wire_is_recorded() -> None:
    """Strictness, cache marks, freeform input, members of another dialect."""
    tool = Tool(
        name="run",
        description="Runs.",
        strict=True,
        cache="5m",
        freeform=Freeform("lark", "start: /.+/"),
        extra={"anthropic": {"defer_loading": True}},
    )
    encoded = encode(Request(tools=(tool,)))
    assert codes(encoded.changes) == [
        "strict_unsupported /tools/0/strict",
        "cache_unsupported /tools/0/cache",
        "freeform_as_function /tools/0",
        "extra_foreign /tools/0/extra/anthropic",
    ]
    described = wire(Request(tools=(tool,)))["tools"][0]["function"]["description"]
    assert described == "Runs.\nThe input follows this lark grammar:\nstart: /.+/"
    assert encoded.undo.freeform == {"run"}


def test_unknown_members_and_kinds_of_tools_come_back() -> None:
    """A kind that only this dialect knows is opaque, elsewhere's is refused."""
    odd = {"type": "custom", "function": {"name": "go", "parameters": SCHEMA, "y": 2}}
    tools: Any = [{**WIRE_LOOK, "x": 1}, {"type": "builtin", "name": "browser"}, odd]
    request = decode({"messages": [HI], "tools": tools}).request
    assert request.tools[1] == OpaqueTool("ollama", "builtin", {"type": "builtin", "name": "browser"})
    assert wire(request)["tools"] == tools
    with pytest.raises(UnsupportedError, match="web_search of openai-responses"):
        encode(Request(tools=(OpaqueTool("openai-responses", "web_search", {}),)))


@pytest.mark.parametrize(("tool", "path"), [({}, "/tools/0"), ({"function": {}}, "/tools/0/function/name")])
def test_a_tool_without_a_name_is_an_error(tool: Any, path: str) -> None:
    """With its place, and 400 for the client."""
    with pytest.raises(DecodeError) as caught:
        decode({"messages": [HI], "tools": [tool]})
    assert (caught.value.path, caught.value.status) == (path, 400)


def test_a_model_without_tools_refuses_them() -> None:
    """By the facts of the model."""
    options = EncodeOptions(target=Target(model="m", facts=Facts(tools=False)))
    with pytest.raises(UnsupportedError, match="m takes no tools"):
        encode(Request(tools=(LOOK,)), options)


# Structured output


def test_out_a_schema_is_the_format() -> None:
    """JSON mode is a word; an empty format is none."""
    assert wire(Request(output_schema=SCHEMA)) == {"messages": [], "format": SCHEMA}
    assert wire(Request(json_mode=True)) == {"messages": [], "format": "json"}
    assert decode({"messages": [HI], "format": "json"}).request.json_mode
    assert decode({"messages": [HI], "format": ""}).request == Request(messages=(user("Hi"),))


def test_out_r17_a_server_that_ignores_the_format_is_told_in_the_system_text() -> None:
    """The schema goes both ways, with an entry."""
    asked = Request(system=(TextPart("Help."),), messages=(user("Hi"),), output_schema=SCHEMA)
    body = wire(asked, quirky(output_schema="none"))
    told = '{"type":"object","properties":{"time":{"type":"string"}},"required":["time"]}'
    prompt = f"Help.\n\nAnswer with JSON that fits this JSON Schema, and nothing else:\n{told}"
    assert body == {"messages": [{"role": "system", "content": prompt}, HI], "format": SCHEMA}
    assert codes(encode(asked, quirky(output_schema="none")).changes) == ["output_schema_prompted /output_schema"]
    assert wire(asked, quirky(output_schema="json_object"))["format"] == "json"
    entries = codes(encode(Request(json_mode=True), quirky(output_schema="none")).changes)
    assert entries == ["output_schema_prompted /json_mode"]


def test_out_a_schema_together_with_tools_is_refused_where_it_breaks_them() -> None:
    """By the quirk of the server; a caller may let it go."""
    asked = Request(tools=(LOOK,), output_schema=SCHEMA)
    assert wire(asked)["format"] == SCHEMA
    options = quirky(output_schema_with_tools=False)
    with pytest.raises(UnsupportedError, match="no schema together with tools"):
        encode(asked, options)
    allowed = EncodeOptions(target=options.target, allow=frozenset({"output_schema"}))
    told = wire(asked, allowed)
    assert told.keys() == {"messages", "tools"}
    assert told["messages"][0]["content"].startswith("Answer with JSON that fits this JSON Schema")
    assert codes(encode(asked, allowed).changes) == ["output_schema_prompted /output_schema"]


# Parts


def test_images_are_bare_base64_after_the_text() -> None:
    """Text that stood behind an image is told before it, with an entry."""
    asked = Request(messages=(user(ImagePart(PNG, "image/png", "low"), "What", " is it?"),))
    assert wire(asked)["messages"] == [{"role": "user", "content": "What is it?", "images": [PNG_TEXT]}]
    assert codes(encode(asked).changes) == [
        "detail_unsupported /messages/0/parts/0/detail",
        "order_changed /messages/0/parts/1",
        "order_changed /messages/0/parts/2",
    ]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBP", "image/webp"),
        (b"?", "image/png"),
    ],
)
def test_the_type_of_an_image_is_what_its_bytes_say(data: bytes, kind: str) -> None:
    """The wire does not name it; another type than the bytes show is lost with an entry."""
    asked = Request(messages=(user(ImagePart(data, kind)),))
    body = encode(asked)
    assert codes(body.changes) == []
    assert decode(body.body.decode()).request == asked
    other = Request(messages=(user(ImagePart(data, "image/bmp")),))
    assert codes(encode(other).changes) == ["media_type_unsaid /messages/0/parts/0/media_type"]


def test_an_image_in_a_data_url_is_understood() -> None:
    """The server itself would refuse it; what is no base64 is an error with its place."""
    decoded = decode({"messages": [{**HI, "images": [f"data:image/png;base64,{PNG_TEXT}"]}]})
    assert decoded.request.messages == (user("Hi", ImagePart(PNG, "image/png")),)
    assert codes(decoded.changes) == ["foreign_shape /messages/0"]
    for text in ("https://example.com/a.png", "no base64!"):
        with pytest.raises(DecodeError) as caught:
            decode({"messages": [{**HI, "images": [text]}]})
        assert (caught.value.path, caught.value.status) == ("/messages/0/images/0", 400)


@pytest.mark.parametrize(
    ("part", "code"),
    [
        (AudioPart(b"RIFF", "audio/wav"), "audio"),
        (DocumentPart(b"%PDF", "application/pdf"), "documents"),
        (OpaquePart("openai-chat", "media_ref", {"image_url": {"url": "https://e.com"}}), "media_refs"),
        (OpaquePart("anthropic", "server_tool_use", {}), "opaque_part"),
    ],
)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_what_a_message_cannot_hold_is_refused(part: Any, code: str, role: Any) -> None:
    """By its name; a caller may let media go."""
    asked = Request(messages=(Message(role, (TextPart("Hi"), part)),))
    with pytest.raises(UnsupportedError) as caught:
        encode(asked)
    assert codes(caught.value.changes) == [f"{code} /messages/0/parts/1"]


def test_a_model_without_images_refuses_them() -> None:
    """Unless the caller lets them go."""
    asked = Request(messages=(user("Hi", ImagePart(PNG, "image/png")),))
    with pytest.raises(UnsupportedError):
        encode(asked, EncodeOptions(target=Target(facts=Facts(images=False))))


def test_ornaments_of_parts_are_recorded() -> None:
    """Marks, citations, seals, names and members of other dialects."""
    text = TextPart("Hi", (Citation("anthropic", {}),), "5m", extra={"anthropic": {"x": 1}})
    sealed = ThinkingPart("Hm", Sealed("anthropic", {"signature": "s"}))
    call = ToolCall("c", "look", "{}", sealed=Sealed("google", {"thoughtSignature": "s"}))
    asked = Request(messages=(Message("user", (text,), "ada"), Message("assistant", (sealed, call))), tools=(LOOK,))
    encoded = encode(msg_with_result(asked))
    assert codes(encoded.changes) == [
        "cache_unsupported /messages/0/parts/0/cache",
        "annotation_unsupported /messages/0/parts/0/annotations",
        "extra_foreign /messages/0/parts/0/extra/anthropic",
        "name_unsupported /messages/0/name",
        "seal_foreign /messages/1/parts/0/sealed",
        "seal_foreign /messages/1/parts/1/sealed",
    ]


def msg_with_result(asked: Request) -> Request:
    """The request with a result for its last call."""
    result = Message("tool", (ToolResult("c", "look", "ok"),))
    return Request(messages=(*asked.messages, result), tools=asked.tools)


def test_thinking_goes_back_first() -> None:
    """Its text is no secret here; what stood elsewhere is recorded."""
    asked = Request(messages=(user("Hi"), assistant("A", ThinkingPart("B"), ThinkingPart("C"))))
    assert wire(asked)["messages"][1] == {"role": "assistant", "content": "A", "thinking": "B\n\nC"}
    assert codes(encode(asked).changes) == ["order_changed /messages/1/parts/1", "order_changed /messages/1/parts/2"]


def test_system_messages_stay_where_they_are() -> None:
    """The first is the system text of the request."""
    messages: Any = [{"role": "system", "content": "A"}, HI, {"role": "system", "content": "B"}, HI]
    request = decode({"messages": messages}).request
    assert request == Request(system=(TextPart("A"),), messages=(user("Hi"), system("B"), user("Hi")))
    assert wire(request)["messages"] == messages


def test_unknown_members_of_messages_come_back() -> None:
    """On their message."""
    messages: Any = [{**HI, "name": "ada", "x": 1}]
    request = decode({"messages": messages}).request
    assert request.messages[0].extra == {"ollama": {"name": "ada", "x": 1}}
    assert wire(request)["messages"] == messages


def test_words_that_mean_nothing_here_pass_through() -> None:
    """A format of a new kind, alternatives of log probabilities that nobody asked for."""
    body = {"messages": [HI], "format": "yaml", "top_logprobs": 3}
    request = decode(body).request
    assert request == Request(messages=(user("Hi"),), extra={"ollama": {"format": "yaml", "top_logprobs": 3}})
    assert wire(request) == body


def test_a_lone_surrogate_of_a_client_is_repaired() -> None:
    """With an entry."""
    decoded = decode('{"model":"m","messages":[{"role":"user","content":"a\\ud800"}]}')
    assert decoded.request.messages == (user("a\ufffd"),)
    assert codes(decoded.changes) == ["lone_surrogate "]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"messages": [{"role": "robot", "content": "Hi"}]}, "/messages/0/role"),
        ({"model": 7}, "/model"),
        ({"messages": [{"role": "user", "content": ["Hi"]}]}, "/messages/0/content"),
    ],
)
def test_a_request_that_is_none_is_the_clients_fault(body: dict[str, Any], path: str) -> None:
    """With the place, and 400."""
    with pytest.raises(DecodeError) as caught:
        decode(body)
    assert (caught.value.path, caught.value.status) == (path, 400)


@pytest.mark.parametrize(
    ("path", "is_prompt"), [("/api/chat", False), ("/api/chat/?a=1", False), ("/api/generate/", True), ("/other", True)]
)
def test_the_path_says_the_form_and_where_it_says_none_the_body_does(path: str, *, is_prompt: bool) -> None:
    """A prompt beside no messages is the older form, but not where messages are asked for."""
    http = HttpRequest(url=f"http://test{path}", body=b'{"model":"m","prompt":"Hi"}')
    request = get_dialect("ollama").decode_request(http, DecodeOptions()).request
    if is_prompt:
        assert (request.messages, request.extra) == ((user("Hi"),), {"ollama": {"field": "prompt"}})
    else:
        assert (request.messages, request.extra) == ((), {"ollama": {"prompt": "Hi"}})


def test_a_cold_prefix_is_a_prefix() -> None:
    """Adding turns never changes the bytes of those before."""
    turns = (user("Hi"), assistant("Ho"), user("So?"), assistant("Yes"))
    bodies = [encode(Request(system=(TextPart("S"),), messages=turns[:count])).body for count in range(1, 5)]
    heads = [body[: body.index(b"]")] for body in bodies]
    assert all(later.startswith(head) for head, later in pairwise(heads))
