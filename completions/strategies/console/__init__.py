"""The console's pages on strategies: how far labelling is, and where people check the labels."""
