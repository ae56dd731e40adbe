"""The shape of a request of our own format, strict as the format is.

Source: the page of the format, "unified", and its published JSON Schema.
"""

from __future__ import annotations

__all__ = ["UNIFIED"]

UNIFIED = r"""
Request {model text; stream? flag; messages [Message]; system? text | [Text] | null; tools? [Tool];
  tool_choice? "auto" | "none" | "required" | NamedTool | AllowedTools | null; parallel_tool_calls? flag | null;
  output_schema? object | null; schema_name, schema_description? text | null; schema_strict? flag | null;
  json_mode? flag; max_tokens, top_k, seed, logprobs, n, thinking_budget? integer | null;
  temperature, top_p, min_p, presence_penalty, frequency_penalty? number | null; stop? [text];
  logit_bias? {number} | null; effort? Effort | null; thinking? flag | null;
  thinking_summary? "auto" | "concise" | "detailed" | "none" | null; verbosity, service_tier, user? text | null;
  metadata? object | null; store? flag | null; cache? Cache; cache_key? text | null; continues? ServerState | null;
  extra? {object}}
Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max"
Cache = "auto" | "5m" | "1h" | null
ServerState {dialect text; raw object}
NamedTool {type "named_tool"; name text}
AllowedTools {type "allowed_tools"; names [text]; mode? "auto" | "required"}

Tool {type? "tool" | "opaque_tool"; name? text(/[a-zA-Z0-9_]{1,64}/) | null; description? text | null;
  parameters? object | null; strict? flag | null; cache? Cache; freeform? Freeform | null; dialect, kind? text | null;
  raw? any; extra? {object}}
Freeform {syntax? text; definition? text | null}

Message {role "assistant" | "system" | "tool" | "user"; name? text | null; content? text | null; parts? [Part] | null;
  extra? {object}}
Part = Text | Image | Audio | Document | Thinking | Refusal | ToolCall | BrokenToolCall | ToolResult | ServerTool |
  Opaque
Text {type "text"; text text; annotations? [Citation]; cache? Cache; sealed? Sealed | null; extra? {object}}
Citation {dialect text; raw? object; url, title, file, quote? text | null; start, end? integer | null; ...}
Sealed {dialect text; data object; provider, model? text | null; ...}
Image {type "image"; data base64; media_type text; detail? text | null; cache? Cache; sealed? Sealed | null;
  extra? {object}}
Audio {type "audio"; data base64; media_type text; transcript? text | null; cache? Cache; extra? {object}}
Document {type "document"; data base64; media_type text; name? text | null; cache? Cache; extra? {object}}
Thinking {type "thinking"; text? text; sealed? Sealed | null; extra? {object}}
Refusal {type "refusal"; text text; extra? {object}}
ToolCall {type "tool_call"; id text; name text; arguments object; freeform? flag; sealed? Sealed | null;
  extra? {object}}
BrokenToolCall {type "broken_tool_call"; id text; name text; raw_arguments text; reason "malformed" | "not_object" |
  "duplicate_key" | "non_finite" | "cut_off"; freeform? flag; extra? {object}}
ToolResult {type "tool_result"; tool_call_id text; name? text | null; content? any;
  parts? [Text | Image | Audio | Document | Opaque | Json] | null; is_error? flag; cache? Cache; extra? {object}}
ServerTool {type "server_tool"; dialect text; kind text; raw any; name? text; call_id? text | null; input? any;
  output? text | null; sources? [Source]; status? "running" | "completed" | "failed"; provider? text | null;
  cache? Cache}
Source {url, title, file? text | null; ...}
Opaque {type "opaque"; dialect text; kind text; raw any; cache? Cache}
Json {type "json"; value any}
"""
