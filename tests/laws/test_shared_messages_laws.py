"""Law of messages that calls have in common: every conversation is written alike with what is known and without."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from interlingua.client.shared.messages import MessageMemo
from interlingua.dialects.table import DIALECTS
from tests.laws.test_history_memo_laws import REQUESTS, written


@pytest.mark.parametrize("name", REQUESTS)
@given(data=st.data())
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
def test_what_calls_have_in_common_changes_nothing(name: str, data: st.DataObject) -> None:
    """Turn by turn, each sent up to three times and then gone on, in every dialect: the same bytes and errors."""
    request = data.draw(REQUESTS[name])
    memo = MessageMemo()
    end = 0
    while end < len(request.messages):
        end += data.draw(st.integers(1, 3))
        plain = replace(request, messages=request.messages[:end])
        for _ in range(data.draw(st.integers(1, 3))):
            shared = replace(plain, messages=memo.shared(plain.messages))
            assert shared == plain
            for target in DIALECTS:
                assert written(target, shared) == written(target, plain)
