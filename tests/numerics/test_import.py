"""The numerics stand on their own."""

import importlib
import subprocess
import sys

CODE = """
import sys, time
started = time.process_time()
import ranking.numerics.bradley_terry, ranking.numerics.bootstrap, ranking.numerics.ranks
import ranking.numerics.elo, ranking.numerics.intervals, ranking.numerics.strength
seconds = time.process_time() - started
known = {name.partition(".")[0] for name in sys.modules}
assert not known & {"django", "pandas", "celery"}, known
assert seconds < 1.0, seconds
"""


def test_the_numerics_import_without_the_framework_in_under_a_second_of_work():
    subprocess.run([sys.executable, "-c", CODE], check=True, env={"PATH": ""})


def test_the_package_itself_brings_nothing_along():
    package = importlib.import_module("ranking.numerics")

    assert package.__doc__
    assert not hasattr(package, "np")
