"""Rehearse a study: simulated raters go through its pages as people would (ADR-0033)."""
