"""Pure rules of rater quality: which raters leave the analysis, and what only warns; no Django."""
