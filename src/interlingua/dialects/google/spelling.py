"""Bodies in snake case, and answers with numbers that JSON does not have, as bodies that can be read.

Rules
- Only a body with unknown members, one of them a known one in snake case, is rewritten: by value, so that what is
  somebody else's (arguments, results, schemas, labels) stays as it is. Its arguments keep their value, not their text.
- `NaN` and `Infinity` become marked strings; in the arguments of a call the mark is undone, so that the call is broken
  for its true reason and the rest of the answer is kept.
"""

from __future__ import annotations

import re
from typing import TypeVar

from interlingua.dialects._members import is_list, is_object
from interlingua.dialects.google import wire
from interlingua.errors import DecodeError
from interlingua.types._base import JsonValue
from interlingua.wire.json import WireStruct, decode, decode_any, decode_wire, encode

__all__ = ["MARK", "bare_numbers", "camel_members", "is_in_snake_case", "read_answer", "read_request"]

S = TypeVar("S", bound="WireStruct")

VERBATIM = frozenset(
    {"args", "response", "parameters", "parametersJsonSchema", "responseSchema", "responseJsonSchema", "labels"}
)
"""Members whose inside is somebody else's."""
MEMBERS = (
    "system_instruction", "tool_config", "generation_config", "safety_settings", "cached_content",
    "function_declarations", "parameters_json_schema", "response_json_schema", "response_schema",
    "response_mime_type", "function_calling_config", "allowed_function_names", "max_output_tokens", "top_p", "top_k",
    "candidate_count", "stop_sequences", "presence_penalty", "frequency_penalty", "response_logprobs",
    "thinking_config", "thinking_level", "thinking_budget", "include_thoughts", "response_modalities",
    "function_call", "function_response", "inline_data", "file_data", "mime_type", "file_uri", "display_name",
    "thought_signature", "media_resolution", "video_metadata", "executable_code", "code_execution_result",
    "tool_call", "tool_response", "tool_type", "google_search", "code_execution", "url_context", "file_search",
    "google_maps", "google_search_retrieval", "include_server_side_tool_invocations", "speech_config",
    "model_armor_config", "start_offset", "end_offset",
    "finish_reason", "finish_message", "usage_metadata", "model_version", "response_id", "prompt_feedback",
    "block_reason", "create_time", "avg_logprobs", "logprobs_result", "safety_ratings", "citation_metadata",
    "grounding_metadata", "url_context_metadata", "token_count", "prompt_token_count", "candidates_token_count",
    "thoughts_token_count", "cached_content_token_count", "tool_use_prompt_token_count", "total_token_count",
    "prompt_tokens_details", "candidates_tokens_details", "cache_tokens_details", "tool_use_prompt_tokens_details",
    "service_tier", "traffic_type", "partial_args", "will_continue", "json_path", "string_value", "number_value",
    "bool_value",
)  # fmt: skip
"""Members that are read, or stand beside one that is, as snake case spells them."""
CAMEL = {name: re.sub(r"_([a-z])", lambda match: match[1].upper(), name) for name in MEMBERS}
_STRUCTS = [kind for kind in vars(wire).values() if isinstance(kind, type) and issubclass(kind, WireStruct)]
_ENTERED = frozenset({*CAMEL.values(), *[name for kind in _STRUCTS for name in kind.__struct_fields__]}) - VERBATIM
_SNAKE = re.compile(rb'"(?:' + "|".join(MEMBERS).encode() + rb')"\s*:')
_NOT_FINITE = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b')
MARK = "\ue0fe"
"""In front of a number that JSON does not have; a character of the private use area."""
_MARKED = re.compile(f'"{MARK}(-?[A-Za-z]+)"')


def read_request(body: bytes, kind: type[S], repairs: list[str]) -> S:
    """The wire object of a request, whichever way its members are spelt.

    Raises: DecodeError, LimitExceededError.
    """
    own_repairs: list[str] = []
    try:
        wire = decode(body, kind, repairs=own_repairs)
    except DecodeError:
        if _SNAKE.search(body):
            body = encode(camel_members(decode_any(body, repairs=repairs)))
        return decode_wire(body, kind, repairs=repairs)
    repairs.extend(own_repairs)
    return wire


def is_in_snake_case(body: bytes) -> bool:
    """Whether a body has a known member in snake case, or somebody else's member of such a name."""
    return b"_" in body and _SNAKE.search(body) is not None


def camel_members(value: JsonValue) -> JsonValue:
    """A value with its known members in camel case; what is inside of others is left alone."""
    if is_list(value):
        return [camel_members(item) for item in value]
    if not is_object(value):
        return value
    renamed = {CAMEL.get(name, name): member for name, member in value.items()}
    return {name: camel_members(member) if name in _ENTERED else member for name, member in renamed.items()}


def read_answer(body: bytes, kind: type[S], repairs: list[str]) -> S:
    """The wire object of an answer or a frame, however its members are spelt and whatever numbers its arguments have.

    Raises: DecodeError, LimitExceededError.
    """
    own_repairs: list[str] = []
    try:
        wire = decode(body, kind, repairs=own_repairs)
    except DecodeError:
        return _read_odd_answer(body, kind, repairs)
    repairs.extend(own_repairs)
    return wire


def _read_odd_answer(body: bytes, kind: type[S], repairs: list[str]) -> S:
    """An answer with members that are not known, or with numbers that JSON does not have."""
    try:
        if _SNAKE.search(body):
            body = encode(camel_members(decode_any(body, repairs=repairs)))
        return decode_wire(body, kind, repairs=repairs, lenient=True)
    except DecodeError:
        marked = _NOT_FINITE.sub(_mark, body)
        if marked == body:
            raise
        return decode_wire(marked, kind, repairs=repairs, lenient=True)


def _mark(match: re.Match[bytes]) -> bytes:
    text = match[0]
    return text if text.startswith(b'"') else b'"' + MARK.encode() + text + b'"'


def bare_numbers(text: str) -> str:
    """The arguments as they came, with the numbers that `read_answer` marked."""
    return _MARKED.sub(r"\1", text)
