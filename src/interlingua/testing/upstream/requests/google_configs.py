"""The rarer settings of a generateContent request: voices, formats, routing.

Source: our notes on Google; the request types of the official client, google-genai 3.4.
"""

from __future__ import annotations

__all__ = ["GOOGLE_CONFIGS"]

GOOGLE_CONFIGS = r"""
AspectRatio = "ASPECT_RATIO_UNSPECIFIED" | "ASPECT_RATIO_ONE_BY_ONE" | "ASPECT_RATIO_TWO_BY_THREE" |
  "ASPECT_RATIO_THREE_BY_TWO" | "ASPECT_RATIO_THREE_BY_FOUR" | "ASPECT_RATIO_FOUR_BY_THREE" |
  "ASPECT_RATIO_FOUR_BY_FIVE" | "ASPECT_RATIO_FIVE_BY_FOUR" | "ASPECT_RATIO_NINE_BY_SIXTEEN" |
  "ASPECT_RATIO_SIXTEEN_BY_NINE" | "ASPECT_RATIO_TWENTY_ONE_BY_NINE" | "ASPECT_RATIO_ONE_BY_EIGHT" |
  "ASPECT_RATIO_EIGHT_BY_ONE" | "ASPECT_RATIO_ONE_BY_FOUR" | "ASPECT_RATIO_FOUR_BY_ONE"
Delivery = "DELIVERY_UNSPECIFIED" | "INLINE" | "URI"
ModelSelectionConfig {featureSelectionPreference? "FEATURE_SELECTION_PREFERENCE_UNSPECIFIED" | "PRIORITIZE_QUALITY" |
  "BALANCED" | "PRIORITIZE_COST"}
RoutingConfig {autoMode? AutoRouting; manualMode? ManualRouting}
AutoRouting {modelRoutingPreference? "UNKNOWN" | "PRIORITIZE_QUALITY" | "BALANCED" | "PRIORITIZE_COST"}
ManualRouting {modelName? text}
SpeechConfig {voiceConfig? VoiceConfig; languageCode? text; multiSpeakerVoiceConfig? MultiSpeakerVoiceConfig}
VoiceConfig {replicatedVoiceConfig? ReplicatedVoiceConfig; prebuiltVoiceConfig? PrebuiltVoiceConfig; voice? text}
ReplicatedVoiceConfig {mimeType? text; voiceSampleAudio? base64; consentAudio? base64; voiceConsentSignature?
  VoiceConsentSignature}
VoiceConsentSignature {signature? text}
PrebuiltVoiceConfig {voiceName? text}
MultiSpeakerVoiceConfig {speakerVoiceConfigs? [SpeakerVoiceConfig]}
SpeakerVoiceConfig {speaker? text; voiceConfig? VoiceConfig}
ResponseFormat {audio? AudioResponseFormat; image? ImageResponseFormat; text? TextResponseFormat; video?
  VideoResponseFormat}
AudioResponseFormat {bitRate? integer; delivery? Delivery; mimeType? text; sampleRate? integer}
ImageResponseFormat {aspectRatio? AspectRatio; delivery? Delivery; imageSize? "IMAGE_SIZE_UNSPECIFIED" |
  "IMAGE_SIZE_FIVE_TWELVE" | "IMAGE_SIZE_ONE_K" | "IMAGE_SIZE_TWO_K" | "IMAGE_SIZE_FOUR_K"; mimeType? text}
TextResponseFormat {mimeType? text; schema? any}
VideoResponseFormat {aspectRatio? AspectRatio; delivery? Delivery; duration? text; gcsUri? text; resolution? text}
TranslationConfig {echoTargetLanguage? flag; targetLanguageCode? text}
AudioTranscriptionConfig {languageCodes? [text]; languageAuto? LanguageAuto; languageHints? LanguageHints;
  customVocabulary? [text]; adaptationPhrases? [text]; wordTimestamp? flag; diarization? flag; mode?
  "MODE_UNSPECIFIED" | "VERBATIM" | "SMART"; sourceText? text}
LanguageAuto {}
LanguageHints {languageCodes? [text]}
"""
