"""What pages of the console share: tables, their queries and their CSV."""
