"""Other ways to rank, to be held beside Bradley-Terry."""
