"""The console's pages on the log."""
