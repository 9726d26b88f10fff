"""The console's lists behind the counts of a study."""
