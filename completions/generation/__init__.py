"""Completions that models are asked for: planned, asked in runs, and covered."""
