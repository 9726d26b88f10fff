"""What identifies a person; every name, number and address here is invented or reserved."""

import pytest

from completions.contexts.screening.personal import DETECTORS, find
from completions.contexts.screening.reading import ReadText

FOUND = {
    "mail": [
        ("mail me at kim.example@example.org tonight", "kim.example@example.org"),
        ("it is kim99 at gmail dot com", "kim99 at gmail dot com"),
        ("kim99 (at) example (dot) org", "kim99 (at) example (dot) org"),
        ("kim99 at gmail.com", "kim99 at gmail.com"),
    ],
    "link": [
        ("see https://www.facebook.com/kim.example.9", "https://www.facebook.com/kim.example.9"),
        ("my page: linkedin.com/in/kim-example", "linkedin.com/in/kim-example"),
    ],
    "handle": [("I post as @kim_paints", "@kim_paints")],
    "account": [
        ("my insta is kim_paints99 if you like", "insta is kim_paints99"),
        ("add me on discord: kimPaints", "add me on discord: kimPaints"),
    ],
    "internet address": [
        ("he is on 203.0.113.9 again", "203.0.113.9"),
        ("it says 2001:db8::1", "2001:db8::1"),
    ],
    "telephone": [
        ("call me: 212-456-7890", "212-456-7890"),
        ("ring +44 20 7946 0958 after six", "+44 20 7946 0958"),
    ],
    "card": [
        ("it says 4111 1111 1111 1111", "4111 1111 1111 1111"),
        ("it says 4111 1111 1111 1111 12/25", "4111 1111 1111 1111"),
        ("it says 4111111111111111 12/25 123", "4111111111111111"),
        ("it is 4111-1111-1111-1111 123", "4111-1111-1111-1111"),
    ],
    "bank account": [
        ("to GB82 WEST 1234 5698 7654 32 please", "GB82 WEST 1234 5698 7654 32"),
        ("to gb82 west 1234 5698 7654 32 please", "gb82 west 1234 5698 7654 32"),
        ("to AT61 1904 3002 3457 3201 I think", "AT61 1904 3002 3457 3201"),
        ("to AT61 1904 3002 3457 3201 THEN WAIT", "AT61 1904 3002 3457 3201"),
    ],
    "identity number": [("mine is 536-90-4399", "536-90-4399")],
    "introduction": [
        ("Hello, my name is Xandra and I like tea.", "my name is Xandra"),
        ("my name\u2019s xandra", "my name\u2019s xandra"),
        ("Hi, I'm Xandra from the north.", "Hi, I'm Xandra"),
        ("I am tired. Im Xandra.", "Im Xandra"),
        ("Xandra here.", "Xandra here"),
        ("You can call me Xandra.", "call me Xandra"),
    ],
    "full name": [
        ("my boss Xandra Yellowfield shouted", "my boss Xandra Yellowfield"),
        ("a man named Yorick Q. Zann wrote", "named Yorick Q. Zann"),
    ],
    "street address": [
        ("we live at 12 Elder Tree Road", "12 Elder Tree Road"),
        ("the house at 4410 elder street", "4410 elder street"),
        ("Springfield, ZZ 00000", "ZZ 00000"),
    ],
    "employer or school": [
        ("I teach at Elder Tree Middle School", "Elder Tree Middle School"),
        ("she works for Yellowfield Dental", "Yellowfield Dental"),
    ],
}  # fmt: skip
LEFT_ALONE = [
    "My friend Xandra is kind, and so is her brother Yorick.",
    "I am 34 and live in Leeds, England.",
    "Look at google.com or meetup.com for groups.",
    "There is a page at https://www.nhs.uk/mental-health and www.who.int/health-topics.",
    "You could ring 1-800-273-8255 or 988, day or night.",
    "It cost 1,200,000 in 2019 and 2020, or 1 in 1000000.",
    "I have 4 kids, 2 dogs, 15 mugs and 1234567 worries.",
    "I'm Sad. I'm Canadian. I'm So tired. I am Happy, Im Single.",
    "My name is not important. My name is mud.",
    "Same here. Not here.",
    "You can call me crazy, call me Crazy.",
    "My facebook is private and my instagram is full of cats.",
    "It is 20 miles of bad road, and 10 minutes down the street.",
    "I was @home and met him at work.",
    "The number 4111 1111 1111 1112 has a wrong digit.",
    "We met at school and then at college; I work at a bakery.",
    "Her name is short and so is his.",
]


def found(text):
    return [text[span.start : span.end] for span in find(ReadText(text))]


class TestPersonalData:
    @pytest.mark.parametrize(("text", "span"), [case for cases in FOUND.values() for case in cases])
    def test_is_found_with_its_span(self, text, span):
        assert found(text) == [span]

    @pytest.mark.parametrize("text", LEFT_ALONE)
    def test_is_not_what_no_one_is_known_by(self, text):
        assert found(text) == []

    @pytest.mark.parametrize("detector", DETECTORS, ids=lambda one: one.name)
    def test_has_a_detector_of_its_own_for_each_kind(self, detector):
        for text, _ in FOUND[detector.name]:
            assert list(detector.find(text))
