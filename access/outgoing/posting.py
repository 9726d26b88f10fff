"""Send one message to one address, over a connection to the very host that was checked."""

import http.client
import socket
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from access.outgoing.addresses import Rules, Target, check_ip, read_target

Resolver = Callable[[str, int], Sequence[str]]

CONNECT_S = 3.0
READ_S = 5.0
ALL_S = 8.0
"""How long a receiver may take in all, however it spreads its answer."""


class PostError(Exception):
    """A message did not get an answer."""


@dataclass(frozen=True)
class Answer:
    """What a receiver answered; its words are not read."""

    status: int

    @property
    def is_taken(self) -> bool:
        """Whether the receiver has the message: a redirection is no such answer."""
        return 200 <= self.status < 300  # noqa: PLR2004 (RFC 9110)

    @property
    def is_gone(self) -> bool:
        """Whether the receiver says that it will never take one again."""
        return self.status == http.HTTPStatus.GONE


@dataclass(frozen=True)
class Patience:
    """How long to wait, in seconds: to connect, for each piece of an answer, and in all."""

    connect: float = CONNECT_S
    read: float = READ_S
    all: float = ALL_S


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
    patience: Patience = Patience(),
) -> Answer:
    """Send ``body``; follow no redirection, and read no more than the status and the headers.

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
        return _exchange(target, number, body, headers, patience)
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        msg = f"{type(error).__name__}: {error}"[:300]
        raise PostError(msg) from error


def _exchange(
    target: Target, number: str, body: bytes, headers: Mapping[str, str], patience: Patience
) -> Answer:
    with socket.create_connection((number, target.port), timeout=patience.connect) as plain:
        plain.settimeout(patience.read)
        with _secured(plain, target) as line:
            # A receiver that sends a byte now and then keeps every single wait short.
            watch = threading.Timer(patience.all, _cut, [line])
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


def _ask(line: socket.socket, target: Target, body: bytes, headers: Mapping[str, str]) -> Answer:
    connection = http.client.HTTPConnection(target.host, target.port)
    connection.sock = line
    about = {"Host": target.host_header, "Connection": "close", **headers}
    connection.request("POST", target.path, body=body, headers=about)
    with connection.getresponse() as response:
        return Answer(response.status)


def _cut(line: socket.socket) -> None:
    """End a connection under whoever waits for it."""
    with suppress(OSError):
        socket.socket.shutdown(line, socket.SHUT_RDWR)  # TLS' own would go on in the clear
