"""The console's page on fits as computations, and refits that a person asks for."""
