"""The API of studies, comparisons and judgments made elsewhere."""
