"""Decisions on raters: by rules, by people, taken back, and never the same one twice."""

import datetime as dt

import pytest
from django.contrib.auth.models import User

from access.models import LogEntry
from annotation.models import Exclusion, Judgment
from annotation.quality import services
from annotation.quality.rules import Finding
from tests.helpers.factories import NOW, make_judgment, make_rater
from tests.helpers.released import decisions

pytestmark = pytest.mark.django_db

HOUR = dt.timedelta(hours=1)
FAILED = Finding("checks-1", 0.75, 0.5, {"n_checks": 4, "n_failed": 3}, is_exclusion=True)
RUSHED = Finding("times-1", 0.9, 0.5, {"n_answers": 10}, is_exclusion=True)
ODD = Finding("misfit-1", 1.6, 1.3, {"n_answers": 40}, is_exclusion=False)


@pytest.fixture
def boss():
    return User.objects.create_user("boss")


def exclude(rater, *findings, known=None, now=NOW):
    examined = services.Examined(rater.pk, findings, known)
    return services.exclude_by_rules(study=rater.study, examined=[examined], now=now)


class TestExcludingByRules:
    def test_keeps_rule_threshold_and_evidence(self):
        rater = make_rater()

        (decision,) = exclude(rater, FAILED)

        assert decision.evidence == {
            "value": 0.75,
            "threshold": 0.5,
            "n_checks": 4,
            "n_failed": 3,
        }
        assert (decision.rule, decision.decided_by, decision.decided_at) == ("checks-1", None, NOW)

    def test_makes_a_decision_for_each_rule(self):
        rater = make_rater()

        exclude(rater, FAILED, RUSHED)

        assert decisions(rater) == [(True, "checks-1"), (True, "times-1")]

    def test_says_who_had_the_rules_applied_and_lands_in_the_log(self, boss):
        rater = make_rater()
        examined = services.Examined(rater.pk, [FAILED], None)

        (decision,) = services.exclude_by_rules(
            study=rater.study, examined=[examined], now=NOW, by=boss
        )

        entry = LogEntry.objects.get()
        assert decision.decided_by == entry.by == boss
        assert (entry.action, entry.subject) == ("rater.excluded", f"rater {rater.code}")
        assert entry.after == {"rule": "checks-1", "reason": ""}

    def test_never_follows_from_a_warning(self):
        assert exclude(make_rater(), ODD) == []

    def test_makes_no_decision_twice(self):
        rater = make_rater()

        exclude(rater, FAILED)

        assert exclude(rater, FAILED) == []
        assert len(decisions(rater)) == 1

    def test_does_not_overrule_a_person_who_decided_meanwhile(self, boss):
        rater = make_rater()
        (seen,) = exclude(rater, FAILED)
        services.reinstate_rater(rater=rater, reason="Gold was wrong.", by=boss, now=NOW + HOUR)

        assert exclude(rater, FAILED, known=seen.pk) == []
        assert exclude(rater, FAILED, known=None) == []

    def test_may_follow_a_persons_decision_that_the_rules_knew_of(self, boss):
        rater = make_rater()
        exclude(rater, FAILED)
        back = services.reinstate_rater(rater=rater, reason="Fine.", by=boss, now=NOW + HOUR)

        assert len(exclude(rater, FAILED, known=back.pk, now=NOW + 2 * HOUR)) == 1

    def test_leaves_raters_of_other_studies_alone(self):
        rater, other = make_rater(), make_rater()
        examined = [services.Examined(other.pk, [FAILED], None)]

        assert services.exclude_by_rules(study=rater.study, examined=examined, now=NOW) == []

    def test_deletes_nothing(self):
        judgment = make_judgment()

        exclude(judgment.rater, FAILED)

        assert Judgment.objects.filter(pk=judgment.pk).exists()


class TestDecidingByHand:
    def test_excludes_with_who_and_why(self, boss):
        rater = make_rater()

        decision = services.exclude_rater(rater=rater, reason=" Asked to. ", by=boss, now=NOW)

        assert (decision.rule, decision.reason, decision.decided_by) == (
            "by-hand",
            "Asked to.",
            boss,
        )

    def test_takes_a_decision_back_and_keeps_it(self, boss):
        rater = make_rater()
        (taken,) = exclude(rater, FAILED)

        back = services.reinstate_rater(rater=rater, reason="Wrong gold.", by=boss, now=NOW)

        assert decisions(rater) == [(True, "checks-1"), (False, "taken-back checks-1")]
        assert back.evidence == {"takes_back": taken.pk}

    @pytest.mark.parametrize("reason", ["", "  "])
    def test_needs_a_reason(self, boss, reason):
        with pytest.raises(services.DecisionError, match="reason"):
            services.exclude_rater(rater=make_rater(), reason=reason, by=boss, now=NOW)

    def test_refuses_what_holds_already(self, boss):
        rater = make_rater()

        with pytest.raises(services.DecisionError, match="not out"):
            services.reinstate_rater(rater=rater, reason="Why not?", by=boss, now=NOW)
        exclude(rater, FAILED)
        with pytest.raises(services.DecisionError, match="excluded already"):
            services.exclude_rater(rater=rater, reason="Again.", by=boss, now=NOW)

    def test_is_never_dated_before_what_it_answers(self, boss):
        """Two clocks may differ; the newest decision must stay the newest."""
        rater = make_rater()
        exclude(rater, FAILED, now=NOW + HOUR)

        services.reinstate_rater(rater=rater, reason="Fine.", by=boss, now=NOW)

        newest = Exclusion.objects.order_by("-decided_at", "-pk").first()
        assert newest is not None
        assert not newest.is_excluded
