"""The tools that a generateContent request may offer, beyond functions.

Source: our notes on Google; the request types of the official client, google-genai 3.4.
"""

from __future__ import annotations

__all__ = ["GOOGLE_TOOLS"]

GOOGLE_TOOLS = r"""
PhishBlock = "PHISH_BLOCK_THRESHOLD_UNSPECIFIED" | "BLOCK_LOW_AND_ABOVE" | "BLOCK_MEDIUM_AND_ABOVE" |
  "BLOCK_HIGH_AND_ABOVE" | "BLOCK_HIGHER_AND_ABOVE" | "BLOCK_VERY_HIGH_AND_ABOVE" | "BLOCK_ONLY_EXTREMELY_HIGH"
Retrieval {disableAttribution? flag; externalApi? ExternalApi; vertexAiSearch? VertexAISearch; vertexRagStore?
  VertexRagStore}
ExternalApi {apiAuth? ApiAuth; apiSpec? "API_SPEC_UNSPECIFIED" | "SIMPLE_SEARCH" | "ELASTIC_SEARCH"; authConfig?
  AuthConfig; elasticSearchParams? ElasticSearch; endpoint? text; simpleSearchParams? SimpleSearch}
ApiAuth {apiKeyConfig? ApiAuthApiKeyConfig}
ApiAuthApiKeyConfig {apiKeySecretVersion? text; apiKeyString? text}
AuthConfig {apiKey? text; apiKeyConfig? ApiKeyConfig; authType? "AUTH_TYPE_UNSPECIFIED" | "NO_AUTH" | "API_KEY_AUTH" |
  "HTTP_BASIC_AUTH" | "GOOGLE_SERVICE_ACCOUNT_AUTH" | "OAUTH" | "OIDC_AUTH"; googleServiceAccountConfig?
  ServiceAccountConfig; httpBasicAuthConfig? BasicAuthConfig; oauthConfig? OauthConfig; oidcConfig? OidcConfig}
ApiKeyConfig {apiKeySecret? text; apiKeyString? text; httpElementLocation? "HTTP_IN_UNSPECIFIED" | "HTTP_IN_QUERY" |
  "HTTP_IN_HEADER" | "HTTP_IN_PATH" | "HTTP_IN_BODY" | "HTTP_IN_COOKIE"; name? text}
ServiceAccountConfig {serviceAccount? text}
BasicAuthConfig {credentialSecret? text}
OauthConfig {accessToken? text; serviceAccount? text}
OidcConfig {idToken? text; serviceAccount? text}
ElasticSearch {index? text; numHits? integer; searchTemplate? text}
SimpleSearch {}
VertexAISearch {dataStoreSpecs? [DataStoreSpec]; datastore? text; engine? text; filter? text; maxResults? integer}
DataStoreSpec {dataStore? text; filter? text}
VertexRagStore {ragCorpora? [text]; ragResources? [RagResource]; ragRetrievalConfig? RagRetrievalConfig;
  similarityTopK? integer; storeContext? flag; vectorDistanceThreshold? number}
RagResource {ragCorpus? text; ragFileIds? [text]}
RagRetrievalConfig {filter? RagFilter; hybridSearch? RagHybrid; ranking? RagRanking; topK? integer}
RagFilter {metadataFilter? text; vectorDistanceThreshold? number; vectorSimilarityThreshold? number}
RagHybrid {alpha? number}
RagRanking {llmRanker? LlmRanker; rankService? RankService}
LlmRanker {modelName? text}
RankService {modelName? text}
ComputerUse {environment? "ENVIRONMENT_UNSPECIFIED" | "ENVIRONMENT_BROWSER" | "ENVIRONMENT_MOBILE" |
  "ENVIRONMENT_DESKTOP"; excludedPredefinedFunctions? [text]; enablePromptInjectionDetection? flag;
  disabledSafetyPolicies? ["SAFETY_POLICY_UNSPECIFIED" | "FINANCIAL_TRANSACTIONS" | "SENSITIVE_DATA_MODIFICATION" |
  "COMMUNICATION_TOOL" | "ACCOUNT_CREATION" | "DATA_MODIFICATION" | "USER_CONSENT_MANAGEMENT" |
  "LEGAL_TERMS_AND_AGREEMENTS"]}
FileSearch {fileSearchStoreNames? [text]; topK? integer; metadataFilter? text}
GoogleSearch {searchTypes? SearchTypes; blockingConfidence? PhishBlock; excludeDomains? [text]; timeRangeFilter?
  Interval}
SearchTypes {webSearch? WebSearch; imageSearch? ImageSearch}
WebSearch {}
ImageSearch {}
Interval {endTime? text; startTime? text}
GoogleMaps {authConfig? AuthConfig; enableWidget? flag; groundingTypes? GoogleMapsGroundingTypes}
GoogleMapsGroundingTypes {places? GoogleMapsPlaces; routing? GoogleMapsRouting}
GoogleMapsPlaces {}
GoogleMapsRouting {}
ToolCodeExecution {}
EnterpriseWebSearch {blockingConfidence? PhishBlock; excludeDomains? [text]}
GoogleSearchRetrieval {dynamicRetrievalConfig? DynamicRetrievalConfig}
DynamicRetrievalConfig {dynamicThreshold? number; mode? "MODE_UNSPECIFIED" | "MODE_DYNAMIC"}
ToolParallelAiSearch {apiKey? text; customConfigs? object; enableDataRetention? flag; enableZeroDataRetention? flag}
UrlContext {}
McpServer {name? text; streamableHttpTransport? StreamableHttpTransport}
StreamableHttpTransport {headers? {text}; sseReadTimeout? text; terminateOnClose? flag; timeout? text; url? text}
ToolExaAiSearch {apiKey? text; customConfigs? object}
"""
