"""What each analysis asks, in words for readers who have not seen it."""

from django.utils.translation import gettext_lazy as _

from ranking.choices import AnalysisKind

QUESTIONS = {
    AnalysisKind.PAIRS: _(
        "Who is preferred to whom, how often, and which differences are more than chance."
    ),
    AnalysisKind.DIMENSIONS: _("The ranking on each dimension of the rubric."),
    AnalysisKind.WEIGHTS: _("The ranking for whom some dimensions matter more than others."),
    AnalysisKind.LIKERT: _("How messages are rated that are read alone, and who is strict."),
    AnalysisKind.PEOPLE: _("How often people\u2019s messages are preferred to those of models."),
    AnalysisKind.AGREEMENT: _("How often people and judges say the same of the same pair."),
    AnalysisKind.CHECKS: _("Where the judgments and the model behind the table part."),
    AnalysisKind.FRAGILITY: _(
        "How many judgments, dialogues or evaluators would have to go for another first place."
    ),
    AnalysisKind.STYLE: _("What changes when replies of like length and style are compared."),
    AnalysisKind.BIAS: _("Whether place, length, kinship or time sways those who judge."),
    AnalysisKind.DRAWS: _("What changes when ties and grades are part of the model."),
    AnalysisKind.RATERS: _("Who judges reliably, and what changes when that counts."),
    AnalysisKind.RANKERS: _("What other ways to rank would say."),
    AnalysisKind.RATIONALES: _("What evaluators name when they say why."),
    AnalysisKind.STRATEGIES: _("Which ways of supporting each system uses, and which win."),
    AnalysisKind.FACTORS: _("Whether the dimensions measure one thing or several."),
    AnalysisKind.LATENCY: _("Whether fast or capable systems are rated higher."),
    AnalysisKind.JUDGE: _("How far a judge can stand in for people, once held against them."),
    AnalysisKind.PLANNING: _("How many judgments would set neighbours apart."),
}


def question_of(kind: AnalysisKind) -> str:
    """Return what the analysis asks."""
    return str(QUESTIONS[kind])
