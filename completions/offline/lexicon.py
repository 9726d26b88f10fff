"""The words the simulated voices and judges know: feelings, topics, stock phrases."""

import re
from dataclasses import dataclass


def _listed(text: str) -> frozenset[str]:
    """Return the words of a list written as a text."""
    return frozenset(text.split())


FEELINGS = {
    **{word: word for word in _listed(
        "sad lonely alone anxious worried scared afraid stressed overwhelmed exhausted tired "
        "angry frustrated hurt guilty ashamed hopeless confused stuck upset nervous "
        "disappointed betrayed jealous heartbroken helpless embarrassed rejected annoyed "
        "unmotivated empty numb trapped insecure miserable devastated resentful drained "
        "discouraged isolated torn uneasy bitter defeated unappreciated"
    )},
    "anxiety": "anxious", "worry": "worried", "worries": "worried", "frightened": "scared",
    "fear": "afraid", "terrified": "scared", "stress": "stressed", "stressful": "stressed",
    "stressing": "stressed", "exhausting": "exhausted", "anger": "angry", "mad": "angry",
    "furious": "angry", "hate": "angry", "frustrating": "frustrated", "guilt": "guilty",
    "shame": "ashamed", "depressed": "low", "depressing": "low", "depression": "low",
    "sadness": "sad", "unhappy": "sad", "crying": "sad", "cry": "sad",
    "loneliness": "lonely", "worthless": "discouraged", "failure": "discouraged",
    "panic": "anxious", "panicking": "anxious", "devastating": "devastated",
    "overwhelming": "overwhelmed", "hurts": "hurt", "hurting": "hurt", "burned": "drained",
}  # fmt: skip
"""The seeker's word -> how a supporter says it back."""

_TOPIC_WORDS = {
    "work": {
        "job": "your job", "work": "work", "boss": "your boss", "manager": "your manager",
        "coworker": "your coworker", "coworkers": "your coworkers", "career": "your career",
        "colleague": "your colleague", "colleagues": "your colleagues", "shift": "your shifts",
        "fired": "losing the job", "unemployed": "being out of work", "office": "the office",
        "interview": "the interview", "interviews": "the interviews", "company": "the company",
    },
    "money": {
        "money": "money", "rent": "the rent", "bills": "the bills", "debt": "the debt",
        "loan": "the loan", "income": "your income", "afford": "making ends meet",
        "savings": "your savings", "finances": "your finances", "financial": "money",
    },
    "study": {
        "exam": "the exam", "exams": "the exams", "test": "the test", "grades": "your grades",
        "school": "school", "college": "college", "university": "university", "class": "the class",
        "classes": "your classes", "professor": "your professor", "teacher": "your teacher",
        "homework": "the homework", "assignment": "the assignment", "thesis": "the thesis",
        "semester": "this semester", "studying": "your studies", "studies": "your studies",
    },
    "love": {
        "girlfriend": "your girlfriend", "boyfriend": "your boyfriend", "partner": "your partner",
        "husband": "your husband", "wife": "your wife", "relationship": "the relationship",
        "ex": "your ex", "breakup": "the breakup", "marriage": "your marriage",
        "divorce": "the divorce", "dating": "dating", "cheated": "being cheated on",
        "engagement": "the engagement", "wedding": "the wedding",
    },
    "friends": {
        "friend": "your friend", "friends": "your friends", "friendship": "the friendship",
        "roommate": "your roommate", "roommates": "your roommates", "neighbour": "your neighbour",
        "neighbor": "your neighbor", "bully": "the bullying", "bullied": "being bullied",
    },
    "family": {
        "mom": "your mom", "mother": "your mother", "mum": "your mum", "dad": "your dad",
        "father": "your father", "parents": "your parents", "sister": "your sister",
        "brother": "your brother", "family": "your family", "son": "your son",
        "daughter": "your daughter", "kids": "your kids", "children": "your children",
        "baby": "the baby", "grandmother": "your grandmother", "grandma": "your grandma",
        "grandfather": "your grandfather", "aunt": "your aunt", "uncle": "your uncle",
    },
    "rest": {
        "sleep": "your sleep", "sleeping": "your sleep", "asleep": "your nights",
        "nights": "your nights", "insomnia": "the sleepless nights", "rest": "getting rest",
    },
    "times": {
        "pandemic": "the pandemic", "covid": "the pandemic", "virus": "the virus",
        "lockdown": "the lockdown", "quarantine": "the quarantine", "news": "the news",
    },
    "body": {
        "health": "your health", "sick": "being unwell", "pain": "the pain", "ill": "being ill",
        "doctor": "the doctor's visit", "hospital": "the hospital", "surgery": "the surgery",
        "weight": "your weight", "body": "your body", "pregnant": "the pregnancy",
    },
    "loss": {
        "died": "the loss", "death": "the loss", "funeral": "the funeral", "grief": "the grief",
        "grieving": "the grief", "grieve": "the grief", "widow": "the loss", "widower": "the loss",
    },
    "pets": {"dog": "your dog", "cat": "your cat", "pet": "your pet", "puppy": "your puppy"},
    "change": {
        "move": "the move", "moving": "the move", "moved": "the move", "city": "the new place",
        "future": "the future", "decision": "the decision", "change": "this change",
        "house": "the house", "apartment": "the apartment", "holidays": "the holidays",
        "christmas": "the holidays", "birthday": "the birthday",
    },
}  # fmt: skip

TOPICS = {
    word: (phrase, group) for group, words in _TOPIC_WORDS.items() for word, phrase in words.items()
}
"""The seeker's word -> (how a supporter says it back, the group of topics it belongs to)."""

STOCK_PHRASES = (
    "everything happens for a reason", "time heals", "stay strong", "things will get better",
    "hang in there", "look on the bright side", "you've got this", "stay positive",
    "keep your head up", "it could be worse", "don't worry", "this too shall pass",
    "one day at a time", "brighter days", "believe in yourself", "sorry you're going through",
    "sorry to hear", "better days", "not alone in this",
)  # fmt: skip
"""Comfort that would fit any dialogue."""

STEP_WORDS = _listed(
    "could try step start small write plan list call ask talk reach pick set choose minutes "
    "today tonight tomorrow first break"
)
WARM_WORDS = _listed(
    "sense hear understandable feel feeling feelings heavy care matters glad thank valid "
    "sounds hard tough lot carry carrying"
)
CLINICAL_WORDS = _listed(
    "diagnosis diagnosed disorder medication antidepressants dosage prescribe symptoms "
    "bipolar clinical therapy"
)
LOSS_PHRASES = (
    "passed away", "passed in", "passed last", "has passed", "died", "funeral", "lost my mo",
    "lost my mum", "lost my dad", "lost my fa", "lost my wife", "lost my husband", "her death",
    "his death",
)  # fmt: skip
CLOSING_PHRASES = (
    "thank you", "thanks", "good idea", "great idea", "good advice", "bye", "i feel better",
    "that helps", "you're right", "you are right", "have a good", "i'll try that",
)  # fmt: skip
CRISIS_WORDS = _listed("suicide suicidal overdose")
CRISIS_PHRASES = ("kill myself", "end my life", "end it all", "hurt myself", "want to die")
HOSTILE_PHRASES = (
    "shut up", "you're useless", "you are useless", "stupid", "idiot", "you don't care",
    "stop pretending", "useless bot", "waste of time", "wasting my time", "leave me alone",
    "you people", "pathetic", "screw you", "you're not helping", "you are not helping",
    "ridiculous", "hate you", "don't patronize", "some help you are",
)  # fmt: skip

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")


@dataclass(frozen=True)
class HeardTurns:
    """What the simulated supporter took from the seeker's last turns."""

    feeling: str | None
    topic: str | None
    group: str | None
    in_crisis: bool = False
    is_hostile: bool = False
    is_closing: bool = False


def words(text: str) -> list[str]:
    """Return the lower-case words of ``text``; curly apostrophes count as straight ones."""
    return _WORD.findall(plain(text))


def plain(text: str) -> str:
    """Return ``text`` in lower case with straight apostrophes."""
    return text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def listen(seeker_turns: list[str]) -> HeardTurns:
    """Return the latest feeling and topic in the seeker's last turns, if any is known.

    Only listed words come back, so that nothing else the seeker wrote (a name, a number, a
    place) can be repeated.
    """
    recent = seeker_turns[-3:]
    last = plain(recent[-1]) if recent else ""
    spoken = [word for turn in recent for word in words(turn)]
    feeling = _latest_feeling(spoken)
    topic, group = next((TOPICS[word] for word in reversed(spoken) if word in TOPICS), (None, None))
    if any(phrase in plain(turn) for turn in recent for phrase in LOSS_PHRASES):
        topic, group = "the loss", "loss"
    return HeardTurns(
        feeling=feeling,
        topic=topic,
        group=group,
        in_crisis=bool(CRISIS_WORDS & set(spoken)) or any(p in last for p in CRISIS_PHRASES),
        is_hostile=any(phrase in last for phrase in HOSTILE_PHRASES),
        is_closing=any(phrase in last for phrase in CLOSING_PHRASES),
    )


def _latest_feeling(spoken: list[str]) -> str | None:
    """Return the last feeling named without a "not" before it."""
    named = [
        FEELINGS[word]
        for before, word in zip(["", *spoken], spoken, strict=False)
        if word in FEELINGS and before not in {"not", "never", "no"} and not before.endswith("n't")
    ]
    return named[-1] if named else None
