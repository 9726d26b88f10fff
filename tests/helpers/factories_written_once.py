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
)


def make_user(**fields: Any) -> User:
    return User.objects.create(**{"username": f"admin-{numbers.next()}"} | fields)


def make_member(name: str | None = None, *, role: Role = Role.OWNER) -> User:
    """Return a user who belongs to the team."""
    user = User.objects.create_user(name or f"member-{numbers.next()}")
    Member.objects.create(user=user, role=role, since=NOW)
    return user


def make_log_entry(**fields: Any) -> LogEntry:
    return LogEntry.objects.create(
        **{"at": NOW, "action": "study.opened", "subject": "study demo"} | fields
    )


def make_evidence(**fields: Any) -> ConsentEvidence:
    row = {"kind": "RATER", "scope": "demo", "version": "1", "given_on": NOW.date()}
    n = numbers.next()
    hashes = {"person": digest(f"person {n}"), "text_hash": digest("consent")}
    return ConsentEvidence.objects.create(**row | hashes | fields)


def make_imported_completion(**fields: Any) -> BroughtCompletion:
    completion = fields.pop("completion", None) or make_completion()
    by = fields.pop("brought_by", None) or make_user()
    given = {"way": "API", "brought_at": NOW, "raw_text": completion.text}
    return BroughtCompletion.objects.create(**given | fields, completion=completion, brought_by=by)


def make_writer_consent(**fields: Any) -> WriterConsent:
    writer = fields.pop("writer", None) or make_writer()
    return WriterConsent.objects.create(
        writer=writer,
        **{"version": "1", "text_hash": digest("consent"), "given_at": NOW} | fields,
    )


def make_consent(**fields: Any) -> Consent:
    rater = fields.pop("rater", None) or make_rater()
    return Consent.objects.create(
        rater=rater,
        **{"version": "1", "text_hash": digest("consent"), "given_at": NOW} | fields,
    )


def make_mark(**fields: Any) -> DimensionMark:
    judgment = fields.pop("judgment", None) or make_judgment()
    return DimensionMark.objects.create(
        judgment=judgment, **{"dimension": "H", "advantage": 1} | fields
    )


def make_exclusion(**fields: Any) -> Exclusion:
    """The exclusion of a rater, unless the fields name a judge."""
    who = {} if {"rater", "judge"} & set(fields) else {"rater": make_rater()}
    return Exclusion.objects.create(
        **who, **{"is_excluded": True, "rule": "checks-v1", "decided_at": NOW} | fields
    )


def make_kept_counts(**fields: Any) -> KeptCounts:
    times = dict.fromkeys(("since", "until", "counted_at"), NOW)
    study = fields.pop("study", None) or make_study()
    return KeptCounts.objects.create(study=study, rows=b"", newer_rows=b"", **times | fields)


def make_fit(**fields: Any) -> Fit:
    n = numbers.next()
    study = fields.pop("study", None) or make_study()
    return Fit.objects.create(
        study=study,
        **{
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
        | fields,
    )


def make_release(**fields: Any) -> Release:
    n = numbers.next()
    study = fields.pop("study", None) or make_study()
    return Release.objects.create(
        study=study,
        **{
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
        | fields,
    )


def make_rating(**fields: Any) -> Rating:
    fit = fields.pop("fit", None) or make_fit()
    system = fields.pop("system", None) or make_system()
    return Rating.objects.create(
        fit=fit,
        system=system,
        **{
            "theta": 0.1,
            "elo": 1517.0,
            "elo_se": 20.0,
            "elo_low": 1480.0,
            "elo_high": 1555.0,
            "rank": 2,
            "rank_low": 1,
            "rank_high": 3,
            "n_judgments": 10,
            "wins": 5,
            "losses": 3,
            "ties": 2,
        }
        | fields,
    )


def make_human_rating(**fields: Any) -> HumanRating:
    fit = fields.pop("fit", None) or make_fit()
    return HumanRating.objects.create(
        fit=fit,
        **{
            "kind": PeopleKind.AVERAGE,
            "elo": 1517.0,
            "elo_se": 20.0,
            "elo_low": 1480.0,
            "elo_high": 1555.0,
            "n_judgments": 10,
            "n_contexts": 2,
        }
        | fields,
    )


def make_dimension_rate(**fields: Any) -> DimensionRate:
    rating = fields.pop("rating", None) or make_rating()
    return DimensionRate.objects.create(
        rating=rating, **{"dimension": "H", "wins": 3, "n_marks": 5} | fields
    )


def make_analysis(**fields: Any) -> Analysis:
    fit = fields.pop("fit", None) or make_fit()
    return Analysis.objects.create(
        fit=fit,
        **{"kind": AnalysisKind.PAIRS, "code_version": "numerics-1", "claimed_at": NOW} | fields,
    )


def make_measurement(**fields: Any) -> Measurement:
    study = fields.pop("study", None) or make_study()
    return Measurement.objects.create(
        study=study, **{"as_of": NOW, "n_answers": 10, "median_seconds": 40.0} | fields
    )


def make_rater_figures(**fields: Any) -> RaterFigures:
    measurement = fields.pop("measurement", None) or make_measurement()
    rater = fields.pop("rater", None) or make_rater(study=measurement.study)
    return RaterFigures.objects.create(
        measurement=measurement,
        rater=rater,
        **{"n_answers": 10, "n_checks": 4, "n_passed": 3} | fields,
    )
