"""Parts of a rater's page that are the same for many pairs, rendered once per process and language.

A dialogue is shown to every rater of each of its pairs. Around a pair that nobody has answered yet
only its texts, its heading and two tokens are its own.
"""

import re
import uuid
from dataclasses import asdict, replace
from functools import lru_cache

from django import template
from django.template import Context
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

from annotation.session import forms
from annotation.session.blinded import ComparisonPage, SessionProgress, StudyPage
from completions.dialogues.display import DialogueView, DisplayTurn

register = template.Library()
TOKEN, CSRF = uuid.UUID(int=0), "the-token-of-the-request"
HEADING, DIALOGUE, MESSAGE_A, MESSAGE_B, NUMBER, DONE = "\ue000\ue001\ue002\ue003\ue004\ue005"
"""What stands in for what is a pair's own: letters of no script, tokens nobody is given."""
STAND_INS = re.compile(f"{TOKEN}|{CSRF}|[{HEADING}{DIALOGUE}{MESSAGE_A}{MESSAGE_B}]")
DIALOGUES, STAGES = 1024, 256
"""How many a process keeps: a dialogue or a stage is some kilobytes."""


@register.simple_tag
def shown_dialogue(dialogue: DialogueView) -> SafeString:
    """Return the dialogue as `_turns.html` shows it."""
    return _dialogue(dialogue, get_language())


@register.simple_tag
def swapped_progress(progress: SessionProgress, *, is_pair: bool) -> SafeString:
    """Return `_progress.html` as it is sent beside a fragment."""
    kept = _progress(replace(progress, done=0), is_pair=is_pair, _language=get_language())
    told = kept.replace(NUMBER, str(progress.number)).replace(DONE, str(progress.done))
    return mark_safe(told)  # noqa: S308 (two numbers)


@register.simple_tag(takes_context=True)
def fresh_stage(context: Context) -> SafeString:
    """Return `_stage.html` of a pair without an answer, for the context of `_judge.html`."""
    comparison: ComparisonPage = context["comparison"]
    dialogue, language = comparison.dialogue, get_language()
    own = {
        str(TOKEN): str(comparison.token),
        CSRF: escape(context["csrf_token"]),
        HEADING: escape(context["heading"]),
        DIALOGUE: _dialogue(dialogue, language),
        MESSAGE_A: escape(comparison.message_a),
        MESSAGE_B: escape(comparison.message_b),
    }
    is_break = bool(context.get("suggests_break"))
    n_done = context["progress"].done
    kept = _stage(
        context["study"],
        replace(
            dialogue, earlier=(), recent=(), latest=dialogue.latest and DisplayTurn("", DIALOGUE)
        ),
        is_pair=context["is_pair"],
        chip_order=context["chip_order"],
        n_done=n_done if is_break else min(n_done, 1),
        suggests_break=is_break,
        can_undo=bool(context.get("can_undo")),
        _language=language,
    )
    return mark_safe(STAND_INS.sub(lambda found: own[found[0]], kept))  # noqa: S308 (escaped above)


@lru_cache(maxsize=STAGES)
def _progress(progress: SessionProgress, *, is_pair: bool, _language: str | None) -> str:
    own = asdict(progress) | {"number": NUMBER, "done": DONE}
    shown = {"progress": own, "comparison": {"message_b": is_pair}, "swap": True}
    return render_to_string("annotation/_progress.html", shown)


@lru_cache(maxsize=DIALOGUES)
def _dialogue(dialogue: DialogueView, _language: str | None) -> SafeString:
    return render_to_string("annotation/_turns.html", {"dialogue": dialogue})


@lru_cache(maxsize=STAGES)
def _stage(
    study: StudyPage,
    dialogue: DialogueView,
    *,
    is_pair: bool,
    chip_order: int,
    n_done: int,
    _language: str | None,
    **shown: bool,
) -> str:
    page = ComparisonPage(TOKEN, dialogue, MESSAGE_A, MESSAGE_B if is_pair else "")
    context = {
        "study": study,
        "comparison": page,
        "is_pair": is_pair,
        "heading": HEADING,
        "progress": SessionProgress(done=n_done, total=0, minutes_left=0),
        "form": forms.FORMS[study.protocol](study=study, chip_order=chip_order),
        "skip_reasons": forms.SKIP_REASONS,
        "csrf_token": CSRF,
        **shown,
    }
    whole = render_to_string("annotation/_stage.html", context)
    return whole.replace(_dialogue(dialogue, _language), DIALOGUE)
