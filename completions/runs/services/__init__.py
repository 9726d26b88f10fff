"""Writes of runs: of their calls, their money and their states, and how models are asked."""
