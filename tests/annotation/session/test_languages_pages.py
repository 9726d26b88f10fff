"""Texts keep their language and direction in any browser; help lines follow the visitor's own."""

from html.parser import HTMLParser

import pytest

from annotation.models import Rater
from annotation.session.blinded import requested_countries, split_lines
from completions.writers.guidelines import HelpLine
from tests.annotation.session.steps import judge, let_in
from tests.completions.writers import desk
from tests.completions.writers.desk import make_pool, sign_in, take_dialogue
from tests.helpers.factories import (
    make_comparison,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_study,
)
from tests.helpers.factories_of_people import make_sent
from tests.helpers.visits import HTMX, open_study, study_content, url

pytestmark = pytest.mark.django_db

ENGLISH, HEBREW, MIXED_HEBREW = "That sounds hard.", "זה נשמע קשה.", "OK, אני מבין אותך."
LANGUAGES = [
    ("he", (HEBREW, MIXED_HEBREW), ("no", "he", "rtl")),
    ("und", (ENGLISH, HEBREW), ("no", "", "auto")),
]
VOID = {"meta", "link", "input", "br", "img", "hr"}


class Reader(HTMLParser):
    """Finds, for each piece of text, what the elements around it say of its language."""

    def __init__(self, page):
        super().__init__()
        self.around, self.texts = [], {}
        self.feed(page.content.decode())

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.around.append(dict(attrs))

    def handle_endtag(self, tag):
        if tag not in VOID:
            self.around.pop()

    def handle_data(self, data):
        if text := " ".join(data.split()):
            self.texts[text] = tuple(map(self.nearest, ("translate", "lang", "dir")))

    def nearest(self, name):
        return next((one[name] for one in reversed(self.around) if name in one), None)


def turns_of(said):
    return [{"role": "seeker", "text": f"{said} {n}"} for n in range(9)]


def study_in(language, texts, **content):
    dataset = make_dataset()
    study = make_study(dataset=dataset, content=study_content(**content), session_length=1)
    context = make_context(
        dialogue=make_dialogue(dataset=dataset, language=language), turns=turns_of(texts[1])
    )
    first, second = (make_completion(context=context, text=text) for text in texts)
    make_comparison(study=study, first=first, second=second)
    return study


@pytest.mark.parametrize(("language", "texts", "expected"), LANGUAGES)
class TestRaters:
    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
    def test_read_the_pair_and_the_conversation_in_their_language(
        self, client, language, texts, expected, headers
    ):
        study = study_in(language, texts)
        let_in(client, study)

        shown = Reader(client.get(url(study, "judge"), headers=headers)).texts

        wanted = [*texts, *(turn["text"] for turn in turns_of(texts[1]))]
        assert {text: shown[text] for text in wanted} == dict.fromkeys(wanted, expected)

    def test_are_asked_about_sources_in_their_language(self, client, language, texts, expected):
        study = study_in(language, texts, source_guesses=1)
        let_in(client, study)
        judge(client, study)

        shown = Reader(client.get(url(study, "guess"))).texts

        assert [shown[text] for text in texts if text in shown] == [expected]

    def test_practise_in_it(self, client, language, texts, expected):
        pair = {"turns": turns_of("practice"), "message_a": texts[0], "message_b": texts[1]}
        study = study_in(language, texts, practice=study_content()["practice"] | pair)
        let_in(client, study)

        shown = Reader(client.get(url(study, "how"))).texts

        assert {shown[text] for text in (*texts, "practice 8")} == {expected}


@pytest.mark.parametrize(("language", "texts", "expected"), LANGUAGES)
class TestWriters:
    def test_read_and_answer_in_its_language(self, client, language, texts, expected):
        writer = make_pool(n_contexts=0)
        dialogue = make_dialogue(dataset=writer.dataset, language=language)
        make_context(dialogue=dialogue, turns=turns_of(texts[0]))
        sign_in(client, writer)
        lease = take_dialogue(client)

        page = client.get(desk.url("dialogue", lease.token))

        shown = Reader(page).texts
        assert shown[f"{texts[0]} 8"] == expected
        assert f'rows="4" dir="{expected[2]}"' in page.content.decode()

    def test_find_what_they_sent_in_it(self, client, language, texts, expected):
        writer = make_pool(n_contexts=0)
        make_context(dialogue=make_dialogue(dataset=writer.dataset, language=language))
        sign_in(client, writer)
        lease = take_dialogue(client)
        make_sent(lease=lease, text=texts[1])

        pages = [desk.url("desk"), desk.url("sent"), desk.url("dialogue", lease.token)]
        assert {Reader(client.get(page)).texts[texts[1]] for page in pages} == {expected}


def test_practice_of_dialogues_in_several_languages_is_in_none(client):
    study = study_in("he", (HEBREW, MIXED_HEBREW))
    make_dialogue(dataset=study.dataset, language="en")
    let_in(client, study)

    shown = Reader(client.get(url(study, "how"))).texts

    assert shown[study.content["practice"]["message_a"]] == ("no", "", "auto")


def test_words_of_the_page_itself_may_be_translated(client):
    study = study_in("he", (HEBREW, MIXED_HEBREW))
    entry = client.get(url(study, "entry"))
    let_in(client, study)
    pair = client.get(url(study, "judge"))

    shown = Reader(entry).texts | Reader(pair).texts

    words = ["Yes, I agree", "Reply A", "Seeker", "Help lines", "Stop", study.content["question"]]
    assert {shown[word] for word in words} == {(None, "en", "ltr")}


@pytest.mark.parametrize("kind", ["rubric", "likert"])
def test_other_protocols_show_texts_the_same_way(client, study, lease):
    shown = Reader(client.get(url(study, "judge"))).texts

    assert shown[lease.comparison.first.text] == ("no", "en", "auto")


def line(name: str, *countries: str) -> HelpLine:
    return HelpLine(place="", name=name, countries=countries)


LINES = (
    line("AU", "AU"),
    line("anywhere"),
    line("DE", "DE"),
    line("GB", "GB", "IE"),
    line("emergency"),
)


@pytest.mark.parametrize(
    ("header", "countries"),
    [
        ("", ()),
        ("en", ()),
        ("*", ()),
        ("en-GB", ("GB",)),
        ("de-CH,de;q=0.9,en-gb;q=0.5", ("CH", "GB")),
        ("zh-Hant-TW, en-US;q=0.7", ("TW", "US")),
        ("en-US,en-US", ("US",)),
        ("es-419", ()),
        ("english-GB, 12-DE, -FR", ()),
        ("de-DEU", ()),
        ("\x00,;=-GB", ()),
        ("-" * 5000, ()),
        ("x" * 500 + ",en-GB", ()),
    ],
)
def test_countries_are_those_that_the_browser_names_in_its_order(header, countries):
    assert requested_countries(header) == countries


@pytest.mark.parametrize(
    ("countries", "near", "others"),
    [
        ((), "anywhere emergency AU DE GB", ""),
        (("FR",), "anywhere emergency AU DE GB", ""),
        (("DE",), "DE anywhere emergency", "AU GB"),
        (("IE", "DE"), "GB DE anywhere emergency", "AU"),
        (("FR", "AU"), "AU anywhere emergency", "DE GB"),
        (("AU", "GB"), "AU GB anywhere emergency", "DE"),
    ],
)
def test_lines_of_the_own_country_stand_before_anywhere_and_the_rest_is_folded(
    countries, near, others
):
    shown, folded = split_lines(LINES, countries)

    assert " ".join(line.name for line in shown) == near
    assert " ".join(line.name for line in folded) == others


class TestHelpLines:
    """On the pages, by what the browser asks for."""

    def lines(self, client, page, language):
        client.defaults["HTTP_ACCEPT_LANGUAGE"] = language
        study = open_study()
        if page in {"take_break", "done"}:
            let_in(client, study)
        if page == "done":
            client.post(url(study, "stop"))
        text = client.get(url(study, page)).content.decode()
        shown, _fold, folded = text.partition("Help lines in other countries")
        return shown, folded

    @pytest.mark.parametrize("page", ["entry", "help", "take_break", "done"])
    def test_of_the_own_country_come_first_and_then_those_for_anywhere(self, client, page):
        shown, folded = self.lines(client, page, "de-DE,en;q=0.5")

        assert shown.index("TelefonSeelsorge") < shown.index("findahelpline.com")
        assert "Samaritans" not in shown
        assert "Samaritans" in folded
        stored = [str(value) for row in Rater.objects.values_list() for value in row]
        assert "DE" not in stored, "the country is stored nowhere"

    def test_are_all_shown_where_nobody_can_tell_the_country(self, client):
        shown, folded = self.lines(client, "entry", "en")

        assert shown.index("findahelpline.com") < shown.index("Samaritans")
        assert not folded
