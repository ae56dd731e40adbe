"""`il translate`: a request or an answer in one dialect, told in another; nothing is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, get_args

from interlingua.cli.terminal import note, piped_input, write
from interlingua.dialects.table import DIALECTS
from interlingua.errors import UsageError, WireError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


__all__ = ["EXAMPLES", "arguments", "run"]

EXAMPLES = f"""\
Dialects: {", ".join(DIALECTS)}; `openai` is the first.
With --provider the request is what that provider is sent. What translation changes goes to stderr.

examples:
  il translate --from openai --to anthropic -m claude-opus-5 < request.json
  il translate --from anthropic --provider groq -m llama-3.3-70b-versatile < request.json
  il translate --from anthropic --to openai-responses --response < answer.json | jq .output
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    from interlingua.types.capability import Capability

    parser.add_argument("--from", dest="origin", metavar="DIALECT", required=True, help="the dialect of stdin")
    parser.add_argument(
        "--to", metavar="DIALECT", help="the dialect of stdout; a provider's first one where --provider names it"
    )
    parser.add_argument(
        "--provider",
        metavar="NAME",
        help="apply the quirks, model facts and limits of this provider (see `il providers`)",
    )
    parser.add_argument("-m", "--model", metavar="ID", help="the model name to put into the request")
    parser.add_argument("--response", action="store_true", help="stdin holds an answer, not a request")
    parser.add_argument(
        "--allow", action="append", default=[], choices=get_args(Capability), metavar="KIND",
        help="drop this where the dialect cannot take it, such as images; may be repeated",
    )  # fmt: skip


def run(options: Namespace) -> int:
    """Translate."""
    import msgspec

    from interlingua.codec import bridge
    from interlingua.wire.body import read_body
    from interlingua.wire.json import decode_any, encode

    origin, to, provider = options.origin, options.to, options.provider
    if not to and (options.response or not provider):
        also = "" if options.response else ", or --provider whose it is"
        raise UsageError(f"--to names the dialect of stdout{also}")
    # An answer comes from the provider, a request goes there.
    ends = (to, origin) if options.response else (origin, to)
    between = bridge(*ends, provider=provider, model=options.model, allow=options.allow)
    text = piped_input(force=True)
    try:
        value = decode_any(text)
        if not isinstance(value, dict):
            raise UsageError("stdin: a body is a JSON object")
        read_body(text)  # refuses a member that stands twice, as the gateway does
        body = cast("dict[str, Any]", value)
        body = between.response(body) if options.response else between.request(body)
    except WireError as error:
        raise UsageError(f"stdin: {error.message}") from None
    write(f"{msgspec.json.format(encode(body), indent=2).decode()}\n")
    for change in between.changes:
        note(str(change))
    return 0
