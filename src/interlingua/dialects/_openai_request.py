"""Writing a request, as far as the two OpenAI dialects do it alike: choices, subsets of tools, structured output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlingua.dialects._request import RequestWriter, chosen_names, must_call
from interlingua.types.tool import AllowedTools, NamedTool, Tool

if TYPE_CHECKING:
    from interlingua.types.tool import ToolChoice

__all__ = ["OpenAIRequestWriter"]


class OpenAIRequestWriter(RequestWriter):
    """Writes one request of Chat or of Responses."""

    def freeform_names(self) -> frozenset[str]:
        """The tools that are offered as freeform ones."""
        if not self.quirks.freeform_tools:
            return frozenset()
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

    def sayable_choice(self) -> ToolChoice | None:
        """The choice as far as the server honours one; an entry where it is not the caller's own."""
        choice, quirks = self.request.tool_choice, self.quirks
        if choice is None or "tool_choice" in quirks.unsupported:
            return None
        if quirks.tool_choice == "ignored":
            code = "tools_withheld" if choice == "none" else "tool_choice_approximated"
            if choice != "auto":
                self.changes.add(code, "/tool_choice", "the server ignores tool choices")
            return None
        if self.must_filter():
            self.changes.add("tool_choice_approximated", "/tool_choice", "the other tools are left out")
            return "required" if must_call(choice) else "auto"
        return choice

    def takes_schema(self) -> bool:
        """Whether an output format is sent; where the server has no schemas, JSON mode only if that is allowed."""
        request, quirks = self.request, self.quirks
        weak = quirks.output_schema != "json_schema"
        together = not request.tools or quirks.output_schema_with_tools
        if request.output_schema is None or (together and not weak):
            return True
        loosened = "output_schema" in self.options.allow
        why = "only JSON mode" if weak else "no schema together with tools"
        code = "output_schema_loosened" if loosened else "output_schema"
        self.changes.add(code, "/output_schema", f"the server has {why}")
        return loosened
