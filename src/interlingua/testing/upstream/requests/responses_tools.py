"""The tools that a Responses request may offer, beyond functions and freeform tools.

Source: our notes on OpenAI Responses; the request types of the official client, openai 3.54.
"""

from __future__ import annotations

__all__ = ["RESPONSES_TOOLS"]

RESPONSES_TOOLS = r"""
AnyTool = FunctionTool | CustomTool | NamespaceTool | FileSearchTool | ComputerTool | ComputerUsePreviewTool |
  WebSearchTool | WebSearchPreviewTool | Mcp | CodeInterpreter | ProgrammaticToolCalling | ImageGeneration |
  LocalShell | ShellTool | ToolSearchTool | ApplyPatchTool
Memory = "1g" | "4g" | "16g" | "64g" | null
NetworkPolicy = NetworkOff | NetworkList
FileSearchTool {type "file_search"; vector_store_ids [text]; filters? ComparisonFilter | CompoundFilter | null;
  max_num_results? integer; ranking_options? RankingOptions}
ComparisonFilter {type "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin"; key text; value text | number | flag
  | [text | number]}
CompoundFilter {type "and" | "or"; filters [ComparisonFilter | any]}
RankingOptions {hybrid_search? HybridSearch; ranker? "auto" | "default-2024-11-15"; score_threshold? number}
HybridSearch {embedding_weight number; text_weight number}
ComputerTool {type "computer"}
ComputerUsePreviewTool {type "computer_use_preview"; display_height integer; display_width integer; environment
  "windows" | "mac" | "linux" | "ubuntu" | "browser"}
WebSearchTool {type "web_search" | "web_search_2025_08_26"; external_web_access? flag; filters? SearchFilters | null;
  search_context_size? Degree; user_location? UserLocation | null}
SearchFilters {allowed_domains? [text] | null}
UserLocation {city? text | null; country? text | null; region? text | null; timezone? text | null; type?
  "approximate"}
NetworkOff {type "disabled"}
NetworkList {type "allowlist"; allowed_domains [text]; domain_secrets? [DomainSecret]}
DomainSecret {domain text; name text; value text}
ShellTool {type "shell"; allowed_callers? Callers; environment? ContainerAuto | LocalEnvironment | ContainerReference
  | null}
ContainerAuto {type "container_auto"; file_ids? [text]; memory_limit? Memory; network_policy? NetworkPolicy; skills?
  [SkillReference | InlineSkill]}
SkillReference {type "skill_reference"; skill_id text; version? text}
InlineSkill {type "inline"; description text; name text; source InlineSkillSource}
InlineSkillSource {type "base64"; data text; media_type "application/zip"}
LocalEnvironment {type "local"; skills? [LocalSkill]}
LocalSkill {description text; name text; path text}
ContainerReference {type "container_reference"; container_id text}
ToolFunction {type "function"; async? flag; name text(/[a-zA-Z0-9_-]{1,64}/); allowed_callers? Callers; defer_loading?
  flag; description? text | null; output_schema? object | null; parameters? any | null; strict? flag | null}
ToolSearchTool {type "tool_search"; description? text | null; execution? "server" | "client"; parameters? any | null}
WebSearchPreviewTool {type "web_search_preview" | "web_search_preview_2025_03_11"; search_content_types? ["text" |
  "image"]; search_context_size? Degree; user_location? PreviewLocation | null}
PreviewLocation {type "approximate"; city? text | null; country? text | null; region? text | null; timezone? text |
  null}
ApplyPatchTool {type "apply_patch"; allowed_callers? Callers}
Mcp {type "mcp"; server_label text; allowed_callers? Callers; allowed_tools? [text] | McpFilter | null; authorization?
  text; connector_id? "connector_dropbox" | "connector_gmail" | "connector_googlecalendar" | "connector_googledrive" |
  "connector_microsoftteams" | "connector_outlookcalendar" | "connector_outlookemail" | "connector_sharepoint";
  defer_loading? flag; headers? {text} | null; require_approval? McpApproval | "always" | "never" | null;
  server_description? text; server_url? text; tunnel_id? text}
McpFilter {read_only? flag; tool_names? [text]}
McpApproval {always? McpFilter; never? McpFilter}
CodeInterpreter {type "code_interpreter"; container text | AutoContainer; allowed_callers? Callers}
AutoContainer {type "auto"; file_ids? [text]; memory_limit? Memory; network_policy? NetworkPolicy}
ProgrammaticToolCalling {type "programmatic_tool_calling"}
ImageGeneration {type "image_generation"; action? ImageAction; background? ImageBackground; complexity? Degree;
  frame_count? integer; frame_duration_ms? integer; input_fidelity? "high" | "low" | null; input_image_mask?
  ImageMask; model? text; moderation? "auto" | "low"; output_compression? integer; output_format? ImageFormat;
  partial_images? integer; quality? ImageQuality; size? text; svg? Svg}
ImageMask {file_id? text; image_url? text}
Svg {model? text; reasoning? SvgReasoning | null}
SvgReasoning {effort? Effort}
LocalShell {type "local_shell"}
NamespaceTool {type "namespace"; description text; name text; tools [ToolFunction | CustomTool]}
"""
