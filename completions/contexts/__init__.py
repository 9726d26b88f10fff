"""Contexts: screened, chosen, rewritten and reviewed."""
