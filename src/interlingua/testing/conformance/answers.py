"""The least content of an answer of each service, whole and in pieces: the shapes that conformance demands.

Further members are let through everywhere; what a client of the service relies on must be there.
Source: sections "Response", "Stream" and "Errors" of our notes on each service; answer types of the official clients.
"""

from __future__ import annotations

from functools import cache

from interlingua.testing.upstream.notation import parse
from interlingua.testing.upstream.shapes import Named, Reading, faults

__all__ = ["ANSWERS", "shape_faults"]

CHAT = r"""
Whole {id text(1..); object "chat.completion"; created integer; model text(1..); choices [Choice](1..);
  usage Usage; ...}
Choice {index integer(0..); message Message; finish_reason Finish; ...}
Finish = "stop" | "length" | "tool_calls" | "content_filter" | "function_call"
Message {role "assistant"; content text | null; refusal? text | null; tool_calls? [Call](1..) | null; ...}
Call {id text(1..); type "function"; function Called; ...}
Called {name text(1..); arguments text; ...}
Usage {prompt_tokens, completion_tokens, total_tokens integer(0..); ...}
Frame {id text; object "chat.completion.chunk"; created integer; model text; choices [FrameChoice]; usage? Usage | null;
  ...}
FrameChoice {index integer(0..); delta Delta; finish_reason? Finish | null; ...}
Delta {role? "assistant" | null; content? text | null; refusal? text | null; tool_calls? [CallDelta] | null; ...}
CallDelta {index integer(0..); id? text(1..) | null; type? "function" | null; function? CalledDelta; ...}
CalledDelta {name? text | null; arguments? text | null; ...}
Error {error ErrorBody; ...}
ErrorBody {message text(1..); type text | null; param? text | null; code? text | number | null; ...}
"""
RESPONSES = r"""
Whole {id text(1..); object "response"; created_at number; status "completed" | "incomplete"; error? null;
  incomplete_details? Incomplete | null; model text(1..); output [Item]; parallel_tool_calls flag; tool_choice any;
  tools [any]; usage Usage; ...}
Incomplete {reason text; ...}
Item = Message | Call | Reasoning
Message {type "message"; id text(1..); role "assistant"; status text; content [Part]; ...}
Part = OutputText | Refusal
OutputText {type "output_text"; text text; annotations [any]; ...}
Refusal {type "refusal"; refusal text; ...}
Call {type "function_call"; call_id text(1..); name text(1..); arguments text; id? text(1..); status? text; ...}
Reasoning {type "reasoning"; id text(1..); summary [any]; ...}
Usage {input_tokens, output_tokens, total_tokens integer(0..); input_tokens_details, output_tokens_details object; ...}
Frame {type text(1..); sequence_number integer(0..); ...}
Error {error ErrorBody; ...}
ErrorBody {message text(1..); type text | null; param? text | null; code? text | number | null; ...}
"""
ANTHROPIC = r"""
Whole {id text(1..); type "message"; role "assistant"; model text(1..); content [Block]; stop_reason Stop;
  stop_sequence? text | null; usage Usage; ...}
Stop = "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "pause_turn" | "refusal" |
  "model_context_window_exceeded"
Block = Text | ToolUse | Thinking | Redacted
Text {type "text"; text text; ...}
ToolUse {type "tool_use"; id text(/[a-zA-Z0-9_-]+/); name text(1..); input object; ...}
Thinking {type "thinking"; thinking text; signature text; ...}
Redacted {type "redacted_thinking"; data text; ...}
Usage {input_tokens, output_tokens integer(0..); ...}
Frame = MessageStart | BlockStart | BlockDelta | BlockStop | MessageDelta | MessageStop | Ping | Error
MessageStart {type "message_start"; message Begun; ...}
Begun {id text(1..); type "message"; role "assistant"; model text; content [any](..0); stop_reason null;
  usage Usage; ...}
BlockStart {type "content_block_start"; index integer(0..); content_block Block; ...}
BlockDelta {type "content_block_delta"; index integer(0..); delta Delta; ...}
Delta = TextDelta | JsonDelta | ThinkingDelta | SignatureDelta
TextDelta {type "text_delta"; text text; ...}
JsonDelta {type "input_json_delta"; partial_json text; ...}
ThinkingDelta {type "thinking_delta"; thinking text; ...}
SignatureDelta {type "signature_delta"; signature text; ...}
BlockStop {type "content_block_stop"; index integer(0..); ...}
MessageDelta {type "message_delta"; delta Ending; usage EndUsage; ...}
Ending {stop_reason Stop; stop_sequence? text | null; ...}
EndUsage {output_tokens integer(0..); ...}
MessageStop {type "message_stop"; ...}
Ping {type "ping"; ...}
Error {type "error"; error ErrorBody; ...}
ErrorBody {type text(1..); message text(1..); ...}
"""
GOOGLE = r"""
Whole {candidates [Candidate](1..); usageMetadata Usage; modelVersion? text; responseId? text; ...}
Candidate {index? integer; content? Content; finishReason text(1..); ...}
Content {role? "model"; parts? [Part]; ...}
Part {text? text; thought? flag; functionCall? Call; thoughtSignature? base64; ...}
Call {name text(1..); args? object; id? text; ...}
Usage {promptTokenCount integer(0..); candidatesTokenCount? integer(0..); totalTokenCount integer(0..); ...}
Frame {candidates? [FrameCandidate]; usageMetadata? FrameUsage; ...}
FrameUsage {promptTokenCount? integer(0..); totalTokenCount? integer(0..); ...}
FrameCandidate {index? integer; content? Content; finishReason? text(1..); ...}
Error {error ErrorBody; ...}
ErrorBody {code integer(400..599); message text(1..); status text(1..); ...}
"""
OLLAMA = r"""
Whole {model text(1..); created_at text(1..); message Message; done true; done_reason text(1..);
  eval_count integer(0..); prompt_eval_count? integer(0..); ...}
Message {role "assistant"; content text; thinking? text; tool_calls? [Call](1..); ...}
Call {id? text; function Called; ...}
Called {name text(1..); arguments object; ...}
Frame {model text(1..); created_at text(1..); message Message; done flag; ...}
Error {error text(1..); ...}
"""
COHERE = r"""
Whole {id text(1..); finish_reason Finish; message Message; usage Usage; ...}
Finish = "COMPLETE" | "STOP_SEQUENCE" | "MAX_TOKENS" | "TOOL_CALL" | "ERROR" | "TIMEOUT"
Message {role "assistant"; content? [Block](1..); tool_plan? text(1..); tool_calls? [Call](1..); citations? [any]; ...}
Block = Text | Thinking
Text {type "text"; text text; ...}
Thinking {type "thinking"; thinking text; ...}
Call {id text(1..); type "function"; function Called; ...}
Called {name text(1..); arguments text; ...}
Usage {tokens Tokens; ...}
Tokens {input_tokens, output_tokens number(0..); ...}
Frame {type text(1..); index? integer(0..); delta? object; ...}
Error {message text(1..); id? text; ...}
"""
BEDROCK = r"""
Whole {output Output; stopReason Stop; usage Usage; metrics Metrics; ...}
Output {message Message; ...}
Message {role "assistant"; content [Block]; ...}
Block {text? text; toolUse? Call; reasoningContent? object; ...}
Call {toolUseId text(1..64 /[a-zA-Z0-9_.:-]+/); name text(1..); input object; ...}
Stop = "end_turn" | "tool_use" | "max_tokens" | "stop_sequence" | "guardrail_intervened" | "content_filtered" |
  "malformed_model_output" | "malformed_tool_use" | "model_context_window_exceeded"
Usage {inputTokens, outputTokens, totalTokens integer(0..); ...}
Metrics {latencyMs integer(0..); ...}
Frame {contentBlockIndex? integer(0..); role? "assistant"; start? Start; delta? object; stopReason? Stop;
  usage? Usage; metrics? Metrics; ...}
Start {toolUse? Begun; ...}
Begun {toolUseId text(1..64 /[a-zA-Z0-9_.:-]+/); name text(1..); ...}
Error {message text(1..); ...}
"""
UNIFIED = r"""
Whole {model text(1..); text? text | null; tool_calls? [Shown] | null; parts [Part]; finish_reason Finish;
  usage? Usage | null; ...}
Finish = "stop" | "length" | "tool_calls" | "content_filter" | "refusal" | "pause" | "error" | "other"
Shown {id text(1..); name text(1..); arguments object}
Part = Text | Thinking | Refusal | Call
Text {type "text"; text text; ...}
Thinking {type "thinking"; text? text; ...}
Refusal {type "refusal"; text text; ...}
Call {type "tool_call"; id text(1..); name text(1..); arguments object; ...}
Usage {input_tokens, output_tokens? integer(0..) | null; ...}
Frame {type text(1..); index? integer(0..); ...}
Error {error ErrorBody; ...}
ErrorBody {type text(/[a-z_]+_error|error/); message text(1..); status? integer | null; code? text | null;
  path? text | null; ...}
"""
ANSWERS = {
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "google": GOOGLE,
    "ollama": OLLAMA,
    "cohere": COHERE,
    "bedrock": BEDROCK,
    "unified": UNIFIED,
}
"""The shapes of every service."""


@cache
def _reading(dialect: str) -> Reading:
    return Reading(grammar=parse(ANSWERS[dialect]))


def shape_faults(dialect: str, name: str, value: object) -> list[str]:
    """The faults of a value that should be the `Whole`, a `Frame` or an `Error` of that dialect."""
    problems = faults(_reading(dialect), Named(name), value)
    return [f"{fault.pointer or '/'}: {fault.sentence}" for fault in problems]
