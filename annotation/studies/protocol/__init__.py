"""Study files: read from TOML, checked, and named by the hash of their content."""
