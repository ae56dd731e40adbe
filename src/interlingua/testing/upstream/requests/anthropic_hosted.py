"""The shape of tools that run at the provider in a Messages request: their calls and results.

Source: our notes on Anthropic; the request types of the official client, anthropic 2.12.
"""

from __future__ import annotations

__all__ = ["ANTHROPIC_HOSTED"]

ANTHROPIC_HOSTED = r"""
HostedBlock = ServerToolUse | WebSearchToolResult | WebFetchToolResult | CodeExecutionToolResult |
  BashCodeExecutionToolResult | TextEditorCodeExecutionToolResult | ToolSearchToolResult | ContainerUpload
CitationCharLocation {type "char_location"; cited_text text; document_index integer; document_title text | null;
  end_char_index integer; start_char_index integer}
CitationPageLocation {type "page_location"; cited_text text; document_index integer; document_title text | null;
  end_page_number integer; start_page_number integer}
CitationContentBlockLocation {type "content_block_location"; cited_text text; document_index integer; document_title
  text | null; end_block_index integer; start_block_index integer}
CitationWebSearchResultLocation {type "web_search_result_location"; cited_text text; encrypted_index text; title text
  | null; url text}
CitationSearchResultLocation {type "search_result_location"; cited_text text; end_block_index integer;
  search_result_index integer; source text; start_block_index integer; title text | null}
SearchResult {type "search_result"; content [TextBlock]; source text; title text; cache_control? Mark; citations?
  Citations}
BrowserState {type "browser_state"; tabs [BrowserStateTabEntry]; cache_control? Mark; state_changes?
  [BrowserStateChangeTabOpened | BrowserStateChangeDownloadStarted | BrowserStateChangeDownloadCompleted |
  BrowserStateChangeDownloadFailed] | null}
BrowserStateTabEntry {tab_id text; title text; url text; active? flag}
BrowserStateChangeTabOpened {type "tab_opened"; tab_id text}
BrowserStateChangeDownloadStarted {type "download_started"; download_id text; url text}
BrowserStateChangeDownloadCompleted {type "download_completed"; download_id text; url text; path? text | null;
  size_bytes? integer | null}
BrowserStateChangeDownloadFailed {type "download_failed"; download_id text; url text; error? text | null}
ServerToolUse {type "server_tool_use"; id text(/srvtoolu_[a-zA-Z0-9_]+/); input object; name "web_search" |
  "web_fetch" | "code_execution" | "bash_code_execution" | "text_editor_code_execution" | "tool_search_tool_regex" |
  "tool_search_tool_bm25"; cache_control? Mark; caller? Caller}
WebSearchToolResult {type "web_search_tool_result"; content [WebSearchResult] | WebSearchToolRequestErrorObject;
  tool_use_id text; cache_control? Mark; caller? Caller}
WebSearchResult {type "web_search_result"; encrypted_content text; title text; url text; page_age? text | null}
WebSearchToolRequestErrorObject {type "web_search_tool_result_error"; error_code "invalid_tool_input" | "unavailable"
  | "max_uses_exceeded" | "too_many_requests" | "query_too_long" | "request_too_large"}
WebFetchToolResult {type "web_fetch_tool_result"; content WebFetchToolResultError | WebFetched; tool_use_id text;
  cache_control? Mark; caller? Caller}
WebFetchToolResultError {type "web_fetch_tool_result_error"; error_code "invalid_tool_input" | "url_too_long" |
  "url_not_allowed" | "url_not_in_prior_context" | "url_not_accessible" | "unsupported_content_type" |
  "too_many_requests" | "max_uses_exceeded" | "unavailable" | "content_too_large"}
WebFetched {type "web_fetch_result"; content Document; url text; retrieved_at? text | null}
CodeExecutionToolResult {type "code_execution_tool_result"; content CodeExecutionToolResultError | CodeExecutionResult
  | EncryptedCodeExecutionResult; tool_use_id text; cache_control? Mark}
CodeExecutionToolResultError {type "code_execution_tool_result_error"; error_code "invalid_tool_input" | "unavailable"
  | "too_many_requests" | "execution_time_exceeded"}
CodeExecutionResult {type "code_execution_result"; content [CodeExecutionOutput]; return_code integer; stderr text;
  stdout text}
CodeExecutionOutput {type "code_execution_output"; file_id text}
EncryptedCodeExecutionResult {type "encrypted_code_execution_result"; content [CodeExecutionOutput]; encrypted_stdout
  text; return_code integer; stderr text}
BashCodeExecutionToolResult {type "bash_code_execution_tool_result"; content BashCodeExecutionToolResultError |
  BashCodeExecutionResult; tool_use_id text; cache_control? Mark}
BashCodeExecutionToolResultError {type "bash_code_execution_tool_result_error"; error_code "invalid_tool_input" |
  "unavailable" | "too_many_requests" | "execution_time_exceeded" | "output_file_too_large"}
BashCodeExecutionResult {type "bash_code_execution_result"; content [BashCodeExecutionOutput]; return_code integer;
  stderr text; stdout text}
BashCodeExecutionOutput {type "bash_code_execution_output"; file_id text}
TextEditorCodeExecutionToolResult {type "text_editor_code_execution_tool_result"; content
  TextEditorCodeExecutionToolResultError | TextEditorCodeExecutionViewResult | TextEditorCodeExecutionCreateResult |
  TextEditorCodeExecutionStrReplaceResult; tool_use_id text; cache_control? Mark}
TextEditorCodeExecutionToolResultError {type "text_editor_code_execution_tool_result_error"; error_code
  "invalid_tool_input" | "unavailable" | "too_many_requests" | "execution_time_exceeded" | "file_not_found";
  error_message? text | null}
TextEditorCodeExecutionViewResult {type "text_editor_code_execution_view_result"; content text; file_type "text" |
  "image" | "pdf"; num_lines? integer | null; start_line? integer | null; total_lines? integer | null}
TextEditorCodeExecutionCreateResult {type "text_editor_code_execution_create_result"; is_file_update flag}
TextEditorCodeExecutionStrReplaceResult {type "text_editor_code_execution_str_replace_result"; lines? [text] | null;
  new_lines? integer | null; new_start? integer | null; old_lines? integer | null; old_start? integer | null}
ToolSearchToolResult {type "tool_search_tool_result"; content ToolSearchToolResultError | ToolSearchToolSearchResult;
  tool_use_id text; cache_control? Mark}
ToolSearchToolResultError {type "tool_search_tool_result_error"; error_code "invalid_tool_input" | "unavailable" |
  "too_many_requests" | "execution_time_exceeded"; error_message? text | null}
ToolSearchToolSearchResult {type "tool_search_tool_search_result"; tool_references [ToolReference]}
ContainerUpload {type "container_upload"; file_id text; cache_control? Mark}
"""
