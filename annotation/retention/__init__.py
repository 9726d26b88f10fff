"""What is held about people, and when it is deleted."""
