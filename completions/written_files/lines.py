"""JSON lines: an object per line."""

import json
from collections.abc import Iterator

from completions.ingest.reading import DECODER, Entry


def objects(lines: Iterator[str]) -> Iterator[Entry]:
    """Yield what stands in each line that is not empty; one that is not JSON has its fault."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield Entry(number, DECODER.decode(line), number)
        except json.JSONDecodeError as error:
            yield Entry(number, fault=f"column {error.colno} is not JSON: {error.msg}")
        except (ValueError, RecursionError):
            yield Entry(number, fault="is not JSON: nested too deep, or no number of JSON")
