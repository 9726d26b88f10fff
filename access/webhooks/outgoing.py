"""Where messages may be sent, how one is sent, and when one that did not arrive is sent again.

Whoever may name an address could otherwise have this server ask the machine itself, the networks
behind it, or the metadata service of its host.
"""

import datetime as dt
import hashlib
import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import SplitResult, urlsplit

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
PORTS = {"https": 443, "http": 80}
LONGEST = 500
UNICAST = ipaddress.IPv6Network("2000::/3")
"""All that was ever given out of version six."""
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
FORBIDDEN = frozenset("\\ ")


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
    if len(url) > LONGEST or FORBIDDEN.intersection(url) or not url.isprintable():
        msg = f"an address is up to {LONGEST} characters without spaces"
        raise AddressError(msg)
    parts, port = _taken_apart(url)
    host = parts.hostname
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


def _taken_apart(url: str) -> tuple[SplitResult, int | None]:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        msg = "that is not an address"
        raise AddressError(msg) from error
    return parts, port


def check_own(url: str, rules: Rules) -> None:
    """Refuse an address of a server of one's own as a person types it, before any look-up.

    A host that is trusted may be asked by http; any other by https alone.

    Raises
    ------
    AddressError
        As ``read_target`` does.
    """
    host = _taken_apart(url)[0].hostname or ""
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


Resolver = Callable[[str, int], Sequence[str]]

CONNECT_S = 3.0
READ_S = 5.0
ALL_S = 8.0
"""How long a receiver may take in all, however it spreads its answer."""


class PostError(Exception):
    """A message did not get an answer."""


def is_taken(status: int) -> bool:
    """Say whether a receiver that answered so has the message: a redirection is no such answer."""
    return 200 <= status < 300  # noqa: PLR2004 (RFC 9110)


def resolve(host: str, port: int) -> Sequence[str]:
    """Return the numbers that a host's name stands for now, in the order to try."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    rules: Rules,
    resolver: Resolver = resolve,
) -> int:
    """Send ``body`` and return the status of the answer; of that no more than headers is read.

    No redirection is followed.

    The host's name is looked up once, what it stands for is checked, and that very number is
    connected to: a name that stands for another host a moment later leads nowhere else.

    Raises
    ------
    AddressError
        If nothing is sent to such an address.
    PostError
        If the host cannot be found or reached, or does not answer in time.
    """
    target = read_target(url, rules)
    try:
        number = check_ip(target.host, resolver(target.host, target.port), rules)
        return _exchange(target, number, body, headers)
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        said = f"{type(error).__name__}: {error}"  # perhaps in the receiver's words
        if target.path != "/":
            said = said.replace(target.path, "…")  # some addresses hold a secret
        msg = "".join(one if one.isprintable() else "\ufffd" for one in said[:300])
        raise PostError(msg) from error


def _exchange(target: Target, number: str, body: bytes, headers: Mapping[str, str]) -> int:
    with socket.create_connection((number, target.port), timeout=CONNECT_S) as plain:
        plain.settimeout(READ_S)
        with _secured(plain, target) as line:
            # A receiver that sends a byte now and then keeps every single wait short.
            watch = threading.Timer(ALL_S, _cut, [line])
            watch.start()
            try:
                if isinstance(line, ssl.SSLSocket):
                    line.do_handshake()
                return _ask(line, target, body, headers)
            finally:
                watch.cancel()


def _secured(plain: socket.socket, target: Target) -> socket.socket:
    if not target.is_tls:
        return plain
    context = ssl.create_default_context()
    return context.wrap_socket(plain, server_hostname=target.host, do_handshake_on_connect=False)


def _ask(line: socket.socket, target: Target, body: bytes, headers: Mapping[str, str]) -> int:
    connection = http.client.HTTPConnection(target.host, target.port)
    connection.sock = line
    about = {"Host": target.host_header, "Connection": "close", **headers}
    connection.request("POST", target.path, body=body, headers=about)
    with connection.getresponse() as response:
        return response.status


def _cut(line: socket.socket) -> None:
    """End a connection under whoever waits for it."""
    with suppress(OSError):
        socket.socket.shutdown(line, socket.SHUT_RDWR)  # TLS' own would go on in the clear


FIRST_WAIT = dt.timedelta(seconds=30)
LONGEST_WAIT = dt.timedelta(hours=6)
GIVE_UP_AFTER = dt.timedelta(hours=24)
JITTER = 0.2
"""By how much of itself a wait is lengthened at most."""
MOST_DOUBLINGS = 30


def next_attempt(
    *, attempts: int, since: dt.datetime, now: dt.datetime, key: str
) -> dt.datetime | None:
    """Return when to try again, or None when it is time to give up.

    Waits double from 30 seconds to six hours, and each is lengthened by up to a fifth, so that
    what failed together does not come back together. How much is drawn from ``key`` and the
    number of attempts: the same for the same message.

    Parameters
    ----------
    attempts
        How often it was tried, at least once.
    since
        Since when it has been wanted: the day until giving up begins then.

    Raises
    ------
    ValueError
        If it was never tried.
    """
    if attempts < 1:
        msg = "there is no next attempt before the first"
        raise ValueError(msg)
    wait = min(FIRST_WAIT * 2 ** min(attempts - 1, MOST_DOUBLINGS), LONGEST_WAIT)
    at = now + wait * (1 + JITTER * _fraction(f"{key}/{attempts}"))
    return at if at <= since + GIVE_UP_AFTER else None


def _fraction(text: str) -> float:
    """Return a number from 0 to below 1 that looks drawn and is always the same for a text."""
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
