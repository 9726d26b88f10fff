"""What the report of an audit says."""

from heart_site.blinding.reporting import lines, verdicts

REPORT = {
    "n_pages": 30,
    "n_leases": 35,
    "faults": {},
    "tests": [],
    "telling": [],
    "texts": [],
    "guesses": None,
    "is_simulated": False,
    "holds": True,
}


def found(what, p_value):
    return {"what": what, "n": 30, "value": 0.5, "chance": 0.5, "p_value": p_value}


TOKEN = found("token of the lease", 0.7)
LIST = found("how often <ol> stands there", 0.4)
ITEM = found("how often <li> stands there", 0.02)
MARK = found("number 1 of <i data-of='#'>", 0.0)


def test_tags_that_tell_nothing_are_one_line_and_the_least_likely_stands_for_them():
    shown = verdicts(REPORT | {"tests": [LIST, TOKEN, ITEM]})

    assert [(one["what"], one["p_value"]) for one in shown] == [
        ("token of the lease", 0.7),
        ("tags of the page: the most telling of 2 counts and numbers", 0.02),
    ]


def test_a_tag_that_tells_comes_first_and_by_itself():
    shown = verdicts(REPORT | {"tests": [TOKEN, LIST, MARK], "telling": [MARK["what"]]})

    assert [one["what"] for one in shown if one["tells"]] == [shown[0]["what"]] == [MARK["what"]]
    assert len(shown) == 3


def test_a_long_name_does_not_widen_the_table():
    name = f"how often <form {'hx-post ' * 40}> stands there"

    said = lines(REPORT | {"tests": [found(name, 0.0)], "telling": [name], "holds": False})

    assert max(map(len, said)) < 130
    assert any("how often <form" in line and line.endswith("TELLS") for line in said)


def test_a_study_that_nobody_judged_is_not_called_blinded():
    said = lines(REPORT | {"n_pages": 0, "n_leases": 0})

    assert said[-1] == "No pair was handed out yet: there is nothing to audit."
