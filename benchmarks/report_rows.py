"""Rows for benchmarks.report: a study with all that its analyses ask for, made in the database.

People and LLM judges judge the same pairs. An answer follows from the two systems, from the pair
itself, and from chance; marks and reasons go with the answer.
"""

from django.db import connection

from annotation.models import Comparison, Study
from benchmarks.refit_rows import DIMENSIONS, N_EACH, Size, copies, fill, unchecked
from completions.choices import Presence, Stratum, SystemKind
from completions.models import Completion, StrategyCall
from completions.strategies.codebook import load_codebook
from ranking.models import Fit
from tests.helpers.factories import make_judge, make_judge_call, make_llm_judgment
from tests.helpers.factories_of_calls import DONE, make_strategy_call
from tests.helpers.released import put_under_hashes

N_SYSTEMS = 20
N_PAIRS = 12  # of each context
N_JUDGES = 3  # each asked in both orders
N_CALLS = 2 * N_JUDGES
FAILS = 50  # one call in so many has no answer
PER_CONTEXT = N_PAIRS * (N_EACH + N_CALLS * (FAILS - 1) // FAILS)
REASONS = (
    "It names the feeling behind the words.",
    "Warm and gentle, and it listens.",
    "Too quick with advice that nobody asked for.",
    "It asks an open question that invites more.",
    "A generic answer that could be for anybody.",
    "It offers one small practical step.",
    "It stays calm and does not argue back.",
    "Clear, short and to the point.",
    "It sounds like a leaflet.",
    "It says that others feel this, too.",
)
SENTENCE = "That sounds like a lot to carry on your own, and it makes sense that you are tired. "


def fill_report(n_judgments: int, *, n_raters: int = 0) -> Study:
    """Make a study of at least so many judgments, most of them by LLM judges."""
    n_contexts = -(-n_judgments // PER_CONTEXT)
    size = Size(N_EACH * N_PAIRS * n_contexts, N_SYSTEMS, n_contexts, n_raters)
    study = fill(size, with_marks=False)
    first = study.comparisons.earliest("pk")
    with unchecked():
        _systems()
        _texts()
        _calls(first, N_CALLS * N_PAIRS * n_contexts)
        _answers()
        _strategies(Completion.objects.filter(context__key__startswith="bench-").count())
        put_under_hashes(study)
    return study


def _systems() -> None:
    """Give systems families and facts, make two of them people, and some contexts adversarial."""
    people = f"'bench-{N_SYSTEMS - 1}', 'bench-{N_SYSTEMS}'"
    _run(
        "UPDATE completions_system SET family = 'family-' || id %% 6, facts = jsonb_build_object("
        "'intelligence_index', jsonb_build_object('value', 30 + 2 * (id %% 18) + 8 * random()), "
        "'median_ttft_ms', jsonb_build_object('value', 200 + 80 * (id %% 18) * random())) "
        "WHERE slug LIKE 'bench-%%'"
    )
    _run(
        "UPDATE completions_system SET kind = %s, family = '', model_id = '', facts = '{}' "  # noqa: S608 (our words)
        f"WHERE slug IN ({people})",
        SystemKind.HUMAN,
    )
    _run(
        "UPDATE completions_context SET stratum = %s WHERE key LIKE 'bench-%%' AND id %% 6 = 0",
        Stratum.ADVERSARIAL,
    )
    _run(  # so that no two have one hash
        "UPDATE completions_context SET turns = (turns - -1)"
        " || jsonb_build_array(jsonb_build_object('role', 'seeker', 'text', 'I am ' || key))"
    )


def _texts() -> None:
    """Make texts of different lengths; some ask, some list; each under its hash."""
    _run(
        "UPDATE completions_completion SET text = repeat(%s, 1 + floor(4 * random())::int)"
        " || CASE WHEN random() < 0.5 THEN 'What would help tonight?' ELSE '' END"
        " || CASE WHEN random() < 0.2 THEN E'\\n- Rest.\\n- Call a friend.' ELSE '' END",
        SENTENCE,
    )
    _run(
        "UPDATE completions_completion"
        " SET content_hash = encode(sha256(convert_to(text, 'UTF8')), 'hex')"
    )


def _calls(one: Comparison, n_calls: int) -> None:
    """Put every pair to each judge in both orders; nearly all calls bring an answer."""
    judge = make_judge(family="of-judges")
    judges = copies(judge, N_JUDGES, {"slug": "'bench-judge-' || i", "name": "'Judge ' || i"})
    given = make_llm_judgment(
        comparison=one, judge=judge, judge_call=make_judge_call(comparison=one, judge=judge, **DONE)
    )
    fails = f"i % {FAILS} = 0"
    calls = copies(
        given.judge_call,
        n_calls,
        {
            "comparison_id": f"{one.pk} + 1 + (i - 1) / {N_CALLS}",
            "judge_id": f"{judges} + 1 + (i - 1) % {N_CALLS} / 2",
            "first_side": "CASE WHEN i % 2 = 0 THEN 'A' ELSE 'B' END",
            "first_probability": "random()",
            "state": f"CASE WHEN {fails} THEN 'FAILED' ELSE 'DONE' END",
            "error_kind": f"CASE WHEN {fails} THEN 'timeout' ELSE '' END",
        },
    )
    copies(
        given,
        n_calls,
        {
            "comparison_id": "call.comparison_id",
            "judge_id": "call.judge_id",
            "judge_call_id": "call.id",
            "first_side": "call.first_side",
            "submitted_at": "t.submitted_at + i * interval '1 second'",
        },
        join=f"JOIN annotation_judgecall AS call ON call.id = {calls} + i AND call.state = 'DONE'",
    )


def _answers() -> None:
    """Draw all answers anew, with reasons, sides and times, and the marks that go with them."""
    step = 1.6 / (N_SYSTEMS - 1)
    _run(
        "UPDATE annotation_judgment AS given SET verdict = drawn.verdict,"  # noqa: S608 (our words)
        " rationale = (%s::text[])[drawn.reason] || ' ' || (%s::text[])[drawn.other],"
        " shown_at = submitted_at - (15 + 90 * drawn.chance) * interval '1 second',"
        " first_side = CASE WHEN judge_id IS NOT NULL THEN first_side"
        "  WHEN drawn.other %% 2 = 0 THEN 'A' ELSE 'B' END "
        "FROM (SELECT id, random() AS chance, 1 + floor(10 * random())::int AS other,"
        "  1 + floor(5 * random() + CASE WHEN seen > 0 THEN 0 ELSE 5 END)::int AS reason,"
        "  CASE WHEN judge_id IS NULL THEN width_bucket(seen, ARRAY[-1.5, -0.5, 0.5, 1.5]) - 2"
        "  WHEN seen > 0 THEN 1 + least(4, floor(2 * seen)) ELSE -1 - least(4, floor(-2 * seen))"
        "  END AS verdict"
        " FROM (SELECT one.id, one.judge_id, 0.9 * sin(12.9898 * pair.id)"
        f"  + {step} * (pair.second_id - pair.first_id)"
        "   + ln(1.0 / (0.000001 + 0.999998 * random()) - 1.0) AS seen"
        "  FROM annotation_judgment AS one JOIN annotation_comparison AS pair"
        "  ON pair.id = one.comparison_id OFFSET 0) AS draw) AS drawn WHERE drawn.id = given.id",
        list(REASONS),
        list(REASONS),
    )
    _run(
        "INSERT INTO annotation_dimensionmark (judgment_id, dimension, advantage) "
        "SELECT id, dimension, greatest(-1, least(1, round("
        " sign(verdict) * random() + 1.4 * (random() - 0.5)))) "
        "FROM annotation_judgment CROSS JOIN unnest(%s::text[]) AS dimension",
        list(DIMENSIONS),
    )


def _strategies(n_texts: int) -> None:
    """Have one model name the strategies of every text."""
    call: StrategyCall = make_strategy_call(**DONE)
    text = Completion.objects.filter(context__key__startswith="bench-").earliest("pk").pk
    first = copies(call, n_texts, {"completion_id": f"{text} - 1 + i"})
    _run(
        "INSERT INTO completions_strategylabel (call_id, strategy, presence, probability, quote) "
        "SELECT id, strategy, CASE WHEN chance < 0.3 THEN %s ELSE %s END, chance, 'a lot to carry' "
        "FROM (SELECT id, strategy, random() AS chance FROM completions_strategycall"
        " CROSS JOIN unnest(%s::text[]) AS strategy WHERE id > %s OFFSET 0) AS drawn",
        Presence.PRESENT,
        Presence.ABSENT,
        list(load_codebook().keys),
        first,
    )


def _run(statement: str, *values: str | int | list[str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def repeat_fit(fit: Fit, n: int) -> None:
    """Add copies of a fit with its ratings, each an hour older than the one before."""
    with unchecked():
        before = copies(
            fit,
            n,
            {
                "key": "'fit-bench-' || i",
                "inputs_hash": "md5(i::text)",
                "as_of": "t.as_of - i * interval '1 hour'",
            },
        )
        for rating in fit.ratings.all():
            copies(rating, n, {"fit_id": f"{before} + i"})
