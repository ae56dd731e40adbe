"""The shape of a generateContent request.

Source: our notes on Google; the request types of the official client, google-genai 3.4.
"""

from __future__ import annotations

__all__ = ["GOOGLE"]

GOOGLE = r"""
Request {contents [Content](1..); systemInstruction? Content; tools? [Tool]; toolConfig? ToolConfig;
  generationConfig? GenerationConfig; safetySettings? [SafetySetting]; cachedContent? text; labels? {text};
  serviceTier? text; continuationToken? text; store? flag; model? text; modelArmorConfig? object}

Processing = "MEDIA_PROCESSING_UNSPECIFIED" | "STATIC" | "AGENTIC"
HostedKind = "TOOL_TYPE_UNSPECIFIED" | "GOOGLE_SEARCH_WEB" | "GOOGLE_SEARCH_IMAGE" | "URL_CONTEXT" | "GOOGLE_MAPS" |
  "FILE_SEARCH" | "MEDIA_PROCESSING"
Content {parts? [Part]; role? text}
Part {mediaResolution? PartMediaResolution; codeExecutionResult? CodeExecutionResult; executableCode? ExecutableCode;
  fileData? FileData; functionCall? FunctionCall; functionResponse? FunctionResponse; inlineData? Blob; text? text;
  thought? flag; thoughtSignature? base64; videoMetadata? VideoMetadata; toolCall? ToolCall; toolResponse?
  ToolResponse; partMetadata? object; audioTranscription? Transcription; mediaProcessing? Processing; speechMetadata?
  SpeechMetadata; documentMetadata? DocumentMetadata; spreadsheetMetadata? SpreadsheetMetadata; audioMetadata?
  AudioMetadata}
PartMediaResolution {level? "MEDIA_RESOLUTION_UNSPECIFIED" | "MEDIA_RESOLUTION_LOW" | "MEDIA_RESOLUTION_MEDIUM" |
  "MEDIA_RESOLUTION_HIGH" | "MEDIA_RESOLUTION_ULTRA_HIGH"; numTokens? integer}
CodeExecutionResult {outcome? "OUTCOME_UNSPECIFIED" | "OUTCOME_OK" | "OUTCOME_FAILED" | "OUTCOME_DEADLINE_EXCEEDED";
  output? text; id? text}
ExecutableCode {code? text; language? "LANGUAGE_UNSPECIFIED" | "PYTHON"; id? text}
FileData {displayName? text; fileUri? text; mimeType? text}
FunctionCall {id? text; args? object; name? text; partialArgs? [PartialArg]; willContinue? flag}
PartialArg {boolValue? flag; jsonPath? text; nullValue? "NULL_VALUE"; numberValue? number; stringValue? text;
  willContinue? flag}
FunctionResponse {willContinue? flag; scheduling? "SCHEDULING_UNSPECIFIED" | "SILENT" | "WHEN_IDLE" | "INTERRUPT";
  parts? [ResponsePart]; id? text; name? text; response? object}
ResponsePart {inlineData? ResponseBlob; fileData? ResponseFile; mediaProcessing? Processing; mediaResolution?
  PartMediaResolution; videoMetadata? VideoMetadata; documentMetadata? DocumentMetadata; spreadsheetMetadata?
  SpreadsheetMetadata; audioMetadata? AudioMetadata}
ResponseBlob {mimeType? text; data? base64; displayName? text}
ResponseFile {fileUri? text; mimeType? text; displayName? text}
VideoMetadata {endOffset? text; fps? number; startOffset? text; contentLayers? ["CONTENT_LAYER_UNSPECIFIED" | "FRAMES"
  | "AUDIO" | "TRANSCRIPT"]}
DocumentMetadata {startPage? integer; endPage? integer; contentLayers? ["CONTENT_LAYER_UNSPECIFIED" | "PAGE_IMAGE" |
  "PAGE_TEXT"]}
SpreadsheetMetadata {visibleCells? text; sheetIndex? integer; contentLayers? ["CONTENT_LAYER_UNSPECIFIED" | "DATA" |
  "FORMULAS" | "VISUAL"]}
AudioMetadata {startOffset? text; endOffset? text}
Blob {data? base64; displayName? text; mimeType? text}
ToolCall {id? text; toolType? HostedKind; args? object}
ToolResponse {id? text; toolType? HostedKind; response? object}
Transcription {text? text; finished? flag; languageCode? text; speakerLabel? text; words? [WordInfo]; startOffset?
  text; endOffset? text}
WordInfo {word? text; startOffset? text; endOffset? text}
SpeechMetadata {speaker? text; style? text}
Tool {retrieval? Retrieval; computerUse? ComputerUse; fileSearch? FileSearch; googleSearch? GoogleSearch; googleMaps?
  GoogleMaps; codeExecution? ToolCodeExecution; enterpriseWebSearch? EnterpriseWebSearch; functionDeclarations?
  [FunctionDeclaration](..512); googleSearchRetrieval? GoogleSearchRetrieval; parallelAiSearch? ToolParallelAiSearch;
  urlContext? UrlContext; mcpServers? [McpServer]; exaAiSearch? ToolExaAiSearch}
FunctionDeclaration {description? text; name text(1..128 /[a-zA-Z_][a-zA-Z0-9_.:-]*/); parameters? Schema;
  parametersJsonSchema? any; response? Schema; responseJsonSchema? any; behavior? "UNSPECIFIED" | "BLOCKING" |
  "NON_BLOCKING"}
Schema {additionalProperties? any; defs? {Schema}; ref? text; anyOf? [Schema]; default? any; description? text; enum?
  [text]; example? any; format? text; items? Schema; maxItems? integer; maxLength? integer; maxProperties? integer;
  maximum? number; minItems? integer; minLength? integer; minProperties? integer; minimum? number; nullable? flag;
  pattern? text; properties? {Schema}; propertyOrdering? [text]; required? [text]; title? text; type?
  "TYPE_UNSPECIFIED" | "STRING" | "NUMBER" | "INTEGER" | "BOOLEAN" | "ARRAY" | "OBJECT" | "NULL"}
ToolConfig {retrievalConfig? RetrievalConfig; functionCallingConfig? FunctionCallingConfig;
  includeServerSideToolInvocations? flag}
RetrievalConfig {latLng? LatLng; languageCode? text}
LatLng {latitude? number; longitude? number}
FunctionCallingConfig {allowedFunctionNames? [text]; mode? "MODE_UNSPECIFIED" | "AUTO" | "ANY" | "NONE" | "VALIDATED";
  streamFunctionCallArguments? flag}
SafetySetting {category? "HARM_CATEGORY_UNSPECIFIED" | "HARM_CATEGORY_HARASSMENT" | "HARM_CATEGORY_HATE_SPEECH" |
  "HARM_CATEGORY_SEXUALLY_EXPLICIT" | "HARM_CATEGORY_DANGEROUS_CONTENT" | "HARM_CATEGORY_CIVIC_INTEGRITY" |
  "HARM_CATEGORY_JAILBREAK" | "HARM_CATEGORY_IMAGE_HATE" | "HARM_CATEGORY_IMAGE_DANGEROUS_CONTENT" |
  "HARM_CATEGORY_IMAGE_HARASSMENT" | "HARM_CATEGORY_IMAGE_SEXUALLY_EXPLICIT"; method? "HARM_BLOCK_METHOD_UNSPECIFIED"
  | "SEVERITY" | "PROBABILITY"; threshold? "HARM_BLOCK_THRESHOLD_UNSPECIFIED" | "BLOCK_LOW_AND_ABOVE" |
  "BLOCK_MEDIUM_AND_ABOVE" | "BLOCK_ONLY_HIGH" | "BLOCK_NONE" | "OFF"}
GenerationConfig {modelSelectionConfig? ModelSelectionConfig; responseJsonSchema? any; audioTimestamp? flag;
  candidateCount? integer(1..8); enableAffectiveDialog? flag; frequencyPenalty? number(-2..2); logprobs?
  integer(0..20); maxOutputTokens? integer(1..); mediaResolution? "MEDIA_RESOLUTION_UNSPECIFIED" |
  "MEDIA_RESOLUTION_LOW" | "MEDIA_RESOLUTION_MEDIUM" | "MEDIA_RESOLUTION_HIGH"; presencePenalty? number(-2..2);
  responseLogprobs? flag; responseMimeType? text; responseModalities? ["MODALITY_UNSPECIFIED" | "TEXT" | "IMAGE" |
  "AUDIO" | "VIDEO"]; responseSchema? Schema; routingConfig? RoutingConfig; seed? integer; speechConfig? SpeechConfig;
  stopSequences? [text](..5); temperature? number(0..2); thinkingConfig? ThinkingConfig; topK? number(0..); topP?
  number(0..1); enableEnhancedCivicAnswers? flag; responseFormat? [ResponseFormat]; translationConfig?
  TranslationConfig; audioTranscriptionConfig? AudioTranscriptionConfig; imageConfig? ImageConfig}
ThinkingConfig {includeThoughts? flag; thinkingBudget? integer; thinkingLevel? "THINKING_LEVEL_UNSPECIFIED" |
  "MINIMAL" | "LOW" | "MEDIUM" | "HIGH" | "XHIGH"}
ImageConfig {aspectRatio? text; imageSize? text; imageOutputOptions? object; personGeneration? text; prominentPeople?
  text}
"""
