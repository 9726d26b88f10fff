"""From a lease to a judgment: what a rater is shown next, and what they answer."""
