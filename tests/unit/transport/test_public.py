"""Which addresses are public: every special block refused, their neighbours not."""

from __future__ import annotations

import ipaddress

from hypothesis import given
from hypothesis import strategies as st

from interlingua.transport.public import is_public
from tests.support.cells import cells

PUBLIC = [
    "1.1.1.1", "8.8.8.8", "93.184.216.34", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
    "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0",
    "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
    "2001:4860:4860::8888", "2606:4700::1111", "2a00:1450:4001::1", "2001:200::1", "3ffe:ffff::1",
    "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2606:4700::1111%eth0",
]  # fmt: skip
NOT_PUBLIC = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.255",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1",
    "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
    "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0.0.0.0",
    "::ffff:169.254.169.254", "::ffff:0:8.8.8.8", "64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::8.8.8.8",
    "100::1", "2001::1", "2001:0:7f00:1::", "2001:db8::1", "2001:10::1", "2002:7f00:1::1", "2002:808:808::1",
    "3fff::1", "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "ff0e::1",
    "", "localhost", "8.8.8", "0x7f.1", "0177.0.0.1", "2130706433", "8.8.8.8 ", "[::1]",
]  # fmt: skip


@cells("address", PUBLIC)
def test_sec_04_the_internet_is_public(address: str) -> None:
    """Global unicast, the addresses next to a special block, and what carries such an IPv4 address."""
    assert is_public(address)


@cells("address", NOT_PUBLIC)
def test_sec_04_everything_else_is_not(address: str) -> None:
    """Every special block of IPv4 and IPv6, mapped and translated forms of them, and what is no address."""
    assert not is_public(address)


@given(st.ip_addresses())
def test_sec_04_public_is_never_more_than_the_standard_library_says(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    """What is public here is global for Python as well, translated addresses aside, which it does not look into."""
    if is_public(str(address)):
        assert address.is_global
        assert not address.is_multicast
