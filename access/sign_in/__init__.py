"""How staff sign in."""
