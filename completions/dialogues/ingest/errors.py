"""What goes wrong while dialogues are read: with one record, or with the file as a whole."""

from dataclasses import dataclass

from completions.files import InputFileError


class IngestError(InputFileError):
    """A file cannot be read as dialogues; the message says where and why."""


@dataclass(frozen=True)
class BadRecord:
    """A record that cannot be used: its place in the file, and why, without what was said in it."""

    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"
