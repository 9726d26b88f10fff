"""Analyses as pages and figures show them."""
