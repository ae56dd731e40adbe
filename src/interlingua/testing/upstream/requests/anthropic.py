"""The shape of a Messages request, tools that run at the provider aside.

Source: our notes on Anthropic; the request types of the official client, anthropic 2.12.
"""

from __future__ import annotations

__all__ = ["ANTHROPIC"]

ANTHROPIC = r"""
Request {model text(1..); max_tokens integer(0..); messages [Message](1..); system? text | [TextBlock]; stream? flag;
  tools? [AnyTool]; tool_choice? ToolChoiceAuto | ToolChoiceAny | ToolChoiceTool | ToolChoiceNone;
  thinking? ThinkingConfigEnabled | ThinkingConfigDisabled | ThinkingConfigBetweenTools | ThinkingConfigAdaptive;
  output_config? OutputConfig; stop_sequences? [text]; temperature, top_p? number(0..1); top_k? integer(0..);
  metadata? Metadata; service_tier? "auto" | "standard_only"; speed? "fast" | "standard" | null; cache_control? Mark;
  container? Container | text | null; diagnostics? Diagnostics | null; inference_geo? text | null;
  user_profile_id, workspace_id? text}

Message = UserMessage | AssistantMessage | SystemMessage
UserMessage {role "user"; content text | [Block]}
AssistantMessage {role "assistant"; content text | [Block]}
Block = TextBlock | Image | Document | SearchResult | Thinking | RedactedThinking | ToolUse | ToolResult | HostedBlock
Mark = CacheControl | null
Caller = DirectCaller | ServerToolCaller | ServerToolCaller20260120
Callers = ["direct" | "code_execution_20250825" | "code_execution_20260120" | "code_execution_20260521"]
TextBlock {type "text"; text text; cache_control? Mark; citations? [CitationCharLocation | CitationPageLocation |
  CitationContentBlockLocation | CitationWebSearchResultLocation | CitationSearchResultLocation] | null}
CacheControl {type "ephemeral"; ttl? "5m" | "1h"}
Image {type "image"; source ImageBytes | UrlSource | FileSource; cache_control? Mark; transformations?
  ImageTransformations | null}
ImageBytes {type "base64"; data base64; media_type "image/jpeg" | "image/png" | "image/gif" | "image/webp"}
FileSource {type "file"; file_id text}
ImageTransformations {oversized_image? "downsize" | "error"}
Document {type "document"; source PdfBytes | PlainText | ContentSource | UrlSource | FileSource; cache_control? Mark;
  citations? Citations | null; context? text | null; title? text | null}
PdfBytes {type "base64"; data base64; media_type "application/pdf"}
PlainText {type "text"; data text; media_type "text/plain"}
ContentSource {type "content"; content text | [TextBlock | Image]}
UrlSource {type "url"; url text}
Citations {enabled? flag}
Thinking {type "thinking"; signature text; thinking text}
RedactedThinking {type "redacted_thinking"; data text}
ToolUse {type "tool_use"; id text(/[a-zA-Z0-9_-]+/); input object; name text(1..200); cache_control? Mark; caller?
  Caller; toolset_name? text | null}
DirectCaller {type "direct"}
ServerToolCaller {type "code_execution_20250825"; tool_id text}
ServerToolCaller20260120 {type "code_execution_20260120"; tool_id text}
ToolResult {type "tool_result"; tool_use_id text(/[a-zA-Z0-9_-]+/); cache_control? Mark; content? text | [TextBlock |
  Image | SearchResult | Document | ToolReference | BrowserState]; is_error? flag; toolset_name? text | null}
ToolReference {type "tool_reference"; tool_name text; cache_control? Mark}
SystemMessage {content text | [TextBlock]; role "system"}
Container {id? text | null; skills? [Skill] | null}
Skill {type "anthropic" | "custom"; skill_id text; version? text}
Diagnostics {previous_message_id? text | null}
Metadata {user_id? text | null}
OutputConfig {effort? "low" | "medium" | "high" | "xhigh" | "max" | null; format? JSONOutputFormat | null}
JSONOutputFormat {type "json_schema"; schema object}
ThinkingConfigEnabled {type "enabled"; budget_tokens integer(1024..); display? "summarized" | "omitted" | null}
ThinkingConfigDisabled {type "disabled"}
ThinkingConfigBetweenTools {type "between_tools"}
ThinkingConfigAdaptive {type "adaptive"; display? "summarized" | "omitted" | null}
ToolChoiceAuto {type "auto"; disable_parallel_tool_use? flag}
ToolChoiceAny {type "any"; disable_parallel_tool_use? flag}
ToolChoiceTool {type "tool"; name text; disable_parallel_tool_use? flag}
ToolChoiceNone {type "none"}
Tool {input_schema object; name text(/[a-zA-Z0-9_-]{1,128}/); allowed_callers? Callers; cache_control? Mark;
  defer_loading? flag; description? text; eager_input_streaming? flag | null; input_examples? [object]; strict? flag;
  type? "custom" | null}
"""
