"""One request on the wire of one target: the very same one is written twice at most, and as any other would be."""

from __future__ import annotations

import msgspec

from interlingua.client.call.encoding import encode
from interlingua.client.call.job import Job, Lane
from interlingua.client.options import Settings
from interlingua.dialects._contract import DecodeOptions
from interlingua.dialects._known.histories import KnownMessages
from interlingua.dialects.table import get_dialect
from interlingua.registry.resolve import Registry
from interlingua.types.request import Request
from interlingua.wire.http import HttpRequest

BODY = b'{"model":"m","messages":[{"role":"user","content":"%b"}]}' % (b"What is the weather in Oslo? " * 8)


def _known() -> Request:
    """A request that its dialect knows by its bytes."""
    asked = HttpRequest(url="/v1/chat/completions", body=BODY)
    request = [get_dialect("openai-chat").decode_request(asked, DecodeOptions()).request for _ in range(4)][-1]
    assert type(request.messages) is KnownMessages
    return request


def _job(request: Request, spec: str = "anthropic/claude-opus-4-5") -> Job:
    endpoint = Registry({}).resolve(spec)[0]
    lanes = (Lane(endpoint, get_dialect(endpoint.dialect)),)
    return Job(request, Settings(warns=False), lanes, lambda: 0.0)


def test_the_very_same_request_is_written_no_more() -> None:
    """From its third time on, for each target and form."""
    request = _known()
    job, other = _job(request), _job(request, "google/gemini-2.5-pro")
    written = [encode(job, job.lanes[0], stream=False) for _ in range(4)]
    assert written[0] == written[1] == written[3]
    assert written[3] is written[2] is written[1]
    for stream, one in ((True, job), (False, other), (True, other)):
        told = [encode(one, one.lanes[0], stream=stream) for _ in range(3)]
        assert [each.body for each in told] == [told[0].body] * 3
        assert told[0].body != written[0].body
    assert encode(job, job.lanes[0], stream=False) == written[0]


def test_another_request_of_the_same_conversation_is_written_for_itself() -> None:
    """Whoever changes a member has another request, whatever was written before."""
    request = _known()
    job = _job(request)
    for _ in range(3):
        encode(job, job.lanes[0], stream=False)
    for tokens in (7, 8, 8, 8):
        other = _job(msgspec.structs.replace(request, max_tokens=tokens))
        assert b'"max_tokens":%d' % tokens in encode(other, other.lanes[0], stream=False).body
