"""Which URLs are read, what the refusal of others says, and which addresses are public."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.domains.triggers.sending.addresses import is_public, parse_address, reached_by
from graph.domains.triggers.sending.destinations import Destinations, EndpointRefused

PUBLIC = Destinations()


READ = [
    ("https://example.com", "https://example.com", "example.com"),
    ("HTTPS://Example.COM:8443/A?b=ç", "https://example.com:8443/A?b=%C3%A7", "example.com"),
    ("https://example.com./", "https://example.com./", "example.com."),
    ("https://bücher.example/", "https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
    ("https://a_b-c.0x.example/", "https://a_b-c.0x.example/", "a_b-c.0x.example"),
    ("https://8.8.8.8/", "https://8.8.8.8/", "8.8.8.8"),
    ("https://[2606:4700::1111]:99/", "https://[2606:4700::1111]:99/", "2606:4700::1111"),
    ("https://[::ffff:8.8.8.8]:99/", "https://8.8.8.8:99/", "8.8.8.8"),  # as the system connects to it
    ("https://example.com/" + "a" * 2028, "https://example.com/" + "a" * 2028, "example.com"),
]


def test_a_url_is_read_as_the_http_client_reads_it() -> None:
    for url, text, host in READ:
        read = PUBLIC.read(url)
        assert (str(read), read.raw_host) == (text, host)
    assert Destinations(http=True).read("http://example.com/").port == 80


NO_HOST = "`url` has no valid host: write a name, four decimal numbers for IPv4, or an IPv6 address in brackets."
NOT_PUBLIC = "`url` has a host without a public address: give one that can be reached over the internet."
TOO_LONG = "`url` has more than 2,048 characters: shorten it."
NOT_PRINTED = "`url` has a space or a control character: percent-encode it."
NOT_READ = "`url` cannot be read: write it as https://HOST/PATH."
NO_SCHEME = "`url` has no scheme that can be sent to: begin it with https://."
USER = "`url` holds a user name or a password: leave them out, and check the signature instead."
FRAGMENT = "`url` has a fragment, which is never sent: leave out `#` and what follows it."

REFUSED = {
    TOO_LONG: ["https://example.com/" + "a" * 2029, "https://example.com/" + "é" * 1000],  # has 6,020 percent-encoded
    NOT_PRINTED: ["https://example.com/a b", "https://example.com/\r\nX-Admin: 1", "https://exam\tple.com/"],
    NOT_READ: ["https://[::1", "https://example.com\\@10.0.0.1/", "https://example.com:99999/"],
    NO_SCHEME: ["example.com", "//example.com/", "file:///etc/passwd", "gopher://example.com/"],
    "`url` is not encrypted: begin it with https://.": ["http://example.com/"],
    USER: ["https://me:pass@example.com/", "https://:@example.com/"],  # pragma: allowlist secret
    FRAGMENT: ["https://example.com#@10.0.0.1/", "https://example.com/#"],
    "`url` has the port 0: give the port at which your server listens.": ["https://example.com:0/"],
    NO_HOST: [
        *("https:///hook", "https://a..b/", "https://.a/", "https://*.example.com/", "https://ex%61mple.com/"),
        *(f"https://{'a' * 64}.com/", f"https://{'a.' * 127}com/", "https://[::1%eth0]/"),
        "https://134744072/",  # 8.8.8.8, but in a spelling that readers read differently
    ],
    NOT_PUBLIC: ["https://10.0.0.1/"],
}


def test_a_refusal_says_what_is_wrong_and_what_to_do() -> None:
    for message, urls in REFUSED.items():
        for url in urls:
            with pytest.raises(EndpointRefused) as refused:
                PUBLIC.read(url)
            assert str(refused.value) == message, url
            assert refused.value.extensions == {"code": "ENDPOINT_REFUSED", "classification": "BAD_USER_INPUT"}


@given(st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), max_size=40))
def test_what_is_read_reads_the_same_again(text: str) -> None:
    """So the text of a stored URL means what was checked."""
    try:
        read = PUBLIC.read("https://" + text)
    except EndpointRefused:
        return
    assert PUBLIC.read(str(read)) == read


NETWORKS = [
    ("10.1.0.0/16", ["10.1.2.3", "::ffff:10.1.2.3", "8.8.8.8"], ["10.2.0.0", "::ffff:10.2.0.0", "127.0.0.1"]),
    ("fd12::/16", ["fd12::5", "2606:4700::1111"], ["fd13::5", "::1"]),
    ("64:ff9b::/96", ["64:ff9b::8.8.8.8"], ["64:ff9b::10.0.0.1", "64:ff9b::127.0.0.1", "10.0.0.1"]),
    ("2002::/16", ["2002:808:808::1"], ["2002:a00:1::1"]),
    ("fe80::/10", ["fe80::1"], ["fe80::1%eth0"]),
    ("::ffff:0:0/96", [], ["::ffff:10.0.0.1", "10.0.0.1"]),
]


def test_a_network_of_ones_own_is_allowed_and_nothing_else() -> None:
    for network, allowed, refused in NETWORKS:
        own = Destinations((ip_network(network),))
        assert [address for address in allowed + refused if own.allow(address)] == allowed


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
