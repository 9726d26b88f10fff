"""What each rule finds and leaves alone; every text, name and number here is invented."""

import pytest

from completions.contexts.screening.personal import DETECTORS, find
from completions.contexts.screening.reading import ReadText
from completions.contexts.screening.rules import DISQUALIFIERS, MAX_WORDS, MIN_WORDS, RULES, SIGNALS

FOUND = {
    "distress": [
        ("Since she moved out I feel so lonely in the evenings.", "lonely"),
        ("honestly im scared that he will find out", "scared"),
        ("I can't sleep and I keep going over the letter.", "can't sleep"),
        ("My dad passed away in June and nobody says his name.", "passed away"),
        ("I am sooooo ASHAMED of what I wrote to her", "ASHAMED"),
        ("Everything I do feels like I am a failure", "feels like I am a failure"),
        ("I just don\u2019t know what to do with myself", "don\u2019t know what to do"),
    ],
    "conflict": [
        ("My sister and I argued about the flat again.", "argued"),
        ("She broke up with me over the phone.", "broke up with"),
        ("The others were laughing at me in the canteen.", "laughing at me"),
        ("He lied to me about the money for a year.", "lied to"),
        ("My manager takes all the credit for my drawings.", "takes all the credit"),
    ],
    "help": [
        ("What should I say to him when he comes home?", "What should I say"),
        ("Do you have any advice for someone so shy?", "Do you have any advice"),
        ("Should I write to her first?", "Should I"),
        ("Could someone please tell me how people do it?", "Could someone please tell"),
        ("Am I wrong to be upset about a birthday?", "Am I wrong"),
    ],
    "self-harm": [
        ("Some nights I want to die.", "want to die"),
        ("He tried to kill himself last winter.", "kill himself"),
        ("She has been cutting herself since school.", "cutting herself"),
        ("I see no reason to live", "no reason to live"),
        ("I think of SUICIDE a lot", "SUICIDE"),
        ("they would be better off without me", "better off without me"),
        ("I dont want to live anymore", "dont want to live"),
        ("I cannot go on living like that", "cannot go on living"),
    ],
    "hate": [
        ("He called the boy a retard in front of us.", "retard"),
        ("I hate black people, he said.", "hate black people"),
        ("All immigrants are criminals, says my uncle.", "All immigrants are criminals"),
        ("They told us to go back to our own street and go back to your country.",
         "go back to your country"),
    ],
    "sexual": [
        ("He watches porn every night.", "porn"),
        ("She sent him naked pictures.", "naked"),
        ("We had a one night stand in May.", "one night stand"),
    ],
    "violence": [
        ("My husband hits me when he drinks.", "husband hits me"),
        ("It was an abusive home.", "abusive"),
        ("He threatened to hurt my cat.", "threatened to"),
        ("Two men robbed the shop with a gun.", "robbed"),
        ("I got beaten every Friday.", "got beaten"),
        ("My ex keeps stalking me.", "stalking"),
    ],
    "personal-data": [
        ("Write to kim.example@example.org please", "kim.example@example.org"),
        ("Hello, my name is Xandra and I like tea.", "my name is Xandra"),
    ],
    "platform": [
        ("Now press the quit button and you are done.", "press the quit button"),
        ("Do not forget the survey at the end.", "survey"),
        ("I found this on mturk.", "mturk"),
        ("Are you a bot?", "Are you a bot"),
        ("We need to chat for ten more minutes.", "chat for ten more minutes"),
        ("I cannot end it from my side.", "cannot end it from my side"),
    ],
    "clinical": [
        ("Should I stop taking my medication?", "medication"),
        ("She was diagnosed with a mood disorder.", "diagnosed with a mood disorder"),
        ("The doctor put me on 20 mg of something.", "mg"),
        ("He hears voices at night.", "hears voices"),
        ("I am in withdrawal.", "withdrawal"),
        ("My daughter has an eating disorder.", "eating disorder"),
    ],
    "closing": [
        ("Goodbye, and a good week to all of you!", "Goodbye"),
        ("Thank you so much for listening to all of this.", "Thank you so much for listening"),
        ("Alright. Have a nice evening!", "Have a nice evening"),
        ("It was nice talking to you.", "nice talking to you"),
        ("I have to go now, dinner is ready.", "I have to go now"),
    ],
}  # fmt: skip
LEFT_ALONE = {
    "distress": [
        "We had soup and then watched a film together.",
        "I am not sad about it at all.",
        "I don't feel lonely there.",
        "Are you sad?",
        "I used to be afraid of dogs.",
        "I'm not alone in this, my aunt helps.",
        "She is so stressed these days.",
        "That must have been difficult for you.",
        "I don't want them to feel bad.",
    ],
    "conflict": [
        "We never argue about money.",
        "She is fighting cancer.",
        "The wardrobe left me some room for books.",
    ],
    "help": [
        "My aunt will help me with the boxes.",
        "He told me what to do and I did it.",
        "Thank you for your advice on the garden.",
    ],
    "self-harm": [
        "This heat is killing me.",
        "I am dying to know how it ends.",
        "I'm not suicidal, I am only tired.",
        "I could die of shame, he said, and laughed.",
        "I have to cut myself some slack.",
        "I shot myself in the foot with that mail.",
        "My phone is going to die.",
        "I don't want to live in a dorm.",
        "It was odd, and I drown myself in work.",
        "We should end my membership.",
    ],
    "hate": [
        "I hate Mondays and the black coffee there.",
        "He was called racist, and I understand why.",
        "Most women in my team are kind.",
    ],
    "sexual": [
        "He cheated on me with a colleague.",
        "People of the opposite sex make me shy.",
        "You could not see it with the naked eye.",
        "She was sexually assaulted years ago.",
    ],
    "violence": [
        "Stop beating around the bush, I told him.",
        "I keep beating myself up over it.",
        "I had a panic attack in the lift.",
        "I will give it a shot.",
        "The news hit me hard.",
        "There is alcohol abuse in the family.",
        "She kicked me out of the band.",
        "It felt like a stab in the back.",
        "Covid could kill him.",
        "They threatened us with layoffs.",
    ],
    "personal-data": [
        "My friend Xandra is 34 and lives in Leeds.",
        "I'm Sad. And Tired.",
        "I'm Canadian.",
    ],
    "platform": [
        "I quit my job in spring.",
        "The pandemic hit our shop.",
        "My coworkers are kind.",
        "It took me forty minutes to write one line.",
        "There is a task on my desk that I fear.",
    ],
    "clinical": [
        "I have anxiety and see a therapist on Mondays.",
        "My depression is worse in winter.",
        "She goes to medical school.",
        "I am addicted to that game.",
        "I am not on any medication at all.",
        "He was diagnosed last week, and we cried.",
        "Her addiction broke our family.",
    ],
    "closing": [
        "Thank you. It is just that I cannot sleep.",
        "I never said goodbye to her.",
        "I have a hard time with new people.",
        "Thanks for asking, it went badly.",
        "I have to take care of my mother.",
    ],
}
BY_NAME = {rule.name: rule for rule in RULES}


def found(rule, text):
    return [text[span.start : span.end] for span in BY_NAME[rule].find(ReadText(text, index=4))]


def pairs(table):
    return [(rule, case) for rule, cases in table.items() for case in cases]


class TestARuleOnContent:
    def test_reports_the_span_that_fired(self, subtests):
        for rule, case in pairs(FOUND):
            with subtests.test(rule, text=case[0]):
                text, span = case

                assert span in found(rule, text)

    def test_leaves_other_texts_alone(self, subtests):
        for rule, text in pairs(LEFT_ALONE):
            with subtests.test(rule, text=text):
                assert found(rule, text) == []

    def test_does_not_depend_on_case(self, subtests):
        for rule, case in pairs(FOUND):
            if rule == "personal-data":
                continue  # a name is known by its capital
            with subtests.test(rule, text=case[0]):
                assert len(found(rule, case[0].upper())) >= 1
                assert len(found(rule, case[0].lower())) >= 1

    def test_reads_curly_and_missing_apostrophes_alike(self, subtests):
        for rule, case in pairs(FOUND):
            with subtests.test(rule, text=case[0]):
                straight = case[0].replace("\u2019", "'")

                assert found(rule, straight.replace("'", "\u2019"))
                assert found(rule, straight.replace("'", ""))


class TestARuleOnForm:
    @pytest.mark.parametrize(
        ("rule", "one", "other"),
        [
            ("too-early", ReadText("I am.", index=1), ReadText("I am.", index=2)),
            ("too-short", ReadText("word " * (MIN_WORDS - 1)), ReadText("word " * MIN_WORDS)),
            ("too-long", ReadText("word " * (MAX_WORDS + 1)), ReadText("word " * MAX_WORDS)),
        ],
    )
    def test_finds_the_whole_turn_or_nothing(self, rule, one, other):
        assert BY_NAME[rule].find(one) == [(0, len(one.text))]
        assert BY_NAME[rule].find(other) == []

    def test_finds_every_turn_of_a_language_without_lexicons(self):
        assert BY_NAME["language"].find(ReadText("Guten Tag", language="de")) == [(0, 9)]


class TestTheRules:
    def test_are_signals_or_disqualifiers_of_their_own_names(self):
        assert [rule.name for rule in RULES] == [*SIGNALS, *DISQUALIFIERS]
        assert len(BY_NAME) == len(RULES)

    @pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
    def test_explain_themselves_in_a_line_have_tests_and_read_what_they_should(self, rule):
        on_form = rule.name in {"too-early", "too-short", "too-long", "language"}
        about_people = rule.kind == "disqualifier" and not on_form and rule.name != "closing"

        assert rule.explanation.endswith(".")
        assert len(rule.explanation) <= 100
        assert (len(FOUND.get(rule.name, ())) > 1) != on_form
        assert (len(LEFT_ALONE.get(rule.name, ())) > 2) != on_form
        everywhere = ("situation", "history", "turn", "reply")
        assert rule.reads == (everywhere if about_people else ("turn",))


IDENTIFYING = {
    "mail": [
        ("mail me at kim.example@example.org tonight", "kim.example@example.org"),
        ("it is kim99 at gmail dot com", "kim99 at gmail dot com"),
        ("kim99 (at) example (dot) org", "kim99 (at) example (dot) org"),
        ("kim99 at gmail.com", "kim99 at gmail.com"),
        ("kim99 (at) example.com", "kim99 (at) example.com"),
    ],
    "link": [
        ("see https://www.facebook.com/kim.example.9", "https://www.facebook.com/kim.example.9"),
        ("my page: linkedin.com/in/kim-example", "linkedin.com/in/kim-example"),
        ("MY PAGE: LINKEDIN.COM/IN/KIM", "LINKEDIN.COM/IN/KIM"),
        ("see HTTPS://KIM.EXAMPLE/ME", "HTTPS://KIM.EXAMPLE/ME"),
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
        ("Hi, I'm Éloïse.", "Hi, I'm Éloïse"),
        ("my name is Łucja Ångström", "my name is Łucja Ångström"),
    ],
    "full name": [
        ("my boss Xandra Yellowfield shouted", "my boss Xandra Yellowfield"),
        ("a man named Yorick Q. Zann wrote", "named Yorick Q. Zann"),
        ("my boss Renée Öztürk shouted", "my boss Renée Öztürk"),
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
UNIDENTIFYING = [
    "My friend Xandra is kind, and so is her brother Yorick.",
    "I am 34 and live in Leeds, England.",
    "Look at google.com or meetup.com for groups.",
    "There is a page at https://www.nhs.uk/mental-health and www.who.int/health-topics.",
    "You could ring 1-800-273-8255 or 988, day or night.",
    "It cost 1,200,000 in 2019 and 2020, or 1 in 1000000.",
    "I have 4 kids, 2 dogs, 15 mugs and 1234567 worries.",
    "I'm Sad. I'm Canadian. I'm So tired. I am Happy, Im Single.",
    "My name is not important. My name is mud. My name is dragged through it.",
    "Same here. Not here.",
    "You can call me crazy, call me Crazy.",
    "My facebook is private and my instagram is full of cats.",
    "It is 20 miles of bad road, and 10 minutes down the street.",
    "I was @home and met him at work.",
    "The number 4111 1111 1111 1112 has a wrong digit.",
    "We met at school and then at college; I work at a bakery.",
    "Her name is short and so is his.",
]


def identified(text):
    return [text[span.start : span.end] for span in find(ReadText(text))]


class TestPersonalData:
    def test_is_not_what_no_one_is_known_by(self, subtests):
        for text in UNIDENTIFYING:
            with subtests.test(text=text):
                assert identified(text) == []

    @pytest.mark.parametrize("detector", DETECTORS, ids=lambda one: one.name)
    def test_is_found_with_its_span_by_a_detector_of_its_own(self, detector):
        for text, span in IDENTIFYING[detector.name]:
            assert identified(text) == [span]
            assert list(detector.find(text))
