"""Addresses of all pages of annotation, one module for each place where they are mounted."""
