"""``python -m ranking.release_check FOLDER``: check a release and say what differs."""

import argparse
import json
import sys
from collections.abc import Sequence

from completions.management import folder, printing
from ranking.release_check.verifying import verify

UNSOUND = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the release and print the report; 1 is the answer where something differs."""
    parser = argparse.ArgumentParser(prog="ranking.release_check", description="Check a release.")
    parser.add_argument("folder", type=folder)
    parser.add_argument("--quick", action="store_true", help="of analyses, agreement alone")
    parser.add_argument("--json", action="store_true", help="print all of the report as JSON")
    options = parser.parse_args(arguments)
    with printing():
        report = verify(options.folder, is_quick=options.quick, tell=_tell)
        said = json.dumps(report.as_json()) if options.json else report.as_text()
        sys.stdout.write(f"{said}\n")
    return 0 if report.is_sound else UNSOUND


def _tell(what: str) -> None:
    sys.stderr.write(f"{what}\n")


if __name__ == "__main__":
    sys.exit(main())
