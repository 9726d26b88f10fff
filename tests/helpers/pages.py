"""What pages say, where they lead, what they hand to scripts, and what their downloads hold."""

import csv
import json
import re
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.shortcuts import resolve_url
from pytest_django.asserts import assertRedirects

DATA = re.compile(r'<script id="([\w-]+)-chart-data" type="application/json">(.*?)</script>')
EXECUTED = r'<script(?! src="| id="[\w-]+-chart-data" type="application/json">)'


def text(answer: Any) -> str:
    """Return what a page says, without its markup and line ends."""
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def addresses(answer: Any) -> set[str]:
    """Return every address that a page links to within the console's pages on contexts."""
    found = re.findall(r'href="(/console/contexts/[^"]*)"', answer.content.decode())
    return {address.replace("&amp;", "&") for address in found}


def assert_turned_away(answer: Any) -> None:
    """Check that whoever asks is led to the sign-in page, or refused if that would not help."""
    if answer.wsgi_request.user.is_authenticated:
        assert answer.status_code == 403
        return
    wanted = answer.wsgi_request.get_full_path()
    assertRedirects(
        answer,
        f"{resolve_url(settings.LOGIN_URL)}?{urlencode({'next': wanted}, safe='/')}",
        fetch_redirect_response=False,
    )


def charts(answer: Any) -> dict[str, Any]:
    """Return the parts of each chart of a page, by the key of its figure."""
    return {key: json.loads(parts) for key, parts in DATA.findall(answer.content.decode())}


def inline(answer: Any) -> list[str]:
    """Return what a page has inline that the security policy forbids; data are no script."""
    return re.findall(rf"{EXECUTED}|<style|\sstyle=|\son\w+=", answer.content.decode())


def rows_of(answer: Any) -> list[dict[str, str]]:
    """Return the rows of a table that is downloaded."""
    lines = b"".join(answer.streaming_content).decode().splitlines()
    return list(csv.DictReader(lines))
