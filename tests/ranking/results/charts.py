"""What a page of results hands to the script that draws its charts."""

import json
import re
from typing import Any

DATA = re.compile(r'<script id="([\w-]+)-chart-data" type="application/json">(.*?)</script>')
EXECUTED = r'<script(?! src="| id="[\w-]+-chart-data" type="application/json">)'


def charts(answer: Any) -> dict[str, Any]:
    """Return the parts of each chart of a page, by the key of its figure."""
    return {key: json.loads(parts) for key, parts in DATA.findall(answer.content.decode())}


def inline(answer: Any) -> list[str]:
    """Return what a page has inline that the security policy forbids; data are no script."""
    return re.findall(rf"{EXECUTED}|<style|\sstyle=|\son\w+=", answer.content.decode())
