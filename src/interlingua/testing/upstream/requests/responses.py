"""The shape of a Responses request, hosted tools aside.

Source: our notes on OpenAI Responses; the request types of the official client, openai 3.54.
"""

from __future__ import annotations

__all__ = ["RESPONSES"]

RESPONSES = r"""
Request {model text(1..); input? text | [Item]; instructions? text | null; stream? flag | null; stream_options?
  StreamOptions | null; store? flag | null; previous_response_id? text | null; conversation? text | Conversation |
  null; tools? [AnyTool]; tool_choice? "none" | "auto" | "required" | ChooseAllowed | ChooseHosted | ChooseFunction |
  ChooseMcp | ChooseCustom | ProgrammaticToolCalling | ChoosePatch | ChooseShell; parallel_tool_calls? flag | null;
  max_output_tokens? integer(16..) | null; max_tool_calls? integer(1..) | null; temperature? number(0..2) | null;
  top_p? number(0..1) | null; top_logprobs? integer(0..20) | null; text? TextConfig; reasoning? Reasoning | null;
  include? [Included] | null; metadata? {text(..512)}(..16) | null; truncation? "auto" | "disabled" | null; user?
  text; safety_identifier? text(..64) | null; service_tier? "auto" | "default" | "flex" | "scale" | "priority" |
  "fast" | "ultrafast" | null; prompt? Prompt | null; prompt_cache_key? text(..64) | null; prompt_cache_options?
  PromptCacheOptions; prompt_cache_retention? "in_memory" | "24h" | null; moderation? Moderation | null; background?
  flag | null; background_options? BackgroundOptions; context_management? [ContextManagement] | null; access_programs?
  AccessPrograms; image? ImageContext}

# What a conversation is compacted with: `POST /responses/compact`.
CompactRequest {model text(1..) | null; input? text | [Item] | null; instructions? text | null; previous_response_id?
  text | null; prompt_cache_key? text(..64) | null; prompt_cache_options? CompactCacheOptions | null;
  prompt_cache_retention? "in_memory" | "24h" | null; service_tier? "auto" | "default" | "fast" | "flex" | "priority" |
  null; image? ImageContext}
CompactCacheOptions {mode? "implicit" | "explicit"; ttl? "30m"}

Included = "file_search_call.results" | "web_search_call.results" | "web_search_call.action.sources" |
  "message.input_image.image_url" | "computer_call_output.output.image_url" | "code_interpreter_call.outputs" |
  "reasoning.encrypted_content" | "message.output_text.logprobs"
Item = EasyInputMessage | EasyAnswer | Message | OutputMessage | FunctionCall | FunctionCallOutput | ReasoningItem |
  CustomToolCall
  | CustomToolCallOutput | ItemReference | HostedItem
Progress = "in_progress" | "completed" | "incomplete" | null
Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max"
Degree = "low" | "medium" | "high"
Phase = "commentary" | "final_answer" | null
Summarising = "auto" | "concise" | "detailed"
InputPart = InputText | InputImage | InputFile
Caller = CallerDirect | CallerProgram
Callers = ["direct" | "programmatic"] | null
AccessPrograms {cyber? "standard" | "daybreak_blue" | "daybreak_red"}
BackgroundOptions {completion_window? "soonest" | "2h" | "8h"; continuation_id? text}
ContextManagement {type text; compact_threshold? integer | null}
Conversation {id text}
ImageContext {context_compression? "auto" | "enabled" | "disabled"}
EasyInputMessage {content text | [InputPart]; role "user" | "assistant" | "system" | "developer"; phase? Phase; type?
  "message"}
InputText {type "input_text"; text text; prompt_cache_breakpoint? PromptCacheBreakpoint}
PromptCacheBreakpoint {mode "explicit"; ttl? "30m" | "12h"}
InputImage {type "input_image"; detail? "low" | "high" | "auto" | "original"; file_id? text | null; image_url? text |
  null; prompt_cache_breakpoint? PromptCacheBreakpoint}
InputFile {type "input_file"; detail? "auto" | "low" | "high"; file_data? text; file_id? text | null; file_url? text;
  filename? text; prompt_cache_breakpoint? PromptCacheBreakpoint}
# A message of the user has an id where it comes from a compacted conversation, whose items go back as they are.
Message {id? text; content [InputPart]; role "user" | "system" | "developer"; status? Progress; type? "message"}
# An answer of the assistant is taken without id and status, too.
EasyAnswer {role "assistant"; content [EasyText | OutputRefusal]; type? "message"; status? Progress; phase? Phase}
EasyText {type "output_text"; text text; annotations? [any] | null; logprobs? [any] | null}
OutputMessage {type "message"; id text; content [OutputText | OutputRefusal]; role "assistant"; status Progress;
  phase? Phase}
OutputText {type "output_text"; annotations [FileCitation | UrlCitation | ContainerCitation | FilePath]; text text;
  logprobs? [Logprob]}
FileCitation {type "file_citation"; file_id text; filename text; index integer}
UrlCitation {type "url_citation"; end_index integer; start_index integer; title text; url text}
ContainerCitation {type "container_file_citation"; container_id text; end_index integer; file_id text; filename text;
  start_index integer}
FilePath {type "file_path"; file_id text; index integer}
Logprob {token text; bytes [integer]; logprob number; top_logprobs [TopLogprob]}
TopLogprob {token text; bytes [integer]; logprob number}
OutputRefusal {type "refusal"; refusal text}
FunctionCall {type "function_call"; async? flag; arguments text; call_id text; name text; id? text; caller? Caller |
  null; namespace? text; status? Progress}
CallerDirect {type "direct"}
CallerProgram {type "program"; caller_id text}
FunctionCallOutput {type "function_call_output"; output text | [ResultText | ResultImage | ResultFile]; id? text |
  null; call_id? text | null; caller? Caller | null; name? text | null; namespace? text | null; status? Progress |
  null}
ResultText {type "input_text"; text text; prompt_cache_breakpoint? PromptCacheBreakpoint | null}
ResultImage {type "input_image"; detail? "low" | "high" | "auto" | "original" | null; file_id? text | null; image_url?
  text | null; prompt_cache_breakpoint? PromptCacheBreakpoint | null}
ResultFile {type "input_file"; detail? "auto" | "low" | "high"; file_data? text | null; file_id? text | null;
  file_url? text | null; filename? text | null; prompt_cache_breakpoint? PromptCacheBreakpoint | null}
FunctionTool {type "function"; async? flag; name text(/[a-zA-Z0-9_-]{1,64}/); parameters? object | null;
  strict? flag | null; allowed_callers? Callers; defer_loading? flag; description? text | null; output_schema?
  object | null}
CustomTool {type "custom"; async? flag; name text(/[a-zA-Z0-9_-]{1,64}/); allowed_callers? Callers; defer_loading?
  flag; description? text; format? FormatText | LarkGrammar}
FormatText {type "text"}
LarkGrammar {type "grammar"; definition text; syntax "lark" | "regex"}
FormatSchema {type "json_schema"; name text(/[a-zA-Z0-9_-]{1,64}/); schema object; description? text; strict? flag |
  null}
ReasoningItem {type "reasoning"; id? text; summary [SummaryText]; content? [ReasoningText]; encrypted_content? text |
  null; status? Progress}
SummaryText {type "summary_text"; text text}
ReasoningText {type "reasoning_text"; text text}
CustomToolCallOutput {type "custom_tool_call_output"; call_id text; output text | [InputPart]; id? text; caller?
  Caller | null}
CustomToolCall {type "custom_tool_call"; async? flag; call_id text; input text; name text; id? text; caller? Caller |
  null; namespace? text}
ItemReference {id text(1..); type? "item_reference" | null}
Moderation {model text; policy? ModerationPolicy | null}
ModerationPolicy {input? ModerationMode | null; output? ModerationMode | null}
ModerationMode {mode "score" | "block"}
Prompt {id text; variables? {text | InputText | InputImage | InputFile} | null; version? text | null}
PromptCacheOptions {comparison_response_id? text | null; mode? "implicit" | "explicit"; prewarm? flag; ttl? "30m" |
  "12h"}
Reasoning {context? "auto" | "current_turn" | "all_turns" | null; effort? Effort | null; generate_summary? Summarising
  | null; mode? text; summary? Summarising | null}
StreamOptions {include_obfuscation? flag}
TextConfig {format? FormatText | FormatSchema | FormatObject; verbosity? Degree | null}
FormatObject {type "json_object"}
ChooseAllowed {type "allowed_tools"; mode "auto" | "required"; tools [object]}
ChooseHosted {type "file_search" | "web_search_preview" | "computer" | "computer_use_preview" | "computer_use" |
  "web_search_preview_2025_03_11" | "image_generation" | "code_interpreter"}
ChooseFunction {type "function"; name text}
ChooseMcp {type "mcp"; server_label text; name? text | null}
ChooseCustom {type "custom"; name text}
ChoosePatch {type "apply_patch"}
ChooseShell {type "shell"}
"""
