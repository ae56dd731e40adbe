"""The shape of tools that run at the provider in a Responses request: their items in the history.

Source: our notes on OpenAI Responses; the request types of the official client, openai 3.54.
"""

from __future__ import annotations

__all__ = ["RESPONSES_HOSTED"]

RESPONSES_HOSTED = r"""
HostedItem = FileSearchToolCall | ComputerToolCall | ComputerCallOutput | WebSearchCall | ToolSearchCall |
  ToolSearchOutputItem | AdditionalTools | ConfigurationUpdateItem | CompactionItem | ImageGenerationCall |
  CodeInterpreterToolCall | LocalShellCall | LocalShellCallOutput | ShellCall | ShellCallOutput | ApplyPatchCall |
  ApplyPatchCallOutput | McpListTools | McpApprovalRequest | McpApprovalResponse | McpCall | CompactionTrigger |
  Program | ProgramOutput
SearchProgress = "in_progress" | "searching" | "completed" | "incomplete" | "failed"
Gesture = Click | DoubleClick | Drag | Keypress | Move | Screenshot | Scroll | Type | Wait
ImageAction = "generate" | "edit" | "auto"
ImageBackground = "transparent" | "opaque" | "auto"
ImageFormat = "png" | "webp" | "jpeg" | "gif" | "svg"
ImageQuality = "low" | "medium" | "high" | "xhigh" | "max" | "auto"
FileSearchToolCall {type "file_search_call"; id text; queries [text]; status SearchProgress; results?
  [FileSearchResult] | null}
FileSearchResult {attributes? {text | number | flag} | null; file_id? text; filename? text; score? number; text? text}
ComputerToolCall {type "computer_call"; id text; call_id text; pending_safety_checks [PendingSafetyCheck]; status
  Progress; action? Gesture; actions? [Gesture]}
PendingSafetyCheck {id text; code? text | null; message? text | null}
Click {type "click"; button "left" | "right" | "wheel" | "back" | "forward"; x integer; y integer; keys? [text] |
  null}
DoubleClick {type "double_click"; keys [text] | null; x integer; y integer}
Drag {type "drag"; path [DragPath]; keys? [text] | null}
DragPath {x integer; y integer}
Keypress {type "keypress"; keys [text]}
Move {type "move"; x integer; y integer; keys? [text] | null}
Screenshot {type "screenshot"}
Scroll {type "scroll"; scroll_x integer; scroll_y integer; x integer; y integer; keys? [text] | null}
Type {type "type"; text text}
Wait {type "wait"}
ComputerCallOutput {type "computer_call_output"; call_id text; output ScreenshotOutput; id? text | null;
  acknowledged_safety_checks? [PendingSafetyCheck] | null; status? Progress | null}
ScreenshotOutput {type "computer_screenshot"; file_id? text; image_url? text}
WebSearchCall {type "web_search_call"; id text; action SearchAction | OpenPageAction | FindAction; status
  SearchProgress}
SearchAction {type "search"; queries? [text]; query? text; sources? [SearchSource] | null}
SearchSource {type "url"; url text}
OpenPageAction {type "open_page"; url? text | null}
FindAction {type "find_in_page"; pattern text; url text}
ToolSearchCall {type "tool_search_call"; arguments any; id? text | null; call_id? text | null; execution? "server" |
  "client"; status? Progress | null}
ToolSearchOutputItem {type "tool_search_output"; tools [AnyTool]; id? text | null; call_id? text | null; execution?
  "server" | "client"; status? Progress | null}
AdditionalTools {type "additional_tools"; role "developer"; tools [AnyTool]; id? text | null}
ConfigurationUpdateItem {type "configuration_update"; id? text | null; reasoning? ReasoningUpdate; text? TextUpdate}
TextUpdate {format FormatText | FormatSchema}
ReasoningUpdate {effort? Effort | null}
CompactionItem {type "compaction"; encrypted_content text; id? text | null}
ImageGenerationCall {type "image_generation_call"; id text; result text | null; status "in_progress" | "completed" |
  "generating" | "failed"; action? ImageAction | null; background? ImageBackground | null; error? ImageError;
  output_format? ImageFormat | null; quality? ImageQuality | null; revised_prompt? text | null; size? text | null;
  svg_usage? SvgUsage}
ImageError {code text | null; message text; param text | null; type text; moderation_details? ImageModeration}
ImageModeration {categories [text]; moderation_stage "input" | "output" | "unknown"}
SvgUsage {input_tokens integer; model text; output_tokens integer; reasoning_tokens integer; total_tokens integer}
CodeInterpreterToolCall {type "code_interpreter_call"; id text; code text | null; container_id text; outputs
  [OutputLogs | OutputImage] | null; status Progress | "interpreting" | "failed"}
OutputLogs {type "logs"; logs text}
OutputImage {type "image"; url text}
LocalShellCall {type "local_shell_call"; id text; action LocalShellAction; call_id text; status Progress}
LocalShellAction {type "exec"; command [text]; env {text}; timeout_ms? integer | null; user? text | null;
  working_directory? text | null}
LocalShellCallOutput {type "local_shell_call_output"; id text; output text; status? Progress | null}
ShellCall {type "shell_call"; action ShellAction; call_id text; id? text | null; caller? Caller | null; environment?
  LocalEnvironment | ContainerReference | null; status? Progress | null}
ShellAction {commands [text]; max_output_length? integer | null; timeout_ms? integer | null}
ShellCallOutput {type "shell_call_output"; call_id text; output [ShellOutput]; id? text | null; caller? Caller | null;
  max_output_length? integer | null; status? Progress | null}
ShellOutput {outcome OutcomeTimeout | OutcomeExit; stderr text; stdout text}
OutcomeTimeout {type "timeout"}
OutcomeExit {type "exit"; exit_code integer}
ApplyPatchCall {type "apply_patch_call"; call_id text; operation CreateFile | DeleteFile | UpdateFile; status
  "in_progress" | "completed"; id? text | null; caller? Caller | null}
CreateFile {type "create_file"; diff text; path text}
DeleteFile {type "delete_file"; path text}
UpdateFile {type "update_file"; diff text; path text}
ApplyPatchCallOutput {type "apply_patch_call_output"; call_id text; status "completed" | "failed"; id? text | null;
  caller? Caller | null; output? text | null}
McpListTools {type "mcp_list_tools"; id text; server_label text; tools [McpListToolsTool]; error? text | null}
McpListToolsTool {input_schema any; name text; annotations? any | null; description? text | null}
McpApprovalRequest {type "mcp_approval_request"; id text; arguments text; name text; server_label text}
McpApprovalResponse {type "mcp_approval_response"; approval_request_id text; approve flag; id? text | null; reason?
  text | null}
McpCall {type "mcp_call"; id text; arguments text; name text; server_label text; approval_request_id? text | null;
  error? McpProtocolError | McpToolExecutionError | HttpError | null; output? text | null; status? Progress |
  "calling" | "failed"}
McpProtocolError {type "mcp_protocol_error"; code integer; message text}
McpToolExecutionError {type "mcp_tool_execution_error"; content any}
HttpError {type "http_error"; code integer; message text}
CompactionTrigger {type "compaction_trigger"; id? text | null}
Program {type "program"; id text; call_id text; code text; fingerprint text}
ProgramOutput {type "program_output"; id text; call_id text; result text; status "completed" | "incomplete"}
"""
