"""Three simulated supporters: deterministic replies built from the seeker's last turns."""

from collections.abc import Callable, Mapping, Sequence

from completions.offline.behaviour import fraction
from completions.offline.lexicon import HeardTurns, listen

Options = Mapping[str, tuple[str, ...]]
Messages = Sequence[Mapping[str, str]]


def alder(heard: HeardTurns, key: str) -> str:
    """Say back the feeling and the topic in a warm way, then ask."""
    return _two_parts("alder", ALDER_OPENS, ALDER_ASKS, heard, key)


def birch(heard: HeardTurns, key: str) -> str:
    """Acknowledge in a few words, then offer one small step."""
    return _two_parts("birch", BIRCH_OPENS, BIRCH_STEPS, heard, key)


def cedar(_heard: HeardTurns, key: str) -> str:
    """Offer comfort that would fit anyone."""
    parts = (
        _pick(options, key + str(place))
        for place, options in enumerate((CEDAR_OPENS, CEDAR_MIDDLES, CEDAR_CLOSES))
    )
    return " ".join(part for part in parts if part)


VOICES: Mapping[str, Callable[[HeardTurns, str], str]] = {
    "offline-alder": alder,
    "offline-birch": birch,
    "offline-cedar": cedar,
}


def reply(voice: str, messages: Messages) -> str:
    """Return the reply of ``voice`` to a chat; the same chat always gets the same reply."""
    seeker_turns = [message["content"] for message in messages if message["role"] == "user"]
    heard = listen(seeker_turns)
    key = f"{voice}\n" + "\n".join(message["content"] for message in messages)
    if heard.in_crisis:
        return CRISIS_REPLIES[voice]
    return VOICES[voice](heard, key)


def _two_parts(voice: str, opens: Options, ends: Options, heard: HeardTurns, key: str) -> str:
    """Return an opening that fits what was heard, and what the voice adds to it."""
    opening, ending = opens[_shape(heard)], ends[heard.group or "any"] + ends["any"]
    if heard.is_hostile:
        opening, ending = HOSTILE_OPENS[voice], ends["any"]
    elif heard.is_closing:
        opening, ending = CLOSING_OPENS[voice], CLOSING_ENDS[voice]
    return _fill(f"{_pick(opening, key + 'open')} {_pick(ending, key + 'end')}", heard)


def _shape(heard: HeardTurns) -> str:
    """Say which openings fit."""
    if heard.group == "loss":
        return "loss"
    if heard.feeling and heard.topic:
        return "both"
    if heard.feeling:
        return "feeling"
    return "topic" if heard.topic else "neither"


def _fill(text: str, heard: HeardTurns) -> str:
    """Put the feeling and the topic into a template."""
    return text.format(feeling=heard.feeling or "low", topic=heard.topic or "all of this")


def _pick(options: Sequence[str], key: str) -> str:
    """Choose one option by the hash of ``key``."""
    return options[int(fraction(key) * len(options))]


ALDER_OPENS = {
    "loss": (
        "I'm so sorry for your loss, and I'm glad you are not keeping it to yourself.",
        "Losing someone like that leaves a hole that other people can hardly see.",
        "Of course it hurts; missing someone this much has no timetable.",
    ),
    "both": (
        "It makes sense that you feel {feeling} with {topic} weighing on you like this.",
        "I can hear how {feeling} you are, and how much of that comes back to {topic}.",
        "Feeling {feeling} about {topic} sounds really hard, and you don't have to brush it aside.",
        "With {topic} on your mind the way you describe it, no wonder you feel {feeling}.",
        "You sound {feeling}, and when it comes to {topic} that is a very human way to feel.",
        "Thank you for telling me. Being {feeling} over {topic} can fill up a whole day.",
    ),
    "feeling": (
        "I can hear how {feeling} you feel, and I'm glad you put it into words.",
        "Feeling {feeling} like that takes a lot out of a person, and it makes sense here.",
        "You sound {feeling}, and nothing about that is silly or too much.",
        "It hurts to read how {feeling} this has left you, and it fits with what you told me.",
        "Anyone carrying what you describe could end up feeling {feeling}.",
    ),
    "topic": (
        "It sounds like you care a lot about {topic}, and this has been heavy to carry.",
        "I can hear how much is tied up with {topic} for you right now.",
        "With {topic} in the middle of it, it makes sense that this stays with you.",
        "You clearly care, and what you say about {topic} sounds heavy to carry alone.",
        "There is a lot going on around {topic}, and I'm glad you are telling me about it.",
    ),
    "neither": (
        "Thank you for trusting me with this; I can tell that it matters to you.",
        "I hear you, and it sounds like you have been holding this by yourself for a while.",
        "That sounds like a lot, and I'd like to understand it the way you see it.",
        "I'm with you, and there is no rush to sort it all out at once.",
        "What you just said sounds important, and I don't want to hurry past it.",
    ),
}
ALDER_ASKS = {
    "work": (
        "Which part of the working day is the hardest to get through at the moment?",
        "What would you most want someone there to understand?",
    ),
    "money": (
        "Which worry comes first when you lie awake over it?",
        "Is there one payment that frightens you more than the rest?",
    ),
    "study": (
        "What goes through your mind when you sit down to study?",
        "Where does the pressure come from most: others, or yourself?",
    ),
    "love": (
        "What do you miss or need most when you think about the two of you?",
        "What has been the hardest moment between you lately?",
    ),
    "friends": (
        "What would you have liked them to do instead?",
        "How was it between you before things changed?",
    ),
    "family": (
        "What do you wish they could see about your side of it?",
        "How do things usually go when you try to talk about it at home?",
    ),
    "rest": (
        "What is usually on your mind when you are lying there awake?",
        "How long have the nights been like this?",
    ),
    "times": (
        "What has changed the most for you day to day?",
        "Which part of ordinary life do you miss most?",
    ),
    "body": (
        "What has been the hardest part of living with this so far?",
        "Who around you knows how much this affects you?",
    ),
    "loss": (
        "Would you like to tell me a little about what you miss the most?",
        "When does the missing feel strongest?",
        "What do you find yourself remembering these days?",
    ),
    "pets": (
        "Would you like to tell me about the two of you?",
        "How long have you been together?",
    ),
    "change": (
        "What are you most afraid might happen?",
        "What would need to be true for it to feel a bit safer?",
    ),
    "any": (
        "What part of it stays with you the most?",
        "When did it start to feel this heavy?",
        "What would feel like a little relief today?",
        "Would you like to tell me more about what that was like?",
    ),
}
BIRCH_OPENS = {
    "loss": (
        "I'm sorry for your loss.",
        "Grief takes a lot of strength.",
        "Missing someone like that is hard.",
    ),
    "both": (
        "Being {feeling} about {topic} is a lot to deal with.",
        "No wonder you feel {feeling}; there is a lot going on with {topic}.",
        "That sounds tough, with {topic} on top of feeling {feeling}.",
    ),
    "feeling": (
        "Feeling {feeling} is tiring, so let's keep this small.",
        "That is a hard place to be in, and feeling {feeling} makes sense.",
        "Okay, you feel {feeling}, and that counts.",
    ),
    "topic": (
        "That is a lot to handle around {topic}.",
        "I can see why you keep thinking about {topic}.",
        "You have a lot on your plate with {topic}.",
    ),
    "neither": (
        "That sounds like a lot at once.",
        "Okay, let's take this one piece at a time.",
        "I see why that is on your mind.",
    ),
}
BIRCH_STEPS = {
    "work": (
        "You could note the one thing that bothers you most and ask for ten minutes about it.",
        "Maybe set one evening this week as work-free and see how that goes.",
    ),
    "money": (
        "A first step could be a list of what is due this month, then one call about the largest.",
        "Could you look up one local service that helps people plan bills?",
    ),
    "study": (
        "Try one short block of 25 minutes on the easiest part, then a real break.",
        "You could ask the teacher or a classmate one specific question tomorrow.",
    ),
    "love": (
        "You could pick a calm moment and say one sentence that starts with 'I feel'.",
        "Perhaps write what you want to say first, and wait a day before you send it.",
    ),
    "friends": (
        "You could send one short message and suggest a time to talk in person.",
        "Maybe reach out to one other person this week whom you feel easy with.",
    ),
    "family": (
        "You could choose one point, say it calmly, and leave the rest for another day.",
        "Is there one relative who listens? Start with a short talk with them.",
    ),
    "rest": (
        "Tonight you could write tomorrow's worries on paper an hour before bed.",
        "Try to get up at the same time for three days and see whether nights get easier.",
    ),
    "times": (
        "You could plan one short walk and one call with a friend this week.",
        "Maybe check the news once a day only, and set something pleasant right after it.",
    ),
    "body": (
        "You could write down your questions so that the next appointment is used well.",
        "Plan one small thing today that is kind to yourself and needs no effort.",
    ),
    "loss": (
        "You could set aside ten minutes today just to remember, with a photo or a walk.",
        "Maybe tell one person a good memory; it often eases the weight a little.",
    ),
    "pets": (
        "Is there somebody who could look after things with you for a day?",
        "You could write down what is needed first and share it with one person.",
    ),
    "change": (
        "A list of what you know and what you don't know yet could make it clearer.",
        "Pick the smallest next step and do only that one today.",
    ),
    "any": (
        "What is one small thing you could do about it today?",
        "You could pick one part of it and leave the rest for tomorrow.",
        "Is there someone you could call about this today?",
    ),
}
CEDAR_OPENS = (
    "I'm so sorry to hear that.",
    "I'm sorry you're going through this.",
    "Oh no, that sounds bad.",
    "Life can be really hard sometimes.",
    "We all go through difficult times.",
    "That must be difficult for you.",
    "I understand how you feel.",
    "Thank you for sharing.",
)
CEDAR_MIDDLES = (
    "Everything happens for a reason, and things will get better.",
    "Time heals all wounds, so try to stay positive.",
    "Remember that it could be worse, and this too shall pass.",
    "Don't worry too much, you've got this.",
    "Just believe in yourself and look on the bright side.",
    "Take it one day at a time and keep your head up.",
    "You are not alone in this, many people feel the same.",
    "Better days are coming, you will see.",
)
CEDAR_CLOSES = (
    "Stay strong!",
    "Hang in there!",
    "Keep smiling!",
    "Brighter days are ahead!",
    "Everything will be fine in the end.",
    "",
)
CLOSING_OPENS = {
    "alder": (
        "I'm glad that this gives you something to hold on to, and you found most of it yourself.",
        "Thank you for talking so openly; it sounds as if there is a bit more room to breathe.",
        "That sounds like a good way to go on, and you can be proud of getting this far.",
    ),
    "birch": (
        "Good, that sounds like a plan.",
        "Glad it helps a little.",
        "That is a fair next step.",
    ),
}
CLOSING_ENDS = {
    "alder": (
        "What will you do for yourself later today?",
        "Is there anything you would like to say before we stop?",
        "Be gentle with yourself if the heavy feeling comes back.",
    ),
    "birch": (
        "Pick a time for the first step, so that it happens.",
        "Write it down while it is fresh.",
        "You could tell one person about it today.",
    ),
}
HOSTILE_OPENS = {
    "alder": (
        "I can hear how fed up you are, with me as well, and I don't want to talk around that.",
        "You are angry, and being met with the wrong words on top of it must be maddening.",
        "That is fair to say to me; I'd rather hear it than have you swallow it.",
    ),
    "birch": (
        "Fair enough, my last words did not help.",
        "I hear that this is not working for you.",
        "Understood, let me try to be of more use.",
    ),
}
SAFETY = (
    "You deserve support from a person right now: please reach out to someone near you, or to a "
    "local emergency number or crisis line."
)
CRISIS_REPLIES = {
    "offline-alder": f"I'm really glad you told me, and I take it seriously. {SAFETY}",
    "offline-birch": f"Thank you for saying this out loud. {SAFETY}",
    "offline-cedar": f"I'm so sorry you feel this way. {SAFETY}",
}
