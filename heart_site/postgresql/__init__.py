"""The database engine of a deployment."""
