"""Whether Bradley-Terry fits the judgments, and how little would change what it says."""
