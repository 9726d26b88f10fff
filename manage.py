#!/usr/bin/env python
"""Entry point for management commands."""

import os
import sys
from importlib import import_module

from django.core.management import execute_from_command_line

OF_FILES = ("agreement", "rank")
"""Commands that read a file and ask nothing of the site: its applications take longer to load."""


def main(words: list[str]) -> None:
    """Run the command of ``words``, the name of this script first."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "heart_site.settings")
    if words[1:2] and words[1] in OF_FILES:
        import_module(f"ranking.management.commands.{words[1]}").Command().run_from_argv(words)
    else:
        execute_from_command_line(words)


if __name__ == "__main__":
    main(sys.argv)
