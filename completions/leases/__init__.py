"""What the leases of raters and writers have in common."""
