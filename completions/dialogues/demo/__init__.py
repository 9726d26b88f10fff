"""Twelve dialogues written for the demonstration; they record no real people."""

from pathlib import Path

DIALOGUES = Path(__file__).parent / "dialogues.json"
