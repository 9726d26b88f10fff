"""Pictures of results as plain geometry, which templates write as SVG."""
