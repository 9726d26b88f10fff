"""What changes webhooks, and what is sent to them."""
