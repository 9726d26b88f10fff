"""What rationales speak of, and personal data in them."""
