"""Commands of the ranking app, one module each."""
