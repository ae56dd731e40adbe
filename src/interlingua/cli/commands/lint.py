"""`il lint`: what each dialect rewrites or refuses of tool definitions, and what a model would miss in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from interlingua.cli.outcome import FAILED
from interlingua.cli.terminal import write
from interlingua.dialects.table import DIALECTS, OWN_DIALECT
from interlingua.errors import UnsupportedError, UsageError, WireError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from interlingua.dialects._contract import Target
    from interlingua.types.change import Change
    from interlingua.types.tool import Tool

__all__ = ["EXAMPLES", "arguments", "run"]

TARGETS = tuple([name for name in DIALECTS if name != OWN_DIALECT])
"""The dialects that are looked at when no target is named."""
EXAMPLES = f"""\
A target is a dialect ({", ".join(TARGETS)}) or
provider/model. Without one, all dialects are checked. Nothing is sent, and no key is needed.

examples:
  il lint tools.json                                 a list of definitions, in the form of any dialect
  il lint mytools --target google                    the public functions of a Python module
  il lint mytools:get_weather --target openai/gpt-5.6 --strict
  il lint tools.json --json | jq '.[] | select(.kind == "refused")'

exit codes: 0 every target takes every tool, though perhaps rewritten; 1 something is refused or no tool at all;
2 the command line is wrong. Findings, such as a missing description, do not count.
"""
LEGAL = "[a-zA-Z0-9_]{1,64}"
"""Names that the strict tool rules take; every dialect takes them as they are."""


class _Remark(NamedTuple):
    """One thing to know about a tool."""

    tool: str
    """The tool's name."""
    target: str
    """For whom it counts; empty for everybody."""
    kind: str
    """`finding`, or what would be done: rewritten, dropped, refused."""
    path: str
    """RFC 6901 pointer into the tool."""
    detail: str
    """The change and its reason."""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("tools", metavar="TOOLS", help="a .json file of definitions, a module, or module:function")
    parser.add_argument(
        "--target", action="append", default=[], metavar="TARGET", help="a dialect or provider/model; may be repeated"
    )
    parser.add_argument("--strict", action="store_true", help="treat every tool as strict")
    parser.add_argument("--json", action="store_true", help="one JSON array instead of lines")


def run(options: Namespace) -> int:
    """Look, and tell."""
    tools, remarks = _load(options.tools)
    if options.strict:
        import msgspec

        tools = [msgspec.structs.replace(tool, strict=True) for tool in tools]
    remarks += [remark for tool in tools for remark in _findings(tool)]
    for name in options.target or TARGETS:
        dialect, target = _target(name)
        for tool in tools:
            remarks += _remarks(tool, name, dialect, target)
    if options.json:
        from interlingua.wire.json import encode

        write(f"{encode([remark._asdict() for remark in remarks]).decode()}\n")
    else:
        lines: list[str] = []
        for tool in tools:
            own = [remark for remark in remarks if remark.tool == tool.name]
            lines.append(tool.name if own else f"{tool.name}: every target takes it as it is")
            lines += [_line(remark) for remark in own]
        named = {tool.name for tool in tools}
        lines += [f"{remark.tool}\n{_line(remark)}" for remark in remarks if remark.tool not in named]
        write("".join(f"{line}\n" for line in lines))
    return FAILED if any(remark.kind == "refused" for remark in remarks) else 0


# The tools


def _load(text: str) -> tuple[list[Tool], list[_Remark]]:
    """The tools of a file or a module, and a remark for each definition that is none.

    Raises: UsageError, for what is not there or holds no definition.
    """
    if not text.endswith(".json"):
        from interlingua.cli.loading import load_tools

        return load_tools(text, option="lint: "), []
    from pathlib import Path

    from interlingua.codec import decode_definitions
    from interlingua.errors import SchemaError
    from interlingua.types.tool import Tool
    from interlingua.wire.json import decode_any

    try:
        value = decode_any(Path(text).expanduser().read_bytes())
    except OSError as error:
        raise UsageError(f"{text}: cannot be read: {error.strerror}") from None
    except WireError as error:
        raise UsageError(f"{text}: {error.message}") from None
    if isinstance(value, dict):
        body = cast("dict[str, Any]", value)
        value: object = body.get("tools", [body])
    if not isinstance(value, list):
        raise UsageError(f"{text}: a list of definitions is expected, one of them, or a body with `tools`")
    tools: list[Tool] = []
    remarks: list[_Remark] = []
    for entry in cast("list[Any]", value):
        try:
            definitions = decode_definitions([entry])
        except (WireError, SchemaError) as error:
            # It is a remark, and the others are looked at.
            number = len(tools) + len(remarks)
            reason = error.message.removeprefix("definitions[0]").removeprefix(": ").strip()
            remarks.append(_Remark(f"definition {number}", "", "refused", "", reason))
        else:
            tools += [tool for tool in definitions if isinstance(tool, Tool)]
    if not (tools or remarks):
        raise UsageError(f"{text}: it holds no tool")
    return tools, remarks


def _target(name: str) -> tuple[str, Target]:
    """The dialect that a target is spoken to, and the target.

    Raises: UsageError or ConfigError, for what is neither a dialect nor provider/model.
    """
    from interlingua.dialects._contract import Quirks, Target
    from interlingua.dialects.table import SPELLINGS

    dialect = SPELLINGS.get(name, name)
    if dialect in TARGETS:
        is_openai = dialect.startswith("openai")
        return dialect, Target(quirks=Quirks(name_rule="openai") if is_openai else Quirks())
    if "/" not in name:
        raise UsageError(f"--target {name}: no dialect ({', '.join(TARGETS)}), and not provider/model")
    from interlingua.registry.resolve import default_registry

    endpoint = default_registry().resolve(name)[0]
    return endpoint.dialect, endpoint.target


# What there is to say


def _findings(tool: Tool) -> list[_Remark]:
    """The demands of the strict tool rules that the tool does not meet."""
    import re

    findings: list[tuple[str, str]] = []
    if re.fullmatch(LEGAL, tool.name) is None:
        findings.append(("/name", f"{tool.name!r} is not {LEGAL}; it is mapped where a target does not take it"))
    if not tool.description:
        findings.append(("/description", "the tool has no description"))
    declared: object = tool.parameters.get("properties")
    properties = cast("dict[str, Any]", declared) if isinstance(declared, dict) else {}
    for name, schema in properties.items():
        if not (isinstance(schema, dict) and cast("dict[str, Any]", schema).get("description")):
            findings.append((f"/parameters/properties/{name}", f"the parameter {name} has no description"))
    return [_Remark(tool.name, "", "finding", path, detail) for path, detail in findings]


def _remarks(tool: Tool, name: str, dialect: str, target: Target) -> list[_Remark]:
    """The changes of one tool on its way to one target."""
    from interlingua.dialects._contract import EncodeOptions
    from interlingua.dialects.table import get_dialect
    from interlingua.types.message import user
    from interlingua.types.request import Request

    request = Request(messages=(user("?"),), tools=(tool,), max_tokens=1)
    try:
        changes: tuple[Change, ...] = get_dialect(dialect).encode_request(request, EncodeOptions(target=target)).changes
    except UnsupportedError as error:
        changes = error.changes
    changes_of_tool = [change for change in changes if change.path.startswith("/tools/0")]
    return [
        _Remark(tool.name, name, _KINDS.get(change.action, change.action), change.path[8:], str(change.detail))
        for change in changes_of_tool
    ]


_KINDS = {"approximated": "rewritten"}


# Telling


def _line(remark: _Remark) -> str:
    who = f"{remark.target}: " if remark.target else ""
    return f"  {who}{remark.kind} {remark.path or 'the tool'}: {remark.detail}"
