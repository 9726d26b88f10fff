"""Join the pictures of pages into one sheet for each window and scheme.

``HEART_PICTURES=FOLDER python -m pytest tests/browser/test_accessibility.py -k no_faults`` takes
them; ``python -m benchmarks.pictures FOLDER docs/images`` joins those of raters.
"""

import sys
from pathlib import Path

from PIL import Image

SHEETS = {"360": (12, 0.5), "1280": (5, 0.4)}
"""By the width of the window: how many pictures stand side by side, and how much they shrink."""
GAP = 8
LEFT_OUT = ("consent-again", "somebody-else", "preference-call-rubric", "preference-call-whole")


def sheet(files: list[Path], *, n_columns: int, scale: float) -> Image.Image:
    """Return the pictures in rows, in the order of their names."""
    first = Image.open(files[0])
    width, height = (int(side * scale) for side in first.size)
    n_rows = -(-len(files) // n_columns)
    joined = Image.new("RGB", (n_columns * (width + GAP), n_rows * (height + GAP)), "gray")
    for place, file in enumerate(files):
        row, column = divmod(place, n_columns)
        small = Image.open(file).resize((width, height), Image.Resampling.LANCZOS)
        joined.paste(small, (column * (width + GAP), row * (height + GAP)))
    return joined


def main(taken: Path, target: Path) -> None:
    """Write a sheet for each folder of pictures."""
    for folder in sorted(taken.iterdir()):
        width, _scheme = folder.name.split("-")
        n_columns, scale = SHEETS[width]
        files = sorted(
            file for file in folder.glob("*.png") if not any(one in file.stem for one in LEFT_OUT)
        )
        joined = sheet(files, n_columns=n_columns, scale=scale)
        joined.save(target / f"raters-{folder.name}.webp", quality=40, method=6)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
