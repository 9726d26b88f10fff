"""Simulated judges, one call to them, and what they say."""

import json

import pytest

from annotation.models import Judge, JudgeCall
from annotation.studies.rubric import load_rubric
from tests.helpers.factories import make_comparison, make_judge, make_judge_call, make_study

RUBRIC = load_rubric("heart-1")
WITH_RUBRIC = {"content": {"rubric": RUBRIC.content()}}


def make_simulated_judge(name: str = "alder", **fields) -> Judge:
    return make_judge(
        is_simulated=True,
        name=f"Simulated {name}",
        model_id=f"hosted_vllm/offline-judge-{name}",
        **fields,
    )


def make_call(**fields) -> JudgeCall:
    comparison = fields.pop("comparison", None) or make_comparison(study=make_study(**WITH_RUBRIC))
    judge = fields.pop("judge", None) or make_simulated_judge()
    return make_judge_call(comparison=comparison, judge=judge, **fields)


@pytest.fixture
def say(provider, monkeypatch):
    """Let the judge say these texts, one per call, of a pair or of one message."""

    def _say(*texts):
        said = iter(text if isinstance(text, str) else json.dumps(text) for text in texts)
        for answer in ("answer", "answer_alone"):
            monkeypatch.setattr(f"completions.offline.judges.{answer}", lambda *_: next(said))

    return _say
