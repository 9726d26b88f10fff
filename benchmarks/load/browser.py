"""A rater's browser, as cheap as it gets: one connection, cookies, compressed answers.

It shares the machine with the server, so it does no more than a browser's requests need. Each has a
loopback address of its own, as people come from many places and limits go by address.
"""

import asyncio
import contextlib
import re
import zlib
from dataclasses import dataclass, field
from urllib.parse import urlencode

PATIENCE_S = 60.0
GZIP = 31  # zlib's word for the format of gzip
FORM = "Content-Type: application/x-www-form-urlencoded\r\n"
HTMX = "HX-Request: true\r\nHX-Target: stage\r\nAccept: */*\r\n"
ASSETS = re.compile(rb'<(?:link|script|img)\b[^>]*?(?:href|src)="(/[^"]+)"')


@dataclass(frozen=True)
class Answer:
    """What came back; header names are in lower case, and cookies are taken already."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Browser:
    """One person's browser on a server of this machine."""

    port: int
    address: str = "127.0.0.1"
    cookies: dict[str, tuple[str, str]] = field(default_factory=dict)
    has_loaded: set[str] = field(default_factory=set)
    _reader: asyncio.StreamReader | None = None
    _writer: asyncio.StreamWriter | None = None

    @property
    def origin(self) -> str:
        """Scheme, host and port, as forms name where they come from."""
        return f"http://127.0.0.1:{self.port}"

    async def visit(self, path: str) -> Answer:
        """Open a page, go where it leads, and load what it needs that was not loaded before."""
        answer = await self.follow(await self.fetch(path))
        await self.load_assets(answer)
        return answer

    async def load_assets(self, page: Answer) -> None:
        """Load the styles, scripts and pictures of a page that the browser does not have yet."""
        for found in ASSETS.findall(page.body):
            if (asset := found.decode()) not in self.has_loaded:
                self.has_loaded.add(asset)
                await self.fetch(asset)

    async def follow(self, answer: Answer) -> Answer:
        """Go on to where an answer leads, until one leads nowhere."""
        while "location" in answer.headers:
            answer = await self.fetch(answer.headers["location"])
        return answer

    async def fetch(
        self, path: str, fields: dict[str, str] | None = None, *, extra: str = ""
    ) -> Answer:
        """Send one request, a post if there are fields, and read what comes back.

        As browsers do, send it again where a connection that was used before turns out to be
        closed: servers hang up after some idle seconds, perhaps just now.

        Raises
        ------
        OSError, EOFError, TimeoutError
            If the server does not answer, not to the end, or not in time.
        """
        async with asyncio.timeout(PATIENCE_S):
            request, was_open = self._request(path, fields, extra), self._writer is not None
            try:
                head = await self._send(request)
            except (ConnectionError, asyncio.IncompleteReadError):
                if not was_open:
                    raise
                await self.close()
                head = await self._send(request)
            status, headers = self._read_head(head.decode("latin-1"))
            reader, _writer = await self._link()
            body = await reader.readexactly(int(headers.get("content-length", "0")))
        if headers.get("content-encoding") == "gzip":
            body = zlib.decompress(body, GZIP)
        # Pages have a length; in chunks comes an error of the server, whose text does not matter.
        if headers.get("connection", "").lower() == "close" or "transfer-encoding" in headers:
            await self.close()
        return Answer(status, headers, body)

    async def _send(self, request: bytes) -> bytes:
        """Send a request, and return the head of what comes back."""
        reader, writer = await self._link()
        writer.write(request)
        return await reader.readuntil(b"\r\n\r\n")

    async def close(self) -> None:
        """Hang up."""
        if self._writer is not None:
            self._writer.close()
            with contextlib.suppress(OSError):  # the server may have been first
                await self._writer.wait_closed()
        self._reader = self._writer = None

    async def _link(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return the connection; a new one if there is none."""
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(
                "127.0.0.1", self.port, local_addr=(self.address, 0)
            )
        return self._reader, self._writer

    def _request(self, path: str, fields: dict[str, str] | None, extra: str) -> bytes:
        body = urlencode(fields) if fields is not None else ""
        known = "; ".join(
            f"{name}={value}"
            for name, (value, below) in self.cookies.items()
            if path.startswith(below)
        )
        head = (
            f"{'GET' if fields is None else 'POST'} {path} HTTP/1.1\r\n"
            f"Host: 127.0.0.1:{self.port}\r\n"
            "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n"
            "Accept-Encoding: gzip\r\nAccept-Language: en\r\n"
            + (f"Cookie: {known}\r\n" if known else "")
            + (f"Origin: {self.origin}\r\n{FORM}Content-Length: {len(body)}\r\n" if body else "")
            + extra
        )
        return f"{head}\r\n{body}".encode("latin-1")

    def _read_head(self, head: str) -> tuple[int, dict[str, str]]:
        first, *lines = head.rstrip("\r\n").split("\r\n")
        headers = {}
        for line in lines:
            name, _colon, value = line.partition(":")
            if (name := name.lower()) == "set-cookie":
                self._keep(value.strip())
            else:
                headers[name] = value.strip()
        return int(first.split(" ", 2)[1]), headers

    def _keep(self, cookie: str) -> None:
        pair, *attributes = cookie.split(";")
        name, _sign, value = pair.partition("=")
        given = dict(one.strip().lower().partition("=")[::2] for one in attributes)
        self.cookies[name] = (value, given.get("path", "/"))
