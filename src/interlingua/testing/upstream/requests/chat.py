"""The shape of a Chat Completions request.

Source: our notes on OpenAI Chat; the request types of the official client, openai 3.54.
"""

from __future__ import annotations

__all__ = ["CHAT"]

CHAT = r"""
Request {model text(1..); messages [Message](1..); stream? flag | null; stream_options? StreamOptions | null;
  tools? [Tool](1..); tool_choice? "none" | "auto" | "required" | ChooseAllowed | ChooseFunction | ChooseCustom;
  parallel_tool_calls? flag; functions? [OldFunction](1..); function_call? "none" | "auto" | Name;
  response_format? FormatText | FormatSchema | FormatObject | null; reasoning_effort? Effort | null;
  verbosity? "low" | "medium" | "high" | null; max_completion_tokens, max_tokens? integer(1..) | null;
  temperature? number(0..2) | null; top_p? number(0..1) | null; frequency_penalty? number(-2..2) | null;
  presence_penalty? number(-2..2) | null; logit_bias? {integer(-100..100)} | null; logprobs? flag | null;
  top_logprobs? integer(0..20) | null; n? integer(1..128) | null; seed? integer | null; stop? text | [text](..4) | null;
  modalities? ["text" | "audio"] | null; audio? AudioOut | null; prediction? Prediction | null;
  metadata? {text(..512)}(..16) | null; store? flag | null; user? text; safety_identifier? text(..64) | null;
  service_tier? "auto" | "default" | "flex" | "scale" | "priority" | "fast" | null; moderation? Moderation | null;
  prompt_cache_key? text(..64) | null; prompt_cache_options? CacheOptions;
  prompt_cache_retention? "in_memory" | "24h" | null; web_search_options? WebSearch}

Message = Developer | System | User | Assistant | ToolMessage | FunctionMessage
Developer {role "developer"; content text | [PartText](1..); name? text}
System {role "system"; content text | [PartText](1..); name? text}
User {role "user"; content text | [PartText | PartImage | PartAudio | PartFile](1..); name? text}
Assistant {role "assistant"; content? text | [PartText | PartRefusal](1..) | null; refusal? text | null; name? text;
  tool_calls? [CallFunction | CallCustom](1..); audio? AudioRef | null; function_call? Called | null;
  annotations? [any] | null; parsed? any}  # answers and the client's own helpers add them; 2xx: beefb0e5e89f
ToolMessage {role "tool"; tool_call_id CallId; content text | [PartText](1..); name? text}
FunctionMessage {role "function"; name text; content text | null}

PartText {type "text"; text text; prompt_cache_breakpoint? Breakpoint}
PartImage {type "image_url"; image_url ImageUrl; prompt_cache_breakpoint? Breakpoint}
PartAudio {type "input_audio"; input_audio AudioIn; prompt_cache_breakpoint? Breakpoint}
PartFile {type "file"; file FileIn; prompt_cache_breakpoint? Breakpoint}
PartRefusal {type "refusal"; refusal text}
Breakpoint {mode "explicit"; ttl? "30m" | "12h"}
ImageUrl {url text(1..); detail? "auto" | "low" | "high" | "original"}
AudioIn {data base64; format "wav" | "mp3"}
FileIn {file_data? text; file_id? text; filename? text}

# Ids beyond 40 characters are refused, in calls and in results [field, ID-01].
CallId = text(1..40)
CallFunction {type "function"; id CallId; function Called; index? integer}  # and so are these
CallCustom {type "custom"; id CallId; custom CalledFreely}
Called {name ToolName; arguments text; parsed_arguments? any}
CalledFreely {name ToolName; input text}

ToolName = text(/[a-zA-Z0-9_-]{1,64}/)
Tool = ToolFunction | ToolCustom
ToolFunction {type "function"; function Function; name? text}  # a second name is not looked at; 2xx: 9a8f443b6776
Function {name ToolName; description? text; parameters? object; strict? flag | null}
ToolCustom {type "custom"; custom Freeform}
Freeform {name ToolName; description? text; format? FormatText | FormatGrammar}
FormatGrammar {type "grammar"; grammar Grammar}
Grammar {definition text; syntax "lark" | "regex"}
OldFunction {name ToolName; description? text; parameters? object}
Name {name text}
ChooseFunction {type "function"; function Name}
ChooseCustom {type "custom"; custom Name}
ChooseAllowed {type "allowed_tools"; allowed_tools Allowed}
Allowed {mode "auto" | "required"; tools [object]}

FormatText {type "text"}
FormatObject {type "json_object"}
FormatSchema {type "json_schema"; json_schema NamedSchema}
NamedSchema {name ToolName; description? text; schema? object; strict? flag | null}
Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max"
StreamOptions {include_usage, include_obfuscation? flag}
AudioRef {id text}
AudioOut {format "wav" | "aac" | "mp3" | "flac" | "opus" | "pcm16"; voice text | AudioRef}
Prediction {type "content"; content text | [PartText]}
CacheOptions {mode? "implicit" | "explicit"; ttl? "30m"}
Moderation {model text; policy? ModerationPolicy | null}
ModerationPolicy {input? ModerationMode | null; output? ModerationMode | null}
ModerationMode {mode "score" | "block"}
WebSearch {search_context_size? "low" | "medium" | "high"; user_location? Location | null}
Location {type "approximate"; approximate Place}
Place {city, country, region, timezone? text}
"""
