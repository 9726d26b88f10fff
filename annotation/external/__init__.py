"""Judgments made elsewhere, apart from the study's own."""
