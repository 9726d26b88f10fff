"""What pages of the console say and where they lead."""

import re
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.shortcuts import resolve_url
from pytest_django.asserts import assertRedirects


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
