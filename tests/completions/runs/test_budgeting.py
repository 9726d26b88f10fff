"""What a call can cost at most: never less than any tokenizer and any price can make of it."""

from decimal import Decimal
from types import SimpleNamespace

import pytest

from completions import llm
from completions.models import GenerationCall
from completions.runs.services import budgeting
from tests.completions.runs.conftest import changed
from tests.helpers.factories_of_calls import make_generation_run

PRICE = {"input": 2.0, "output": 8.0}


def request(text: str = "Hello", **fields) -> llm.Request:
    return llm.Request(model="openai/any", messages=({"role": "user", "content": text},), **fields)


def endpoint(**fields) -> SimpleNamespace:
    usual = {"slug": "mine", "model_id": "openai/gpt-4o", "api_base": ""}
    return SimpleNamespace(**usual | {"parameters": {}, "is_simulated": False} | fields)


class TestTheMostThatAQuestionTakes:
    def test_is_its_bytes_and_what_sets_messages_apart(self):
        assert budgeting.most_prompt_tokens(request("abc")) == 3 + 3 * budgeting.MESSAGE_TOKENS

    @pytest.mark.parametrize("text", ["🙂" * 50, "שלום", "\ud800"], ids=["emoji", "rtl", "half"])
    def test_counts_what_takes_several_tokens_a_letter(self, text):
        n = budgeting.most_prompt_tokens(request(text)) - budgeting.most_prompt_tokens(request(""))

        assert n == len(text.encode(errors="surrogatepass")) > len(text)

    def test_counts_the_schema_and_the_opening(self):
        plain = budgeting.most_prompt_tokens(request())

        assert budgeting.most_prompt_tokens(request(response_schema={"a": 1})) == plain + 8
        assert budgeting.most_prompt_tokens(request(opening="Hi")) == plain + 2


class TestTheMostThatACallCosts:
    @pytest.mark.parametrize(
        ("n_bytes", "max_tokens", "price", "most"),
        [
            (952, 500, PRICE, Decimal("0.006000")),  # 1,000 tokens
            (51, 0, {"input": 0.001, "output": 1}, budgeting.CENT),  # 99, and a part of a sum
        ],
    )
    def test_is_the_question_and_the_longest_answer_rounded_up(
        self, n_bytes, max_tokens, price, most
    ):
        assert budgeting.most_usd(request("x" * n_bytes, max_tokens=max_tokens), price) == most

    def test_with_a_second_try_holds_both_and_the_answer_sent_back(self):
        asked = request("x" * 952, max_tokens=500)
        sent_back = 500 + budgeting.CORRECTION_TOKENS

        most = budgeting.most_usd(asked, PRICE, tries=2)

        assert most == 2 * Decimal("0.006") + sent_back * Decimal("0.000002")


class TestThePriceOf:
    @pytest.mark.parametrize(
        ("model", "price"),
        [
            ({"parameters": {"price": {"input": 1, "output": 2}}}, {"input": 1.0, "output": 2.0}),
            ({"is_simulated": True}, budgeting.NOTHING),
            ({"api_base": "http://192.0.2.1/v1"}, None),
            ({"parameters": {"api_base_env": "SOME_BASE"}}, None),
            ({}, PRICE),
        ],
        ids=["its own", "simulated", "an address", "an address in the environment", "listed"],
    )
    def test_a_model_is_its_own_or_the_listed_one_where_that_holds(self, monkeypatch, model, price):
        monkeypatch.setattr(llm, "listed_price", {"openai/gpt-4o": PRICE}.get)

        assert budgeting.price_of(endpoint(**model)) == price

    @pytest.mark.parametrize(
        ("left_out", "price", "at_most"),
        [
            (["max_tokens"], PRICE, None),
            (["top_p"], PRICE, PRICE),
            (["max_tokens"], budgeting.NOTHING, budgeting.NOTHING),
        ],
        ids=["no limit", "another", "free"],
    )
    def test_a_model_without_a_limit_of_tokens_says_no_most_unless_it_is_free(
        self, left_out, price, at_most
    ):
        unlimited = endpoint(parameters={"price": price, "leave_out": left_out})

        assert budgeting.price_of(unlimited) == price
        assert budgeting.price_at_most(unlimited) == at_most

    def test_who_has_none_or_no_limit_is_named_where_a_budget_needs_it(self):
        asked = [endpoint(slug="b"), endpoint(slug="a"), endpoint(is_simulated=True)]
        unlimited = endpoint(parameters={"price": PRICE, "leave_out": ["max_tokens"]})

        with pytest.raises(budgeting.UnknownPriceError, match="for a, b: set `price`"):
            budgeting.refuse_unknown_prices(asked)
        with pytest.raises(budgeting.UnknownPriceError, match=r"mine: .*`max_tokens` out of"):
            budgeting.refuse_unknown_prices([unlimited])


COST = Decimal("0.008302")  # five of them, less two, less three, is below nothing in binary


@pytest.mark.django_db
@pytest.mark.parametrize("parts", [(1, 1, 2, 3, 4), (2, 1, 1, 4, 3), (4, 2, 3, 1, 1)])
def test_what_is_given_back_in_parts_in_any_order_leaves_nothing(parts):
    total = sum(parts) * COST
    run = make_generation_run(reserved_usd=total, budget_usd=total)

    for n in parts:
        budgeting.settle([(GenerationCall(run=run, reserved_usd=COST), None)] * n)

    assert (changed(run).reserved_usd, run.spent_usd) == (0, total)
