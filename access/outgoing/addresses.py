"""Which addresses nothing is sent to: what a site can reach and the one who typed it cannot.

Whoever may name an address could otherwise have this server ask the machine itself, the networks
behind it, or the metadata service of its host.
"""

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
PORTS = {"https": 443, "http": 80}
LONGEST = 500
UNICAST = ipaddress.IPv6Network("2000::/3")
"""All that was ever given out of version six."""
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
FORBIDDEN_CHARACTERS = frozenset("\\ \t\r\n\x00")


class AddressError(ValueError):
    """Nothing is sent to such an address."""


@dataclass(frozen=True)
class Rules:
    """What a site allows beyond public addresses by https."""

    allows_http: bool = False
    trusted_hosts: Collection[str] = ()
    """Names, or numbers, of hosts in a closed network whose addresses are not looked at."""

    def trusts(self, host: str) -> bool:
        """Say whether the host was named as one of the site's own."""
        return host.lower() in {name.lower() for name in self.trusted_hosts}


@dataclass(frozen=True)
class Target:
    """An address in the parts that a connection needs."""

    is_tls: bool
    host: str
    port: int
    path: str

    @property
    def host_header(self) -> str:
        """The host as a request names it: with the port where it is not the usual one."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        is_usual = self.port == PORTS["https" if self.is_tls else "http"]
        return name if is_usual else f"{name}:{self.port}"


def read_target(url: str, rules: Rules) -> Target:
    """Take an address apart.

    Raises
    ------
    AddressError
        If it is overlong, not https (or http where that is allowed), has no host, names a user,
        or is the number of a host that is not public.
    """
    if len(url) > LONGEST or FORBIDDEN_CHARACTERS.intersection(url):
        msg = f"an address is up to {LONGEST} characters without spaces"
        raise AddressError(msg)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        msg = "that is not an address"
        raise AddressError(msg) from error
    if parts.scheme not in PORTS or (parts.scheme == "http" and not rules.allows_http):
        msg = "the address begins with https://"
        raise AddressError(msg)
    if not host or "@" in parts.netloc or parts.fragment or not host.isascii():
        msg = "the address needs a host in plain letters, and neither a user nor a fragment"
        raise AddressError(msg)
    _refuse_inner_number(host, rules)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not path.isascii():
        msg = "the address holds letters that have to be percent-encoded"
        raise AddressError(msg)
    return Target(parts.scheme == "https", host, port or PORTS[parts.scheme], path)


def check_own(url: str, rules: Rules) -> None:
    """Refuse an address of a server of one's own as a person types it, before any look-up.

    A host that is trusted may be asked by http; any other by https alone.

    Raises
    ------
    AddressError
        As ``read_target`` does.
    """
    host = urlsplit(url).hostname or ""
    read_target(url, replace(rules, allows_http=rules.trusts(host)))


def check_ip(host: str, numbers: Collection[str], rules: Rules) -> str:
    """Return the number to connect to, of those that the name of a host stands for.

    One number that is not public is enough to refuse all: a name that stands for both is made to
    get past this.

    Raises
    ------
    AddressError
        If there is none, or any is not public and the host is not trusted.
    """
    if not numbers:
        msg = "the host has no address"
        raise AddressError(msg)
    if not rules.trusts(host) and not all(is_public(number) for number in numbers):
        msg = "the host's address is not a public one"
        raise AddressError(msg)
    return next(iter(numbers))


def is_public(number: str) -> bool:
    """Say whether an IP address is one of the public internet, also one that hides in another."""
    try:
        address = ipaddress.ip_address(number.partition("%")[0])
    except ValueError:
        return False
    return all(_is_global(each) for each in _all_in(address))


def _all_in(address: IPAddress) -> list[IPAddress]:
    """Return the address and the IPv4 addresses that an IPv6 one carries for others to unpack."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    found: list[IPAddress | None] = [address.sixtofour, *(address.teredo or ())]
    if address in NAT64:
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    outer: list[IPAddress] = [address.ipv4_mapped or address]
    return outer + [each for each in found if each is not None]


def _is_global(address: IPAddress) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address not in NAT64:
        return address.is_global and address in UNICAST
    return address.is_global and not address.is_multicast


def _refuse_inner_number(host: str, rules: Rules) -> None:
    """Refuse a number of an inner host when it is typed; names are looked up at each sending."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        if host.rstrip(".").rpartition(".")[2].isdigit():  # 127.1 and 2130706433 are numbers, too
            msg = "the host's number is not written in full"
            raise AddressError(msg) from None
        if host.rstrip(".").endswith("localhost") and not rules.trusts(host):
            msg = "the host's address is not a public one"
            raise AddressError(msg) from None
        return
    check_ip(host, [host], rules)
