"""Which addresses are public: unicast, and reachable over the internet.

Source: https://www.iana.org/assignments/iana-ipv4-special-registry and
https://www.iana.org/assignments/iana-ipv6-special-registry; for IPv6, nothing outside 2000::/3 is assigned for public
use, https://www.iana.org/assignments/ipv6-address-space
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NOT_PUBLIC: tuple[Network, ...] = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # between a carrier and its customers; 100.100.100.200 is Alibaba's metadata server
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # public by its range, but Azure's server for its virtual machines
        "169.254.0.0/16",  # link-local; 169.254.169.254 is the metadata server of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocols of the IETF; 192.0.0.192 is Oracle's metadata server
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, with the broadcast address
        "::/3",  # unspecified, loopback, IPv4-compatible, NAT64 (64:ff9b::/96 and 64:ff9b:1::/48), discard (100::/64)
        "4000::/2",  # not assigned, with the segments of 5f00::/16
        "8000::/1",  # unique local (fc00::/7, with AWS's fd00:ec2::254), link-local, site-local, multicast
        "2001::/23",  # protocols of the IETF: Teredo, benchmarks, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
    )
)

# A gateway passes packets to these on to an IPv4 address, which stands this many bits from their right end.
_GATEWAYS = ((IPv6Network("64:ff9b::/96"), 0), (IPv6Network("2002::/16"), 80))


def parse_address(text: str) -> Address | None:
    """The address that a text is; None for any other text, for the old spellings of IPv4, and for a scope id."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return None if getattr(address, "scope_id", None) else address


def reached_by(address: Address) -> list[Address]:
    """The addresses that a connection to this one may reach: itself, and an IPv4 address that is embedded in it."""
    if isinstance(address, IPv4Address):
        return [address]
    if address.ipv4_mapped:
        return [address.ipv4_mapped]  # the system connects to it by IPv4
    reached = [IPv4Address(int(address) >> shift & 0xFFFFFFFF) for network, shift in _GATEWAYS if address in network]
    return [address, *reached]


def is_public(address: Address) -> bool:
    """Whether it is a public unicast address."""
    return not any(address in network for network in _NOT_PUBLIC)
