"""Raters held against the rules of their study."""
