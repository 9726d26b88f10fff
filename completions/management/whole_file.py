"""Write a file that is there whole, or not at all."""

import os
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from completions.management.acting import RefusedError


def put(blocks: Iterator[bytes], path: Path, *, is_forced: bool) -> Path:
    """Write blocks to a file that appears when it is whole, and return its path.

    Meanwhile it has another name; a failure leaves nothing behind, nor do blocks without a byte.

    Raises
    ------
    RefusedError
        If the file is there and not to be overwritten, nothing can be written there, or there
        is nothing to write.
    """
    if path.exists() and not is_forced:
        msg = f"{path} is there already; --force overwrites it."
        raise RefusedError(msg)
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with part.open("xb") as stream:
            for block in blocks:
                stream.write(block)
            stream.flush()
            os.fsync(stream.fileno())
        if part.stat().st_size == 0:
            msg = f"There is nothing to write, so {path} was not made."
            raise RefusedError(msg)
        part.replace(path)
    except OSError as error:  # as on a full disk
        msg = f"{path} cannot be written: {error.strerror}. Nothing was left there."
        raise RefusedError(msg) from error
    finally:
        with suppress(OSError):  # it has its place by now, or never had one
            part.unlink()
    return path
