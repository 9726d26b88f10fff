"""The console's pages on the raters of a study."""
