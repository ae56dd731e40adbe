"""The tools that a Messages request may offer, beyond the caller's own.

Source: our notes on Anthropic; the request types of the official client, anthropic 2.12.
"""

from __future__ import annotations

__all__ = ["ANTHROPIC_TOOLS"]

ANTHROPIC_TOOLS = r"""
AnyTool = Tool | ToolBash20250124 | CodeExecution20250522 | CodeExecutionTool20250825 | CodeExecutionTool20260120 |
  CodeExecutionTool20260521 | BrowserToolset20260801 | MemoryTool20250818 | ComputerToolset20260801 |
  ToolTextEditor20250124 | ToolTextEditor20250429 | ToolTextEditor20250728 | WebSearchTool20250305 |
  WebFetchTool20250910 | WebSearchTool20260209 | WebFetchTool20260209 | WebFetchTool20260309 | WebSearchTool20260318 |
  WebFetchTool20260318 | ToolSearchToolBm25_20251119 | ToolSearchToolRegex20251119
BrowserToolsetConfigs {close_tab, double_click, file_upload, find, form_input, get_page_text, hold_key, hover,
  javascript_exec, key, left_click, left_click_drag, left_mouse_down, left_mouse_up, list_tabs, middle_click,
  mouse_move, navigate, new_tab, read_console, read_network, read_page, right_click, screenshot, scroll, scroll_to,
  switch_tab, triple_click, type, wait, zoom? Toggle | null}
ComputerToolsetConfigs {cursor_position, double_click, hold_key, key, left_click, left_click_drag, left_mouse_down,
  left_mouse_up, middle_click, mouse_move, right_click, screenshot, scroll, triple_click, type, wait,
  zoom? Toggle | null}
ToolBash20250124 {type "bash_20250124"; name "bash"; allowed_callers? Callers; cache_control? Mark; defer_loading?
  flag; input_examples? [object]; strict? flag}
CodeExecution20250522 {type "code_execution_20250522"; name "code_execution"; allowed_callers? Callers; cache_control?
  Mark; defer_loading? flag; strict? flag}
CodeExecutionTool20250825 {type "code_execution_20250825"; name "code_execution"; allowed_callers? Callers;
  cache_control? Mark; defer_loading? flag; strict? flag}
CodeExecutionTool20260120 {type "code_execution_20260120"; name "code_execution"; allowed_callers? Callers;
  cache_control? Mark; defer_loading? flag; strict? flag}
CodeExecutionTool20260521 {type "code_execution_20260521"; name "code_execution"; allowed_callers? Callers;
  cache_control? Mark; defer_loading? flag; strict? flag}
BrowserToolset20260801 {type "browser_toolset_20260801"; cache_control? Mark; configs? BrowserToolsetConfigs | null}
Toggle {defer_loading? flag | null; enabled? flag | null}
MemoryTool20250818 {type "memory_20250818"; name "memory"; allowed_callers? Callers; cache_control? Mark;
  defer_loading? flag; input_examples? [object]; strict? flag}
ComputerToolset20260801 {type "computer_toolset_20260801"; cache_control? Mark; configs? ComputerToolsetConfigs |
  null}
ToolTextEditor20250124 {type "text_editor_20250124"; name "str_replace_editor"; allowed_callers? Callers;
  cache_control? Mark; defer_loading? flag; input_examples? [object]; strict? flag}
ToolTextEditor20250429 {type "text_editor_20250429"; name "str_replace_based_edit_tool"; allowed_callers? Callers;
  cache_control? Mark; defer_loading? flag; input_examples? [object]; strict? flag}
ToolTextEditor20250728 {type "text_editor_20250728"; name "str_replace_based_edit_tool"; allowed_callers? Callers;
  cache_control? Mark; defer_loading? flag; input_examples? [object]; max_characters? integer | null; strict? flag}
WebSearchTool20250305 {type "web_search_20250305"; name "web_search"; allowed_callers? Callers; allowed_domains?
  [text] | null; blocked_domains? [text] | null; cache_control? Mark; defer_loading? flag; max_uses? integer | null;
  strict? flag; user_location? UserLocation | null}
UserLocation {type "approximate"; city? text | null; country? text | null; region? text | null; timezone? text | null}
WebFetchTool20250910 {type "web_fetch_20250910"; name "web_fetch"; allowed_callers? Callers; allowed_domains? [text] |
  null; blocked_domains? [text] | null; cache_control? Mark; citations? Citations | null; defer_loading? flag;
  max_content_tokens? integer | null; max_uses? integer | null; strict? flag; url_sources? UrlSources | null}
UrlSources {client_tool_results? SourcesAll | ToolChoiceNone | SourcesOnly | SourcesExcept; server_tool_results?
  SourcesAll | ToolChoiceNone | SourcesOnly | SourcesExcept; user_input? SourcesAll | ToolChoiceNone}
SourcesAll {type "all"}
SourcesOnly {type "only"; tools [SourceTool]}
SourceTool {type "tool_reference"; name text}
SourcesExcept {type "except"; tools [SourceTool]}
WebSearchTool20260209 {type "web_search_20260209"; name "web_search"; allowed_callers? Callers; allowed_domains?
  [text] | null; blocked_domains? [text] | null; cache_control? Mark; defer_loading? flag; max_uses? integer | null;
  strict? flag; user_location? UserLocation | null}
WebFetchTool20260209 {type "web_fetch_20260209"; name "web_fetch"; allowed_callers? Callers; allowed_domains? [text] |
  null; blocked_domains? [text] | null; cache_control? Mark; citations? Citations | null; defer_loading? flag;
  max_content_tokens? integer | null; max_uses? integer | null; strict? flag; url_sources? UrlSources | null}
WebFetchTool20260309 {type "web_fetch_20260309"; name "web_fetch"; allowed_callers? Callers; allowed_domains? [text] |
  null; blocked_domains? [text] | null; cache_control? Mark; citations? Citations | null; defer_loading? flag;
  max_content_tokens? integer | null; max_uses? integer | null; strict? flag; url_sources? UrlSources | null;
  use_cache? flag}
WebSearchTool20260318 {type "web_search_20260318"; name "web_search"; allowed_callers? Callers; allowed_domains?
  [text] | null; blocked_domains? [text] | null; cache_control? Mark; defer_loading? flag; max_uses? integer | null;
  response_inclusion? "full" | "excluded"; strict? flag; user_location? UserLocation | null}
WebFetchTool20260318 {type "web_fetch_20260318"; name "web_fetch"; allowed_callers? Callers; allowed_domains? [text] |
  null; blocked_domains? [text] | null; cache_control? Mark; citations? Citations | null; defer_loading? flag;
  max_content_tokens? integer | null; max_uses? integer | null; response_inclusion? "full" | "excluded"; strict? flag;
  url_sources? UrlSources | null; use_cache? flag}
ToolSearchToolBm25_20251119 {type "tool_search_tool_bm25_20251119" | "tool_search_tool_bm25"; name
  "tool_search_tool_bm25"; allowed_callers? Callers; cache_control? Mark; defer_loading? flag; strict? flag}
ToolSearchToolRegex20251119 {type "tool_search_tool_regex_20251119" | "tool_search_tool_regex"; name
  "tool_search_tool_regex"; allowed_callers? Callers; cache_control? Mark; defer_loading? flag; strict? flag}
"""
