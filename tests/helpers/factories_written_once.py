"""Typed builders of rows that are written once, and of the fits that some belong to."""

from typing import Any

from django.contrib.auth.models import User

from access.choices import Role
from access.models import ConsentEvidence, LogEntry, Member
from annotation.models import Consent, DimensionMark, Exclusion
from completions.models import BroughtCompletion, WriterConsent
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool, FitState, PeopleKind
from ranking.models import (
    Analysis,
    DimensionRate,
    Fit,
    HumanRating,
    KeptCounts,
    Measurement,
    RaterFigures,
    Rating,
    Release,
)
from tests.helpers.factories import (
    NOW,
    digest,
    make_completion,
    make_judgment,
    make_rater,
    make_study,
    make_system,
    make_writer,
    numbers,
    saved,
)

CONSENT = {"version": "1", "text_hash": digest("consent"), "given_at": NOW}
ELO = {"elo": 1517.0, "elo_se": 20.0, "elo_low": 1480.0, "elo_high": 1555.0}


def make_user(**fields: Any) -> User:
    return User.objects.create(**{"username": f"admin-{numbers.next()}"} | fields)


def make_member(name: str | None = None, *, role: Role = Role.OWNER) -> User:
    """Return a user who belongs to the team."""
    user = User.objects.create_user(name or f"member-{numbers.next()}")
    Member.objects.create(user=user, role=role, since=NOW)
    return user


def make_log_entry(**fields: Any) -> LogEntry:
    return saved(LogEntry, fields, {"at": NOW, "action": "study.opened", "subject": "study demo"})


def make_evidence(**fields: Any) -> ConsentEvidence:
    n = numbers.next()
    usual = {"kind": "RATER", "scope": "demo", "version": "1", "given_on": NOW.date()}
    hashes = {"person": digest(f"person {n}"), "text_hash": digest("consent")}
    return saved(ConsentEvidence, fields, usual | hashes)


def make_imported_completion(**fields: Any) -> BroughtCompletion:
    completion = fields.pop("completion", None) or make_completion()
    usual = {"way": "API", "brought_at": NOW, "raw_text": completion.text, "completion": completion}
    return saved(BroughtCompletion, fields, usual, brought_by=make_user)


def make_writer_consent(**fields: Any) -> WriterConsent:
    return saved(WriterConsent, fields, CONSENT, writer=make_writer)


def make_consent(**fields: Any) -> Consent:
    return saved(Consent, fields, CONSENT, rater=make_rater)


def make_mark(**fields: Any) -> DimensionMark:
    usual = {"dimension": "H", "advantage": 1}
    return saved(DimensionMark, fields, usual, judgment=make_judgment)


def make_exclusion(**fields: Any) -> Exclusion:
    """The exclusion of a rater, unless the fields name a judge."""
    who = {} if {"rater", "judge"} & set(fields) else {"rater": make_rater()}
    usual = {"is_excluded": True, "rule": "checks-v1", "decided_at": NOW}
    return saved(Exclusion, fields, who | usual)


def make_kept_counts(**fields: Any) -> KeptCounts:
    times = dict.fromkeys(("since", "until", "counted_at"), NOW)
    return saved(KeptCounts, fields, {"rows": b"", "newer_rows": b""} | times, study=make_study)


def make_fit(**fields: Any) -> Fit:
    n = numbers.next()
    usual = {
        "pool": EvaluatorPool.HUMAN,
        "context_set": ContextSet.ALL,
        "key": f"fit-{n}",
        "state": FitState.RUNNING,
        "as_of": NOW,
        "inputs_hash": digest(f"inputs {n}"),
        "method": {"strength": "soft"},
        "method_hash": digest("method"),
        "code_version": "numerics-1",
        "n_judgments": 10,
        "n_units": 2,
        "is_simulated": False,
        "claimed_at": NOW,
    }
    return saved(Fit, fields, usual, study=make_study)


def make_release(**fields: Any) -> Release:
    n = numbers.next()
    usual = {
        "version": n,
        "key": f"rel-{n}",
        "as_of": NOW,
        "fits": ["fit-1"],
        "licence": "CC-BY-4.0",
        "secret": digest("secret"),
        "is_simulated": False,
        "code_version": "numerics-1",
        "claimed_at": NOW,
    }
    return saved(Release, fields, usual, study=make_study)


def make_rating(**fields: Any) -> Rating:
    ranks = {"theta": 0.1, "rank": 2, "rank_low": 1, "rank_high": 3}
    outcomes = {"n_judgments": 10, "wins": 5, "losses": 3, "ties": 2}
    return saved(Rating, fields, ELO | ranks | outcomes, fit=make_fit, system=make_system)


def make_human_rating(**fields: Any) -> HumanRating:
    usual = {"kind": PeopleKind.AVERAGE, "n_judgments": 10, "n_contexts": 2}
    return saved(HumanRating, fields, ELO | usual, fit=make_fit)


def make_dimension_rate(**fields: Any) -> DimensionRate:
    usual = {"dimension": "H", "wins": 3, "n_marks": 5}
    return saved(DimensionRate, fields, usual, rating=make_rating)


def make_analysis(**fields: Any) -> Analysis:
    usual = {"kind": AnalysisKind.PAIRS, "code_version": "numerics-1", "claimed_at": NOW}
    return saved(Analysis, fields, usual, fit=make_fit)


def make_measurement(**fields: Any) -> Measurement:
    usual = {"as_of": NOW, "n_answers": 10, "median_seconds": 40.0}
    return saved(Measurement, fields, usual, study=make_study)


def make_rater_figures(**fields: Any) -> RaterFigures:
    measurement = fields.pop("measurement", None) or make_measurement()
    usual = {"measurement": measurement, "n_answers": 10, "n_checks": 4, "n_passed": 3}
    return saved(RaterFigures, fields, usual, rater=lambda: make_rater(study=measurement.study))
