"""Quality checks, rules of exclusion and decisions by them, reports."""
