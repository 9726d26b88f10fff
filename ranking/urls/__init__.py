"""Addresses of all pages of ranking, one module for each place where they are mounted."""
