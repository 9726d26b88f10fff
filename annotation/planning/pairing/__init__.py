"""The pairing plan of a study: pure, seeded, and independent of database keys."""
