"""Where webhooks may be sent: to public addresses, and to those networks that the operator allows besides.

One parser reads a URL, the one of the HTTP client, so that what is judged is what is connected to.
"""

import re
from dataclasses import dataclass
from ipaddress import IPv6Address

from yarl import URL

from graph.core.errors import BadUserInput
from graph.domains.triggers.sending.addresses import Network, is_public, parse_address, reached_by

MOST_CHARACTERS = 2048  # of a URL

# A host whose last label is a number is an IPv4 address in an old spelling, such as `127.1`, `0x7f000001` or
# `2130706433`. Source: https://url.spec.whatwg.org/#ends-in-a-number-checker
_NAME = re.compile(r"(?=.{1,253}\Z)([a-z0-9_-]{1,63}\.)*(?!([0-9]+|0x[0-9a-f]*)\.?\Z)[a-z0-9_-]{1,63}\.?")


class EndpointRefused(BadUserInput):
    """The URL is not one to which webhooks may be sent."""

    code = "ENDPOINT_REFUSED"

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"`url` {problem}: {remedy}.")

    @classmethod
    def not_public(cls) -> "EndpointRefused":
        """Also for a name that does not exist, so that nobody learns which names exist in the service's network."""
        return cls("has a host without a public address", "give one that can be reached over the internet")


@dataclass(frozen=True, slots=True)
class Destinations:
    """The addresses and schemes that are allowed."""

    networks: tuple[Network, ...] = ()  # besides public addresses
    http: bool = False  # besides https

    def read(self, url: str) -> URL:
        """Read a URL. A name in it is not looked up. The text of what is returned reads the same again.

        Raises:
            EndpointRefused: It is not a URL for webhooks, or its host is an address that is not allowed.
        """
        if len(url) > MOST_CHARACTERS:
            raise _too_long()
        if not url.isprintable() or " " in url:
            raise EndpointRefused("has a space or a control character", "percent-encode it")
        try:
            parsed = URL(url)
        except ValueError as error:
            raise EndpointRefused("cannot be read", "write it as https://HOST/PATH") from error
        self._check_parts(parsed, has_fragment="#" in url)
        self._check_host(parsed.raw_host or "")
        parsed = _with_plain_ipv4(parsed)
        if len(str(parsed)) > MOST_CHARACTERS:
            raise _too_long()
        return parsed

    def _check_parts(self, url: URL, *, has_fragment: bool) -> None:
        if url.scheme not in ("https", "http"):
            raise EndpointRefused("has no scheme that can be sent to", "begin it with https://")
        if url.scheme == "http" and not self.http:
            raise EndpointRefused("is not encrypted", "begin it with https://")
        if "@" in url.raw_authority:
            raise EndpointRefused("holds a user name or a password", "leave them out, and check the signature instead")
        if has_fragment:
            raise EndpointRefused("has a fragment, which is never sent", "leave out `#` and what follows it")
        if url.port == 0:
            raise EndpointRefused("has the port 0", "give the port at which your server listens")

    def _check_host(self, host: str) -> None:
        if parse_address(host):
            if not self.allow(host):
                raise EndpointRefused.not_public()
        elif not _NAME.fullmatch(host):
            remedy = "write a name, four decimal numbers for IPv4, or an IPv6 address in brackets"
            raise EndpointRefused("has no valid host", remedy)

    def allow(self, address: str) -> bool:
        """Whether a connection to this address is allowed; False for a text that is no address."""
        parsed = parse_address(address)
        return parsed is not None and all(
            is_public(each) or any(each in network for network in self.networks) for each in reached_by(parsed)
        )


def _with_plain_ipv4(url: URL) -> URL:
    """The URL with an IPv4 address instead of the IPv6 address that maps it, which Python 3.13 began to write anew."""
    address = parse_address(url.raw_host or "")
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return url.with_host(str(mapped)) if mapped else url


def _too_long() -> EndpointRefused:
    return EndpointRefused(f"has more than {MOST_CHARACTERS:,} characters", "shorten it")
