"""What pages of the console say and where they lead."""

import re
from typing import Any


def text(answer: Any) -> str:
    """Return what a page says, without its markup and line ends."""
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def addresses(answer: Any) -> set[str]:
    """Return every address that a page links to within the console's pages on contexts."""
    found = re.findall(r'href="(/console/contexts/[^"]*)"', answer.content.decode())
    return {address.replace("&amp;", "&") for address in found}
