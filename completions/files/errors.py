"""What every import says of a file that it cannot read, in the same words."""

SAVE_AS = 'save it as UTF-8 (in Excel, "CSV UTF-8")'


class InputFileError(ValueError):
    """A file as a whole cannot be read; the message says where, why and what to do."""
