"""`manage.py judges`: the table becomes what the catalogue says, once and with a report."""

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from access.models import LogEntry
from annotation.judges.queries import UnknownJudgeError, judges_named
from annotation.models import Judge
from tests.helpers.factories import make_judge, make_judge_call

pytestmark = pytest.mark.django_db

OURS = """
[[judge]]
slug = "ours"
name = "Ours"
family = "our-lab"
model_id = "hosted_vllm/ours"
parameters = { api_key_env = "OURS_KEY", api_base_env = "OURS_BASE" }
"""


def judges(*arguments) -> list[str]:
    out = io.StringIO()
    call_command("judges", *arguments, stdout=out)
    return out.getvalue().splitlines()


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    path = tmp_path / "ours.toml"
    path.write_text(OURS)
    return path


def make_ours(**fields) -> Judge:
    given = {"slug": "ours", "name": "Ours", "family": "our-lab", "model_id": "hosted_vllm/ours"}
    return make_judge(**given | fields)


class TestSync:
    def test_the_shipped_catalogue_fills_an_empty_table(self):
        assert judges("sync")[-1] == "3 added, 0 changed, 0 unchanged, 0 refused"

        gpt = Judge.objects.get(family="openai")
        assert (gpt.slug, gpt.model_id) == ("judge-gpt-4o", "openai/gpt-4o")
        assert gpt.parameters == {"api_key_env": "OPENAI_API_KEY", "logprobs": True}
        assert not gpt.is_simulated

    def test_doing_it_again_changes_nothing(self):
        judges("sync")
        before, n_logged = list(Judge.objects.order_by("pk").values()), LogEntry.objects.count()

        assert judges("sync") == ["0 added, 0 changed, 3 unchanged, 0 refused"]
        assert list(Judge.objects.order_by("pk").values()) == before
        assert LogEntry.objects.count() == n_logged

    def test_a_change_is_told_and_logged_with_what_was_before(self, ours):
        make_ours(parameters={"max_tokens": 9})

        told = judges("sync", str(ours))

        assert "OURS_KEY" in told[0]
        assert told[1] == "0 added, 1 changed, 0 unchanged, 0 refused"
        entry = LogEntry.objects.get()
        assert (entry.action, entry.subject) == ("judge.changed", "judge ours")
        assert entry.before == {"parameters": {"max_tokens": 9}}

    def test_an_address_that_the_catalogue_leaves_open_stays_as_it_was_set(self, ours):
        judges("sync", str(ours))
        Judge.objects.update(api_base="https://ours.example/v1")

        assert judges("sync", str(ours)) == ["0 added, 0 changed, 1 unchanged, 0 refused"]
        assert Judge.objects.get().api_base == "https://ours.example/v1"

    def test_a_dry_run_reports_and_writes_nothing(self, ours):
        told = judges("sync", str(ours), "--dry-run")

        assert (told[0], told[-1]) == ("added     ours", "Nothing was written.")
        assert not Judge.objects.exists()
        assert not LogEntry.objects.exists()


class TestRefusals:
    def refused(self, path: Path) -> str:
        with pytest.raises(CommandError, match="1 refused") as raised:
            judges("sync", str(path))
        assert raised.value.returncode == 1
        return str(raised.value)

    def test_a_name_of_another_judge_is_refused_and_the_others_go_on(self, ours):
        make_judge(slug="theirs", name="Ours")
        ours.write_text(OURS + OURS.replace("ours", "more").replace("Ours", "More"))

        told = self.refused(ours)

        assert 'refused   ours: the name "Ours" belongs to the judge theirs' in told
        assert Judge.objects.filter(slug="more").exists()

    def test_a_simulated_judge_never_becomes_a_real_one(self, ours):
        make_ours(name="Simulated ours", is_simulated=True)

        assert "the slug belongs to a simulated judge" in self.refused(ours)
        assert Judge.objects.get().is_simulated

    @pytest.mark.parametrize("field", ["family", "model_id"])
    def test_who_a_judge_is_stays_once_it_was_asked(self, ours, field):
        judge = make_ours(**{field: "another"})
        make_judge_call(judge=judge)

        assert f"its {field} cannot change" in self.refused(ours)
        assert getattr(Judge.objects.get(), field) == "another"

    def test_before_that_a_wrong_id_can_be_put_right(self, ours):
        make_ours(model_id="openai/another")

        judges("sync", str(ours))

        assert Judge.objects.get().model_id == "hosted_vllm/ours"

    def test_a_faulty_file_is_told_with_exit_code_2_and_nothing_is_written(self, ours):
        ours.write_text(OURS + OURS)

        with pytest.raises(CommandError, match="taken by another judge") as raised:
            judges("sync", str(ours))

        assert raised.value.returncode == 2
        assert not Judge.objects.exists()


class TestList:
    def test_an_empty_table_says_what_to_do(self):
        assert "judges sync" in judges("list")[0]

    def test_a_judge_is_told_with_its_maker_and_what_its_calls_need(self, ours, monkeypatch):
        monkeypatch.setenv("OURS_KEY", "s3cret")
        monkeypatch.delenv("OURS_BASE", raising=False)
        judges("sync", str(ours))

        assert judges("list") == [
            "ours: Ours, 0 calls",
            "  hosted_vllm/ours of our-lab, OURS_KEY set, OURS_BASE MISSING",
        ]

    def test_who_is_simulated_says_so_and_needs_no_key(self):
        make_judge(slug="s", name="Simulated s", is_simulated=True, parameters={"api_key_env": "K"})

        told = judges("list")

        assert told[0] == "s: Simulated s (simulated), 0 calls"
        assert "K " not in told[1]

    def test_any_number_of_judges_takes_one_query(self, django_assert_num_queries):
        for _ in range(3):
            make_judge_call()

        with django_assert_num_queries(1):
            told = judges("list")

        assert sum(line.endswith("1 calls") for line in told) == 3


class TestNaming:
    def test_judges_are_found_by_their_slugs(self):
        one, other, _ = (make_judge(slug=slug) for slug in ("b", "a", "c"))

        assert judges_named(["b", "a"]) == [other, one]

    def test_an_unknown_one_is_refused_with_those_that_there_are(self):
        make_judge(slug="a")

        with pytest.raises(UnknownJudgeError, match="unknown judges x; known are a"):
            judges_named(["a", "x"])
