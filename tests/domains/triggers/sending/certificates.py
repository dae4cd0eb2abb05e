"""Certificates for tests: an authority of our own, and what it signs.

They have no extensions but those that they need, as certificates of many private authorities.
"""

from datetime import UTC, datetime
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID

from graph.domains.triggers.sending.sender import checking_certificates

ISSUED, EXPIRED, LATER = (datetime(year, 1, 1, tzinfo=UTC) for year in (2019, 2020, 2099))
"""When certificates are valid, in UTC: dates of their own, since OpenSSL reads the clock of the system."""


class Authority:
    """Signs certificates."""

    def __init__(self, name: str) -> None:
        self._key, self._name = ec.generate_private_key(ec.SECP256R1()), _named(name)
        self._own = self._sign(self._name, self._key, x509.BasicConstraints(ca=True, path_length=0), LATER)

    def client(self) -> SSLContext:
        """What trusts this authority, and no other."""
        return checking_certificates(_pem(self._own))

    def server(self, folder: Path, host: str, *, until: datetime = LATER) -> SSLContext:
        """A server with a certificate for a host."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([_general_name(host)])
        certificate = self._sign(_named(host), key, names, until)
        file = folder / "server.pem"
        file.write_text(_pem(certificate) + _key_pem(key))
        context = SSLContext(PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, extension: x509.ExtensionType, until: datetime
    ) -> x509.Certificate:
        unsigned = x509.CertificateBuilder(self._name, subject, key.public_key(), x509.random_serial_number())
        dated = unsigned.not_valid_before(ISSUED).not_valid_after(until)
        return dated.add_extension(extension, critical=True).sign(self._key, SHA256())


@cache
def authority(name: str) -> Authority:
    """The authority of a name."""
    return Authority(name)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _general_name(host: str) -> x509.GeneralName:
    return x509.IPAddress(ip_address(host)) if host[0].isdigit() else x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _key_pem(key: ec.EllipticCurvePrivateKey) -> str:
    plain = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain).decode()
