"""The console's pages on what is held about a person."""
