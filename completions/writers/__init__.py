"""People who write: invited, vetted, handed contexts, reviewed; and messages from files."""
