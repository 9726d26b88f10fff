"""What a call can cost at most: never less than any tokenizer and any price can make of it."""

from decimal import Decimal
from types import SimpleNamespace

import pytest

from completions import llm
from completions.runs.services import budgeting

PRICE = {"input": 2.0, "output": 8.0}


def request(text: str = "Hello", **fields) -> llm.Request:
    return llm.Request(model="openai/any", messages=({"role": "user", "content": text},), **fields)


def endpoint(**fields) -> SimpleNamespace:
    usual = {
        "slug": "mine",
        "model_id": "openai/gpt-4o",
        "api_base": "",
        "parameters": {},
        "is_simulated": False,
    }
    return SimpleNamespace(**usual | fields)


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
    def test_is_the_question_and_the_longest_answer(self):
        asked = request("x" * 952, max_tokens=500)  # 1,000 tokens

        assert budgeting.most_usd(asked, PRICE) == Decimal("0.006000")

    def test_is_rounded_up_to_the_smallest_sum(self):
        asked = request("x" * 51, max_tokens=0)  # 99 tokens

        assert budgeting.most_usd(asked, {"input": 0.001, "output": 1}) == budgeting.CENT

    def test_with_a_second_try_holds_both_and_the_answer_sent_back(self):
        asked = request("x" * 952, max_tokens=500)
        sent_back = 500 + budgeting.CORRECTION_TOKENS

        most = budgeting.most_usd(asked, PRICE, tries=2)

        assert most == 2 * Decimal("0.006") + sent_back * Decimal("0.000002")


class TestThePriceOf:
    def test_a_model_is_its_own_before_the_listed_one(self):
        own = endpoint(parameters={"price": {"input": 1, "output": 2}})

        assert budgeting.price_of(own) == {"input": 1.0, "output": 2.0}

    def test_a_simulated_one_is_nothing_unless_it_is_set(self):
        assert budgeting.price_of(endpoint(is_simulated=True)) == budgeting.NOTHING

    @pytest.mark.parametrize(
        "elsewhere",
        [{"api_base": "http://192.0.2.1/v1"}, {"parameters": {"api_base_env": "SOME_BASE"}}],
        ids=["an address", "an address in the environment"],
    )
    def test_one_at_an_address_of_its_own_is_not_known(self, elsewhere):
        assert budgeting.price_of(endpoint(**elsewhere)) is None

    def test_any_other_is_what_is_listed(self, monkeypatch):
        monkeypatch.setattr(llm, "listed_price", {"openai/gpt-4o": PRICE}.get)

        assert budgeting.price_of(endpoint()) == PRICE

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

    def test_one_without_a_limit_is_named_where_a_budget_needs_it(self):
        unlimited = endpoint(parameters={"price": PRICE, "leave_out": ["max_tokens"]})

        with pytest.raises(budgeting.UnknownPriceError, match=r"mine: .*`max_tokens` out of"):
            budgeting.refuse_unknown_prices([unlimited])

    def test_one_without_it_is_named_where_a_budget_needs_it(self, monkeypatch):
        monkeypatch.setattr(llm, "listed_price", lambda _model: None)
        asked = [endpoint(slug="b"), endpoint(slug="a"), endpoint(is_simulated=True)]

        with pytest.raises(budgeting.UnknownPriceError, match="for a, b: set `price`"):
            budgeting.refuse_unknown_prices(asked)
