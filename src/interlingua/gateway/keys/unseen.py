"""The input of a target beside the body of a request: conversations and files that it keeps, results of its own tools.

Nobody knows before the call how much that is, but no model reads more than its context window.

Rules
- A conversation, a prompt, a cache, a container or a file that is named by an id, documents behind an address, and
  tools that the provider runs count. An image behind an address does not: it is a few thousand tokens.
- Tools that only say what the body has (`tool_search`), and those that the client runs, do not count.
- What this gateway keeps itself stands in the body by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlingua.client.price import window_of
from interlingua.dialects._members import is_list, is_object

if TYPE_CHECKING:
    from interlingua.client.call.job import Job
    from interlingua.gateway.calls.client_exchange import ClientExchange
    from interlingua.gateway.calls.head import Head

__all__ = ["CONTEXT_TOKENS", "reads_more", "unseen_tokens"]

CONTEXT_TOKENS = 1_000_000
"""The context window of a model of which no window is known."""
_AT_TOP = frozenset({
    "cachedContent", "cached_content", "container", "conversation", "mcp_servers", "plugins", "previous_response_id",
    "web_search_options",
})  # fmt: skip
"""Members of a body that have its target read more."""
_FILES = frozenset({"file_id", "file_uri", "file_url", "fileUri"})
"""Members that name a file."""
_RUN_BY_CLIENTS = (
    "apply_patch", "bash_", "computer", "custom", "function", "local_shell", "memory_", "text_editor_", "tool_search",
)  # fmt: skip
"""How types of tools begin that the client runs, or that read nothing."""
_GOOGLE_FUNCTIONS = frozenset({"computerUse", "computer_use", "functionDeclarations", "function_declarations"})


def unseen_tokens(exchange: ClientExchange, job: Job, context_tokens: int | None) -> int:
    """The most tokens that a target may read beside the body: 0, or a context window.

    `context_tokens` is what the key says of it; else the largest window of the targets counts.
    """
    if not reads_more(exchange.head) and not exchange.http.kept_by:
        return 0
    if context_tokens is not None:
        return context_tokens
    return max([window_of(lane.endpoint) or CONTEXT_TOKENS for lane in job.lanes], default=CONTEXT_TOKENS)


def reads_more(head: Head) -> bool:
    """Whether a request has its target read more than its body says."""
    body = head.body
    if any([body.get(name) for name in _AT_TOP.intersection(body.members)]):
        return True
    if any([is_object(body.get(name)) for name in head.service.kept_objects]):
        return True
    if "tools" in body and "tools" not in body.shaped and any(map(_is_run_elsewhere, _listed(body.get("tools")))):
        return True
    message_members = head.service.message_members[0]
    return (
        message_members in body
        and message_members not in body.shaped
        and any(map(_names_a_file, head.objects(message_members)))
    )


def _listed(value: object) -> list[Any]:
    return value if is_list(value) else []


def _is_run_elsewhere(tool: object) -> bool:
    """Whether a tool, or one inside of a namespace, is run by the provider."""
    if not is_object(tool):
        return False
    kind = tool.get("type")
    if kind == "namespace":
        return any(map(_is_run_elsewhere, _listed(tool.get("tools"))))
    if kind == "opaque_tool":  # of our own format
        return _is_run_elsewhere(tool.get("raw"))
    if isinstance(kind, str):
        return kind != "tool" and not kind.startswith(_RUN_BY_CLIENTS)
    return "name" not in tool and not _GOOGLE_FUNCTIONS.issuperset(tool)


def _names_a_file(node: dict[str, Any]) -> bool:
    """Whether an object names a file, or a document behind an address."""
    if any([isinstance(node.get(name), str) for name in _FILES.intersection(node)]):
        return True
    source = node.get("source")
    return node.get("type") == "document" and is_object(source) and source.get("type") == "url"
