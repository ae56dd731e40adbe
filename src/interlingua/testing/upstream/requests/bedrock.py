"""The shapes of requests of Converse and ConverseStream; the name of the model stands in the path.

An object whose definition begins with a bar is a union: exactly one of its members is there.
Source: service model `bedrock-runtime/2023-09-30` of botocore 1.44.
"""

from __future__ import annotations

__all__ = ["BEDROCK"]

BEDROCK = r"""
Request {messages? [Message]; system? [SystemContentBlock]; inferenceConfig? InferenceConfiguration;
  toolConfig? ToolConfiguration; guardrailConfig? GuardrailConfiguration; projectIdentifier? text(1..2048
  /([a-zA-Z0-9_-]+|arn:aws(-[a-z-]+)?:bedrock:[0-9a-z-]{1,20}:[0-9]{12}:project\/[a-zA-Z0-9_-]+)/);
  additionalModelRequestFields? any; promptVariables? {PromptVariableValues};
  additionalModelResponseFieldPaths? [text(1..256)](..10);
  requestMetadata? {text(..256 /[a-zA-Z0-9\s:_@$#=\/+,-.]{0,256}/)}(1..16); performanceConfig? PerformanceConfiguration;
  serviceTier? ServiceTier; outputConfig? OutputConfig}
Message {role "user" | "assistant" | "system"; content [ContentBlock]}
ContentBlock | {text text; image ImageBlock; document DocumentBlock; video VideoBlock; audio AudioBlock; toolUse
  ToolUseBlock; toolResult ToolResultBlock; guardContent GuardrailConverseContentBlock; cachePoint CachePointBlock;
  reasoningContent ReasoningContentBlock; citationsContent CitationsContentBlock; searchResult SearchResultBlock;
  toolAddition ToolAdditionBlock; toolRemoval ToolRemovalBlock}
ImageBlock {format "png" | "jpeg" | "gif" | "webp"; source ImageSource; error? ErrorBlock}
ImageSource | {bytes base64; s3Location S3Location}
S3Location {uri text(1..1024 /s3:\/\/[a-z0-9][\.\-a-z0-9]{1,61}[a-z0-9](\/.*)?/); bucketOwner? text(/[0-9]{12}/)}
ErrorBlock {message? text}
DocumentBlock {format? "pdf" | "csv" | "doc" | "docx" | "xls" | "xlsx" | "html" | "txt" | "md"; name text(1..200);
  source DocumentSource; context? text; citations? CitationsConfig}
DocumentSource | {bytes base64; s3Location S3Location; text text; content [DocumentContentBlock]}
DocumentContentBlock | {text text}
CitationsConfig {enabled flag}
VideoBlock {format "mkv" | "mov" | "mp4" | "webm" | "flv" | "mpeg" | "mpg" | "wmv" | "three_gp"
  | "video/mp4"; source VideoSource}
VideoSource | {bytes base64; s3Location S3Location}
AudioBlock {format "mp3" | "opus" | "wav" | "aac" | "flac" | "mp4" | "ogg" | "mkv" | "mka" | "x-aac" | "m4a" | "mpeg"
  | "mpga" | "pcm" | "webm"; source AudioSource; error? ErrorBlock}
AudioSource | {bytes base64; s3Location S3Location}
ToolUseBlock {toolUseId text(1..64 /[a-zA-Z0-9_.:-]+/); name text(1..64 /[a-zA-Z0-9_-]+/); input any; type?
  "server_tool_use"}
ToolResultBlock {toolUseId text(1..64 /[a-zA-Z0-9_.:-]+/); content [ToolResultContentBlock]; status? "success" |
  "error"; type? text}
ToolResultContentBlock | {json any; text text; image ImageBlock; document DocumentBlock; video VideoBlock;
  searchResult SearchResultBlock}
SearchResultBlock {source text; title text; content [SearchResultContentBlock]; citations? CitationsConfig}
SearchResultContentBlock {text text}
GuardrailConverseContentBlock | {text GuardrailConverseTextBlock; image GuardrailConverseImageBlock}
GuardrailConverseTextBlock {text text; qualifiers? ["grounding_source" | "query" | "guard_content"]}
GuardrailConverseImageBlock {format "png" | "jpeg"; source GuardrailConverseImageSource}
GuardrailConverseImageSource | {bytes base64}
CachePointBlock {type "default"; ttl? "5m" | "1h"}
ReasoningContentBlock | {reasoningText ReasoningTextBlock; redactedContent base64}
ReasoningTextBlock {text text; signature? text}
CitationsContentBlock {content? [CitationGeneratedContent]; citations? [Citation]}
CitationGeneratedContent | {text text}
Citation {title? text; source? text; sourceContent? [CitationSourceContent]; location? CitationLocation}
CitationSourceContent | {text text}
CitationLocation | {web WebLocation; documentChar DocumentCharLocation; documentPage DocumentPageLocation;
  documentChunk DocumentChunkLocation; searchResultLocation SearchResultLocation}
WebLocation {url? text; domain? text}
DocumentCharLocation {documentIndex, start, end? integer(0..)}
DocumentPageLocation {documentIndex, start, end? integer(0..)}
DocumentChunkLocation {documentIndex, start, end? integer(0..)}
SearchResultLocation {searchResultIndex, start, end? integer(0..)}
ToolAdditionBlock {tool ToolReference}
ToolReference {type? text(1..64); name? text(1..128); serverName? text(1..128)}
ToolRemovalBlock {tool ToolReference}
SystemContentBlock | {text text(1..); guardContent GuardrailConverseContentBlock; cachePoint CachePointBlock}
InferenceConfiguration {maxTokens? integer(1..); temperature? number(0..1); topP? number(0..1); stopSequences?
  [text(1..)](..2500)}
ToolConfiguration {tools [Tool](1..); toolChoice? ToolChoice}
Tool | {toolSpec ToolSpecification; systemTool SystemTool; cachePoint CachePointBlock}
ToolSpecification {name text(1..64 /[a-zA-Z0-9_-]+/); description? text(1..); inputSchema ToolInputSchema; strict?
  flag}
ToolInputSchema | {json any}
SystemTool {name text(1..64 /[a-zA-Z0-9_-]+/)}
ToolChoice | {auto AutoToolChoice; any AnyToolChoice; tool SpecificToolChoice}
AutoToolChoice {}
AnyToolChoice {}
SpecificToolChoice {name text(1..64 /[a-zA-Z0-9_-]+/)}
PromptVariableValues | {text text}
PerformanceConfiguration {latency? "standard" | "optimized"}
ServiceTier {type "priority" | "default" | "flex" | "reserved"}
OutputConfig {textFormat? OutputFormat; effort? text(..16)}
OutputFormat {type "json_schema"; structure OutputFormatStructure}
OutputFormatStructure | {jsonSchema JsonSchemaDefinition}
JsonSchemaDefinition {schema text; name? text; description? text}
GuardrailConfiguration {guardrailIdentifier? text(..2048
  /(|([a-z0-9]+)|(arn:aws(-[^:]+)?:bedrock:[a-z0-9-]{1,20}:[0-9]{12}:guardrail\/[a-z0-9]+))/);
  guardrailVersion? text(/(|([1-9][0-9]{0,7})|(DRAFT))/); trace? "enabled" | "disabled" | "enabled_full";
  streamProcessingMode? "sync" | "async"}
"""
