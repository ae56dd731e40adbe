"""`il explain`: what would be sent, to whom, and what translation would change; nothing is sent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from interlingua.cli.asking import (
    EXIT_CODES,
    conversation_arguments,
    conversation_of,
    knobs_of,
    model_arguments,
    model_of,
    question_of,
    request_arguments,
)
from interlingua.cli.outcome import MISUSED
from interlingua.cli.terminal import write
from interlingua.errors import Error, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from interlingua.client.plan import Plan, PlannedTarget
    from interlingua.types.request import Request

__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = f"""\
It takes the options of `il ask` and needs no key.

examples:
  il explain -m openai/gpt-5.6,local/tiny "Hello" --temperature 0.2
  il explain -m openai/gpt-5.6 --curl "Hello" | sh               contains the key as $OPENAI_API_KEY
  il explain -m groq/llama-4 --request request.json              canonical JSON, or a body of OpenAI Chat

{EXIT_CODES}"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    request_arguments(parser)
    model_arguments(parser)
    conversation_arguments(parser)
    parser.add_argument("--request", metavar="FILE", help="explain this request: canonical JSON, or a Chat body")
    parser.add_argument("--curl", action="store_true", help="print a curl command that sends the request")


def run(options: Namespace) -> int:
    """Explain."""
    if options.request:
        plan = _plan_of_file(options)
    else:
        conversation = conversation_of(options) if options.goes_on or options.name else None
        question = question_of(options)
        model = model_of(options, conversation.model if conversation else "")
        history = conversation.reply if conversation else None
        plan = model.explain(question.prompt, history=history, output=question.output, tools=question.toolbox)
    if options.curl:
        write(f"{plan.curl()}\n")
        return MISUSED if plan.http is None else 0
    pieces = [*map(_target, plan.targets)]
    if plan.http is not None:
        import msgspec

        # Base64 is cut, which nobody reads; `--curl` has it whole.
        text = msgspec.json.format(plan.http.body, indent=2).decode()
        body = _BASE64.sub(lambda match: f"{match[0][:SHOWN_BASE64]}… ({len(match[0]):,} characters)", text)
        pieces += ["", f"{plan.http.method} {plan.http.url}", body]
    changes = [f"  {change}" for change in plan.changes]
    pieces += ["", *(["changes", *changes] if changes else ["no changes"])]
    write("".join([f"{piece}\n" for piece in pieces]))
    return MISUSED if plan.http is None else 0


def _plan_of_file(options: Namespace) -> Plan:
    """The plan of a request in a file; what the command line says replaces what stands there."""
    from pathlib import Path

    import msgspec

    from interlingua.client.model import Model
    from interlingua.client.options import Settings, settle

    try:
        data = Path(options.request).expanduser().read_bytes()
        request = _canonical(data) if b'"interlingua"' in data[:200] else _chat(data)
    except OSError as error:
        raise UsageError(f"--request {options.request}: cannot be read: {error.strerror}") from None
    except Error as error:
        raise UsageError(f"--request {options.request}: {error.message}") from None
    settings = settle(Settings(request=msgspec.structs.replace(request, messages=())), knobs_of(options))
    return Model(model_of(options).spec, settings).explain((), history=request.messages)


def _canonical(data: bytes) -> Request:
    from interlingua.client.prompt import build_request
    from interlingua.types.dump import load
    from interlingua.types.request import Request

    loaded: Any = load(data)
    return loaded if isinstance(loaded, Request) else build_request(Request(), (), loaded)


def _chat(data: bytes) -> Request:
    from interlingua.dialects._contract import DecodeOptions
    from interlingua.dialects.table import DEFAULT_DIALECT, get_dialect
    from interlingua.wire.http import HttpRequest

    request = HttpRequest(url="file://", body=data, dialect=DEFAULT_DIALECT)
    return get_dialect(DEFAULT_DIALECT).decode_request(request, DecodeOptions()).request


def _target(target: PlannedTarget) -> str:
    reason = f": {target.reason}" if target.reason else ": first target" if target.chosen else ""
    return f"{'->' if target.chosen else '  '} {target.spec} ({target.dialect}){reason}"


_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{400,}={0,2}")
SHOWN_BASE64 = 60
"""How many characters of Base64 are shown."""
