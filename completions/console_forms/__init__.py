"""Parse what admins post on the console's pages on writing; forms never save."""
