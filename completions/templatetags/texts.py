"""Texts of dialogues in templates: in the plain dress of the raters' pages, whole or cut short."""

from django import template

from completions.contexts.queries import beginning
from completions.dialogues.normaliser import plain

register = template.Library()
register.filter("beginning", beginning)
register.filter("plain", plain)
