"""What each canonical request and answer becomes on every wire, byte for byte; the cases are in `support/encodings.py`.

`encodings/<dialect>/requests.jsonl` and `answers.jsonl` have a line for each case, `targets.jsonl` for each quirk and
fact that changes how a few rich requests are written. Of a stream that fails at its end there is the place where it
begins to be another, and what stands there then. They are made by us, and `make golden-update` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from interlingua.dialects._contract import Dialect, EncodeOptions, ServerContext, Target, Undo
from interlingua.dialects.table import DIALECTS, get_dialect
from interlingua.errors import Error, UnsupportedError
from interlingua.stream.unfold import unfold
from interlingua.testing.framed import stream_text
from interlingua.types.change import Change
from interlingua.types.event import Event, StreamError
from interlingua.types.request import Request
from interlingua.types.response import Response
from interlingua.types.tool import Freeform, Tool
from tests.support.encodings import answers, requests, rich_requests, targets

FOLDER = Path(__file__).parent / "encodings"
SERVER = ServerContext(make_id=lambda: "made_1", created=7)
ASKED = Request(
    tools=(Tool(name="now", parameters={}), Tool(name="patch", description="Patches", freeform=Freeform())),
    max_tokens=100,
    tool_choice="required",
    parallel_tool_calls=False,
    output_schema={"type": "object"},
)
WHOLE = ("nameless", "words after a call", "sealed by anthropic", "opaque part of anthropic", "counts", "every count")
"""The answers that are told once more to a client whose request is known, as strict clients want them."""


def value(body: bytes) -> Any:
    """The JSON of a body that is written without a blank; the text of one whose arguments came with blanks."""
    found = json.loads(body)
    return found if json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode() == body else body.decode()


def lines(changes: Iterable[Change]) -> list[str]:
    """Each change in one line."""
    return [f"{change.action} {change.code} {change.path} {change.detail or ''}".rstrip() for change in changes]


def undone(undo: Undo) -> dict[str, Any]:
    """What the decoder of the answer is told, without what says nothing."""
    found: dict[str, Any] = {}
    for name in undo.__struct_fields__:
        held: Any = msgspec.to_builtins(getattr(undo, name), enc_hook=repr)
        if held and name not in {"tool_names", "history_ids"}:
            found[name] = sorted(held) if name == "freeform" else held
    return found


def written(dialect: Dialect, request: Request, options: EncodeOptions) -> dict[str, Any]:
    """A request on the wire, or why it cannot be there."""
    try:
        encoded = dialect.encode_request(request, options)
    except Error as error:
        found = lines(error.changes) if isinstance(error, UnsupportedError) else []
        return {"error": type(error).__name__, "message": error.message, "changes": found}
    told = {"path": encoded.path, "headers": dict(encoded.headers), "changes": lines(encoded.changes)}
    told |= {"undo": undone(encoded.undo), "body": value(encoded.body)}
    return {name: member for name, member in told.items() if member or name == "body"}


def told(dialect: Dialect, response: Response[Any], asked: Request | None = None) -> dict[str, Any]:
    """An answer on the wire, whole, as a stream and as one that fails at its end, with what was lost on each way."""
    changes: list[Change] = []
    server = msgspec.structs.replace(SERVER, request=asked)
    body = dialect.encode_response(response, msgspec.structs.replace(server, changes=changes)).body
    events = list(unfold(response))
    stream, of_stream = streamed(dialect, events, server)
    failure = StreamError("OverloadedError", "No.", status=529, partial=response)
    failed, of_failed = streamed(dialect, [*events[:-1], failure], server)
    shared = next(place for place, (one, other) in enumerate(zip(stream, failed, strict=False)) if one != other)
    found = {"changes": lines(changes), "changes of the stream": of_stream, "changes until it failed": of_failed}
    told = {"body": value(body), "stream": stream, "failed": [shared, failed[shared:]]}
    return {**told, **{name: held for name, held in found.items() if held}}


def streamed(dialect: Dialect, events: Iterable[Event], server: ServerContext) -> tuple[str, list[str]]:
    """The text of a stream, and what was lost on the way."""
    changes: list[Change] = []
    encoder = dialect.stream_encoder(msgspec.structs.replace(server, changes=changes))
    return stream_text(dialect.name, b"".join(map(encoder.encode, events))), lines(changes)


def of_requests(name: str) -> list[dict[str, Any]]:
    """All requests in one dialect."""
    dialect = get_dialect(name)
    return [{"case": case, **written(dialect, request, options)} for case, request, options in requests()]


def of_targets(name: str) -> list[dict[str, Any]]:
    """What each quirk and fact changes in one dialect."""
    dialect, found = get_dialect(name), list[dict[str, Any]]()
    plain = {
        case: written(dialect, request, _towards(Target(model="m", provider="p"))) for case, request in rich_requests()
    }
    for title, target in targets():
        for case, request in rich_requests():
            now = written(dialect, request, _towards(target))
            if now != plain[case]:
                found.append({"target": title, "case": case, **now})
    return found


def _towards(target: Target) -> EncodeOptions:
    return EncodeOptions(target=target)


def of_answers(name: str) -> list[dict[str, Any]]:
    """All answers in one dialect."""
    dialect = get_dialect(name)
    found = [{"case": case, **told(dialect, response)} for case, response in answers()]
    known = [(case, response) for case, response in answers() if case in WHOLE]
    return [*found, *[{"case": f"{case}, asked", **told(dialect, response, ASKED)} for case, response in known]]


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("kind", [of_requests, of_targets, of_answers])
def test_each_case_is_written_as_it_was(kind: Any, name: str, golden_update: bool) -> None:
    """Every byte, every entry of what was lost, every refusal."""
    path = FOLDER / name / f"{kind.__name__.removeprefix('of_')}.jsonl"
    now = [json.dumps(line, ensure_ascii=False) for line in kind(name)]
    if golden_update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in now), encoding="utf-8")
    assert now == path.read_text(encoding="utf-8").splitlines()
