"""Rationales that an assistant is asked about."""

from annotation.rationales import themes
from tests.helpers.factories import make_comparison, make_judgment

TEXT = "**A** is warmer,\n\nand asks what happened."
KEYS = themes.load_codebook().keys
ABSENT = {"quote": "", "presence": "absent", "probability": 0.1}


def judge(study, **fields):
    comparison = fields.pop("comparison", None) or make_comparison(study=study)
    return make_judgment(comparison=comparison, **{"rationale": TEXT} | fields)
