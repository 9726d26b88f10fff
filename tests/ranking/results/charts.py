"""What pages of results hand to the script that draws their charts, and what downloads hold."""

import csv
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


def rows_of(answer: Any) -> list[dict[str, str]]:
    """Return the rows of a table that is downloaded."""
    lines = b"".join(answer.streaming_content).decode().splitlines()
    return list(csv.DictReader(lines))
