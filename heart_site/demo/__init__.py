"""A small study with simulated people, and rehearsals of a study."""
