"""Simulated raters: people made up from numbers, who try a study out before people come.

These modules know no rows and no pages: who the raters are, what they answer and when, and how
well a study found out about them. What walks the pages is in ``heart_site.demo.rehearsal``.
"""
