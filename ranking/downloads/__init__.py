"""Tables that leave the site as CSV."""
