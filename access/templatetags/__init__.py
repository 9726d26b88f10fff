"""Tags of the console's frame."""
