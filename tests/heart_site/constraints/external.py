"""Ways to break the rules of judgments made elsewhere."""

import datetime as dt
from functools import partial

from tests.heart_site.constraints.rules import Case, twice
from tests.helpers.factories import NOW, make_study
from tests.helpers.factories_of_site import make_batch, make_batch_decision, make_external

BEFORE = NOW.date() - dt.timedelta(days=1)


def _twice_by_one_rater() -> None:
    first = make_external(rater="e0001")
    make_external(batch=first.batch, comparison=first.comparison, rater="e0001")


def _by_two_raters() -> object:
    first = make_external(rater="e0001")
    return make_external(batch=first.batch, comparison=first.comparison, rater="e0002")


CASES = [
    Case(
        "externalbatch_once_per_reference",
        twice(make_batch, study=make_study, reference="one"),
        twice(make_batch, study=make_study),
    ),
    Case("externalbatch_source_named", partial(make_batch, source=""), label="no source"),
    Case("externalbatch_source_named", partial(make_batch, reference=""), label="no reference"),
    Case("externalbatch_source_named", partial(make_batch, url=""), label="no address"),
    Case("externalbatch_source_named", partial(make_batch, licence=""), label="no licence"),
    Case("externalbatch_people_told_of", partial(make_batch, recruitment=""), label="found how"),
    Case("externalbatch_people_told_of", partial(make_batch, consent=""), label="agreed to what"),
    Case("externalbatch_collected_in_order", partial(make_batch, collected_until=BEFORE)),
    Case("externalbatch_hashes_given", partial(make_batch, content_digest=""), label="content"),
    Case("externalbatch_hashes_given", partial(make_batch, protocol_hash=""), label="protocol"),
    Case("externaljudgment_once_per_rater", _twice_by_one_rater, _by_two_raters),
    Case("externaljudgment_rater_given", partial(make_external, rater="")),
    Case(
        "externaljudgment_verdict_range",
        partial(make_external, verdict=6),
        partial(make_external, verdict=None),
    ),
    Case("externaldecision_reason_given", partial(make_batch_decision, reason="")),
]
