"""Rehearse a study: simulated raters go through its pages as people would (ADR-0033).

``people``, ``answering`` and ``scoring`` know no rows and no pages: who the raters are, what they
answer and when, and how well a study found out about them. The others walk the pages.
"""
