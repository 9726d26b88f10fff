"""The numerics stand on their own."""

import importlib
import subprocess
import sys

CODE = """
import sys
import ranking.numerics.bradley_terry, ranking.numerics.bootstrap, ranking.numerics.ranks
import ranking.numerics.elo, ranking.numerics.intervals, ranking.numerics.strength
known = {name.partition(".")[0] for name in sys.modules}
assert not known & {"django", "pandas", "celery"}, known
# What would take longer than all the rest together.
slow = {"scipy.stats", "scipy.optimize"} & set(sys.modules)
assert not slow, slow
"""


def test_the_numerics_import_without_the_framework_and_what_is_slow():
    subprocess.run([sys.executable, "-c", CODE], check=True, env={"PATH": ""})


def test_the_package_itself_brings_nothing_along():
    package = importlib.import_module("ranking.numerics")

    assert package.__doc__
    assert not hasattr(package, "np")
