"""The table of Converse says what botocore's service model says, and nothing else."""

from __future__ import annotations

import pytest

pytest.importorskip("botocore", reason="botocore is not installed")

from interlingua.testing.upstream.judge import law_of
from interlingua.testing.upstream.shapes import Members, Named
from tests.support.converse import converse_shapes
from tests.support.sdk_shapes import differences

NAMED = {
    "VideoBlock.format: ['video/mp4'] only in judge": "recorded: bedrock 454144021656",
}
"""Where the judge differs from the model, and why."""


def test_the_table_is_the_service_model() -> None:
    """Every member, word and requirement of the model is in the table, and nothing else but what is named here."""
    ours = law_of("bedrock").reading.grammar
    assert differences((converse_shapes(), Named("ConverseStreamRequest")), (ours, Named("Request"))) == list(NAMED)


def test_the_unions_are_those_of_the_model() -> None:
    """An object of which one member alone may be there is one on both sides."""
    ours = law_of("bedrock").reading.grammar
    theirs = {name for name, shape in converse_shapes().items() if isinstance(shape, Members) and shape.is_union}
    assert {name for name, shape in ours.items() if isinstance(shape, Members) and shape.is_union} == theirs
