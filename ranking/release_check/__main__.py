"""``python -m ranking.release_check FOLDER``: check a release and say what differs."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ranking.release_check.verifying import verify

UNSOUND = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the release and print the report; 1 is the answer where something differs."""
    parser = argparse.ArgumentParser(prog="ranking.release_check", description="Check a release.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true", help="of analyses, agreement alone")
    asked = parser.parse_args(arguments)
    report = verify(asked.folder, is_quick=asked.quick, tell=_tell)
    sys.stdout.write(f"{report.as_text()}\n")
    return 0 if report.is_sound else UNSOUND


def _tell(what: str) -> None:
    sys.stderr.write(f"{what}\n")


if __name__ == "__main__":
    sys.exit(main())
