"""Browser tests. A package, so that what they share ends with the last of them."""
