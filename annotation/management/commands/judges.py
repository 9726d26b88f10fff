"""Command line of LLM judges; each action has a module of its own."""

from annotation.judge_selectors import UnknownJudgeError
from annotation.management.judging import ACTIONS
from completions.catalogue import CatalogueError
from completions.management.acting import ActionCommand


class Command(ActionCommand):
    """Register the models that judge."""

    help = "Register LLM judges from catalogue files, and list those that are registered."
    actions = ACTIONS
    refusals = (CatalogueError, UnknownJudgeError)
