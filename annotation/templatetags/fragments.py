"""Parts of a rater's page that many pages share, rendered once per process and language.

A talk is shown to every rater of each of its pairs, and an empty form is the same for everybody.
"""

import uuid
from functools import lru_cache

from django import template
from django.template import Context
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

from annotation.session import forms
from annotation.session.blinded import StudyPage
from completions.dialogues.display import Talk

register = template.Library()
NO_TOKEN, NO_CSRF = uuid.UUID(int=0), "the-token-of-the-request"
"""What stands in for the pair's token, and for the one against forged requests."""
TALKS, FORMS = 1024, 256
"""How many a process keeps: a talk or a form is some kilobytes."""


@register.simple_tag
def shown_talk(talk: Talk) -> SafeString:
    """Return the dialogue as `_talk.html` shows it."""
    return _talk(talk, get_language())


@register.simple_tag
def empty_form(study: StudyPage, *, is_pair: bool, chip_order: int) -> SafeString:
    """Return the fields of the study's form with nothing in them."""
    return _form(study, is_pair=is_pair, chip_order=chip_order, _language=get_language())


@register.simple_tag(takes_context=True)
def pair_menus(
    context: Context, study: StudyPage, token: uuid.UUID, *, is_pair: bool
) -> SafeString:
    """Return the menus of a pair, by which it is skipped or reported."""
    kept = _menus(study, is_pair=is_pair, _language=get_language())
    own = kept.replace(str(NO_TOKEN), str(token)).replace(NO_CSRF, str(context["csrf_token"]))
    return mark_safe(own)  # noqa: S308 (a UUID, and letters and digits)


@lru_cache(maxsize=TALKS)
def _talk(talk: Talk, _language: str | None) -> SafeString:
    return render_to_string("annotation/_talk.html", {"talk": talk})


@lru_cache(maxsize=FORMS)
def _form(study: StudyPage, *, is_pair: bool, chip_order: int, _language: str | None) -> SafeString:
    form = forms.answer_form(study=study, chip_order=chip_order)
    context = {"form": form, "study": study, "is_pair": is_pair}
    return render_to_string("annotation/_fields.html", context)


@lru_cache(maxsize=FORMS)
def _menus(study: StudyPage, *, is_pair: bool, _language: str | None) -> SafeString:
    context = {
        "study": study,
        "token": NO_TOKEN,
        "csrf_token": NO_CSRF,
        "is_pair": is_pair,
        "skip_reasons": forms.SKIP_REASONS,
    }
    return render_to_string("annotation/_skip.html", context)
