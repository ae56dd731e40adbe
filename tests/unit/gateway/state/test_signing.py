"""Signed ids: what they say, to whom, and that nothing else is taken for one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua.gateway.state.signing import MAX_ID_CHARACTERS, Opened, Signer

SIGNER = Signer("0123456789abcdef0123456789abcdef")
PROVIDERS = ("anthropic", "google", "openai")
REAL = [
    ("resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b", 57),
    ("resp_0f53e2c4a1b29d7c0068f1a2b3c4d5e6f708192a3b4c5d6e7f", 59),
    ("msg_67ccd2bf17f0819081ff3bb2cf6508e60bb6a6b452d3795b", 56),
    ("rs_0f53e2c4a1b29d7c0068f1a2b3c4d5e6f708192a3b4c5d6e7f", 57),
    ("conv_689667905b048191b4740501625afd940c7533ace33a2dab", 57),
    ("cntr_682e0e7318108198aa783fd921ff305e08e78805b9fdbb04", 57),
    ("file-6F2ksmvXxt4VdoqmHRw6kL", 47),
    ("file_011CNha8iCJcU1wXNR6q4V8w", 49),
    ("batch_67f6b2a0c1d88190a1b2c3d4e5f60718", 48),
    ("msgbatch_01HkcTjaV5uDC8jWR4ZsDV8d", 53),
    ("container_011CPR5CNjB747bTd36fQLFk", 54),
    ("vs_67d2c6f1a2b48191b3c4d5e6f7081920", 45),
    ("upload_abc123", 33),
    ("files/abc123def456", 38),
    ("0a1b2c3d-1111-2222-3333-444455556666", 56),
]


@pytest.mark.parametrize(("own", "length"), REAL)
def test_ids_of_every_vendor_stay_within_64_characters(own: str, length: int) -> None:
    """The vendor's prefix stands, the rest is not shown, and the id says whose it is and who keeps what it names."""
    signed = SIGNER.sign("team a", "openai", own)
    prefix = re.match(r"[a-z]+[_/-]|", own)
    assert prefix is not None
    assert signed.startswith(prefix[0])
    assert len(signed) == length <= 64
    assert own[len(prefix[0]) :] not in signed
    assert SIGNER.open("team a", PROVIDERS, signed) == Opened("openai", own)
    assert SIGNER.open("team b", PROVIDERS, signed) is None
    assert SIGNER.open("team a", ("anthropic", "google"), signed) is None


def test_a_signed_id_is_the_same_each_time_and_for_every_process() -> None:
    """So that clients can compare ids; another secret neither makes nor opens them."""
    own = REAL[0][0]
    signed = SIGNER.sign("team a", "openai", own)
    assert Signer("0123456789abcdef0123456789abcdef").sign("team a", "openai", own) == signed
    other = Signer("another secret of 32 characters.")
    assert other.sign("team a", "openai", own) != signed
    assert other.open("team a", PROVIDERS, signed) is None
    assert repr(SIGNER) == "Signer(***)"


@given(own=st.text(min_size=1, max_size=MAX_ID_CHARACTERS), owner=st.text(max_size=40))
def test_any_id_comes_back(own: str, owner: str) -> None:
    """Whatever a provider calls something, up to the bound, and 20 characters are added to ids of usual characters."""
    signed = SIGNER.sign(owner, "openai", own)
    assert SIGNER.open(owner, PROVIDERS, signed) == Opened("openai", own)
    if re.fullmatch(r"[A-Za-z0-9_-]*", own):
        assert len(signed) <= len(own) + 20
        assert re.fullmatch(r"[A-Za-z0-9_-]*", signed)


def test_an_id_beyond_the_bound_is_not_signed() -> None:
    """It goes out as it came, and is refused when it comes back."""
    long = "resp_" + "A" * (MAX_ID_CHARACTERS - 4)
    assert SIGNER.sign("a", "openai", long) == long
    assert SIGNER.open("a", PROVIDERS, long) is None
    assert SIGNER.open("a", PROVIDERS, "x" * 10_000) is None
    assert SIGNER.sign("a", "openai", "") == ""


@given(data=st.data(), own=st.sampled_from([own for own, _ in REAL]))
def test_own_01_a_changed_id_is_refused(data: st.DataObject, own: str) -> None:
    """One character more, less or another one, anywhere: nothing is opened."""
    signed = SIGNER.sign("team a", "openai", own)
    place = data.draw(st.integers(0, len(signed) - 1))
    symbol = data.draw(st.sampled_from("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/= é"))
    for changed in (
        signed[:place] + symbol + signed[place + 1 :],
        signed[:place] + symbol + signed[place:],
        signed[:place] + signed[place + 1 :],
    ):
        if changed != signed:
            assert SIGNER.open("team a", PROVIDERS, changed) is None


def test_own_01_a_thousand_forged_ids_are_refused() -> None:
    """Ids of providers, signed ids of others, of other secrets, and made-up ones in the right form."""
    others = [Signer(f"{number:032}") for number in range(10)]
    forged = [own for own, _ in REAL]
    for number in range(66):
        own = REAL[number % len(REAL)][0]
        forged += [
            *[other.sign("team a", "openai", f"{own}{number}") for other in others],
            SIGNER.sign(f"team {number}", "openai", own),
            SIGNER.sign("team a", f"provider-{number}", own),
            SIGNER.sign("team b", "openai", own),
            f"resp_t{'abcdefg234567'[number % 7 :]}{'b' * (20 - len('abcdefg234567'[number % 7 :]))}{number}",
            f"{SIGNER.sign('team a', 'openai', own)}{number}",
        ]
    assert len(forged) > 1_000
    assert [one for one in forged if SIGNER.open("team a", PROVIDERS, one) is not None] == []
