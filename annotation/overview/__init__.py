"""How studies stand: the console's pages on all of them, and on one."""
