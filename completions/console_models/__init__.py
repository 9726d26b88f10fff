"""The console's pages on the models that are asked, and on runs of calls to them."""
