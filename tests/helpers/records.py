"""One record of a file of dialogues, read by itself."""

from completions.dialogues.ingest.dialogue import BadRecord, IngestError
from completions.dialogues.ingest.formats import EXPECTED, first_format, parse


def parse_record(record, number):
    """Read the record as the ``number``-th of its file, or refuse it as the file would be."""
    among = first_format(record)
    if among is None:
        msg = f"dialogue {number}: unknown format: {EXPECTED}"
        raise IngestError(msg)
    parsed = parse(record, among, f"{among.noun} {number}")
    if isinstance(parsed, BadRecord):
        raise IngestError(parsed)
    return parsed
