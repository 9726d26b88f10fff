"""The actions of ``manage.py study``."""

import argparse


def add_study(parser: argparse.ArgumentParser) -> None:
    """Let the action be about one study."""
    parser.add_argument("study", help="the study's slug")
