"""What a web process loads in order to show ratings."""

import subprocess
import sys

CODE = """
import sys, django
django.setup()
import ranking.admin, ranking.api, ranking.urls, ranking.views
loaded = {"numpy", "scipy", "pandas", "litellm"} & set(sys.modules)
assert not loaded, loaded
"""


def test_showing_ratings_loads_no_numerical_library():
    subprocess.run([sys.executable, "-W", "ignore", "-c", CODE], check=True)
