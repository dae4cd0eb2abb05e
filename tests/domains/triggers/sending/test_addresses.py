"""Which addresses are public."""

from ipaddress import IPv4Address, IPv6Address, ip_address

from hypothesis import given
from hypothesis import strategies as st

from graph.domains.triggers.sending.addresses import is_public, parse_address, reached_by

# Each stands next to a range that is not public, or in one of those where servers are.
_PUBLIC = """
    1.0.0.0 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15
    168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0
    192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
    198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255
    2001:200:: 2001:db7:ffff::1 2001:db9::1 2003::1 2606:4700::1111 2a00:1450:4001::200e 3ffe:ffff::1
"""


def test_addresses_beside_the_special_ranges_are_public() -> None:
    assert [text for text in _PUBLIC.split() if not is_public(ip_address(text))] == []


@given(st.ip_addresses())
def test_no_public_address_is_special_to_python(address: IPv4Address | IPv6Address) -> None:
    if is_public(address):
        assert address.is_global
        assert not address.is_multicast
        assert not address.is_reserved


def test_an_embedded_address_is_found() -> None:
    reached = {
        "8.8.8.8": ["8.8.8.8"],
        "2606:4700::1111": ["2606:4700::1111"],
        "::ffff:10.0.0.1": ["10.0.0.1"],
        "64:ff9b::10.0.0.1": ["64:ff9b::a00:1", "10.0.0.1"],
        "2002:a00:1::5": ["2002:a00:1::5", "10.0.0.1"],
    }
    assert {text: [str(each) for each in reached_by(ip_address(text))] for text in reached} == reached


def test_only_the_usual_spelling_without_a_scope_is_an_address() -> None:
    others = ["127.1", "0x7f.0.0.1", "0177.0.0.1", "１.2.3.4", "fe80::1%eth0", "::1%", "[::1]", "a"]
    assert [text for text in others if parse_address(text)] == []
