"""That somebody consented, kept apart from everything else that is known of them."""
