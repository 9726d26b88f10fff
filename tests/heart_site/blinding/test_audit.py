"""The audit of a study that was walked through, and of one that gives something away."""

import io
import uuid
from itertools import count

import pytest
from django.core.management import CommandError, call_command

from access.models import LogEntry
from annotation import audits
from annotation.choices import AuditState, Protocol, Side, Source
from annotation.models import BlindingAudit, Lease, SourceGuess, Study
from annotation.session.views import judging
from completions.choices import SystemKind
from completions.models import System
from heart_site.blinding import auditing, replaying
from ranking.fits.queries import Results
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_dialogue,
    make_lease,
    make_rater,
    make_study,
    make_system,
    make_writer,
)
from tests.helpers.rated import make_rated_fit

pytestmark = pytest.mark.django_db
N_LEASES = 24


@pytest.fixture(scope="module")
def kept(module_rows):
    """Return the key of a study in which a person's and a program's messages were shown, evenly."""
    study = make_study()
    people = make_system(slug="supporters", name="Supporters", kind=SystemKind.HUMAN)
    program = make_system(slug="oakmodel", name="Oak model")
    for number in range(N_LEASES):
        context = make_context(dialogue=make_dialogue(dataset=study.dataset))
        texts = [make_completion(context=context, system=one) for one in (people, program)]
        pair = make_comparison(study=study, first=texts[0], second=texts[1])
        make_lease(
            comparison=pair,
            rater=make_rater(study=study),
            first_side=Side.A if number % 2 else Side.B,
            number=1 + number // 2 % 3,
            token=even_token(number),
        )
    return study.pk


def even_token(number: int) -> uuid.UUID:
    """Return a token of either side's turn: those that are drawn may tell sides by chance."""
    pair, place = divmod(number, 2)
    return uuid.UUID(int=1 + 2 * pair + (pair + place) % 2)


@pytest.fixture
def study(kept):
    return Study.objects.get(pk=kept)


@pytest.fixture(autouse=True)
def even_pages(monkeypatch):
    """Let pages of either side take as long: what a busy machine takes may tell by chance."""
    calls = count()

    def perf_counter():
        page, part = divmod(next(calls), 4)
        return 100.0 * page + part * (1 + page // 2 % 3)

    monkeypatch.setattr(replaying, "perf_counter", perf_counter)


def audit(study, *, n_pages=1000, seed=1, **options):
    return auditing.audit(study, n_pages=n_pages, seed=seed, now=NOW, **options)


def giving_away(monkeypatch, change):
    """Have the pages say more than they should: ``change`` gets the answer and the lease."""
    honest = judging.show_pair

    def show(request, lease, **options):
        answer = honest(request, lease, **options)
        change(answer, lease, options.get("comparison"))
        return answer

    monkeypatch.setattr(judging, "show_pair", show)


def audit_with(monkeypatch, study, change, **options):
    giving_away(monkeypatch, change)
    return audit(study, **options)


def is_a_first(lease):
    return lease.first_side == Side.A


def as_shown(lease):
    return lease.comparison.completions[:: 1 if is_a_first(lease) else -1]


def show_a_key(answer, lease, _blank):
    answer.content += f'<i id="{lease.comparison.key}"></i>'.encode()


def show_a_height(answer, lease, blank):
    if blank is None:
        answer.content += f"<i style='height:{len(lease.comparison.first.text)}'>".encode()


def show_a_number(answer, lease, _blank):
    answer.content += f'<i data-of="{as_shown(lease)[0].system_id:04}"></i>'.encode()


def add_a_tag(answer, lease, _blank):
    if is_a_first(lease):
        answer.content += b"<wbr>"


def add_a_header(answer, lease, _blank):
    if is_a_first(lease):
        answer["X-Side"] = "1"


def vary_a_header(answer, lease, _blank):
    answer["X-Side"] = "1" if is_a_first(lease) else "2"


def vary_a_cookie(answer, lease, _blank):
    answer.set_cookie("side", "1" if is_a_first(lease) else "2")


class TestAudit:
    def test_nothing_tells_where_sides_are_balanced(self, study):
        report = audit(study)

        assert report.holds
        assert report.n_pages == report.n_leases == N_LEASES
        assert {one.what for one in report.tests} >= {
            "side on which a person stands",
            "place in the rater's session",
            "token of the lease",
            "time to make the page",
        }

    def test_a_name_on_the_page_is_found(self, study, monkeypatch):
        def name_it(answer, lease, _blank):
            if lease.number == 2:
                answer.content += f"<i>{lease.comparison.first.system.slug}</i>".encode()

        report = audit_with(monkeypatch, study, name_it, n_pages=6)

        assert not report.holds
        assert report.faults["names"][0].lower().startswith("supporters on 2 pages")

    def test_names_on_every_page_tell_where_their_order_follows_the_sides(self, study, monkeypatch):
        def name_both(answer, lease, _blank):
            slugs = (one.system.slug for one in as_shown(lease))
            answer.content += "<i>{}, {}</i>".format(*slugs).encode()

        report = audit_with(monkeypatch, study, name_both)

        slugs = System.objects.order_by("slug").values_list("slug", flat=True)
        assert report.faults == {}
        assert {f"where {slug} stands on the page" for slug in slugs} <= set(report.telling)

    def test_a_name_at_one_place_of_every_page_tells_nothing(self, study, monkeypatch):
        def name_it(answer, _lease, _blank):
            answer.content += b"<i>oakmodel</i>"

        assert audit_with(monkeypatch, study, name_it).holds

    def test_an_address_of_a_writer_is_found_and_not_repeated(self, study, monkeypatch):
        writer = make_writer(dataset=study.dataset, email="ada@people.example")

        def name_her(answer, lease, _blank):
            if lease.number == 2:
                answer["X-By"] = writer.email

        report = audit_with(monkeypatch, study, name_her, n_pages=6)

        assert report.faults["names"][0].startswith(f"a name of {writer.code} on 2 pages")
        assert writer.email not in str(report.as_json())

    @pytest.mark.parametrize(
        ("change", "kind", "n"),
        [
            (show_a_key, "names", 6),
            (show_a_height, "markup", 6),
            (add_a_header, "headers", 5),
            (vary_a_header, "headers", 5),
            (vary_a_cookie, "headers", 5),
        ],
    )
    def test_what_differs_beside_the_texts_is_a_fault(self, study, monkeypatch, change, kind, n):
        faults = audit_with(monkeypatch, study, change, n_pages=6).faults

        assert {name: len(found) for name, found in faults.items()} == {kind: n}

    @pytest.mark.parametrize(
        ("change", "telling"),
        [
            (show_a_number, {'number 1 of <i data-of="#">'}),
            (add_a_tag, {"how often <wbr> stands there", "length of the markup"}),
        ],
    )
    def test_markup_that_goes_with_the_source_tells(self, study, monkeypatch, change, telling):
        assert set(audit_with(monkeypatch, study, change).telling) == telling

    def test_time_that_goes_with_the_source_tells(self, study, monkeypatch):
        clock = [0.0]

        def dawdle(_answer, lease, _blank):
            clock[0] += 2.0 if is_a_first(lease) else 1.0

        giving_away(monkeypatch, dawdle)
        monkeypatch.setattr(replaying, "perf_counter", lambda: clock[0])

        assert audit(study).telling == ["time to make the page"]

    def test_people_always_on_one_side_tell_however_few_pages_are_replayed(self, study):
        Lease.objects.update(first_side=Side.A)

        report = audit(study, n_pages=1)

        assert "side on which a person stands" in report.telling
        assert not report.holds

    def test_people_always_first_in_the_session_tell(self, study):
        for lease in Lease.objects.all():
            lease.number = 1 if lease.first_side == Side.A else 2
            lease.save()

        assert audit(study).telling == ["place in the rater's session"]

    def test_messages_that_are_rated_alone_are_tested(self):
        study = make_study(protocol=Protocol.LIKERT)
        people = make_system(kind=SystemKind.HUMAN)
        program = make_system()
        for number in range(N_LEASES):
            context = make_context(dialogue=make_dialogue(dataset=study.dataset))
            one = make_completion(context=context, system=people if number % 2 else program)
            pair = make_comparison(study=study, first=one)
            make_lease(
                comparison=pair,
                rater=make_rater(study=study),
                number=1 + number % 2,
                token=even_token(N_LEASES + number),  # after those of the kept study
            )

        report = audit(study)

        assert report.telling == ["place in the rater's session"]
        assert report.faults == {}

    def test_a_text_that_names_its_system_is_told_and_is_no_fault(self, study):
        elm = make_system(name="Elm model")
        told = make_completion(system=elm, text="As Elm model, I hear you.")
        pair = make_comparison(study=study, first=told)
        make_lease(comparison=pair, rater=make_rater(study=study))

        report = audit(study, n_pages=1)

        assert report.holds
        assert report.texts[0].endswith("names Elm model")

    def test_guesses_are_held_against_chance(self, study):
        for lease in Lease.objects.all():
            for text in lease.comparison.completions:
                is_person = text.system.kind == SystemKind.HUMAN
                guess = Source.PERSON if is_person else Source.PROGRAM
                SourceGuess.objects.create(
                    rater=lease.rater, completion=text, guess=guess, guessed_at=NOW
                )

        report = audit(study, n_pages=1)

        assert (report.guesses.value, report.guesses.interval) == (1.0, (1.0, 1.0))
        assert report.guesses.p_value < 0.01
        assert report.holds  # the texts tell; the platform does not

    def test_without_leases_there_is_nothing_to_say(self):
        report = audit(make_study())

        assert (report.holds, report.n_pages) == (True, 0)

    def test_only_so_many_pages_are_replayed(self, study):
        report = audit(study, n_pages=5)

        assert (report.n_pages, report.n_leases) == (5, N_LEASES)


class TestCommand:
    def run(self, slug, *options, out=None):
        out = out or io.StringIO()
        words = ("audit", "blinding", "--study", slug, *options)
        call_command(*words, stdout=out, stderr=io.StringIO())
        return out.getvalue()

    def test_says_that_it_holds_and_keeps_it_in_the_log(self, study):
        said = self.run(study.slug)

        assert said.endswith("Nothing but the texts tells who wrote what.\n")
        assert "what might tell" in said
        kept = BlindingAudit.objects.get(study=study)
        assert (kept.state, kept.holds, kept.n_done) == (AuditState.DONE, True, N_LEASES)
        assert kept.report["n_pages"] == N_LEASES
        logged = LogEntry.objects.get(action="audit.blinding").after
        found = {"holds": True, "n_pages": N_LEASES, "faults": {}, "telling": []}
        assert logged == found | {"audit": kept.pk}

    def test_ends_with_an_error_where_something_tells(self, study):
        Lease.objects.update(first_side=Side.A)

        with pytest.raises(CommandError, match="does not hold") as caught:
            self.run(study.slug, "--pages", "1")

        assert caught.value.returncode == 1
        assert LogEntry.objects.get(action="audit.blinding").after["holds"] is False

    def test_names_an_oracle_that_is_opened_on_purpose(self, study, monkeypatch):
        make_rated_fit(study=study)
        monkeypatch.setattr(Results, "has_all", True)
        said = io.StringIO()

        with pytest.raises(CommandError, match="does not hold"):
            self.run(study.slug, "--pages", "1", out=said)

        assert f"/results/{study.slug}/ changes for a stranger when an answer" in said.getvalue()

    def test_waits_for_one_that_is_under_way(self, study):
        audits.claim_audit(study=study, now=NOW)

        with pytest.raises(CommandError, match="under way") as caught:
            self.run(study.slug)

        assert caught.value.returncode == 2

    def test_there_is_no_such_study(self):
        with pytest.raises(CommandError, match='no study "other"') as caught:
            self.run("other")

        assert caught.value.returncode == 2
