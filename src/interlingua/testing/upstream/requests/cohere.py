"""The shape of a request of Cohere's `/v2/chat`.

Source: our notes on Cohere; the request types of the official client, cohere 7.3.
"""

from __future__ import annotations

__all__ = ["COHERE"]

COHERE = r"""
Request {model text(1..); messages [Message](1..); stream? flag; tools? [Tool]; strict_tools? flag;
  tool_choice? "REQUIRED" | "NONE"; documents? [text | Document]; citation_options? CitationOptions;
  response_format? FormatText | FormatJson; safety_mode? "CONTEXTUAL" | "STRICT" | "OFF"; max_tokens? integer(0..);
  stop_sequences? [text](..5); temperature? number(0..); seed? integer;
  frequency_penalty, presence_penalty? number(0..1);
  k? number(0..500); p? number(0.01..0.99); logprobs? flag; thinking? Thinking; priority? integer(0..)}
Message = User | Assistant | System | ToolMessage
User {role "user"; content text | [PartText | PartImage]}
System {role "system"; content text | [PartText]}
Assistant {role "assistant"; content? text | [PartText | PartThinking] | null; tool_plan? text; tool_calls? [Call];
  citations? [Citation]}
ToolMessage {role "tool"; tool_call_id text(1..); content text | [PartText | PartDocument]}
PartText {type "text"; text text}
PartThinking {type "thinking"; thinking text}
PartImage {type "image_url"; image_url ImageUrl}
ImageUrl {url text(1..); detail? "auto" | "low" | "high"}
PartDocument {type "document"; document Document}
Document {data object; id? text}
Call {id text(1..); type "function"; function Called}
Called {name text(1..); arguments text}
Citation {start, end? integer(0..); text? text; sources? [Source]; content_index? integer(0..);
  type? "TEXT_CONTENT" | "THINKING_CONTENT" | "PLAN"}
Source {type "tool" | "document"; id? text; tool_output? object; document? object}
Tool {type "function"; function Function}
Function {name text(/[a-zA-Z0-9_]{1,64}/); description? text; parameters object}
CitationOptions {mode? "ENABLED" | "DISABLED" | "FAST" | "ACCURATE" | "OFF"}
FormatText {type "text"}
FormatJson {type "json_object"; json_schema? object}
Thinking {type "enabled" | "disabled"; token_budget? integer(1..)}
"""
