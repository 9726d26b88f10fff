"""Who judges and how: studies, comparisons, raters, LLM judges and their judgments."""
