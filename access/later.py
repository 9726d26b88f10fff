"""Modules that are loaded when something of theirs is first asked for (ADR-0043)."""

import ast
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

Home = tuple[str, str]
"""The module that holds a name, and what it is called there."""


def names_of(package: str) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package whose imports stand under ``if TYPE_CHECKING:``.

    So a reader, a type checker and this function take from one list which module holds what
    (PEP 562). The package's own modules of that list are to be had by their names too, as if the
    imports had run.
    """

    @cache
    def homes() -> dict[str, Home]:
        source = Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8")
        named = dict(_homes(ast.parse(source)))
        own = {module for module, _ in named.values() if module.rpartition(".")[0] == package}
        return {module.rpartition(".")[2]: (package, module) for module in own} | named

    def loaded(name: str) -> object:
        if name.startswith("__") or name not in homes():
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        module, there = homes()[name]
        value = import_module(there) if module == package else getattr(import_module(module), there)
        setattr(sys.modules[package], name, value)
        return value

    return loaded


def call_of(name: str) -> Callable[..., Any]:
    """Return a function that calls the one of that full name."""
    module, _, there = name.rpartition(".")

    def call(*given: object, **named: object) -> Any:  # noqa: ANN401 (whatever is called)
        return getattr(import_module(module), there)(*given, **named)

    return call


def _homes(source: ast.Module) -> Iterator[tuple[str, Home]]:
    for block in source.body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for line in block.body:
                if isinstance(line, ast.ImportFrom):
                    for one in line.names:
                        yield one.asname or one.name, (str(line.module), one.name)
