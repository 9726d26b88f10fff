"""Agreement of the evaluators in a file of judgments, without a database; see docs/files.md."""
