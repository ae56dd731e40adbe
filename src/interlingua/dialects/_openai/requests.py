"""Writing a request, as far as the two OpenAI dialects do it alike: choices, subsets of tools, structured output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlingua.dialects._bounds import OPENAI
from interlingua.dialects._request import RequestWriter, chosen_names, must_call, schema_prompt
from interlingua.dialects._subsets import OPENAI_OUTPUT, OPENAI_STRICT, OPENAI_TOOL
from interlingua.schema.names import map_names
from interlingua.types.content import TextPart
from interlingua.types.tool import AllowedTools, NamedTool, Tool

if TYPE_CHECKING:
    from interlingua.dialects._contract import EncodeOptions, Target
    from interlingua.schema.subset import Subset
    from interlingua.types.request import Request
    from interlingua.types.tool import ToolChoice

__all__ = ["OpenAIRequestWriter", "system_role"]

TIERS = {"standard_only": "default", "on_demand": "default", "performance": "priority"}
"""Classes of service in the words of other providers -> the nearest of OpenAI's."""
CACHE_LIVES: dict[str, tuple[str, dict[str, Any]]] = {
    "prompt_cache_retention": ("at most 24 hours", {"prompt_cache_retention": "24h"}),
    "prompt_cache_options": ("at least 30 minutes", {"prompt_cache_options": {"ttl": "30m"}}),
}
"""How a longer life is asked for -> what that means, and the members."""


def system_role(target: Target, read: str | None) -> str | None:
    """The role of a system message: what the server takes, else what the model wants, else as it was read."""
    if target.quirks.system_role != "as_read":
        return target.quirks.system_role
    return target.facts.system_role or read


class OpenAIRequestWriter(RequestWriter):
    """Writes one request of Chat or of Responses."""

    def __init__(self, request: Request, options: EncodeOptions) -> None:
        """The writer of one request."""
        super().__init__(request, options)
        if self.quirks.bounds == "vendor":
            self.bounds = OPENAI

    def tool_subset(self, tool: Tool) -> Subset | None:
        """The subset of JSON Schema for a tool: any plain object, unless it is to be strict."""
        return OPENAI_STRICT if tool.strict and self.quirks.strict_schemas else OPENAI_TOOL

    def output_subset(self, request: Request) -> Subset | None:
        """The subset of JSON Schema that is taken of an output schema."""
        sent = self.quirks.output_schema == "json_schema" and self._goes_with_tools()
        if not sent or not self.quirks.strict_schemas:
            return None
        if request.schema_strict:
            return OPENAI_STRICT
        root = request.output_schema
        return None if root is None or root.get("type") == "object" else OPENAI_OUTPUT

    def freeform_names(self) -> frozenset[str]:
        """The tools that are offered as freeform ones."""
        if not self.quirks.freeform_tools:
            return frozenset()
        if self.cached is not None:
            return self.cached.freeform
        return frozenset([tool.name for tool in self.request.tools if isinstance(tool, Tool) and tool.freeform])

    def must_filter(self) -> bool:
        """Whether the choice can only be said by leaving tools out."""
        choice = self.request.tool_choice
        if self.quirks.tool_choice == "full":
            return isinstance(choice, AllowedTools) and not self.quirks.allowed_tools
        return isinstance(choice, AllowedTools | NamedTool) or (
            choice == "none" and self.quirks.tool_choice == "ignored"
        )

    def allowed(self) -> frozenset[str] | None:
        """The only tools that are sent; None where all are."""
        return chosen_names(self.request.tool_choice) if self.must_filter() else None

    def takes_choice(self, name: str, *, tools: bool) -> bool:
        """Whether a member about the choice among tools is taken; an entry where it is not, for want of tools.

        A server that takes one without tools takes none that chooses among tools which were left out.
        """
        if tools or (self.quirks.choice_without_tools and not self.request.tools):
            return True
        self.changes.add("parameter_unsupported", f"/{name}", "no tool is offered")
        return False

    def sayable_choice(self, *, tools: bool) -> ToolChoice | None:
        """The choice as far as the server honours one; an entry where it is not the caller's own.

        `tools` says whether any are offered.
        """
        choice, quirks = self.request.tool_choice, self.quirks
        if choice is None or "tool_choice" in quirks.unsupported:
            return None
        if choice != "none" and not self.takes_choice("tool_choice", tools=tools):
            return None
        if quirks.tool_choice == "ignored":
            code = "tools_withheld" if choice == "none" else "tool_choice_approximated"
            if choice != "auto":
                self.changes.add(code, "/tool_choice", "the server ignores tool choices")
            return None
        if choice == "none" and not tools and not quirks.choice_without_tools:
            return None  # what no tools mean anyway
        if self.must_filter():
            self.changes.add("tool_choice_approximated", "/tool_choice", "the other tools are left out")
            return "required" if must_call(choice) else "auto"
        return choice

    # Structured output

    def wants_format(self) -> bool:
        """Whether the request says anything about the form of the answer."""
        request = self.request
        return (
            request.output_schema is not None
            or request.json_mode
            or request.schema_strict is not None
            or request.schema_description is not None
        )

    def told_system(self) -> tuple[TextPart, ...]:
        """The system text; with the schema in words, where the server is not held to it and that is allowed."""
        request = self.request
        loose = not self._is_bound() and "output_schema" in self.options.allow
        if not loose:
            # JSON may have to be asked for in words, where neither the system text nor the first message does. Later
            # messages are not looked at: what they say must not change the beginning of the prompt.
            quirks = self.quirks
            if not (request.json_mode and quirks.json_word and quirks.json_mode) or request.output_schema is not None:
                return request.system
            first = request.messages[0].text if request.messages else ""
            if "json" in "".join([*[part.text for part in request.system], first]).lower():
                return request.system
            self.changes.add("output_schema_prompted", "/json_mode", "the server wants JSON asked for in words, too")
        gap = "\n\n" if request.system else ""
        return (*request.system, TextPart(gap + schema_prompt(request.output_schema)))

    def told_output(self) -> Request | None:
        """The request whose output format is sent; None where there is none to send.

        Where the server cannot be held to a schema that is refused, unless it is allowed: then it gets JSON mode, or
        nothing beside tools that go with no format.
        """
        request, quirks = self.request, self.quirks
        if self._is_bound():
            if quirks.json_mode or not request.json_mode:
                # The server takes the name that the schema gets; the model does not see it.
                own, rule = request.schema_name, quirks.name_rule
                legal = map_names((own,), rule)[own] if own and request.output_schema is not None else own
                if legal == own:
                    return request
                self.changes.add("parameter_adjusted", "/schema_name", f"{own!r} is {legal!r} on the wire")
                return replace(request, schema_name=legal)
            if request.output_schema is not None:
                return request
            self.changes.add("parameter_adjusted", "/json_mode", "the server has schemas only: that of any object")
            return replace(request, output_schema={"type": "object"}, json_mode=False)
        weak = quirks.output_schema != "json_schema"
        why = f"the server has {'only JSON mode' if weak else 'no schema together with tools'}"
        if "output_schema" not in self.options.allow:
            self.changes.add("output_schema", "/output_schema", why)
            return None
        mode = quirks.output_schema != "none" and self._goes_with_tools()
        self.changes.add("output_schema_loosened" if mode else "output_schema_prompted", "/output_schema", why)
        return replace(request, output_schema=None, json_mode=True) if mode else None

    def _goes_with_tools(self) -> bool:
        return not self.request.tools or self.quirks.output_schema_with_tools

    def _is_bound(self) -> bool:
        """Whether the server holds the answer to the schema, or there is none."""
        if self.request.output_schema is None:
            return True
        return self.quirks.output_schema == "json_schema" and self._goes_with_tools()

    # Knobs

    def told_tier(self) -> str | None:
        """The class of service, in a word that the provider knows."""
        tier, tiers = self.request.service_tier, self.quirks.service_tiers
        if tier is None or not self.takes("service_tier"):
            return None
        if not tiers or tier in tiers:
            return tier
        nearest = TIERS.get(tier)
        if nearest not in tiers:
            self.changes.add("parameter_unsupported", "/service_tier", f"no class {tier!r} here")
            return None
        self.changes.add("parameter_adjusted", "/service_tier", f"{tier} is sent as {nearest}")
        return nearest

    def told_cache(self) -> dict[str, Any]:
        """The members that ask for a longer life of cached prompts; the shorter is what such a model does by itself."""
        request, life = self.request, self.facts.cache_life
        if request.cache in (None, "auto") or (request.cache == "5m" and life is not None):
            return {}
        if life is None:
            self.changes.add("cache_unsupported", "/cache", "no longer life of cached prompts is known here")
            return {}
        retention, members = CACHE_LIVES[life]
        self.changes.add("parameter_adjusted", "/cache", f"{request.cache} is sent as {retention}")
        return members
