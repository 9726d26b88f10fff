"""How large the house is and how it hangs together: python -m benchmarks.house [FOLDER].

Counts files and lines of the apps without migrations, modules that one module alone imports,
dataclasses, class names with several meanings in an app, lengths of functions, tests and documents.
FOLDER is another checkout of this repository, for a table of before and after.
"""

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

APPS = ("access", "completions", "annotation", "ranking", "heart_site")
OF_DJANGO = {"Command", "Meta"}
"""Names that Django asks for in every module of their kind."""


def modules(root: Path) -> dict[str, ast.Module]:
    """Return the syntax trees of all modules of the apps, by their names."""
    return {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
            path.read_text(encoding="utf-8")
        )
        for app in APPS
        for path in (root / app).rglob("*.py")
        if "migrations" not in path.parts
    }


def importers(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Return, for each module, which others import it or something of it."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, tree in trees.items():
        for target in _imported(tree):
            if target in trees and target != name:
                found[target].add(name)
            elif (parent := target.rpartition(".")[0]) in trees and parent != name:
                found[parent].add(name)
    return found


def ambiguous(trees: dict[str, ast.Module]) -> set[tuple[str, str]]:
    """Return each app and class name of which the app has several classes."""
    homes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name not in OF_DJANGO:
                homes[name.partition(".")[0], node.name].add(name)
    return {key for key, where in homes.items() if len(where) > 1}


def dataclasses(trees: dict[str, ast.Module]) -> int:
    """Return how many classes are decorated as dataclasses."""
    return sum(
        any("dataclass" in ast.unparse(one) for one in node.decorator_list)
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )


def function_lengths(trees: dict[str, ast.Module]) -> list[int]:
    """Return the lines of each function, sorted."""
    return sorted(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def top_level(root: Path, app: str) -> int:
    """Return how many modules and packages stand at the top of an app."""
    return sum(
        path.suffix == ".py" or (path / "__init__.py").exists()
        for path in (root / app).iterdir()
        if path.name not in {"__init__.py", "migrations"}
    )


def figures(root: Path) -> Iterator[tuple[str, str]]:
    """Yield each figure with its name."""
    trees = modules(root)
    imported = importers(trees)
    lengths = function_lengths(trees)
    yield "source files", f"{len(trees):,}"
    yield "source lines", f"{_lines(path for app in APPS for path in _sources(root / app)):,}"
    yield "names at the top of an app", ", ".join(str(top_level(root, app)) for app in APPS)
    yield "modules imported by one module", str(Counter(map(len, imported.values()))[1])
    yield "dataclasses", str(dataclasses(trees))
    yield "class names with several meanings", str(len(ambiguous(trees)))
    yield (
        "function, median / 90th percentile",
        (f"{lengths[len(lengths) // 2]} / {lengths[len(lengths) * 9 // 10]} lines"),
    )
    tests = list((root / "tests").rglob("*.py"))
    yield "test files / lines", f"{len(tests)} / {_lines(iter(tests)):,}"
    pages = [path for path in (root / "docs").rglob("*.md") if "adr" not in path.parts]
    yield "pages / words of documents", f"{len(pages)} / {_words(pages):,}"
    records = list((root / "docs/adr").glob("*.md"))
    yield "decision records / words", f"{len(records)} / {_words(records):,}"


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)


def _sources(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*.py") if "migrations" not in path.parts)


def _lines(paths: Iterator[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def _words(paths: list[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").split()) for path in paths)


if __name__ == "__main__":
    for name, value in figures(Path(sys.argv[1] if len(sys.argv) > 1 else ".")):
        sys.stdout.write(f"{name:36}{value:>24}\n")
