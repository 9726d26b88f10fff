"""How many judgments tell two systems apart."""
