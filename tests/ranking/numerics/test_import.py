"""The numerics stand on their own."""

import importlib


def test_the_package_itself_brings_nothing_along():
    package = importlib.import_module("ranking.numerics")

    assert package.__doc__
    assert not hasattr(package, "np")
