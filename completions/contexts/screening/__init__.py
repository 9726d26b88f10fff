"""What a reader of a dialogue would see, screened by small named rules: pure."""
