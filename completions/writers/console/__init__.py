"""The console's pages on writing: people, their messages, and what was written elsewhere."""
