"""Addresses of all pages of completions, one module for each place where they are mounted."""
