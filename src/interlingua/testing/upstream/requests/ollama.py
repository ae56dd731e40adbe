"""The shape of an Ollama request, for `/api/chat` and for `/api/generate`.

Members that the server does not know are ignored, so a bound here is a type of the server's own structs.
Source: our notes on Ollama; the request types of the official client, ollama 0.6.
"""

from __future__ import annotations

__all__ = ["OLLAMA"]

OLLAMA = r"""
ChatRequest {model text(1..); messages? [Message] | null; tools? [Tool] | null; stream? flag | null; format? Format;
  options? Options | null; keep_alive? number | text | null; think? flag | text | null; logprobs? flag | null;
  top_logprobs? integer | null; truncate, shift? flag | null; debug_render_only? flag}
GenerateRequest {model text(1..); prompt, suffix, system, template? text | null; context? [integer] | null;
  raw? flag | null; images? [base64] | null; stream? flag | null; format? Format; options? Options | null;
  keep_alive? number | text | null; think? flag | text | null; logprobs? flag | null; top_logprobs? integer | null;
  truncate, shift? flag | null; width, height, steps? integer | null; debug_render_only? flag}
Format = "" | "json" | object | null
Message {role text; content? text | null; thinking? text | null; images? [base64] | null;
  tool_calls? [Call] | null; tool_name? text | null; tool_call_id? text | null}
Call {id? text; type? text; function Called}
Called {index? integer; name text; arguments object}
Tool {type? text | null; function Function}
Function {name text; description? text | null; parameters? Parameters | null}
Parameters {type? "object" | text; "$defs"? any; items? any; required? [text] | null; properties? {Property} | null;
  ...}
Property {type? text | [text] | null; anyOf? [Property] | null; items? any; description? text | null;
  enum? [any] | null; properties? {Property} | null; required? [text] | null; ...}
Options {numa, low_vram, f16_kv, logits_all, vocab_only, use_mmap, use_mlock, embedding_only,
  penalize_newline? flag | null;
  num_ctx, num_batch, num_gpu, main_gpu, num_thread, num_keep, seed, num_predict, top_k, repeat_last_n,
  mirostat? integer | null;
  top_p, min_p, tfs_z, typical_p, temperature, repeat_penalty, presence_penalty, frequency_penalty,
  mirostat_tau, mirostat_eta? number | null; stop? [text] | null}
"""
