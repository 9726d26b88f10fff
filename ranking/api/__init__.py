"""The API of ratings, fits, analyses, judgments and releases."""
