"""LLM judges: catalogues, prompts, answers, runs and ensembles."""
