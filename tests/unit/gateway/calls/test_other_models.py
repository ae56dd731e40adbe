"""Members by which a body can have another model asked, in the words of Google."""

from __future__ import annotations

import pytest

from interlingua.errors import PermissionDeniedError
from interlingua.gateway.calls.head import read_request, rules_of
from interlingua.gateway.calls.other_models import other_models
from interlingua.types.change import Change

SAID = b'"contents":[{"role":"user","parts":[{"text":"Hi"}]}]'


def changed(member: bytes) -> tuple[Change, ...]:
    """What is taken out of a request for a key that may ask for `public` alone."""
    body = read_request(b"{%b,%b}" % (SAID, member), "google")
    return other_models(body, rules_of("google"), "google", lambda name: name == "public")


def test_a_model_beside_the_one_of_the_path_is_taken_out() -> None:
    """The path says who answers."""
    assert [change.path for change in changed(b'"model":"models/private"')] == ["/extra/google/model"]


@pytest.mark.parametrize(
    "member",
    [
        b'"generationConfig":{"routingConfig":{"manualMode":{"modelName":"private"}}}',
        b'"generation_config":{"routing_config":{"manual_mode":{"model_name":"private"}}}',
        b'"generationConfig":{"routingConfig":{"autoMode":{"modelRoutingPreference":"BALANCED"}}}',
        b'"generationConfig":{"modelConfig":{"featureSelectionPreference":"PRIORITIZE_COST"}}',
    ],
)
def test_what_routes_to_another_model_is_refused(member: bytes) -> None:
    """Vertex takes a model, or a wish for one, in the middle of the knobs."""
    with pytest.raises(PermissionDeniedError, match="this key may not ask for"):
        changed(member)


def test_other_knobs_stay() -> None:
    """Nothing is taken out that names no model."""
    assert changed(b'"generationConfig":{"temperature":0.5}') == ()
