"""How many more judgments a study needs, and what they cost."""
